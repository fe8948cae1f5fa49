"""Runs of entries in memory, and the loops over them in which every sum has its order.

Everything here is plain Python and runs as it stands under ``NUMBA_DISABLE_JIT=1``; in compiled code the loops are
those of the same names in `vectors`, with the same bits.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

LANES = 8
"""Dense sums run in this many lanes, entry j in lane j mod LANES, and the lanes are then added
pairwise. The order is fixed here, so a score has the same bits on every machine, and padding a row
with zeros does not change them."""

SUMMED_ROWS = 4096
"""Sums over examples add this many consecutive rows at a time, counted from the first row of the data, and then the
partial sums in their order. So a sum has the same bits however the rows arrive in blocks, and partial sums can be
computed apart, on several machines, with the same result."""

# Where the squared norm is outside this range it may have lost bits to underflow or overflow.
TINY, HUGE = 1e-290, 1e290


def address(array: NDArray[Any]) -> Any:
    """Return the array's memory as one flat run of entries.

    In compiled code it is a bare pointer: no reference counting, and no test of an index's sign,
    which would cost more than the multiplication that it guards.
    """
    flat = array.reshape(-1)
    # Plain integers: NumPy's would wrap, and warn.
    return flat.data if flat.dtype.kind in "iu" else flat


def lane_dot(a: Any, i: int, b: Any, j: int, n: int) -> float:
    """Return ⟨a[i : i+n], b[j : j+n]⟩ of two flat runs, summed in lanes (see `LANES`)."""
    lanes = [0.0] * LANES
    for k in range(n):
        lanes[k % LANES] += float(a[i + k]) * float(b[j + k])
    return _sum_of_lanes(lanes)


def _sum_of_lanes(lanes: list[float]) -> float:
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[k] + lanes[half + k] for k in range(half)]
    return lanes[0]


def lane_squares(a: Any, i: int, b: Any, j: int, n: int, scale: float) -> float:
    """Return Σ a[i+k]·(scale·b[j+k])² over n entries of two flat runs, summed in lanes."""
    lanes = [0.0] * LANES
    for k in range(n):
        v = float(b[j + k]) * scale
        lanes[k % LANES] += float(a[i + k]) * (v * v)
    return _sum_of_lanes(lanes)


def lane_add(a: Any, i: int, c: float, b: Any, j: int, n: int) -> None:
    """Add in place: a[i : i+n] ← a[i : i+n] + c·b[j : j+n], of two flat runs."""
    for k in range(n):
        a[i + k] += c * float(b[j + k])


def dense_class_sums(
    w: Any, bias: int, stride: int, classes: int, values: Any, i: int, n: int, scale: float, scores: Any, first: int
) -> None:
    """Write each class's sum over n entries, from values[i] on, into scores[first : first + classes].

    Weight j of class r is w[(j + bias)·stride + r]; the entries are summed from left to right.
    """
    for r in range(classes):
        score = 0.0
        for k in range(n):
            score += float(w[(k + bias) * stride + r]) * (float(values[i + k]) * scale)
        scores[first + r] = score


def sparse_class_sums(
    w: Any, bias: int, classes: int, values: Any, indices: Any, i: int, n: int, scale: float, scores: Any, first: int
) -> None:
    """Write each class's sum over n entries, as `dense_class_sums` does; entry k is of feature indices[i + k]."""
    for r in range(classes):
        score = 0.0
        for k in range(i, i + n):
            score += float(w[(int(indices[k]) + bias) * classes + r]) * (float(values[k]) * scale)
        scores[first + r] = score


def all_below(a: Any, i: int, n: int, limit: int) -> bool:
    """Tell whether 0 ≤ entry < limit for the entries a[i : i+n] of a flat run of integers."""
    return all(0 <= int(a[i + k]) < limit for k in range(n))


def entries_norm(values: Any, first: int, size: int) -> float:
    """Return ‖x‖ of a run of entries."""
    square = lane_dot(values, first, values, first, size)
    return math.sqrt(square) if TINY < square < HUGE else careful_norm(values, first, size)


def careful_norm(values: Any, first: int, size: int) -> float:
    """Return ‖x‖ of a run of entries whose squares may underflow or overflow; NaN where one is not finite."""
    largest = 0.0
    for k in range(size):
        v = abs(float(values[first + k]))
        if not v < math.inf:
            return math.nan
        largest = max(largest, v)
    if largest == 0.0:
        return 0.0
    square = 0.0
    for k in range(size):
        v = float(values[first + k]) / largest
        square += v * v  # not v ** 2, which plain Python leaves to the C library's pow
    return largest * math.sqrt(square)


def inverse_norm(values: Any, first: int, size: int) -> float:
    """Return 1/‖x‖ of a run of entries; 1 for zeros, which stay as they are."""
    length = entries_norm(values, first, size)
    return 1.0 if length == 0.0 else 1.0 / length
