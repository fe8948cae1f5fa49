"""Numbers and libsvm lines out of bytes: plain Python, compiled like the passes.

A decimal becomes the float next to it, to the last bit, on one of three ways. Up to 2⁵³ times a power of
ten up to 10²² is one multiplication or division of exact floats. Other decimals are multiplied by 5^q to
128 bits (Eisel and Lemire), and the product decides unless it lies too near a tie. What is left, one
number in very many, is handed back as *hard*: Python's `float` reads it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.draws import unsigned
from onlinear.engine.flat import Floats, address

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

# How a decimal was read.
_EXACT: Final = 0
_HARD: Final = 1
_INFINITE: Final = 2
_MALFORMED: Final = 3

_DIGITS: Final = 18
"""So many digits fit into 64 bits with a sign; further ones are looked at only where they matter."""
_LEAST_POWER, _LARGEST_POWER = -342, 308
_MASK32: Final = 0xFFFFFFFF
_MASK64: Final = 0xFFFFFFFFFFFFFFFF

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = 9, 10, 13, 32, 35
_PLUS, _COMMA, _MINUS, _DOT, _ZERO, _COLON = 43, 44, 45, 46, 48, 58
_E = 101  # in lower case, that is with bit 32


def _powers_of_five() -> NDArray[np.uint64]:
    """Return the leading 128 bits of 5^q, as two columns; rounded down, and up where q < 0."""
    rows = []
    for q in range(_LEAST_POWER, _LARGEST_POWER + 1):
        if q >= 0:
            bits = 5**q << 128 >> (5**q).bit_length()
        else:
            bits = (1 << (127 + (5**-q).bit_length())) // 5**-q + 1
        rows.append((bits >> 64, bits & _MASK64))
    return np.array(rows, dtype=np.uint64)


_FIVES: Final = _powers_of_five()
_TENS: Final = np.array([10.0**k for k in range(23)])
_WHOLE_TENS: Final = np.array([10**k for k in range(9)])
_TWOS: Final = np.array([2.0**k for k in range(-1074, 972)])


def signed(n: int) -> int:
    """Return an unsigned integer below 2⁶³ as a signed one (they are one type but in compiled code)."""
    return int(n)


def high_product(a: int, b: int) -> tuple[int, int]:
    """Return the upper and the lower 64 bits of a·b."""
    low = unsigned(_MASK32)
    a1, a0, b1, b0 = a >> 32, a & low, b >> 32, b & low
    middle = a1 * b0 + ((a0 * b0) >> 32)
    rest = (middle & low) + a0 * b1
    return a1 * b1 + (middle >> 32) + (rest >> 32), ((rest << 32) & unsigned(_MASK64)) | (a0 * b0 & low)


def leading_zeros(w: int) -> int:
    """Return how many of 64 bits stand before the first one, for w > 0."""
    count = 0
    for step in (32, 16, 8, 4, 2, 1):
        if w >> (64 - step) == 0:
            w = (w << step) & unsigned(_MASK64)
            count += step
    return count


def scaled(w: int, q: int) -> tuple[float, int]:
    """Return w·10^q for 0 < w < 10¹⁸, and how it was read (Eisel and Lemire)."""
    if q < _LEAST_POWER:
        return 0.0, _HARD
    if q > _LARGEST_POWER:
        return 0.0, _INFINITE
    zeros = leading_zeros(unsigned(w))
    m = (unsigned(w) << zeros) & unsigned(_MASK64)
    upper, lower = high_product(m, unsigned(_FIVES[q - _LEAST_POWER, 0]))
    if upper & unsigned(0x1FF) == unsigned(0x1FF):
        # The bits that decide are all ones: a carry from below may change them.
        carry, _ = high_product(m, unsigned(_FIVES[q - _LEAST_POWER, 1]))
        lower = (lower + carry) & unsigned(_MASK64)
        if carry > lower:
            upper += unsigned(1)
        if lower == unsigned(_MASK64):
            return 0.0, _HARD
    top = signed(upper >> 63)
    shift = top + 9
    mantissa = signed(upper >> shift)
    exponent = ((217706 * q) >> 16) + 63 + top - zeros + 1023
    if exponent <= 0:
        return 0.0, _HARD
    if lower <= unsigned(1) and -4 <= q <= 23 and mantissa & 3 == 1 and (unsigned(mantissa) << shift) == upper:
        mantissa -= 1  # exactly half-way: to the even neighbour
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa == 1 << 53:
        mantissa, exponent = 1 << 52, exponent + 1
    if exponent >= 0x7FF:
        return 0.0, _INFINITE
    return float(mantissa) * _TWOS[exponent - 1], _EXACT


def digits(text: Any, p: int) -> tuple[int, int]:
    """Return how many of the 8 bytes text[p : p+8] are digits, up to the first that is none, and their number."""
    count = number = 0
    while count < 8 and 0 <= int(text[p + count]) - _ZERO <= 9:
        number = 10 * number + int(text[p + count]) - _ZERO
        count += 1
    return count, number


def decimal(text: Any, p: int) -> tuple[float, int, int]:
    """Read a decimal at text[p:]; return its value, the place after it, and how it was read."""
    begin, whole_tens = p, address(_WHOLE_TENS)
    negative = text[p] == _MINUS
    if negative or text[p] == _PLUS:
        p += 1
    if text[p + 1] == _DOT and 0 <= text[p] - _ZERO <= 9:
        # Most often so. A branch that is foreseen costs less here than a count that has to be waited for.
        before, w = 1, int(text[p] - _ZERO)
        p += 1
    else:
        before, w = digits(text, p)
        p += before
    after = 0
    if text[p] == _DOT:
        after, fraction = digits(text, p + 1)
        w = w * whole_tens[after] + fraction
        p += 1 + after
        if after == 8:
            further, fraction = digits(text, p)
            w = w * whole_tens[further] + fraction
            p += further
            after += further
    # Up to 7 digits before the point, and all within 18: what is longer, or has an exponent, is read with care.
    if before == 8 or after == 16 or before + after > _DIGITS or before + after == 0 or text[p] | 32 == _E:
        return any_decimal(text, begin)
    if w <= 1 << 53:
        value, how = float(w) / address(_TENS)[after], _EXACT
    else:
        value, how = scaled(w, -after)
    return -value if negative else value, p, how


def any_decimal(text: Any, p: int) -> tuple[float, int, int]:
    """Do what `decimal` does, digit by digit: any number of them, and exponents."""
    negative = text[p] == _MINUS
    if negative or text[p] == _PLUS:
        p += 1
    w, q, digits, dropped = 0, 0, 0, False
    begin = p
    while 0 <= text[p] - _ZERO <= 9:
        if digits < _DIGITS:
            w = 10 * w + int(text[p] - _ZERO)
            digits += w > 0
        else:
            q += 1
            dropped |= text[p] != _ZERO
        p += 1
    places = p - begin
    if text[p] == _DOT:
        p += 1
        begin = p
        while 0 <= text[p] - _ZERO <= 9:
            if digits < _DIGITS:
                w = 10 * w + int(text[p] - _ZERO)
                digits += w > 0
                q -= 1
            else:
                dropped |= text[p] != _ZERO
            p += 1
        places += p - begin
    if places == 0:
        return 0.0, p, _MALFORMED
    if text[p] | 32 == _E:
        p += 1
        below = text[p] == _MINUS
        if below or text[p] == _PLUS:
            p += 1
        begin, power = p, 0
        while 0 <= text[p] - _ZERO <= 9:
            power = min(10 * power + int(text[p] - _ZERO), 1 << 40)
            p += 1
        if p == begin:
            return 0.0, p, _MALFORMED
        q += -power if below else power
    how = _EXACT
    if w == 0:
        value = 0.0
    elif w <= 1 << 53 and -22 <= q <= 22 and not dropped:
        value = float(w) * _TENS[q] if q >= 0 else float(w) / _TENS[-q]
    else:
        value, how = scaled(w, q)
        if dropped and how != _HARD:
            # The digits that were left out lie between these two; if both give one float, so do they.
            above, how_above = scaled(w + 1, q)
            if above != value or how_above != how:
                how = _HARD
    return -value if negative else value, p, how


def digits_of(text: Any, p: int, n: int) -> tuple[bool, int]:
    """Return whether the n ≤ 8 bytes text[p : p+n] are all digits, and their number."""
    count, number = digits(text, p)
    return (True, int(bytes(text[p : p + n]) or b"0")) if count >= n else (False, number)


def marks(text: Any, p: int) -> tuple[int, int, int]:
    """Return which of the 64 bytes text[p : p+64] are colons or blanks, and how many are colons and ends of lines."""
    some = bytes(text[p : p + 64])
    both = sum(1 << k for k, byte in enumerate(some) if byte == _COLON or byte <= _SPACE)
    return both, some.count(b":"), some.count(b"\n")


def first_mark(word: int) -> int:
    """Return the place of the lowest bit that is set, of 64."""
    return (int(word) & -int(word)).bit_length() - 1


def marked(text: NDArray[Any], n: int, words: NDArray[np.uint64]) -> tuple[int, int]:
    """Mark where colons and blanks are in the first n bytes, a bit a byte; return the numbers of lines and colons.

    There must be a word more than n bytes need: it is set, so that a search always ends.
    """
    at = address(text)
    lines = colons = 0
    last = n >> 6
    for k in range(last + 1):
        words[k], some, ends_ = marks(at, k << 6)
        colons += some
        lines += ends_
    words[last + 1] = unsigned(_MASK64)
    return lines, colons


def libsvm(
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

    64 more bytes must be there, and `words` mark colons and blanks (see `marked`). An example's label, where its
    line starts and the line's number go into `labels`, `starts` and `lines`; its entries into a CSR matrix, column =
    index − `lowest`. A faulty line leaves nothing there but a row of `faults`: (rows before it, line, start, fault,
    place). Hard numbers are listed in `hard`: (entry, or −1 − row for a label, from, to). `totals` becomes (rows,
    entries, faults, hard numbers, width, lines).
    """
    at, columns, entries, marks_ = address(text), address(indices), address(values), address(words)
    tens, whole_tens = address(_TENS), address(_WHOLE_TENS)
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
            if at[p] == _COLON and not labelled:
                value, p, how = 0.0, first, _EXACT
            elif at[p] == _COLON:
                fault, p = NO_LABEL, first
            elif at[p] == _COMMA:
                fault, p = SEVERAL_LABELS, first
            elif how == _MALFORMED or how == _INFINITE or not ends(at[p]):
                fault, p = BAD_LABEL, first
            elif how == _HARD:
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
                    sign = at[colon + 1] == _MINUS
                    first = colon + 1 + sign
                    length = end - first
                    if at[colon] != _COLON or (at[end] != _SPACE and at[end] != _NEWLINE):
                        break
                    if size < 1 or size > 8 or length < 1 or length > 10:
                        break
                    good, index = digits_of(at, p + 1, size)
                    if at[first + 1] == _DOT and length > 1:
                        after = length - 2
                        digit = int(at[first]) - _ZERO
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
                    while 0 <= at[p] - _ZERO <= 9:
                        index = min(10 * index + int(at[p] - _ZERO), 1 << 40)
                        p += 1
                if p == first or at[p] != _COLON:
                    if fresh and p == first and is_query(at, p):
                        # It names a query, for ranking; it is no feature.
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
                    if how == _MALFORMED or how == _INFINITE or not ends(at[p]):
                        fault, p = BAD_VALUE, first
                    else:
                        if how == _HARD:
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
