"""Rows that no example can be made of: held as arrays, and put into words one by one."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Fault, Origin

_SLICE = 1 << 10
"""So many rows at a time are made integers of Python's, which take five times the memory."""


class Wrong(NamedTuple):
    """Rows with the same kind of fault, in order."""

    rows: NDArray[np.intp]
    reason: Callable[[int], str]
    """Says what is wrong with one of these rows."""
    records: NDArray[np.intp] | None = None
    """Which of the origin's rows these are, where those have other numbers."""


def always(reason: str) -> Callable[[int], str]:
    """Return a reason that is the same for all rows."""
    return lambda _: reason


def sorted_out(found: Iterable[tuple[int, Wrong]], n: int) -> tuple[list[Wrong], NDArray[np.bool_]]:
    """Return the faults of n rows, one for each row that has any, and which rows have none.

    Each fault comes with the position of its column: that of the first column counts, and there the first one found.
    """
    good = np.ones(n, dtype=bool)
    first: list[Wrong] = []
    for _, wrong in sorted(found, key=lambda one: one[0]):
        rows = wrong.rows[good[wrong.rows]]
        good[rows] = False
        if rows.size:
            first.append(wrong._replace(rows=rows))
    return first, good


def faults(found: Iterable[Wrong], good: NDArray[np.intp], origin: Origin) -> Iterator[Fault]:
    """Yield faults in the order of their rows, where the origin's rows `good` are examples; each is made when drawn."""
    for record, before, reason in heapq.merge(*(_each(wrong, good) for wrong in found)):
        yield Fault(before, origin.place(record), reason, origin.written(record))


def _each(wrong: Wrong, good: NDArray[np.intp]) -> Iterator[tuple[int, int, str]]:
    """Yield the origin's row of each fault, the number of examples before it, and what is wrong."""
    records = wrong.rows if wrong.records is None else wrong.records
    for begin in range(0, records.size, _SLICE):
        part = slice(begin, begin + _SLICE)
        before = np.searchsorted(good, records[part])
        for record, n, row in zip(records[part].tolist(), before.tolist(), wrong.rows[part].tolist(), strict=True):
            yield record, n, wrong.reason(row)
