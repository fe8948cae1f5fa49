"""Words of text: runs of letters, digits and underscores, in lower case; a whole column at a time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONGER = (0x80, 0x800, 0x10000)
"""From each of these characters on, UTF-8 needs one more byte."""


@cache
def _of_words(characters: int) -> NDArray[np.bool_]:
    """Tell for each of the first characters whether it is a letter, a digit or an underscore."""
    return np.array([chr(i).isalnum() or i == ord("_") for i in range(characters)])


def words(texts: Any) -> tuple[NDArray[np.intp], Any]:
    """Return all words of an Arrow array of strings without nulls, in order, and the row of each."""
    import pyarrow as pa
    from pyarrow import compute as pc

    lower = pc.utf8_lower(texts)
    data = lower.buffers()[2]
    if not len(lower) or data is None:
        return np.empty(0, dtype=np.intp), pa.array([], pa.string())
    offsets = np.frombuffer(lower.buffers()[1], dtype=np.int32)[lower.offset : lower.offset + len(lower) + 1]
    letters: NDArray[Any] = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    starts = offsets - offsets[0]
    plain = bool((letters < 0x80).all())
    if not plain:
        # From bytes to characters: every byte except a continuation starts one.
        before = np.concatenate([[0], np.cumsum((letters & 0xC0) != 0x80)])
        starts = before[starts]
        letters = np.frombuffer(letters.tobytes().decode().encode("utf-32-le"), dtype=np.uint32)
    inside = _of_words(0x80 if plain else 0x110000)[letters]
    first = inside.copy()
    first[1:] &= ~inside[:-1]
    begins = starts[:-1][starts[:-1] < letters.size]
    first[begins] = inside[begins]
    rows: NDArray[np.intp] = np.searchsorted(starts, np.flatnonzero(first), side="right") - 1
    # Without the separators the words are adjacent, which is how Arrow stores strings.
    kept = letters[inside]
    ends = np.append(np.flatnonzero(first[inside]), kept.size)
    if not plain:
        sizes = np.ones(kept.size, dtype=np.int64)
        for longer in _LONGER:
            sizes += kept >= longer
        ends = np.concatenate([[0], np.cumsum(sizes)])[ends]
        kept = np.frombuffer(kept.tobytes().decode("utf-32-le").encode(), dtype=np.uint8)
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(kept))]
    return rows, pa.StringArray.from_buffers(len(ends) - 1, buffers[1], buffers[2])
