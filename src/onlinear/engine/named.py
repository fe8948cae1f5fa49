"""An example whose features have names, as a row: its algebra over weights that are kept by name.

For one short example, plain Python over a dict takes less time than passing arrays into compiled code does. A
`NamedRow` lets a rule's own methods run as they stand: `rows.dot` and `rows.add` hand it their arguments. Sums run in
the order in which the example names its features, so the bits are those of the compiled passes over a sparse row with
the same entries.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

from onlinear.engine.rows import HUGE, LANES, TINY, careful_norm, folded

Weights: TypeAlias = dict[Hashable, float]


class Intercept:
    """The intercept's key among weights by name; the class itself is the key, which no feature can be called."""


class NamedRow:
    """A cursor on one example after the other: set `features` and `weight`, and go on."""

    __slots__ = ("bias", "features", "weight")

    def __init__(self, bias: int) -> None:
        self.bias = bias
        self.features: Mapping[Any, float] = {}
        self.weight = 1.0

    def dot(self, w: Weights) -> float:
        """Return ⟨w, x⟩."""
        score = 0.0
        # Not sum(), which since Python 3.12 is more precise than the passes are.
        for name, value in self.features.items():
            score += w[name] * value
        if self.bias:
            score += w[Intercept]
        return score

    def add(self, w: Weights, a: float) -> None:
        """Add in place: w ← w + a·x."""
        for name, value in self.features.items():
            w[name] += a * value
        if self.bias:
            w[Intercept] += a

    def length(self) -> float:
        """Return ‖x‖, the intercept's constant 1 included."""
        values = list(self.features.values())
        lanes = []
        for k in range(LANES):
            total = 0.0
            for value in values[k::LANES]:
                total += value * value
            lanes.append(total)
        square = folded(lanes)
        features = math.sqrt(square) if TINY < square < HUGE else careful_norm(values, 0, len(values))
        return math.sqrt(features * features + 1.0) if self.bias else features
