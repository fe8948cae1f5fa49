"""A chunk of examples: a matrix, its labels, and where each example came from.

Readers yield chunks, arrays and blocks become chunks, and learners are fed with chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import RowSums, row_sums
from onlinear.data.labels import Classes, ManyClasses
from onlinear.data.matrices import EntryError, Matrix, Rows
from onlinear.engine.rows import Block
from onlinear.errors import DataError


class Origin(Protocol):
    """Knows the examples of a chunk as they stood in their file."""

    def place(self, row: int) -> str:
        """Return where an example was read, such as ``data.svm:41``."""

    def written(self, row: int) -> bytes:
        """Return an example as it was written, without the end of its line."""


class Fault(NamedTuple):
    """A malformed example: it is raised as an error, or skipped."""

    before: int
    """How many examples of its chunk stand before it."""
    place: str
    reason: str
    written: bytes


def name_column(column: int) -> str:
    """Return what a column is called where nothing else is known about it."""
    return f"column {column}"


@dataclass(frozen=True, eq=False)
class Chunk:
    """Examples in their order.

    Attributes
    ----------
    matrix : Matrix
        The features, with a row for each example.
    y : array
        The labels as they stand in the data.
    origin : Origin
        Where the examples came from.
    rows : int array, or None
        Which of the origin's rows these are; None for all, in order.
    sums : RowSums, or None
        The row sums of the checksum, where a reader has already computed them.
    signs : int8 array, or None
        The codes of the labels, where they have been computed: −1 and +1 for the two classes.
    faults : iterable of Fault
        The malformed examples among these, in order; it may be iterated once.
    feature : callable
        What a column is called where it was read.
    lasting : bool
        Whether the memory stays as it is when the next chunk is made: whoever makes the chunks may reuse it.
    """

    matrix: Matrix
    y: NDArray[Any]
    origin: Origin
    rows: NDArray[np.intp] | None = None
    sums: RowSums | None = None
    signs: NDArray[np.int8] | None = None
    faults: Iterable[Fault] = ()
    feature: Callable[[int], str] = name_column
    lasting: bool = False

    @property
    def X(self) -> Any:  # noqa: N802  # a matrix
        """The examples as an array or a SciPy CSR matrix."""
        return self.matrix.native()

    @property
    def n(self) -> int:
        """The number of examples."""
        return self.matrix.n

    @property
    def width(self) -> int:
        """The number of features."""
        return self.matrix.width

    @property
    def nbytes(self) -> int:
        """How much memory the examples take."""
        return self.matrix.nbytes + self.y.nbytes

    def place(self, i: int) -> str:
        """Return where example i was read."""
        return self.origin.place(self._row(i))

    def written(self, i: int) -> bytes:
        """Return example i as it was written."""
        return self.origin.written(self._row(i))

    def take(self, rows: Rows) -> Chunk:
        """Return some of the examples, without the faults among them."""
        numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        return replace(
            self,
            matrix=self.matrix.take(rows),
            y=self.y[rows],
            rows=numbers if self.rows is None else self.rows[numbers],
            sums=None if self.sums is None else self.sums.part(rows),
            signs=None if self.signs is None else self.signs[rows],
            faults=(),
        )

    def kept(self) -> Chunk:
        """Return the examples such that they can be held back while others are read."""
        if self.lasting:
            return self
        return replace(self, matrix=self.matrix.copied(), y=self.y.copy(), lasting=True)

    def spans(self, rows: slice | None = None) -> Iterator[slice]:
        """Cut the examples, or a range of them, into blocks."""
        begin, end = (0, self.n) if rows is None else (rows.start, rows.stop)
        step = self.matrix.block_rows
        for first in range(begin, end, step):
            yield slice(first, min(first + step, end))

    def block(self, rows: Rows, bias: int = 0, normalize: bool = False) -> Block:
        """Return some of the examples for a pass."""
        try:
            return self.matrix.block(rows, bias, normalize)
        except EntryError as error:
            place, feature = self.place(error.row), self.feature(error.column)
            raise DataError(f"{place}, {feature}: {error.value!r} is not a number") from error

    def codes(self, classes: Classes | ManyClasses, rows: slice) -> NDArray[Any]:
        """Return the codes of some of the labels."""
        if self.signs is not None:
            return self.signs[rows]
        return classes.encode(self.y[rows], lambda i: self.place(rows.start + i))

    def row_sums(self, rows: slice, block: Block | None = None) -> RowSums:
        """Return the row sums of some of the examples, for the checksum; from their block, where there is one."""
        return row_sums(block or self.block(rows)) if self.sums is None else self.sums.part(rows)

    def _row(self, i: int) -> int:
        return i if self.rows is None else int(self.rows[i])
