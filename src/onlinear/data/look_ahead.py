"""Finding the two labels of a stream, before anything is learned from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlinear.data.chunk import Chunk
from onlinear.data.labels import distinct, plain, show
from onlinear.errors import DataError

_MOST_BYTES = 1 << 26
"""How much is held back, at most, until both labels have been seen."""


def look_ahead(chunks: Iterator[Chunk]) -> tuple[list[Any], Iterator[Chunk]]:
    """Read until two labels have been seen; return the labels found, and all the chunks again."""
    held: list[Chunk] = []
    labels: list[Any] = []
    size = 0
    for chunk in chunks:
        labels = distinct(chunk.y, labels, chunk.place)
        if len(labels) == 2:
            return labels, _give_back([*held, chunk], chunks)
        # A copy: whoever makes the chunks may reuse their memory.
        held.append(chunk.copied())
        size += chunk.nbytes
        if size > _MOST_BYTES:
            raise DataError(
                f"only one label ({show(plain(labels[0]))}) in the first {size >> 20} MB, up to"
                f" {chunk.place(chunk.n - 1)}; name both with --classes, classes=(negative, positive)"
            )
    return labels, _give_back(held, iter(()))


def _give_back(held: list[Chunk], rest: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield what was held back, which is not kept any longer, and then the rest."""
    held.reverse()
    while held:
        yield held.pop()
    yield from rest
