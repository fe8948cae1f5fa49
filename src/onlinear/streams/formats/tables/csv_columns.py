"""Some columns of CSV text, each parsed by Arrow as its type."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from onlinear.streams.formats.tables.csv_numbers import missing_words


class OddRecords(NamedTuple):
    """The records with a wrong number of fields: their numbers from 0, and the number of fields of each."""

    rows: array[int]
    fields: array[int]


def read_columns(
    text: bytes | bytearray, delimiter: str, columns: Sequence[str], types: dict[str, Any]
) -> tuple[Any, OddRecords]:
    """Return columns as a table, and the records with a wrong number of fields."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    odd = OddRecords(array("q"), array("q"))

    def note(row: Any) -> str:
        odd.rows.append(row.number - 1)
        odd.fields.append(row.actual_columns)
        return "skip"

    # In one block, so that a record's number is that within the text. Pieces are parsed in parallel, so columns
    # need not be. To Arrow an empty text is an error, a blank line is not.
    table = arrow.read_csv(
        pa.BufferReader(text or b"\n"),
        arrow.ReadOptions(use_threads=False, block_size=len(text) + 2, column_names=list(columns)),
        arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note),
        arrow.ConvertOptions(column_types=types, include_columns=list(types), null_values=missing_words()),
    )
    return table, odd
