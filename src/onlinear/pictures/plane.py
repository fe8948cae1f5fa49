"""Lines in a plane: where a linear score is 0 within a rectangle, and where it stays so by further conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from onlinear.engine.flat import Floats


class Scores(NamedTuple):
    """The linear score a·x + b·y + c of points of the plane."""

    a: float
    b: float
    c: float

    def of(self, points: Floats) -> Floats:
        """Return the scores of points, a row for each."""
        scores: Floats = points @ np.array([self.a, self.b]) + self.c
        return scores

    def minus(self, other: Scores) -> Scores:
        """Return the difference of two scores."""
        return Scores(self.a - other.a, self.b - other.b, self.c - other.c)


class Box(NamedTuple):
    """A rectangle."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, points: Floats, *, square: bool) -> Box:
        """Return the rectangle around points with some space; as much on all sides if it is to be square."""
        low, high = points.min(axis=0), points.max(axis=0)
        spread = np.where(high > low, high - low, 1.0)
        edge = 0.08 * (np.full(2, spread.max()) if square else spread)
        (left, bottom), (right, top) = low - edge, high + edge
        return cls(float(left), float(right), float(bottom), float(top))

    def edges(self) -> Iterator[Scores]:
        """Yield scores that are at least 0 on one side of an edge each."""
        yield from (Scores(1.0, 0.0, -self.left), Scores(-1.0, 0.0, self.right))
        yield from (Scores(0.0, 1.0, -self.bottom), Scores(0.0, -1.0, self.top))


def zero_line(scores: Scores, box: Box, conditions: Iterable[Scores] = ()) -> Floats | None:
    """Return both ends of the part of a line within a box on which all conditions are at least 0, or None.

    The line consists of the points of score 0.
    """
    size = float(np.hypot(scores.a, scores.b))
    if not 0.0 < size < np.inf:
        return None
    a, b, c = scores.a / size, scores.b / size, scores.c / size
    foot, along = np.array([-a * c, -b * c]), np.array([-b, a])
    first, last = -np.inf, np.inf
    for condition in [*box.edges(), *conditions]:
        # Along the line the condition is at + slope·t.
        at, slope = float(condition.of(foot)), float(along @ [condition.a, condition.b])
        if slope > 0.0:
            first = max(first, -at / slope)
        elif slope < 0.0:
            last = min(last, -at / slope)
        elif at < 0.0:
            return None
    return np.array([foot + first * along, foot + last * along]) if first < last else None
