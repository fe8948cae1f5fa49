"""Malformed rows: kept as arrays, and described one by one."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Fault, Origin

_SLICE = 1 << 10
"""How many rows at a time become Python integers, which take five times the memory."""


class Wrong(NamedTuple):
    """Rows with the same kind of fault, in order."""

    rows: NDArray[np.intp]
    reason: Callable[[int], str]
    """Returns what is wrong with one of these rows."""
    records: NDArray[np.intp] | None = None
    """The numbers of these rows in the origin, where they differ."""


def always(reason: str) -> Callable[[int], str]:
    """Return a reason that is the same for all rows."""
    return lambda _: reason


def first_in_row(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the columns of faulty cells, each with the rows in which it is the first; cells are given row by row."""
    rows, first = np.unique(rows, return_index=True)
    columns = columns[first]
    for column in np.unique(columns).tolist():
        yield column, rows[columns == column]


def one_fault_per_row(found: Iterable[tuple[int, Wrong]], n: int) -> tuple[list[Wrong], NDArray[np.bool_]]:
    """Return one fault for each of n rows that has any, and which rows have none.

    Each fault comes with the position of its column; the first one found in the first column is returned.
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
    """Yield faults in the order of their rows, each created on demand; the origin's rows `good` are examples."""
    for record, before, reason in heapq.merge(*(_each(wrong, good) for wrong in found)):
        yield Fault(before, origin.place(record), reason, origin.written(record))


def _each(wrong: Wrong, good: NDArray[np.intp]) -> Iterator[tuple[int, int, str]]:
    """Yield, for each fault, its row in the origin, the number of examples before it, and its reason."""
    records = wrong.rows if wrong.records is None else wrong.records
    for begin in range(0, records.size, _SLICE):
        part = slice(begin, begin + _SLICE)
        before = np.searchsorted(good, records[part])
        for record, n, row in zip(records[part].tolist(), before.tolist(), wrong.rows[part].tolist(), strict=True):
            yield record, n, wrong.reason(row)
