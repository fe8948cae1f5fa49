"""A row of a block, and its algebra: the few operations that rules are written in.

Everything here is plain Python and runs as it stands under ``NUMBA_DISABLE_JIT=1``;
`onlinear.engine.compile` hands the same functions to the compiled passes. A row is a light
cursor (where its values lie, not a copy of them), so rules never see the layout.

An intercept is an entry of its own: it stands at index 0 of every per-feature array, the features
follow from index ``bias`` = 1, and it is summed last, as if x had a constant 1. Without an
intercept ``bias`` is 0. With ``normalize`` a row is x/‖x‖: the cursor carries ``scale`` = 1/‖x‖.

With more than two classes there is a weight vector for each, and a rule meets an example x as the pair of its
class y and the best wrong class r: x ⊗ (e_y − e_r), with label +1 (Kesler's construction). Such a `PairRow` obeys
the same algebra, so a rule that was written for two classes learns any number. Entry j of class r stands at
index j·k + r of a per-feature array: the classes' weights for one feature lie side by side.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

LANES = 8
"""Dense sums run in this many lanes, entry j in lane j mod LANES, and the lanes are then added
pairwise. The order is fixed here, so a score has the same bits on every machine, and padding a row
with zeros does not change them."""

# Where the squared norm is outside this range it may have lost bits to underflow or overflow.
TINY, HUGE = 1e-290, 1e290
_ROOT_2 = math.sqrt(2.0)

NO_WEIGHTS: Floats = np.empty(0)
"""The weights of a block's examples where each weighs 1."""

TOO_SHORT = "dot() or add() with an array that has fewer entries than there are features"


class DenseBlock(NamedTuple):
    """Examples as the rows of a C-contiguous float64 or float32 matrix."""

    values: NDArray[Any]
    bias: int
    normalize: bool
    weights: Floats = NO_WEIGHTS


class SparseBlock(NamedTuple):
    """Examples as the rows of a CSR matrix with sorted, unique indices below `width`."""

    values: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    width: int
    bias: int
    normalize: bool
    weights: Floats = NO_WEIGHTS


Block: TypeAlias = DenseBlock | SparseBlock


class DenseRows(NamedTuple):
    """A dense block, opened for a pass: a bare address, which costs no reference counting."""

    values: Any
    width: int
    bias: int
    normalize: bool
    weights: Any
    weighted: bool


class SparseRows(NamedTuple):
    """A sparse block, opened for a pass."""

    values: Any
    indices: Any
    indptr: Any
    stored: int
    width: int
    bias: int
    normalize: bool
    weights: Any
    weighted: bool


class DenseRow(NamedTuple):
    """One example: the entries ``values[first : first + size]``, at the indices from 0 on."""

    values: Any
    first: int
    size: int
    width: int
    bias: int
    scale: float
    weight: float


class SparseRow(NamedTuple):
    """One example: the entries ``values[first : first + size]``, at ``indices[first : first + size]``."""

    values: Any
    indices: Any
    first: int
    size: int
    width: int
    bias: int
    scale: float
    weight: float


SingleRow: TypeAlias = DenseRow | SparseRow


class PairRow(NamedTuple):
    """One example x of class `right`, against class `wrong` of so many classes: x ⊗ (e_right − e_wrong)."""

    x: SingleRow
    classes: int
    right: int
    wrong: int


Row: TypeAlias = SingleRow | PairRow
DENSE = (DenseBlock, DenseRows, DenseRow)


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
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[k] + lanes[half + k] for k in range(half)]
    return lanes[0]


def lane_add(a: Any, i: int, c: float, b: Any, j: int, n: int) -> None:
    """Add in place: a[i : i+n] ← a[i : i+n] + c·b[j : j+n], of two flat runs."""
    for k in range(n):
        a[i + k] += c * float(b[j + k])


def dense_class_sums(
    w: Any, bias: int, classes: int, values: Any, i: int, n: int, scale: float, scores: Any, first: int
) -> None:
    """Write each class's sum over n entries, from values[i] on, into scores[first : first + classes].

    Weight j of class r is w[(j + bias)·classes + r]; the entries are summed from left to right.
    """
    for r in range(classes):
        score = 0.0
        for k in range(n):
            score += float(w[(k + bias) * classes + r]) * (float(values[i + k]) * scale)
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


def dense_rows(X: DenseBlock) -> DenseRows:
    weighted = X.weights.size > 0
    return DenseRows(address(X.values), X.values.shape[1], X.bias, X.normalize, address(X.weights), weighted)


def sparse_rows(X: SparseBlock) -> SparseRows:
    stored = min(X.values.size, X.indices.size)
    weighted = X.weights.size > 0
    return SparseRows(
        address(X.values),
        address(X.indices),
        address(X.indptr),
        stored,
        X.width,
        X.bias,
        X.normalize,
        address(X.weights),
        weighted,
    )


def open_rows(X: Block) -> DenseRows | SparseRows:
    """Open a block for a pass."""
    return dense_rows(X) if isinstance(X, DenseBlock) else sparse_rows(X)


def dense_row(X: DenseRows, i: int) -> DenseRow:
    first = i * X.width
    scale = inverse_norm(X.values, first, X.width) if X.normalize else 1.0
    weight = float(X.weights[i]) if X.weighted else 1.0
    return DenseRow(X.values, first, X.width, X.width, X.bias, scale, weight)


def sparse_row(X: SparseRows, i: int) -> SparseRow:
    first = int(X.indptr[i])
    size = int(X.indptr[i + 1]) - first
    # A pointer that leads outside the stored entries must not be followed: `well_formed` refuses it.
    inside = first >= 0 and size >= 0 and first + size <= X.stored
    scale = inverse_norm(X.values, first, size) if X.normalize and inside else 1.0
    weight = float(X.weights[i]) if X.weighted else 1.0
    return SparseRow(X.values, X.indices, first, size if inside else -1, X.width, X.bias, scale, weight)


def row(X: Any, i: int) -> SingleRow:
    """Return a cursor on row i of an opened block."""
    return dense_row(X, i) if isinstance(X, DenseRows) else sparse_row(X, i)


def norm(values: Any, first: int, size: int) -> float:
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
        square += (float(values[first + k]) / largest) ** 2
    return largest * math.sqrt(square)


def inverse_norm(values: Any, first: int, size: int) -> float:
    """Return 1/‖x‖ of a run of entries; 1 for zeros, which stay as they are."""
    length = norm(values, first, size)
    return 1.0 if length == 0.0 else 1.0 / length


def dense_well_formed(x: DenseRow) -> bool:
    return True


def sparse_well_formed(x: SparseRow) -> bool:
    # Every index, each time: SciPy remembers that indices were sorted once, and arrays can be written to.
    return x.size >= 0 and all_below(x.indices, x.first, x.size, x.width)


def well_formed(x: SingleRow) -> bool:
    """Tell whether the row stays inside its block."""
    return dense_well_formed(x) if isinstance(x, DenseRow) else sparse_well_formed(x)


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


def dot(w: Floats, x: Row) -> float:
    """Return ⟨w, x⟩."""
    if isinstance(x, PairRow):
        return pair_dot(w, x)
    return dense_dot(w, x) if isinstance(x, DenseRow) else sparse_dot(w, x)


def dense_class_scores(w: Floats, x: DenseRow, classes: int, scores: Any, first: int) -> None:
    fits_classes(w, x, classes)
    dense_class_sums(address(w), x.bias, classes, x.values, x.first, x.size, x.scale, scores, first)
    if x.bias:
        lane_add(scores, first, 1.0, address(w), 0, classes)


def sparse_class_scores(w: Floats, x: SparseRow, classes: int, scores: Any, first: int) -> None:
    fits_classes(w, x, classes)
    sparse_class_sums(address(w), x.bias, classes, x.values, x.indices, x.first, x.size, x.scale, scores, first)
    if x.bias:
        lane_add(scores, first, 1.0, address(w), 0, classes)


def class_scores(w: Floats, x: SingleRow, classes: int, scores: Any, first: int) -> None:
    """Write the score of every class into scores[first : first + classes]."""
    if isinstance(x, DenseRow):
        dense_class_scores(w, x, classes, scores, first)
    else:
        sparse_class_scores(w, x, classes, scores, first)


def dense_add(w: Floats, a: float, x: DenseRow) -> None:
    fits(w, x)
    lane_add(address(w), x.bias, a * x.scale, x.values, x.first, x.size)
    if x.bias:
        w[0] += a


def sparse_add(w: Floats, a: float, x: SparseRow) -> None:
    fits(w, x)
    weights = address(w)
    c = a * x.scale
    for p in range(x.first, x.first + x.size):
        weights[x.indices[p] + x.bias] += c * float(x.values[p])
    if x.bias:
        w[0] += a


def pair_add(w: Floats, a: float, x: PairRow) -> None:
    fits_classes(w, x.x, x.classes)
    for k in range(size(x.x)):
        j = index(x.x, k) * x.classes
        c = a * value(x.x, k)
        w[j + x.right] += c
        w[j + x.wrong] -= c


def add(w: Floats, a: float, x: Row) -> None:
    """Add in place: w ← w + a·x."""
    if not isinstance(x, tuple):
        x.add(w, a)  # type: ignore[unreachable]
    elif isinstance(x, PairRow):
        pair_add(w, a, x)
    elif isinstance(x, DenseRow):
        dense_add(w, a, x)
    else:
        sparse_add(w, a, x)


def row_squared_norm(x: SingleRow) -> float:
    square = lane_dot(x.values, x.first, x.values, x.first, x.size)
    if x.scale == 1.0 or TINY < square < HUGE:
        return square * x.scale * x.scale + x.bias
    return (norm(x.values, x.first, x.size) * x.scale) ** 2 + x.bias


def pair_squared_norm(x: PairRow) -> float:
    return 2.0 * row_squared_norm(x.x)


def squared_norm(x: Row) -> float:
    """Return ‖x‖², the intercept's constant 1 included."""
    return pair_squared_norm(x) if isinstance(x, PairRow) else row_squared_norm(x)


def row_length(x: SingleRow) -> float:
    features = norm(x.values, x.first, x.size) * x.scale
    return math.sqrt(features * features + 1.0) if x.bias else features


def pair_length(x: PairRow) -> float:
    return _ROOT_2 * row_length(x.x)


def length(x: Row) -> float:
    """Return ‖x‖, the intercept's constant 1 included."""
    return pair_length(x) if isinstance(x, PairRow) else row_length(x)


def row_weight(x: SingleRow) -> float:
    return x.weight


def pair_weight(x: PairRow) -> float:
    return x.x.weight


def weight(x: Row) -> float:
    """Return the weight of the example, by which a rule is to multiply its step; 1 where none was given."""
    return pair_weight(x) if isinstance(x, PairRow) else row_weight(x)


def row_size(x: SingleRow) -> int:
    return x.size + x.bias


def pair_size(x: PairRow) -> int:
    return 2 * row_size(x.x)


def size(x: Row) -> int:
    """Return how many entries x stores, the intercept's constant 1 included.

    With `index` and `value` this lets a rule walk over x whatever its layout::

        for k in range(size(x)):
            w[index(x, k)] *= 1.0 + value(x, k)
    """
    return pair_size(x) if isinstance(x, PairRow) else row_size(x)


def dense_index(x: DenseRow, k: int) -> int:
    return k + x.bias if k < x.size else 0


def sparse_index(x: SparseRow, k: int) -> int:
    return int(x.indices[x.first + k]) + x.bias if k < x.size else 0


def pair_index(x: PairRow, k: int) -> int:
    n = row_size(x.x)
    return index(x.x, k) * x.classes + x.right if k < n else index(x.x, k - n) * x.classes + x.wrong


def index(x: Row, k: int) -> int:
    """Return where entry k of x stands in a per-feature array."""
    if isinstance(x, PairRow):
        return pair_index(x, k)
    return dense_index(x, k) if isinstance(x, DenseRow) else sparse_index(x, k)


def row_value(x: SingleRow, k: int) -> float:
    return float(x.values[x.first + k]) * x.scale if k < x.size else 1.0


def pair_value(x: PairRow, k: int) -> float:
    n = row_size(x.x)
    return row_value(x.x, k) if k < n else -row_value(x.x, k - n)


def value(x: Row, k: int) -> float:
    """Return entry k of x."""
    return pair_value(x, k) if isinstance(x, PairRow) else row_value(x, k)


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
