"""An array in NumPy's ``.npy`` format, read in blocks of rows with bounded memory.

The file is read, not memory-mapped: truncating a mapped file would crash the process.
"""

from __future__ import annotations

import io
import struct
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError
from onlinear.streams.files import read_into

_STEP = 1 << 24
"""Memory is allocated in steps of this size, because the header may claim more than the file holds."""
_LONGEST_HEADER = 10_000
MAGIC = b"\x93NUMPY"
_NUMBERS = "fiub"
_LABELS = "fiubUS"


class NpyArray:
    """An array in an open file, read from its first row on."""

    def __init__(self, file: BinaryIO, place: str) -> None:
        self.place = place
        self.shape, self.dtype, fortran = _header(file, place)
        self.read = 0
        self._file = file
        if self.dtype.hasobject:
            raise DataError(f"{place}: the array holds Python objects, which are never unpickled; save it as numbers")
        if fortran and sum(size > 1 for size in self.shape) > 1:
            raise DataError(
                f"{place}: the array is in Fortran order; save it in C order (np.save(path, np.ascontiguousarray(X)))"
            )

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def left(self) -> int:
        """The number of rows that have not been read yet."""
        return self.n - self.read

    @property
    def row_bytes(self) -> int:
        """The number of bytes per row."""
        size = self.dtype.itemsize
        for length in self.shape[1:]:
            size *= length
        return size

    def must_be(self, what: str, dimensions: int, kinds: str) -> NpyArray:
        """Return the array if it has these dimensions and one of these kinds of values; `what` is for messages."""
        if len(self.shape) != dimensions:
            raise DataError(f"{self.place}: the array has {len(self.shape)} dimension(s); {what} needs {dimensions}")
        if self.dtype.kind not in kinds:
            raise DataError(f"{self.place}: the array holds {self.dtype}, not {what}")
        return self

    def matrix(self) -> NpyArray:
        """Return the array if it is a matrix of numbers."""
        array = self.must_be("a matrix of numbers", 2, _NUMBERS)
        if array.shape[1] == 0:
            raise DataError(f"{self.place}: the array has no columns")
        return array

    def numbers(self) -> NpyArray:
        """Return the array if it is a vector of numbers."""
        return self.must_be("a vector of numbers", 1, _NUMBERS)

    def labels(self) -> NpyArray:
        """Return the array if it has one label per row."""
        if len(self.shape) == 2 and self.shape[1] == 1:
            self.shape = self.shape[:1]
        return self.must_be("a vector of labels", 1, _LABELS)

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n rows, in this machine's byte order."""
        shape = (n, *self.shape[1:])
        text = self._bytes(n * self.row_bytes)
        if self.dtype.itemsize == 0:
            array = np.zeros(shape, dtype=self.dtype)
        elif self.dtype.kind == "b":
            # NumPy booleans must be 0 or 1; the file may hold other bytes.
            array = (np.frombuffer(text, dtype=np.uint8) != 0).reshape(shape)
        else:
            array = np.frombuffer(text, dtype=self.dtype).reshape(shape)
        self.read += n
        return array.astype(self.dtype.newbyteorder("="), copy=False)

    def finish(self) -> None:
        """Raise if the file has data after the last row."""
        if _read(self._file, memoryview(bytearray(1)), self.place):
            raise DataError(f"{self.place}: the file has data after the {self.n} row(s) that its header declares")

    def _bytes(self, size: int) -> bytearray:
        text = bytearray(min(size, _STEP))
        done = 0
        while done < size:
            end = min(size, done + _STEP)
            if len(text) < end:
                text.extend(bytes(end - len(text)))
            with memoryview(text) as view, view[done:end] as part:
                n = _read(self._file, part, self.place)
            done += n
            if done < end:
                row = self.read + done // max(1, self.row_bytes)
                raise DataError(f"{self.place}:row {row}: the file is truncated: it should have {self.n} row(s)")
        return text


def _read(file: BinaryIO, view: memoryview, place: str) -> int:
    """Fill a buffer, or read to the end of the file; return the number of bytes."""
    end, problem = read_into(file, view)
    if problem is not None:
        raise DataError(f"{place}: {problem}")
    return end


def _header(file: BinaryIO, place: str) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Read the header: shape, type, and whether the array is in Fortran order."""
    start = _some(file, 8, place)
    if not start.startswith(MAGIC):
        raise DataError(f"{place}: not a .npy file")
    version = (start[6], start[7])
    if version not in {(1, 0), (2, 0)}:
        raise DataError(
            f"{place}: version {version[0]}.{version[1]} of the .npy format is not supported; save an array of numbers"
        )
    size = _some(file, 2 if version == (1, 0) else 4, place)
    (length,) = struct.unpack("<H" if version == (1, 0) else "<I", size)
    if length > _LONGEST_HEADER:
        raise DataError(f"{place}: the header has {length} bytes; the file is damaged")
    text = io.BytesIO(size + _some(file, length, place))
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read(text)
        known = all(size >= 0 for size in shape)
    except Exception as error:  # it is parsed as Python, which fails in many ways
        raise DataError(f"{place}: the header is damaged: {error}") from error
    if not known:
        raise DataError(f"{place}: the header is damaged: its shape is {shape}")
    return shape, dtype, fortran


def _some(file: BinaryIO, size: int, place: str) -> bytes:
    """Read exactly `size` bytes of the header."""
    text = bytearray(size)
    if _read(file, memoryview(text), place) < size:
        raise DataError(f"{place}: the file is truncated: it ends within its header")
    return bytes(text)
