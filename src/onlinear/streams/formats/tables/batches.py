"""Tables as Arrow batches of bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from onlinear.errors import DataError
from onlinear.spelling import advice
from onlinear.streams.formats.format import Request
from onlinear.streams.formats.tables.arrow_types import (
    as_bytes,
    as_kind,
    check_label_type,
    check_type,
    kind_of,
    label_values,
)
from onlinear.streams.formats.tables.cells import TableRows
from onlinear.streams.formats.tables.columns import check_distinct, check_like, choose_columns
from onlinear.streams.reading import ColumnKind

ROWS = 1 << 16
"""The largest number of rows in a batch."""
_BYTES = 1 << 20
"""The approximate size of a batch, both as it is stored and as numbers."""
_FEWEST = 1 << 10
"""Batches of narrow rows may have this many whatever their size, which includes that of dictionaries."""
_CELL = 9
"""The number of bytes per number, including whether it is missing."""

Check = Callable[[Any, str], None]
"""Called with the schema and the name of each file before it is read."""


class TableBatch(NamedTuple):
    """Some rows of a table, from its row `first` on."""

    rows: Any
    name: str
    first: int


class BatchSource(Protocol):
    """Gives out a table in batches."""

    where: str
    schema: Any

    def batches(self, columns: Sequence[str], categories: Sequence[str], check: Check) -> Iterator[TableBatch]:
        """Yield some columns of all rows; categories may come as dictionaries."""


@dataclass(frozen=True)
class _BatchOrigin:
    batch: TableBatch

    def place(self, row: int) -> str:
        place = f"row {self.batch.first + row}"
        return f"{self.batch.name}:{place}" if self.batch.name else place

    def written(self, row: int) -> bytes:
        (cells,) = self.batch.rows.slice(row, 1).to_pylist()
        return json.dumps(cells, ensure_ascii=False, default=str).encode(errors="replace")


def unpack(batch: TableBatch, kinds: dict[str, ColumnKind], label: str | None) -> TableRows:
    """Return the columns of a batch: numbers as a matrix, the others as strings or dictionaries of strings."""
    origin = _BatchOrigin(batch)
    with readable(f"{origin.place(0)} and the rows after it"):
        # Arrow trusts the offsets of strings in a file; those of a damaged one could point anywhere.
        for name, column in zip(batch.rows.schema.names, batch.rows.columns, strict=True):
            _check_content(name, column, origin)
        columns = {name: as_kind(batch.rows.column(name), kind) for name, kind in kinds.items()}
        found = [columns.pop(name) for name, kind in kinds.items() if kind == "number"]
        numbers = np.empty((batch.rows.num_rows, len(found)))
        for i, column in enumerate(found):
            numbers[:, i] = column.to_numpy(zero_copy_only=False)
        if label is not None:
            columns[label] = label_values(batch.rows.column(label))
    return TableRows(columns, numbers, batch.rows.num_rows, None, [], [], origin)


def _check_content(name: str, column: Any, origin: _BatchOrigin) -> None:
    """Raise unless a column is valid; for a string that is not UTF-8, with its row."""
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        # As bytes it may be valid: then it is safe to look for the string.
        plain = as_bytes(column)
        plain.validate(full=True)
        for row, value in enumerate(plain):
            try:
                (value.as_py() or b"").decode()
            except UnicodeDecodeError as reason:
                remedy = ", or ".join(
                    ["write the strings as UTF-8", *advice(("leave the column out ({})", "drop", None))]
                )
                raise DataError(f"{origin.place(row)}: column {name!r}: {show_byte(reason)}; {remedy}") from error
        raise


def show_byte(error: UnicodeDecodeError) -> str:
    """Return which byte is not valid UTF-8."""
    return f"byte 0x{error.object[error.start]:02x} is not valid UTF-8"


class BatchedTable:
    """A table in Arrow batches; the kind of a column follows from its type."""

    header: bool | None = None

    def __init__(self, source: BatchSource, request: Request) -> None:
        self._source, self._request = source, request
        self.where = source.where
        schema = source.schema
        with readable(self.where):
            self._first = tuple(schema.names)
        check_distinct(self._first, self.where)

        def guess(column: str) -> ColumnKind:
            return kind_of(column, schema.field(column).type, self.where)

        self.layout = choose_columns(self._first, request, guess, self.where)
        self._check(schema, self.where)

    def items(self) -> Iterator[TableBatch]:
        categories = [name for name, kind in self.layout.kinds.items() if kind == "category"]
        return self._source.batches(self.layout.columns, categories, self._check)

    def rows(self, item: TableBatch) -> TableRows:
        return unpack(item, self.layout.kinds, self.layout.label)

    def _check(self, schema: Any, name: str) -> None:
        check_distinct(schema.names, name)
        check_like(schema.names, self.layout, self._request.reading, self._first, name)
        for column, kind in self.layout.kinds.items():
            check_type(column, schema.field(column).type, kind, name)
        if self.layout.label is not None:
            check_label_type(self.layout.label, schema.field(self.layout.label).type, self._request.label_kind, name)


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn the errors that Arrow raises about a file into a `DataError` with the file's name."""
    import pyarrow as pa

    try:
        yield
    except DataError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"{name}: the file does not exist") from error
    except OSError as error:
        raise DataError(f"{name}: {error.strerror or _line(error)}") from error
    except MemoryError as error:
        raise DataError(f"{name}: reading it needs more memory than there is; the file may be damaged") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: the name of a column is {error.object!r:.60}, where {show_byte(error)}; rename it"
        ) from error
    except (pa.ArrowException, ValueError, TypeError, OverflowError, EOFError) as error:
        # OverflowError: a frame may hold Python objects, such as an integer of 70 bits.
        raise DataError(f"{name}: {_line(error)}") from error


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def rows_per_batch(held: int, rows: int, columns: int) -> int:
    """Return how many rows a batch should have; `held` is the size of the table in bytes."""
    # Compressed data may be far smaller than the numbers: zeros take next to nothing.
    most = max(1, min(ROWS, _BYTES // (_CELL * max(1, columns))))
    return min(most, max(_FEWEST, _BYTES * rows // max(1, held)))


def cut_batches(drawn: Iterator[Any], name: str) -> Iterator[TableBatch]:
    """Yield Arrow batches; large ones are split."""
    first = 0
    for batch in drawn:
        # Checks that all buffers are there and large enough; `unpack` checks their content.
        batch.validate()
        size = rows_per_batch(batch.nbytes, batch.num_rows, batch.num_columns)
        for begin in range(0, batch.num_rows, size):
            part = batch.slice(begin, size)
            yield TableBatch(part, name, first + begin)
        first += batch.num_rows
