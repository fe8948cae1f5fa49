"""CSV text: cutting files into pieces, and parsing these with Arrow."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError, EmptyFileError, ParameterError
from onlinear.streams.files import display_name, open_file
from onlinear.streams.formats.tables.cells import TableRows
from onlinear.streams.formats.tables.columns import check_distinct
from onlinear.streams.formats.tables.csv_records import Records, cut, lines_of
from onlinear.streams.formats.tables.wrong import Wrong
from onlinear.streams.reading import ColumnKind, Reading

_SHOWN = 40
"""How much of a faulty value a message shows."""
_NUMBER = r"^-?\d+(\.\d+)?([eE][-+]?\d+)?$"
"""Matches what certainly is a number."""
_LIKE_A_NUMBER = r"^[-+]?([\d.]+([eE][-+]?\d+)?$|(?i:inf|nan))"
"""Matches what may be a number."""


class CsvPiece(NamedTuple):
    """Whole records of a file."""

    name: str
    columns: tuple[str, ...]
    line: int
    """The number of its first line, from 1."""
    text: bytearray
    delimiter: str


@dataclass(frozen=True)
class _CsvOrigin:
    """Where the records of a piece are."""

    piece: CsvPiece

    @cached_property
    def records(self) -> Records:
        # Computed on demand: it is not needed for good examples.
        return Records(self.piece.text, self.piece.delimiter)

    def place(self, row: int) -> str:
        return f"{self.piece.name}:{self.piece.line + int(self.records.lines[row])}"

    def written(self, row: int) -> bytes:
        return bytes(self.piece.text[self.records.starts[row] : self.records.stops[row]])


def delimiter_of(name: str, reading: Reading) -> str:
    """Return the delimiter of a file."""
    if reading.delimiter is None:
        return "\t" if re.search(r"\.tsv(\.\w+)?$", name, re.IGNORECASE) else ","
    if not reading.delimiter.isascii() or reading.delimiter in '"\r\n':
        raise ParameterError(f"delimiter is {reading.delimiter!r}; it must be an ASCII character other than a quote")
    return reading.delimiter


def csv_pieces(files: list[str], reading: Reading) -> Generator[CsvPiece, None, None]:
    """Yield the files as pieces of about a megabyte, without their headers."""
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
                    columns = _columns(bytes(text[start:stop]), place, reading, delimiter)
                    if reading.header:
                        line += lines_of(text[:stop])
                        # The newline of the header stays: a blank line, which is skipped.
                        del text[:stop]
                yield CsvPiece(name, columns, line, text, delimiter)
        if columns is None:
            raise EmptyFileError(f"{name}: the file is empty")


def parse_piece(piece: CsvPiece, kinds: Mapping[str, ColumnKind], label: str | None = None) -> TableRows:
    """Return some columns of a piece: numbers as float64, the others as strings."""
    import pyarrow as pa

    origin = _CsvOrigin(piece)
    text: bytes | bytearray = piece.text
    faults: list[Wrong] = []
    readable: NDArray[np.intp] | None = None
    if not _is_utf8(text):
        text, readable, strange = _readable(origin)
        faults.append(strange)
    bad: list[tuple[int, Wrong]] = []
    try:
        types = {name: pa.float64() if kind == "number" else pa.string() for name, kind in kinds.items()}
        table, odd = _read(piece, text, types)
    except pa.ArrowInvalid:
        table, odd = _read(piece, text, dict.fromkeys(kinds, pa.string()))
    columns = {name: table.column(name).combine_chunks() for name in kinds}
    for position, (name, kind) in enumerate(kinds.items()):
        if kind == "number" and columns[name].type != pa.float64():
            values = columns[name]
            columns[name], rows = _numbers(values)
            bad.append((position, Wrong(rows, _no_number(values, "label" if name == label else f"column {name!r}:"))))
    if not odd.rows and readable is None:
        return TableRows(columns, table.num_rows, None, [], bad, origin)
    records = np.arange(table.num_rows + len(odd.rows)) if readable is None else readable
    if odd.rows:
        odd_rows = np.array(odd.rows, dtype=np.intp)
        faults.append(_wrong_width(records[odd_rows], odd.fields, len(piece.columns)))
        records = np.delete(records, odd_rows)
    return TableRows(columns, table.num_rows, records, faults, bad, origin)


def numeric(values: Any) -> bool:
    """Tell whether all strings are numbers or missing."""
    import pyarrow as pa

    try:
        _cleaned(values).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


class _Odd(NamedTuple):
    """The records with a wrong number of fields: their numbers from 0, and the number of fields of each."""

    rows: array[int]
    fields: array[int]


def _wrong_width(records: NDArray[np.intp], fields: array[int], width: int) -> Wrong:
    def reason(record: int) -> str:
        return f"{fields[int(np.searchsorted(records, record))]} field(s) instead of {width}"

    return Wrong(records, reason)


def _no_number(values: Any, where: str) -> Callable[[int], str]:
    return lambda row: f"{where} {values[row].as_py()[:_SHOWN]!r} is not a number"


def _read(piece: CsvPiece, text: bytes | bytearray, types: dict[str, Any]) -> tuple[Any, _Odd]:
    """Return columns as a table, and the records with a wrong number of fields."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    odd = _Odd(array("q"), array("q"))

    def note(row: Any) -> str:
        odd.rows.append(row.number - 1)
        odd.fields.append(row.actual_columns)
        return "skip"

    # In one block, so that a record's number is that within the text. Pieces are parsed in parallel, so columns
    # need not be. To Arrow an empty text is an error, a blank line is not.
    table = arrow.read_csv(
        pa.BufferReader(text or b"\n"),
        arrow.ReadOptions(use_threads=False, block_size=len(text) + 2, column_names=list(piece.columns)),
        arrow.ParseOptions(delimiter=piece.delimiter, newlines_in_values=True, invalid_row_handler=note),
        arrow.ConvertOptions(column_types=types, include_columns=list(types)),
    )
    return table, odd


def _cleaned(values: Any) -> Any:
    """Return strings that should be numbers as Arrow's CSV reader treats them: trimmed, and null where missing."""
    import pyarrow as pa
    from pyarrow import compute as pc
    from pyarrow import csv as arrow

    missing = pc.is_in(values, value_set=pa.array(arrow.ConvertOptions().null_values))
    return pc.if_else(missing, pa.scalar(None, pa.string()), pc.utf8_trim(values, " \t"))


def _numbers(values: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return strings as numbers, null for any other string, and the rows of those."""
    import pyarrow as pa
    from pyarrow import compute as pc

    cleaned = _cleaned(values)
    try:
        return cleaned.cast(pa.float64()), np.empty(0, dtype=np.intp)
    except pa.ArrowInvalid:
        pass
    # Arrow does not say which value failed. Testing each would be slow, so only the doubtful ones are tested.
    like = pc.match_substring_regex(cleaned, _LIKE_A_NUMBER)
    doubtful = cleaned.filter(pc.and_not(like, pc.match_substring_regex(cleaned, _NUMBER))).unique()
    strange = [one for one in doubtful.to_pylist() if not _is_number(one)]
    mask = pc.or_(pc.invert(like), pc.is_in(cleaned, value_set=pa.array(strange, pa.string())))
    mask = pc.fill_null(mask, fill_value=False)
    numbers = pc.if_else(mask, pa.scalar(None, pa.string()), cleaned).cast(pa.float64())
    return numbers, np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _is_number(text: str) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _is_utf8(text: bytes | bytearray) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def _readable(origin: _CsvOrigin) -> tuple[bytes, NDArray[np.intp], Wrong]:
    """Return the text of the records of a piece that are UTF-8, their numbers, and the others."""
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

    return text, kept, Wrong(np.flatnonzero(~good), reason)


def _columns(record: bytes, place: str, reading: Reading, delimiter: str) -> tuple[str, ...]:
    """Return the names of the columns from the first record of a file."""
    try:
        text = record.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place}: byte 0x{record[error.start]:02x} is not valid UTF-8; save the file as UTF-8"
        ) from error
    try:
        fields = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"{place}: {error}") from error
    if not reading.header:
        return tuple(map(str, range(len(fields))))
    check_distinct(fields, place)
    return tuple(fields)
