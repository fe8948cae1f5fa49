"""Matrices of examples: dense or CSR, whatever their type and order, provided as the blocks that a pass reads.

A matrix that a pass can read in place is never copied. Anything else is converted block by block: dense arrays of
another number type or order, and CSR with unsorted or duplicate indices, a few hundred kilobytes at a time; CSC, whose
rows cannot be cut cheaply, in sixteenths. Only the sparse formats that cannot be cut at all (COO and the like) are
converted to CSR as a whole.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_unmasked
from onlinear.data.frame_text import check_no_text
from onlinear.data.indices import check_sparse, points_outside
from onlinear.engine.rows import Block, DenseBlock, SparseBlock
from onlinear.errors import DataError

_BYTES = 1 << 18
"""How much is converted at a time."""
_GATHERED = 1 << 22
"""How much is gathered from scattered rows of a CSR matrix at a time: SciPy's part of it takes longer than the copy."""
_ROWS = 1 << 16
"""Rows of a block where nothing is converted: their labels take 64 kB."""
_READABLE = (np.dtype(np.float64), np.dtype(np.float32))
_INDICES = (np.dtype(np.int32), np.dtype(np.int64))

Rows: TypeAlias = slice | NDArray[np.intp]
"""A range of rows, or a list of row numbers."""


class Matrix(Protocol):
    """Rows of numbers that can be read as blocks."""

    n: int
    width: int
    sparse: bool
    nbytes: int
    block_rows: int
    """Rows of a block that is cut from the matrix."""
    gathered_rows: int
    """Rows of a block that is gathered from scattered rows."""

    def native(self) -> Any:
        """Return the rows as an array or a SciPy matrix."""

    def take(self, rows: Rows) -> Matrix:
        """Return some of the rows."""

    def copied(self) -> Matrix:
        """Return the same rows in memory of their own."""

    def block(self, rows: Rows, bias: int, normalize: bool) -> Block:
        """Return some of the rows for a pass."""

    def row(self, i: int) -> dict[str, list[Any]]:
        """Return the values of row i, and where it is sparse their indices."""

    def find(self, i: int, good: Callable[..., Any]) -> tuple[int, float] | None:
        """Return the column and the value of the first entry of row i that is not `good`."""

    def is_outside(self, i: int) -> bool:
        """Tell whether row i points at entries or columns that do not exist."""

    def finite_rows(self) -> NDArray[np.bool_]:
        """Tell which rows have finite entries only."""

    def row_sizes(self) -> NDArray[np.int64]:
        """Return how many entries each row stores."""


def as_matrix(X: Any) -> Matrix:
    """Return an array, nested lists, a frame or a SciPy sparse matrix as a `Matrix`."""
    check_matrix(X)
    if _is_sparse(X):
        return _as_sparse(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError(f"X is not a matrix: {error}") from error
    return DenseMatrix(array)


def check_matrix(X: Any) -> None:
    """Refuse what NumPy and SciPy would read silently: masked entries, and indices out of range; and text in frames."""
    if _is_sparse(X):
        check_sparse(X)
    else:
        check_unmasked("X", X)
        check_no_text(X)


def _is_sparse(X: Any) -> bool:
    # Not asked of SciPy where it has not been imported: it is not needed for dense data.
    return "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(X)


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns."""
    names = getattr(X, "columns", None)
    if names is None or callable(names) or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


class EntryError(DataError):
    """An entry of a matrix is not a number."""

    def __init__(self, row: int, column: int, value: Any) -> None:
        super().__init__(f"row {row}, column {column}: {value!r} is not a number")
        self.row, self.column, self.value = row, column, value


class DenseMatrix:
    """The rows of a two-dimensional array."""

    sparse = False

    def __init__(self, X: NDArray[Any]) -> None:
        _check_shape(X)
        if X.dtype.kind not in "fiubO":
            raise DataError(f"X holds {X.dtype}, not numbers")
        self.X = X
        self.n, self.width = X.shape
        self.nbytes = X.nbytes
        self._direct = X.dtype in _READABLE and _as_it_lies(X)
        self.gathered_rows = max(1, _BYTES // (8 * self.width))
        self.block_rows = _ROWS if self._direct else self.gathered_rows

    def native(self) -> NDArray[Any]:
        return self.X

    def take(self, rows: Rows) -> DenseMatrix:
        return DenseMatrix(self.X[rows])

    def copied(self) -> DenseMatrix:
        return DenseMatrix(self.X.copy())

    def block(self, rows: Rows, bias: int, normalize: bool) -> DenseBlock:
        part = self.X[rows]
        if not self._direct:
            if part.dtype.kind == "O":
                _check_numbers(part, rows)
            dtype = part.dtype if part.dtype in _READABLE else np.float64
            try:
                part = np.require(part, dtype=dtype, requirements=["C", "A"])
            except OverflowError as error:
                raise DataError(f"X holds a number that is too large: {error}") from error
        return DenseBlock(part, bias, normalize)

    def row(self, i: int) -> dict[str, list[Any]]:
        return {"values": self.X[i].tolist()}

    def find(self, i: int, good: Callable[..., Any]) -> tuple[int, float] | None:
        bad = np.flatnonzero(~good(np.asarray(self.X[i], dtype=np.float64)))
        return (int(bad[0]), float(self.X[i, bad[0]])) if bad.size else None

    def is_outside(self, i: int) -> bool:
        return False

    def finite_rows(self) -> NDArray[np.bool_]:
        if self.X.dtype.kind != "f":
            return np.ones(self.n, dtype=bool)
        finite: NDArray[np.bool_] = np.isfinite(self.X).all(axis=1)
        return finite

    def row_sizes(self) -> NDArray[np.int64]:
        return np.full(self.n, self.width, dtype=np.int64)


class CsrMatrix:
    """CSR rows in three arrays, with sorted, unique indices below `width`: a pass reads them as they lie.

    The rows are ``indptr[0]`` to ``indptr[-1]`` of the entries, so some rows of a matrix share its memory.
    """

    sparse = True
    block_rows = _ROWS

    def __init__(self, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], width: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.n, self.width = indptr.size - 1, width
        entries = max(1, data.size)
        self.nbytes = data.nbytes + indices.nbytes + indptr.nbytes
        self.gathered_rows = max(1, _GATHERED * max(1, self.n) // (16 * entries))
        self._gathers: Any = None
        """The same rows as a SciPy matrix, once rows have been gathered from it."""

    def native(self) -> Any:
        """Return a SciPy matrix of these very arrays; its own constructor copies views of larger ones."""
        import scipy.sparse

        first, end = int(self.indptr[0]), int(self.indptr[-1])
        X = scipy.sparse.csr_array((self.n, self.width), dtype=self.data.dtype)
        X.data, X.indices = self.data[first:end], self.indices[first:end]
        X.indptr = self.indptr - self.indptr[0] if first else self.indptr
        X.has_canonical_format = True
        return X

    def take(self, rows: Rows) -> CsrMatrix:
        if isinstance(rows, slice):
            return CsrMatrix(self.data, self.indices, self.indptr[rows.start : rows.stop + 1], self.width)
        self._gathers = self.native() if self._gathers is None else self._gathers
        some = self._gathers[rows]
        return CsrMatrix(some.data, some.indices, some.indptr, self.width)

    def copied(self) -> CsrMatrix:
        first, end = int(self.indptr[0]), int(self.indptr[-1])
        indptr = self.indptr - self.indptr[0]
        return CsrMatrix(self.data[first:end].copy(), self.indices[first:end].copy(), indptr, self.width)

    def narrowed(self) -> CsrMatrix:
        """Return the same rows with no more columns than they use."""
        first, end = int(self.indptr[0]), int(self.indptr[-1])
        width = int(self.indices[first:end].max(initial=0)) + 1
        return CsrMatrix(self.data, self.indices, self.indptr, width)

    def block(self, rows: Rows, bias: int, normalize: bool) -> SparseBlock:
        if not isinstance(rows, slice):
            return self.take(rows).block(slice(0, rows.size), bias, normalize)
        indptr = self.indptr[rows.start : rows.stop + 1]
        return SparseBlock(self.data, self.indices, indptr, self.width, bias, normalize)

    def row(self, i: int) -> dict[str, list[Any]]:
        entries = slice(int(self.indptr[i]), int(self.indptr[i + 1]))
        return {"indices": self.indices[entries].tolist(), "values": self.data[entries].tolist()}

    def find(self, i: int, good: Callable[..., Any]) -> tuple[int, float] | None:
        if self.is_outside(i):
            return None
        first, end = int(self.indptr[i]), int(self.indptr[i + 1])
        bad = np.flatnonzero(~good(self.data[first:end].astype(np.float64)))
        return (int(self.indices[first + bad[0]]), float(self.data[first + bad[0]])) if bad.size else None

    def is_outside(self, i: int) -> bool:
        return points_outside(self.data, self.indices, self.indptr, self.width, i)

    def finite_rows(self) -> NDArray[np.bool_]:
        finite = np.ones(self.n, dtype=bool)
        first, end = int(self.indptr[0]), int(self.indptr[-1])
        places = first + np.flatnonzero(~np.isfinite(self.data[first:end]))
        finite[np.searchsorted(self.indptr, places, side="right") - 1] = False
        return finite

    def row_sizes(self) -> NDArray[np.int64]:
        return np.diff(self.indptr).astype(np.int64)


class SciPyMatrix:
    """The rows of a CSR or CSC matrix that no pass can read in place: they are converted block by block."""

    sparse = True

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n, self.width = X.shape
        self.nbytes = 12 * self.X.nnz
        self.gathered_rows = max(1, _BYTES * max(1, self.n) // (16 * max(1, self.X.nnz)))
        if self.X.format == "csc":
            # Cutting rows out of columns reads them all: few blocks, then.
            self.gathered_rows = max(1, -(-self.n // 16))
        self.block_rows = self.gathered_rows

    def native(self) -> Any:
        return self.X

    def take(self, rows: Rows) -> Matrix:
        return _as_sparse(self.X[rows])

    def copied(self) -> SciPyMatrix:
        return SciPyMatrix(self.X.copy())

    def block(self, rows: Rows, bias: int, normalize: bool) -> SparseBlock:
        X = self.X[rows].tocsr()
        X.sum_duplicates()
        values = X.data if X.data.dtype in _READABLE else X.data.astype(np.float64)
        indptr = X.indptr.astype(X.indices.dtype, copy=False)
        return SparseBlock(values, X.indices, indptr, self.width, bias, normalize)

    def row(self, i: int) -> dict[str, list[Any]]:
        row = self.X[[i]].tocsr()
        return {"indices": row.indices.tolist(), "values": row.data.tolist()}

    def find(self, i: int, good: Callable[..., Any]) -> tuple[int, float] | None:
        if self.is_outside(i):
            return None
        row = self.X[[i]].tocsr()
        bad = np.flatnonzero(~good(row.data.astype(np.float64)))
        return (int(row.indices[bad[0]]), float(row.data[bad[0]])) if bad.size else None

    def is_outside(self, i: int) -> bool:
        X = self.X
        return X.format == "csr" and points_outside(X.data, X.indices, X.indptr, self.width, i)

    def finite_rows(self) -> NDArray[np.bool_]:
        block = self.block(slice(0, self.n), 0, normalize=False)
        return CsrMatrix(block.values, block.indices, block.indptr, self.width).finite_rows()

    def row_sizes(self) -> NDArray[np.int64]:
        if self.X.format == "csr":
            return np.asarray(np.diff(self.X.indptr), dtype=np.int64)
        return np.asarray(np.bincount(self.X.indices, minlength=self.n), dtype=np.int64)


def from_block(block: Block) -> DenseMatrix | CsrMatrix:
    """Return the rows of a block as a matrix."""
    if isinstance(block, DenseBlock):
        return DenseMatrix(block.values)
    return CsrMatrix(block.values, block.indices, block.indptr, block.width)


def stack(matrices: Sequence[Matrix]) -> Matrix:
    """Return the rows of several matrices as one: all dense and of one width, or all sparse."""
    if not matrices[0].sparse:
        return DenseMatrix(np.concatenate([matrix.native() for matrix in matrices]))
    import scipy.sparse

    width = max(matrix.width for matrix in matrices)
    parts = [matrix.native() for matrix in matrices]
    wide = [scipy.sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width)) for X in parts]
    return _as_sparse(scipy.sparse.vstack(wide, format="csr"))


def _as_sparse(X: Any) -> CsrMatrix | SciPyMatrix:
    _check_shape(X)
    if X.dtype.kind not in "fiub":
        raise DataError(f"X holds {X.dtype}, not numbers")
    if X.format not in {"csr", "csc"}:
        X = X.tocsr()  # the others cannot be cut into rows
    if X.format == "csc":
        return SciPyMatrix(X)
    if not X.data.dtype.isnative:
        X = type(X)((X.data.astype(X.data.dtype.newbyteorder("=")), X.indices, X.indptr), shape=X.shape)
    direct = (
        X.data.dtype in _READABLE
        and X.indices.dtype in _INDICES
        and X.indptr.dtype == X.indices.dtype
        and all(map(_as_it_lies, (X.data, X.indices, X.indptr)))
        and bool(X.has_canonical_format)
    )
    return CsrMatrix(X.data, X.indices, X.indptr, X.shape[1]) if direct else SciPyMatrix(X)


def _as_it_lies(array: NDArray[Any]) -> bool:
    """Tell whether a pass can read the array's memory from end to end."""
    return bool(array.flags.c_contiguous and array.flags.aligned)


def _check_shape(X: Any) -> None:
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimension(s); it needs two, with a row for each example")
    if X.shape[1] == 0:
        raise DataError("X has no columns")


def _check_numbers(part: NDArray[Any], rows: Rows) -> None:
    for i, j in np.ndindex(part.shape):
        if not isinstance(part[i, j], numbers.Real):
            number = rows.start + i if isinstance(rows, slice) else rows[i]
            raise EntryError(int(number), j, part[i, j])
