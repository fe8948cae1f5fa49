"""A record of each round."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine import passes
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block, DenseBlock
from onlinear.models.state import each_array, weights_of
from onlinear.runs.learner import Learner


@dataclass(frozen=True, eq=False)
class Potentials:
    """Request the potentials of the proofs in a trace, after each update.

    Parameters
    ----------
    comparator : array, or pair (array, float), optional
        A vector u, with its intercept if one is learned. Then ``inner`` = ⟨w,u⟩ and
        ``squared_distance`` = ‖w−u‖² are recorded too.
    """

    comparator: Any = None


@dataclass(frozen=True, eq=False)
class Trace:
    """The rounds of a run, counted from 0 over everything that the learner has seen.

    The last fields are filled if potentials were requested: they are the quantities in the lemmas, which
    `onlinear.theory.lemmas.verify_lemmas` checks. Their arrays have a row for each update, and x is the
    example as the rule saw it, including normalisation and the 1 of an intercept.

    Attributes
    ----------
    mistakes, updates : int arrays
        The rounds in which a mistake was made, and a step taken.
    scores : float array
        The score of every round of this run, before the update.
    predictions : int array
        The number of the class that was predicted in every round, among the run's `classes`; a tie that counts as a
        mistake predicts the first class, or the first of the best.
    potentials : dict
        Arrays with a row for each update, if potentials were requested: ``squared_norm``
        (and ``inner``, ``squared_distance`` with a comparator); for Winnow ``total_weight``, Φ; for
        experts ``weights`` (up to a common factor; the largest of a built-in rule's is 1) and ``mistakes``.
    first_round : int
        The round of ``scores[0]``; not 0 if the run was resumed.
    before : dict
        The potentials before each update.
    rule : a rule, or None
        The rule as it ran, after `for_width`.
    fit_intercept : bool
        Whether an intercept was learned.
    comparator : float array, or None
        u as one vector, with the intercept first where there is one. Experts have none.
    labels : int array
        y = ±1.
    steps : float array
        λ, where w moved by λ·y·x; 1 for a rule that is not additive.
    squared_lengths : float array
        ‖x‖².
    scales : float array
        The factor applied to the features: 1/‖x‖ of the original example if it was normalised, otherwise 1.
    entries : int array
        The number of stored entries of x, which bounds the rounding error of a sum over x.
    agreements : float array
        y⟨u,x⟩; empty without a comparator.
    """

    mistakes: NDArray[np.int64]
    updates: NDArray[np.int64]
    scores: Floats
    predictions: NDArray[np.int32]
    potentials: dict[str, NDArray[Any]]
    first_round: int
    before: dict[str, NDArray[Any]]
    rule: Any
    fit_intercept: bool
    comparator: Floats | None
    labels: NDArray[np.int8]
    steps: Floats
    squared_lengths: Floats
    scales: Floats
    entries: NDArray[np.int64]
    agreements: Floats


class Update(NamedTuple):
    """One update, as the lemmas see it; `Trace` describes the fields."""

    before: dict[str, Any]
    after: dict[str, Any]
    label: int
    step: float
    squared_length: float
    scale: float
    entries: int
    agreement: float | None


@dataclass
class Recorder:
    """Collects a trace, block by block."""

    wanted: Potentials | None
    first_round: int
    scores: list[Floats] = field(default_factory=list)
    events: list[NDArray[np.int32]] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    width: int = -1
    """The number of features for which `comparator` and `now` were made."""
    comparator: Floats | None = None
    now: dict[str, Any] = field(default_factory=dict)
    """The potentials as they are."""

    def learn(self, learner: Learner, block: Block, y: NDArray[np.int8]) -> int:
        """Learn from a block and record it; return the first row not read."""
        scores, events = np.empty(y.size), np.empty(y.size, dtype=np.int32)
        if self.wanted is None:
            row = learner.learn(block, y, scores=scores, events=events)
        else:
            row = self._learn_by_steps(learner, block, y, scores, events)
        self.scores.append(scores[:row])
        self.events.append(events[:row])
        return row

    def _learn_by_steps(
        self, learner: Learner, block: Block, y: NDArray[np.int8], scores: Floats, events: NDArray[np.int32]
    ) -> int:
        """Learn from a block, stopping after each update; return the first row not read."""
        self._look(learner)
        row = 0
        while True:
            updates, steps = learner.updates, float(learner.sums[passes.STEPS])
            # Counted from 0, the step is exact; added afterwards, the sum has the bits that it has without a trace.
            learner.sums[passes.STEPS] = 0.0
            row = learner.learn(block, y, row, limit=1, scores=scores, events=events)
            step = float(learner.sums[passes.STEPS])
            learner.sums[passes.STEPS] = steps + step
            if learner.updates == updates:
                return row
            before, self.now = self.now, measured(learner, self.comparator)
            label = int(y[row - 1])
            self.updates.append(
                Update(
                    before,
                    self.now,
                    label,
                    step if learner.rule.additive else 1.0,
                    *compared(block, row - 1, label, self.comparator),
                )
            )

    def _look(self, learner: Learner) -> None:
        """Measure the potentials before the first update, and again when features were added."""
        if self.wanted is not None and learner.n_features != self.width:
            self.width = learner.n_features
            self.comparator = whole(learner, self.wanted.comparator)
            self.now = measured(learner, self.comparator)

    def trace(self, learner: Learner) -> Trace:
        """Return what was collected."""
        self._look(learner)
        events = np.concatenate([np.empty(0, dtype=np.int32), *self.events])
        done = self.updates
        potentials, before = self._potentials()
        return Trace(
            mistakes=self.first_round + np.flatnonzero(events & passes.MISTAKE),
            updates=self.first_round + np.flatnonzero(events & passes.UPDATE),
            scores=np.concatenate([np.empty(0), *self.scores]),
            predictions=events // passes.PREDICTED,
            potentials=potentials,
            first_round=self.first_round,
            before=before,
            rule=None if self.wanted is None else learner.engine_rule,
            fit_intercept=bool(learner.bias),
            comparator=self.comparator,
            labels=np.array([one.label for one in done], dtype=np.int8),
            steps=np.array([one.step for one in done], dtype=np.float64),
            squared_lengths=np.array([one.squared_length for one in done], dtype=np.float64),
            scales=np.array([one.scale for one in done], dtype=np.float64),
            entries=np.array([one.entries for one in done], dtype=np.int64),
            agreements=np.array([one.agreement for one in done if one.agreement is not None], dtype=np.float64),
        )

    def _potentials(self) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Return the potentials after the updates, and those before them."""
        done = self.updates
        first = done[0].before if done else self.now
        after = {name: _rows([first, *(one.after for one in done)], name) for name in self.now}
        if all(one.after is another.before for one, another in pairwise(done)):
            # What was after one update was before the next: the experts' weights are not held twice.
            before = {name: rows[:-1] for name, rows in after.items()}
        else:
            before = {name: _rows([one.before for one in done], name) for name in self.now}
        return {name: rows[1:] for name, rows in after.items()}, before


def potentials(learner: Learner, comparator: Any) -> dict[str, Any]:
    """Return the potentials of a learner; raise if the comparator does not fit."""
    return measured(learner, whole(learner, comparator))


def whole(learner: Learner, comparator: Any) -> Floats | None:
    """Return the comparator, if there is one, as one vector like the learner's weights."""
    if comparator is None or learner.rule.inputs == "advice":
        return None
    return learner.vector("comparator", comparator)


@np.errstate(over="ignore", invalid="ignore")
def measured(learner: Learner, u: Floats | None) -> dict[str, Any]:
    """Return the potentials of a learner, with those of the comparator u; what overflows is infinite."""
    values: dict[str, Any] = {}
    if hasattr(learner.engine_rule, "potentials"):
        values |= learner.engine_rule.potentials(each_array(np.copy, learner.arrays))
    if learner.rule.inputs != "advice":
        w = weights_of(learner.arrays)
        values["squared_norm"] = float(np.sum(w * w))
        if u is not None:
            values["inner"] = float(np.sum(w * u))
            values["squared_distance"] = float(np.sum((w - u) ** 2))
    return values


@np.errstate(over="ignore", invalid="ignore")
def compared(block: Block, i: int, y: int, u: Floats | None) -> tuple[float, float, int, float | None]:
    """Return ‖x‖² of row i of a block, its scale, its number of stored entries, and y⟨u,x⟩ if there is a u."""
    places: Any
    scale = 1.0
    if isinstance(block, DenseBlock):
        x, places = block.values[i], slice(block.bias, None)
    else:
        stored = slice(block.indptr[i], block.indptr[i + 1])
        x, places = block.values[stored], block.indices[stored] + block.bias
    x = x.astype(np.float64)
    if block.normalize:
        # First by the largest entry, so that no square underflows; zeros stay as they are.
        largest = float(np.max(np.abs(x), initial=0.0))
        if largest > 0.0:
            x = x / largest
            length = float(np.sqrt(np.sum(x * x)))
            x = x / length
            scale = 1.0 / (largest * length)
    squared_length = float(np.sum(x * x)) + block.bias
    if u is None:
        return squared_length, scale, x.size + block.bias, None
    agreement = float(np.sum(u[places] * x)) + (float(u[0]) if block.bias else 0.0)
    return squared_length, scale, x.size + block.bias, y * agreement


def _rows(states: list[dict[str, Any]], name: str) -> NDArray[Any]:
    """Return one of the potentials as an array with a row for each state."""
    return np.array([state[name] for state in states])
