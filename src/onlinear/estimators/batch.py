"""The batch perceptron as a classifier."""

from __future__ import annotations

import functools
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from onlinear.checks import check_integers
from onlinear.data.one_label import show
from onlinear.display import counted
from onlinear.errors import DataError
from onlinear.estimators.base import LinearClassifier, all_or_nothing, distinct_labels
from onlinear.estimators.fitting import Fitting
from onlinear.estimators.patience import until_separated
from onlinear.rules.batch import BatchPerceptron
from onlinear.rules.rule import Tie
from onlinear.runs import BatchRun, batch_perceptron
from onlinear.runs.batch import Schedule
from onlinear.runs.convergence import Stop

_ASKED = 64
"""After this many passes, check whether the data are separable."""


class BatchPerceptronClassifier(LinearClassifier):
    """The batch perceptron: ``w ← w + η_k·Σ y·x`` over the misclassified examples, until none is left.

    Each step needs all examples, so there is no `partial_fit`. The order of the examples does not matter (except for
    rounding), and an example with weight 2 is the same as the example twice.

    Parameters
    ----------
    schedule : {"constant", "1/k"} or callable
        η_k: 1; 1/k (which may take exponentially long); or a function of k = 1, 2, …
    tie, fit_intercept, intercept_scaling, class_weight, verbose
        As in `PerceptronClassifier`.
    max_iter : int, optional
        The maximum number of passes of `fit`, each with one step. None: 1,000; but a million if the examples are proven
        to be separable, and 64 if they are proven not to be.
    warm_start : bool
        Whether `fit` resumes from the previous state, counters and k included.

    The attributes are those of `PerceptronClassifier`.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.2, n=100, d=5, seed=0)
    >>> onlinear.BatchPerceptronClassifier().fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        schedule: Schedule = "constant",
        tie: Tie = "mistake",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        max_iter: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.schedule = schedule
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn until the examples are separated, or for `max_iter` passes.

        If it gives up, it keeps the best weights so far, those with the fewest mistakes on the examples, and issues a
        ``ConvergenceWarning`` that says what is known: a bound on the margin of every separator, and whether the
        examples are separable.

        Parameters
        ----------
        X, y : matrix and labels
            The examples.
        sample_weight : array, optional
            The weights of the examples, at least 0. Weight 2 counts as two examples, weight 0 as none.
        """
        check_integers(1, max_iter=1 if self.max_iter is None else self.max_iter)
        with all_or_nothing(self):
            start = self._resumable_run() if self.warm_start and hasattr(self, "run_") else None
            X, y = self._examples(X, y, reset=start is None)
            labels = distinct_labels(y)
            if start is None:
                self._check_classes(labels)
            weights = self._weights(BatchPerceptron(self.tie), y, sample_weight=sample_weight)
            if weights is not None:
                _check_weighted_classes(y, weights)
            title = type(self).__name__ if self.verbose else ""
            fitting = Fitting(X, y, weights, max_iter=self.max_iter, title=title)
            done = self._fitted(fitting, labels, start)
            self._keep(done)
        fitting.say(done.reason)
        if not done.halted:
            warnings.warn(f"{type(self).__name__}: {done.reason}", ConvergenceWarning, stacklevel=2)
        return self

    def _fitted(self, fitting: Fitting, labels: NDArray[Any], start: Any) -> BatchRun:
        """Return the run of one call of `fit`, from the run before it, if there is one."""
        intercept = bool(self.fit_intercept) and not self._constant
        options: dict[str, Any] = {
            "schedule": self.schedule,
            "tie": self.tie,
            "fit_intercept": intercept,
            "sample_weight": fitting.weights,
        }

        def go_on(state: Any, passes: int, stop: Stop | None) -> BatchRun:
            limits: dict[str, Any] = {"max_passes": passes, "stop": fitting.watching(stop)}
            classes = None if state else labels
            return batch_perceptron(fitting.X, fitting.y, state=state, classes=classes, **limits, **options)

        # Its mistakes go up and down, and say little about progress.
        ask = functools.partial(fitting.answer, labels, intercept) if self.schedule == "constant" else None
        early = ask if self.max_iter is None else None
        done, known = until_separated(
            go_on,
            start,
            self.max_iter,
            lambda passes: len(passes) == _ASKED and early is not None and early().separable is False,
            ask,
        )
        if done.halted:
            return done
        reason = f"{done.reason}; {known}"
        if start is not None or len(fitting.passes) == 1:
            return replace(done, reason=reason)
        # A pass counts the mistakes of the weights before it; those before the first are 0.
        best = 1 + int(np.argmin([one.steps for one in fitting.passes[1:]]))
        run = batch_perceptron(fitting.X, fitting.y, classes=labels, max_passes=best, **options)
        return replace(run, reason=f"{reason}; these are the best weights, after {counted(best, 'pass')}")


def _check_weighted_classes(y: NDArray[Any], sample_weight: Any) -> None:
    """Raise unless examples of at least two classes have a weight above 0."""
    weights = np.asarray(sample_weight)
    if weights.shape != y.shape:
        return  # `batch_perceptron` raises the error
    labels = distinct_labels(y[weights != 0])
    if labels.size == 0:
        raise DataError("sample_weight is zero for every example; at least two classes need examples with a weight")
    if labels.size == 1:
        raise DataError(
            f"sample_weight is zero except for one class, {show(labels[0])}; at least two classes need a weight"
        )
