"""Arrays: NumPy and SciPy files, matrices in memory, and iterables of blocks."""

from onlinear.streams.formats.arrays.memory import BlocksReader, MatrixReader

__all__ = ["BlocksReader", "MatrixReader"]
