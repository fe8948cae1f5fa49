"""A sample of the examples of a run, by which they are recognised in any order, however often they were read.

Each example has a hash, and the sample consists of the smallest ones. So two samples of overlapping data have hashes in
common, and their share estimates how far the data overlap. Labels do not count, and equal examples count once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import RowSums
from onlinear.engine.draws import mix, unsigned
from onlinear.engine.flat import address
from onlinear.engine.runner import kernel

SIZE = 512
_FEWEST = 20
"""The number of hashes from which on a share is estimated."""
_LARGEST = 2**64 - 1


class HashSample:
    """The smallest hashes of the examples so far, in order; all of them while there are few."""

    def __init__(self, hashes: NDArray[np.uint64] | None = None) -> None:
        self.hashes = np.empty(0, dtype=np.uint64) if hashes is None else hashes

    def add(self, sums: RowSums) -> None:
        """Take in rows, by their sums."""
        found = np.empty(sums.plain.size, dtype=np.uint64)
        n = kernel(write_small)(sums.plain, sums.turned, np.array(self.limit, dtype=np.uint64)[()], found)
        if n:
            self.hashes = np.unique(np.concatenate([self.hashes, found[:n]]))[:SIZE]

    @property
    def limit(self) -> int:
        """Every example with a hash up to this one is in the sample."""
        return int(self.hashes[-1]) if self.hashes.size == SIZE else _LARGEST

    @property
    def distinct(self) -> float:
        """An estimate of the number of different examples; exact while there are few."""
        full = self.hashes.size == SIZE
        return (SIZE - 1) / (self.limit / 2.0**64) if full else float(self.hashes.size)

    def share_in(self, other: HashSample) -> float | None:
        """Return an estimate of the share of these examples that are also among the others; None if it is unknown.

        It is exact if both samples are complete; otherwise few hashes would prove little.
        """
        limit = min(self.limit, other.limit)
        comparable = self.hashes[self.hashes <= limit]
        known = comparable.size >= (1 if limit == _LARGEST else _FEWEST)
        return float(np.isin(comparable, other.hashes).mean()) if known else None


def write_small(plain: NDArray[np.uint64], turned: NDArray[np.uint64], limit: int, found: NDArray[np.uint64]) -> int:
    """Write the hashes up to a limit of rows with these sums; return their number."""
    first, second, written = address(plain), address(turned), address(found)
    most, n = unsigned(limit), 0
    for i in range(plain.size):
        key = mix(unsigned(first[i]) ^ mix(unsigned(second[i])))
        if key <= most:
            written[n] = key
            n += 1
    return n
