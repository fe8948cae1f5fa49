"""Matrices in memory, and iterables of blocks, as streams."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Read
from onlinear.data.csr import csr_matrix
from onlinear.data.labels import as_labels
from onlinear.data.matrices import DenseSource, Source, column_names, open_source
from onlinear.errors import DataError
from onlinear.streams.files import opened, shown
from onlinear.streams.formats.arrays import npz
from onlinear.streams.formats.arrays.npy import NpyArray
from onlinear.streams.numbered import as_read, check_csr
from onlinear.streams.stream import Reader

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def matrix_reader(X: Any, y: Any, *, labelled: bool) -> Reader:
    """Return a reader of a matrix in memory, with its labels (an array, or the path of a ``.npy`` file)."""
    return _MatrixRows(X, y, labelled)


def blocks_reader(blocks: Iterable[tuple[Any, Any]]) -> Reader:
    """Return a reader of blocks ``(X, y)``, as they come."""
    return _Blocks(blocks)


class _MatrixRows:
    """Reads a matrix in memory: rows are looked at where they are."""

    def __init__(self, X: Any, y: Any, labelled: bool) -> None:
        if y is None and labelled:
            raise DataError("X has no labels; give them with y=")
        self.names = column_names(X)
        self._source = _open(X)
        self.width = self._source.width
        if isinstance(y, str | os.PathLike):
            path = os.fspath(y)
            with opened(path) as file:
                array = NpyArray(file, shown(path)).labels()
                y = array.take(array.n)
        self._y = np.zeros(self._source.n) if y is None else as_labels(y, self._source.n)

    def reads(self) -> Iterator[Read]:
        """Yield the rows in blocks."""
        return _cut(self._source, self._y, 0)


class _Blocks:
    """Reads blocks; each time it is read, the iterable is iterated anew."""

    names = None
    width = None

    def __init__(self, blocks: Iterable[tuple[Any, Any]]) -> None:
        self._blocks = blocks

    def reads(self) -> Iterator[Read]:
        """Yield the blocks, the large ones in parts."""
        first = 0
        for number, block in enumerate(self._blocks):
            if not (isinstance(block, tuple | list) and len(block) == 2):
                raise DataError(f"block {number} is a {type(block).__name__}; it must be a pair (X, y)")
            X, y = block
            if y is None:
                raise DataError(f"block {number} has no labels; it must be a pair (X, y)")
            try:
                source = _open(X)
                yield from _cut(source, as_labels(y, source.n), first)
            except DataError as error:
                raise DataError(f"block {number}: {error}") from error
            first += source.n


def _open(X: Any) -> Source:
    """Return the source for a matrix; what leads outside is refused before SciPy follows it."""
    if getattr(X, "format", None) == "csr" and getattr(X, "indptr", np.zeros(0)).size:
        if X.indptr.size != X.shape[0] + 1:
            raise DataError(f"X has {X.shape[0]} row(s), and its indptr {X.indptr.size} entries; X is malformed")
        check_csr(X.indptr, X.indices[:0], min(X.indices.size, X.data.size), X.shape[1], "", 0)
        check_csr(X.indptr, X.indices[int(X.indptr[0]) : int(X.indptr[-1])], X.indices.size, X.shape[1], "", 0)
    return open_source(X)


def _cut(source: Source, y: NDArray[Any], first: int) -> Iterator[Read]:
    """Yield a matrix in blocks, the first row of which has this number."""
    dense = isinstance(source, DenseSource)
    X: Any = source.X  # type: ignore[attr-defined]  # every source has one
    begin = 0
    while begin < source.n:
        if dense:
            end = begin + max(1, min(npz.ROWS, npz.BYTES // (8 * source.width)))
        elif X.format == "csr":
            last = int(X.indptr[begin]) + npz.BYTES // 16
            end = max(begin + 1, min(begin + npz.ROWS, int(np.searchsorted(X.indptr, last, side="right")) - 1))
        else:
            end = begin + source.block_rows
        end = min(end, source.n)
        rows = source.block(slice(begin, end), 0, normalize=False).values if dense else _sparse_rows(X, begin, end)
        yield as_read(rows, y[begin:end], "", first + begin)
        begin = end


def _sparse_rows(X: Any, begin: int, end: int) -> Any:
    """Return some rows of a sparse matrix; those of CSR stay where they are, unless they are of another type."""
    if X.format != "csr":
        return X[begin:end].tocsr()
    start, stop = int(X.indptr[begin]), int(X.indptr[end])
    indptr = X.indptr[begin : end + 1] - X.indptr[begin]
    values = X.data[start:stop]
    values = values if values.dtype in _FLOATS else values.astype(np.float64)
    rows = csr_matrix(values, X.indices[start:stop], indptr, X.shape[1])
    if X.has_canonical_format:
        rows.has_canonical_format = True
    return rows
