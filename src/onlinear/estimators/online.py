"""Classifiers that learn example by example: until they separate (`fit`), or in one pass (`partial_fit`)."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from onlinear.checks import check_integers
from onlinear.errors import DataError, OnlinearError, ParameterError
from onlinear.estimators.base import LinearClassifier, all_or_nothing, distinct_labels
from onlinear.estimators.patience import some_vector_separates, until_separated
from onlinear.rules import MarginPerceptron, Perceptron
from onlinear.rules.rule import check_rule
from onlinear.runs import Run, State, converge, run, state_before, with_classes
from onlinear.runs.beginning import open_arrays, resume
from onlinear.runs.converge import Selection
from onlinear.runs.learner import check_many_classes
from onlinear.runs.online import as_weights, feed


class OnlineLinearClassifier(LinearClassifier):
    """A rule with the methods that scikit-learn's users expect; `_rule` says which."""

    max_iter: int | None
    shuffle: bool
    random_state: Any
    warm_start: bool

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:
        """Learn until nothing is left to learn from the examples, or for `max_iter` passes.

        For the perceptron that is when it separates them. Where it gives up there is a ``ConvergenceWarning``, which
        says what is known: of every separator's margin, and whether there is a separator at all; what was learned so
        far is kept. There are no sample weights here: with steps of several sizes what is proven of the passes does
        not hold (`partial_fit` takes them).
        """
        for name in refused:
            reason = ": steps of one size are what its passes end by; partial_fit takes it" * (name == "sample_weight")
            raise TypeError(f"{type(self).__name__}.fit takes X and y, and no {name}{reason}")
        check_integers(1, max_iter=1 if self.max_iter is None else self.max_iter)
        with all_or_nothing(self):
            going_on = self.warm_start and hasattr(self, "run_")
            X, y = self._examples(X, y, reset=not going_on)
            state = self._going_on(y) if going_on else self._before_round_one(distinct_labels(y), X.shape[1])
            rule, seed = self._rule(), self._seed()
            selection: Selection = "random" if self.shuffle else "cyclic"
            done, known = until_separated(
                lambda state, passes: converge(
                    rule, X, y, selection=selection, state=state, max_passes=passes, seed=seed
                ),
                state,
                self.max_iter,
                (lambda: some_vector_separates(X, y, state.classes, fit_intercept=self.fit_intercept))
                if halts_where_separable(rule)
                else None,
            )
            self._keep(done)
        return self._ended(known)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each example once, in the order given; the size of the batches changes nothing.

        A batch with an example that cannot be learned from raises an error, and nothing of it is learned.

        Parameters
        ----------
        X, y : matrix and labels
            The examples.
        classes : array, optional
            All labels that will ever occur, on the first call. Not needed with ``new_classes=True``: a class is then
            known from its first example on.
        sample_weight : array, optional
            Numbers, at least 0, that the steps are multiplied by; for rules that take weights.
        """
        self._keep(Run(self._learned(X, y, classes, sample_weight).state))
        return self

    def _advise(self, X: Any, y: Any, classes: Any) -> NDArray[Any]:
        """Learn as `partial_fit` does; return for each row the label predicted before its answer was told."""
        with all_or_nothing(self):
            done = self._learned(X, y, classes, trace=True)
            trace, labels = done.trace, done.classes
            if trace is None or labels.size != 2:
                raise DataError(f"advice is for two classes; there are {labels.size}: {labels.tolist()}")
            right = np.ones(done.rounds - trace.first_round, dtype=bool)
            right[trace.mistakes - trace.first_round] = False
            positive = (np.ravel(y) == labels[1]) == right
            if done.rule.tie == "mistake":
                positive &= trace.scores != 0.0  # a tie is shown as the first class, whatever it counts as
            self._keep(Run(done.state))
            shown: NDArray[Any] = labels[positive.astype(np.intp)]
            return shown

    def _learned(self, X: Any, y: Any, classes: Any, sample_weight: Any = None, *, trace: bool = False) -> Run:
        """Return what one more pass leads to."""
        with all_or_nothing(self):
            begun = hasattr(self, "run_")
            X, y = self._examples(X, y, reset=not begun)
            named = [] if classes is None else [classes]
            if begun:
                state = self._going_on(*named)
            elif named or self.new_classes:
                state = self._before_round_one(distinct_labels(*named or [y[:1]]), X.shape[1])
            else:
                raise ParameterError(
                    "classes is missing: the first call of partial_fit must name all labels (or set new_classes=True)"
                )
            parts = list(stretches(y, state.classes)) if self.new_classes else []
            if len(parts) > 1:
                return self._learned_in_parts(X, y, state, parts, sample_weight)
            return run(self._rule(), X, y, state=state, sample_weight=sample_weight, trace=trace)

    def _learned_in_parts(
        self, X: Any, y: NDArray[Any], state: State, parts: list[tuple[slice, NDArray[Any]]], sample_weight: Any
    ) -> Run:
        """Return what one more pass leads to in which new classes turn up."""
        self._check_classes(parts[-1][1])
        rule = self._rule()
        chunk = open_arrays(X, y)
        weights = as_weights(rule, sample_weight, chunk.n)
        learner = resume(rule, state, fit_intercept=False, normalize=False, start=None, classes=None)
        for rows, known in parts:
            learner.take_classes(known)
            feed(learner, chunk, rows, weights=weights)
        return Run(learner.rest())

    def _before_round_one(self, labels: NDArray[Any], n_features: int) -> State:
        rule = self._rule()
        self._check_classes(labels)
        many = bool(self.new_classes) or labels.size > 2
        return state_before(rule, labels, n_features, fit_intercept=self.fit_intercept, multiclass=many)

    def _going_on(self, *groups: Any) -> State:
        """Return what was learned, to go on from with groups of labels; new ones only where that was asked for."""
        state = self._so_far().state
        labels = distinct_labels(state.classes, *groups)
        if labels.size == state.classes.size:
            return state
        if not self.new_classes:
            unknown = np.setdiff1d(labels, state.classes).tolist()
            raise DataError(
                f"labels {unknown} beside {state.classes.tolist()}, which were all when learning began"
                " (new_classes=True lets more come later)"
            )
        return with_classes(state, labels)

    def _seed(self) -> int:
        """Return the seed for the orders of the passes: random_state itself, where that is a number."""
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _rule(self) -> Any:
        raise NotImplementedError


def halts_where_separable(rule: Any) -> bool:
    """Tell whether it is proven that a rule's passes come to an end where some vector separates the examples."""
    # A normalised margin may be more than any vector has.
    return isinstance(rule, Perceptron) or (isinstance(rule, MarginPerceptron) and not rule.normalized)


def stretches(y: NDArray[Any], known: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Cut labels before each that was not known; yield the rows of each part, and the labels known there."""
    new = np.setdiff1d(distinct_labels(known, y), known)
    begin = 0
    for first, i in sorted((int(np.argmax(y == label)), i) for i, label in enumerate(new)):
        yield slice(begin, first), known
        begin, known = first, distinct_labels(known, new[[i]])
    yield slice(begin, y.size), known


class OnlineClassifier(OnlineLinearClassifier):
    """Any rule as a classifier: one of `onlinear.rules`, or one of your own.

    Parameters
    ----------
    rule : a rule, optional
        None: ``Perceptron()``. Rules for experts' advice belong to `ExpertsClassifier`.
    fit_intercept : bool
        Learn as if every example had a further feature 1. Rules for 0/1 inputs refuse it.
    max_iter : int, optional
        `fit` gives up after this many passes; None: as in `PerceptronClassifier`. A rule that learns from every
        example never ends by itself: `fit` is then so many passes, 1,000 by default, and a warning.
    shuffle : bool
        Whether `fit` draws a new order for each pass; `partial_fit` never does.
    random_state : int, RandomState or None
        For `shuffle`.
    warm_start : bool
        Whether `fit` goes on from what was learned, counters included.
    new_classes : bool
        Whether labels may turn up that the first call did not name. There is then a vector of weights for each class
        from the start, also of two.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> rule = onlinear.rules.MarginPerceptron(margin=0.05)
    >>> onlinear.OnlineClassifier(rule, fit_intercept=False).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        rule: Any = None,
        *,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        shuffle: bool = True,
        random_state: Any = 0,
        warm_start: bool = False,
        new_classes: bool = False,
    ) -> None:
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.warm_start = warm_start
        self.new_classes = new_classes

    def _takes_many_classes(self) -> bool:
        try:
            check_many_classes(self._rule())
        except (OnlinearError, TypeError, ValueError, AttributeError):  # whatever a rule of the user's does
            return False
        return True

    def _rule(self) -> Any:
        rule: Any = Perceptron() if self.rule is None else self.rule
        check_rule(rule)
        if rule.inputs == "advice":
            raise ParameterError(f"{type(rule).__name__} learns from experts' advice; use onlinear.ExpertsClassifier")
        return rule
