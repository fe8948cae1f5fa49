"""Classifiers that learn one example at a time: until the data are separated (`fit`), or once (`partial_fit`)."""

from __future__ import annotations

import numbers
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
from onlinear.runs.converge import Selection
from onlinear.runs.probe import check_many_classes


class OnlineLinearClassifier(LinearClassifier):
    """The classifier for a rule, which `_rule` returns."""

    max_iter: int | None
    shuffle: bool
    random_state: Any
    warm_start: bool

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:
        """Learn until no example causes an update, or for `max_iter` passes.

        For the perceptron that is when the examples are separated. If it gives up, it keeps what was learned and
        issues a ``ConvergenceWarning`` that says what is known: a bound on the margin of every separator, and whether
        the examples are separable. There is no `sample_weight`: convergence assumes equal steps (`partial_fit` takes
        weights).
        """
        for name in refused:
            reason = ": convergence assumes equal steps; use partial_fit" * (name == "sample_weight")
            raise TypeError(f"{type(self).__name__}.fit takes X and y, but no {name}{reason}")
        check_integers(1, max_iter=1 if self.max_iter is None else self.max_iter)
        with all_or_nothing(self):
            resumes = self.warm_start and hasattr(self, "run_")
            X, y = self._examples(X, y, reset=not resumes)
            state = self._resumable_state(y) if resumes else self._initial_state(distinct_labels(y), X.shape[1])
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
        self._warn_unless_halted(known)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each example once, in the order given; the size of the batches makes no difference.

        If an example is invalid, an error is raised and nothing is learned from the batch.

        Parameters
        ----------
        X, y : matrix and labels
            The examples.
        classes : array, optional
            All labels that will ever occur, on the first call. Not needed with ``new_classes=True``: a class is then
            added at its first example.
        sample_weight : array, optional
            The weights of the examples, at least 0, by which steps are multiplied; for rules that support weights.
        """
        self._keep(Run(self._learn(X, y, classes, sample_weight).state))
        return self

    def _advise(self, X: Any, y: Any, classes: Any) -> NDArray[Any]:
        """Learn like `partial_fit`; return the labels predicted before each row was learned from."""
        with all_or_nothing(self):
            done = self._learn(X, y, classes, trace=True)
            self._keep(Run(done.state))
            shown: NDArray[Any] = done.classes[[] if done.trace is None else done.trace.predictions]
            return shown

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any = None, *, trace: bool = False) -> Run:
        """Return the run after one more pass."""
        with all_or_nothing(self):
            resumes = hasattr(self, "run_")
            X, y = self._examples(X, y, reset=not resumes)
            named = [] if classes is None else [classes]
            if resumes:
                state = self._resumable_state(*named)
            elif named or self.new_classes:
                state = self._initial_state(distinct_labels(*named or [y[:1]]), X.shape[1])
            else:
                raise ParameterError(
                    "classes is missing: the first call of partial_fit must name all labels (or set new_classes=True)"
                )
            if self.new_classes:
                self._check_classes(distinct_labels(state.classes, y))
            options = {"sample_weight": sample_weight, "trace": trace, "new_classes": bool(self.new_classes)}
            return run(self._rule(), X, y, state=state, **options)

    def _initial_state(self, labels: NDArray[Any], n_features: int) -> State:
        rule = self._rule()
        self._check_classes(labels)
        many = bool(self.new_classes) or labels.size > 2
        return state_before(rule, labels, n_features, fit_intercept=self.fit_intercept, multiclass=many)

    def _resumable_state(self, *groups: Any) -> State:
        """Return the state to resume with these groups of labels; raise if one is new and `new_classes` is False."""
        state = self._resumable_run().state
        labels = distinct_labels(state.classes, *groups)
        if labels.size == state.classes.size:
            return state
        if not self.new_classes:
            unknown = np.setdiff1d(labels, state.classes).tolist()
            raise DataError(
                f"unknown labels {unknown}; the classes are {state.classes.tolist()}"
                " (set new_classes=True to allow new ones)"
            )
        return with_classes(state, labels)

    def _seed(self) -> int:
        """Return the seed for the order of each pass: random_state itself, if that is an integer."""
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _rule(self) -> Any:
        raise NotImplementedError


def halts_where_separable(rule: Any) -> bool:
    """Tell whether a rule is proven to halt on separable examples."""
    # No vector may have the margin that a normalised margin asks for.
    return isinstance(rule, Perceptron) or (isinstance(rule, MarginPerceptron) and not rule.normalized)


class OnlineClassifier(OnlineLinearClassifier):
    """A classifier for any rule: one of `onlinear.rules`, or your own.

    Parameters
    ----------
    rule : a rule, optional
        The default is ``Perceptron()``. For rules that learn from experts' advice, use `ExpertsClassifier`.
    fit_intercept : bool
        Whether to learn an intercept. Rules for 0/1 inputs do not support it.
    max_iter : int, optional
        The maximum number of passes of `fit`; None: as in `PerceptronClassifier`. A rule that updates on every example
        never halts: `fit` then makes 1,000 passes by default and warns.
    shuffle, random_state, warm_start, new_classes
        As in `PerceptronClassifier`.

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

    def _only_two_classes(self) -> str:
        try:
            check_many_classes(self._rule())
        except (OnlinearError, TypeError, ValueError, AttributeError) as error:  # a user's rule may raise any of these
            return str(error)
        return ""

    def _rule(self) -> Any:
        rule: Any = Perceptron() if self.rule is None else self.rule
        check_rule(rule)
        if rule.inputs == "advice":
            raise ParameterError(f"{type(rule).__name__} learns from experts' advice; use onlinear.ExpertsClassifier")
        return rule
