"""Some examples of a stream, and where each was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import RowSums
from onlinear.data.csr import Csr


class Origin(Protocol):
    """Knows the examples of a chunk as they stood in their file."""

    def place(self, row: int) -> str:
        """Return where an example was read, such as ``data.svm:41``."""

    def written(self, row: int) -> bytes:
        """Return an example as it was written, without the end of its line."""


def _column(column: int) -> str:
    """Return what a column is called where nothing else is known of it."""
    return f"column {column}"


@dataclass(frozen=True, eq=False)
class Chunk:
    """Examples in their order: a matrix, their labels, and where they come from.

    `matrix` is an array, or CSR rows, `y` has a label for each row as it stands in the data, and `rows`
    says which of the origin's rows these are (None: all, in order). `sums` are those of the trail, where they have been
    taken already, and `feature` says what a column is called where it was read.
    """

    matrix: Any
    y: NDArray[Any]
    origin: Origin
    rows: NDArray[np.intp] | None = None
    sums: RowSums | None = None
    feature: Callable[[int], str] = _column

    @property
    def X(self) -> Any:  # noqa: N802  # a matrix
        """The examples as an array or a SciPy CSR matrix."""
        return self.matrix.scipy() if isinstance(self.matrix, Csr) else self.matrix

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.matrix.shape[0])

    @property
    def width(self) -> int:
        """The number of features."""
        return int(self.matrix.shape[1])

    @property
    def nbytes(self) -> int:
        """How much memory the examples take."""
        X = self.matrix
        held = (X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,)
        return int(sum(array.nbytes for array in held) + self.y.nbytes)

    def place(self, i: int) -> str:
        """Return where example i was read."""
        return self.origin.place(self._row(i))

    def written(self, i: int) -> bytes:
        """Return example i as it was written."""
        return self.origin.written(self._row(i))

    def take(self, rows: NDArray[np.intp]) -> Chunk:
        """Return some of the examples, in the order of their numbers here."""
        chosen = rows if self.rows is None else self.rows[rows]
        sums = None if self.sums is None else self.sums.part(rows)
        return Chunk(self.matrix[rows], self.y[rows], self.origin, chosen, sums, self.feature)

    def copied(self) -> Chunk:
        """Return the examples in memory of their own."""
        return replace(self, matrix=self.matrix.copy(), y=self.y.copy())

    def _row(self, i: int) -> int:
        return i if self.rows is None else int(self.rows[i])


class Fault(NamedTuple):
    """Something in a file that no example can be made of."""

    before: int
    """How many examples of its chunk stand before it."""
    place: str
    reason: str
    written: bytes


class Read(NamedTuple):
    """What one piece of a file came to: examples, and the faults among them in their order, to be drawn once."""

    chunk: Chunk
    faults: Iterable[Fault]
