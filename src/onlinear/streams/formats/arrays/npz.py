"""NumPy's ``.npz`` archives, read member by member without unpacking them: dense matrices, and SciPy's CSR."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from onlinear.data.matrices import check_indices, check_pointers
from onlinear.data.numbered import row_place
from onlinear.errors import DataError
from onlinear.streams.files import opened, shown
from onlinear.streams.formats.arrays.npy import NpyArray, failure

ROWS = 1 << 16
BYTES = 1 << 22
"""How much a block holds at most, unless a single row takes more."""
_SPARSE = {"format", "shape", "data", "indices", "indptr"}
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class FileMatrix(Protocol):
    """A matrix in a file, read from its first row on; `labels` are in the same file, where there are any."""

    n: int
    width: int
    labels: NpyArray | None

    @property
    def left(self) -> int:
        """The number of rows not read yet."""

    def take(self) -> Any:
        """Return the next rows: an array of any number type, or a CSR matrix."""

    def finish(self) -> None:
        """Check that nothing follows."""


class DenseFileMatrix:
    """A matrix that is one array."""

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
    """A CSR matrix as `scipy.sparse.save_npz` lays it out: three arrays, read side by side."""

    def __init__(
        self, shape: tuple[int, int], parts: tuple[NpyArray, NpyArray, NpyArray], labels: NpyArray | None, name: str
    ) -> None:
        self.n, self.width = shape
        self.labels = labels
        self._values, self._indices, self._indptr = parts
        self._name = name
        self._first = 0
        self._pending = np.zeros(0, dtype=np.int64)
        """Where the next rows begin, as far as it has been read; its first entry is where the last row ended."""
        if self._indptr.n != self.n + 1 or self._indices.n != self._values.n:
            raise DataError(
                f"{name}: indptr has {self._indptr.n} entries for {self.n} row(s), and there are"
                f" {self._indices.n} indices for {self._values.n} values; the matrix is malformed"
            )

    @property
    def left(self) -> int:
        return self.n - self._first

    def take(self) -> Any:
        if self._pending.size < 2:
            last = self._pending if self._first else self._pointers(1)
            if not self._first and last[0] != 0:
                raise DataError(f"{row_place(self._name, 0)}: indptr begins with {last[0]}, not with 0")
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
            raise DataError(f"{self._name}: {self._values.left} entries stand behind the last row")
        for part in (self._values, self._indices, self._indptr):
            part.finish()

    def _place(self, row: int) -> str:
        return row_place(self._name, self._first + row)

    def _pointers(self, n: int) -> NDArray[np.int64]:
        return self._indptr.take(n).astype(np.int64)


@contextmanager
def open_npy(name: str) -> Iterator[FileMatrix]:
    """Open a ``.npy`` file as a matrix."""
    with opened(name) as file:
        yield DenseFileMatrix(NpyArray(file, shown(name)).matrix(), None)


@contextmanager
def open_npz(name: str) -> Iterator[FileMatrix]:
    """Open the matrix of a ``.npz`` file, and its labels, if it has any."""
    with ExitStack() as stack:
        raw = stack.enter_context(opened(name))
        try:
            archive = stack.enter_context(zipfile.ZipFile(raw))
        except Exception as error:  # what a damaged directory leads to is many things
            raise DataError(f"{name}: not a .npz file, or damaged: {error}") from error
        members = {one.removesuffix(".npy"): one for one in archive.namelist() if one.endswith(".npy")}

        def member(key: str) -> NpyArray:
            return NpyArray(stack.enter_context(_member(archive, members[key], name)), f"{name}:{key}")

        labels = member("y").labels() if "y" in members else None
        if members.keys() >= _SPARSE:
            yield _csr(member, labels, name)
            return
        matrices = [key for key in members if key != "y"]
        if "X" not in members and len(matrices) != 1:
            listed = ", ".join(sorted(members)) or "none"
            raise DataError(f"{name}: it has the arrays {listed}; it needs X and y (np.savez(path, X=X, y=y))")
        yield DenseFileMatrix(member("X" if "X" in members else matrices[0]).matrix(), labels)


def _csr(member: Any, labels: NpyArray | None, name: str) -> CsrFileMatrix:
    """Return the matrix that SciPy has saved."""
    kind = _text(member("format"))
    if kind != "csr":
        raise DataError(f"{name}: the matrix is in the format {kind!r}; rows are read from CSR (save X.tocsr())")
    shape = member("shape").must_be("two whole numbers", 1, "iu")
    if shape.n != 2:
        raise DataError(f"{name}: the matrix has {shape.n} dimension(s); it needs two")
    n, width = map(int, shape.take(2))
    if n < 0 or width < 1:
        raise DataError(f"{name}: the matrix has the shape {(n, width)}")
    pointers = [member(key).must_be("whole numbers", 1, "i") for key in ("indices", "indptr")]
    for array in pointers:
        if array.dtype.itemsize not in {4, 8}:
            raise DataError(f"{array.place}: it holds {array.dtype}; indices are int32 or int64")
    return CsrFileMatrix((n, width), (member("data").numbers(), pointers[0], pointers[1]), labels, name)


def _text(array: NpyArray) -> str:
    """Return what an array of one word says."""
    if array.shape != () or array.dtype.kind not in "SU" or array.dtype.itemsize > 64:
        raise DataError(f"{array.place}: it does not name a format")
    array.shape = (1,)
    word = array.take(1)[0]
    return word.decode(errors="replace") if isinstance(word, bytes) else str(word)


def _member(archive: zipfile.ZipFile, member: str, name: str) -> BinaryIO:
    try:
        return cast("BinaryIO", archive.open(member))
    except Exception as error:
        # An encrypted member, or a method of compression that is not known here.
        if failure(error) is None and not isinstance(error, RuntimeError | NotImplementedError | KeyError):
            raise
        raise DataError(f"{name}: {member} cannot be read: {error}") from error
