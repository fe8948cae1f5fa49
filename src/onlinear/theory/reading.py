"""How the theory reads data: the only place that knows how matrices, streams and blocks give out their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import RowSums
from onlinear.data.chunk import Chunk
from onlinear.data.labels import Classes, ManyClasses, distinct
from onlinear.data.matrices import as_matrix
from onlinear.engine.flat import Floats, inverse_norm
from onlinear.engine.rows import Block, SparseBlock
from onlinear.errors import DataError, OnlinearError
from onlinear.runs.beginning import open_arrays, open_chunks
from onlinear.runs.learner import Learner
from onlinear.streams.stream import Stream


class LabelledRows(NamedTuple):
    """Consecutive rows of the data, from row `first` on, with their labels as numbers."""

    first: int
    y: NDArray[Any]
    chunk: Chunk
    span: slice

    def block(self, bias: int = 0, *, normalize: bool = False) -> Block:
        """Return the rows as a learner reads them; by default as they are."""
        return self.chunk.block(self.span, bias, normalize)

    def choose(self, numbers: NDArray[np.intp], bias: int, *, normalize: bool) -> Block:
        """Return some of the rows, by their numbers in the data."""
        return self.chunk.block(numbers - self.first + self.span.start, bias, normalize)

    def row_sums(self) -> RowSums:
        """Return what the checksum of the examples needs of each row."""
        return self.chunk.row_sums(self.span, self.block())

    def refuse(self, learner: Learner, i: int) -> OnlinearError:
        """Return the error for the i-th of these rows, which the learner cannot read."""
        return learner.refuse(self.chunk, self.span.start + i)


class LabelledData:
    """A matrix and its labels, or blocks of them that can be iterated again and again.

    Attributes
    ----------
    n, width : int
        The number of rows and of columns.
    entries : int
        About how many numbers a pass reads.
    most_entries : int
        The largest number of entries in a sparse row; 0 where all rows are dense.
    layout : {"dense", "sparse", "mixed"}
        How the rows are stored.
    labels : list
        The labels in the data, in the order of their first examples.
    """

    def __init__(self, X: Any, y: Any) -> None:
        if y is None and isinstance(X, Iterator):
            raise DataError("these blocks can be read only once; give a list, or an object that can be iterated again")
        # What is found out about the labels and the features stays out of the caller's stream.
        opened = X.independent() if isinstance(X, Stream) else X
        self._blocks: Iterable[Any] | None = opened if y is None else None
        self._arrays = None if y is None else open_arrays(X, y)
        self.n = self.width = self.entries = self.most_entries = 0
        self.labels: list[Any] = []
        layouts: set[str] = set()
        for chunk in self._chunks():
            self.labels = distinct(chunk.y, self.labels, chunk.place)
            sparse = chunk.matrix.sparse
            if self.n and chunk.width != self.width and not sparse:
                raise DataError(
                    f"{chunk.place(0)} has {chunk.width} features, but {self.width} are known; dense rows need them all"
                )
            self.n += chunk.n
            self.entries += chunk.nbytes // 8
            self.width = max(self.width, chunk.width)
            self.most_entries = max(self.most_entries, _most_entries(chunk))
            layouts.add("sparse" if sparse else "dense")
        if self.n == 0:
            raise DataError("no examples")
        self.layout = layouts.pop() if len(layouts) == 1 else "mixed"

    def rows(self, classes: Classes | ManyClasses, passes: int = 1) -> Iterator[LabelledRows]:
        """Yield all rows in order, as one sequence over all passes."""
        first = 0
        for _ in range(passes):
            for chunk in self._chunks():
                for span in chunk.spans():
                    yield LabelledRows(first + span.start, chunk.codes(classes, span), chunk, span)
                first += chunk.n

    def _chunks(self) -> Iterator[Chunk]:
        yield from open_chunks(self._blocks) if self._arrays is None else [self._arrays]


def count_rows(X: Any) -> int:
    """Return the number of rows of a matrix."""
    return as_matrix(X).n


def _most_entries(chunk: Chunk) -> int:
    """Return the largest number of entries in a sparse row; 0 for dense rows."""
    if not chunk.matrix.sparse:
        return 0
    return max((int(row_sizes(block).max()) for block in map(chunk.block, chunk.spans())), default=0)


def row_sizes(block: Block) -> NDArray[Any]:
    """Return how many numbers each row holds: of a sparse one all that are stored, of a dense one all but zeros."""
    sizes: NDArray[Any]
    sizes = np.diff(block.indptr) if isinstance(block, SparseBlock) else np.count_nonzero(block.values, axis=1)
    return sizes


def as_csr(block: Block, width: int) -> Any:
    """Return a block as a CSR matrix of float64, with the constant 1 of an intercept in column 0."""
    import scipy.sparse

    rows: Any
    if isinstance(block, SparseBlock):
        shape = (block.indptr.size - 1, width)
        rows = scipy.sparse.csr_array((block.values, block.indices, block.indptr), shape=shape).astype(np.float64)
        rows.eliminate_zeros()
    else:
        rows = scipy.sparse.csr_array(block.values.astype(np.float64))
    if block.normalize:
        rows = scipy.sparse.diags_array(_inverse_norms(rows)) @ rows
    if block.bias:
        ones: Any = scipy.sparse.csr_array(np.ones((rows.shape[0], 1)))
        rows = scipy.sparse.hstack([ones, rows])
    return scipy.sparse.csr_array(rows)


def _inverse_norms(rows: Any) -> Floats:
    return np.array([inverse_norm(rows.data, a, b - a) for a, b in pairwise(rows.indptr.tolist())])
