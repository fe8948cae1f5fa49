"""The batch perceptron: one step for all misclassified examples together."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.data.chunk import Chunk
from onlinear.engine.flat import SUMMED_ROWS, Floats
from onlinear.engine.passes import STEPS
from onlinear.errors import ParameterError
from onlinear.rules.batch import BatchPerceptron
from onlinear.rules.rule import Tie
from onlinear.runs.beginning import open_arrays
from onlinear.runs.columns import name_features
from onlinear.runs.converge import begin_on, ended, renamed_start
from onlinear.runs.convergence import Convergence, Outcome, PassCounts, Stop
from onlinear.runs.learner import Learner
from onlinear.runs.online import as_weights
from onlinear.runs.recorder import AnyRecorder, BatchRecorder, Traced, check_trace, recorder_for
from onlinear.runs.rounds import learn_until, settled

Schedule: TypeAlias = Literal["constant", "1/k"] | Callable[[int], float]


@dataclass(frozen=True, eq=False, repr=False)
class BatchRun(Convergence):
    """A run of the batch perceptron.

    ``updates`` counts the examples that took part in steps, Σ|I_k|; ``batch_sizes`` has each |I_k|, and
    ``schedule`` is as it was given.
    """

    KIND: ClassVar[str] = "BatchRun"

    batch_sizes: tuple[int, ...] = ()
    schedule: Schedule = "constant"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the run to a file, as `Run.save` does; a schedule that is a function cannot be saved."""
        if not isinstance(self.schedule, str):
            raise ParameterError('a schedule that is a function cannot be saved; use "constant" or "1/k"')
        super().save(path)

    def _facts(self) -> list[tuple[str, str]]:
        halted, *rest = super()._facts()
        return [halted, ("batches", f"{len(self.batch_sizes):,}"), *rest]


def batch_perceptron(
    X: Any,
    y: Any,
    *,
    schedule: Schedule = "constant",
    start: Any = None,
    state: BatchRun | None = None,
    max_passes: int = 1000,
    tie: Tie = "mistake",
    fit_intercept: bool = False,
    normalize: bool = False,
    classes: Any = None,
    sample_weight: Any = None,
    stop: Stop | None = None,
    trace: Traced = False,
) -> BatchRun:
    """Run the batch perceptron: ``w ← w + η_k·Σ y·x`` over the misclassified examples, until none is left.

    With a constant step and n examples of norm at most R it takes at most (n+1)²/(4n)·(R/γ*)² steps.
    It halts for every schedule with Ση → ∞ and Ση²/(Ση)² → 0. ``"1/k"`` is one of them, but its bound
    is exponential in nR/γ*.

    Parameters
    ----------
    X, y : matrix and labels
        An array or anything like it, or a SciPy sparse matrix.
    schedule : {"constant", "1/k"} or callable
        η_k: always 1; 1/k; or a function of k = 1, 2, … with finite values, at least 0.
    start : array, or pair (array, float)
        The first weights, and with an intercept the first intercept.
    state : BatchRun
        Continue from where a run ended: its counters, its batches and k count on.
    max_passes : int
        Give up after this many passes; each ends in one step.
    tie, fit_intercept, normalize, classes
        As in `onlinear.rules.Perceptron` and `onlinear.run`.
    sample_weight : array
        The weights of the examples, at least 0: ``w ← w + η_k·Σ λ y·x``. An example of weight 2 counts as two,
        and one of weight 0 takes no step.
    stop : callable, optional
        As in `onlinear.converge`.
    trace : bool, "curve" or Potentials
        As in `onlinear.run`; potentials are recorded after each step.

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
    check_trace(trace)
    step_size = step_size_of(schedule)
    check_integers(1, max_passes=max_passes)
    start, given = renamed_start(start, state)
    if given is not None and not isinstance(given, BatchRun):
        raise ParameterError("state must be a BatchRun, which knows how many steps it has taken")
    chunk = open_arrays(X, y)
    learner, beginning = begin_on(BatchPerceptron(tie), chunk, start, given, fit_intercept, normalize, classes)
    name_features(learner, X)
    recorder = recorder_for(trace, learner, BatchRecorder)
    codes = learner.classes.encode(chunk.y)
    weights = as_weights(learner.rule, sample_weight, chunk.n)
    sizes: list[int] = [] if given is None else list(given.batch_sizes)
    counts: list[PassCounts] = []
    for number in range(max_passes):
        wrong, direction, sums = _sum_mistakes(learner, chunk, codes, weights, recorder)
        if wrong == 0:
            end = ended(learner, chunk.n, beginning, number + 1)
            return _outcome(end, sizes, schedule, max_passes, recorder and recorder.trace(learner))
        sizes.append(wrong)
        eta = step_size(len(sizes))
        # The pass counted λ = 1 for each example; the step gives them η.
        with np.errstate(over="ignore", invalid="ignore"):
            learner.arrays.w[:] += eta * direction
            learner.sums[:] += eta * sums
        if not (np.isfinite(learner.arrays.w).all() and np.isfinite(learner.sums).all()):
            raise ParameterError(f"the step of size schedule({len(sizes)}) = {eta:g} overflows")
        if isinstance(recorder, BatchRecorder):
            recorder.note_step(learner)
        counts.append(PassCounts(wrong, wrong, float(sums[STEPS])))
        if stop is not None and stop(counts):
            max_passes = number + 1
            break
    outcome = Outcome.HALTED if settled(learner, chunk, codes, weights) else Outcome.PASS_LIMIT
    end = ended(learner, chunk.n, beginning, max_passes, outcome, max_passes)
    return _outcome(end, sizes, schedule, max_passes, recorder and recorder.trace(learner))


def _sum_mistakes(
    learner: Learner, chunk: Chunk, codes: NDArray[Any], weights: Floats, recorder: AnyRecorder | None
) -> tuple[int, Floats, Floats]:
    """Return how many examples are misclassified, Σ λ y·x over them, and the sums of λ and λ‖x‖.

    Each block of `SUMMED_ROWS` examples is summed on its own, and the sums of the blocks are added in order: then
    blocks that are summed elsewhere give the same bits.
    """
    before, kept = learner.updates, learner.sums.copy()
    direction, sums = np.zeros_like(learner.arrays.w), np.zeros_like(kept)
    for first in range(0, chunk.n, SUMMED_ROWS):
        learner.arrays.direction[:] = learner.sums[:] = 0.0
        for span in chunk.spans(slice(first, min(first + SUMMED_ROWS, chunk.n))):
            learn_until(learner, chunk, codes, span, None, weights, recorder)
        with np.errstate(over="ignore", invalid="ignore"):
            direction += learner.arrays.direction
            sums += learner.sums
    learner.arrays.direction[:] = 0.0
    learner.sums[:] = kept
    return learner.updates - before, direction, sums


def _outcome(end: Convergence, sizes: list[int], schedule: Schedule, max_passes: int, trace: Any) -> BatchRun:
    return BatchRun(
        end.state,
        trace,
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
