"""Arrays: NumPy and SciPy files, matrices in memory, and blocks from anywhere."""

from onlinear.streams.formats.arrays.matrices import blocks_reader, matrix_reader
from onlinear.streams.formats.arrays.readers import npy_reader, npz_reader

__all__ = ["blocks_reader", "matrix_reader", "npy_reader", "npz_reader"]
