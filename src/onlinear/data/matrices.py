"""Matrices as sources of blocks: dense or CSR, whatever their type and order.

A matrix that a pass can read as it lies is never copied. Anything else is converted block by block:
dense arrays of another number type or order, and CSR with unsorted or duplicate indices, a few hundred
kilobytes at a time; CSC, of which rows cannot be cut cheaply, in sixteenths. Only the sparse formats
that cannot be cut at all (COO and the like) are rewritten as CSR whole.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import RowSums, row_sums
from onlinear.data.chunk import Chunk
from onlinear.data.csr import Csr
from onlinear.engine.rows import Block, DenseBlock, SparseBlock
from onlinear.errors import DataError

_BYTES = 1 << 18
"""How much is converted at a time."""
_ROWS = 1 << 16
"""How many rows a block holds where nothing is converted: their labels take 64 kB."""
_READABLE = (np.dtype(np.float64), np.dtype(np.float32))
_INDICES = (np.dtype(np.int32), np.dtype(np.int64))


class Source(Protocol):
    """A matrix that gives out its rows as blocks."""

    origin: Chunk | None
    """Where the rows were read, if from a stream."""
    n: int
    width: int
    block_rows: int
    copied_rows: int
    """Rows in a block, where it is cut from the matrix and where it is put together from rows here and there."""
    nbytes: int
    sparse: bool

    def copied(self) -> Source:
        """Return the same rows in memory of their own."""

    def block(self, rows: slice | NDArray[np.intp], bias: int, normalize: bool) -> Block:
        """Return some of the rows: a range, or a list of row numbers (copied)."""

    def entry(self, i: int, good: Any) -> tuple[int, float] | None:
        """Return the column and the value of the first entry of row i that is not `good`."""

    def leads_outside(self, i: int) -> bool:
        """Tell whether row i points at entries or columns that are not there."""


def spans(source: Source, rows: slice | None = None) -> Iterator[slice]:
    """Cut the rows of a source, or some of them, into blocks."""
    begin, end = (0, source.n) if rows is None else (rows.start, rows.stop)
    for first in range(begin, end, source.block_rows):
        yield slice(first, min(first + source.block_rows, end))


def sums_of(source: Source, span: slice, block: Block) -> RowSums:
    """Return the row sums of a block for the trail; where it was read ahead, they were taken then."""
    taken = None if source.origin is None else source.origin.sums
    return row_sums(block) if taken is None else taken.part(span)


def open_source(X: Any) -> Source:
    """Return the source for a matrix: an array, nested lists, a frame, or a SciPy sparse matrix."""
    if isinstance(X, Csr):
        return SparseSource(X)
    # Not asked of SciPy itself, which then would be imported for dense data too.
    if "scipy.sparse" in sys.modules:
        import scipy.sparse

        if scipy.sparse.issparse(X):
            return SparseSource(X)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise DataError("X is masked; fill in the missing values first")
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError(f"X is not a matrix: {error}") from error
    return DenseSource(array)


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns."""
    names = getattr(X, "columns", None)
    if names is None or callable(names) or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


class DenseSource:
    """The rows of a two-dimensional array."""

    sparse = False
    origin: Chunk | None = None

    def __init__(self, X: NDArray[Any]) -> None:
        if X.ndim != 2:
            raise DataError(f"X has {X.ndim} dimension(s); it needs two: one row for each example")
        if X.dtype.kind not in "fiubO":
            raise DataError(f"X holds {X.dtype}, not numbers")
        _check_width(X)
        self.X = X
        self.n, self.width = X.shape
        self.nbytes = X.nbytes
        self._direct = X.dtype in _READABLE and _as_it_lies(X)
        self.copied_rows = max(1, _BYTES // (8 * self.width))
        self.block_rows = _ROWS if self._direct else self.copied_rows

    def copied(self) -> DenseSource:
        return DenseSource(self.X.copy())

    def block(self, rows: slice | NDArray[np.intp], bias: int, normalize: bool) -> DenseBlock:
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

    def entry(self, i: int, good: Any) -> tuple[int, float] | None:
        bad = np.flatnonzero(~good(np.asarray(self.X[i], dtype=np.float64)))
        return (int(bad[0]), float(self.X[i, bad[0]])) if bad.size else None

    def leads_outside(self, i: int) -> bool:
        return False


class SparseSource:
    """The rows of a SciPy sparse matrix or array."""

    sparse = True
    origin: Chunk | None = None

    def __init__(self, X: Any) -> None:
        if X.ndim != 2:
            raise DataError(f"X has {X.ndim} dimension(s); it needs two: one row for each example")
        if X.dtype.kind not in "fiub":
            raise DataError(f"X holds {X.dtype}, not numbers")
        _check_width(X)
        if X.format != "csr":
            try:
                X.check_format(full_check=True)
            except (AttributeError, ValueError) as error:
                if isinstance(error, ValueError):
                    raise DataError(f"X is malformed: {error}") from error
        # Only CSR and CSC can be cut into rows; the other formats are rewritten whole.
        self.X = X if X.format in {"csr", "csc"} else X.tocsr()
        self.n, self.width = X.shape
        self.nbytes = 12 * self.X.nnz
        self._direct = (
            self.X.format == "csr"
            and self.X.data.dtype in _READABLE
            and self.X.indices.dtype in _INDICES
            and self.X.indptr.dtype == self.X.indices.dtype
            and all(map(_as_it_lies, (self.X.data, self.X.indices, self.X.indptr)))
            and self.X.indptr.size == self.n + 1
            and bool(self.X.has_canonical_format)
        )
        self.copied_rows = max(1, _BYTES * max(1, self.n) // (16 * max(1, self.X.nnz)))
        if self.X.format == "csc":
            # Cutting rows out of columns reads them all: few blocks, then.
            self.copied_rows = max(1, -(-self.n // 16))
        self.block_rows = _ROWS if self._direct else self.copied_rows

    def copied(self) -> SparseSource:
        return SparseSource(self.X.copy())

    def block(self, rows: slice | NDArray[np.intp], bias: int, normalize: bool) -> SparseBlock:
        if self._direct and isinstance(rows, slice):
            X, indptr = self.X, self.X.indptr[rows.start : rows.stop + 1]
        else:
            X = self.X[rows].tocsr()
            X.sum_duplicates()
            indptr = X.indptr
        values = X.data if X.data.dtype in _READABLE else X.data.astype(np.float64)
        return SparseBlock(values, X.indices, indptr.astype(X.indices.dtype, copy=False), self.width, bias, normalize)

    def entry(self, i: int, good: Any) -> tuple[int, float] | None:
        if self.leads_outside(i):
            return None
        row = self.X[[i]].tocsr()
        bad = np.flatnonzero(~good(row.data.astype(np.float64)))
        return (int(row.indices[bad[0]]), float(row.data[bad[0]])) if bad.size else None

    def leads_outside(self, i: int) -> bool:
        if self.X.format != "csr":
            return False
        first, end = self.X.indptr[i], self.X.indptr[i + 1]
        if not 0 <= first <= end <= min(self.X.indices.size, self.X.data.size):
            return True
        indices = self.X.indices[first:end]
        return bool(((indices < 0) | (indices >= self.width)).any())


def _as_it_lies(array: NDArray[Any]) -> bool:
    """Tell whether a pass can read the array's memory from end to end."""
    return bool(array.flags.c_contiguous and array.flags.aligned)


def _check_width(X: Any) -> None:
    if X.shape[1] == 0:
        raise DataError("X has no columns")


def _check_numbers(part: NDArray[Any], rows: slice | NDArray[np.intp]) -> None:
    for i, j in np.ndindex(part.shape):
        if not isinstance(part[i, j], numbers.Real):
            number = rows.start + i if isinstance(rows, slice) else rows[i]
            raise DataError(f"row {number}, column {j}: {part[i, j]!r} is not a number")
