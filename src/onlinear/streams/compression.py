"""Compressed files: recognised by their first bytes, and read as one file however many parts they have."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

_PORTION = 1 << 16
"""How many compressed bytes are read at a time."""


def decompression(start: bytes) -> Callable[[Any], BinaryIO] | None:
    """Return what opens a file that starts with these bytes, given by its path or open; None: it is not compressed."""
    return next((open_ for magic, open_ in _COMPRESSED.items() if start.startswith(magic)), None)


def is_recognised(start: bytes) -> bool:
    """Tell whether these bytes are enough to tell how a file is compressed, or that it is not."""
    return not any(magic.startswith(start) for magic in _COMPRESSED)


class Members(io.RawIOBase):
    """A file of one or more compressed members, one after another, as ``cat a.xz b.xz`` makes it.

    Zeros may follow a member. The standard library takes anything else there for the end of the file, and the rest of
    a file that is damaged in its second member would be missing without an error.
    """

    def __init__(self, file: BinaryIO, new_decompressor: Callable[[], Any]) -> None:
        super().__init__()
        self._file = file
        self._new_decompressor = new_decompressor
        self._member: Any = new_decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        while True:
            compressed = b""
            if self._member.eof:
                compressed = self._next_member()
                if not compressed:
                    return 0
            elif self._member.needs_input:
                compressed = self._file.read(_PORTION)
                if not compressed:
                    raise EOFError("the compressed file ends within a member")
            some = self._member.decompress(compressed, len(room))
            if some:
                room[: len(some)] = some
                return len(some)

    def _next_member(self) -> bytes:
        """Begin with the next member, and return its first bytes; nothing at the end of the file."""
        compressed = self._member.unused_data.lstrip(b"\0")
        while not compressed:
            portion = self._file.read(_PORTION)
            if not portion:
                return b""
            compressed = portion.lstrip(b"\0")
        self._member = self._new_decompressor()
        return cast("bytes", compressed)

    def close(self) -> None:
        self._file.close()
        super().close()


def _open(raw: Any) -> BinaryIO:
    """Return the file of this name, or the open file itself."""
    return Path(raw).open("rb") if isinstance(raw, str) else cast("BinaryIO", raw)


def _gzip(raw: Any) -> BinaryIO:
    import gzip

    return cast("BinaryIO", gzip.open(raw))


def _bz2(raw: Any) -> BinaryIO:
    import bz2

    return io.BufferedReader(Members(_open(raw), bz2.BZ2Decompressor))


def _xz(raw: Any) -> BinaryIO:
    import lzma

    return io.BufferedReader(Members(_open(raw), lzma.LZMADecompressor))


def _zstd(raw: Any) -> BinaryIO:
    import pyarrow as pa

    return cast("BinaryIO", pa.input_stream(raw, compression="zstd"))


_COMPRESSED: dict[bytes, Callable[[Any], BinaryIO]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": _zstd,
    b"BZh": _bz2,
    b"\xfd7zXZ\x00": _xz,
}
LONGEST_MAGIC = max(map(len, _COMPRESSED))
