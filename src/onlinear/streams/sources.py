"""Matrices as sources of blocks: dense or CSR, whatever their type and order.

A matrix that a pass can read as it lies is never copied. Anything else (another number type, a
Fortran-ordered or strided array, CSR with duplicate indices, another sparse format) is converted a
few hundred kilobytes at a time.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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

    n: int
    width: int
    block_rows: int
    nbytes: int
    sparse: bool

    def copied(self) -> Source:
        """Return the same rows in memory of their own."""

    def block(self, rows: slice | NDArray[np.intp], bias: int, normalize: bool) -> Block:
        """Return some of the rows: a range, or a list of row numbers (copied)."""

    def entry(self, i: int, good: Any) -> tuple[int, float] | None:
        """Return the column and the value of the first entry of row i that is not `good`."""


def spans(source: Source) -> Iterator[slice]:
    """Cut the rows of a source into blocks."""
    for first in range(0, source.n, source.block_rows):
        yield slice(first, min(first + source.block_rows, source.n))


def open_source(X: Any) -> Source:
    """Return the source for a matrix: an array, nested lists, a frame, or a SciPy sparse matrix."""
    # Not asked of SciPy itself, which then would be imported for dense data too.
    if "scipy.sparse" in sys.modules:
        import scipy.sparse  # noqa: PLC0415

        if scipy.sparse.issparse(X):
            return SparseSource(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError(f"X is not a matrix: {error}") from error
    return DenseSource(array)


class DenseSource:
    """The rows of a two-dimensional array."""

    sparse = False

    def __init__(self, X: NDArray[Any]) -> None:
        if X.ndim != 2:
            raise DataError(f"X has {X.ndim} dimension(s); it needs two: one row for each example")
        if X.dtype.kind not in "fiubO":
            raise DataError(f"X holds {X.dtype}, not numbers")
        self.X = X
        self.n, self.width = X.shape
        self.nbytes = X.nbytes
        flags = X.flags
        self._direct = X.dtype in _READABLE and flags.c_contiguous and flags.aligned
        self.block_rows = _ROWS if self._direct else max(1, _BYTES // (8 * max(1, self.width)))

    def copied(self) -> DenseSource:
        return DenseSource(self.X.copy())

    def block(self, rows: slice | NDArray[np.intp], bias: int, normalize: bool) -> DenseBlock:
        part = self.X[rows]
        if not self._direct:
            if part.dtype.kind == "O":
                _check_numbers(part, rows)
            dtype = part.dtype if part.dtype in _READABLE else np.float64
            part = np.require(part, dtype=dtype, requirements=["C", "A"])
        return DenseBlock(part, bias, normalize)

    def entry(self, i: int, good: Any) -> tuple[int, float] | None:
        bad = np.flatnonzero(~good(np.asarray(self.X[i], dtype=np.float64)))
        return (int(bad[0]), float(self.X[i, bad[0]])) if bad.size else None


class SparseSource:
    """The rows of a SciPy sparse matrix or array."""

    sparse = True

    def __init__(self, X: Any) -> None:
        if X.ndim != 2:
            raise DataError(f"X has {X.ndim} dimension(s); it needs two: one row for each example")
        if X.dtype.kind not in "fiub":
            raise DataError(f"X holds {X.dtype}, not numbers")
        # Only CSR and CSC can be cut into rows; the other formats are rewritten whole.
        self.X = X if X.format in {"csr", "csc"} else X.tocsr()
        self.n, self.width = X.shape
        self.nbytes = 12 * self.X.nnz
        self._direct = (
            self.X.format == "csr"
            and self.X.data.dtype in _READABLE
            and self.X.indices.dtype in _INDICES
            and self.X.indptr.dtype == self.X.indices.dtype
            and bool(self.X.has_canonical_format)
        )
        if self._direct:
            self.block_rows = _ROWS
        elif self.X.format == "csc":
            # Cutting rows out of columns reads them all: few blocks, then.
            self.block_rows = max(1, -(-self.n // 16))
        else:
            self.block_rows = max(1, _BYTES * max(1, self.n) // (16 * max(1, self.X.nnz)))

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
        row = self.X[[i]].tocsr()
        bad = np.flatnonzero(~good(row.data.astype(np.float64)))
        return (int(row.indices[bad[0]]), float(row.data[bad[0]])) if bad.size else None


def _check_numbers(part: NDArray[Any], rows: slice | NDArray[np.intp]) -> None:
    for i, j in np.ndindex(part.shape):
        if not isinstance(part[i, j], numbers.Real):
            number = rows.start + i if isinstance(rows, slice) else rows[i]
            raise DataError(f"row {number}, column {j}: {part[i, j]!r} is not a number")
