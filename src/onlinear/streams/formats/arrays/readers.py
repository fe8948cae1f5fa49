"""NumPy and SciPy files as streams; `matrices` has the readers of what is in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.labels import as_labels
from onlinear.data.matrices import as_matrix
from onlinear.data.numbered import numbered_chunk, row_place, without_missing_labels
from onlinear.errors import DataError, ParameterError
from onlinear.streams.ahead import ahead
from onlinear.streams.files import Pipe, opened, shown
from onlinear.streams.formats.arrays import npz
from onlinear.streams.formats.arrays.npy import NpyArray
from onlinear.streams.reading import Reading
from onlinear.streams.stream import Reader

_REMEDY = "give them with --labels y.npy, y=; or --label COLUMN, label=, where they are a column of the array"
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def npy_reader(files: list[str], y: Any, reading: Reading, *, labelled: bool) -> Reader:
    """Return a reader of ``.npy`` files, each with a matrix.

    Parameters
    ----------
    files : list of str
        The files' names; ``-`` is the standard input.
    y : array, or path of a ``.npy`` file, or None
        A label for each row of all the files.
    reading : Reading
        Its `label` is the number of the column of labels, where `y` is None; negative from the end.
    labelled : bool
        Whether labels are needed.
    """
    return _ArrayFiles(files, y, _column(reading), labelled, npz.open_npy)


def npz_reader(files: list[str], y: Any, reading: Reading, *, labelled: bool) -> Reader:
    """Return a reader of ``.npz`` files: arrays X and y, or a CSR matrix as SciPy saves it; see `npy_reader`."""
    return _ArrayFiles(files, y, _column(reading), labelled, npz.open_npz)


class _Labels(Protocol):
    """Labels that are taken in step with the rows."""

    place: str

    @property
    def n(self) -> int:
        """The number of labels."""

    @property
    def left(self) -> int:
        """The number of labels not taken yet."""

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n labels."""

    def finish(self) -> None:
        """Check that nothing follows."""


class _GivenLabels:
    """Labels from an array."""

    place = "y"

    def __init__(self, y: Any) -> None:
        # Whether y is long enough, the caller checks, who knows the rows.
        self._y = as_labels(y, np.asarray(y).shape[0] if np.ndim(y) else 0)
        self.n = self._y.size
        self._next = 0

    @property
    def left(self) -> int:
        return self.n - self._next

    def take(self, n: int) -> NDArray[Any]:
        self._next += n
        return self._y[self._next - n : self._next]

    def finish(self) -> None:
        """Arrays have an end of their own."""


class _Part(NamedTuple):
    """Rows as they stand in a file."""

    name: str
    first: int
    X: Any
    y: NDArray[Any] | None


class _ArrayFiles:
    """Reads files with a matrix each, block by block; a thread reads ahead."""

    names = None

    def __init__(
        self,
        files: list[str],
        y: Any,
        column: int | None,
        labelled: bool,
        matrix: Callable[[str], AbstractContextManager[npz.FileMatrix]],
    ) -> None:
        self.width: int | None = None
        self._files, self._y, self._column, self._labelled, self._matrix = files, y, column, labelled, matrix
        if y is not None and column is not None:
            raise ParameterError(f"label is {column} and y is given; the labels are in one of them")
        # What the headers say is checked before anything is read; a pipe has to wait.
        if not any(isinstance(name, Pipe) for name in files):
            n = 0
            for name in files:
                with matrix(name) as opening:
                    self._check(opening, name)
                    n += opening.n
            with ExitStack() as stack:
                labels = self._labels(stack)
                if labels is not None and labels.n != n:
                    raise DataError(f"{shown(files[0])}: X has {n} row(s) and {labels.place} has {labels.n} label(s)")

    def chunks(self) -> Iterator[Chunk]:
        """Yield the files' rows in blocks."""
        return ahead(self._parts(), self._decoded)

    def _parts(self) -> Iterator[_Part]:
        """Yield blocks as they are read."""
        with ExitStack() as stack:
            given = self._labels(stack)
            for name in self._files:
                with self._matrix(name) as matrix:
                    self._check(matrix, name)
                    own = None if given is not None or self._column is not None else matrix.labels
                    yield from self._blocks(matrix, given if own is None else own, shown(name))
                    if own is not None:
                        own.finish()
            if given is not None:
                if given.left:
                    raise DataError(f"{given.place}: {given.left} label(s) more than there are rows")
                given.finish()

    def _blocks(self, matrix: npz.FileMatrix, labels: _Labels | None, name: str) -> Iterator[_Part]:
        first = 0
        while matrix.left:
            X = matrix.take()
            n = int(X.shape[0])
            if labels is not None and labels.left < n:
                row = row_place(name, first + labels.left)
                raise DataError(f"{row}: it has no label; {labels.place} has {labels.n} label(s), for more rows")
            yield _Part(name, first, X, None if labels is None else labels.take(n))
            first += n
        matrix.finish()

    def _check(self, matrix: npz.FileMatrix, name: str) -> None:
        """Refuse a matrix that does not fit the others, or its labels."""
        place, width = shown(name), matrix.width
        if self._column is not None:
            if not -width <= self._column < width:
                raise DataError(f"{place}: there is no column {self._column} for the labels; there are {width}")
            if width == 1:
                raise DataError(f"{place}: there is no column beside the labels")
            width -= 1
        elif self._y is None and matrix.labels is None and self._labelled:
            raise DataError(f"{place}: there are no labels; {_REMEDY}")
        elif self._y is None and matrix.labels is not None and matrix.labels.n != matrix.n:
            raise DataError(f"{place}: X has {matrix.n} row(s) and y has {matrix.labels.n} label(s)")
        if self.width is None:
            self.width = width
        elif self.width != width:
            raise DataError(f"{place}: {width} columns; {shown(self._files[0])} has {self.width}")

    def _labels(self, stack: ExitStack) -> _Labels | None:
        """Open the labels that are given apart from the files."""
        if self._y is None:
            return None
        if isinstance(self._y, str | os.PathLike):
            path = os.fspath(self._y)
            return NpyArray(stack.enter_context(opened(path)), shown(path)).labels()
        return _GivenLabels(self._y)

    def _decoded(self, part: _Part) -> Chunk:
        X, y = part.X, part.y
        if self._column is not None:
            if hasattr(X, "indptr"):
                raise DataError(f"{part.name}: a sparse matrix has no column of labels; {_REMEDY}")
            column = self._column % X.shape[1]
            y = X[:, column]
            rest = np.empty((X.shape[0], X.shape[1] - 1), dtype=X.dtype if X.dtype in _FLOATS else np.float64)
            rest[:, :column], rest[:, column:] = X[:, :column], X[:, column + 1 :]
            X, y = rest, np.ascontiguousarray(y)
        elif not hasattr(X, "indptr") and X.dtype not in _FLOATS:
            X = X.astype(np.float64)
        labels = np.zeros(X.shape[0]) if y is None else y
        return without_missing_labels(numbered_chunk(as_matrix(X), labels, part.name, part.first))


def _column(reading: Reading) -> int | None:
    """Return the number of the column of labels."""
    for option in ("features", "drop", "text"):
        if getattr(reading, option):
            raise ParameterError(f"{option} is for tables; the columns of an array have no names")
    if reading.label is None:
        return None
    try:
        return int(reading.label)
    except ValueError:
        raise ParameterError(f"label is {reading.label!r}; an array's columns have numbers, from 0 on") from None
