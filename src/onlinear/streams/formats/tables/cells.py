"""The cells of a table: numbers, categories and words, checked and told apart from missing values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Origin
from onlinear.spelling import advice
from onlinear.streams.formats.tables.wrong import Wrong, always, first_in_row, one_fault_per_row
from onlinear.streams.reading import ColumnKind, Missing

_LONGEST_LABEL = 64
"""Longer labels are kept as objects: in a NumPy array of strings, all take as much memory as the longest."""


class TableRows(NamedTuple):
    """Some rows of a table: numbers as a matrix, NaN where missing; other columns, and labels, as Arrow arrays."""

    columns: dict[str, Any]
    """The label, as numbers or strings; categories and text, as strings or dictionaries of them."""
    numbers: NDArray[np.float64]
    n: int
    records: NDArray[np.intp] | None
    """The numbers of these rows in the origin; None: all of them."""
    faults: list[Wrong]
    """Rows of the origin that are left out, and why."""
    bad: list[tuple[int, Wrong]]
    """Malformed rows among these: the position of the column, and what is wrong."""
    origin: Origin


class Features(NamedTuple):
    """Features by name: row ``rows[i]`` has feature ``names[codes[i]]`` with value ``values[i]``.

    `position` is that of their column, or an array with the position for each name.
    """

    rows: NDArray[np.intp]
    codes: NDArray[np.intp]
    names: Sequence[str]
    values: NDArray[np.float64]
    position: int | NDArray[np.intp]


@dataclass(frozen=True)
class Cells:
    """The good rows of a table: their labels, and a matrix or features by name, in the order of the columns."""

    n: int
    y: NDArray[Any]
    X: Any
    """The matrix; None while the features have only names."""
    parts: list[Features]
    rows: NDArray[np.intp] | None
    """The numbers of these rows in the origin; None: all of them."""
    faults: list[Wrong]
    origin: Origin


class Decoder:
    """Turns rows into labels and features.

    If `places` is given, all columns are numbers, and column j of the table is column ``places[j]`` of a matrix.
    """

    def __init__(
        self, label: str | None, kinds: dict[str, ColumnKind], missing: Missing, places: NDArray[np.intp] | None
    ) -> None:
        self._label, self._missing, self._places = label, missing, places
        position = {name: i for i, name in enumerate(kinds, start=0 if label is None else 1)}
        self._names = tuple(name for name, kind in kinds.items() if kind == "number")
        self._gaps = tuple(f"{name}?" for name in self._names)
        self._positions = np.array([position[name] for name in self._names], dtype=np.intp)
        self._others = [(position[name], name, kind) for name, kind in kinds.items() if kind != "number"]

    def decode(self, read: TableRows) -> Cells:
        """Return the labels and features of the good rows."""
        bad = list(read.bad)
        if self._label is not None:
            bad += [(0, wrong) for wrong in _no_labels(read.columns[self._label], self._label)]
        numbers = read.numbers
        parts: list[Features] = []
        if not np.isfinite(numbers).all():
            gone = np.isnan(numbers)
            bad += self._not_finite(numbers, gone)
            if self._missing == "indicator":
                rows, codes = np.nonzero(gone)
                parts.append(Features(rows, codes, self._gaps, np.ones(rows.size), self._positions))
            numbers = np.where(gone, 0.0, numbers)
        if self._places is None:
            rows, codes = np.nonzero(numbers)
            parts.append(Features(rows, codes, self._names, numbers[rows, codes], self._positions))
        for position, name, kind in self._others:
            part, empty = (_categories if kind == "category" else _words)(read.columns[name], name, position)
            parts.append(part)
            if self._missing == "indicator":
                codes = np.zeros(empty.size, dtype=np.intp)
                parts.append(Features(empty, codes, [f"{name}?"], np.ones(empty.size), position))
            elif self._missing == "error":
                bad.append((position, Wrong(empty, always(_missing_value(name)))))
        wrong, keep = one_fault_per_row(bad, read.n)
        good = np.flatnonzero(keep) if wrong else None
        n = read.n if good is None else good.size
        dense = None
        if self._places is not None:
            dense, parts = self._arranged(numbers if good is None else numbers[good]), []
        y = np.zeros(n) if self._label is None else _labels(read.columns[self._label], good)
        records, faults = read.records, read.faults
        if good is not None:
            every = np.arange(read.n) if records is None else records
            faults = faults + [one._replace(records=every[one.rows]) for one in wrong]
            records = every[good]
        return Cells(n, y, dense, [_kept(part, keep, bool(wrong)) for part in parts], records, faults, read.origin)

    def _arranged(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the columns at their places; every place is filled: a feature without a column was refused before."""
        if self._places is None or np.array_equal(self._places, np.arange(self._places.size)):
            return np.ascontiguousarray(numbers)
        arranged = np.empty_like(numbers)
        arranged[:, self._places] = numbers
        return arranged

    def _not_finite(self, numbers: NDArray[np.float64], gone: NDArray[np.bool_]) -> Iterator[tuple[int, Wrong]]:
        """Yield the rows with an infinite number or, where that is an error, without a number."""
        faulty = ~np.isfinite(numbers)
        if self._missing != "error":
            faulty &= ~gone
        for i, rows in first_in_row(*np.nonzero(faulty)):
            position, name, values = int(self._positions[i]), self._names[i], numbers[rows, i]
            yield position, Wrong(rows[np.isnan(values)], always(_missing_value(name)))
            for sign in (np.inf, -np.inf):
                reason = f"column {name!r}: value {sign} is not a finite number"
                yield position, Wrong(rows[values == sign], always(reason))


def _missing_value(name: str) -> str:
    return "".join(
        [f"column {name!r}: the value is missing", *advice((" (allow it with {}, or indicator)", "missing", "zero"))]
    )


def _kept(part: Features, keep: NDArray[np.bool_], some_are_bad: bool) -> Features:
    """Return the nonzero features of the good rows, with the rows renumbered."""
    chosen = part.values != 0.0
    if some_are_bad:
        chosen &= keep[part.rows]
    if chosen.all():
        rows = part.rows
    else:
        part = part._replace(codes=part.codes[chosen], values=part.values[chosen])
        rows = part.rows[chosen]
    return part._replace(rows=(np.cumsum(keep) - 1)[rows] if some_are_bad else rows)


def _categories(column: Any, name: str, position: int) -> tuple[Features, NDArray[np.intp]]:
    """Return a column with one feature per category, and the rows where it is missing."""
    codes, values = _coded(column)
    # Neither null nor the empty string is a category.
    absent = np.array([not value for value in values], dtype=bool)
    rows = np.arange(codes.size)
    gone = np.empty(0, dtype=np.intp)
    if absent.any():
        missing = absent[codes]
        rows, gone = np.flatnonzero(~missing), np.flatnonzero(missing)
        codes = codes[rows]
    return Features(rows, codes, [f"{name}={value}" for value in values], np.ones(rows.size), position), gone


def _words(column: Any, name: str, position: int) -> tuple[Features, NDArray[np.intp]]:
    """Return a column of text with one feature per word, and the rows without text."""
    import pyarrow as pa

    from onlinear.streams.formats.tables.words import words

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = column.fill_null("")
    gone = np.flatnonzero(np.diff(_offsets(texts)) == 0)
    rows, found = words(texts)
    codes, values = _coded(found)
    return Features(rows, codes, [f"{name}:{value}" for value in values], np.ones(rows.size), position), gone


def _offsets(strings: Any) -> NDArray[np.int32]:
    offsets = np.frombuffer(strings.buffers()[1], dtype=np.int32) if len(strings) else np.zeros(1, dtype=np.int32)
    return offsets[strings.offset : strings.offset + len(strings) + 1]


def _coded(column: Any) -> tuple[NDArray[np.intp], list[str | None]]:
    """Return strings as codes, and the distinct strings, of which null may be one."""
    import pyarrow as pa

    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = column.dictionary
    codes = column.indices.cast(pa.int64())
    if codes.null_count:
        codes = codes.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    numbers: NDArray[np.intp] = codes.to_numpy()
    if len(values) > numbers.size:
        # It may be the dictionary of a whole file, most of which is not used here.
        used, numbers = np.unique(numbers, return_inverse=True)
        values = values.take(pa.array(used))
    return numbers, values.to_pylist()


def _no_labels(column: Any, name: str) -> list[Wrong]:
    """Return the rows whose label is missing or infinite, or ends in a null character, which NumPy would cut off."""
    from pyarrow import compute as pc
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    wrong: list[Wrong] = []
    missing = column.is_null(nan_is_null=True)
    if types.is_string(column.type):
        missing = pc.or_(missing, pc.fill_null(pc.equal(column, ""), fill_value=True))
        cut = pc.fill_null(pc.ends_with(column, "\0"), fill_value=False).to_numpy(zero_copy_only=False)
        reason = f"the label (column {name!r}) ends in a null character; remove it"
        wrong.append(Wrong(np.flatnonzero(cut), always(reason)))
    elif types.is_floating(column.type):
        infinite = pc.fill_null(pc.is_inf(column), fill_value=False).to_numpy(zero_copy_only=False)
        wrong.append(Wrong(np.flatnonzero(infinite), always(f"the label (column {name!r}) is infinite")))
    reason = f"the label is missing (column {name!r})"
    wrong.append(Wrong(np.flatnonzero(missing.to_numpy(zero_copy_only=False)), always(reason)))
    return wrong


def _labels(column: Any, good: NDArray[np.intp] | None) -> NDArray[Any]:
    """Return the labels of the good rows, none of which is null."""
    import pyarrow as pa

    if good is not None:
        column = column.take(pa.array(good))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_string(column.type):
        numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return numbers
    codes, values = _coded(column)
    longest = max((len(value or "") for value in values), default=0)
    distinct = np.array(values, dtype=object if longest > _LONGEST_LABEL else f"U{max(1, longest)}")
    labels: NDArray[Any] = distinct[codes]
    return labels
