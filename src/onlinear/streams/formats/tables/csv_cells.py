"""All cells of CSV text in one long column, row by row: what many columns cost does not depend on their number."""

from __future__ import annotations

import csv
import io
from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.streams.formats.tables.csv_columns import OddRecords, read_columns

_LF = ord("\n")


def all_cells(text: bytes | bytearray, delimiter: str, columns: int) -> tuple[Any, OddRecords]:
    """Return the cells of whole records as Arrow strings, row by row, and the records that are left out."""
    if b'"' in text:
        return _quoted_cells(text, delimiter, columns)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # The first line is often blank, where there was a header.
    data = np.frombuffer(text.lstrip(b"\n"), dtype=np.uint8)
    ends = _ends(data, delimiter)
    at_line = np.flatnonzero(data[ends] == _LF)
    fields = np.diff(at_line, prepend=-1)
    odd = OddRecords(array("q"), array("q"))
    if (fields != columns).any() or columns == 1:
        # A blank line has one field, too.
        sizes = np.diff(ends[at_line], prepend=-1)
        full = sizes > 1
        wrong = np.flatnonzero(fields[full] != columns)
        odd.rows.extend(wrong.tolist())
        odd.fields.extend(fields[full][wrong].tolist())
        data = data[np.repeat(full & (fields == columns), sizes)]
        ends = _ends(data, delimiter)
    return _strings(data, ends), odd


def _ends(data: NDArray[np.uint8], delimiter: str) -> NDArray[np.intp]:
    """Return where each cell ends."""
    return np.flatnonzero((data == ord(delimiter)) | (data == _LF))


def _strings(data: NDArray[np.uint8], ends: NDArray[np.intp]) -> Any:
    """Return the cells as Arrow strings: without what separates them, they are adjacent, as Arrow stores them."""
    import pyarrow as pa

    inside = np.ones(data.size, dtype=bool)
    inside[ends] = False
    offsets = np.zeros(ends.size + 1, dtype=np.int32)
    offsets[1:] = ends - np.arange(ends.size)
    return pa.StringArray.from_buffers(ends.size, pa.py_buffer(offsets), pa.py_buffer(data[inside]))


def _quoted_cells(text: bytes | bytearray, delimiter: str, columns: int) -> tuple[Any, OddRecords]:
    import pyarrow as pa

    odd = OddRecords(array("q"), array("q"))
    cells: list[str] = []
    try:
        records = filter(None, csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))
        for number, record in enumerate(records):
            if len(record) == columns:
                cells += record
            else:
                odd.rows.append(number)
                odd.fields.append(len(record))
    except csv.Error:  # a field of more than 128 KB
        names = [str(i) for i in range(columns)]
        table, odd = read_columns(text, delimiter, names, dict.fromkeys(names, pa.string()))
        by_row = np.arange(table.num_rows * columns).reshape(columns, -1).T.reshape(-1)
        return pa.concat_arrays([column.combine_chunks() for column in table.columns]).take(pa.array(by_row)), odd
    return pa.array(cells, pa.string()), odd
