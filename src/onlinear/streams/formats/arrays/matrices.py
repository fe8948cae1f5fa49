"""Matrices in memory, and iterables of blocks, as streams."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from onlinear.data.chunk import Chunk
from onlinear.data.labels import as_labels
from onlinear.data.matrices import CsrMatrix, as_matrix, check_indices, column_names, from_block
from onlinear.data.numbered import block_chunks, numbered_chunk, without_missing_labels
from onlinear.errors import DataError
from onlinear.streams.files import opened, shown
from onlinear.streams.formats.arrays import npz
from onlinear.streams.formats.arrays.npy import NpyArray
from onlinear.streams.stream import Reader


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
        self._matrix = as_matrix(X)
        self.width = self._matrix.width
        if isinstance(y, str | os.PathLike):
            path = os.fspath(y)
            with opened(path) as file:
                array = NpyArray(file, shown(path)).labels()
                y = array.take(array.n)
        self._y = np.zeros(self._matrix.n) if y is None else as_labels(y, self._matrix.n)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows in parts."""
        return _cut(numbered_chunk(self._matrix, self._y))


class _Blocks:
    """Reads blocks; each time it is read, the iterable is iterated anew."""

    names = None
    width = None

    def __init__(self, blocks: Iterable[tuple[Any, Any]]) -> None:
        self._blocks = blocks

    def chunks(self) -> Iterator[Chunk]:
        """Yield the blocks, the large ones in parts."""
        for chunk in block_chunks(self._blocks):
            yield from _cut(chunk)


def _cut(chunk: Chunk) -> Iterator[Chunk]:
    """Yield a chunk in parts that a pass can read as they lie; those of a matrix that it can read share its memory."""
    step = max(1, min(npz.ROWS, npz.BYTES * chunk.n // max(1, chunk.matrix.nbytes)))
    for first in range(0, chunk.n, step):
        rows = slice(first, min(first + step, chunk.n))
        part = replace(chunk.take(rows), matrix=from_block(chunk.block(rows)))
        if isinstance(part.matrix, CsrMatrix):
            begin, end = int(part.matrix.indptr[0]), int(part.matrix.indptr[-1])
            check_indices(part.matrix.indptr, part.matrix.indices[begin:end], part.width, part.place)
        yield without_missing_labels(part)
