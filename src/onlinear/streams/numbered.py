"""Examples that are known by their row numbers, which start at 0 as they do in NumPy."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk, Fault, Read
from onlinear.data.labels import show
from onlinear.errors import DataError


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """Rows of a matrix, the first of which has the number `first` in its file; objects have no name."""

    name: str
    first: int
    X: Any
    y: NDArray[Any]

    def place(self, row: int) -> str:
        return placed(self.name, self.first + row)

    def written(self, row: int) -> bytes:
        label = self.y[row]
        example: dict[str, Any] = {"label": label.item() if isinstance(label, np.generic) else label}
        if hasattr(self.X, "indptr"):
            entries = slice(int(self.X.indptr[row]), int(self.X.indptr[row + 1]))
            example["indices"] = self.X.indices[entries].tolist()
            example["values"] = self.X.data[entries].tolist()
        else:
            example["values"] = self.X[row].tolist()
        return json.dumps(example, ensure_ascii=False, default=str).encode(errors="replace")


def placed(name: str, row: int) -> str:
    """Return the place of a row in words."""
    return f"{name}:row {row}" if name else f"row {row}"


def as_read(X: Any, y: NDArray[Any], name: str, first: int) -> Read:
    """Return rows as a chunk, without those that have no label."""
    origin = NumberedRows(name, first, X, y)
    chunk = Chunk(X, y, origin)
    missing = _missing(y)
    if not missing.any():
        return Read(chunk, [])
    good = np.flatnonzero(~missing)
    bad = np.flatnonzero(missing).tolist()
    faults = [
        Fault(int(np.searchsorted(good, i)), origin.place(i), f"label {show(y[i])} is no label", origin.written(i))
        for i in bad
    ]
    return Read(chunk.take(good), faults)


def check_csr(indptr: NDArray[Any], indices: NDArray[Any], entries: int, width: int, name: str, first: int) -> None:
    """Refuse CSR rows that lead outside: SciPy and the passes follow them without looking.

    Parameters
    ----------
    indptr, indices : array
        Where the rows begin in all the entries there are, and the columns of these rows' entries alone.
    entries : int
        The number of entries, of all rows.
    width : int
        The number of columns.
    name, first
        The file, and the number of the first of these rows.
    """
    wrong = (indptr[1:] < indptr[:-1]) | (indptr[:-1] < 0) | (indptr[1:] > entries)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"{placed(name, first + i)}: indptr goes from {indptr[i]} to {indptr[i + 1]}, of {entries} entries;"
            " the matrix is malformed (X.check_format())"
        )
    if indices.size and not (indices.min() >= 0 and indices.max() < width):
        k = int(np.argmax((indices < 0) | (indices >= width)))
        i = int(np.searchsorted(indptr - indptr[0], k, side="right")) - 1
        raise DataError(
            f"{placed(name, first + i)}: index {indices[k]}; the matrix has {width} columns, from 0 to {width - 1}"
        )


def _missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype.kind == "f":
        missing: NDArray[np.bool_] = ~np.isfinite(y)
        return missing
    if y.dtype.kind == "O":
        return np.fromiter((not _says_something(label) for label in y), dtype=bool, count=y.size)
    return np.zeros(y.size, dtype=bool)


def _says_something(label: Any) -> bool:
    # pandas' NA is not equal to itself, nor to anything: it cannot even be asked.
    if label is None or type(label).__name__ in {"NAType", "NaTType"}:
        return False
    return not (isinstance(label, float | np.floating) and not math.isfinite(label))
