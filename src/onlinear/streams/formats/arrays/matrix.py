"""A matrix in an open file, read block by block: dense, or CSR as SciPy saves it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinear.data.indices import check_indices, check_pointers
from onlinear.data.numbered import row_place
from onlinear.errors import DataError
from onlinear.streams.formats.arrays.npy_array import NpyArray

ROWS = 1 << 16
BYTES = 1 << 22
"""The size of a block is at most this, unless a single row is larger."""
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class FileMatrix(Protocol):
    """A matrix in a file, read from its first row on; `labels` are those in the same file, if any."""

    n: int
    width: int
    labels: NpyArray | None

    @property
    def left(self) -> int:
        """The number of rows not read yet."""

    def take(self) -> Any:
        """Return the next rows: an array of any numeric type, or a CSR matrix."""

    def finish(self) -> None:
        """Raise if the file has data after the last row."""


class DenseFileMatrix:
    """A matrix stored as one array."""

    def __init__(self, X: NpyArray, labels: NpyArray | None) -> None:
        self.n, self.width = X.shape
        self.labels = labels
        self._X = X
        self._rows = max(1, min(ROWS, BYTES // max(X.row_bytes, 8 * self.width)))

    @property
    def left(self) -> int:
        return self._X.left

    def take(self) -> NDArray[Any]:
        return self._X.take(min(self._rows, self._X.left))

    def finish(self) -> None:
        self._X.finish()


class CsrFileMatrix:
    """A CSR matrix as `scipy.sparse.save_npz` stores it: three arrays, read in parallel."""

    def __init__(
        self, shape: tuple[int, int], parts: tuple[NpyArray, NpyArray, NpyArray], labels: NpyArray | None, name: str
    ) -> None:
        self.n, self.width = shape
        self.labels = labels
        self._values, self._indices, self._indptr = parts
        self._name = name
        self._first = 0
        self._pending = np.zeros(0, dtype=np.int64)
        """The part of indptr that has been read but not used; its first entry is where the last row ended."""
        if self._indptr.n != self.n + 1 or self._indices.n != self._values.n:
            raise DataError(
                f"{name}: the matrix is malformed: indptr has {self._indptr.n} entries for {self.n} row(s), and there"
                f" are {self._indices.n} indices for {self._values.n} values"
            )

    @property
    def left(self) -> int:
        return self.n - self._first

    def take(self) -> Any:
        if self._pending.size < 2:
            last = self._pending if self._first else self._pointers(1)
            if not self._first and last[0] != 0:
                raise DataError(f"{row_place(self._name, 0)}: indptr starts with {last[0]}, not with 0")
            self._pending = np.concatenate([last, self._pointers(min(ROWS, self.left))])
            check_pointers(self._pending, self._values.n, self._place)
        begin = int(self._pending[0])
        room = BYTES // (8 + self._indices.dtype.itemsize)
        rows = max(1, int(np.searchsorted(self._pending, begin + room, side="right")) - 1)
        pointers, self._pending = self._pending[: rows + 1], self._pending[rows:]
        entries = int(pointers[-1]) - begin
        values, indices = self._values.take(entries), self._indices.take(entries)
        check_indices(pointers, indices, self.width, self._place)
        self._first += rows
        values = values if values.dtype in _FLOATS else values.astype(np.float64)
        indptr = (pointers - begin).astype(indices.dtype)
        import scipy.sparse

        return scipy.sparse.csr_array((values, indices, indptr), shape=(rows, self.width))

    def finish(self) -> None:
        if self._values.left:
            raise DataError(f"{self._name}: {self._values.left} entries follow the last row")
        for part in (self._values, self._indices, self._indptr):
            part.finish()

    def _place(self, row: int) -> str:
        return row_place(self._name, self._first + row)

    def _pointers(self, n: int) -> NDArray[np.int64]:
        return self._indptr.take(n).astype(np.int64)
