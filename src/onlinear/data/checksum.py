"""A running checksum of examples. It can be continued, so a stream read in two parts has the same checksum.

It is not a cryptographic digest, none of which can be saved and resumed: it detects accidental differences between
streams, and costs less than learning. Zeros do not count, so dense and sparse rows have the same checksum. Each row is
reduced to two sums that do not depend on the order of its entries; they depend on that row only, and may be computed
ahead in another thread. Then the rows are chained, one after another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.draws import GAMMA, mix, unsigned
from onlinear.engine.flat import address
from onlinear.engine.rows import Block, DenseBlock
from onlinear.engine.runner import kernel

_MASK = 0xFFFFFFFFFFFFFFFF
_FACTOR = 0xD6E8FEB86659FD93
_SIGN = 0x7FFFFFFFFFFFFFFF


class RowSums(NamedTuple):
    """Two sums over the entries of each row."""

    plain: NDArray[np.uint64]
    turned: NDArray[np.uint64]

    def part(self, rows: Any) -> RowSums:
        """Return the sums of some of the rows."""
        return RowSums(self.plain[rows], self.turned[rows])


class Checksum:
    """The checksum so far: 128 bits, written as 32 hexadecimal digits."""

    def __init__(self, so_far: str = "0" * 32) -> None:
        self._words = np.array([int(so_far[:16], 16), int(so_far[16:], 16)], dtype=np.uint64)

    def add(self, sums: RowSums, y: NDArray[np.int8]) -> None:
        """Take in rows, by their sums and their labels ±1."""
        kernel(chain)(sums.plain, sums.turned, y, self._words)

    def __str__(self) -> str:
        return "".join(f"{int(word):016x}" for word in self._words)


def row_sums(block: Block) -> RowSums:
    """Return the sums of a block's rows, as they are without intercept and before any scaling."""
    if isinstance(block, DenseBlock):
        return dense_sums(block.values)
    return sparse_sums(block.values, block.indices, block.indptr)[0]


def dense_sums(values: NDArray[Any]) -> RowSums:
    """Return the sums of the rows of a matrix."""
    n, width = values.shape
    sums, _ = _summed(values, np.arange(width, dtype=np.int32), np.zeros(n + 1, dtype=np.int32), width)
    return sums


def sparse_sums(values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]) -> tuple[RowSums, int]:
    """Return the sums of CSR rows, and the first row whose indices do not ascend (otherwise how many there are)."""
    return _summed(values, indices, indptr, 0)


def _summed(values: NDArray[Any], columns: NDArray[Any], indptr: NDArray[Any], width: int) -> tuple[RowSums, int]:
    bits = values.astype(np.float64, copy=False).reshape(-1).view(np.uint64)
    sums = RowSums(np.empty(indptr.size - 1, dtype=np.uint64), np.empty(indptr.size - 1, dtype=np.uint64))
    return sums, int(kernel(add_up)(bits, columns, indptr, width, sums.plain, sums.turned))


def add_up(
    bits: NDArray[np.uint64],
    columns: NDArray[Any],
    indptr: NDArray[Any],
    width: int,
    plain: NDArray[np.uint64],
    turned: NDArray[np.uint64],
) -> int:
    """Sum up rows: their values' bits, and columns that are the same for all rows (`width`) or lie beside them.

    Return the first row in which the columns do not ascend.
    """
    values, indices = address(bits), address(columns)
    sorted_rows = plain.size
    for i in range(plain.size):
        first, end = (i * width, (i + 1) * width) if width else (int(indptr[i]), int(indptr[i + 1]))
        shift = first if width else 0
        a = unsigned(0)
        b = unsigned(0)
        falls = 0
        for k in range(first, end):
            v = unsigned(values[k])
            entry = v ^ (unsigned(indices[k - shift]) * unsigned(GAMMA) & unsigned(_MASK))
            entry = (entry ^ (entry >> 32)) * unsigned(_FACTOR) & unsigned(_MASK)
            if v & unsigned(_SIGN) == unsigned(0):
                entry = unsigned(0)
            a = (a + entry) & unsigned(_MASK)
            b = (b + (entry ^ (entry >> 29))) & unsigned(_MASK)
        for k in range(first + 1, end):
            falls += indices[k - shift] <= indices[k - shift - 1]
        plain[i], turned[i] = a, b
        if falls and i < sorted_rows:
            sorted_rows = i
    return sorted_rows


def chain(
    plain: NDArray[np.uint64], turned: NDArray[np.uint64], y: NDArray[np.int8], words: NDArray[np.uint64]
) -> None:
    """Take in rows, one after another."""
    a, b = unsigned(words[0]), unsigned(words[1])
    for i in range(y.size):
        a = mix(a ^ unsigned(plain[i]) ^ unsigned(y[i] + 2))
        b = mix((b + unsigned(turned[i]) + a) & unsigned(_MASK))
    words[0], words[1] = a, b
