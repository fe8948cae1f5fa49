"""Parsing pieces of CSV text: column by column where there are few, otherwise all cells at once."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.spelling import advice
from onlinear.streams.formats.tables.cells import TableRows
from onlinear.streams.formats.tables.csv_cells import all_cells
from onlinear.streams.formats.tables.csv_columns import OddRecords, read_columns
from onlinear.streams.formats.tables.csv_numbers import parse_numbers
from onlinear.streams.formats.tables.csv_text import CsvOrigin, CsvPiece
from onlinear.streams.formats.tables.wrong import Wrong, first_in_row
from onlinear.streams.reading import ColumnKind

WIDE = 400
"""From this many columns on, what Arrow needs for each column costs more than what it saves."""
_SHOWN = 40
"""How much of a faulty value a message shows."""


def _remedy(column: str) -> str:
    remedies = advice(
        ("read categories with {}", "kinds", {column: "category"}),
        ("allow missing values, which are empty or ?, with {}", "missing", None),
        ("skip malformed lines with {}", "on_error", "skip"),
    )
    return f" ({'; '.join(remedies)})" if remedies else ""


class _Parsed(NamedTuple):
    """Some records of a piece; `numbers` has the columns of numbers except the label, in their order."""

    columns: dict[str, Any]
    numbers: NDArray[np.float64]
    odd: OddRecords
    bad: list[tuple[int, Wrong]]


class CsvParser:
    """Parses columns of given kinds; the first one may be the label."""

    def __init__(self, kinds: Mapping[str, ColumnKind], label: str | None) -> None:
        self._kinds, self._label = kinds, label
        self._names = [name for name, kind in kinds.items() if kind == "number" and name != label]
        self._others = [name for name, kind in kinds.items() if kind != "number" or name == label]
        positions = {name: i for i, name in enumerate(kinds)}
        self._positions = [positions[name] for name in self._names]
        self._found: tuple[tuple[str, ...], dict[str, int], NDArray[np.intp]] | None = None

    def parse(self, piece: CsvPiece) -> TableRows:
        """Return the columns of a piece: numbers as a matrix, the others as strings."""
        origin = CsvOrigin(piece)
        text, readable, faults = _readable(origin)
        parse = self._all_at_once if len(piece.columns) >= WIDE else self._by_column
        columns, numbers, odd, bad = parse(piece, text)
        n = numbers.shape[0]
        if not odd.rows and readable is None:
            return TableRows(columns, numbers, n, None, [], bad, origin)
        records = np.arange(n + len(odd.rows)) if readable is None else readable
        if odd.rows:
            odd_rows = np.array(odd.rows, dtype=np.intp)
            faults.append(_wrong_width(records[odd_rows], odd.fields, len(piece.columns)))
            records = np.delete(records, odd_rows)
        return TableRows(columns, numbers, n, records, faults, bad, origin)

    def _by_column(self, piece: CsvPiece, text: bytes | bytearray) -> _Parsed:
        import pyarrow as pa

        try:
            types = {name: pa.float64() if kind == "number" else pa.string() for name, kind in self._kinds.items()}
            table, odd = read_columns(text, piece.delimiter, piece.columns, types)
        except pa.ArrowInvalid:
            table, odd = read_columns(text, piece.delimiter, piece.columns, dict.fromkeys(self._kinds, pa.string()))
        columns, bad = {}, []
        numbers = np.empty((table.num_rows, len(self._names)))
        number = 0
        for position, (name, kind) in enumerate(self._kinds.items()):
            column = table.column(name).combine_chunks()
            if kind == "number" and column.type != pa.float64():
                values, (column, rows) = column, parse_numbers(column)
                bad.append((position, self._no_numbers(name, rows, values)))
            if kind != "number" or name == self._label:
                columns[name] = column
            else:
                numbers[:, number] = column.to_numpy(zero_copy_only=False)
                number += 1
        return _Parsed(columns, numbers, odd, bad)

    def _all_at_once(self, piece: CsvPiece, text: bytes | bytearray) -> _Parsed:
        import pyarrow as pa

        width = len(piece.columns)
        cells, odd = all_cells(text, piece.delimiter, width)
        places, wanted = self._places(piece.columns)
        starts = np.arange(0, len(cells), width)
        columns, bad = {}, []
        for name in self._others:
            column = cells.take(pa.array(starts + places[name]))
            if self._kinds[name] == "number":
                values, (column, rows) = column, parse_numbers(column)
                bad.append((0, self._no_numbers(name, rows, values)))
            columns[name] = column
        values = cells.take(pa.array((starts[:, np.newaxis] + wanted).reshape(-1)))
        found, strange = parse_numbers(values)
        numbers = found.to_numpy(zero_copy_only=False).reshape(starts.size, wanted.size)
        for i, rows in first_in_row(*np.divmod(strange, max(1, wanted.size))):
            bad.append((self._positions[i], self._no_numbers(self._names[i], rows, values, i, wanted.size)))
        return _Parsed(columns, numbers, odd, bad)

    def _places(self, columns: tuple[str, ...]) -> tuple[dict[str, int], NDArray[np.intp]]:
        """Return where the other columns are, and where those of numbers are."""
        if self._found is None or self._found[0] is not columns:
            there = {name: i for i, name in enumerate(columns)}
            places = np.array([there[name] for name in self._names], dtype=np.intp)
            self._found = columns, {name: there[name] for name in self._others}, places
        return self._found[1:]

    def _no_numbers(self, name: str, rows: NDArray[np.intp], values: Any, first: int = 0, step: int = 1) -> Wrong:
        """Return rows of a column that are not numbers; row r of the column is at first + r·step."""

        def reason(row: int) -> str:
            value = repr(values[first + row * step].as_py()[:_SHOWN])
            if name == self._label:
                return f"label {value} is not a number"
            return f"column {name!r}: {value} is not a number{_remedy(name)}"

        return Wrong(rows, reason)


def cells_of(piece: CsvPiece) -> Any:
    """Return all cells of a piece as strings, row by row, except those of malformed records."""
    return all_cells(_readable(CsvOrigin(piece))[0], piece.delimiter, len(piece.columns))[0]


def _wrong_width(records: NDArray[np.intp], fields: array[int], width: int) -> Wrong:
    def reason(record: int) -> str:
        return f"{fields[int(np.searchsorted(records, record))]} field(s) instead of {width}"

    return Wrong(records, reason)


def _readable(origin: CsvOrigin) -> tuple[bytes | bytearray, NDArray[np.intp] | None, list[Wrong]]:
    """Return the text of the records that are UTF-8; if some are not, the numbers of these records, and the faults."""
    if _is_utf8(origin.piece.text):
        return origin.piece.text, None, []
    n = origin.records.starts.size
    good = np.fromiter((_is_utf8(origin.written(record)) for record in range(n)), dtype=bool, count=n)
    kept = np.flatnonzero(good)
    text = b"".join(origin.written(record) + b"\n" for record in kept.tolist())

    def reason(record: int) -> str:
        # The first invalid byte is decoded as one of these.
        escaped = next(
            one for one in origin.written(record).decode(errors="surrogateescape") if "\udc80" <= one <= "\udcff"
        )
        return f"byte 0x{ord(escaped) - 0xDC00:02x} is not valid UTF-8; save the file as UTF-8"

    return text, kept, [Wrong(np.flatnonzero(~good), reason)]


def _is_utf8(text: bytes | bytearray) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False
