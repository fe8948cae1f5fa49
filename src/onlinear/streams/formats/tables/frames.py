"""Tables in memory: pandas and polars data frames, Arrow tables, and whatever exports an Arrow stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from onlinear.errors import DataError
from onlinear.streams.formats.format import Request
from onlinear.streams.formats.tables import batches as arrow
from onlinear.streams.formats.tables.columns import check_distinct
from onlinear.streams.formats.tables.reader import TableReader


def open_frame(table: Any, request: Request) -> TableReader:
    """Return a reader of a table in memory."""
    return TableReader(arrow.BatchedTable(FrameBatches(table), request), request)


class FrameBatches:
    """A table in memory."""

    where = "the table"

    def __init__(self, table: Any) -> None:
        import pyarrow as pa

        self._once = isinstance(table, pa.RecordBatchReader)
        self._draw: Callable[[], Any] | None
        module = type(table).__module__.partition(".")[0]
        with arrow.readable(self.where):
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
                raise DataError(f"{type(table).__name__} is not a table; give a data frame or an Arrow table")

    def batches(
        self, columns: Sequence[str], categories: Sequence[str], check: arrow.Check
    ) -> Iterator[arrow.TableBatch]:
        """Yield the rows of the table."""
        if self._draw is None:
            raise DataError("a RecordBatchReader can be read only once")
        draw = self._draw
        if self._once:
            self._draw = None
        check(self.schema, self.where)
        with arrow.readable(self.where):
            yield from arrow.cut_batches((batch.select(list(columns)) for batch in draw()), "")


def _pandas(frame: Any) -> tuple[Any, Callable[[], Iterator[Any]]]:
    import pyarrow as pa

    if not hasattr(frame, "columns"):
        raise DataError(f"a pandas {type(frame).__name__} is not a table; give a DataFrame")
    columns = [str(name) for name in frame.columns]
    check_distinct(columns, FrameBatches.where)
    named = frame if columns == list(frame.columns) else frame.set_axis(columns, axis=1)
    try:
        schema = pa.Schema.from_pandas(named, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        for column in columns:
            with _column_of(column, named[column].dtype):
                pa.Schema.from_pandas(named[[column]], preserve_index=False)
        raise

    def draw() -> Iterator[Any]:
        rows = arrow.rows_per_batch(8 * named.size, *named.shape)
        for begin in range(0, len(named), rows):
            part = named.iloc[begin : begin + rows]
            # A concatenated column of strings may have several chunks; a batch has one.
            table = pa.Table.from_pandas(part, schema=schema, preserve_index=False, nthreads=1)
            yield from table.combine_chunks().to_batches()

    return schema, draw


def _polars(frame: Any) -> tuple[Any, Callable[[], Iterator[Any]]]:
    import pyarrow as pa

    if hasattr(frame, "collect"):
        raise DataError("a polars LazyFrame has no rows yet; give its .collect()")
    if not hasattr(frame, "iter_slices"):
        raise DataError(f"a polars {type(frame).__name__} is not a table; give a DataFrame")

    def draw() -> Iterator[Any]:
        for part in frame.iter_slices(arrow.rows_per_batch(8 * frame.height * frame.width, frame.height, frame.width)):
            yield from part.to_arrow().to_batches()

    top = frame.head(0)
    try:
        schema = top.to_arrow().schema
    except (pa.ArrowException, ValueError, TypeError):
        for column, kind in frame.schema.items():
            with _column_of(column, kind):
                top.select(column).to_arrow()
        raise
    return schema, draw


@contextmanager
def _column_of(name: str, kind: Any) -> Iterator[None]:
    """Say which column Arrow cannot convert."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"{FrameBatches.where}: column {name!r} of type {kind} cannot be read ({reason}); make it numbers or"
            " strings, or remove it from the table"
        ) from error
