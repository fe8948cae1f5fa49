"""Examples to be written to a file: their values must be finite."""

from __future__ import annotations

import numpy as np

from onlinear.data.chunk import Chunk
from onlinear.data.one_label import plain
from onlinear.engine.rows import Block, SparseBlock
from onlinear.errors import DataError


def finite_block(chunk: Chunk, span: slice) -> Block:
    """Return some examples; the entries of a sparse block start at 0. Raise for a value that is not finite."""
    block = chunk.block(span)
    if isinstance(block, SparseBlock):
        first, end = int(block.indptr[0]), int(block.indptr[-1])
        indptr = block.indptr.astype(np.int64) - first
        block = block._replace(values=block.values[first:end], indices=block.indices[first:end], indptr=indptr)
    bad = ~np.isfinite(block.values)
    if bad.any():
        k = int(np.flatnonzero(bad.reshape(-1))[0])
        row, column = divmod(k, chunk.width)
        if isinstance(block, SparseBlock):
            row, column = int(np.searchsorted(block.indptr, k, side="right")) - 1, int(block.indices[k])
        value = plain(block.values.reshape(-1)[k])
        raise DataError(f"{chunk.place(span.start + row)}: column {column} is {value}, not a finite number")
    return block
