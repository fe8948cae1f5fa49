"""Examples from arrays: they are known by their row numbers, which start at 0 as in NumPy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk, Fault
from onlinear.data.labels import as_labels
from onlinear.data.matrices import Matrix, as_matrix
from onlinear.data.one_label import can_be_label, describe_missing
from onlinear.errors import DataError


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """Rows of a matrix, the first of which has the number `first` in its file; arrays in memory have no name."""

    name: str
    first: int
    matrix: Matrix
    y: NDArray[Any]

    def place(self, row: int) -> str:
        return row_place(self.name, self.first + row)

    def written(self, row: int) -> bytes:
        label = self.y[row]
        example: dict[str, Any] = {"label": label.item() if isinstance(label, np.generic) else label}
        return json.dumps(example | self.matrix.row(row), ensure_ascii=False, default=str).encode(errors="replace")


def row_place(name: str, row: int) -> str:
    """Return the place of a row, for messages."""
    return f"{name}:row {row}" if name else f"row {row}"


def numbered_chunk(matrix: Matrix, y: NDArray[Any], name: str = "", first: int = 0, *, lasting: bool = False) -> Chunk:
    """Return rows and their labels as a chunk; the first row has the number `first`."""
    return Chunk(matrix, y, NumberedRows(name, first, matrix, y), lasting=lasting)


def array_chunk(X: Any, y: Any, first: int = 0, *, lasting: bool = False) -> Chunk:
    """Return a matrix in memory and its labels as a chunk."""
    matrix = as_matrix(X)
    return numbered_chunk(matrix, as_labels(y, matrix.n), first=first, lasting=lasting)


def block_chunks(blocks: Iterable[Any]) -> Iterator[Chunk]:
    """Yield blocks ``(X, y)`` as chunks with consecutive row numbers; empty blocks are skipped."""
    first, listed = 0, type(blocks) in {list, tuple}
    for number, block in enumerate(blocks):
        if not (isinstance(block, tuple | list) and len(block) == 2):
            kind = type(block).__name__
            raise DataError(f"block {number} is a {kind}, not a pair (X, y); X and y are two arguments")
        X, y = block
        if y is None:
            raise DataError(f"block {number} has no labels; it must be a pair (X, y)")
        try:
            chunk = array_chunk(X, y, first, lasting=listed and _is_in_memory(X) and _is_in_memory(y))
        except DataError as error:
            hint = "; is y missing?" if number == 0 else ""
            raise DataError(f"block {number}: {error}{hint}") from error
        if chunk.n:
            yield chunk
        first += chunk.n


def _is_in_memory(given: Any) -> bool:
    """Tell whether the entries are in an array of the caller's, not made when they are asked for."""
    return type(given) is np.ndarray or hasattr(given, "indptr")


def without_missing_labels(chunk: Chunk) -> Chunk:
    """Return a chunk in which examples without a label are faults."""
    missing = _missing(chunk.y)
    if not missing.any():
        return chunk
    good = np.flatnonzero(~missing)
    faults = [
        Fault(int(np.searchsorted(good, i)), chunk.place(i), describe_missing(chunk.y[i]), chunk.written(i))
        for i in np.flatnonzero(missing).tolist()
    ]
    return replace(chunk.take(good), faults=faults)


def _missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype.kind == "f":
        missing: NDArray[np.bool_] = ~np.isfinite(y)
        return missing
    if y.dtype.kind == "O":
        return np.fromiter((not can_be_label(label) for label in y), dtype=bool, count=y.size)
    return np.zeros(y.size, dtype=bool)
