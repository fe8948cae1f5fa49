"""CSV text cut into whole records, even where a quoted field runs over several lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError
from onlinear.streams.files import LONGEST_LINE, filled

PIECE = 1 << 20
"""How many bytes are read at a time."""
_BOM = b"\xef\xbb\xbf"
_QUOTE, _LF, _CR = b'"\n\r'


class Records:
    """Where the records of a text begin and end, and on which line each begins (from 0); blank lines are none."""

    def __init__(self, text: bytearray, delimiter: str) -> None:
        data = np.frombuffer(text, dtype=np.uint8)
        # A line ends with LF, CR LF, or a CR alone.
        alone = data == _CR
        alone[:-1] &= data[1:] != _LF
        breaks = np.flatnonzero((data == _LF) | alone)
        ends = breaks[np.searchsorted(_quotes(data, ord(delimiter)), breaks) % 2 == 0]
        starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.intp)
        stops = ends - ((ends > starts) & (data[ends] == _LF) & (data[ends - 1] == _CR))
        full = stops > starts
        self.starts: NDArray[np.intp] = starts[full]
        self.stops: NDArray[np.intp] = stops[full]
        self.lines: NDArray[np.intp] = np.searchsorted(breaks, self.starts)


def cut(file: BinaryIO, name: str, delimiter: str) -> Iterator[tuple[int, bytearray]]:
    """Yield whole records, with the number of the line on which the first begins."""
    line, rest, first = 1, bytearray(), True
    while True:
        # As much again as is there, so that a long record is not looked through too often; and one byte more, for
        # the end of a last line that has none.
        text = rest + bytearray(max(PIECE, len(rest)) + 1)
        end, problem = filled(file, memoryview(text)[:-1], len(rest))
        ended = problem is not None or end < len(text) - 1
        if ended and problem is None and end and text[end - 1] != _LF:
            text[end] = _LF
            end += 1
        del text[end:]
        if first and text.startswith(_BOM):
            del text[: len(_BOM)]
        first = False
        whole = _whole(text, ord(delimiter))
        rest = text[whole:]
        del text[whole:]
        if text:
            # Counted now: the text is the caller's from here on.
            lines = lines_of(text)
            yield line, text
            line += lines
        if problem is not None:
            raise DataError(f"{name}:{line}: {problem}")
        if ended and rest:
            raise DataError(f'{name}:{line}: a quote (") is opened in this record and never closed')
        if ended:
            return
        if len(rest) > LONGEST_LINE:
            raise DataError(
                f"{name}:{line}: a record of more than {LONGEST_LINE >> 20} MB;"
                " is a quote not closed, or is this no CSV?"
            )


def lines_of(text: bytearray) -> int:
    """Return how many lines end in a text."""
    return text.count(b"\n") + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def _whole(text: bytearray, delimiter: int) -> int:
    """Return where the last whole record of a text ends."""
    if b'"' not in text:
        return text.rfind(b"\n") + 1
    data = np.frombuffer(text, dtype=np.uint8)
    newlines = np.flatnonzero(data == _LF)
    outside = newlines[np.searchsorted(_quotes(data, delimiter), newlines) % 2 == 0]
    return int(outside[-1]) + 1 if outside.size else 0


def _quotes(data: NDArray[np.uint8], delimiter: int) -> NDArray[np.intp]:
    """Return the quotes that open a field and, every other one, those that close it.

    A quote opens a field only where the field begins; elsewhere it stands for itself. A doubled quote inside a
    field closes it and opens it again, which comes to the same.
    """
    quotes = np.flatnonzero(data == _QUOTE)
    begins = np.zeros(256, dtype=bool)
    begins[[delimiter, _LF, _CR, _QUOTE]] = True
    opening = quotes[::2]
    if begins[data[opening[opening > 0] - 1]].all():
        return quotes
    begins[_QUOTE] = False
    kept: list[int] = []
    inside, doubled = False, -1
    for at in quotes.tolist():
        if at == doubled:
            continue
        if inside and at + 1 < data.size and data[at + 1] == _QUOTE:
            doubled = at + 1
        elif inside or at == 0 or begins[data[at - 1]]:
            inside = not inside
            kept.append(at)
    return np.array(kept, dtype=np.intp)
