"""Memory that is used again: fresh pages cost as much as reading into them."""

from __future__ import annotations

import sys

_MOST = 8
"""So many are kept; a reader has a few under way at a time."""
_OURS = 3
"""References to a buffer that nobody else looks at: the list's, the loop's, and that of the question."""


class Buffers:
    """Gives out memory, and takes back what nobody refers to any more, nor to any view of it."""

    def __init__(self) -> None:
        self._kept: list[bytearray] = []

    def take(self, size: int) -> bytearray:
        """Return a buffer of at least this size, with anything in it."""
        for buffer in self._kept:
            if len(buffer) >= size and sys.getrefcount(buffer) <= _OURS:
                return buffer
        buffer = bytearray(size)
        if len(self._kept) < _MOST:
            self._kept.append(buffer)
        return buffer
