"""An example whose features have names, as a row: its algebra over weights that are kept by name.

For one example, plain Python over a dict takes less time than passing arrays into compiled code does. A `NamedRow`
lets a rule's own `update` run as it stands: `algebra.add` hands it its arguments. Sums run in the order in which the
example names its features, so the bits are those of the compiled passes over a sparse row with the same entries.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from onlinear.engine.flat import HUGE, LANES, TINY, Floats, address, careful_norm, norm

_SHORT = 32
"""Up to so many features the length of a row is computed in plain Python: passing them on would cost more."""


class NamedWeights:
    """A dict with a weight for each name, and the intercept.

    The intercept stands apart: in a dict with nothing but texts for keys, Python finds them faster. That names which
    are new have a weight, too, is the dict's business.
    """

    __slots__ = ("features", "intercept")

    def __init__(self, features: dict[Hashable, float], intercept: float) -> None:
        self.features = features
        self.intercept = intercept


class NamedRow:
    """A cursor on one example after the other: set `features` and `weight`, and go on."""

    __slots__ = ("bias", "features", "weight")

    def __init__(self, bias: int) -> None:
        self.bias = bias
        self.features: Mapping[Any, float] = {}
        self.weight = 1.0

    def dot(self, w: NamedWeights) -> float:
        """Return ⟨w, x⟩."""
        weights = w.features
        score = 0.0
        # Not sum(), which since Python 3.12 is more precise than the passes are.
        for name, value in self.features.items():
            score += weights[name] * value
        if self.bias:
            score += w.intercept
        return score

    def add(self, w: NamedWeights, a: float) -> None:
        """Add in place: w ← w + a·x."""
        weights = w.features
        for name, value in self.features.items():
            weights[name] += a * value
        if self.bias:
            w.intercept += a

    def length(self) -> float:
        """Return ‖x‖, the intercept's constant 1 included."""
        if len(self.features) > _SHORT:
            features = _compiled_norm(array("d", [*self.features.values()]))
            return math.sqrt(features * features + 1.0) if self.bias else features
        values = list(map(float, self.features.values()))  # whole numbers would be squared exactly
        entries = iter(values + [0.0] * (-len(values) % LANES))
        a = b = c = d = e = f = g = h = 0.0
        # The lanes of `flat.lane_dot`, written out: this is a good part of what an update costs.
        for s, t, u, v, w, x, y, z in zip(*[entries] * LANES, strict=True):
            a += s * s
            b += t * t
            c += u * u
            d += v * v
            e += w * w
            f += x * x
            g += y * y
            h += z * z
        square = ((a + e) + (c + g)) + ((b + f) + (d + h))
        features = math.sqrt(square) if TINY < square < HUGE else careful_norm(values, 0, len(values))
        return math.sqrt(features * features + 1.0) if self.bias else features


def norm_of(values: Floats) -> float:
    """Return ‖x‖ of an array's entries."""
    return norm(address(values), 0, values.size)


def _compiled_norm(values: array[float]) -> float:
    # numba is imported by the first long example that something is learned from, and not before.
    from onlinear.engine.compile import dispatcher

    return float(dispatcher(norm_of)(np.frombuffer(values)))
