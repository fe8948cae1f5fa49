"""Parquet files as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onlinear.streams.formats.format import Format, Request
from onlinear.streams.formats.tables import batches as arrow
from onlinear.streams.formats.tables.reader import TABLE_OPTIONS, TableReader


class ParquetBatches:
    """Parquet files."""

    def __init__(self, files: list[str]) -> None:
        from pyarrow import parquet

        self.files = files
        self.where = files[0]
        with arrow.readable(self.where), parquet.ParquetFile(self.where) as file:
            self.schema = file.schema_arrow

    def batches(
        self, columns: Sequence[str], categories: Sequence[str], check: arrow.Check
    ) -> Iterator[arrow.TableBatch]:
        """Yield the row groups in batches."""
        from pyarrow import parquet, types

        # What was written as a dictionary is read as one: otherwise Arrow checks its strings, and names no place.
        coded = {*categories, *(field.name for field in self.schema if types.is_dictionary(field.type))}
        for name in self.files:
            with (
                arrow.readable(name),
                parquet.ParquetFile(name, read_dictionary=sorted(coded), pre_buffer=False) as file,
            ):
                check(file.schema_arrow, name)
                held = sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
                size = arrow.rows_per_batch(held, file.metadata.num_rows, len(columns))
                yield from arrow.cut_batches(file.iter_batches(batch_size=size, columns=list(columns)), name)


def _open(files: list[str], request: Request) -> TableReader:
    return TableReader(arrow.BatchedTable(ParquetBatches(files), request), request)


FORMAT = Format("parquet", _open, magic=(b"PAR1",), options=TABLE_OPTIONS, piped=False)
