"""An example whose features have names, as a row: its algebra over weights that are kept by name.

For one example, plain Python over a dict takes less time than passing arrays into compiled code does. A `NamedRow`
is one more layout of a row: its functions are entered into the tables of `onlinear.engine.algebra`, and a rule's own
`update` runs on it as it stands. Sums run in the order in which the example names its features, so the bits are those
of the compiled passes over a sparse row with the same entries.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from onlinear.engine.algebra import OPERATIONS, add, dot, length, squared_norm, trial, weight
from onlinear.engine.flat import HUGE, LANES, TINY, Floats, address, careful_norm, entries_norm
from onlinear.engine.runner import kernel

_SHORT = 32
"""Up to this many features the length of a row is computed in plain Python: passing them on would cost more."""


class NamedWeights:
    """A dict with a weight for each name, and the intercept.

    The intercept stands apart: Python looks keys up faster in a dict whose keys are all strings. The dict gives new
    names their weight.
    """

    __slots__ = ("features", "intercept")

    def __init__(self, features: dict[Hashable, float], intercept: float) -> None:
        self.features = features
        self.intercept = intercept


class NamedRow:
    """A cursor on one example after the other: set `features`, `weight` and `trial`, and go on."""

    __slots__ = ("bias", "features", "trial", "weight")

    def __init__(self, bias: int) -> None:
        self.bias = bias
        self.features: Mapping[Any, float] = {}
        self.weight = 1.0
        self.trial = 1


def named_dot(w: NamedWeights, x: NamedRow) -> float:
    """Return ⟨w, x⟩."""
    weights = w.features
    score = 0.0
    # Not sum(), which since Python 3.12 is more precise than the passes are.
    for name, value in x.features.items():
        score += weights[name] * value
    if x.bias:
        score += w.intercept
    return score


def named_add(w: NamedWeights, a: float, x: NamedRow) -> None:
    """Add in place: w ← w + a·x."""
    weights = w.features
    for name, value in x.features.items():
        weights[name] += a * value
    if x.bias:
        w.intercept += a


def named_squared_norm(x: NamedRow) -> float:
    """Return ‖x‖², the intercept's constant 1 included."""
    square = _lane_square(list(map(float, x.features.values())))
    return square + x.bias


def named_length(x: NamedRow) -> float:
    """Return ‖x‖, the intercept's constant 1 included."""
    if len(x.features) > _SHORT:
        features = _compiled_norm(array("d", [*x.features.values()]))
    else:
        values = list(map(float, x.features.values()))  # whole numbers would be squared exactly
        square = _lane_square(values)
        features = math.sqrt(square) if TINY < square < HUGE else careful_norm(values, 0, len(values))
    return math.sqrt(features * features + 1.0) if x.bias else features


def named_weight(x: NamedRow) -> float:
    """Return the weight of the example."""
    return x.weight


def named_trial(x: NamedRow) -> int:
    """Return the number of the round."""
    return x.trial


OPERATIONS[dot][NamedRow] = named_dot
OPERATIONS[add][NamedRow] = named_add
OPERATIONS[squared_norm][NamedRow] = named_squared_norm
OPERATIONS[length][NamedRow] = named_length
OPERATIONS[weight][NamedRow] = named_weight
OPERATIONS[trial][NamedRow] = named_trial


def _lane_square(values: list[float]) -> float:
    """Return Σ v² as `flat.lane_dot` does, with its lanes written out: a good part of what an update costs."""
    entries = iter(values + [0.0] * (-len(values) % LANES))
    a = b = c = d = e = f = g = h = 0.0
    for s, t, u, v, w, x, y, z in zip(*[entries] * LANES, strict=True):
        a += s * s
        b += t * t
        c += u * u
        d += v * v
        e += w * w
        f += x * x
        g += y * y
        h += z * z
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


def norm_of(values: Floats) -> float:
    """Return ‖x‖ of an array's entries."""
    return entries_norm(address(values), 0, values.size)


def _compiled_norm(values: array[float]) -> float:
    # numba is imported by the first long example that something is learned from, and not before.
    return float(kernel(norm_of)(np.frombuffer(values)))
