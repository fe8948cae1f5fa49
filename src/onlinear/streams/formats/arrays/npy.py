"""NumPy's ``.npy`` format, some rows at a time, in memory that does not grow with the file.

The file is read, not memory-mapped: a mapped file that is cut off meanwhile would end the process.
"""

from __future__ import annotations

import io
import struct
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError

_STEP = 1 << 24
"""Memory is allocated in steps of this size: what a header says may not be true."""
_LONGEST_HEADER = 10_000
_MAGIC = b"\x93NUMPY"
_NUMBERS = "fiub"
_LABELS = "fiubUS"


class NpyArray:
    """An array that is read from a file, from its first row on."""

    def __init__(self, file: BinaryIO, place: str) -> None:
        self.place = place
        self.shape, self.dtype, fortran = _header(file, place)
        self.read = 0
        self._file = file
        if self.dtype.hasobject:
            raise DataError(
                f"{place}: the array holds objects; they are pickles, which are never loaded (save numbers)"
            )
        if fortran and sum(size > 1 for size in self.shape) > 1:
            raise DataError(
                f"{place}: the array is in Fortran order; its rows do not stand together"
                " (np.save the np.ascontiguousarray of it)"
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
        """How many bytes a row takes."""
        size = self.dtype.itemsize
        for length in self.shape[1:]:
            size *= length
        return size

    def must_be(self, what: str, dimensions: int, kinds: str) -> NpyArray:
        """Return the array, if it has so many dimensions and holds such things."""
        if len(self.shape) != dimensions:
            raise DataError(f"{self.place}: the array has {len(self.shape)} dimension(s); {what} needs {dimensions}")
        if self.dtype.kind not in kinds:
            raise DataError(f"{self.place}: the array holds {self.dtype}, not {what}")
        return self

    def matrix(self) -> NpyArray:
        """Return the array, if it is a matrix of numbers."""
        array = self.must_be("a matrix of numbers", 2, _NUMBERS)
        if array.shape[1] == 0:
            raise DataError(f"{self.place}: the array has no columns")
        return array

    def numbers(self) -> NpyArray:
        """Return the array, if it is a row of whole or other numbers."""
        return self.must_be("a row of numbers", 1, _NUMBERS)

    def labels(self) -> NpyArray:
        """Return the array, if it has a label in each row."""
        if len(self.shape) == 2 and self.shape[1] == 1:
            self.shape = self.shape[:1]
        return self.must_be("a row of labels", 1, _LABELS)

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n rows, in this machine's byte order."""
        shape = (n, *self.shape[1:])
        text = self._bytes(n * self.row_bytes)
        if self.dtype.itemsize == 0:
            array = np.zeros(shape, dtype=self.dtype)
        elif self.dtype.kind == "b":
            # A byte other than 0 and 1 is no boolean that NumPy could be handed.
            array = (np.frombuffer(text, dtype=np.uint8) != 0).reshape(shape)
        else:
            array = np.frombuffer(text, dtype=self.dtype).reshape(shape)
        self.read += n
        return array.astype(self.dtype.newbyteorder("="), copy=False)

    def finish(self) -> None:
        """Refuse what stands behind the last row."""
        more = bytearray(1)
        if _filled(self._file, memoryview(more), self.place):
            raise DataError(
                f"{self.place}: the file goes on behind the array of {self.n} row(s) that its header promises"
            )

    def _bytes(self, size: int) -> bytearray:
        text = bytearray(min(size, _STEP))
        done = 0
        while done < size:
            end = min(size, done + _STEP)
            if len(text) < end:
                text.extend(bytes(end - len(text)))
            with memoryview(text) as view, view[done:end] as part:
                n = _filled(self._file, part, self.place)
            done += n
            if done < end:
                row = self.read + done // max(1, self.row_bytes)
                raise DataError(f"{self.place}:row {row}: the file ends here, of {self.n} row(s): it was cut off")
        return text


def failure(error: Exception) -> str | None:
    """Return in words what has gone wrong with a file; None for what is none of its faults."""
    if isinstance(error, EOFError):
        return "the compressed file ends before its end: it was cut off"
    from_libraries = {"zlib", "_lzma", "zipfile"}
    if isinstance(error, OSError | ValueError) or type(error).__module__ in from_libraries:
        return f"cannot be read on: {getattr(error, 'strerror', None) or error}"
    return None


def _filled(file: BinaryIO, view: memoryview, place: str) -> int:
    """Read until the view is full or the file ends; return how many bytes were read."""
    done = 0
    while done < len(view):
        try:
            with view[done:] as rest:
                n = cast("Any", file).readinto(rest)
        except Exception as error:
            reason = failure(error)
            if reason is None:
                raise
            raise DataError(f"{place}: {reason}") from error
        if not n:
            break
        done += n
    return done


def _header(file: BinaryIO, place: str) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Read the header: shape, type, and whether the array is in Fortran order."""
    start = _some(file, 8, place)
    if not start.startswith(_MAGIC):
        raise DataError(f"{place}: it does not begin like a .npy file")
    version = (start[6], start[7])
    if version not in {(1, 0), (2, 0)}:
        raise DataError(
            f"{place}: version {version[0]}.{version[1]} of the .npy format, which no array of numbers needs"
        )
    size = _some(file, 2 if version == (1, 0) else 4, place)
    (length,) = struct.unpack("<H" if version == (1, 0) else "<I", size)
    if length > _LONGEST_HEADER:
        raise DataError(f"{place}: the header takes {length} bytes; the file is damaged")
    text = io.BytesIO(size + _some(file, length, place))
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read(text)
        known = all(size >= 0 for size in shape)
    except Exception as error:  # it is parsed as Python, which can fail in many ways
        raise DataError(f"{place}: the header is damaged: {error}") from error
    if not known:
        raise DataError(f"{place}: the header is damaged: its shape is {shape}")
    return shape, dtype, fortran


def _some(file: BinaryIO, size: int, place: str) -> bytes:
    """Read exactly so many bytes of the header."""
    text = bytearray(size)
    if _filled(file, memoryview(text), place) < size:
        raise DataError(f"{place}: the file ends in its header: it was cut off")
    return bytes(text)
