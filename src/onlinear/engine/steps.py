"""Steps of rules that keep more than weights, such as how much is known about each feature.

Each operation walks over the entries of a row, like those of `algebra`, and has a function for each layout. All but
`dot_squares` treat every entry by itself: their order cannot show, and compiled loops take several entries at a time.
With a root, sparse rows do so, too (see `groups`); additions alone are slower in groups of scattered entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from onlinear.engine.algebra import fits, fits_classes, index, size, value
from onlinear.engine.flat import Floats, address, lane_squares
from onlinear.engine.groups import choose, entries, in_whole_groups, places, put, quotient, root, stride, take
from onlinear.engine.rows import DenseRow, PairRow, Row, SingleRow, SparseRow

# --- Entries --------------------------------------------------------------------------------------


def _dense_place(x: DenseRow, k: int) -> int:
    return k + x.bias


def _sparse_place(x: SparseRow, k: int) -> int:
    return int(x.indices[x.first + k]) + x.bias


PLACE: Final[dict[type, Callable[[Any, int], int]]] = {DenseRow: _dense_place, SparseRow: _sparse_place}


def place(x: SingleRow, k: int) -> int:
    """Return where entry k of x stands in a per-feature array, if it is not the intercept's."""
    return PLACE[type(x)](x, k)


def entry(x: SingleRow, k: int) -> float:
    """Return entry k of x, if it is not the intercept's."""
    return float(x.values[x.first + k]) * x.scale


# --- Σ s·x² ----------------------------------------------------------------------------------------


def _dense_dot_squares(s: Floats, x: DenseRow) -> float:
    fits(s, x)
    total = lane_squares(address(s), x.bias, x.values, x.first, x.size, x.scale)
    if x.bias:
        total += float(s[0])
    return total


def _sparse_dot_squares(s: Floats, x: SparseRow) -> float:
    fits(s, x)
    sizes = address(s)
    total = 0.0
    for k in range(x.size):
        v = entry(x, k)
        total += float(sizes[place(x, k)]) * (v * v)
    if x.bias:
        total += float(s[0])
    return total


def _pair_dot_squares(s: Floats, x: PairRow) -> float:
    fits_classes(s, x.x, x.classes)
    total = 0.0
    for k in range(size(x)):
        v = value(x, k)
        total += float(s[index(x, k)]) * (v * v)
    return total


DOT_SQUARES: Final[dict[type, Callable[[Any, Any], float]]] = {
    DenseRow: _dense_dot_squares,
    SparseRow: _sparse_dot_squares,
    PairRow: _pair_dot_squares,
}


def dot_squares(s: Floats, x: Row) -> float:
    """Return Σ s_j·x_j²."""
    return DOT_SQUARES[type(x)](s, x)


# --- s ← s + a·x² ----------------------------------------------------------------------------------


def _row_add_squares(s: Floats, a: float, x: SingleRow) -> None:
    fits(s, x)
    sums = address(s)
    for k in range(x.size):
        v = entry(x, k)
        sums[place(x, k)] += a * (v * v)
    if x.bias:
        s[0] += a


def _pair_add_squares(s: Floats, a: float, x: PairRow) -> None:
    fits_classes(s, x.x, x.classes)
    for k in range(size(x)):
        v = value(x, k)
        s[index(x, k)] += a * (v * v)


ADD_SQUARES: Final[dict[type, Callable[[Any, float, Any], None]]] = {
    DenseRow: _row_add_squares,
    SparseRow: _row_add_squares,
    PairRow: _pair_add_squares,
}


def add_squares(s: Floats, a: float, x: Row) -> None:
    """Add in place: s_j ← s_j + a·x_j²."""
    ADD_SQUARES[type(x)](s, a, x)


# --- w ← w + a·s·x ---------------------------------------------------------------------------------


def _row_add_scaled(w: Floats, a: float, s: Floats, x: SingleRow) -> None:
    fits(w, x)
    fits(s, x)
    weights, sizes = address(w), address(s)
    for k in range(x.size):
        j = place(x, k)
        weights[j] += a * (float(sizes[j]) * entry(x, k))
    if x.bias:
        w[0] += a * float(s[0])


def _pair_add_scaled(w: Floats, a: float, s: Floats, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    fits_classes(s, x.x, x.classes)
    for k in range(size(x)):
        j = index(x, k)
        w[j] += a * (float(s[j]) * value(x, k))


ADD_SCALED: Final[dict[type, Callable[[Any, float, Any, Any], None]]] = {
    DenseRow: _row_add_scaled,
    SparseRow: _row_add_scaled,
    PairRow: _pair_add_scaled,
}


def add_scaled(w: Floats, a: float, s: Floats, x: Row) -> None:
    """Add in place, with a factor for each feature: w_j ← w_j + a·s_j·x_j."""
    ADD_SCALED[type(x)](w, a, s, x)


# --- w ← w + a·x/√s --------------------------------------------------------------------------------


def add_rooted_at(w: Any, a: float, s: Any, j: int, v: float) -> None:
    """Add a·v/√s_j to w_j, where s_j > 0."""
    sums = take(s, j)
    put(w, j, take(w, j) + a * choose(sums > 0.0, quotient(v, root(sums)), 0.0))


def _row_add_rooted(w: Floats, a: float, s: Floats, x: SingleRow) -> None:
    fits(w, x)
    fits(s, x)
    weights, sums = address(w), address(s)
    whole = in_whole_groups(x.size)
    for k in range(0, whole, stride()):
        add_rooted_at(weights, a, sums, places(x, k, stride()), entries(x, k, stride()))
    if whole < x.size:
        rest = x.size - whole
        add_rooted_at(weights, a, sums, places(x, whole, rest), entries(x, whole, rest))
    if x.bias:
        add_rooted_at(weights, a, sums, 0, 1.0)


def _pair_add_rooted(w: Floats, a: float, s: Floats, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    fits_classes(s, x.x, x.classes)
    weights, sums = address(w), address(s)
    for k in range(size(x)):
        add_rooted_at(weights, a, sums, index(x, k), value(x, k))


ADD_ROOTED: Final[dict[type, Callable[[Any, float, Any, Any], None]]] = {
    DenseRow: _row_add_rooted,
    SparseRow: _row_add_rooted,
    PairRow: _pair_add_rooted,
}


def add_rooted(w: Floats, a: float, s: Floats, x: Row) -> None:
    """Add in place, divided by the root of a sum for each feature: w_j ← w_j + a·x_j/√s_j, where s_j > 0."""
    ADD_ROOTED[type(x)](w, a, s, x)


# --- s ← s − a·(s·x)² ------------------------------------------------------------------------------


def _row_shrink(s: Floats, a: float, x: SingleRow) -> None:
    fits(s, x)
    sizes = address(s)
    for k in range(x.size):
        j = place(x, k)
        v = float(sizes[j]) * entry(x, k)
        sizes[j] = max(0.0, float(sizes[j]) - a * (v * v))  # rounding could take it below 0
    if x.bias:
        s[0] = max(0.0, float(s[0]) - a * (float(s[0]) * float(s[0])))


def _pair_shrink(s: Floats, a: float, x: PairRow) -> None:
    fits_classes(s, x.x, x.classes)
    for k in range(size(x)):
        j = index(x, k)
        v = float(s[j]) * value(x, k)
        s[j] = max(0.0, float(s[j]) - a * (v * v))


SHRINK: Final[dict[type, Callable[[Any, float, Any], None]]] = {
    DenseRow: _row_shrink,
    SparseRow: _row_shrink,
    PairRow: _pair_shrink,
}


def shrink(s: Floats, a: float, x: Row) -> None:
    """Subtract in place: s_j ← s_j − a·(s_j·x_j)²."""
    SHRINK[type(x)](s, a, x)


OPERATIONS: Final[dict[Callable[..., Any], dict[type, Any]]] = {
    place: PLACE,
    dot_squares: DOT_SQUARES,
    add_squares: ADD_SQUARES,
    add_scaled: ADD_SCALED,
    add_rooted: ADD_ROOTED,
    shrink: SHRINK,
}
"""The operations, each with its function for every layout."""
