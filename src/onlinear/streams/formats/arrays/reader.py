"""Reads NumPy and SciPy files, each of which holds a matrix."""

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
from onlinear.spelling import option
from onlinear.streams.ahead import map_ahead
from onlinear.streams.files import Pipe, display_name, open_file
from onlinear.streams.formats.arrays.matrix import FileMatrix
from onlinear.streams.formats.arrays.npy_array import NpyArray
from onlinear.streams.formats.format import Request
from onlinear.streams.reader import Reader
from onlinear.streams.reading import Reading

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def _remedy() -> str:
    return f"give them with {option('y')}; or, if they are a column of the array, name it with {option('label')}"


class _Labels(Protocol):
    """Labels that are read together with the rows."""

    place: str

    @property
    def n(self) -> int:
        """The number of labels."""

    @property
    def left(self) -> int:
        """The number of labels not read yet."""

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n labels."""

    def finish(self) -> None:
        """Raise if anything follows the last label."""


class _GivenLabels:
    """Labels in an array."""

    place = "y"

    def __init__(self, y: Any) -> None:
        # The caller, who knows the number of rows, checks the length.
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
        """Nothing follows the last label of an array."""


class _FileRows(NamedTuple):
    """Rows as they are in a file."""

    name: str
    first: int
    X: Any
    y: NDArray[Any]


class ArrayReader(Reader):
    """Reads files that hold a matrix each, block by block; a thread reads ahead.

    The labels are in a column (the reading's `label`, negative from the end), in the file itself, or separate.
    """

    width: int | None = None

    def __init__(
        self, files: list[str], request: Request, matrix: Callable[[str], AbstractContextManager[FileMatrix]]
    ) -> None:
        self._files, self._y, self._labelled, self._matrix = files, request.y, request.labelled, matrix
        self._column = _label_column(request.reading)
        if self._y is not None and self._column is not None:
            raise ParameterError(f"label is {self._column} and y is given; give only one of them")
        # All headers are checked before anything is read; those of a pipe, when they arrive.
        if not any(isinstance(name, Pipe) for name in files):
            n = 0
            for name in files:
                with matrix(name) as opening:
                    self._check(opening, name)
                    n += opening.n
            with ExitStack() as stack:
                labels = self._labels(stack)
                if labels is not None and labels.n != n:
                    raise DataError(
                        f"{display_name(files[0])}: X has {n} row(s) and {labels.place} has {labels.n} label(s)"
                    )

    def chunks(self) -> Iterator[Chunk]:
        """Yield the files' rows in blocks."""
        return map_ahead(self._blocks(), self._decode)

    def _blocks(self) -> Iterator[_FileRows]:
        """Yield blocks as they are in the files."""
        with ExitStack() as stack:
            given = self._labels(stack)
            for name in self._files:
                with self._matrix(name) as matrix:
                    self._check(matrix, name)
                    own = None if given is not None or self._column is not None else matrix.labels
                    yield from self._blocks_of(matrix, given if own is None else own, display_name(name))
                    if own is not None:
                        own.finish()
            if given is not None:
                if given.left:
                    raise DataError(f"{given.place}: there are {given.left} more label(s) than rows")
                given.finish()

    def _blocks_of(self, matrix: FileMatrix, labels: _Labels | None, name: str) -> Iterator[_FileRows]:
        first = 0
        while matrix.left:
            X = matrix.take()
            n = int(X.shape[0])
            if labels is not None and labels.left < n:
                row = row_place(name, first + labels.left)
                raise DataError(f"{row}: the label is missing; {labels.place} has only {labels.n} label(s)")
            yield _FileRows(name, first, X, np.zeros(n) if labels is None else labels.take(n))
            first += n
        matrix.finish()

    def _check(self, matrix: FileMatrix, name: str) -> None:
        """Raise if a matrix does not match the others, or its labels."""
        place, width = display_name(name), matrix.width
        if self._column is not None:
            if not -width <= self._column < width:
                raise DataError(f"{place}: there is no column {self._column} for the labels; there are {width} columns")
            if width == 1:
                raise DataError(f"{place}: there is no column besides the labels")
            width -= 1
        elif self._y is None and matrix.labels is None and self._labelled:
            raise DataError(f"{place}: there are no labels; {_remedy()}")
        elif self._y is None and matrix.labels is not None and matrix.labels.n != matrix.n:
            raise DataError(f"{place}: X has {matrix.n} row(s) and y has {matrix.labels.n} label(s)")
        if self.width is None:
            self.width = width
        elif self.width != width:
            raise DataError(f"{place}: {width} columns; {display_name(self._files[0])} has {self.width}")

    def _labels(self, stack: ExitStack) -> _Labels | None:
        """Open the separate labels."""
        if self._y is None:
            return None
        if isinstance(self._y, str | os.PathLike):
            path = os.fspath(self._y)
            return NpyArray(stack.enter_context(open_file(path)), display_name(path)).labels()
        return _GivenLabels(self._y)

    def _decode(self, rows: _FileRows) -> Chunk:
        X, y = rows.X, rows.y
        if self._column is not None:
            if hasattr(X, "indptr"):
                raise DataError(f"{rows.name}: a sparse matrix cannot have a column of labels; {_remedy()}")
            column = self._column % X.shape[1]
            y = X[:, column]
            rest = np.empty((X.shape[0], X.shape[1] - 1), dtype=X.dtype if X.dtype in _FLOATS else np.float64)
            rest[:, :column], rest[:, column:] = X[:, :column], X[:, column + 1 :]
            X, y = rest, np.ascontiguousarray(y)
        elif not hasattr(X, "indptr") and X.dtype not in _FLOATS:
            X = X.astype(np.float64)
        return without_missing_labels(numbered_chunk(as_matrix(X), y, rows.name, rows.first))


def _label_column(reading: Reading) -> int | None:
    """Return the number of the column of labels."""
    for name in ("features", "drop", "text"):
        if getattr(reading, name):  # a model's, which has learned from a table
            raise ParameterError(f"{option(name)} applies to tables; the columns of an array have no names")
    if reading.label is None:
        return None
    try:
        return int(reading.label)
    except ValueError:
        raise ParameterError(
            f"{option('label')} is {reading.label!r}; the columns of an array are numbered from 0"
        ) from None
