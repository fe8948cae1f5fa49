"""Files as bytes: finding, opening and decompressing them, and cutting text at line ends."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from onlinear.errors import DataError
from onlinear.streams.compression import LONGEST_MAGIC, decompression, is_recognised

STDIN = "-"
_NEWLINE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 21
_SLACK = 128
"""Spare bytes after the text: for a missing newline at the end, and for loads of 64 bytes at a time."""
_SAMPLE = 200
"""How many bytes of a line that is too long are kept."""
LONGEST_LINE = 1 << 25
"""Longer lines are refused, because a line must fit in memory."""


class Piece(NamedTuple):
    """Whole lines of a file: the first `size` bytes of `text`, which has some spare bytes after them."""

    name: str
    number: int
    """The number of the piece in its file, from 0."""
    text: bytearray
    size: int
    too_long: bool = False
    """Whether this is the start of a line that is too long; the rest of the line was not kept."""


class DamagedFileError(DataError):
    """A file is damaged from some point on; what was read before is good."""


class Ahead(io.RawIOBase):
    """A file whose beginning can be looked at before it is read; of a pipe, only a few bytes may have arrived."""

    def __init__(self, file: Any, *closed_with_it: Any) -> None:
        super().__init__()
        self._file, self._closed_with_it = file, closed_with_it
        self._held = b""

    def look(self, enough: Callable[[bytes], bool], most: int) -> bytes:
        """Return the beginning: wait until there is enough of it, until it has `most` bytes, or until the file ends."""
        while not enough(self._held) and len(self._held) < most:
            some = self._file.read1(most)
            if not some:
                break
            self._held += some
        return self._held

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        some = self._held[: len(room)] or self._file.read1(len(room))
        self._held = self._held[len(some) :]
        room[: len(some)] = some
        return len(some)

    def close(self) -> None:
        for file in self._closed_with_it:
            file.close()
        super().close()


class Pipe(str):
    """The name of a pipe, which is open from the start because it can be read only once."""

    __slots__ = ("_ahead", "file")
    _ahead: Ahead
    file: Any

    @classmethod
    def of(cls, name: str) -> Pipe:
        """Open a pipe, or the standard input."""
        pipe = cls(name)
        if name == STDIN:
            ahead = Ahead(_standard_input())  # which stays open
        else:
            file = _open(name)
            ahead = Ahead(file, file)
        decompress = decompression(ahead.look(is_recognised, LONGEST_MAGIC))
        if decompress is not None:
            # Here, since the format is guessed from the content, and a pipe cannot be opened again for that.
            compressed = io.BufferedReader(ahead)
            decompressed = decompress(compressed)
            ahead = Ahead(decompressed, decompressed, compressed)
        pipe._ahead, pipe.file = ahead, io.BufferedReader(ahead)
        return pipe

    def look(self, enough: Callable[[bytes], bool], most: int) -> bytes:
        """Return the beginning, of which there must be enough to tell the format; before anything is read."""
        return self._ahead.look(enough, most)

    @property
    def in_words(self) -> str:
        """The name for use in a sentence."""
        return "the standard input" if self == STDIN else str(self)


def find_files(data: Any) -> list[str]:
    """Return the names of all files in a path, a folder, or a list of them; ``-`` is the standard input."""
    if isinstance(data, str | os.PathLike):
        name = os.fspath(data)
        path = Path(name)
        if name == STDIN or (path.exists() and not path.is_file() and not path.is_dir()):
            return [Pipe.of(name)]
        if not path.is_dir():
            if not path.exists():
                raise DataError(f"{name}: the file does not exist")
            return [name]
        inside = sorted(str(one) for one in path.rglob("*") if one.is_file() and not _hidden(one.relative_to(path)))
        if not inside:
            raise DataError(f"{name}: the folder has no files")
        return inside
    names = [one for each in data for one in find_files(each)]
    if not names:
        raise DataError("no files")
    return names


def open_file(name: str) -> BinaryIO:
    """Open a file; a compressed one, detected from its first bytes, is decompressed."""
    try:
        if isinstance(name, Pipe):
            return cast("BinaryIO", name.file)
        with _open(name) as file:
            decompressed = decompression(file.read(LONGEST_MAGIC))
        return _open(name) if decompressed is None else decompressed(name)
    except OSError as error:
        raise DataError(f"{display_name(name)}: {error.strerror or error}") from error


def _open(name: str) -> Any:
    return Path(name).open("rb")


def _standard_input() -> Any:
    try:
        # Not sys.stdin.buffer: at exit Python would wait for a thread that still reads from it.
        return open(sys.stdin.fileno(), "rb", closefd=False)  # open for as long as the stream
    except (AttributeError, OSError):  # not a file, but an object in its place
        file: Any = sys.stdin.buffer
        return file if hasattr(file, "peek") else io.BufferedReader(file)


def display_name(name: str) -> str:
    """Return a file's name for messages."""
    return "<stdin>" if name == STDIN else name


def pieces(names: Iterable[str]) -> Iterator[Piece]:
    """Yield the files in pieces of whole lines, about two megabytes each."""
    for name in names:
        with open_file(name) as file:
            yield from _cut(file, display_name(name))


def _cut(file: BinaryIO, name: str) -> Iterator[Piece]:
    rest: bytes | bytearray = b""
    number = 0
    while True:
        text = bytearray(len(rest) + _PIECE + _SLACK)
        text[: len(rest)] = rest
        end, problem = read_into(file, memoryview(text)[:-_SLACK], len(rest))
        if number == 0 and text.startswith(_BYTE_ORDER_MARK):
            text[: len(_BYTE_ORDER_MARK)] = b" " * len(_BYTE_ORDER_MARK)
        if problem is not None:
            # The complete lines before the damage are good; the incomplete one is dropped.
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
            kept = rest[:_SAMPLE] + b"\n"
            yield Piece(name, number, kept, len(kept), too_long=True)
            number += 1
            rest = _after_line(file)


def _after_line(file: BinaryIO) -> bytes:
    """Skip the rest of a line; return what was read after it."""
    while True:
        try:
            some = file.read(_PIECE)
        except Exception as error:
            problem = describe_damage(error)
            if problem is None:
                raise
            raise DamagedFileError(problem) from error
        cut = some.find(b"\n") + 1
        if cut or not some:
            return some[cut:]


def read_into(file: BinaryIO, text: memoryview, begin: int = 0) -> tuple[int, str | None]:
    """Fill a buffer from `begin` on until it is full or the file ends; return where it ends, and the damage if any."""
    end = begin
    while end < len(text):
        try:
            n = _read_some(file, text[end:])
        except Exception as error:
            problem = describe_damage(error)
            if problem is None:
                raise
            return end, problem
        if not n:
            break
        end += n
    return end, None


def _read_some(file: Any, text: memoryview) -> int:
    """Read once; return the number of bytes."""
    # Once: a second read that meets damage would discard what the first has brought.
    if isinstance(file, io.BufferedReader):
        return int(file.readinto1(text))
    some = file.read1(len(text))
    text[: len(some)] = some
    return len(some)


def describe_damage(error: Exception) -> str | None:
    """Return a description of an error in reading or decompressing a file; None for any other error."""
    if isinstance(error, EOFError):
        return "the compressed file is truncated"
    if isinstance(error, OSError | ValueError) or type(error).__module__ in {"zlib", "_lzma", "zipfile"}:
        return f"the file cannot be read further: {getattr(error, 'strerror', None) or error}"
    return None


def read_beginning(name: str, size: int, enough: Callable[[bytes], bool]) -> bytes:
    """Return the first bytes of a file, decompressed, as far as it can be read; of a pipe, once there are enough."""
    if isinstance(name, Pipe):
        try:
            return name.look(enough, size)
        except Exception as error:
            problem = describe_damage(error)
            if problem is None:
                raise
            raise DataError(f"{display_name(name)}: {problem}") from error
    text = bytearray(size)
    with open_file(name) as file:
        end, problem = read_into(file, memoryview(text))
    if problem is not None and end == 0:
        raise DataError(f"{display_name(name)}: {problem}")
    return bytes(text[:end])


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
