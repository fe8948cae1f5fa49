"""Steps of rules with a rate for each feature: normalised AdaGrad, and follow the regularised leader.

Every entry of a row is treated by itself, in groups (see `groups`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from onlinear.engine.algebra import fits_classes, index, size, value
from onlinear.engine.flat import Floats, address, lane_squares
from onlinear.engine.groups import (
    choose,
    entries,
    holds_somewhere,
    in_whole_groups,
    places,
    places_from,
    plus,
    put,
    quotient,
    root,
    stride,
    take,
)
from onlinear.engine.rows import DenseRow, PairRow, Row, SingleRow, SparseRow
from onlinear.engine.steps import entry, place


def each_fits(arrays: tuple[Floats, ...], x: Any, classes: int) -> None:
    """Raise unless each of the arrays has an entry for every feature of x and every class."""
    for array in arrays:
        fits_classes(array, x, classes)


# --- Normalised AdaGrad: scales and rates -----------------------------------------------------------

_LEAST = 2.0**-960
"""Squares below this are taken for 0: the inverse of a smaller one could overflow."""


def adapt_at(w: Any, q: Any, G: Any, a: float, j: int, v: float) -> tuple[float, float]:
    """Let the scale s_j grow to |v|, if that is larger, and add a·v² to G_j; return q_j = 1/s_j², and 1/(s_j·√G_j).

    Where the scale grows, the product of weight and scale stays as it is.
    """
    square, old = v * v, take(q, j)
    grows = (square > _LEAST) & ((old == 0.0) | (square * old > 1.0))
    new = old
    if holds_somewhere(grows):
        new = choose(grows, quotient(1.0, square), old)
        put(w, j, take(w, j) * choose(grows & (old > 0.0), root(quotient(new, old)), 1.0))
        put(q, j, new)
    total = take(G, j) + a * square
    put(G, j, total)
    # Of the roots, since the quotient of the squares could overflow.
    return new, choose(total > 0.0, quotient(root(new), root(total)), 0.0)


def adapt_group(w: Any, q: Any, G: Any, r: Any, a: float, x: SingleRow, k: int, n: int) -> tuple[float, float]:
    """Adapt to the n entries of x from entry k on, and keep their rates; return their q·x² and r·x²."""
    v = entries(x, k, n)
    scale, rate = adapt_at(w, q, G, a, places(x, k, n), v)
    put(r, places_from(k, n), rate)
    return scale * (v * v), rate * (v * v)


def adapt_intercept(w: Any, q: Any, G: Any, r: Any, a: float, x: SingleRow) -> tuple[float, float]:
    """Adapt to the intercept's constant 1, if there is one; return its q and r."""
    if not x.bias:
        return 0.0, 0.0
    scale, rate = adapt_at(w, q, G, a, 0, 1.0)
    put(r, x.size, rate)
    return scale, rate


def _dense_adapt(w: Floats, q: Floats, G: Floats, r: Floats, a: float, x: DenseRow) -> tuple[float, float]:
    each_fits((w, q, G, r), x, 1)
    weights, scales, sums, rates = address(w), address(q), address(G), address(r)
    whole = in_whole_groups(x.size)
    for k in range(0, whole, stride()):
        adapt_group(weights, scales, sums, rates, a, x, k, stride())
    if whole < x.size:
        adapt_group(weights, scales, sums, rates, a, x, whole, x.size - whole)
    scale, rate = adapt_intercept(weights, scales, sums, rates, a, x)
    spread = lane_squares(scales, x.bias, x.values, x.first, x.size, x.scale)
    reach = lane_squares(rates, 0, x.values, x.first, x.size, x.scale)
    return spread + scale, reach + rate


def _sparse_adapt(w: Floats, q: Floats, G: Floats, r: Floats, a: float, x: SparseRow) -> tuple[float, float]:
    each_fits((w, q, G, r), x, 1)
    weights, scales, sums, rates = address(w), address(q), address(G), address(r)
    spread, reach = 0.0, 0.0
    whole = in_whole_groups(x.size)
    for k in range(0, whole, stride()):
        some, others = adapt_group(weights, scales, sums, rates, a, x, k, stride())
        spread, reach = plus(spread, some, stride()), plus(reach, others, stride())
    if whole < x.size:
        rest = x.size - whole
        some, others = adapt_group(weights, scales, sums, rates, a, x, whole, rest)
        spread, reach = plus(spread, some, rest), plus(reach, others, rest)
    scale, rate = adapt_intercept(weights, scales, sums, rates, a, x)
    return spread + scale, reach + rate


def _pair_adapt(w: Floats, q: Floats, G: Floats, r: Floats, a: float, x: PairRow) -> tuple[float, float]:
    each_fits((w, q, G, r), x.x, x.classes)
    weights, scales, sums = address(w), address(q), address(G)
    spread, reach = 0.0, 0.0
    for k in range(size(x)):
        v = value(x, k)
        scale, r[k] = adapt_at(weights, scales, sums, a, index(x, k), v)
        spread += scale * (v * v)
        reach += float(r[k]) * (v * v)
    return spread, reach


ADAPT: Final[dict[type, Callable[[Any, Any, Any, Any, float, Any], tuple[float, float]]]] = {
    DenseRow: _dense_adapt,
    SparseRow: _sparse_adapt,
    PairRow: _pair_adapt,
}


def adapt(w: Floats, q: Floats, G: Floats, r: Floats, a: float, x: Row) -> tuple[float, float]:
    """Adapt scales and rates to x; return Σ (x_j/s_j)² and Σ r_k·x_k².

    The scales s_j = max |x_j|, kept as q_j = 1/s_j², grow with x, and w_j ← w_j·(old s_j)/(new s_j); then
    G_j ← G_j + a·x_j². `r` is room for the rates of the entries of x: of its k-th entry, r_k = 1/(s_j·√G_j).
    """
    return ADAPT[type(x)](w, q, G, r, a, x)


# --- w ← w + a·r·x ----------------------------------------------------------------------------------


def _row_add_rated(w: Floats, a: float, r: Floats, x: SingleRow) -> None:
    each_fits((w, r), x, 1)
    weights, rates = address(w), address(r)
    for k in range(x.size):
        weights[place(x, k)] += a * (float(rates[k]) * entry(x, k))
    if x.bias:
        w[0] += a * float(r[x.size])


def _pair_add_rated(w: Floats, a: float, r: Floats, x: PairRow) -> None:
    each_fits((w, r), x.x, x.classes)
    for k in range(size(x)):
        w[index(x, k)] += a * (float(r[k]) * value(x, k))


ADD_RATED: Final[dict[type, Callable[[Any, float, Any, Any], None]]] = {
    DenseRow: _row_add_rated,
    SparseRow: _row_add_rated,
    PairRow: _pair_add_rated,
}


def add_rated(w: Floats, a: float, r: Floats, x: Row) -> None:
    """Add in place, with the rates that `adapt` has computed: w_j ← w_j + a·r_k·x_k for the k-th entry of x."""
    ADD_RATED[type(x)](w, a, r, x)


# --- Follow the regularised leader ------------------------------------------------------------------


class Proximal(NamedTuple):
    """The parameters of a proximal step: a rate α/(β + √n_j) for each feature, and two penalties."""

    alpha: float
    beta: float
    l1: float
    l2: float


def lead_at(w: Any, z: Any, n: Any, g: float, p: Proximal, j: int) -> None:
    """Add the gradient g to z_j, and its square to n_j, and compute the weight w_j that leads then."""
    v, before, held = take(w, j), take(n, j), take(z, j)
    # The first weights may have been given.
    given = choose(v == 0.0, 0.0, -(v * (p.beta / p.alpha + p.l2) + choose(v < 0.0, -p.l1, p.l1)))
    after = before + g * g
    moved = g - quotient(root(after) - root(before), p.alpha) * v
    new = choose(before == 0.0, given, held) + moved
    excess = choose(new < 0.0, -new, new) - p.l1
    leader = quotient(choose(new < 0.0, excess, -excess), quotient(p.beta + root(after), p.alpha) + p.l2)
    stays = g == 0.0
    put(w, j, choose(stays, v, choose(excess > 0.0, leader, 0.0)))
    put(z, j, choose(stays, held, new))
    put(n, j, after)


def _row_lead(w: Floats, z: Floats, n: Floats, g: float, p: Proximal, x: SingleRow) -> None:
    each_fits((w, z, n), x, 1)
    weights, sums, squares = address(w), address(z), address(n)
    whole = in_whole_groups(x.size)
    for k in range(0, whole, stride()):
        lead_at(weights, sums, squares, g * entries(x, k, stride()), p, places(x, k, stride()))
    if whole < x.size:
        rest = x.size - whole
        lead_at(weights, sums, squares, g * entries(x, whole, rest), p, places(x, whole, rest))
    if x.bias:
        lead_at(weights, sums, squares, g, p, 0)


def _pair_lead(w: Floats, z: Floats, n: Floats, g: float, p: Proximal, x: PairRow) -> None:
    each_fits((w, z, n), x.x, x.classes)
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


OPERATIONS: Final[dict[Callable[..., Any], dict[type, Any]]] = {adapt: ADAPT, add_rated: ADD_RATED, lead: LEAD}
"""The operations, each with its function for every layout."""
