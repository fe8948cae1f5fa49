"""What happened, round by round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine import passes
from onlinear.engine.rows import Floats
from onlinear.runs.learner import Learner
from onlinear.runs.state import each_array, weights_of


@dataclass(frozen=True, eq=False)
class Potentials:
    """Asks a trace for the potentials of the proofs, after each update.

    Parameters
    ----------
    comparator : array, or pair (array, float), optional
        A vector u, and with an intercept the one that belongs to it. Then ``inner`` = ⟨w,u⟩ and
        ``squared_distance`` = ‖w−u‖² are recorded too.
    """

    comparator: Any = None


@dataclass(frozen=True, eq=False)
class Trace:
    """The rounds of a run, counted from 0 over everything that the learner has seen.

    Attributes
    ----------
    mistakes, updates : int arrays
        The rounds in which a mistake was made, and a step taken.
    scores : float array
        The score of every round of this run, as it was before the answer.
    potentials : dict
        One array an entry, with a row for each update, where they were asked for: ``squared_norm``
        (and ``inner``, ``squared_distance`` with a comparator); for Winnow ``total_weight``, Φ; for
        experts ``weights`` and ``mistakes``.
    """

    mistakes: NDArray[np.int64]
    updates: NDArray[np.int64]
    scores: Floats
    potentials: dict[str, NDArray[Any]]


@dataclass
class Recorder:
    """Collects a trace, block by block."""

    wanted: Potentials | None
    first_round: int
    scores: list[Floats] = field(default_factory=list)
    events: list[NDArray[np.uint8]] = field(default_factory=list)
    potentials: list[dict[str, Any]] = field(default_factory=list)

    def learn(self, learner: Learner, block: Any, y: NDArray[np.int8]) -> int:
        """Learn from a block and record it; return the first row not read."""
        scores, events = np.empty(y.size), np.empty(y.size, dtype=np.uint8)
        limit = -1 if self.wanted is None else 1
        row = 0
        while True:
            before = learner.updates
            row = learner.learn(block, y, row, limit=limit, scores=scores, events=events)
            if self.wanted is None or learner.updates == before:
                break
            self.potentials.append(potentials(learner, self.wanted.comparator))
        self.scores.append(scores[:row])
        self.events.append(events[:row])
        return row

    def trace(self, learner: Learner) -> Trace:
        """Return what was collected."""
        events = np.concatenate([np.empty(0, dtype=np.uint8), *self.events])
        now = {} if self.wanted is None else potentials(learner, self.wanted.comparator)
        return Trace(
            self.first_round + np.flatnonzero(events & passes.MISTAKE),
            self.first_round + np.flatnonzero(events & passes.UPDATE),
            np.concatenate([np.empty(0), *self.scores]),
            {
                name: np.array([one[name] for one in self.potentials]).reshape(-1, *np.shape(value))
                for name, value in now.items()
            },
        )


def potentials(learner: Learner, comparator: Any) -> dict[str, Any]:
    """Return the potentials of a learner as it is now."""
    values: dict[str, Any] = {}
    if hasattr(learner.engine_rule, "potentials"):
        values |= learner.engine_rule.potentials(each_array(np.copy, learner.arrays))
    if learner.rule.inputs != "advice":
        w = weights_of(learner.arrays)
        values["squared_norm"] = float(np.sum(w * w))
        if comparator is not None:
            u = learner.vector("comparator", comparator)
            values["inner"] = float(np.sum(w * u))
            values["squared_distance"] = float(np.sum((w - u) ** 2))
    return values
