"""Writing converted files: Arrow or Parquet files that are read at memory speed."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.atomic import open_replacement
from onlinear.data.checksum import RowSums, dense_sums, sparse_sums
from onlinear.data.chunk import Chunk
from onlinear.data.labels import Classes, ManyClasses, list_labels, named_classes
from onlinear.engine.rows import SparseBlock
from onlinear.errors import DataError, ParameterError
from onlinear.streams.formats.finite import finite_block
from onlinear.streams.formats.packed.files import WRITERS, BatchWriter
from onlinear.streams.formats.packed.form import End, batch_sum, schema
from onlinear.streams.stream import Stream

BATCH_BYTES = 1 << 23
"""The largest size of a batch, unless it is a single example: it fits in the processor's cache."""
BATCH_ROWS = 1 << 16
_LARGEST_INDEX = (1 << 31) - 1
_LABEL_BYTES = 8


def pack(stream: Stream, path: str | os.PathLike[str], *, progress: Callable[[int], None] | None = None) -> int:
    """Convert a stream to a file that is fast to read, and return the number of its examples.

    The file appears under its name only when it is complete. Reading it gives exactly the same examples,
    in the same order, with their labels, the names of their features and the classes.

    Parameters
    ----------
    stream : Stream
        What to convert; it is read once.
    path : path
        The file to write; ``.arrow`` is faster to read, ``.parquet`` is smaller.
    progress : callable
        Called from time to time with the number of examples written so far.
    """
    ending = Path(os.path.realpath(path)).suffix.lower()
    if ending not in WRITERS:
        raise ParameterError(f"{os.fspath(path)}: the name of a converted file must end with .arrow or .parquet")
    with open_replacement(path) as file:
        return _write(stream, file, WRITERS[ending], progress)


class _RowsToPack(NamedTuple):
    """Examples to write; `indptr` and `indices` are None where they are dense."""

    codes: NDArray[Any]
    """The labels: −1 and +1, or the numbers of more than two classes."""
    values: NDArray[Any]
    indices: NDArray[np.int32] | None
    indptr: NDArray[np.int64] | None

    @property
    def n(self) -> int:
        return self.codes.size

    def ends(self) -> NDArray[np.int64]:
        """Return the size in bytes of the rows up to and including each one."""
        rows: NDArray[np.int64] = np.arange(1, self.n + 1)
        if self.indptr is None:
            return rows * (int(self.values.shape[1]) * int(self.values.itemsize) + _LABEL_BYTES)
        return self.indptr[1:] * (int(self.values.itemsize) + 4) + rows * (_LABEL_BYTES + 4)

    def cut(self, begin: int, end: int) -> _RowsToPack:
        """Return some of the rows."""
        if self.indptr is None or self.indices is None:
            return _RowsToPack(self.codes[begin:end], self.values[begin:end], None, None)
        first, last = int(self.indptr[begin]), int(self.indptr[end])
        indptr = self.indptr[begin : end + 1] - first
        return _RowsToPack(self.codes[begin:end], self.values[first:last], self.indices[first:last], indptr)

    def copied(self) -> _RowsToPack:
        """Return a copy of the rows: their memory may be reused for the next ones."""
        if self.indices is None or self.indptr is None:
            return _RowsToPack(self.codes.copy(), self.values.copy(), None, None)
        return _RowsToPack(self.codes.copy(), self.values.copy(), self.indices.copy(), self.indptr.copy())


class _BatchCutter:
    """Cuts the examples of a stream into batches that do not depend on its blocks."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.width = 1
        self.dtype = np.dtype(np.float64)
        self.classes: Classes | ManyClasses = ManyClasses(np.empty(0))
        self.sparse: bool | None = None

    def __iter__(self) -> Iterator[_RowsToPack]:
        waiting: list[_RowsToPack] = []
        size = n = 0
        for rows in self._all_rows():
            waiting.append(rows)
            size, n = size + int(waiting[-1].ends()[-1]), n + waiting[-1].n
            if size > BATCH_BYTES or n > BATCH_ROWS:
                rest = yield from _cut_full(_join(waiting))
                waiting, size, n = [rest], int(rest.ends()[-1]), rest.n
            waiting[-1] = waiting[-1].copied()
        if waiting:
            yield _join(waiting)

    def _all_rows(self) -> Iterator[_RowsToPack]:
        for chunk in self.stream.chunks():
            for span in chunk.spans():
                yield self._rows(chunk, span)

    def _rows(self, chunk: Chunk, span: slice) -> _RowsToPack:
        block = finite_block(chunk, span)
        sparse = isinstance(block, SparseBlock)
        if self.sparse is None:
            self.sparse, self.dtype, self.width = sparse, block.values.dtype, chunk.width
            self.classes = named_classes(_classes(self.stream))
        if sparse != self.sparse or (not sparse and self.width != chunk.width):
            raise DataError(
                f"{chunk.place(span.start)}: a converted file is sparse, or dense with a fixed width; these differ"
            )
        self.width = max(self.width, chunk.width)
        codes = chunk.codes(self.classes, span)
        if not isinstance(block, SparseBlock):
            return _RowsToPack(codes, self._cast(chunk, span, block.values), None, None)
        most = int(block.indices.max(initial=0))
        if most > _LARGEST_INDEX:
            raise DataError(f"{chunk.place(span.start)}: index {most}; at most 2^31 features can be converted")
        values = self._cast(chunk, span, block.values)
        return _RowsToPack(codes, values, block.indices.astype(np.int32, copy=False), block.indptr)

    def _cast(self, chunk: Chunk, span: slice, values: NDArray[Any]) -> NDArray[Any]:
        if np.can_cast(values.dtype, self.dtype):
            return values.astype(self.dtype, copy=False)
        raise DataError(
            f"{chunk.place(span.start)}: {values.dtype} after {self.dtype}; give all blocks as {values.dtype}"
        )


def _cut_full(rows: _RowsToPack) -> Generator[_RowsToPack, None, _RowsToPack]:
    """Yield batches of the largest size, while there is more than one; return the rest."""
    ends = rows.ends()
    begin, before = 0, 0
    while rows.n - begin > BATCH_ROWS or ends[-1] - before > BATCH_BYTES:
        end = int(np.searchsorted(ends, before + BATCH_BYTES, side="right"))
        end = max(begin + 1, min(end, begin + BATCH_ROWS))
        if end == rows.n:  # a single example that is larger than a batch
            break
        yield rows.cut(begin, end)
        begin, before = end, int(ends[end - 1])
    return rows.cut(begin, rows.n)


def _join(parts: list[_RowsToPack]) -> _RowsToPack:
    """Return all rows as one."""
    if len(parts) == 1:
        return parts[0]
    codes = np.concatenate([part.codes for part in parts])
    values = np.concatenate([part.values for part in parts])
    indices = [part.indices for part in parts if part.indices is not None]
    pointers = [part.indptr for part in parts if part.indptr is not None]
    if not pointers:
        return _RowsToPack(codes, values, None, None)
    counts = np.concatenate([np.diff(part) for part in pointers])
    return _RowsToPack(codes, values, np.concatenate(indices), np.concatenate([[0], np.cumsum(counts)]))


def _write(stream: Stream, file: BinaryIO, form: type[BatchWriter], progress: Callable[[int], None] | None) -> int:
    writer: BatchWriter | None = None
    batches = _BatchCutter(stream)
    sums: list[str] = []
    n = 0

    def end() -> End:
        names = stream.names
        widths = [batches.width, len(names or ())]
        if batches.sparse:
            widths.append(stream.n_features or 0)
        return End(batches.classes.labels, stream.reading.as_dict(), names, max(widths), n, sums)

    try:
        for rows in batches:
            if writer is None:
                types = schema(end(), bool(batches.sparse), batches.dtype, batches.width)
                writer = form(file, types)
            row_sums = _row_sums(rows)
            writer.write(_batch(rows, row_sums, batches.classes.decode(rows.codes), types))
            sums.append(batch_sum(row_sums, rows.codes))
            n += rows.n
            if progress is not None:
                progress(n)
        if writer is None:
            raise DataError("there are no examples to convert")
        writer.finish(end())
    finally:
        if writer is not None:
            writer.close()
    return n


def _batch(rows: _RowsToPack, sums: RowSums, y: NDArray[Any], types: Any) -> Any:
    """Return rows and their labels as an Arrow batch."""
    import pyarrow as pa

    features = types.field("features").type
    labels = pa.array(y, type=types.field("label").type)
    if rows.indices is None or rows.indptr is None:
        flat = pa.array(np.ascontiguousarray(rows.values).reshape(-1))
        lists = pa.FixedSizeListArray.from_arrays(flat, type=features)
    else:
        pair = features.value_type
        pairs = pa.StructArray.from_arrays([rows.indices, rows.values], fields=[pair.field(0), pair.field(1)])
        lists = pa.ListArray.from_arrays(rows.indptr.astype(np.int32), pairs, type=features)
    return pa.RecordBatch.from_arrays([labels, lists, *map(pa.array, sums)], schema=types)


def _row_sums(rows: _RowsToPack) -> RowSums:
    if rows.indices is None or rows.indptr is None:
        return dense_sums(np.ascontiguousarray(rows.values))
    return sparse_sums(rows.values, rows.indices, rows.indptr)[0]


def _classes(stream: Stream) -> NDArray[Any]:
    """Return the labels in a type that a converted file supports."""
    classes = stream.classes
    if (
        classes is None
        or classes.dtype.kind not in "iufbU"
        or (classes.dtype.kind == "f" and classes.dtype.itemsize > 8)
    ):
        kind = "missing" if classes is None else str(classes.dtype)
        raise DataError(f"the labels are {kind}; those of a converted file must be numbers, booleans or strings")
    if classes.dtype.kind in "iu":
        if max(map(int, classes)) >= 1 << 63:
            raise DataError(f"label {max(map(int, classes))}; labels of a converted file must be below 2^63")
        return classes.astype(np.int64)
    try:
        "".join(map(str, classes)).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"the labels {list_labels(classes)} are not valid Unicode") from error
    return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
