"""Shuffling: examples are taken in windows, and each window is put in a random order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.matrices import stack
from onlinear.engine.draws import GAMMA, mix
from onlinear.errors import DataError


def shuffled(chunks: Iterable[Chunk], window: int, seed: int, passes: int) -> Iterator[Chunk]:
    """Yield the examples shuffled within windows of this size.

    The order depends only on (seed, number of the pass, number of the example), not on the chunks.
    """
    held: list[Chunk] = []
    row, space = 0, window
    for chunk in chunks:
        begin = 0
        while begin < chunk.n:
            end = min(chunk.n, begin + space)
            held.append(chunk.kept() if end - begin == chunk.n else chunk.take(np.arange(begin, end)))
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
    stream = _next(_next(seed) + passes * GAMMA)
    z: Any = np.arange(row, row + n, dtype=np.uint64) * np.uint64(GAMMA) + np.uint64((stream + GAMMA) % 2**64)
    return np.asarray(mix(z))


def _next(z: int) -> int:
    """Return the output of splitmix64 at a state."""
    return mix((z + GAMMA) % 2**64)


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
    kinds = {"sparse" if chunk.matrix.sparse else chunk.width for chunk in chunks}
    if len(kinds) > 1:
        raise DataError(
            f"from {chunks[0].place(0)} on, the blocks of one window are both sparse and dense, or differ in width"
        )
    ends = list(accumulate(chunk.n for chunk in chunks))
    labels = np.concatenate([chunk.y for chunk in chunks])
    return Chunk(stack([chunk.matrix for chunk in chunks]), labels, _Several(chunks, ends), feature=chunks[0].feature)
