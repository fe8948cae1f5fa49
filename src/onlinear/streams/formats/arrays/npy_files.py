"""NumPy's ``.npy`` files: one matrix per file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from onlinear.streams.files import display_name, open_file
from onlinear.streams.formats.arrays.matrix import DenseFileMatrix, FileMatrix
from onlinear.streams.formats.arrays.npy_array import MAGIC, NpyArray
from onlinear.streams.formats.arrays.reader import ArrayReader
from onlinear.streams.formats.format import Format, Request


@contextmanager
def open_npy(name: str) -> Iterator[FileMatrix]:
    """Open a ``.npy`` file as a matrix."""
    with open_file(name) as file:
        yield DenseFileMatrix(NpyArray(file, display_name(name)).matrix(), None)


def _open(files: list[str], request: Request) -> ArrayReader:
    return ArrayReader(files, request, open_npy)


FORMAT = Format("npy", _open, magic=(MAGIC,), options=frozenset({"label"}), separate_labels=True)
