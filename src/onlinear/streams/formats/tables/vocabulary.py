"""From names of features to their numbers: a vocabulary that grows, or a hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError, ParameterError
from onlinear.spelling import advice, option
from onlinear.streams.formats.tables.cells import Cells, Features
from onlinear.streams.formats.tables.numbering import Numbering

_REMEMBERED = 1 << 17
"""How many hashes are cached."""


class Vocabulary:
    """Numbers names in the order in which they occur first; if it does not grow, it does not keep new names."""

    def __init__(self, names: Iterable[str], limit: int, grows: bool) -> None:
        self._numbers = Numbering(names)
        self._limit = limit
        self._names: tuple[str, ...] = tuple(self._numbers.names)
        self.grows = grows
        """Whether new names get numbers, so that chunks must come in order."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names so far."""
        if len(self._names) < len(self._numbers):
            self._names = tuple(self._numbers.names)
        return self._names

    def add(self, names: Sequence[str], where: str) -> None:
        """Assign numbers to distinct names in advance, if it grows."""
        new = np.flatnonzero(self.find(names) < 0).tolist() if self.grows else []
        if len(self._numbers) + len(new) > self._limit:
            raise DataError(f"{where}: more than {self._limit:,} features ({option('max_features')})")
        for i in new:
            self._numbers.add(names[i])

    def find(self, names: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of names, −1 for those that have none."""
        return self._numbers.find(names)

    def matrix(self, cells: Cells) -> Any:
        """Return the features of some rows; new names are numbered by row, column and position in the text.

        If the vocabulary does not grow, they have numbers after the known ones in this matrix alone.
        """
        numbers, fresh = self._numbered(cells)
        new: dict[str, int] = {}
        for row, _, _, i, code in fresh:
            name = cells.parts[i].names[code]
            if name not in new:
                new[name] = self._number(name, row, cells) if self.grows else len(self._numbers) + len(new)
            numbers[i][code] = new[name]
        return _matrix(cells, numbers, len(self._numbers) + (0 if self.grows else len(new)))

    def name(self, column: int, cells: Cells) -> str:
        """Return the name of a column in the matrix of some rows."""
        known = self.names
        if column < len(known):
            return known[column]
        new = dict.fromkeys(cells.parts[i].names[code] for *_, i, code in self._numbered(cells)[1])
        return list(new)[column - len(known)]

    def _numbered(self, cells: Cells) -> tuple[list[NDArray[np.int32]], list[tuple[int, int, int, int, int]]]:
        """Return the numbers of all names in some rows, −1 for new ones, and the new ones in their order."""
        numbers = [self.find(part.names) for part in cells.parts]
        return numbers, sorted(found for i, part in enumerate(cells.parts) for found in _fresh(part, numbers[i], i))

    def _number(self, name: str, row: int, cells: Cells) -> int:
        """Return the number of a new name."""
        if len(self._numbers) >= self._limit:
            place = cells.origin.place(row if cells.rows is None else int(cells.rows[row]))
            remedy = "; or ".join([option("max_features"), *advice(("{}", "encode", "hash"))])
            raise DataError(
                f"{place}: {name!r} would be feature {self._limit + 1:,}; at most {self._limit:,} ({remedy})"
            )
        return self._numbers.add(name)


class Hashing:
    """Numbers names by the first 8 bytes of their BLAKE2b hash (little-endian), modulo the number of features.

    Names with the same number share a feature: in a row, their values are added.
    """

    names = None
    grows = False

    def __init__(self, bits: int, limit: int) -> None:
        self.width = 1 << bits
        self._known: dict[str, int] = {}
        if self.width > limit:
            raise ParameterError(
                f"{option('hash_bits')} is {bits}, that is {self.width:,} features;"
                f" at most {limit:,} ({option('max_features')})"
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


def _fresh(part: Features, numbers: NDArray[np.int32], i: int) -> list[tuple[int, int, int, int, int]]:
    """Return the names of part i that have no number yet: first row, column, first entry, i, and index of the name.

    The order of the names themselves may differ, because it includes rows that were skipped.
    """
    new = np.flatnonzero(numbers < 0)
    if not new.size:
        return []
    entries = part.codes.size
    first = np.full(numbers.size, entries)
    # When several values are assigned to one place, the last one stays: in reverse order, the first entry.
    first[part.codes[::-1]] = np.arange(entries)[::-1]
    new = new[first[new] < entries]
    found = first[new]
    columns = np.broadcast_to(part.position, numbers.size)[new]
    listed = zip(part.rows[found].tolist(), columns.tolist(), found.tolist(), new.tolist(), strict=True)
    return [(row, column, entry, i, code) for row, column, entry, code in listed]


def _matrix(cells: Cells, numbers: list[NDArray[np.int32]], width: int) -> Any:
    """Return a CSR matrix with sorted, unique indices."""
    import scipy.sparse

    rows, columns, values = [], [], []
    for part, number in zip(cells.parts, numbers, strict=True):
        rows.append(part.rows.astype(np.int32))
        columns.append(number[part.codes])
        values.append(part.values)
    # A matrix needs at least one column.
    shape = (cells.n, max(1, width))
    every = (np.concatenate(rows), np.concatenate(columns))
    X = scipy.sparse.coo_array((np.concatenate(values), every), shape=shape).tocsr()
    X.sum_duplicates()
    X.has_canonical_format = True
    return X
