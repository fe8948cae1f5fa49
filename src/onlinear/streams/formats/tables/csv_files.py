"""CSV files as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain

import numpy as np

from onlinear.errors import DataError
from onlinear.spelling import option
from onlinear.streams.files import Pipe, display_name
from onlinear.streams.formats.format import Format, Request
from onlinear.streams.formats.tables.cells import TableRows
from onlinear.streams.formats.tables.columns import check_like, choose_columns
from onlinear.streams.formats.tables.csv_numbers import parse_numbers
from onlinear.streams.formats.tables.csv_parse import CsvParser, cells_of
from onlinear.streams.formats.tables.csv_text import CsvPiece, csv_pieces
from onlinear.streams.formats.tables.reader import TABLE_OPTIONS, TableReader
from onlinear.streams.reading import ColumnKind

_LOOKED_THROUGH = 1 << 26
"""How many bytes are searched, at most, for rows from which kinds are guessed; they are held in memory."""


class _Sample:
    """The first pieces of a table, up to the first one that has rows."""

    def __init__(self, pieces: Iterator[CsvPiece]) -> None:
        self.pieces = [next(pieces)]
        self._rest = pieces

    @cached_property
    def counts(self) -> dict[str, tuple[int, int]]:
        """For each column, how many values are neither numbers nor missing, and how many are numbers."""
        room = _LOOKED_THROUGH
        while not len(cells := cells_of(self.pieces[-1])):
            room -= len(self.pieces[-1].text)
            piece = next(self._rest, None) if room > 0 else None
            if piece is None:
                break
            self.pieces.append(piece)
        columns = self.pieces[-1].columns
        values, strange = parse_numbers(cells)
        numbers = np.flatnonzero(~np.isnan(values.to_numpy(zero_copy_only=False)))
        counts = (np.bincount(places % len(columns), minlength=len(columns)).tolist() for places in (strange, numbers))
        return dict(zip(columns, zip(*counts, strict=True), strict=True))


class CsvTable:
    """CSV files.

    A column whose kind is not given is one of numbers if more than half of its values in the first megabyte that has
    rows are numbers, whatever is missing; any other value is an error, there and later on. As a category, a column
    with a single slip would have a feature for each of its numbers. An empty field is missing, and so are ``NA``,
    ``NaN``, ``null``, ``?`` and the like in a column of numbers.
    """

    def __init__(self, files: list[str], request: Request) -> None:
        self._files = files
        self.where = display_name(files[0])
        pieces = csv_pieces(files, request.reading)
        sample = _Sample(pieces)
        self._first = sample.pieces[0].columns
        self.header: bool | None = sample.pieces[0].header
        # Every pass has the same columns, even if the file changes.
        self._reading = request.reading.but(header=self.header)

        def guess(column: str) -> ColumnKind:
            strange, numbers = sample.counts.get(column, (0, 0))
            return "number" if not strange or numbers > strange else "category"

        try:
            self.layout = choose_columns(self._first, request, guess, self.where)
        except DataError as error:
            if self.header or request.reading.header is not None:
                raise
            raise DataError(
                f"{error} (the first row has only numbers, so it is data, and the columns are numbered from 0;"
                f" use {option('header', True)} if it has their names)"
            ) from error
        read, label = self.layout.kinds, self.layout.label
        if label is not None:
            kind = request.label_kind or (request.reading.kinds or {}).get(label)
            if kind is None:
                # One label that is no number makes all of them strings: unlike features, they are checked one by one.
                kind = "category" if sample.counts.get(label, (0, 0))[0] else "number"
            read = {label: kind, **read}
        self._parser = CsvParser(read, label)
        # A pipe cannot be read again from the start.
        self._pipe: Iterator[CsvPiece] | None = chain(sample.pieces, pieces) if _piped(files) else None
        if self._pipe is None:
            pieces.close()

    def items(self) -> Iterator[CsvPiece]:
        pieces: Iterable[CsvPiece] = csv_pieces(self._files, self._reading)
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

    def rows(self, item: CsvPiece) -> TableRows:
        return self._parser.parse(item)


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
