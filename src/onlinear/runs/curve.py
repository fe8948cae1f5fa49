"""The mistakes of a run over time, in bounded memory: however long the run, a few thousand numbers tell its course."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.display import Pictured, counted
from onlinear.engine import passes
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block
from onlinear.runs.learner import Learner

CURVE: Final = "curve"
"""What requests a curve instead of a trace."""
POINTS: Final = 2048
"""The most points of a curve that is recorded while a learner runs."""
_COSTLIEST = 10
"""How many of the worst rounds are kept."""

Counts = NDArray[np.int64]


class CostlyRound(NamedTuple):
    """A round with a mistake, and how far its score was on the wrong side."""

    round: int
    answer: int
    """The number of the right class."""
    prediction: int
    cost: float
    """−y·score of two classes; of more, how far the best wrong class was ahead of the right one."""


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Pictured):
    """The mistakes of a run over time.

    The arrays have an entry for the beginning, for moments in equal distances, and for the end; all count from the
    beginning of the stretch that was recorded.

    Attributes
    ----------
    rounds : int array
        The number of rounds before each moment, over everything that the learner has seen.
    mistakes, updates : int arrays
        Mistakes and updates up to then.
    majority, last_label : int arrays
        Mistakes of the baselines up to then: of the most frequent label so far, and of the last label.
    confusion : int array
        How often examples of each class (row) were predicted to be of each class (column), before they were learned
        from.
    costliest : tuple of CostlyRound
        The mistakes with the worst scores, the worst first; of equal ones the latest, before which most was learned.
    """

    rounds: Counts
    mistakes: Counts
    updates: Counts
    majority: Counts
    last_label: Counts
    confusion: Counts
    costliest: tuple[CostlyRound, ...]

    def _title(self) -> str:
        return f"Curve of {counted(int(self.rounds[-1] - self.rounds[0]), 'round')}"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("points", f"{self.rounds.size:,}")]
        names = ("mistakes", "updates", "majority", "last_label")
        facts += [(name.replace("_", " "), f"{int(getattr(self, name)[-1]):,} at the end") for name in names]
        rates = np.diff(self.mistakes) / np.diff(self.rounds)
        if rates.size:
            facts.append(("mistake rate", f"{rates.min():.2%} to {rates.max():.2%} between two points"))
        return facts


class CurvePoints:
    """Collects a curve from rounds in any number of parts.

    Points have an equal distance, which is doubled when there would be too many of them. So they depend on the number
    of rounds alone, and not on the parts.
    """

    def __init__(self, most: int = POINTS, first_round: int = 0) -> None:
        self._most = max(2, most)
        self._first = first_round
        self._stride = 1
        self._seen = 0
        self._points: list[Counts] = [np.zeros((1, 5), dtype=np.int64)]
        """In rows: rounds, mistakes, updates, mistakes of both baselines."""
        self._held = 1
        self._totals = np.zeros(5, dtype=np.int64)
        self._latest = 0
        self._confusion = np.zeros((2, 2), dtype=np.int64)
        self._costliest: list[CostlyRound] = []

    def take_classes(self, places: NDArray[Any], classes: int) -> None:
        """Take in that there are more classes, among which those so far have these places."""
        confusion = np.zeros((classes, classes), dtype=np.int64)
        confusion[np.ix_(places, places)] = self._confusion[: places.size, : places.size]
        self._confusion, self._latest = confusion, int(places[self._latest])
        self._costliest = [
            one._replace(answer=int(places[one.answer]), prediction=int(places[one.prediction]))
            for one in self._costliest
        ]

    def add(
        self,
        mistakes: NDArray[np.bool_],
        updates: NDArray[np.bool_],
        answers: NDArray[Any],
        predictions: NDArray[Any],
        scores: Floats,
    ) -> None:
        """Take in rounds: whether there was a mistake and an update, and the numbers of two classes."""
        if not answers.size:
            return
        classes = int(max(answers.max(), predictions.max())) + 1
        if classes > len(self._confusion):
            self.take_classes(np.arange(len(self._confusion)), classes)
        self._add_costliest(mistakes, answers, predictions, scores)
        per_round = np.stack([np.ones_like(mistakes), mistakes, updates, *self._baselines(answers)], axis=1)
        np.add.at(self._confusion, (answers, predictions), 1)
        sums = self._totals + np.cumsum(per_round, axis=0, dtype=np.int64)
        self._totals, self._latest = sums[-1], int(answers[-1])
        while True:
            due = sums[sums[:, 0] % self._stride == 0]
            if self._held + len(due) <= self._most:
                break
            self._points = [points[points[:, 0] % (2 * self._stride) == 0] for points in self._points]
            self._held, self._stride = sum(map(len, self._points)), 2 * self._stride
        self._points.append(due)
        self._held += len(due)

    def curve(self) -> Curve:
        """Return the curve of what was taken in."""
        points = np.concatenate(self._points)
        if points[-1, 0] != self._totals[0]:
            points = np.concatenate([points, self._totals[None]])
        rounds, mistakes, updates, majority, last_label = points.T
        confusion, costliest = self._confusion.copy(), tuple(self._costliest)
        return Curve(self._first + rounds, mistakes, updates, majority, last_label, confusion, costliest)

    def _baselines(self, answers: NDArray[Any]) -> list[NDArray[np.bool_]]:
        """Return in which rounds the most frequent label so far, and the last label, are wrong."""
        last = np.concatenate([[self._latest], answers[:-1]])
        # Of equally frequent labels, and at first, the baseline answers the first class, as argmax does.
        counts = np.zeros((answers.size, len(self._confusion)), dtype=np.int64)
        counts[0] = self._confusion.sum(axis=1)
        counts[np.arange(1, answers.size), answers[:-1]] = 1
        leaders = np.cumsum(counts, axis=0).argmax(axis=1)
        return [leaders != answers, last != answers]

    def _add_costliest(
        self, mistakes: NDArray[np.bool_], answers: NDArray[Any], predictions: NDArray[Any], scores: Floats
    ) -> None:
        wrong = np.flatnonzero(mistakes)
        if not wrong.size:
            return
        costs = np.abs(scores[wrong])
        worst = wrong[np.lexsort((-wrong, -costs))[:_COSTLIEST]]
        first = self._first + int(self._totals[0])
        new = (CostlyRound(first + int(i), int(answers[i]), int(predictions[i]), float(abs(scores[i]))) for i in worst)
        self._costliest = sorted([*self._costliest, *new], key=lambda one: (-one.cost, -one.round))[:_COSTLIEST]


class CurveRecorder:
    """Collects a curve while a learner runs, block by block."""

    def __init__(self, learner: Learner) -> None:
        self._points = CurvePoints(first_round=learner.rounds)
        self._classes = learner.classes.labels
        self._points.take_classes(np.arange(min(2, self._classes.size)), max(2, self._classes.size))

    def learn(self, learner: Learner, block: Block, y: NDArray[Any], limit: int = -1) -> int:
        """Learn from a block until `limit` updates, and record it; return the first row not read."""
        if learner.classes.labels is not self._classes:
            self._points.take_classes(learner.classes.encode(self._classes), learner.classes.labels.size)
            self._classes = learner.classes.labels
        scores, events = np.empty(y.size), np.empty(y.size, dtype=np.int32)
        row = learner.learn(block, y, limit=limit, scores=scores, events=events)
        done = events[:row]
        mistakes, updates = (done & bit != 0 for bit in (passes.MISTAKE, passes.UPDATE))
        answers = class_numbers(learner, y[:row])
        self._points.add(mistakes, updates, answers, done // passes.PREDICTED, scores[:row])
        return row

    def trace(self, learner: Learner) -> Curve:
        """Return what was collected."""
        return self._points.curve()


def class_numbers(learner: Learner, codes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the numbers of the classes that codes of labels stand for."""
    return (codes if learner.multiclass else codes > 0).astype(np.int32)
