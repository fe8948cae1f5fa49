"""Steps of rules that keep more than weights, such as how much is known about each feature.

Each operation walks over the entries of a row, like those of `algebra`, and has a function for each layout. All but
`dot_squares` treat every entry by itself: their order cannot show, and compiled loops take several entries at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from onlinear.engine.algebra import fits, fits_classes, index, size, value
from onlinear.engine.flat import Floats, address, lane_squares, quotient
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


def over_root(v: float, s: float) -> float:
    """Return v/√s; 0 where s is 0."""
    return quotient(v, math.sqrt(s)) if s > 0.0 else 0.0


def _row_add_rooted(w: Floats, a: float, s: Floats, x: SingleRow) -> None:
    fits(w, x)
    fits(s, x)
    weights, sums = address(w), address(s)
    for k in range(x.size):
        j = place(x, k)
        weights[j] += a * over_root(entry(x, k), float(sums[j]))
    if x.bias:
        w[0] += a * over_root(1.0, float(s[0]))


def _pair_add_rooted(w: Floats, a: float, s: Floats, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    fits_classes(s, x.x, x.classes)
    for k in range(size(x)):
        j = index(x, k)
        w[j] += a * over_root(value(x, k), float(s[j]))


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
        sizes[j] -= a * (v * v)
    if x.bias:
        s[0] -= a * (float(s[0]) * float(s[0]))


def _pair_shrink(s: Floats, a: float, x: PairRow) -> None:
    fits_classes(s, x.x, x.classes)
    for k in range(size(x)):
        j = index(x, k)
        v = float(s[j]) * value(x, k)
        s[j] -= a * (v * v)


SHRINK: Final[dict[type, Callable[[Any, float, Any], None]]] = {
    DenseRow: _row_shrink,
    SparseRow: _row_shrink,
    PairRow: _pair_shrink,
}


def shrink(s: Floats, a: float, x: Row) -> None:
    """Subtract in place: s_j ← s_j − a·(s_j·x_j)²."""
    SHRINK[type(x)](s, a, x)


# --- Scales that grow with the largest entry --------------------------------------------------------

_LEAST = 2.0**-960
"""Squares below this are taken for 0: the inverse of a smaller one could overflow."""


def grow_scale_at(w: Any, q: Any, j: int, v: float) -> None:
    """Let the scale of feature j grow to |v|, if that is larger, and keep the product of its weight and scale."""
    square, old = v * v, float(q[j])
    grows = square > _LEAST and (old == 0.0 or square * old > 1.0)
    new = quotient(1.0, square) if grows else old
    w[j] *= math.sqrt(quotient(new, old)) if grows and old > 0.0 else 1.0
    q[j] = new


def _row_grow_scales(w: Floats, q: Floats, x: SingleRow) -> None:
    fits(w, x)
    fits(q, x)
    weights, scales = address(w), address(q)
    for k in range(x.size):
        grow_scale_at(weights, scales, place(x, k), entry(x, k))
    if x.bias:
        grow_scale_at(weights, scales, 0, 1.0)


def _pair_grow_scales(w: Floats, q: Floats, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    fits_classes(q, x.x, x.classes)
    weights, scales = address(w), address(q)
    for k in range(size(x)):
        grow_scale_at(weights, scales, index(x, k), value(x, k))


GROW_SCALES: Final[dict[type, Callable[[Any, Any, Any], None]]] = {
    DenseRow: _row_grow_scales,
    SparseRow: _row_grow_scales,
    PairRow: _pair_grow_scales,
}


def grow_scales(w: Floats, q: Floats, x: Row) -> None:
    """Let scales s_j = max |x_j|, kept as q_j = 1/s_j², grow with x; then w_j ← w_j·(old s_j)/(new s_j)."""
    GROW_SCALES[type(x)](w, q, x)


# --- r ← 1/(s·√G) -----------------------------------------------------------------------------------


def adapt_at(r: Any, q: Any, G: Any, a: float, j: int, v: float) -> None:
    """Add a·v² to G_j, and compute the rate r_j = 1/(s_j·√G_j)."""
    total = float(G[j]) + a * (v * v)
    G[j] = total
    # Of the roots, since the quotient of the squares could overflow.
    r[j] = quotient(math.sqrt(float(q[j])), math.sqrt(total)) if total > 0.0 else 0.0


def _row_adapt(r: Floats, q: Floats, G: Floats, a: float, x: SingleRow) -> None:
    fits(r, x)
    fits(q, x)
    fits(G, x)
    rates, scales, sums = address(r), address(q), address(G)
    for k in range(x.size):
        adapt_at(rates, scales, sums, a, place(x, k), entry(x, k))
    if x.bias:
        adapt_at(rates, scales, sums, a, 0, 1.0)


def _pair_adapt(r: Floats, q: Floats, G: Floats, a: float, x: PairRow) -> None:
    fits_classes(r, x.x, x.classes)
    fits_classes(q, x.x, x.classes)
    fits_classes(G, x.x, x.classes)
    rates, scales, sums = address(r), address(q), address(G)
    for k in range(size(x)):
        adapt_at(rates, scales, sums, a, index(x, k), value(x, k))


ADAPT: Final[dict[type, Callable[[Any, Any, Any, float, Any], None]]] = {
    DenseRow: _row_adapt,
    SparseRow: _row_adapt,
    PairRow: _pair_adapt,
}


def adapt(r: Floats, q: Floats, G: Floats, a: float, x: Row) -> None:
    """Add squares, G_j ← G_j + a·x_j², and compute the rates r_j = 1/(s_j·√G_j) of the features of x; q_j = 1/s_j²."""
    ADAPT[type(x)](r, q, G, a, x)


# --- Follow the regularised leader ------------------------------------------------------------------


class Proximal(NamedTuple):
    """The parameters of a proximal step: a rate α/(β + √n_j) for each feature, and two penalties."""

    alpha: float
    beta: float
    l1: float
    l2: float


def lead_at(w: Any, z: Any, n: Any, g: float, p: Proximal, j: int) -> None:
    """Add the gradient g to z_j, and its square to n_j, and compute the weight w_j that leads then."""
    if g == 0.0:
        return
    v, before, held = float(w[j]), float(n[j]), float(z[j])
    if before == 0.0:  # the first weights may have been given
        held = -(v * (p.beta / p.alpha + p.l2) + math.copysign(p.l1, v)) if v != 0.0 else 0.0
    after = before + g * g
    held += g - quotient(math.sqrt(after) - math.sqrt(before), p.alpha) * v
    excess = abs(held) - p.l1
    w[j] = quotient(-math.copysign(excess, held), (p.beta + math.sqrt(after)) / p.alpha + p.l2) if excess > 0.0 else 0.0
    z[j], n[j] = held, after


def _row_lead(w: Floats, z: Floats, n: Floats, g: float, p: Proximal, x: SingleRow) -> None:
    fits(w, x)
    fits(z, x)
    fits(n, x)
    weights, sums, squares = address(w), address(z), address(n)
    for k in range(x.size):
        lead_at(weights, sums, squares, g * entry(x, k), p, place(x, k))
    if x.bias:
        lead_at(weights, sums, squares, g, p, 0)


def _pair_lead(w: Floats, z: Floats, n: Floats, g: float, p: Proximal, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    fits_classes(z, x.x, x.classes)
    fits_classes(n, x.x, x.classes)
    weights, sums, squares = address(w), address(z), address(n)
    for k in range(size(x)):
        lead_at(weights, sums, squares, g * value(x, k), p, index(x, k))


LEAD: Final[dict[type, Callable[[Any, Any, Any, float, Any, Any], None]]] = {
    DenseRow: _row_lead,
    SparseRow: _row_lead,
    PairRow: _pair_lead,
}


def lead(w: Floats, z: Floats, n: Floats, g: float, p: Proximal, x: Row) -> None:
    """Take the step of FTRL-Proximal for the gradient g·x, with the sums z and n."""
    LEAD[type(x)](w, z, n, g, p, x)


OPERATIONS: Final[dict[Callable[..., Any], dict[type, Any]]] = {
    place: PLACE,
    dot_squares: DOT_SQUARES,
    add_squares: ADD_SQUARES,
    add_scaled: ADD_SCALED,
    add_rooted: ADD_ROOTED,
    shrink: SHRINK,
    grow_scales: GROW_SCALES,
    adapt: ADAPT,
    lead: LEAD,
}
"""The operations, each with its function for every layout."""
