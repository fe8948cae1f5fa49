"""Recording a trace while a learner learns."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.engine import passes
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block, DenseBlock
from onlinear.errors import ParameterError
from onlinear.models.state import each_array, new_state, weights_of
from onlinear.rules.majority import Majority
from onlinear.runs.curve import CURVE, CurveRecorder, class_numbers
from onlinear.runs.learner import Learner
from onlinear.runs.trace import Potentials, Trace

AnyRecorder: TypeAlias = "Recorder | CurveRecorder"
Traced: TypeAlias = bool | Literal["curve"] | Potentials
"""What can be asked for."""


class Change(NamedTuple):
    """The potentials before and after a step."""

    before: dict[str, Any]
    after: dict[str, Any]


class Update(NamedTuple):
    """One update, as the lemmas see it; `Trace` describes the fields."""

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
    answers: list[NDArray[np.int32]] = field(default_factory=list)
    classes: list[NDArray[Any]] = field(default_factory=list)
    """The labels whose numbers are in each part of the events and answers: classes may be added."""
    updates: list[Update] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    width: int = -1
    """The number of features for which `comparator` and `now` were made."""
    comparator: Floats | None = None
    now: dict[str, Any] = field(default_factory=dict)
    """The potentials as they are."""

    def learn(self, learner: Learner, block: Block, y: NDArray[np.int8], limit: int = -1) -> int:
        """Learn from a block until `limit` updates, and record it; return the first row not read."""
        scores, events = np.empty(y.size), np.empty(y.size, dtype=np.int32)
        if self.wanted is None:
            row = learner.learn(block, y, limit=limit, scores=scores, events=events)
        else:
            row = self._learn_by_steps(learner, block, y, limit, scores, events)
        self.scores.append(scores[:row])
        self.events.append(events[:row])
        self.answers.append(class_numbers(learner, y[:row]))
        self.classes.append(learner.classes.labels)
        return row

    def _learn_by_steps(
        self,
        learner: Learner,
        block: Block,
        y: NDArray[np.int8],
        limit: int,
        scores: Floats,
        events: NDArray[np.int32],
    ) -> int:
        """Learn from a block, stopping after each update; return the first row not read."""
        self._look(learner)
        row, last = 0, learner.updates + limit
        while True:
            if limit >= 0 and learner.updates == last:
                return row
            updates, steps = learner.updates, float(learner.sums[passes.STEPS])
            # Counted from 0, the step is exact; added afterwards, the sum has the bits that it has without a trace.
            learner.sums[passes.STEPS] = 0.0
            row = learner.learn(block, y, row, limit=1, scores=scores, events=events)
            step = float(learner.sums[passes.STEPS])
            learner.sums[passes.STEPS] = steps + step
            if learner.updates == updates:
                return row
            self._note_change(learner)
            label = int(y[row - 1])
            size = step if learner.rule.additive else 1.0
            self.updates.append(Update(label, size, *compared(block, row - 1, label, self.comparator)))

    def _note_change(self, learner: Learner) -> None:
        before, self.now = self.now, self._measured(learner)
        self.changes.append(Change(before, self.now))

    def _measured(self, learner: Learner) -> dict[str, Any]:
        """Return the potentials of a learner that were asked for."""
        values = measured(learner, self.comparator)
        if self.wanted is not None and self.wanted.weights and learner.rule.inputs != "advice":
            intercept, values["weights"] = np.split(weights_of(learner.arrays).copy(), [learner.bias])
            values |= {"intercept": float(intercept[0])} if learner.bias else {}
        return values

    def _look(self, learner: Learner) -> None:
        """Measure the potentials before the first update, and again when features were added."""
        if self.wanted is not None and learner.n_features != self.width:
            self.width = learner.n_features
            self.comparator = whole(learner, self.wanted.comparator)
            self.now = self._measured(learner)

    def trace(self, learner: Learner) -> Trace:
        """Return what was collected."""
        self._look(learner)
        events = np.concatenate([np.empty(0, dtype=np.int32), *self.events])
        predicted = [part // passes.PREDICTED for part in self.events]
        done = self.updates
        potentials, before = self._potentials(learner)
        return Trace(
            mistakes=self.first_round + np.flatnonzero(events & passes.MISTAKE),
            updates=self.first_round + np.flatnonzero(events & passes.UPDATE),
            scores=np.concatenate([np.empty(0), *self.scores]),
            predictions=self._renumbered(predicted, learner),
            answers=self._renumbered(self.answers, learner),
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

    def _renumbered(self, parts: list[NDArray[np.int32]], learner: Learner) -> NDArray[np.int32]:
        """Return the numbers of classes, of all parts, as the learner numbers the classes now."""
        now = learner.classes
        whole = [
            part if labels is now.labels else now.encode(labels)[part]
            for part, labels in zip(parts, self.classes, strict=True)
        ]
        return np.concatenate([np.empty(0, dtype=np.int32), *whole]).astype(np.int32, copy=False)

    def _potentials(self, learner: Learner) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Return the potentials after the changes, and those before them."""
        done = self.changes
        first = done[0].before if done else self.now
        after = {name: _rows([first, *(one.after for one in done)], name, learner) for name in self.now}
        if all(one.after is another.before for one, another in pairwise(done)):
            # What was after one update was before the next: the experts' weights are not held twice.
            before = {name: rows[:-1] for name, rows in after.items()}
        else:
            before = {name: _rows([one.before for one in done], name, learner) for name in self.now}
        return {name: rows[1:] for name, rows in after.items()}, before


class BatchRecorder(Recorder):
    """Collects a trace of the batch perceptron: the potentials change with a step for a whole batch."""

    def _learn_by_steps(
        self,
        learner: Learner,
        block: Block,
        y: NDArray[np.int8],
        limit: int,
        scores: Floats,
        events: NDArray[np.int32],
    ) -> int:
        self._look(learner)
        return learner.learn(block, y, limit=limit, scores=scores, events=events)

    def note_step(self, learner: Learner) -> None:
        """Record the potentials after a step."""
        if self.wanted is not None:
            self._note_change(learner)


def recorder_for(trace: Any, learner: Learner, kind: type[Recorder] = Recorder) -> Any:
    """Return what records a learner's rounds as it was asked for, or None."""
    if isinstance(trace, Potentials):
        if isinstance(learner.rule, Majority):
            raise ParameterError("potentials can be traced for a single rule, not for a Majority")
        if learner.multiclass:
            raise ParameterError("potentials can be traced for two classes only")
        potentials(learner, trace.comparator)  # a comparator that does not fit is refused before round one
        return kind(trace, learner.rounds)
    if trace == CURVE:
        return CurveRecorder(learner)
    return kind(None, learner.rounds) if trace else None


def check_trace(trace: Any) -> None:
    """Raise unless this is something to record."""
    if not (isinstance(trace, bool | Potentials) or (isinstance(trace, str) and trace == CURVE)):
        raise ParameterError(f'trace is {trace!r}; it must be True, False, "{CURVE}" or Potentials(...)')


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


def _rows(states: list[dict[str, Any]], name: str, learner: Learner) -> NDArray[Any]:
    """Return one of the potentials as an array with a row for each state.

    Weights of features that came later are those that the rule starts with.
    """
    rows = [state[name] for state in states]
    if name == "weights" and learner.rule.inputs != "advice":
        fresh = weights_of(new_state(learner.engine_rule, learner.n_features))
        rows = [np.concatenate([row, fresh[row.size :]]) for row in rows]
    return np.array(rows)
