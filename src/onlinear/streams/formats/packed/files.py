"""Converted files, Arrow or Parquet, read and written batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

from onlinear.errors import DataError
from onlinear.streams.formats.packed.form import END, End, damage_error

_ARROW = b"ARROW1"
_PARQUET = b"PAR1"
_PARQUET_TEXT = 90_000_000
"""Parquet readers refuse metadata above 100 MB."""


class BatchFile(Protocol):
    """An open file of batches."""

    types: Any

    def end(self) -> tuple[bytes | None, int]:
        """Return the end record, and the number of batches before it."""

    def batch(self, i: int) -> Any:
        """Return a batch."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *about: object) -> None: ...


class ArrowFile:
    """An Arrow file. It is read, not memory-mapped: truncating a mapped file would crash the process."""

    def __init__(self, name: str) -> None:
        import pyarrow as pa

        self._name = name
        self._file = pa.OSFile(name)
        self._reader = pa.ipc.open_file(self._file)
        self.types = self._reader.schema

    def end(self) -> tuple[bytes | None, int]:
        last = self._reader.num_record_batches - 1
        if last < 0:
            return None, 0
        found = self._reader.get_batch_with_custom_metadata(last)
        if found.batch.num_rows or not found.custom_metadata:
            return None, 0
        return dict(found.custom_metadata).get(END), last

    def batch(self, i: int) -> Any:
        with Guard(self._name):
            return self._reader.get_batch(i)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about: object) -> None:
        self._file.close()


class ParquetFile:
    """A Parquet file with one batch per row group."""

    def __init__(self, name: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._name = name
        self._file = pa.OSFile(name)
        self._reader = pq.ParquetFile(self._file, page_checksum_verification=True)
        self.types = self._reader.schema_arrow

    def end(self) -> tuple[bytes | None, int]:
        return (self._reader.metadata.metadata or {}).get(END), self._reader.num_row_groups

    def batch(self, i: int) -> Any:
        with Guard(self._name):
            batches = self._reader.read_row_group(i, use_threads=False).combine_chunks().to_batches()
        if len(batches) != 1:
            raise damage_error(self._name)
        return batches[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about: object) -> None:
        self._file.close()


class BatchWriter(Protocol):
    """Writes batches to a file."""

    def __init__(self, file: BinaryIO, types: Any) -> None: ...

    def write(self, batch: Any) -> None:
        """Write a batch."""

    def finish(self, end: End) -> None:
        """Write the end record, and close."""

    def close(self) -> None:
        """Close the file, complete or not."""


class ArrowWriter:
    """An Arrow IPC file, uncompressed."""

    def __init__(self, file: BinaryIO, types: Any) -> None:
        import pyarrow as pa

        self._types = types
        self._writer = pa.ipc.new_file(file, types)

    def write(self, batch: Any) -> None:
        self._writer.write_batch(batch)

    def finish(self, end: End) -> None:
        import pyarrow as pa

        empty = pa.RecordBatch.from_pylist([], schema=self._types)
        self._writer.write_batch(empty, custom_metadata={END: end.text()})
        self._writer.close()

    def close(self) -> None:
        self._writer.close()


class ParquetWriter:
    """A compressed Parquet file with one batch per row group."""

    def __init__(self, file: BinaryIO, types: Any) -> None:
        import pyarrow.parquet as pq

        # Numbers rarely repeat, so a dictionary of them would only cost time.
        self._writer = pq.ParquetWriter(
            file, types, compression="zstd", use_dictionary=["label"], write_statistics=False, write_page_checksum=True
        )

    def write(self, batch: Any) -> None:
        self._writer.write_batch(batch)

    def finish(self, end: End) -> None:
        text = end.text()
        if len(text) > _PARQUET_TEXT:
            raise DataError("the names of the features are too long for a Parquet file; write a .arrow file")
        self._writer.add_key_value_metadata({END: text})
        self._writer.close()

    def close(self) -> None:
        self._writer.close()


WRITERS: dict[str, type[BatchWriter]] = {".arrow": ArrowWriter, ".parquet": ParquetWriter}


class Guard:
    """Turns the errors that Arrow raises about a damaged file into a `DataError` with its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, arrow_errors()) and not isinstance(error, DataError):
            raise DataError(f"{self._name}: the file is damaged or truncated: {_brief(error)}") from error


def open_batches(name: str) -> BatchFile:
    """Open a file, Arrow or Parquet by its first bytes."""
    try:
        with Path(name).open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise DataError(f"{name}: {error.strerror}") from error
    with Guard(name):
        if start.startswith(_ARROW):
            return ArrowFile(name)
        if start.startswith(_PARQUET):
            return ParquetFile(name)
    raise DataError(f"{name}: not a converted file: neither Arrow nor Parquet")


def arrow_errors() -> tuple[type[Exception], ...]:
    """Return the errors that Arrow raises about damaged files."""
    import pyarrow as pa

    return (
        pa.ArrowException,
        OSError,
        ValueError,
        MemoryError,
        TypeError,
        LookupError,
        NotImplementedError,
        OverflowError,
    )


def _brief(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
