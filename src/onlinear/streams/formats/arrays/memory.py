"""Readers of matrices in memory, and of iterables of blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.indices import check_indices
from onlinear.data.labels import as_labels, distinct, found_classes
from onlinear.data.matrices import CsrMatrix, as_matrix, column_names, from_block
from onlinear.data.numbered import block_chunks, numbered_chunk, without_missing_labels
from onlinear.errors import DataError
from onlinear.streams.files import display_name, open_file
from onlinear.streams.formats.arrays import matrix
from onlinear.streams.formats.arrays.npy_array import NpyArray
from onlinear.streams.reader import Reader


class MatrixReader(Reader):
    """Reads a matrix in memory, without copying it where a pass can read it as it is.

    The labels are an array, or the path of a ``.npy`` file.
    """

    names: tuple[str, ...] | None = None
    width: int | None = None
    classes: NDArray[Any] | None = None

    def __init__(self, X: Any, y: Any, labelled: bool) -> None:
        if y is None and labelled:
            raise DataError("X has no labels; give them as y")
        self.names = column_names(X)
        self._matrix = as_matrix(X)
        self.width = self._matrix.width
        if isinstance(y, str | os.PathLike):
            path = os.fspath(y)
            with open_file(path) as file:
                array = NpyArray(file, display_name(path)).labels()
                y = array.take(array.n)
        self._y = np.zeros(self._matrix.n) if y is None else as_labels(y, self._matrix.n)
        if y is not None:
            self.classes = _all_classes(self._y)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows in parts."""
        return _cut(numbered_chunk(self._matrix, self._y))


def _all_classes(y: NDArray[Any]) -> NDArray[Any] | None:
    """Return the labels of a matrix in memory, in order; None if reading the rows must show what is wrong with them."""
    try:
        return found_classes(distinct(y, [])).labels
    except DataError:
        return None


class BlocksReader(Reader):
    """Reads an iterable of blocks ``(X, y)``; each reading iterates it again."""

    def __init__(self, blocks: Iterable[tuple[Any, Any]]) -> None:
        self._blocks = blocks

    def chunks(self) -> Iterator[Chunk]:
        """Yield the blocks; large ones are split."""
        for chunk in block_chunks(self._blocks):
            yield from _cut(chunk)


def _cut(chunk: Chunk) -> Iterator[Chunk]:
    """Yield a chunk in parts that a pass can read directly; they share the memory of a matrix that it can read."""
    step = max(1, min(matrix.ROWS, matrix.BYTES * chunk.n // max(1, chunk.matrix.nbytes)))
    for first in range(0, chunk.n, step):
        rows = slice(first, min(first + step, chunk.n))
        part = replace(chunk.take(rows), matrix=from_block(chunk.block(rows)))
        if isinstance(part.matrix, CsrMatrix):
            begin, end = int(part.matrix.indptr[0]), int(part.matrix.indptr[-1])
            check_indices(part.matrix.indptr, part.matrix.indices[begin:end], part.width, part.place)
        yield without_missing_labels(part)
