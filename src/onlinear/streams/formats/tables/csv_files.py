"""CSV files as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

from onlinear.errors import DataError
from onlinear.streams.files import Pipe, display_name
from onlinear.streams.formats.format import Format, Request
from onlinear.streams.formats.tables import csv_text
from onlinear.streams.formats.tables.cells import TableRows
from onlinear.streams.formats.tables.columns import check_like, choose_columns
from onlinear.streams.formats.tables.reader import TABLE_OPTIONS, TableReader
from onlinear.streams.reading import ColumnKind

_LOOKED_THROUGH = 1 << 26
"""How many bytes are searched, at most, for rows from which kinds are guessed; they are held in memory."""


class CsvTable:
    """CSV files.

    A column whose kind is not given is one of numbers if all its values in the first megabyte that has rows are
    numbers; a later value that is not a number is an error. An empty field is missing, and so are ``NA``, ``NaN``,
    ``null`` and the like in a column of numbers.
    """

    def __init__(self, files: list[str], request: Request) -> None:
        self._files, self._reading = files, request.reading
        reading = request.reading
        self.where = display_name(files[0])
        pieces = csv_text.csv_pieces(files, reading)
        seen = [next(pieces)]
        self._first = seen[0].columns

        @cache
        def sample() -> dict[str, Any]:
            """Return the columns of the first piece that has rows, as strings."""
            room = _LOOKED_THROUGH
            while not (rows := csv_text.parse_piece(seen[-1], dict.fromkeys(seen[-1].columns, "category"))).n:
                room -= len(seen[-1].text)
                piece = next(pieces, None) if room > 0 else None
                if piece is None:
                    break
                seen.append(piece)
            return rows.columns

        def guess(column: str) -> ColumnKind:
            return "number" if column not in sample() or csv_text.numeric(sample()[column]) else "category"

        self.layout = choose_columns(self._first, request, guess, self.where)
        self._read: dict[str, ColumnKind] = self.layout.kinds
        label = self.layout.label
        if label is not None:
            kind = request.label_kind or (reading.kinds or {}).get(label) or guess(label)
            self._read = {label: kind, **self.layout.kinds}
        # A pipe cannot be read again from the start.
        self._pipe: Iterator[csv_text.CsvPiece] | None = chain(seen, pieces) if _piped(files) else None
        if self._pipe is None:
            pieces.close()

    def items(self) -> Iterator[csv_text.CsvPiece]:
        pieces: Iterable[csv_text.CsvPiece] = csv_text.csv_pieces(self._files, self._reading)
        if _piped(self._files):
            if self._pipe is None:
                raise DataError(f"{display_name(self._files[0])} can be read only once")
            pieces, self._pipe = self._pipe, None
        checked = None
        for piece in pieces:
            if piece.columns is not checked:
                check_like(piece.columns, self.layout, self._reading, self._first, piece.name)
                checked = piece.columns
            yield piece

    def rows(self, item: csv_text.CsvPiece) -> TableRows:
        return csv_text.parse_piece(item, self._read, self.layout.label)


def _piped(files: list[str]) -> bool:
    return any(isinstance(name, Pipe) for name in files)


def _open(files: list[str], request: Request) -> TableReader:
    return TableReader(CsvTable(files, request), request)


FORMAT = Format(
    "csv",
    _open,
    endings=(".csv", ".tsv"),
    first_line=lambda line: b"," in line or b"\t" in line,
    options=TABLE_OPTIONS | {"header", "delimiter"},
)
