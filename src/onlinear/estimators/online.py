"""Classifiers that learn one example at a time: until the data are separated (`fit`), or once (`partial_fit`)."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from onlinear.checks import check_integers
from onlinear.errors import ParameterError
from onlinear.estimators.base import LinearClassifier, all_or_nothing, distinct_labels, extended_state
from onlinear.estimators.fitting import HALTING, Fitting
from onlinear.rules import AveragedPerceptron
from onlinear.runs import Convergence, Run, State, Trace, run, state_before

Average: TypeAlias = bool | Literal["auto"]


class OnlineLinearClassifier(LinearClassifier):
    """The classifier for a rule, which `_rule` returns."""

    max_iter: int | None
    early_stopping: bool
    shuffle: bool
    random_state: Any
    verbose: int
    warm_start: bool

    average: Average = False
    """The value for a classifier without such a parameter."""

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:
        """Learn until no example causes an update, or until it is clear that this will not happen.

        For the perceptron that is when the examples are separated. ``run_.reason`` says why it stopped. There is a
        ``ConvergenceWarning`` if the examples are not separated and the weights are not averaged. There is no
        `sample_weight` (`partial_fit` takes weights).
        """
        for name in refused:
            remedy = "; use partial_fit, or class_weight" * (name == "sample_weight")
            raise TypeError(f"{type(self).__name__}.fit takes X and y, but no {name}{remedy}")
        check_integers(1, max_iter=1 if self.max_iter is None else self.max_iter)
        with all_or_nothing(self):
            resumes = self.warm_start and hasattr(self, "run_")
            X, y = self._examples(X, y, reset=not resumes)
            state = self._resumable_state(y) if resumes else self._initial_state(distinct_labels(y), X.shape[1])
            rule = self._learning_rule(state if resumes else None)
            fitting = Fitting(
                X,
                y,
                self._weights(rule, y),
                max_iter=self.max_iter,
                shuffle=bool(self.shuffle),
                seed=self._seed(),
                early_stopping=bool(self.early_stopping),
                title=type(self).__name__ if self.verbose else "",
            )
            done = self._fitted(fitting, rule, state, resumes=resumes)
            self._keep(done)
        fitting.say(done.reason)
        # Averages are for examples that are not separated, and there is nothing to warn of.
        if isinstance(done.rule, HALTING) and not (done.halted or self.early_stopping):
            remedy = "" if self._averaging_rule() is None else '; average="auto" would predict better'
            warnings.warn(f"{type(self).__name__}: {done.reason}{remedy}", ConvergenceWarning, stacklevel=2)
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
            shown: NDArray[Any] = done.classes[done.trace.predictions if isinstance(done.trace, Trace) else []]
            return shown

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any = None, *, trace: bool = False) -> Run:
        """Return the run after one more pass."""
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} does not apply to partial_fit, which sees a part of the examples;"
                " give the weights as a dict"
            )
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
            rule = self._learning_rule(state)
            weights = self._weights(rule, y, state.classes, sample_weight=sample_weight)
            return run(rule, X, y, state=state, sample_weight=weights, trace=trace, new_classes=bool(self.new_classes))

    def _fitted(self, fitting: Fitting, rule: Any, state: State, *, resumes: bool) -> Convergence:
        """Return the run of one call of `fit`, from the state before it."""
        averaging = self._averaging_rule() if self.average else None
        if averaging is not None and isinstance(rule, type(averaging)):
            return fitting.average(rule, state)
        if averaging is None or resumes:
            done, known = fitting.separate(rule, state)
            return replace(done, reason=f"{done.reason}; {known}") if known else done
        start = self._initial_state(state.classes, state.n_features, averaging)
        return fitting.separate_or_average(state, start, centred=self._is_centred())

    def _initial_state(self, labels: NDArray[Any], n_features: int, rule: Any = None) -> State:
        rule = self._learning_rule() if rule is None else rule
        self._check_classes(labels)
        many = bool(self.new_classes) or labels.size > 2
        intercept = bool(self.fit_intercept) and not self._constant
        return state_before(rule, labels, n_features, fit_intercept=intercept, multiclass=many)

    def _resumable_state(self, *groups: Any) -> State:
        """Return the state to resume with these groups of labels; raise if one is new and `new_classes` is False."""
        return extended_state(self._resumable_run().state, groups, new_classes=self.new_classes)

    def _seed(self) -> int:
        """Return the seed for the order of each pass: random_state itself, if that is an integer."""
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _learning_rule(self, state: State | None = None) -> Any:
        """Return the rule to learn with: the one that averages if that was asked for, or if the state has averages."""
        automatic = isinstance(self.average, str) and self.average == "auto"
        if not (automatic or isinstance(self.average, bool | np.bool_)):
            raise ParameterError(f'average is {self.average!r}; it must be True, False or "auto"')
        if not (state is not None and isinstance(state.rule, AveragedPerceptron) if automatic else self.average):
            return self._rule()
        rule = self._averaging_rule()
        if rule is None:
            raise ParameterError(f"average=True: there are no averages for {self._rule()!r}")
        return rule

    def _rule(self) -> Any:
        raise NotImplementedError

    def _averaging_rule(self) -> Any:
        """Return the rule that takes the same steps and averages; None if there is none."""
        return None

    def _is_centred(self) -> bool:
        """Tell whether `fit` looks for a separator near the centre of all."""
        return False
