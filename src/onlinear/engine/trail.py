"""A running checksum of examples: it goes on where it ended, so a stream read in two goes leaves the same trail.

It is not a cryptographic digest (of those none can be put down and taken up again): it tells streams apart that
differ by accident, and it costs less than learning. Entries that are 0 do not count, so dense and
sparse rows leave the same trail.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.draws import mix, unsigned
from onlinear.engine.rows import Block, DenseBlock, address

_MASK = 0xFFFFFFFFFFFFFFFF
_GAMMA = 0x9E3779B97F4A7C15
_FACTOR = 0xD6E8FEB86659FD93
_SIGN = 0x7FFFFFFFFFFFFFFF


class Trail:
    """The checksum so far: 128 bits, written as 32 hexadecimal digits."""

    def __init__(self, so_far: str = "0" * 32) -> None:
        self._words = np.array([int(so_far[:16], 16), int(so_far[16:], 16)], dtype=np.uint64)

    def add(self, block: Block, y: NDArray[np.int8]) -> None:
        """Take in a block's rows, as they are without intercept and before any scaling."""
        from onlinear.engine.compile import dispatcher

        values = block.values.astype(np.float64, copy=False)
        if isinstance(block, DenseBlock):
            n, width = values.shape
            columns, indptr = np.arange(width, dtype=np.int32), np.zeros(n + 1, dtype=np.int32)
        else:
            width, columns, indptr = 0, block.indices, block.indptr
        dispatcher(follow)(values.reshape(-1).view(np.uint64), columns, indptr, width, y, self._words)

    def __str__(self) -> str:
        return "".join(f"{int(word):016x}" for word in self._words)


def follow(
    bits: NDArray[np.uint64],
    columns: NDArray[Any],
    indptr: NDArray[Any],
    width: int,
    y: NDArray[np.int8],
    words: NDArray[np.uint64],
) -> None:
    """Take in rows: their values' bits, and columns that are the same for all rows (`width`) or lie beside them."""
    values, indices = address(bits), address(columns)
    a, b = unsigned(words[0]), unsigned(words[1])
    for i in range(y.size):
        first, end = (i * width, (i + 1) * width) if width else (int(indptr[i]), int(indptr[i + 1]))
        shift = first if width else 0
        # Sums over a row wait for nothing: an entry costs two multiplications and no more.
        plain = unsigned(0)
        turned = unsigned(0)
        for k in range(first, end):
            v = unsigned(values[k])
            if v & unsigned(_SIGN) != unsigned(0):
                entry = v ^ (unsigned(indices[k - shift]) * unsigned(_GAMMA) & unsigned(_MASK))
                entry = (entry ^ (entry >> 32)) * unsigned(_FACTOR) & unsigned(_MASK)
                plain = (plain + entry) & unsigned(_MASK)
                turned = (turned + (entry ^ (entry >> 29))) & unsigned(_MASK)
        a = mix(a ^ plain ^ unsigned(y[i] + 2))
        b = mix((b + turned + a) & unsigned(_MASK))
    words[0], words[1] = a, b
