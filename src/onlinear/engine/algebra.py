"""The algebra of a row: the few operations that rules are written in.

An operation has a function for each layout of a row, and a table that says which. Plain Python looks the function up
by the type of x at each call; the compiler looks it up once, in the same table (`onlinear.engine.compile`). So
rules never see the layout, and a new layout of a row is an entry in each table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from onlinear.engine.flat import (
    HUGE,
    TINY,
    Floats,
    address,
    dense_class_sums,
    entries_norm,
    lane_add,
    lane_dot,
    sparse_class_sums,
)
from onlinear.engine.rows import DenseRow, PairRow, Row, SingleRow, SparseRow

Measure: TypeAlias = Callable[[Any], float]

_ROOT_2 = math.sqrt(2.0)

TOO_SHORT = "dot() or add() with an array that has fewer entries than there are features"


def fits_classes(w: Floats, x: Any, classes: int) -> None:
    """Raise unless w has an entry for every feature of x and every class."""
    if w.size < (x.width + x.bias) * classes:
        raise IndexError(TOO_SHORT)


def fits(w: Floats, x: Any) -> None:
    """Raise unless w has an entry for every feature of x; compiled code would read past its end."""
    if w.size < x.width + x.bias:
        raise IndexError(TOO_SHORT)


def dense_dot(w: Floats, x: DenseRow) -> float:
    fits(w, x)
    score = lane_dot(address(w), x.bias, x.values, x.first, x.size) * x.scale
    if x.bias:
        score += float(w[0])
    return score


def sparse_dot(w: Floats, x: SparseRow) -> float:
    fits(w, x)
    weights = address(w)
    score = 0.0
    for p in range(x.first, x.first + x.size):
        score += float(weights[x.indices[p] + x.bias]) * float(x.values[p])
    score *= x.scale
    if x.bias:
        score += float(w[0])
    return score


def pair_dot(w: Floats, x: PairRow) -> float:
    fits_classes(w, x.x, x.classes)
    score = 0.0
    for k in range(size(x.x)):
        j = index(x.x, k) * x.classes
        score += (float(w[j + x.right]) - float(w[j + x.wrong])) * value(x.x, k)
    return score


DOT: Final[dict[type, Callable[[Any, Any], float]]] = {DenseRow: dense_dot, SparseRow: sparse_dot, PairRow: pair_dot}


def dot(w: Floats, x: Row) -> float:
    """Return ⟨w, x⟩."""
    return DOT[type(x)](w, x)


def dense_class_scores(w: Floats, x: DenseRow, classes: int, scores: Any, first: int) -> None:
    fits_classes(w, x, classes)
    dense_class_sums(address(w), x.bias, classes, classes, x.values, x.first, x.size, x.scale, scores, first)
    if x.bias:
        lane_add(scores, first, 1.0, address(w), 0, classes)


def sparse_class_scores(w: Floats, x: SparseRow, classes: int, scores: Any, first: int) -> None:
    fits_classes(w, x, classes)
    sparse_class_sums(address(w), x.bias, classes, x.values, x.indices, x.first, x.size, x.scale, scores, first)
    if x.bias:
        lane_add(scores, first, 1.0, address(w), 0, classes)


CLASS_SCORES: Final[dict[type, Callable[..., None]]] = {DenseRow: dense_class_scores, SparseRow: sparse_class_scores}


def class_scores(w: Floats, x: SingleRow, classes: int, scores: Any, first: int) -> None:
    """Write the score of every class into scores[first : first + classes]."""
    CLASS_SCORES[type(x)](w, x, classes, scores, first)


def dense_add(w: Floats, a: float, x: DenseRow) -> None:
    fits(w, x)
    c = a * x.scale
    if x.scale == 1.0 or TINY < abs(c) < HUGE:
        lane_add(address(w), x.bias, c, x.values, x.first, x.size)
    else:
        add_entries(w, a, x)
    if x.bias:
        w[0] += a


def sparse_add(w: Floats, a: float, x: SparseRow) -> None:
    fits(w, x)
    weights = address(w)
    c = a * x.scale
    if x.scale == 1.0 or TINY < abs(c) < HUGE:
        for p in range(x.first, x.first + x.size):
            weights[x.indices[p] + x.bias] += c * float(x.values[p])
    else:
        add_entries(w, a, x)
    if x.bias:
        w[0] += a


def add_entries(w: Floats, a: float, x: SingleRow) -> None:
    """Add a·x entry by entry, where a times the scale of the row has lost bits, or overflows."""
    for k in range(x.size):
        w[index(x, k)] += a * value(x, k)


def pair_add(w: Floats, a: float, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    for k in range(size(x.x)):
        j = index(x.x, k) * x.classes
        c = a * value(x.x, k)
        w[j + x.right] += c
        w[j + x.wrong] -= c


ADD: Final[dict[type, Callable[[Any, float, Any], None]]] = {
    DenseRow: dense_add,
    SparseRow: sparse_add,
    PairRow: pair_add,
}


def add(w: Floats, a: float, x: Row) -> None:
    """Add in place: w ← w + a·x."""
    ADD[type(x)](w, a, x)


def row_squared_norm(x: SingleRow) -> float:
    square = lane_dot(x.values, x.first, x.values, x.first, x.size)
    if x.scale == 1.0 or TINY < square < HUGE:
        return square * x.scale * x.scale + x.bias
    features = entries_norm(x.values, x.first, x.size) * x.scale
    return features * features + x.bias


def pair_squared_norm(x: PairRow) -> float:
    return 2.0 * row_squared_norm(x.x)


SQUARED_NORM: Final[dict[type, Measure]] = {
    DenseRow: row_squared_norm,
    SparseRow: row_squared_norm,
    PairRow: pair_squared_norm,
}


def squared_norm(x: Row) -> float:
    """Return ‖x‖², the intercept's constant 1 included."""
    return SQUARED_NORM[type(x)](x)


def row_length(x: SingleRow) -> float:
    features = entries_norm(x.values, x.first, x.size) * x.scale
    return math.sqrt(features * features + 1.0) if x.bias else features


def pair_length(x: PairRow) -> float:
    return _ROOT_2 * row_length(x.x)


LENGTH: Final[dict[type, Measure]] = {DenseRow: row_length, SparseRow: row_length, PairRow: pair_length}


def length(x: Row) -> float:
    """Return ‖x‖, the intercept's constant 1 included."""
    return LENGTH[type(x)](x)


def row_weight(x: SingleRow) -> float:
    return x.weight


def pair_weight(x: PairRow) -> float:
    return x.x.weight


WEIGHT: Final[dict[type, Measure]] = {DenseRow: row_weight, SparseRow: row_weight, PairRow: pair_weight}


def weight(x: Row) -> float:
    """Return the weight of the example, which a rule should multiply into its step; 1 if none was given."""
    return WEIGHT[type(x)](x)


def row_trial(x: SingleRow) -> int:
    return x.trial


def pair_trial(x: PairRow) -> int:
    return x.x.trial


TRIAL: Final[dict[type, Callable[[Any], int]]] = {DenseRow: row_trial, SparseRow: row_trial, PairRow: pair_trial}


def trial(x: Row) -> int:
    """Return the number of the round, 1 in the first; when predicting, that of the round to come.

    For step sizes that depend on it: ``add(w, y / math.sqrt(trial(x)), x)``.
    """
    return TRIAL[type(x)](x)


def row_size(x: SingleRow) -> int:
    return x.size + x.bias


def pair_size(x: PairRow) -> int:
    return 2 * row_size(x.x)


SIZE: Final[dict[type, Callable[[Any], int]]] = {DenseRow: row_size, SparseRow: row_size, PairRow: pair_size}


def size(x: Row) -> int:
    """Return how many entries x stores, the intercept's constant 1 included.

    With `index` and `value` this lets a rule walk over x whatever its layout::

        for k in range(size(x)):
            w[index(x, k)] *= 1.0 + value(x, k)
    """
    return SIZE[type(x)](x)


def dense_index(x: DenseRow, k: int) -> int:
    return k + x.bias if k < x.size else 0


def sparse_index(x: SparseRow, k: int) -> int:
    return int(x.indices[x.first + k]) + x.bias if k < x.size else 0


def pair_index(x: PairRow, k: int) -> int:
    n = row_size(x.x)
    return index(x.x, k) * x.classes + x.right if k < n else index(x.x, k - n) * x.classes + x.wrong


INDEX: Final[dict[type, Callable[[Any, int], int]]] = {
    DenseRow: dense_index,
    SparseRow: sparse_index,
    PairRow: pair_index,
}


def index(x: Row, k: int) -> int:
    """Return where entry k of x stands in a per-feature array."""
    return INDEX[type(x)](x, k)


def row_value(x: SingleRow, k: int) -> float:
    return float(x.values[x.first + k]) * x.scale if k < x.size else 1.0


def pair_value(x: PairRow, k: int) -> float:
    n = row_size(x.x)
    return row_value(x.x, k) if k < n else -row_value(x.x, k - n)


VALUE: Final[dict[type, Callable[[Any, int], float]]] = {
    DenseRow: row_value,
    SparseRow: row_value,
    PairRow: pair_value,
}


def value(x: Row, k: int) -> float:
    """Return entry k of x."""
    return VALUE[type(x)](x, k)


OPERATIONS: Final[dict[Callable[..., Any], dict[type, Any]]] = {
    dot: DOT,
    class_scores: CLASS_SCORES,
    add: ADD,
    squared_norm: SQUARED_NORM,
    length: LENGTH,
    weight: WEIGHT,
    trial: TRIAL,
    size: SIZE,
    index: INDEX,
    value: VALUE,
}
"""The operations, each with its function for every layout."""


def is_binary(x: SingleRow) -> bool:
    """Tell whether every entry is 0 or 1."""
    good = True
    for k in range(x.size):
        v = float(x.values[x.first + k])
        good &= (v == 0.0) | (v == 1.0)
    return good


def is_advice(x: SingleRow) -> bool:
    """Tell whether every feature has an entry and every entry is −1 or +1."""
    good = x.size == x.width
    for k in range(x.size):
        good &= abs(float(x.values[x.first + k])) == 1.0
    return good
