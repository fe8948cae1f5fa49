"""The bytes of a model file: safetensors, with our header in its metadata and a checksum over the whole file.

A file is the length of a JSON header, the header, and the arrays one after another. What safetensors leaves open is
fixed here (the order, the padding, a single metadata key), so the same content has the same bytes. The format is
simple enough to write and read here: arrays are written without a copy, read into place, and every size is checked
against the size of the file before memory is allocated. The package `safetensors` can read these files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from onlinear.atomic import replace_file
from onlinear.errors import ModelError, ParameterError

VERSIONS = (1, 2)
"""Of the format: the second one has members, and is written only for models that are made of several."""
_KEY = "onlinear"
_FORMAT = "onlinear model"
_UNSIGNED = "0" * 64

_MAX_HEADER = 16_000_000
"""The largest header in bytes: enough for two million batch sizes. Parsed JSON can take 30 times its size."""
_MAX_DIMENSIONS = 32

# Format, version and checksum come first, so that they are found without parsing any JSON.
_OPENING = (
    rb'\{"__metadata__":\{"' + _KEY.encode() + rb'":"\{\\"format\\":\\"' + _FORMAT.encode() + rb'\\",\\"version\\":'
)
_VERSION = re.compile(_OPENING + rb"(\d{1,9}),")
_DIGEST = re.compile(_OPENING + rb'\d{1,9},\\"sha256\\":\\"([0-9a-f]{64})\\"[,}]')

_CODES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"}
_CODES |= {"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}
_CODE_OF = {text: code for code, text in _CODES.items()}


class Entry(NamedTuple):
    """An array in the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    first: int
    end: int


class TensorFile(NamedTuple):
    """A file whose checksum and structure are valid."""

    header: dict[str, Any]
    entries: dict[str, Entry]
    file: BinaryIO

    def fill(self, name: str, array: NDArray[Any]) -> None:
        """Read the values of an array into one of the same type and shape."""
        entry = self.entries[name]
        if array.shape != entry.shape or array.dtype != entry.dtype:
            raise ModelError(f"{name} is {_shown(entry.dtype, entry.shape)}, not {_shown(array.dtype, array.shape)}")
        self.file.seek(entry.first)
        if cast("Any", self.file).readinto(_bytes_of(array)) != array.nbytes:
            raise ModelError("the file was truncated while it was being read")
        if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
            raise ModelError(f"{name} has a value that is neither true nor false")
        if sys.byteorder == "big":
            array.byteswap(inplace=True)

    def array(self, name: str) -> NDArray[Any]:
        """Return an array of the file."""
        entry = self.entries[name]
        try:
            made = np.empty(entry.shape, entry.dtype.newbyteorder("="))
        except (ValueError, MemoryError) as error:  # with a dimension of 0, the others can have any size
            raise ModelError(f"{name} has the shape {entry.shape}: {error}") from error
        self.fill(name, made)
        return made


def can_be_stored(dtype: np.dtype[Any]) -> bool:
    """Tell whether the format has this type."""
    return dtype.newbyteorder("<").str in _CODE_OF


def write_tensors(
    path: str | os.PathLike[str], header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], *, version: int
) -> None:
    """Write a header, which must be JSON, and arrays of numbers; the file is replaced atomically."""
    # The widest type first, as in safetensors: then all arrays are aligned.
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    first = {"format": _FORMAT, "version": version, "sha256": _UNSIGNED}
    outer: dict[str, Any] = {"__metadata__": {_KEY: _dumps({**first, **header})}}
    arrays: list[memoryview] = []
    end = 0
    for name in order:
        array = tensors[name]
        array = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        outer[name] = {
            "dtype": _CODE_OF[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        arrays.append(_bytes_of(array))
        end += array.nbytes
    text = _dumps(outer).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _MAX_HEADER:
        sizes = {name: len(_dumps(value)) for name, value in header.items()}
        most = max(sizes, key=lambda name: sizes[name])
        raise ParameterError(
            f"the header would have {len(text):,} bytes ({most}: {sizes[most]:,}); the limit is {_MAX_HEADER:,}"
        )
    text = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(text)
    for chunk in arrays:
        digest.update(chunk)
    found = _DIGEST.match(text, 8)
    assert found is not None  # noqa: S101  # it was written a few lines above
    text = text[: found.start(1)] + digest.hexdigest().encode() + text[found.end(1) :]
    replace_file(path, [text, *arrays])


@contextlib.contextmanager
def open_tensors(path: str | os.PathLike[str]) -> Iterator[TensorFile]:
    """Open a file and check it; a `ModelError` raised here or in the body gets the name of the file."""
    with Path(path).open("rb") as file:
        try:
            yield _checked_file(file, os.fstat(file.fileno()).st_size)
        except ModelError as error:
            raise ModelError(f"{os.fspath(path)}: {error}") from error


def _checked_file(file: BinaryIO, size: int) -> TensorFile:
    length = file.read(8)
    data = 8 + int.from_bytes(length, "little")
    if len(length) < 8 or data > min(size, 8 + _MAX_HEADER):
        raise ModelError("not a model file, or truncated")
    text = file.read(data - 8)
    version = _VERSION.match(text)
    if version is None:
        raise ModelError("not a model file of onlinear")
    if int(version[1]) not in VERSIONS:
        age = "a newer" if int(version[1]) > VERSIONS[-1] else "another"
        reads = " and ".join(map(str, VERSIONS))
        raise ModelError(
            f"written by {age} version of onlinear: format version {int(version[1])}; this one reads {reads}"
        )
    found = _DIGEST.match(text)
    if found is None:
        raise ModelError("damaged: it has no checksum")
    digest = hashlib.sha256(length + text[: found.start(1)] + _UNSIGNED.encode() + text[found.end(1) :])
    hashlib.file_digest(file, lambda: digest)  # type: ignore[arg-type]
    if digest.hexdigest() != found[1].decode():
        raise ModelError("damaged or truncated: the checksum does not match")
    outer = _loads(text)
    entries = {name: _entry(name, value, data) for name, value in outer.items() if name != "__metadata__"}
    end = data
    for name, entry in sorted(entries.items(), key=lambda item: item[1][2:]):
        if entry.first != end:
            raise ModelError(f"{name} does not start where the previous array ends")
        end = entry.end
    if end != size:
        raise ModelError(f"its arrays end at byte {end:,}, the file at byte {size:,}")
    metadata = outer["__metadata__"]
    if list(metadata) != [_KEY]:
        raise ModelError(f"its metadata must have exactly one key, {_KEY}")
    return TensorFile(_loads(metadata[_KEY]), entries, file)


def _entry(name: str, value: Any, data: int) -> Entry:
    """Return the description of an array, checked."""
    match value:
        case {"dtype": str(code), "shape": list(shape), "data_offsets": [int(first), int(end)]} if len(value) == 3:
            counts = all(type(n) is int and 0 <= n < 2**63 for n in (*shape, first, end))
            if counts and code in _CODES and len(shape) <= _MAX_DIMENSIONS:
                dtype = np.dtype(_CODES[code])
                if math.prod(shape) * dtype.itemsize == end - first:
                    return Entry(dtype, tuple(shape), data + first, data + end)
    raise ModelError(f"its header has no valid description of the array {name!r:.100}")


def _loads(text: bytes | str) -> dict[str, Any]:
    """Return the object in a JSON text; the text must be ASCII, and keys must be unique."""
    try:
        text = text if isinstance(text, str) else text.decode("ascii")
        value: dict[str, Any] = json.loads(text, object_pairs_hook=without_duplicates, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"invalid header: {error}") from error
    return value


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of a JSON object as a dict; raise if a key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def refuse_constant(constant: str) -> float:
    """Raise for NaN and infinity, which Python would take for JSON."""
    raise ValueError(f"{constant} is not JSON")


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """Return the memory of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data


def _shown(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    return f"{dtype.name} of shape {shape}"
