"""Tables: CSV, Parquet, Arrow and data frames, whose columns become features."""

from onlinear.streams.formats.tables.frames import open_frame
from onlinear.streams.formats.tables.reader import TABLE_OPTIONS

__all__ = ["TABLE_OPTIONS", "open_frame"]
