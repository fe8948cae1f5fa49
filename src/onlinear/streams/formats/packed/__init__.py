"""The converted form: Arrow or Parquet files that are written once and read at memory speed."""

from onlinear.streams.formats.packed.packing import pack
from onlinear.streams.formats.packed.reader import PackedReader, is_packed, packed_reader

__all__ = ["PackedReader", "is_packed", "pack", "packed_reader"]
