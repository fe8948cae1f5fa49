"""Files as streams of bytes: found, opened, decompressed by what they begin with, and cut at line ends."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from onlinear.errors import DataError

STDIN = "-"
_NEWLINE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 21
_SLACK = 128
"""Bytes behind the text: for the end of a last line that has none, and for loads of 64 bytes at a time."""
_SAMPLE = 200
"""How much is kept of a line that is too long."""
LONGEST_LINE = 1 << 25
"""A longer line is refused: it would have to be held in memory."""


class Piece(NamedTuple):
    """Whole lines of a file: the first `size` bytes of `text`, up to the end of a line; a few bytes more are there."""

    name: str
    number: int
    """Which piece of its file this is, from 0."""
    text: bytearray
    size: int
    too_long: bool = False
    """Whether it is the beginning of one line, the rest of which was not kept."""


class DamagedFileError(DataError):
    """A file cannot be read on; what came before is good."""


class Pipe(str):
    """The name of something that can be read only once, which is open from the beginning."""

    __slots__ = ("file",)
    file: Any

    @classmethod
    def of(cls, name: str) -> Pipe:
        """Open a pipe, or the standard input."""
        pipe = cls(name)
        file = _standard_input() if name == STDIN else _open(name)
        decompressed = _decompression(bytes(file.peek(_LONGEST_MAGIC)))
        # Looked at decompressed, too: it cannot be opened a second time for that.
        pipe.file = file if decompressed is None else io.BufferedReader(cast("Any", decompressed(file)))
        return pipe


def found(data: Any) -> list[str]:
    """Return the names of all files meant by a path, a folder, or a list of them; ``-`` is the standard input."""
    if isinstance(data, str | os.PathLike):
        name = os.fspath(data)
        path = Path(name)
        if name == STDIN or (path.exists() and not path.is_file() and not path.is_dir()):
            return [Pipe.of(name)]
        if not path.is_dir():
            if not path.exists():
                raise DataError(f"{name}: there is no such file")
            return [name]
        inside = sorted(str(one) for one in path.rglob("*") if one.is_file() and not _hidden(one.relative_to(path)))
        if not inside:
            raise DataError(f"{name}: the folder has no files")
        return inside
    names = [one for each in data for one in found(each)]
    if not names:
        raise DataError("no files")
    return names


def opened(name: str) -> BinaryIO:
    """Open a file, and decompress it where it begins like a compressed one."""
    try:
        if isinstance(name, Pipe):
            return cast("BinaryIO", name.file)
        with _open(name) as file:
            decompressed = _decompression(file.read(_LONGEST_MAGIC))
        return _open(name) if decompressed is None else decompressed(name)
    except OSError as error:
        raise DataError(f"{shown(name)}: {error.strerror or error}") from error


def _open(name: str) -> Any:
    return Path(name).open("rb")


def _decompression(start: bytes) -> Callable[[Any], BinaryIO] | None:
    return next((open_ for magic, open_ in _COMPRESSED.items() if start.startswith(magic)), None)


def _standard_input() -> Any:
    try:
        # A buffer of our own: Python would wait at its end for whoever still reads from its own.
        return open(sys.stdin.fileno(), "rb", closefd=False)  # open for as long as the stream
    except (AttributeError, OSError):  # no file, but something in its place
        file: Any = sys.stdin.buffer
        return file if hasattr(file, "peek") else io.BufferedReader(file)


def shown(name: str) -> str:
    """Return a file's name as messages have it."""
    return "<stdin>" if name == STDIN else name


def pieces(names: Iterable[str]) -> Iterator[Piece]:
    """Yield the files as pieces of whole lines, about two megabytes each."""
    for name in names:
        with opened(name) as file:
            yield from _cut(file, shown(name))


def _cut(file: BinaryIO, name: str) -> Iterator[Piece]:
    rest: bytes | bytearray = b""
    number = 0
    while True:
        text = bytearray(len(rest) + _PIECE + _SLACK)
        text[: len(rest)] = rest
        end, problem = filled(file, memoryview(text)[:-_SLACK], len(rest))
        if number == 0 and text.startswith(_BYTE_ORDER_MARK):
            text[: len(_BYTE_ORDER_MARK)] = b" " * len(_BYTE_ORDER_MARK)
        if problem is not None:
            # The whole lines before are good; the one that was cut off goes with what is missing.
            yield Piece(name, number, text, text.rfind(b"\n", 0, end) + 1)
            raise DamagedFileError(problem)
        if end == len(rest):
            if end:
                text[end] = _NEWLINE
                yield Piece(name, number, text, end + 1)
            return
        cut = text.rfind(b"\n", 0, end) + 1
        rest = text[cut:end]
        if cut:
            yield Piece(name, number, text, cut)
            number += 1
        elif end > LONGEST_LINE:
            begun = rest[:_SAMPLE] + b"\n"
            yield Piece(name, number, begun, len(begun), too_long=True)
            number += 1
            rest = _after_line(file)


def _after_line(file: BinaryIO) -> bytes:
    """Read to the end of a line, without keeping it; return what was read after it."""
    while True:
        try:
            some = file.read(_PIECE)
        except Exception as error:
            problem = damage(error)
            if problem is None:
                raise
            raise DamagedFileError(problem) from error
        cut = some.find(b"\n") + 1
        if cut or not some:
            return some[cut:]


def filled(file: BinaryIO, text: memoryview, begin: int) -> tuple[int, str | None]:
    """Read until the buffer is full or the file ends; return where, and what went wrong."""
    end = begin
    while end < len(text):
        try:
            n = _read_some(file, text[end:])
        except Exception as error:
            problem = damage(error)
            if problem is None:
                raise
            return end, problem
        if not n:
            break
        end += n
    return end, None


def _read_some(file: Any, text: memoryview) -> int:
    """Read as much as there is in one go; return how much it was."""
    if isinstance(file, io.BufferedReader):
        return int(file.readinto(text))
    # A decompressor that is asked for more than it has would lose what it had, where the file is damaged.
    some = file.read1(len(text))
    text[: len(some)] = some
    return len(some)


def damage(error: Exception) -> str | None:
    """Return what an error of reading or decompressing means, in words (None: it is another kind of error)."""
    if isinstance(error, EOFError):
        return "the compressed file was cut off: its end is missing"
    if isinstance(error, OSError | ValueError) or type(error).__module__ in {"zlib", "_lzma"}:
        return f"cannot be read on: {getattr(error, 'strerror', None) or error}"
    return None


def beginning(name: str, size: int) -> bytes:
    """Return how a file begins, decompressed, as far as it can be read."""
    if isinstance(name, Pipe):
        try:
            return bytes(name.file.peek(size))  # what has arrived so far
        except Exception as error:
            problem = damage(error)
            if problem is None:
                raise
            raise DataError(f"{shown(name)}: {problem}") from error
    text = bytearray(size)
    with opened(name) as file:
        end, problem = filled(file, memoryview(text), 0)
    if problem is not None and end == 0:
        raise DataError(f"{shown(name)}: {problem}")
    return bytes(text[:end])


def _gzip(raw: Any) -> BinaryIO:
    import gzip

    return cast("BinaryIO", gzip.open(raw))


def _bz2(raw: Any) -> BinaryIO:
    import bz2

    return cast("BinaryIO", bz2.open(raw))


def _xz(raw: Any) -> BinaryIO:
    import lzma

    return cast("BinaryIO", lzma.open(raw))


def _zstd(raw: Any) -> BinaryIO:
    import pyarrow as pa

    return cast("BinaryIO", pa.input_stream(raw, compression="zstd"))


_COMPRESSED: dict[bytes, Callable[[Any], BinaryIO]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": _zstd,
    b"BZh": _bz2,
    b"\xfd7zXZ\x00": _xz,
}
_LONGEST_MAGIC = max(map(len, _COMPRESSED))


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
