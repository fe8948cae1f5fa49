"""From names of features to their numbers: a vocabulary that grows, or a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError, ParameterError
from onlinear.streams.formats.tables.cells import Cells, Part

_REMEMBERED = 1 << 17
"""So many hashes are kept, to be computed once."""


class Vocabulary:
    """Numbers names in the order in which they turn up; or, where it does not grow, knows only those it has."""

    def __init__(self, names: Iterable[str], limit: int, grows: bool) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}
        self._limit = limit
        self._names: tuple[str, ...] = tuple(self._numbers)
        self.grows = grows
        self.growing = grows
        """Whether chunks must come here one after the other."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names so far."""
        if len(self._names) < len(self._numbers):
            self._names = tuple(self._numbers)
        return self._names

    def add(self, names: Iterable[str], where: str) -> None:
        """Take in names beforehand, if it grows."""
        for name in names:
            if self.grows and name not in self._numbers:
                if len(self._numbers) >= self._limit:
                    raise DataError(f"{where}: more than {self._limit:,} features (--max-features, max_features=)")
                self._numbers[name] = len(self._numbers)

    def number(self, name: str) -> int:
        """Return the number of a name, or −1."""
        return self._numbers.get(name, -1)

    def matrix(self, cells: Cells) -> Any:
        """Return the features of some rows; new names are numbered by row, column, and place in the text."""
        numbers = [
            np.fromiter(map(self._numbers.get, part.names, repeat(-1)), dtype=np.int32, count=len(part.names))
            for part in cells.parts
        ]
        if self.grows:
            fresh = [
                found for column, part in enumerate(cells.parts) for found in _fresh(part, numbers[column], column)
            ]
            for row, column, _, code in sorted(fresh):
                name = cells.parts[column].names[code]
                if len(self._numbers) >= self._limit and name not in self._numbers:
                    place = cells.origin.place(row if cells.rows is None else int(cells.rows[row]))
                    raise DataError(
                        f"{place}: {name!r} would be feature {self._limit + 1:,}; there may be {self._limit:,}"
                        " (--max-features, max_features=; or --encode hash)"
                    )
                numbers[column][code] = self._numbers.setdefault(name, len(self._numbers))
        return _matrix(cells, numbers, len(self._numbers))


class Hashing:
    """Numbers names by the first 8 bytes of their BLAKE2b hash (the lowest first), modulo the number of features.

    Two names of the same number are one feature: in a row their values add up.
    """

    names = None
    growing = False

    def __init__(self, bits: int, limit: int) -> None:
        self.width = 1 << bits
        self._known: dict[str, int] = {}
        if self.width > limit:
            raise ParameterError(
                f"hash_bits is {bits}, that is {self.width:,} features;"
                f" there may be {limit:,} (--max-features, max_features=)"
            )

    def matrix(self, cells: Cells) -> Any:
        """Return the features of some rows."""
        numbers = [np.array([self._number(name) for name in part.names], dtype=np.int32) for part in cells.parts]
        return _matrix(cells, numbers, self.width)

    def _number(self, name: str) -> int:
        number = self._known.get(name)
        if number is None:
            digest = hashlib.blake2b(name.encode()).digest()
            number = int.from_bytes(digest[:8], "little") % self.width
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[name] = number
        return number


def _fresh(part: Part, numbers: NDArray[np.int32], column: int) -> list[tuple[int, int, int, int]]:
    """Return the names of a part that have no number yet: first row, column, first entry, and place among the names.

    The names themselves may stand in another order: rows that were put aside had a part in it.
    """
    new = np.flatnonzero(numbers < 0)
    if not new.size:
        return []
    entries = part.codes.size
    first = np.full(numbers.size, entries)
    # Of several values for one place the last one stays: from the end, that is the first entry.
    first[part.codes[::-1]] = np.arange(entries)[::-1]
    new = new[first[new] < entries]
    found = first[new]
    listed = zip(part.rows[found].tolist(), found.tolist(), new.tolist(), strict=True)
    return [(row, column, entry, code) for row, entry, code in listed]


def _matrix(cells: Cells, numbers: list[NDArray[np.int32]], width: int) -> Any:
    """Return a CSR matrix, its indices sorted and each once; a name without a number is left out."""
    import scipy.sparse

    rows, columns, values = [], [], []
    for part, number in zip(cells.parts, numbers, strict=True):
        found = number[part.codes]
        known = found >= 0 if (number < 0).any() else slice(None)
        rows.append(part.rows[known].astype(np.int32))
        columns.append(found[known])
        values.append(part.values[known])
    # No column at all is no matrix to SciPy's taste.
    shape = (cells.n, max(1, width))
    every = (np.concatenate(rows), np.concatenate(columns))
    X = scipy.sparse.coo_array((np.concatenate(values), every), shape=shape).tocsr()
    X.sum_duplicates()
    X.has_canonical_format = True
    return X
