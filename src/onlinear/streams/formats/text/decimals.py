"""Decimal numbers out of bytes: plain Python, compiled like the passes.

A decimal becomes the nearest float, exact to the last bit, in one of three ways. A whole number up to 2⁵³ times a
power of ten up to 10²² takes one multiplication or division of exact floats. Other decimals are multiplied by 5^q to
128 bits (Eisel and Lemire), and the product decides unless it lies too near a tie. The few that remain are returned
as *hard*, for Python's `float` to read.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.draws import unsigned
from onlinear.engine.flat import address

# How a decimal was read.
EXACT: Final = 0
HARD: Final = 1
INFINITE: Final = 2
MALFORMED: Final = 3

_DIGITS: Final = 18
"""This many digits fit into 64 bits with a sign; further ones are looked at only where they matter."""
_LEAST_POWER, _LARGEST_POWER = -342, 308
_MASK32: Final = 0xFFFFFFFF
MASK64: Final = 0xFFFFFFFFFFFFFFFF

MINUS, DOT, ZERO = 45, 46, 48
_PLUS, _E = 43, 101  # e in lower case, that is with bit 32


def _powers_of_five() -> NDArray[np.uint64]:
    """Return the leading 128 bits of 5^q, as two columns; rounded down, and up where q < 0."""
    rows = []
    for q in range(_LEAST_POWER, _LARGEST_POWER + 1):
        if q >= 0:
            bits = 5**q << 128 >> (5**q).bit_length()
        else:
            bits = (1 << (127 + (5**-q).bit_length())) // 5**-q + 1
        rows.append((bits >> 64, bits & MASK64))
    return np.array(rows, dtype=np.uint64)


_FIVES: Final = _powers_of_five()
TENS: Final = np.array([10.0**k for k in range(23)])
WHOLE_TENS: Final = np.array([10**k for k in range(9)])
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
    return a1 * b1 + (middle >> 32) + (rest >> 32), ((rest << 32) & unsigned(MASK64)) | (a0 * b0 & low)


def leading_zeros(w: int) -> int:
    """Return how many of 64 bits stand before the first one, for w > 0."""
    count = 0
    for step in (32, 16, 8, 4, 2, 1):
        if w >> (64 - step) == 0:
            w = (w << step) & unsigned(MASK64)
            count += step
    return count


def times_power_of_ten(w: int, q: int) -> tuple[float, int]:
    """Return w·10^q for 0 < w < 10¹⁸, and how it was read (Eisel and Lemire)."""
    if q < _LEAST_POWER:
        return 0.0, HARD
    if q > _LARGEST_POWER:
        return 0.0, INFINITE
    zeros = leading_zeros(unsigned(w))
    m = (unsigned(w) << zeros) & unsigned(MASK64)
    upper, lower = high_product(m, unsigned(_FIVES[q - _LEAST_POWER, 0]))
    if upper & unsigned(0x1FF) == unsigned(0x1FF):
        # The bits that decide are all ones: a carry from below may change them.
        carry, _ = high_product(m, unsigned(_FIVES[q - _LEAST_POWER, 1]))
        lower = (lower + carry) & unsigned(MASK64)
        if carry > lower:
            upper += unsigned(1)
        if lower == unsigned(MASK64):
            return 0.0, HARD
    top = signed(upper >> 63)
    shift = top + 9
    mantissa = signed(upper >> shift)
    exponent = ((217706 * q) >> 16) + 63 + top - zeros + 1023
    if exponent <= 0:
        return 0.0, HARD
    if lower <= unsigned(1) and -4 <= q <= 23 and mantissa & 3 == 1 and (unsigned(mantissa) << shift) == upper:
        mantissa -= 1  # exactly half-way: to the even neighbour
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa == 1 << 53:
        mantissa, exponent = 1 << 52, exponent + 1
    if exponent >= 0x7FF:
        return 0.0, INFINITE
    return float(mantissa) * _TWOS[exponent - 1], EXACT


def digits(text: Any, p: int) -> tuple[int, int]:
    """Return the number of digits at the start of the 8 bytes text[p : p+8], and the number that they form."""
    count = number = 0
    while count < 8 and 0 <= int(text[p + count]) - ZERO <= 9:
        number = 10 * number + int(text[p + count]) - ZERO
        count += 1
    return count, number


def decimal(text: Any, p: int) -> tuple[float, int, int]:
    """Read a decimal at text[p:]; return its value, the place after it, and how it was read."""
    begin, whole_tens = p, address(WHOLE_TENS)
    negative = text[p] == MINUS
    if negative or text[p] == _PLUS:
        p += 1
    if text[p + 1] == DOT and 0 <= text[p] - ZERO <= 9:
        # Most often so. A branch that is foreseen costs less here than a count that has to be waited for.
        before, w = 1, int(text[p] - ZERO)
        p += 1
    else:
        before, w = digits(text, p)
        p += before
    after = 0
    if text[p] == DOT:
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
        value, how = float(w) / address(TENS)[after], EXACT
    else:
        value, how = times_power_of_ten(w, -after)
    return -value if negative else value, p, how


def any_decimal(text: Any, p: int) -> tuple[float, int, int]:
    """Do what `decimal` does, digit by digit: any number of them, and exponents."""
    negative = text[p] == MINUS
    if negative or text[p] == _PLUS:
        p += 1
    w, q, digits, dropped = 0, 0, 0, False
    begin = p
    while 0 <= text[p] - ZERO <= 9:
        if digits < _DIGITS:
            w = 10 * w + int(text[p] - ZERO)
            digits += w > 0
        else:
            q += 1
            dropped |= text[p] != ZERO
        p += 1
    places = p - begin
    if text[p] == DOT:
        p += 1
        begin = p
        while 0 <= text[p] - ZERO <= 9:
            if digits < _DIGITS:
                w = 10 * w + int(text[p] - ZERO)
                digits += w > 0
                q -= 1
            else:
                dropped |= text[p] != ZERO
            p += 1
        places += p - begin
    if places == 0:
        return 0.0, p, MALFORMED
    if text[p] | 32 == _E:
        p += 1
        below = text[p] == MINUS
        if below or text[p] == _PLUS:
            p += 1
        begin, power = p, 0
        while 0 <= text[p] - ZERO <= 9:
            power = min(10 * power + int(text[p] - ZERO), 1 << 40)
            p += 1
        if p == begin:
            return 0.0, p, MALFORMED
        q += -power if below else power
    how = EXACT
    if w == 0:
        value = 0.0
    elif w <= 1 << 53 and -22 <= q <= 22 and not dropped:
        value = float(w) * TENS[q] if q >= 0 else float(w) / TENS[-q]
    else:
        value, how = times_power_of_ten(w, q)
        if dropped and how != HARD:
            # The digits that were left out lie between these two; if both give one float, so do they.
            above, how_above = times_power_of_ten(w + 1, q)
            if above != value or how_above != how:
                how = HARD
    return -value if negative else value, p, how


def digits_of(text: Any, p: int, n: int) -> tuple[bool, int]:
    """Return whether the n ≤ 8 bytes text[p : p+n] are all digits, and their number."""
    count, number = digits(text, p)
    return (True, int(bytes(text[p : p + n]) or b"0")) if count >= n else (False, number)
