"""Arrow files and streams as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from onlinear.errors import DataError
from onlinear.streams.files import Pipe, display_name, open_file
from onlinear.streams.formats.format import Format, Request
from onlinear.streams.formats.tables.batches import BatchedTable, Check, TableBatch, cut_batches, readable
from onlinear.streams.formats.tables.reader import TABLE_OPTIONS, TableReader

_MAGIC = b"ARROW1"


class ArrowBatches:
    """Arrow files, Feather included, and Arrow streams."""

    def __init__(self, files: list[str]) -> None:
        from pyarrow import ipc

        self.files = files
        self.where = display_name(files[0])
        self._pipe: Any = None
        for name in files:
            if isinstance(name, Pipe):
                if name.look(lambda start: len(start) >= len(_MAGIC), len(_MAGIC)).startswith(_MAGIC):
                    raise DataError(
                        f"an Arrow file cannot be read from {name.in_words}; give a file name, or pipe an Arrow stream"
                    )
                with readable(display_name(name)):
                    self._pipe = ipc.open_stream(open_file(name))
        with readable(self.where), self._open(files[0], None) as (schema, _):
            self.schema = schema

    def batches(self, columns: Sequence[str], categories: Sequence[str], check: Check) -> Iterator[TableBatch]:
        """Yield the batches of the files; large ones are split."""
        for name in self.files:
            with readable(display_name(name)), self._open(name, columns) as (schema, drawn):
                check(schema, display_name(name))
                if isinstance(name, Pipe):
                    self._pipe = None
                yield from cut_batches((batch.select(list(columns)) for batch in drawn), display_name(name))

    @contextmanager
    def _open(self, name: str, columns: Sequence[str] | None) -> Iterator[tuple[Any, Iterator[Any]]]:
        """Give the schema and the batches of a file or stream; only these columns of a file are read."""
        import pyarrow as pa
        from pyarrow import ipc

        if isinstance(name, Pipe):
            if self._pipe is None:
                raise DataError(f"{display_name(name)} can be read only once")
            yield self._pipe.schema, iter(self._pipe)
            return
        # Not memory-mapped: truncating a mapped file would crash the process.
        with pa.OSFile(name) as file:
            start = file.read(len(_MAGIC))
            file.seek(0)
            if start.startswith(b"FEA1"):
                raise DataError(f"{name}: Feather version 1 is not supported; write the file as Feather version 2")
            if start == _MAGIC:
                reader = ipc.open_file(file)
                schema = reader.schema
                if columns is not None and set(columns) <= set(schema.names):
                    wanted = sorted(schema.get_field_index(column) for column in columns)
                    file.seek(0)
                    reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=wanted))
                yield schema, (reader.get_batch(i) for i in range(reader.num_record_batches))
                return
        with open_file(name) as text, ipc.open_stream(text) as stream:
            yield stream.schema, iter(stream)


def _open(files: list[str], request: Request) -> TableReader:
    return TableReader(BatchedTable(ArrowBatches(files), request), request)


FORMAT = Format("arrow", _open, magic=(_MAGIC,), options=TABLE_OPTIONS)
