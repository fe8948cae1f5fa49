"""A full matrix for the leading features, and a variance for each of the others.

Σ has a block S for the features before K, the intercept included, and a diagonal s from there on. S is kept as A·Aᵀ,
where A has K rows and columns (Potter's square root): with f = Aᵀx, the variance xᵀSx = ‖f‖² cannot become negative by
rounding, and a feature in units a billion times too small costs half the digits that it would cost S. From S to
S − b·Sx(Sx)ᵀ leads A ← A − γ·(Af)fᵀ with γ = b/(1 + √(1 − b·xᵀSx)).

To several classes an example is z = x ⊗ (e_y − e_r), and a matrix for each pair of features and classes would be too
large. The classes share S instead: Σ = S ⊗ 1, so zᵀΣz = 2·xᵀSx and Σz = Sx ⊗ (e_y − e_r). The exact step would subtract
b·Sx(Sx)ᵀ from the blocks of y and of r; S takes the mean over all k classes, (2/k)·b·Sx(Sx)ᵀ.

Only features that exist are visited: the rows and columns of A beyond them are those of the identity. Their number is
taken from the weights, since a sparse row may be narrower than what is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from numpy.typing import NDArray

from onlinear.engine.algebra import TOO_SHORT, fits, fits_classes
from onlinear.engine.flat import LANES, Floats, address, dense_class_sums, lane_add, lane_dot, lane_squares
from onlinear.engine.rows import DenseRow, PairRow, Row, SingleRow, SparseRow
from onlinear.engine.steps import entry, place

_ROWS: Final = 8


def leading_features(A: NDArray[Any], f: NDArray[Any], w: Floats, classes: int) -> int:
    """Return how many features have rows in A; raise where there is no room for them."""
    n = min(int(A.shape[0]), w.size // classes)
    if A.shape[1] < A.shape[0] or f.shape[0] < 2 or f.shape[1] < A.shape[0]:
        raise IndexError(TOO_SHORT)
    return n


def leading_columns(A: NDArray[Any], n: int) -> int:
    """Return how many columns of A to visit for n features: whole vectors, where A has them; the rest are zeros."""
    return min(int(A.shape[0]), (n + LANES - 1) // LANES * LANES)


# --- f ← Aᵀx ----------------------------------------------------------------------------------------


def _dense_spread(A: NDArray[Any], f: NDArray[Any], n: int, x: DenseRow) -> None:
    stored, columns = min(x.size, n - x.bias), leading_columns(A, n)
    dense_class_sums(address(A), x.bias, A.shape[1], columns, x.values, x.first, stored, x.scale, address(f), 0)
    if x.bias:
        lane_add(address(f), 0, 1.0, address(A), 0, columns)


def _sparse_spread(A: NDArray[Any], f: NDArray[Any], n: int, x: SparseRow) -> None:
    columns = leading_columns(A, n)
    for c in range(columns):
        f[0, c] = 0.0
    # Entries are tried one by one: River's rows are in the order of their names.
    for k in range(x.size):
        j = place(x, k)
        if j < n:
            lane_add(address(f), 0, entry(x, k), address(A), j * A.shape[1], columns)
    if x.bias:
        lane_add(address(f), 0, 1.0, address(A), 0, columns)


SPREAD: Final[dict[type, Callable[[Any, Any, int, Any], None]]] = {DenseRow: _dense_spread, SparseRow: _sparse_spread}


def multiply_root(A: NDArray[Any], f: NDArray[Any], n: int, x: SingleRow) -> None:
    """Compute f = Aᵀx for the leading n features."""
    SPREAD[type(x)](A, f, n, x)


def spread_variance(A: NDArray[Any], f: NDArray[Any], n: int, x: SingleRow) -> float:
    """Compute f = Aᵀx, and return ‖f‖²; if that overflows, f is 0."""
    multiply_root(A, f, n, x)
    v = lane_dot(address(f), 0, address(f), 0, n)
    if not math.isfinite(v):
        for c in range(n):
            f[0, c] = 0.0
    return v


# --- xᵀSx -------------------------------------------------------------------------------------------


def _row_leading_variance(A: NDArray[Any], f: NDArray[Any], w: Floats, x: SingleRow) -> float:
    fits(w, x)
    return spread_variance(A, f, leading_features(A, f, w, 1), x)


def _pair_leading_variance(A: NDArray[Any], f: NDArray[Any], w: Floats, x: PairRow) -> float:
    fits_classes(w, x.x, x.classes)
    return 2.0 * spread_variance(A, f, leading_features(A, f, w, x.classes), x.x)


LEADING_VARIANCE: Final[dict[type, Callable[[Any, Any, Any, Any], float]]] = {
    DenseRow: _row_leading_variance,
    SparseRow: _row_leading_variance,
    PairRow: _pair_leading_variance,
}


def leading_variance(A: NDArray[Any], f: NDArray[Any], w: Floats, x: Row) -> float:
    """Return the variance xᵀSx of the leading features' part of the score, and keep f = Aᵀx in the first row of `f`."""
    return LEADING_VARIANCE[type(x)](A, f, w, x)


# --- w ← w + a·Sx, S ← S − b·Sx(Sx)ᵀ -----------------------------------------------------------------


def tighten(A: NDArray[Any], f: NDArray[Any], n: int, b: float, kept: float) -> None:
    """Compute u = Af, in the second row of `f`, and then A ← A − γ·ufᵀ."""
    matrix, room, columns = address(A), address(f), leading_columns(A, n)
    gamma = b / (1.0 + math.sqrt(kept))
    # Some rows at a time: they stay in the nearest cache, and no row has to wait for its own sum.
    for first in range(0, n, _ROWS):
        end = min(first + _ROWS, n)
        for i in range(first, end):
            room[f.shape[1] + i] = lane_dot(matrix, i * A.shape[1], room, 0, columns)
        for i in range(first, end):
            u = float(room[f.shape[1] + i])
            if u != 0.0:
                lane_add(matrix, i * A.shape[1], -gamma * u, room, 0, columns)


def _row_move_leading(
    A: NDArray[Any], f: NDArray[Any], w: Floats, a: float, b: float, kept: float, x: SingleRow
) -> None:
    fits(w, x)
    n = leading_features(A, f, w, 1)
    if lane_dot(address(f), 0, address(f), 0, n) == 0.0:
        return
    tighten(A, f, n, b, kept)
    lane_add(address(w), 0, a, address(f), f.shape[1], n)


def _pair_move_leading(
    A: NDArray[Any], f: NDArray[Any], w: Floats, a: float, b: float, kept: float, x: PairRow
) -> None:
    fits_classes(w, x.x, x.classes)
    n = leading_features(A, f, w, x.classes)
    if lane_dot(address(f), 0, address(f), 0, n) == 0.0:
        return
    # b·zᵀΣz is 1 − kept; a k-th of it is subtracted from S.
    tighten(A, f, n, 2.0 * b / x.classes, (kept + (x.classes - 1)) / x.classes)
    weights = address(w)
    for i in range(n):
        step = a * float(f[1, i])
        weights[i * x.classes + x.right] += step
        weights[i * x.classes + x.wrong] -= step


MOVE_LEADING: Final[dict[type, Callable[[Any, Any, Any, float, float, float, Any], None]]] = {
    DenseRow: _row_move_leading,
    SparseRow: _row_move_leading,
    PairRow: _pair_move_leading,
}


def move_leading(A: NDArray[Any], f: NDArray[Any], w: Floats, a: float, b: float, kept: float, x: Row) -> None:
    """Move the leading weights, w ← w + a·Sx, and become more certain, S ← S − b·Sx(Sx)ᵀ, with f = Aᵀx.

    `kept` is 1 − b·xᵀSx, which the caller can compute without cancellation.
    """
    MOVE_LEADING[type(x)](A, f, w, a, b, kept, x)


# --- The other features: Σ s·x² ----------------------------------------------------------------------


def _dense_other_variance(s: Floats, K: int, x: DenseRow) -> float:
    fits(s, x)
    skipped = min(x.size, K - x.bias)
    return lane_squares(address(s), skipped + x.bias, x.values, x.first + skipped, x.size - skipped, x.scale)


def _sparse_other_variance(s: Floats, K: int, x: SparseRow) -> float:
    fits(s, x)
    variances = address(s)
    total = 0.0
    for k in range(x.size):
        j, v = place(x, k), entry(x, k)
        if j >= K:
            total += float(variances[j]) * (v * v)
    return total


def _pair_other_variance(s: Floats, K: int, x: PairRow) -> float:
    fits_classes(s, x.x, x.classes)
    variances = address(s)
    total = 0.0
    for k in range(x.x.size):
        j, v = place(x.x, k), entry(x.x, k)
        if j >= K:
            both = float(variances[j * x.classes + x.right]) + float(variances[j * x.classes + x.wrong])
            total += both * (v * v)
    return total


OTHER_VARIANCE: Final[dict[type, Callable[[Any, int, Any], float]]] = {
    DenseRow: _dense_other_variance,
    SparseRow: _sparse_other_variance,
    PairRow: _pair_other_variance,
}


def other_variance(s: Floats, K: int, x: Row) -> float:
    """Return Σ s_j·x_j² over the features from K on; K > 0, so the intercept is not among them."""
    return OTHER_VARIANCE[type(x)](s, K, x)


# --- The other features: w ← w + a·s·x, s ← s − b·(s·x)² -----------------------------------------------


def move_at(w: Any, s: Any, j: int, a: float, b: float, v: float) -> None:
    """Move weight j by a·s_j·v, and subtract b·(s_j·v)² from its variance, which rounding must not make negative."""
    u = float(s[j]) * v
    w[j] += a * u
    s[j] = max(0.0, float(s[j]) - b * (u * u))


def _row_move_others(w: Floats, s: Floats, K: int, a: float, b: float, x: SingleRow) -> None:
    fits(w, x)
    fits(s, x)
    weights, variances = address(w), address(s)
    for k in range(x.size):
        j = place(x, k)
        if j >= K:
            move_at(weights, variances, j, a, b, entry(x, k))


def _pair_move_others(w: Floats, s: Floats, K: int, a: float, b: float, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    fits_classes(s, x.x, x.classes)
    weights, variances = address(w), address(s)
    for k in range(x.x.size):
        j, v = place(x.x, k), entry(x.x, k)
        if j >= K:
            move_at(weights, variances, j * x.classes + x.right, a, b, v)
            move_at(weights, variances, j * x.classes + x.wrong, a, b, -v)


MOVE_OTHERS: Final[dict[type, Callable[[Any, Any, int, float, float, Any], None]]] = {
    DenseRow: _row_move_others,
    SparseRow: _row_move_others,
    PairRow: _pair_move_others,
}


def move_others(w: Floats, s: Floats, K: int, a: float, b: float, x: Row) -> None:
    """Move the weights from K on, w_j ← w_j + a·s_j·x_j, and become more certain, s_j ← s_j − b·(s_j·x_j)²."""
    MOVE_OTHERS[type(x)](w, s, K, a, b, x)


OPERATIONS: Final[dict[Callable[..., Any], dict[type, Any]]] = {
    multiply_root: SPREAD,
    leading_variance: LEADING_VARIANCE,
    move_leading: MOVE_LEADING,
    other_variance: OTHER_VARIANCE,
    move_others: MOVE_OTHERS,
}
"""The operations, each with its function for every layout."""
