"""Converted files: Arrow or Parquet files that are read at memory speed."""

from onlinear.streams.formats.packed.packing import pack
from onlinear.streams.formats.packed.reader import PackedReader, is_packed

__all__ = ["PackedReader", "is_packed", "pack"]
