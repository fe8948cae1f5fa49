"""Parquet, Arrow files and data frames as Arrow batches of bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from onlinear.errors import DataError
from onlinear.streams.files import Pipe, opened, shown
from onlinear.streams.formats.tables.arrow_types import as_kind, as_labels
from onlinear.streams.formats.tables.cells import Rows
from onlinear.streams.formats.tables.columns import check_distinct
from onlinear.streams.reading import Kind

ROWS = 1 << 16
"""A batch has at most so many rows,"""
_BYTES = 1 << 20
"""and about so many bytes, as it is stored and as numbers,"""
_FEWEST = 1 << 10
"""but so many rows it may have, if they are not wide: the size of a dictionary is not that of its rows."""
_CELL = 9
"""So many bytes a number takes, with whether it is there."""

Check = Callable[[Any, str], None]
"""Is called with the schema of each file, and the file's name, before it is read."""


class Batch(NamedTuple):
    """Some rows of a table; the first of them is its row `first`."""

    rows: Any
    name: str
    first: int


class Batched(Protocol):
    """A table that can be drawn in batches."""

    where: str
    schema: Any

    def batches(self, columns: Sequence[str], categories: Sequence[str], check: Check) -> Iterator[Batch]:
        """Yield some columns of all rows; categories may come as dictionaries."""


@dataclass(frozen=True)
class _BatchOrigin:
    batch: Batch

    def place(self, row: int) -> str:
        place = f"row {self.batch.first + row}"
        return f"{self.batch.name}:{place}" if self.batch.name else place

    def written(self, row: int) -> bytes:
        (cells,) = self.batch.rows.slice(row, 1).to_pylist()
        return json.dumps(cells, ensure_ascii=False, default=str).encode(errors="replace")


def unpacked(batch: Batch, kinds: dict[str, Kind], label: str | None) -> Rows:
    """Return the columns of a batch: numbers as float64, the others as strings or dictionaries of strings."""
    origin = _BatchOrigin(batch)
    with readable(f"{origin.place(0)} and the rows after it"):
        # Arrow believes what a file says of its strings; a damaged one would lead it astray.
        batch.rows.validate(full=True)
        columns = {name: as_kind(batch.rows.column(name), kind) for name, kind in kinds.items()}
        if label is not None:
            columns[label] = as_labels(batch.rows.column(label))
    return Rows(columns, batch.rows.num_rows, None, [], [], origin)


class Parquet:
    """Parquet files."""

    def __init__(self, files: list[str]) -> None:
        from pyarrow import parquet

        pipes = [name for name in files if isinstance(name, Pipe)]
        if pipes:
            raise DataError(f"{shown(pipes[0])}: a Parquet file is read from its end, so it cannot come through a pipe")
        self.files = files
        self.where = files[0]
        with readable(self.where), parquet.ParquetFile(self.where) as file:
            self.schema = file.schema_arrow

    def batches(self, columns: Sequence[str], categories: Sequence[str], check: Check) -> Iterator[Batch]:
        """Yield row group by row group, in batches."""
        from pyarrow import parquet

        for name in self.files:
            with readable(name), parquet.ParquetFile(name, read_dictionary=list(categories), pre_buffer=False) as file:
                check(file.schema_arrow, name)
                held = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
                size = _rows_of(held, file.metadata.num_rows, len(columns))
                yield from _cut(file.iter_batches(batch_size=size, columns=list(columns)), name)


class Arrow:
    """Arrow files, Feather included, and Arrow streams."""

    def __init__(self, files: list[str]) -> None:
        from pyarrow import ipc

        self.files = files
        self.where = shown(files[0])
        self._pipe: Any = None
        for name in files:
            if isinstance(name, Pipe):
                with readable(shown(name)):
                    self._pipe = ipc.open_stream(opened(name))
        with readable(self.where), self._opened(files[0], None) as (schema, _):
            self.schema = schema

    def batches(self, columns: Sequence[str], categories: Sequence[str], check: Check) -> Iterator[Batch]:
        """Yield the batches of the files, the large ones in several parts."""
        for name in self.files:
            with readable(shown(name)), self._opened(name, columns) as (schema, drawn):
                check(schema, shown(name))
                if isinstance(name, Pipe):
                    self._pipe = None
                yield from _cut((batch.select(list(columns)) for batch in drawn), shown(name))

    @contextmanager
    def _opened(self, name: str, columns: Sequence[str] | None) -> Iterator[tuple[Any, Iterator[Any]]]:
        """Give the schema and the batches of a file or stream; of a file only these columns are read."""
        import pyarrow as pa
        from pyarrow import ipc

        if isinstance(name, Pipe):
            if self._pipe is None:
                raise DataError(f"{shown(name)} can be read only once")
            yield self._pipe.schema, iter(self._pipe)
            return
        # Not mapped into memory: if somebody cut the file short meanwhile, that would end the process.
        with pa.OSFile(name) as file:
            start = file.read(6)
            file.seek(0)
            if start.startswith(b"FEA1"):
                raise DataError(f"{name}: a Feather file of the first version; write it anew (Feather 2 is Arrow)")
            if start == b"ARROW1":
                reader = ipc.open_file(file)
                schema = reader.schema
                if columns is not None and set(columns) <= set(schema.names):
                    wanted = sorted(schema.get_field_index(column) for column in columns)
                    file.seek(0)
                    reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=wanted))
                yield schema, (reader.get_batch(i) for i in range(reader.num_record_batches))
                return
        with opened(name) as text, ipc.open_stream(text) as stream:
            yield stream.schema, iter(stream)


class Frame:
    """A table in memory."""

    where = "the table"

    def __init__(self, table: Any) -> None:
        import pyarrow as pa

        self._once = isinstance(table, pa.RecordBatchReader)
        self._draw: Callable[[], Any] | None
        module = type(table).__module__.partition(".")[0]
        with readable(self.where):
            if module == "pandas":
                self.schema, self._draw = _pandas(table)
            elif module == "polars":
                self.schema, self._draw = _polars(table)
            elif isinstance(table, pa.Table | pa.RecordBatch):
                whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
                self.schema, self._draw = whole.schema, whole.to_batches
            elif self._once:
                self.schema, self._draw = table.schema, lambda: iter(table)
            elif hasattr(table, "__arrow_c_stream__"):
                self.schema = pa.RecordBatchReader.from_stream(table).schema
                self._draw = lambda: iter(pa.RecordBatchReader.from_stream(table))
            else:
                raise DataError(
                    f"{type(table).__name__} is no table that can be read; give a data frame or an Arrow table"
                )

    def batches(self, columns: Sequence[str], categories: Sequence[str], check: Check) -> Iterator[Batch]:
        """Yield the rows of the table."""
        if self._draw is None:
            raise DataError("a RecordBatchReader can be read only once")
        draw = self._draw
        if self._once:
            self._draw = None
        check(self.schema, self.where)
        with readable(self.where):
            yield from _cut((batch.select(list(columns)) for batch in draw()), "")


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn what Arrow says of a file that it cannot read into an error with the file's name."""
    import pyarrow as pa

    try:
        yield
    except DataError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"{name}: there is no such file") from error
    except OSError as error:
        raise DataError(f"{name}: {error.strerror or _line(error)}") from error
    except MemoryError as error:
        raise DataError(f"{name}: it asks for more memory than there is; it may be damaged") from error
    except (pa.ArrowException, ValueError, TypeError, OverflowError, EOFError) as error:
        # The last but one for what Python objects come to in a frame, such as an integer of 70 bits.
        raise DataError(f"{name}: {_line(error)}") from error


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _rows_of(held: int, rows: int, columns: int) -> int:
    """Return how many rows a batch should have, of a table of so many bytes, rows and columns."""
    # What is stored may be far less than the numbers that it comes to: zeros take next to nothing.
    most = max(1, min(ROWS, _BYTES // (_CELL * max(1, columns))))
    return min(most, max(_FEWEST, _BYTES * rows // max(1, held)))


def _cut(drawn: Iterator[Any], name: str) -> Iterator[Batch]:
    first = 0
    for batch in drawn:
        # Whether all buffers are there, and large enough; what is in them is looked at by those who read it.
        batch.validate()
        size = _rows_of(batch.nbytes, batch.num_rows, batch.num_columns)
        for begin in range(0, batch.num_rows, size):
            part = batch.slice(begin, size)
            yield Batch(part, name, first + begin)
        first += batch.num_rows


def _pandas(frame: Any) -> tuple[Any, Callable[[], Iterator[Any]]]:
    import pyarrow as pa

    if not hasattr(frame, "columns"):
        raise DataError(f"a pandas {type(frame).__name__} is no table; make it a data frame")
    columns = [str(name) for name in frame.columns]
    check_distinct(columns, Frame.where)
    named = frame if columns == list(frame.columns) else frame.set_axis(columns, axis=1)
    schema = pa.Schema.from_pandas(named, preserve_index=False)

    def draw() -> Iterator[Any]:
        rows = _rows_of(8 * named.size, *named.shape)
        for begin in range(0, len(named), rows):
            part = named.iloc[begin : begin + rows]
            # A column of strings may be in several chunks, as it was put together: too much for a single batch.
            table = pa.Table.from_pandas(part, schema=schema, preserve_index=False, nthreads=1)
            yield from table.combine_chunks().to_batches()

    return schema, draw


def _polars(frame: Any) -> tuple[Any, Callable[[], Iterator[Any]]]:
    if hasattr(frame, "collect"):
        raise DataError("a polars LazyFrame has no rows yet; hand over its .collect()")
    if not hasattr(frame, "iter_slices"):
        raise DataError(f"a polars {type(frame).__name__} is no table; make it a data frame")

    def draw() -> Iterator[Any]:
        for part in frame.iter_slices(_rows_of(8 * frame.height * frame.width, frame.height, frame.width)):
            yield from part.to_arrow().to_batches()

    return frame.head(0).to_arrow().schema, draw
