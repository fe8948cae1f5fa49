"""How the theory reads data: the only place that knows how matrices, streams and blocks give out their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import RowSums
from onlinear.data.labels import distinct
from onlinear.data.matrices import Source, open_source, spans, sums_of
from onlinear.engine.flat import Floats, inverse_norm
from onlinear.engine.rows import Block, SparseBlock
from onlinear.errors import DataError
from onlinear.runs.learner import Learner
from onlinear.runs.online import Pair, open_blocks, read_arrays


class LabelledRows(NamedTuple):
    """Consecutive rows of the data, from row `first` on, with their labels as numbers."""

    first: int
    y: NDArray[Any]
    source: Source
    span: slice

    def block(self, bias: int = 0, *, normalize: bool = False) -> Block:
        """Return the rows as a learner reads them; by default as they are."""
        return self.source.block(self.span, bias, normalize)

    def choose(self, numbers: NDArray[np.intp], bias: int, *, normalize: bool) -> Block:
        """Return some of the rows, by their numbers in the data."""
        return self.source.block(numbers - self.first + self.span.start, bias, normalize)

    def row_sums(self) -> RowSums:
        """Return what the checksum of the examples needs of each row."""
        return sums_of(self.source, self.span, self.block())

    def refuse(self, learner: Learner, i: int) -> DataError:
        """Return the error for the i-th of these rows, which the learner cannot read."""
        return learner.refuse(self.source, self.span.start + i, self.first + i)


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
        The first two different labels in the data, or the only one.
    """

    def __init__(self, X: Any, y: Any) -> None:
        if y is None and isinstance(X, Iterator):
            raise DataError("these blocks can be read only once; give a list, or an object that can be iterated again")
        self._blocks: Iterable[Any] | None = X if y is None else None
        self._pairs = None if y is None else [read_arrays(X, y)]
        self.n = self.width = self.entries = self.most_entries = 0
        self.labels: list[Any] = []
        layouts: set[str] = set()
        for source, labels in self._sources():
            self.labels = distinct(labels, self.labels, self.n)
            if self.n and source.width != self.width and not source.sparse:
                raise DataError(f"a dense block has {source.width} features where {self.width} are known")
            self.n += source.n
            self.entries += source.nbytes // 8
            self.width = max(self.width, source.width)
            self.most_entries = max(self.most_entries, _most_entries(source))
            layouts.add("sparse" if source.sparse else "dense")
        if self.n == 0:
            raise DataError("no examples")
        self.layout = layouts.pop() if len(layouts) == 1 else "mixed"

    def rows(self, encode: Callable[[NDArray[Any], int], NDArray[Any]], passes: int = 1) -> Iterator[LabelledRows]:
        """Yield all rows in order, as one sequence over all passes; labels and the first row's number are encoded."""
        first = 0
        for _ in range(passes):
            for source, labels in self._sources():
                for span in spans(source):
                    row = first + span.start
                    yield LabelledRows(row, encode(labels[span], row), source, span)
                first += source.n

    def _sources(self) -> Iterator[Pair]:
        yield from self._pairs if self._pairs is not None else open_blocks(self._blocks)


def count_rows(X: Any) -> int:
    """Return the number of rows of a matrix."""
    return open_source(X).n


def _most_entries(source: Source) -> int:
    """Return the largest number of entries in a sparse row; 0 for dense rows."""
    if not source.sparse:
        return 0
    blocks = (source.block(span, 0, normalize=False) for span in spans(source))
    return max((int(np.diff(block.indptr).max()) for block in blocks if isinstance(block, SparseBlock)), default=0)


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
