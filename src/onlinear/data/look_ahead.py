"""Finding the labels of a stream, before anything is learned from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onlinear.data.chunk import Chunk
from onlinear.data.labels import declare_labels, distinct, second_label
from onlinear.data.one_label import plain, show
from onlinear.errors import DataError

LOOK = 4096
"""The number of examples whose labels become the classes."""
_MOST_ENTRIES = 1 << 23
"""How many numbers are held back, at most (64 MB): wide examples end the look earlier."""


def look_ahead(chunks: Iterator[Chunk]) -> tuple[list[Any], Iterator[Chunk]]:
    """Return the labels of the first examples, and all the chunks again.

    These are the first `LOOK` examples, however they are divided into chunks. If they all have one label, reading goes
    on until a second one appears. An error in the data comes in its place, after the chunks before it.
    """
    held: list[Chunk] = []
    labels: list[Any] = []
    n = entries = 0
    while entries <= _MOST_ENTRIES:
        try:
            chunk = next(chunks)
        except StopIteration:
            return labels, _give_back(held, iter(()))
        except DataError as error:
            return labels, _give_back(held, _fail(error))
        sizes = chunk.matrix.row_sizes()
        within = np.searchsorted(entries + np.cumsum(sizes), _MOST_ENTRIES, side="right")
        look = max(min(int(within), LOOK - n), int(n == 0))
        labels = distinct(chunk.y[: max(look, 0)], labels, chunk.place)
        n, entries = n + chunk.n, entries + int(sizes.sum())
        if n >= LOOK or entries > _MOST_ENTRIES:
            if len(labels) == 1:
                labels = second_label(chunk.y, labels[0], chunk.place)
            if len(labels) > 1:
                return labels, _give_back([*held, chunk], chunks)
        held.append(chunk.kept())
    raise DataError(
        f"only one label ({show(plain(labels[0]))}) in the first {entries >> 17} MB, up to"
        f" {chunk.place(chunk.n - 1)}; {declare_labels()}"
    )


def _fail(error: DataError) -> Iterator[Chunk]:
    """Raise an error when the first chunk is asked for."""
    yield from ()
    raise error


def _give_back(held: list[Chunk], rest: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield what was held back, which is not kept any longer, and then the rest."""
    held.reverse()
    while held:
        yield held.pop()
    yield from rest
