"""The cells of a table: numbers, categories and words, checked and told apart from missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Origin
from onlinear.streams.formats.tables.wrong import Wrong, always, one_fault_per_row
from onlinear.streams.reading import ColumnKind, Missing

_LONGEST_LABEL = 64
"""Longer labels are kept as objects: in a NumPy array of strings, all take as much memory as the longest."""


class TableRows(NamedTuple):
    """Some rows of a table as Arrow columns: numbers as float64, the others as strings or dictionaries."""

    columns: dict[str, Any]
    n: int
    records: NDArray[np.intp] | None
    """The numbers of these rows in the origin; None: all of them."""
    faults: list[Wrong]
    """Rows of the origin that are left out, and why."""
    bad: list[tuple[int, Wrong]]
    """Malformed rows among these: the position of the column, and what is wrong."""
    origin: Origin


class Features(NamedTuple):
    """Features by name: row ``rows[i]`` has feature ``names[codes[i]]`` with value ``values[i]``."""

    rows: NDArray[np.intp]
    codes: NDArray[np.intp]
    names: list[str]
    values: NDArray[np.float64]


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


def decode(
    read: TableRows, label: str | None, kinds: dict[str, ColumnKind], missing: Missing, places: NDArray[np.intp] | None
) -> Cells:
    """Return the labels and features of the good rows.

    If `places` is given, all columns are numbers, and column j of the table is column ``places[j]`` of a matrix.
    """
    bad = list(read.bad)
    if label is not None:
        bad += [(0, wrong) for wrong in _no_labels(read.columns[label], label)]
    parts: list[Features] = []
    for position, (name, kind) in enumerate(kinds.items(), start=0 if label is None else 1):
        column = read.columns[name]
        if kind == "number":
            part, gone, infinite = _numbers(column, name)
            bad += [(position, wrong) for wrong in infinite]
        else:
            part, gone = _categories(column, name) if kind == "category" else _words(column, name)
        parts.append(part)
        if missing == "indicator":
            parts.append(Features(gone, np.zeros(gone.size, dtype=np.intp), [f"{name}?"], np.ones(gone.size)))
        elif missing == "error":
            reason = f"column {name!r}: the value is missing (allow it with --missing zero or indicator, missing=)"
            bad.append((position, Wrong(gone, always(reason))))
    wrong, keep = one_fault_per_row(bad, read.n)
    good = np.flatnonzero(keep) if wrong else None
    n = read.n if good is None else good.size
    dense = None
    if places is not None:
        # Every place is filled: a feature without a column was refused before.
        dense = np.empty((n, places.size))
        for place, part in zip(places.tolist(), parts, strict=True):
            dense[:, place] = part.values if good is None else part.values[good]
        parts = []
    y = np.zeros(n) if label is None else _labels(read.columns[label], good)
    rows, faults = read.records, read.faults
    if good is not None:
        records = np.arange(read.n) if rows is None else rows
        faults = faults + [one._replace(records=records[one.rows]) for one in wrong]
        rows = records[good]
    return Cells(n, y, dense, [_kept(part, keep, bool(wrong)) for part in parts], rows, faults, read.origin)


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


def _numbers(column: Any, name: str) -> tuple[Features, NDArray[np.intp], list[Wrong]]:
    """Return a column of numbers as one feature, 0 where missing; the missing rows; and those not finite."""
    values: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    gone = np.empty(0, dtype=np.intp)
    wrong: list[Wrong] = []
    if not np.isfinite(values).all():
        nan = np.isnan(values)
        gone = np.flatnonzero(nan)
        for sign in (np.inf, -np.inf):
            reason = f"column {name!r}: value {sign} is not a finite number"
            wrong.append(Wrong(np.flatnonzero(values == sign), always(reason)))
        values = np.where(nan, 0.0, values)
    return Features(np.arange(values.size), np.zeros(values.size, dtype=np.intp), [name], values), gone, wrong


def _categories(column: Any, name: str) -> tuple[Features, NDArray[np.intp]]:
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
    return Features(rows, codes, [f"{name}={value}" for value in values], np.ones(rows.size)), gone


def _words(column: Any, name: str) -> tuple[Features, NDArray[np.intp]]:
    """Return a column of text with one feature per word, and the rows without text."""
    import pyarrow as pa

    from onlinear.streams.formats.tables.words import words

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = column.fill_null("")
    gone = np.flatnonzero(np.diff(_offsets(texts)) == 0)
    rows, found = words(texts)
    codes, values = _coded(found)
    return Features(rows, codes, [f"{name}:{value}" for value in values], np.ones(rows.size)), gone


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
