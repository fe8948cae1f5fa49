"""CSV text cut into whole records, even where a quoted field runs over several lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError
from onlinear.streams.files import LONGEST_LINE, read_into

PIECE = 1 << 20
"""How many bytes are read at a time."""
_SLICE = 1 << 20
"""How many bytes are searched for quotes at a time: the position of a quote takes eight bytes."""
_BOM = b"\xef\xbb\xbf"
_QUOTE, _LF, _CR = b'"\n\r'


class Records:
    """Where the records of a text start and stop, and the line of each, from 0; blank lines are not records."""

    def __init__(self, text: bytearray, delimiter: str) -> None:
        data = np.frombuffer(text, dtype=np.uint8)
        found, lines, before = [np.empty(0, dtype=np.intp)], [np.zeros(1, dtype=np.intp)], 0
        for part in _parts(data, ord(delimiter)):
            # A line ends with LF, CR LF, or a CR alone.
            here = data[part.begin : part.end]
            alone = here == _CR
            after = data[part.begin + 1 : part.end + 1]
            alone[: after.size] &= after != _LF
            breaks = part.begin + np.flatnonzero((here == _LF) | alone)
            outside = part.outside(breaks)
            found.append(breaks[outside])
            lines.append(before + 1 + np.flatnonzero(outside))
            before += breaks.size
        ends = np.concatenate(found)
        starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.intp)[: ends.size]
        stops = ends - ((ends > starts) & (data[ends] == _LF) & (data[ends - 1] == _CR))
        full = stops > starts
        self.starts: NDArray[np.intp] = starts[full]
        self.stops: NDArray[np.intp] = stops[full]
        self.lines: NDArray[np.intp] = np.concatenate(lines)[: ends.size][full]


def cut(file: BinaryIO, name: str, delimiter: str) -> Iterator[tuple[int, bytearray]]:
    """Yield text of whole records, with the line number of the first."""
    line, rest, first = 1, bytearray(), True
    while True:
        # Twice as much as there is, so that a long record is not searched too often; and one spare byte, for a missing
        # newline at the end.
        text = rest + bytearray(max(PIECE, len(rest)) + 1)
        end, problem = read_into(file, memoryview(text)[:-1], len(rest))
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
            # Counted now: the caller may change the text.
            lines = lines_of(text)
            yield line, text
            line += lines
        if problem is not None:
            raise DataError(f"{name}:{line}: {problem}")
        if ended and rest:
            raise DataError(f'{name}:{line}: a quote (") is opened in this record but never closed')
        if ended:
            return
        if len(rest) > LONGEST_LINE:
            raise DataError(
                f"{name}:{line}: the record is longer than {LONGEST_LINE >> 20} MB;"
                " a quote may not be closed, or the file may not be CSV"
            )


def lines_of(text: bytearray) -> int:
    """Return the number of line ends in a text."""
    return text.count(b"\n") + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def _whole(text: bytearray, delimiter: int) -> int:
    """Return where the last whole record of a text ends."""
    if b'"' not in text:
        return text.rfind(b"\n") + 1
    data = np.frombuffer(text, dtype=np.uint8)
    whole = 0
    for part in _parts(data, delimiter):
        newlines = part.begin + np.flatnonzero(data[part.begin : part.end] == _LF)
        outside = newlines[part.outside(newlines)]
        whole = int(outside[-1]) + 1 if outside.size else whole
    return whole


class _Stretch(NamedTuple):
    """A part of a text: whether a quoted field is open at its start, and the quotes that close and open fields."""

    begin: int
    end: int
    inside: bool
    marks: NDArray[np.intp]

    def outside(self, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which places in this part are outside quoted fields."""
        outside: NDArray[np.bool_] = np.searchsorted(self.marks, places) % 2 == self.inside
        return outside


def _parts(data: NDArray[np.uint8], delimiter: int) -> Iterator[_Stretch]:
    """Yield a text in parts."""
    begin, inside = 0, False
    while begin < data.size:
        end = _past_quotes(data, begin + _SLICE)
        marks = _plain_marks(data, begin, end, inside, delimiter) if end - begin <= 2 * _SLICE else None
        if marks is None:
            marks = _marks(data, begin, end, inside, delimiter)
        yield _Stretch(begin, end, inside, marks)
        inside ^= marks.size % 2 == 1
        begin = end


def _plain_marks(
    data: NDArray[np.uint8], begin: int, end: int, inside: bool, delimiter: int
) -> NDArray[np.intp] | None:
    """Return all quotes of a part, if they alternately open and close fields; None if one of them is literal.

    A doubled quote inside a field closes it and opens it again, which has the same effect.
    """
    begins = np.zeros(256, dtype=bool)
    begins[[delimiter, _LF, _CR, _QUOTE]] = True
    quotes = begin + np.flatnonzero(data[begin:end] == _QUOTE)
    opening = quotes[int(inside) :: 2]
    return quotes if begins[data[opening[opening > 0] - 1]].all() else None


def _marks(data: NDArray[np.uint8], begin: int, end: int, inside: bool, delimiter: int) -> NDArray[np.intp]:
    """Return the quotes of a part that open or close a field, whatever other quotes there are.

    A quote opens a field only at the start of the field; elsewhere it is literal. Inside a field, a doubled quote is a
    literal one, so that an odd number of quotes in a row closes the field with the last of them.
    """
    begins = np.zeros(256, dtype=bool)
    begins[[delimiter, _LF, _CR]] = True
    quote = np.zeros(end - begin + 2, dtype=bool)
    np.equal(data[begin:end], _QUOTE, out=quote[1:-1])
    edges = begin + np.flatnonzero(quote[1:] != quote[:-1])
    first, last = edges[::2], edges[1::2] - 1
    opens = begins[data[first - 1]] | (first == 0)
    odd = (last - first) % 2 == 0
    # An odd run at the start of a field opens it, or closes the one that is open; elsewhere it can only close.
    turns = np.cumsum(odd & opens)
    closed = odd & ~opens
    since = np.maximum.accumulate(np.where(closed, turns, 0))
    never = ~np.maximum.accumulate(closed)
    after = (turns - since + (never & inside)) % 2 == 1
    before = np.concatenate([[inside], after[:-1]])[: after.size]
    # An even run at the start of a field is an empty field, or one of nothing but quotes.
    return np.sort(np.concatenate([first[~before & opens], last[before & odd], last[~before & opens & ~odd]]))


def _past_quotes(data: NDArray[np.uint8], place: int) -> int:
    """Return the first place from this one on that is not inside a run of quotes."""
    while place < data.size and data[place - 1] == _QUOTE:
        others = np.flatnonzero(data[place : place + _SLICE] != _QUOTE)
        if others.size:
            return place + int(others[0])
        place += _SLICE
    return min(place, data.size)
