"""The names of features as two arrays: their bytes in UTF-8, and the offset of each name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import ModelError, ParameterError
from onlinear.models.tensors import TensorFile
from onlinear.streams.reading import without_blanks

_SLICE = 1 << 16
"""How many names are encoded at a time."""


def pack_names(names: tuple[str, ...], n: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the names of n features as bytes and offsets."""
    if len(names) != n:
        raise ParameterError(f"cannot save: there are {len(names)} names for {n} features")
    duplicate = _duplicate(names)
    if duplicate is not None:
        raise ParameterError(f"cannot save: two features are called {duplicate!r:.100}; names must be distinct")
    offsets = np.zeros(n + 1, dtype=np.int64)
    text = bytearray()
    for first in range(0, n, _SLICE):
        try:
            encoded = [name.encode() for name in names[first : first + _SLICE]]
        except UnicodeEncodeError as error:
            raise ParameterError(f"the name {error.object!r:.100} is not valid Unicode: {error.reason}") from error
        ends = np.cumsum(list(map(len, encoded)))
        offsets[first + 1 : first + 1 + ends.size] = len(text) + ends
        text += b"".join(encoded)
    return np.frombuffer(text, dtype=np.uint8), offsets


def unpack_names(file: TensorFile, n: int) -> tuple[str, ...] | None:
    """Return the names of n features, if the file has any."""
    if "names" not in file.entries:
        return None
    text, offsets = file.array("names").tobytes(), file.array("names.offsets")
    if offsets[0] != 0 or offsets[-1] != len(text) or (np.diff(offsets) < 0).any():
        raise ModelError("names.offsets does not match names")
    places = offsets.tolist()
    try:
        names = tuple(text[places[k] : places[k + 1]].decode() for k in range(n))
    except UnicodeDecodeError as error:
        raise ModelError(f"a name is not UTF-8: {error.reason}") from error
    duplicate = _duplicate(names)
    if duplicate is not None:
        raise ModelError(f"two of its features are called {duplicate!r:.100}")
    return names


def _duplicate(names: tuple[str, ...]) -> str | None:
    """Return a name that two features have.

    Features that were declared beyond those with names are called "", at the end. Before these, "" is a name like
    any other: the first column of a CSV file with row numbers often has it.
    """
    distinct = without_blanks(names)
    hashes = np.fromiter(map(hash, distinct), dtype=np.int64, count=len(distinct))
    hashes.sort()
    if not (hashes[1:] == hashes[:-1]).any():  # a set would take ten times the memory
        return None
    seen: set[str] = set()
    for name in distinct:
        if name in seen:
            return name
        seen.add(name)
    return None
