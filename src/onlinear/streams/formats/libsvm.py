"""libsvm (svmlight) text: one example per line, ``label index:value index:value … # comment``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import sparse_sums
from onlinear.data.chunk import Chunk, Fault
from onlinear.data.matrices import CsrMatrix
from onlinear.engine.runner import can_compile, kernel
from onlinear.errors import DataError
from onlinear.spelling import option
from onlinear.streams.ahead import map_ahead
from onlinear.streams.files import LONGEST_LINE, DamagedFileError, Piece, pieces
from onlinear.streams.formats.format import Format, Request
from onlinear.streams.formats.text import libsvm_lines
from onlinear.streams.reader import Reader

_SHOWN = 40
"""How much of a faulty word a message shows."""
_LINE = re.compile(rb"[^\s,:]+([ \t]+(qid|\d+):\S+)+[ \t]*(#.*)?\r?")
_END = re.compile(rb"[\s#]")


@dataclass(frozen=True)
class _Lines:
    """Where the examples of a piece of text are; lines are counted from the start of the piece.

    The pieces are parsed in parallel, so the number of the first line is known only afterwards.
    """

    piece: Piece
    starts: NDArray[np.int32]
    lines: NDArray[np.int32]
    faults: NDArray[np.int32]
    """Rows of (examples before it, line, start of the line, kind of fault, place in the text)."""
    lines_read: int
    first: int = 1
    """The number of the first line in the file."""

    def place(self, row: int) -> str:
        return f"{self.piece.name}:{self.first + int(self.lines[row])}"

    def written(self, row: int) -> bytes:
        return _line(self.piece.text, int(self.starts[row]))


@dataclass(frozen=True)
class LibsvmReader(Reader):
    """Reads files of libsvm text; columns are numbered from 0, the indices in the text from `lowest`."""

    files: list[str]
    lowest: int
    max_features: int
    labelled: bool = True
    width_from_entries = True

    def feature(self, column: int) -> str:
        """Return a feature as its index in the text."""
        return f"index {column + self.lowest}"

    def chunks(self) -> Iterator[Chunk]:
        """Yield the examples of each piece of the files."""
        file, first = "", 1
        try:
            for chunk, lines in map_ahead(pieces(self.files), self._parse):
                if lines.piece.number == 0:
                    file, first = lines.piece.name, 1
                here = replace(lines, first=first)
                yield replace(chunk, origin=here, faults=self._faults(here))
                first += lines.lines_read
        except DamagedFileError as error:
            raise DataError(f"{file or self.files[0]}:{first}: {error}") from error

    def _parse(self, piece: Piece) -> tuple[Chunk, _Lines]:
        mark_separators, parse_lines = _kernels()
        text = np.frombuffer(piece.text, dtype=np.uint8)
        n = 0 if piece.too_long else piece.size  # a line that is too long is not parsed
        words = np.empty((n >> 6) + 2, dtype=np.uint64)
        lines, colons = mark_separators(text, n, words)
        y, starts, numbers = np.empty(lines), np.empty(lines, dtype=np.int32), np.empty(lines, dtype=np.int32)
        indptr, indices, values = np.empty(lines + 1, np.int32), np.empty(colons, np.int32), np.empty(colons)
        faults, hard = np.empty((lines, 5), np.int32), np.empty((lines + colons, 3), np.int32)
        totals = np.zeros(6, dtype=np.int64)
        parse_lines(
            text,
            n,
            words,
            self.lowest,
            self.max_features,
            self.labelled,
            y,
            starts,
            numbers,
            indptr,
            indices,
            values,
            faults,
            hard,
            totals,
        )
        rows, entries, bad, left, width, read = map(int, totals)
        if piece.too_long:
            faults, bad, read = np.zeros((1, 5), dtype=np.int32), 1, 1
        overflowed: list[tuple[int, int, int]] = []
        for place, begin, end in hard[:left].tolist():
            value = float(piece.text[begin:end])
            if place >= 0:
                values[place] = value
            else:
                y[-1 - place] = value
            if math.isinf(value):
                label = place < 0
                row = -1 - place if label else int(np.searchsorted(indptr[: rows + 1], place, side="right")) - 1
                if not overflowed or overflowed[-1][0] != row:  # one fault per line
                    overflowed.append((row, begin, libsvm_lines.BAD_LABEL if label else libsvm_lines.BAD_VALUE))
        # A matrix needs at least one column, even if no example has a feature.
        X = CsrMatrix(values[:entries], indices[:entries], indptr[: rows + 1], max(1, width))
        sums, _ = sparse_sums(X.data, X.indices, X.indptr)
        found = _Lines(piece, starts[:rows], numbers[:rows], faults[:bad].copy(), read)
        chunk = Chunk(X, y[:rows], found, sums=sums)
        return _without(chunk, found, overflowed) if overflowed else (chunk, found)

    def _faults(self, found: _Lines) -> Iterator[Fault]:
        return (self._fault(found, fault.tolist()) for fault in found.faults)

    def _fault(self, found: _Lines, fault: list[int]) -> Fault:
        """Return a fault with its place (file, line and byte) and its reason."""
        before, line, start, kind, at = fault
        text = found.piece.text
        place = f"{found.piece.name}:{found.first + line}:{at - start + 1}"
        word = bytes(_END.split(text[at : at + _SHOWN], maxsplit=1)[0]).decode(errors="replace")
        if found.piece.too_long:
            return Fault(before, place, f"the line is longer than {LONGEST_LINE >> 20} MB", _line(text, start))
        return Fault(before, place, self._reason(kind, word), _line(text, start))

    def _reason(self, kind: int, word: str) -> str:
        options = {"zero_based": option("zero_based", True), "max_features": option("max_features")}
        index, most = word.partition(":")[0], f"{self.max_features:,}"
        return _REASONS[kind].format(word=repr(word), index=index, most=most, **options)


def _kernels() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the two loops over text, compiled where possible."""
    if can_compile():
        from onlinear.streams.formats.text.words import teach_text

        teach_text()
    return kernel(libsvm_lines.mark_separators), kernel(libsvm_lines.parse_lines)


_REASONS = {
    libsvm_lines.NO_LABEL: "{word} where the label should be",
    libsvm_lines.SEVERAL_LABELS: "label {word}; an example has only one label",
    libsvm_lines.BAD_LABEL: "label {word} is not a finite number",
    libsvm_lines.BAD_INDEX: "{word} is not index:value",
    libsvm_lines.INDEX_TOO_SMALL: "index {index}; libsvm indices start at 1 (use {zero_based})",
    libsvm_lines.INDEX_TOO_LARGE: "index {index}; at most {most} features ({max_features})",
    libsvm_lines.INDEX_NOT_ASCENDING: "index {index} is not larger than the one before; indices must ascend",
    libsvm_lines.BAD_VALUE: "value {word} is not a finite number",
}


def _without(chunk: Chunk, found: _Lines, overflowed: list[tuple[int, int, int]]) -> tuple[Chunk, _Lines]:
    """Return the examples without those in which a number overflowed."""
    faults = {(int(one[1]), tuple(one.tolist())) for one in found.faults}
    for row, at, kind in overflowed:
        line, start = int(found.lines[row]), int(found.starts[row])
        faults.add((line, (row, line, start, kind, at)))
    kept = np.setdiff1d(np.arange(chunk.n), np.array([row for row, _, _ in overflowed]))
    listed = np.array([fault for _, fault in sorted(faults)], dtype=np.int32)
    listed[:, 0] = np.searchsorted(kept, listed[:, 0])
    left = replace(found, starts=found.starts[kept], lines=found.lines[kept], faults=listed)
    some = chunk.take(kept)
    narrow = cast("CsrMatrix", some.matrix).narrowed()
    return replace(some, matrix=narrow, rows=None), left


def _line(text: bytearray, start: int) -> bytes:
    """Return the line that starts at a place, without its end."""
    return bytes(text[start : text.index(b"\n", start)])


def _open(files: list[str], request: Request) -> Reader:
    return LibsvmReader(files, 0 if request.reading.zero_based else 1, request.max_features, request.labelled)


FORMAT = Format(
    "libsvm",
    _open,
    endings=(".svm", ".libsvm", ".svmlight"),
    first_line=lambda line: _LINE.fullmatch(line) is not None,
    options=frozenset({"zero_based"}),
)
