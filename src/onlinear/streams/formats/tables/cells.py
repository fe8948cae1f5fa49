"""The cells of a table: numbers, categories and words, checked, and told apart from what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.chunk import Origin
from onlinear.streams.formats.tables.wrong import Wrong, always, sorted_out
from onlinear.streams.reading import Kind, Missing

_LONGEST_LABEL = 64
"""Longer labels are kept as objects: in an array of NumPy's strings the longest sets the size of all."""


class Rows(NamedTuple):
    """Some rows of a table, as Arrow has them: number columns as float64, the others as strings or dictionaries."""

    columns: dict[str, Any]
    n: int
    records: NDArray[np.intp] | None
    """Which of the origin's rows these are; None: all of them."""
    faults: list[Wrong]
    """Rows of the origin that are not here, and why."""
    bad: list[tuple[int, Wrong]]
    """Rows that are here and no example can be made of: the position of the column, and why."""
    origin: Origin


class Part(NamedTuple):
    """Features by name: row ``rows[i]`` has feature ``names[codes[i]]`` with value ``values[i]``."""

    rows: NDArray[np.intp]
    codes: NDArray[np.intp]
    names: list[str]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """Good rows: their labels, and either a matrix of numbers or features by name, in the order of the columns."""

    n: int
    y: NDArray[Any]
    dense: NDArray[np.float64] | None
    parts: list[Part]
    rows: NDArray[np.intp] | None
    """Which of the origin's rows these are; None: all of them."""
    faults: list[Wrong]
    origin: Origin


def decoded(
    read: Rows, label: str | None, kinds: dict[str, Kind], missing: Missing, places: NDArray[np.intp] | None
) -> Cells:
    """Return the good ones of some rows as labels and features.

    Where `places` is given all columns are numbers, and make a matrix with column j at ``places[j]``.
    """
    bad = list(read.bad)
    if label is not None:
        bad += [(0, wrong) for wrong in _no_labels(read.columns[label], label)]
    parts: list[Part] = []
    for position, (name, kind) in enumerate(kinds.items(), start=0 if label is None else 1):
        column = read.columns[name]
        if kind == "number":
            part, gone, infinite = _numbers(column, name)
            bad += [(position, wrong) for wrong in infinite]
        else:
            part, gone = _categories(column, name) if kind == "category" else _words(column, name)
        parts.append(part)
        if missing == "indicator":
            parts.append(Part(gone, np.zeros(gone.size, dtype=np.intp), [f"{name}?"], np.ones(gone.size)))
        elif missing == "error":
            reason = f"column {name!r} has no value (allow it with --missing zero or indicator, missing=)"
            bad.append((position, Wrong(gone, always(reason))))
    wrong, keep = sorted_out(bad, read.n)
    good = np.flatnonzero(keep) if wrong else None
    n = read.n if good is None else good.size
    dense = None
    if places is not None:
        # A feature that no column gives is refused beforehand: every place is filled.
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


def _kept(part: Part, keep: NDArray[np.bool_], some_are_bad: bool) -> Part:
    """Return the features of the good rows, numbered anew, without zeros."""
    chosen = part.values != 0.0
    if some_are_bad:
        chosen &= keep[part.rows]
    if chosen.all():
        rows = part.rows
    else:
        part = part._replace(codes=part.codes[chosen], values=part.values[chosen])
        rows = part.rows[chosen]
    return part._replace(rows=(np.cumsum(keep) - 1)[rows] if some_are_bad else rows)


def _numbers(column: Any, name: str) -> tuple[Part, NDArray[np.intp], list[Wrong]]:
    """Return a column of numbers as one feature, 0 where they are missing; where that is; and those not finite."""
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
    return Part(np.arange(values.size), np.zeros(values.size, dtype=np.intp), [name], values), gone, wrong


def _categories(column: Any, name: str) -> tuple[Part, NDArray[np.intp]]:
    """Return a column of categories as a feature each, and where they are missing."""
    codes, values = _coded(column)
    # Neither null nor the empty string is a category.
    absent = np.array([not value for value in values], dtype=bool)
    rows = np.arange(codes.size)
    gone = np.empty(0, dtype=np.intp)
    if absent.any():
        missing = absent[codes]
        rows, gone = np.flatnonzero(~missing), np.flatnonzero(missing)
        codes = codes[rows]
    return Part(rows, codes, [f"{name}={value}" for value in values], np.ones(rows.size)), gone


def _words(column: Any, name: str) -> tuple[Part, NDArray[np.intp]]:
    """Return a column of text as a feature for each word, and where there is no text."""
    import pyarrow as pa

    from onlinear.streams.formats.tables.words import words

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = column.fill_null("")
    gone = np.flatnonzero(np.diff(_offsets(texts)) == 0)
    rows, found = words(texts)
    codes, values = _coded(found)
    return Part(rows, codes, [f"{name}:{value}" for value in values], np.ones(rows.size)), gone


def _offsets(strings: Any) -> NDArray[np.int32]:
    offsets = np.frombuffer(strings.buffers()[1], dtype=np.int32) if len(strings) else np.zeros(1, dtype=np.int32)
    return offsets[strings.offset : strings.offset + len(strings) + 1]


def _coded(column: Any) -> tuple[NDArray[np.intp], list[str | None]]:
    """Return strings as numbers of distinct strings; null, where it occurs, is one of them."""
    import pyarrow as pa

    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = column.dictionary
    codes = column.indices.cast(pa.int64())
    if codes.null_count:
        codes = codes.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    numbers: NDArray[np.intp] = codes.to_numpy()
    if len(values) > numbers.size:
        # The dictionary of a whole file, say: most of it has no part here.
        used, numbers = np.unique(numbers, return_inverse=True)
        values = values.take(pa.array(used))
    return numbers, values.to_pylist()


def _no_labels(column: Any, name: str) -> list[Wrong]:
    """Return the rows whose label is missing, or infinite."""
    from pyarrow import compute as pc
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    wrong: list[Wrong] = []
    missing = column.is_null(nan_is_null=True)
    if types.is_string(column.type):
        missing = pc.or_(missing, pc.fill_null(pc.equal(column, ""), fill_value=True))
    elif types.is_floating(column.type):
        infinite = pc.fill_null(pc.is_inf(column), fill_value=False).to_numpy(zero_copy_only=False)
        wrong.append(Wrong(np.flatnonzero(infinite), always(f"column {name!r}: an infinite number is no label")))
    reason = f"the label is missing (column {name!r})"
    wrong.append(Wrong(np.flatnonzero(missing.to_numpy(zero_copy_only=False)), always(reason)))
    return wrong


def _labels(column: Any, good: NDArray[np.intp] | None) -> NDArray[Any]:
    """Return the labels of the good rows: none is null."""
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
