"""libsvm lines out of bytes: plain Python, compiled like the passes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.draws import unsigned
from onlinear.engine.flat import Floats, address
from onlinear.streams.formats.text.decimals import (
    DOT,
    EXACT,
    HARD,
    INFINITE,
    MALFORMED,
    MASK64,
    MINUS,
    TENS,
    WHOLE_TENS,
    ZERO,
    decimal,
    digits,
    digits_of,
)

# Faults of a line.
NO_FAULT: Final = 0
BAD_LABEL: Final = 1
NO_LABEL: Final = 2
SEVERAL_LABELS: Final = 3
BAD_INDEX: Final = 4
INDEX_TOO_SMALL: Final = 5
INDEX_NOT_ASCENDING: Final = 6
INDEX_TOO_LARGE: Final = 7
BAD_VALUE: Final = 8

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH, _COMMA, _COLON = 9, 10, 13, 32, 35, 44, 58


def marks(text: Any, p: int) -> tuple[int, int, int]:
    """Return which of the 64 bytes text[p : p+64] are colons or blanks, and how many are colons and ends of lines."""
    some = bytes(text[p : p + 64])
    both = sum(1 << k for k, byte in enumerate(some) if byte == _COLON or byte <= _SPACE)
    return both, some.count(b":"), some.count(b"\n")


def first_mark(word: int) -> int:
    """Return the place of the lowest bit that is set, of 64."""
    return (int(word) & -int(word)).bit_length() - 1


def mark_separators(text: NDArray[Any], n: int, words: NDArray[np.uint64]) -> tuple[int, int]:
    """Mark colons and blanks in the first n bytes, with one bit per byte; return the numbers of lines and colons.

    `words` must have one word more than n bytes need: its bits are set, so that a search always ends.
    """
    at = address(text)
    lines = colons = 0
    last = n >> 6
    for k in range(last + 1):
        words[k], some, ends_ = marks(at, k << 6)
        colons += some
        lines += ends_
    words[last + 1] = unsigned(MASK64)
    return lines, colons


def parse_lines(
    text: NDArray[Any],
    n: int,
    words: NDArray[np.uint64],
    lowest: int,
    highest: int,
    labelled: bool,
    labels: Floats,
    starts: NDArray[Any],
    lines: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: Floats,
    faults: NDArray[Any],
    hard: NDArray[Any],
    totals: NDArray[Any],
) -> None:
    """Read libsvm lines from the first n bytes, the last of which ends a line.

    64 more bytes must follow them, and `words` mark colons and blanks (see `mark_separators`). The label of an example,
    the start of its line and the line's number go into `labels`, `starts` and `lines`; its entries go into a CSR
    matrix, column = index − `lowest`. A faulty line gets a row of `faults` instead: (rows before it, line, start,
    fault, place). Hard numbers are listed in `hard`: (entry, or −1 − row for a label, from, to). `totals` becomes
    (rows, entries, faults, hard numbers, width, lines).
    """
    at, columns, entries, marks_ = address(text), address(indices), address(values), address(words)
    tens, whole_tens = address(TENS), address(WHOLE_TENS)
    row = entry = fault_count = hard_count = width = line = 0
    p = 0
    indptr[0] = 0
    while p < n:
        start = p
        while at[p] == _SPACE or at[p] == _TAB or at[p] == _RETURN:
            p += 1
        if at[p] != _NEWLINE and at[p] != _HASH:
            fault = NO_FAULT
            hard_before = hard_count
            first = p
            value, p, how = decimal(at, p)
            if not labelled:
                # Any word is fine where the label should be, and none. One with a colon is a feature.
                value, p, how = 0.0, first, EXACT
                while at[p] != _COLON and not ends(at[p]):
                    p += 1
                if at[p] == _COLON:
                    p = first
            elif at[p] == _COLON:
                fault, p = NO_LABEL, first
            elif at[p] == _COMMA:
                fault, p = SEVERAL_LABELS, first
            elif how == MALFORMED or how == INFINITE or not ends(at[p]):
                fault, p = BAD_LABEL, first
            elif how == HARD:
                hard[hard_count, 0], hard[hard_count, 1], hard[hard_count, 2] = -1 - row, first, p
                hard_count += 1
            labels[row] = value
            begin = entry
            fresh = p > first
            previous = lowest - 1
            while fault == NO_FAULT:
                # The usual: blank, index, colon, number, blank, and again. Where each ends is known from the marks, so
                # that no number waits for the one before it. Whatever looks different is read below.
                block = p >> 6
                word = unsigned(marks_[block]) >> (p & 63) >> 1 << (p & 63) << 1
                while at[p] == _SPACE:
                    while word == unsigned(0):
                        block += 1
                        word = unsigned(marks_[block])
                    colon = (block << 6) + first_mark(word)
                    word &= word - unsigned(1)
                    while word == unsigned(0):
                        block += 1
                        word = unsigned(marks_[block])
                    end = (block << 6) + first_mark(word)
                    word &= word - unsigned(1)
                    size = colon - p - 1
                    sign = at[colon + 1] == MINUS
                    first = colon + 1 + sign
                    length = end - first
                    if at[colon] != _COLON or (at[end] != _SPACE and at[end] != _NEWLINE):
                        break
                    if size < 1 or size > 8 or length < 1 or length > 10:
                        break
                    good, index = digits_of(at, p + 1, size)
                    if at[first + 1] == DOT and length > 1:
                        after = length - 2
                        digit = int(at[first]) - ZERO
                        fine, fraction = digits_of(at, first + 2, after)
                        number = digit * whole_tens[after] + fraction
                        fine = fine and 0 <= digit <= 9
                    elif length <= 8:
                        after = 0
                        fine, number = digits_of(at, first, length)
                    else:
                        break
                    if not (good and fine and previous < index < highest + lowest):
                        break
                    columns[entry] = index - lowest
                    value = float(number) / tens[after]
                    entries[entry] = -value if sign else value
                    previous = index
                    fresh = False
                    entry += 1
                    p = end
                while at[p] == _SPACE or at[p] == _TAB or at[p] == _RETURN:
                    p += 1
                if at[p] == _NEWLINE or at[p] == _HASH:
                    break
                first = p
                size, index = digits(at, p)
                p += size
                if size == 8:
                    while 0 <= at[p] - ZERO <= 9:
                        index = min(10 * index + int(at[p] - ZERO), 1 << 40)
                        p += 1
                if p == first or at[p] != _COLON:
                    if fresh and p == first and is_query(at, p):
                        # It names a query, for ranking, and is not a feature.
                        fresh = False
                        while not ends(at[p]):
                            p += 1
                        continue
                    fault, p = BAD_INDEX, first
                elif index < lowest:
                    fault, p = INDEX_TOO_SMALL, first
                elif index - lowest >= highest:
                    fault, p = INDEX_TOO_LARGE, first
                elif index <= previous:
                    fault, p = INDEX_NOT_ASCENDING, first
                else:
                    first = p + 1
                    value, p, how = decimal(at, first)
                    if how == MALFORMED or how == INFINITE or not ends(at[p]):
                        fault, p = BAD_VALUE, first
                    else:
                        if how == HARD:
                            hard[hard_count, 0], hard[hard_count, 1], hard[hard_count, 2] = entry, first, p
                            hard_count += 1
                        columns[entry] = index - lowest
                        entries[entry] = value
                        previous = index
                        fresh = False
                        entry += 1
            if fault == NO_FAULT:
                starts[row], lines[row] = start, line
                width = max(width, previous + 1 - lowest)
                row += 1
                indptr[row] = entry
            else:
                faults[fault_count, 0], faults[fault_count, 1], faults[fault_count, 2] = row, line, start
                faults[fault_count, 3], faults[fault_count, 4] = fault, p
                fault_count += 1
                entry, hard_count = begin, hard_before
        while at[p] != _NEWLINE:
            p += 1
        p += 1
        line += 1
    totals[0], totals[1], totals[2] = row, entry, fault_count
    totals[3], totals[4], totals[5] = hard_count, width, line


def is_query(text: Any, p: int) -> bool:
    """Tell whether ``qid:`` stands at text[p:]."""
    return bool(text[p] == 113 and text[p + 1] == 105 and text[p + 2] == 100 and text[p + 3] == _COLON)


def ends(byte: int) -> bool:
    """Tell whether a number may end before this byte."""
    return bool(byte == _SPACE or byte == _NEWLINE or byte == _TAB or byte == _RETURN or byte == _HASH)
