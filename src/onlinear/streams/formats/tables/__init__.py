"""Tables: CSV, Parquet, Arrow and frames; columns become features."""

from onlinear.streams.formats.tables.readers import TableReader, arrow_reader, csv_reader, frame_reader, parquet_reader

__all__ = ["TableReader", "arrow_reader", "csv_reader", "frame_reader", "parquet_reader"]
