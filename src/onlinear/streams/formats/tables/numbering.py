"""Numbers for names, in little memory: millions of categories are counted in bytes per name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

_RECENT = 1 << 17
"""How many names are in a dict, which takes about 75 bytes for each; the others take 12."""


class Numbering:
    """Numbers names in the order in which they are added, and finds the numbers of many names at a time.

    The latest names are in a dict. The others are found by their hashes, which are sorted; since different names may
    have the same hash, the names themselves are compared, too.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names: list[str] = []
        self._recent: dict[str, int] = {}
        self._hashes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._numbers: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        for name in names:
            self.add(name)

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.names)

    def add(self, name: str) -> int:
        """Return the number of a name that is new."""
        number = len(self.names)
        self.names.append(name)
        self._recent[name] = number
        if len(self._recent) >= _RECENT:
            self._settle()
        return number

    def find(self, names: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of names, −1 for those that have none."""
        found = np.fromiter(map(self._recent.get, names, repeat(-1)), dtype=np.int32, count=len(names))
        rest = np.flatnonzero(found < 0)
        if not self._hashes.size or not rest.size:
            return found
        hashes = _hashes(names[i] for i in rest.tolist())
        places = np.searchsorted(self._hashes, hashes)
        same = np.append(self._hashes, 0)[places] == hashes
        for i, place in zip(rest[same].tolist(), places[same].tolist(), strict=True):
            found[i] = self._number_at(place, names[i])
        return found

    def _number_at(self, place: int, name: str) -> int:
        """Return the number of a name whose hash is at this place, or −1."""
        wanted = hash(name)
        while place < self._hashes.size and self._hashes[place] == wanted:
            number = int(self._numbers[place])
            if self.names[number] == name:
                return number
            place += 1
        return -1

    def _settle(self) -> None:
        """Move the names of the dict to the sorted hashes."""
        hashes = _hashes(self._recent)
        order = np.argsort(hashes, kind="stable")
        numbers = np.fromiter(self._recent.values(), dtype=np.int32, count=hashes.size)[order]
        places = np.searchsorted(self._hashes, hashes[order])
        self._hashes = np.insert(self._hashes, places, hashes[order])
        self._numbers = np.insert(self._numbers, places, numbers)
        self._recent = {}


def _hashes(names: Iterable[str]) -> NDArray[np.int64]:
    return np.fromiter(map(hash, names), dtype=np.int64)
