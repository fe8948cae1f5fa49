"""The batch perceptron: one step for all misclassified examples together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from onlinear.checks import check_integers
from onlinear.data.matrices import spans
from onlinear.errors import ParameterError
from onlinear.models.state import State
from onlinear.rules.batch import BatchPerceptron
from onlinear.rules.rule import Tie
from onlinear.runs.converge import Convergence, Outcome, ended, learn_until, ready, settled
from onlinear.runs.online import as_weights, read_arrays
from onlinear.runs.outcome import Run

Schedule: TypeAlias = Literal["constant", "1/k"] | Callable[[int], float]


@dataclass(frozen=True, eq=False, repr=False)
class BatchRun(Convergence):
    """A run of the batch perceptron.

    ``updates`` counts the examples that took part in steps, Σ|I_k|; ``batch_sizes`` has each |I_k|, and
    ``schedule`` is as it was given.
    """

    batch_sizes: tuple[int, ...] = ()
    schedule: Schedule = "constant"

    def _facts(self) -> list[tuple[str, str]]:
        halted, *rest = super()._facts()
        return [halted, ("batches", f"{len(self.batch_sizes):,}"), *rest]


def batch_perceptron(
    X: Any,
    y: Any,
    *,
    schedule: Schedule = "constant",
    start: Any = None,
    max_passes: int = 1000,
    tie: Tie = "mistake",
    fit_intercept: bool = False,
    normalize: bool = False,
    classes: Any = None,
    sample_weight: Any = None,
) -> BatchRun:
    """Run the batch perceptron: ``w ← w + η_k·Σ y·x`` over the misclassified examples, until none is left.

    With a constant step and n examples of norm at most R it takes at most (n+1)²/(4n)·(R/γ*)² steps.
    It halts for every schedule with Ση → ∞ and Ση²/(Ση)² → 0. Beware of ``"1/k"``: that one halts
    too, but the bound is exponential in nR/γ*.

    Parameters
    ----------
    X, y : matrix and labels
        An array or anything like it, or a SciPy sparse matrix.
    schedule : {"constant", "1/k"} or callable
        η_k: always 1; 1/k; or a function of k = 1, 2, … with finite values, at least 0.
    start : array, pair (array, float), or BatchRun
        The first weights; or a run to go on from: its counters and batches count on, and so does k.
    max_passes : int
        Give up after this many passes; each ends in one step.
    tie, fit_intercept, normalize, classes
        As in `onlinear.rules.Perceptron` and `onlinear.run`.
    sample_weight : array
        The weights of the examples, at least 0: ``w ← w + η_k·Σ λ y·x``. An example of weight 2 steps as two
        would, and one of weight 0 takes no step.

    Returns
    -------
    BatchRun

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.2, n=100, d=5, seed=0)
    >>> onlinear.batch_perceptron(X, y).halted
    True
    """
    step_size = step_size_of(schedule)
    check_integers(1, max_passes=max_passes)
    if isinstance(start, Run | State) and not isinstance(start, BatchRun):
        raise ParameterError("start must be weights or a BatchRun, which knows how many steps it has taken")
    source, labels = read_arrays(X, y)
    learner, begun = ready(BatchPerceptron(tie), source, labels, start, fit_intercept, normalize, classes)
    codes = learner.classes.encode(labels)
    weights = as_weights(learner.rule, sample_weight, source.n)
    sizes: list[int] = list(start.batch_sizes) if isinstance(start, BatchRun) else []
    for number in range(max_passes):
        before, sums = learner.updates, learner.sums.copy()
        learner.sums[:] = 0.0
        for span in spans(source):
            learn_until(learner, source, codes, span, None, weights)
        wrong = learner.updates - before
        if wrong == 0:
            learner.sums[:] = sums
            return _outcome(ended(learner, source, begun, number + 1), sizes, schedule, max_passes)
        sizes.append(wrong)
        eta = step_size(len(sizes))
        # The pass counted λ = 1 for each example; the step gives them η.
        with np.errstate(over="ignore", invalid="ignore"):
            learner.arrays.w[:] += eta * learner.arrays.direction
            learner.sums[:] = sums + eta * learner.sums
        learner.arrays.direction[:] = 0.0
        if not (np.isfinite(learner.arrays.w).all() and np.isfinite(learner.sums).all()):
            raise ParameterError(f"the step of size schedule({len(sizes)}) = {eta:g} overflows")
    outcome = Outcome.HALTED if settled(learner, source, codes, weights) else Outcome.PASS_LIMIT
    return _outcome(ended(learner, source, begun, max_passes, outcome, max_passes), sizes, schedule, max_passes)


def _outcome(end: Convergence, sizes: list[int], schedule: Schedule, max_passes: int) -> BatchRun:
    return BatchRun(
        end.state,
        None,
        end.halted,
        end.passes,
        end.reason,
        max_passes=int(max_passes),
        outcome=end.outcome,
        batch_sizes=tuple(sizes),
        schedule=schedule,
    )


def step_size_of(schedule: Schedule) -> Callable[[int], float]:
    """Return η as a function of k."""
    if schedule == "constant":
        return lambda k: 1.0
    if schedule == "1/k":
        return lambda k: 1.0 / k
    if not callable(schedule):
        raise ParameterError(f'schedule is {schedule!r}; it must be "constant", "1/k" or a function of k')

    def checked(k: int) -> float:
        eta: Any = schedule(k)
        if not (isinstance(eta, int | float | np.number) and 0.0 <= eta < math.inf):
            raise ParameterError(f"schedule({k}) is {eta!r}; a step size must be finite and at least 0")
        return float(eta)

    return checked
