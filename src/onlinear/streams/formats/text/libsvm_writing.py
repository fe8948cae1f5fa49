"""Writing libsvm text, with Arrow's conversion of numbers to text."""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from onlinear.atomic import open_replacement
from onlinear.data.chunk import Chunk
from onlinear.data.one_label import show
from onlinear.engine.rows import Block, SparseBlock
from onlinear.errors import DataError
from onlinear.streams.formats.finite import finite_block
from onlinear.streams.stream import Stream

_EXACT = 1 << 53
"""Integers up to this size are floating-point numbers, as which labels are read."""


def write_libsvm(stream: Stream, path: str | os.PathLike[str], progress: Callable[[int], None] | None = None) -> int:
    """Write a stream as libsvm text, compressed if the name ends with ``.gz``; return the number of examples."""
    n, width, written_width = 0, stream.n_features or 0, 0
    lowest = 0 if stream.reading.zero_based else 1
    with _open(path) as file:
        for chunk in stream.chunks():
            width = max(width, chunk.width)
            for span in chunk.spans():
                labels = _labels(chunk, span)
                values, indices, indptr = _entries(finite_block(chunk, span))
                written_width = max(written_width, 1 + int(indices.max(initial=-1)))
                if n:
                    file.write(b"\n")
                file.write(_lines(labels, values, indices.astype(np.int64) + lowest, indptr))
                n += labels.size
                if progress is not None:
                    progress(n)
        if not n:
            raise DataError("there are no examples to convert")
        if written_width < width:
            # Text is as wide as its largest index. The last line has only smaller ones: that of the last feature fits.
            file.write(f" {width - 1 + lowest}:0".encode())
        file.write(b"\n")
    return n


@contextlib.contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    with open_replacement(path) as file:
        if not os.fspath(path).lower().endswith(".gz"):
            yield file
            return
        # Neither the name nor the time: the same examples give the same file. Higher levels take six times as long, for
        # files of numbers that are a seventh smaller.
        with gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as compressed:
            yield cast("BinaryIO", compressed)


def _labels(chunk: Chunk, span: slice) -> NDArray[Any]:
    """Return labels that are the same when they are read again, as floating-point numbers."""
    y = chunk.y[span]
    if y.dtype.kind == "b":
        return y.astype(np.int64)
    if y.dtype.kind not in "iuf" or (y.dtype.kind == "f" and y.dtype.itemsize > 8):
        raise DataError(
            f"{chunk.place(span.start)}: label {show(y[0])}; the labels of libsvm text are numbers (replace them, or"
            " convert to FILE.arrow or FILE.parquet)"
        )
    if y.dtype.kind == "f":
        return y.astype(np.float64, copy=False)
    large = (y > _EXACT) | (y < -_EXACT)
    if large.any():
        i = int(np.argmax(large))
        raise DataError(f"{chunk.place(span.start + i)}: label {show(y[i])}; those of libsvm text are at most 2^53")
    return y


def _entries(block: Block) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Return values, indices and row pointers; of dense rows, those of the values that are not 0."""
    if isinstance(block, SparseBlock):
        return block.values, block.indices, block.indptr
    rows, columns = np.nonzero(block.values)
    indptr = np.searchsorted(rows, np.arange(block.values.shape[0] + 1))
    return block.values[rows, columns], columns, indptr


def _lines(labels: NDArray[Any], values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[np.int64]) -> Any:
    """Return examples as text, without the newline at its end: numbers have as few digits as identify them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    large = pa.large_string()  # of any length

    def text(numbers: NDArray[Any]) -> Any:
        return pc.cast(pa.array(numbers), large)

    def pair(one: Any, other: Any, between: str) -> Any:
        return pc.binary_join_element_wise(one, other, pa.scalar(between, large))

    def join(ends: NDArray[np.int64], words: Any, between: str) -> Any:
        return pc.binary_join(pa.LargeListArray.from_arrays(pa.array(ends), words), pa.scalar(between, large))

    entries = join(indptr, pair(text(indices), text(values.astype(np.float64, copy=False)), ":"), " ")
    lines = pc.ascii_rtrim_whitespace(pair(text(labels), entries, " "))  # a row may be empty
    return join(np.array([0, labels.size]), lines, "\n")[0].as_buffer()
