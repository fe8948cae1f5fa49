"""Examples in blocks, and a row of a block as a light cursor: where its values lie, not a copy of them.

An intercept is an entry of its own: it stands at index 0 of every per-feature array, the features
follow from index ``bias`` = 1, and it is summed last, as if x had a constant 1. Without an
intercept ``bias`` is 0. With ``normalize`` a row is x/‖x‖: the cursor carries ``scale`` = 1/‖x‖.

With more than two classes there is a weight vector for each, and a rule meets an example x as the pair of its
class y and the best wrong class r: x ⊗ (e_y − e_r), with label +1 (Kesler's construction). Such a `PairRow` obeys
the same algebra, so a rule that was written for two classes learns any number. Entry j of class r stands at
index j·k + r of a per-feature array: the classes' weights for one feature lie side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats, address, all_below, inverse_norm

NO_WEIGHTS: Floats = np.empty(0)
"""The weights of a block's examples where each weighs 1."""


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
    trial: int


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
    trial: int


SingleRow: TypeAlias = DenseRow | SparseRow


class PairRow(NamedTuple):
    """One example x of class `right`, against class `wrong`: x ⊗ (e_right − e_wrong)."""

    x: SingleRow
    classes: int
    right: int
    wrong: int


Row: TypeAlias = SingleRow | PairRow


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


OPEN_ROWS: Final[dict[type, Callable[[Any], DenseRows | SparseRows]]] = {
    DenseBlock: dense_rows,
    SparseBlock: sparse_rows,
}


def open_rows(X: Block) -> DenseRows | SparseRows:
    """Open a block for a pass."""
    return OPEN_ROWS[type(X)](X)


def dense_row(X: DenseRows, i: int, t: int) -> DenseRow:
    first = i * X.width
    scale = inverse_norm(X.values, first, X.width) if X.normalize else 1.0
    weight = float(X.weights[i]) if X.weighted else 1.0
    return DenseRow(X.values, first, X.width, X.width, X.bias, scale, weight, t + 1)


def sparse_row(X: SparseRows, i: int, t: int) -> SparseRow:
    first = int(X.indptr[i])
    size = int(X.indptr[i + 1]) - first
    # A pointer beyond the stored entries must not be followed: `well_formed` refuses it.
    inside = first >= 0 and size >= 0 and first + size <= X.stored
    scale = inverse_norm(X.values, first, size) if X.normalize and inside else 1.0
    weight = float(X.weights[i]) if X.weighted else 1.0
    return SparseRow(X.values, X.indices, first, size if inside else -1, X.width, X.bias, scale, weight, t + 1)


ROW: Final[dict[type, Callable[[Any, int, int], SingleRow]]] = {DenseRows: dense_row, SparseRows: sparse_row}


def row(X: Any, i: int, t: int) -> SingleRow:
    """Return a cursor on row i of an opened block, after t rounds."""
    return ROW[type(X)](X, i, t)


def dense_well_formed(x: DenseRow) -> bool:
    return True


def sparse_well_formed(x: SparseRow) -> bool:
    # Every index, each time: SciPy remembers that indices were sorted once, and arrays can be written to.
    return x.size >= 0 and all_below(x.indices, x.first, x.size, x.width)


WELL_FORMED: Final[dict[type, Callable[[Any], bool]]] = {DenseRow: dense_well_formed, SparseRow: sparse_well_formed}


def well_formed(x: SingleRow) -> bool:
    """Tell whether the row stays inside its block."""
    return WELL_FORMED[type(x)](x)


OPERATIONS: Final[dict[Callable[..., Any], dict[type, Any]]] = {
    open_rows: OPEN_ROWS,
    row: ROW,
    well_formed: WELL_FORMED,
}
"""The operations of this module, each with its function for every layout."""
