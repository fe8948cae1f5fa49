"""NumPy's ``.npz`` archives, read without unpacking them: dense matrices, and SciPy's CSR."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, cast

from onlinear.errors import DataError
from onlinear.streams.files import describe_damage, open_file
from onlinear.streams.formats.arrays.matrix import CsrFileMatrix, DenseFileMatrix, FileMatrix
from onlinear.streams.formats.arrays.npy_array import NpyArray
from onlinear.streams.formats.arrays.reader import ArrayReader
from onlinear.streams.formats.format import Format, Request

_SPARSE = {"format", "shape", "data", "indices", "indptr"}


@contextmanager
def open_npz(name: str) -> Iterator[FileMatrix]:
    """Open the matrix of a ``.npz`` file, and its labels if it has any."""
    with ExitStack() as stack:
        raw = stack.enter_context(open_file(name))
        try:
            archive = stack.enter_context(zipfile.ZipFile(raw))
        except Exception as error:  # a damaged directory causes many kinds of errors
            raise DataError(f"{name}: not a .npz file, or a damaged one: {error}") from error
        members = {one.removesuffix(".npy"): one for one in archive.namelist() if one.endswith(".npy")}

        def member(key: str) -> NpyArray:
            return NpyArray(stack.enter_context(_member(archive, members[key], name)), f"{name}:{key}")

        labels = member("y").labels() if "y" in members else None
        if members.keys() >= _SPARSE:
            yield _csr(member, labels, name)
            return
        matrices = [key for key in members if key != "y"]
        if "X" not in members and len(matrices) != 1:
            listed = ", ".join(sorted(members)) or "none"
            raise DataError(f"{name}: the arrays are {listed}; X and y are needed (np.savez(path, X=X, y=y))")
        yield DenseFileMatrix(member("X" if "X" in members else matrices[0]).matrix(), labels)


def _csr(member: Any, labels: NpyArray | None, name: str) -> CsrFileMatrix:
    """Return a matrix saved by SciPy."""
    kind = _text(member("format"))
    if kind != "csr":
        raise DataError(f"{name}: the matrix is in the format {kind!r}, not CSR; save X.tocsr()")
    shape = member("shape").must_be("two integers", 1, "iu")
    if shape.n != 2:
        raise DataError(f"{name}: the matrix has {shape.n} dimension(s); it needs two")
    n, width = map(int, shape.take(2))
    if n < 0 or width < 1:
        raise DataError(f"{name}: the matrix has the shape {(n, width)}")
    pointers = [member(key).must_be("a vector of integers", 1, "i") for key in ("indices", "indptr")]
    for array in pointers:
        if array.dtype.itemsize not in {4, 8}:
            raise DataError(f"{array.place}: the array holds {array.dtype}; indices must be int32 or int64")
    return CsrFileMatrix((n, width), (member("data").numbers(), pointers[0], pointers[1]), labels, name)


def _text(array: NpyArray) -> str:
    """Return the string in an array of one string."""
    if array.shape != () or array.dtype.kind not in "SU" or array.dtype.itemsize > 64:
        raise DataError(f"{array.place}: the array does not name a format")
    array.shape = (1,)
    word = array.take(1)[0]
    return word.decode(errors="replace") if isinstance(word, bytes) else str(word)


def _member(archive: zipfile.ZipFile, member: str, name: str) -> BinaryIO:
    try:
        return cast("BinaryIO", archive.open(member))
    except Exception as error:
        # Not only damage: the member may be encrypted, or compressed in an unknown way.
        if describe_damage(error) is None and not isinstance(error, RuntimeError | NotImplementedError | KeyError):
            raise
        raise DataError(f"{name}: {member} cannot be read: {error}") from error


def _open(files: list[str], request: Request) -> ArrayReader:
    return ArrayReader(files, request, open_npz)


FORMAT = Format("npz", _open, magic=(b"PK\x03\x04",), piped=False, separate_labels=True)
