"""A digest (SHA-256) of examples: the same for the same rows and labels, in any layout, number type or blocks."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.rows import Block, SparseBlock


class Digest:
    """Takes in blocks in their order; the SHA-256 is over canonical rows.

    A row is its label (±1, or the number of its class), how many entries are not 0, their indices in order, and
    their values as float64. The three are hashed side by side, so blocks do not show.
    """

    def __init__(self) -> None:
        self._parts = [hashlib.sha256() for _ in range(3)]

    def add(self, block: Block, y: NDArray[np.integer[Any]]) -> None:
        """Take in a block's rows, as they are without intercept and before any scaling."""
        if isinstance(block, SparseBlock):
            first, end = int(block.indptr[0]), int(block.indptr[-1])
            values = block.values[first:end].astype("<f8")
            there = values != 0.0
            ends = np.concatenate([[0], np.cumsum(there)])
            counts = np.diff(ends[block.indptr - first])
            indices, values = block.indices[first:end][there], values[there]
        else:
            there = block.values != 0.0
            counts = there.sum(axis=1)
            indices, values = np.nonzero(there)[1], block.values[there].astype("<f8")
        heads = np.empty((y.size, 2), dtype="<i8")
        heads[:, 0], heads[:, 1] = y, counts
        for part, array in zip(self._parts, (heads, indices.astype("<i8"), values), strict=True):
            part.update(np.ascontiguousarray(array).data)

    def hexdigest(self) -> str:
        """Return the digest of everything added so far."""
        return hashlib.sha256(b"".join(part.digest() for part in self._parts)).hexdigest()
