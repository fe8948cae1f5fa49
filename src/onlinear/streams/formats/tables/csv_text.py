"""CSV text: cutting files into pieces, and naming their columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from onlinear.errors import DataError, EmptyFileError, ParameterError
from onlinear.streams.files import display_name, open_file
from onlinear.streams.formats.tables.columns import check_distinct
from onlinear.streams.formats.tables.csv_numbers import missing_words
from onlinear.streams.formats.tables.csv_records import Records, cut, lines_of
from onlinear.streams.reading import Reading


class CsvPiece(NamedTuple):
    """Whole records of a file."""

    name: str
    columns: tuple[str, ...]
    line: int
    """The number of its first line, from 1."""
    text: bytearray
    delimiter: str
    header: bool
    """Whether the first row of the file names the columns."""


@dataclass(frozen=True)
class CsvOrigin:
    """Where the records of a piece are."""

    piece: CsvPiece

    @cached_property
    def records(self) -> Records:
        # Computed on demand: it is not needed for good examples.
        return Records(self.piece.text, self.piece.delimiter)

    def place(self, row: int) -> str:
        """Return the file and the line where a record begins."""
        return f"{self.piece.name}:{self.piece.line + int(self.records.lines[row])}"

    def written(self, row: int) -> bytes:
        """Return a record as it was written."""
        return bytes(self.piece.text[self.records.starts[row] : self.records.stops[row]])


def delimiter_of(name: str, reading: Reading) -> str:
    """Return the delimiter of a file."""
    if reading.delimiter is None:
        return "\t" if re.search(r"\.tsv(\.\w+)?$", name, re.IGNORECASE) else ","
    if not reading.delimiter.isascii() or reading.delimiter in '"\r\n':
        raise ParameterError(f"delimiter is {reading.delimiter!r}; it must be an ASCII character other than a quote")
    return reading.delimiter


def csv_pieces(files: list[str], reading: Reading) -> Generator[CsvPiece, None, None]:
    """Yield the files as pieces of about a megabyte, without their headers.

    Whether there are headers is decided by the first file, unless the reading says it.
    """
    header = reading.header
    for file in files:
        delimiter, name = delimiter_of(file, reading), display_name(file)
        columns: tuple[str, ...] | None = None
        with open_file(file) as raw:
            for first, text in cut(raw, name, delimiter):
                line = first
                if columns is None:
                    records = Records(text, delimiter)
                    if not records.starts.size:
                        continue
                    start, stop = int(records.starts[0]), int(records.stops[0])
                    place = f"{name}:{line + int(records.lines[0])}"
                    fields = _fields(bytes(text[start:stop]), place, delimiter)
                    header = not _are_data(fields) if header is None else header
                    columns = _names(fields, place) if header else tuple(map(str, range(len(fields))))
                    if header:
                        line += lines_of(text[:stop])
                        # The newline of the header stays: a blank line, which is skipped.
                        del text[:stop]
                yield CsvPiece(name, columns, line, text, delimiter, bool(header))
        if columns is None:
            raise EmptyFileError(f"{name}: the file is empty")


def _fields(record: bytes, place: str, delimiter: str) -> list[str]:
    """Return the fields of the first record of a file, without the blanks around them."""
    try:
        text = record.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place}: byte 0x{record[error.start]:02x} is not valid UTF-8; save the file as UTF-8"
        ) from error
    try:
        return [field.strip(" \t") for field in next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))]
    except csv.Error as error:
        raise DataError(f"{place}: {error}") from error


def _are_data(fields: list[str]) -> bool:
    """Tell whether the fields of a row are numbers or missing, and not all missing: names would be words."""
    given = [field for field in fields if field not in missing_words()]
    return bool(given) and all(map(_is_number, given))


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def _names(fields: list[str], place: str) -> tuple[str, ...]:
    check_distinct(fields, place)
    return tuple(fields)
