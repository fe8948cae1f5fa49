"""Another order: examples are taken in windows, and drawn from each in an order of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.errors import DataError

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def shuffled(chunks: Iterable[Chunk], window: int, seed: int, passes: int) -> Iterator[Chunk]:
    """Yield the examples in another order: each window of so many is put in an order drawn for it.

    The order is a function of (seed, number of the pass, number of the example) alone: blocks do not show in it.
    """
    held: list[Chunk] = []
    row, space = 0, window
    for chunk in chunks:
        begin = 0
        while begin < chunk.n:
            end = min(chunk.n, begin + space)
            # A copy: whoever makes the blocks may reuse their memory.
            held.append(chunk.copied() if end - begin == chunk.n else chunk.take(np.arange(begin, end)))
            space -= end - begin
            begin = end
            if space == 0:
                yield _drawn(held, row, seed, passes)
                row, space = row + window, window
                held = []
    if held:
        yield _drawn(held, row, seed, passes)


def _drawn(held: list[Chunk], row: int, seed: int, passes: int) -> Chunk:
    whole = _joined(held)
    return whole.take(np.argsort(_keys(seed, passes, row, whole.n), kind="stable"))


def _keys(seed: int, passes: int, row: int, n: int) -> NDArray[np.uint64]:
    """Return a draw for each of n examples from `row` on (splitmix64)."""
    with np.errstate(over="ignore"):
        numbers = np.arange(row, row + n, dtype=np.uint64)
        return _mixed(_mixed(_mixed(_words(seed)) + _words(passes) * _GAMMA) + numbers * _GAMMA)


def _words(n: int) -> NDArray[np.uint64]:
    return np.array([n % 2**64], dtype=np.uint64)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = z + _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX[0]
    z = (z ^ (z >> np.uint64(27))) * _MIX[1]
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


@dataclass(frozen=True)
class _Several:
    """Where the rows of several chunks come from, one after another."""

    chunks: list[Chunk]
    ends: list[int]

    def place(self, row: int) -> str:
        chunk, i = self._find(row)
        return chunk.place(i)

    def written(self, row: int) -> bytes:
        chunk, i = self._find(row)
        return chunk.written(i)

    def _find(self, row: int) -> tuple[Chunk, int]:
        k = int(np.searchsorted(self.ends, row, side="right"))
        return self.chunks[k], row - (self.ends[k - 1] if k else 0)


def _joined(chunks: list[Chunk]) -> Chunk:
    """Return chunks as one."""
    if len(chunks) == 1:
        return chunks[0]
    X: Any
    kinds = {"sparse" if hasattr(chunk.matrix, "indptr") else chunk.width for chunk in chunks}
    if len(kinds) > 1:
        raise DataError(f"{chunks[0].place(0)} and on: blocks of one window are sparse and dense, or of several widths")
    if "sparse" in kinds:
        import scipy.sparse

        width = max(chunk.width for chunk in chunks)
        X = scipy.sparse.vstack([_as_wide(chunk.matrix, width) for chunk in chunks], format="csr")
    else:
        X = np.concatenate([chunk.matrix for chunk in chunks])
    ends = list(accumulate(chunk.n for chunk in chunks))
    return Chunk(X, np.concatenate([chunk.y for chunk in chunks]), _Several(chunks, ends))


def _as_wide(X: Any, width: int) -> Any:
    import scipy.sparse

    return scipy.sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
