"""Logarithms rounded outward, from the ball arithmetic of FLINT: a ball is certain to hold the true value."""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

_BITS = 128
"""The precision of a ball: far more than that of a float, to which bounds are rounded in the end."""
_LOCK = threading.Lock()


def log_up(x: float) -> Fraction:
    """Return ln x, rounded up; ln 1 is 0."""
    return _upper_end(x, lambda x: x.log())


def log_down(x: float) -> Fraction:
    """Return ln x, rounded down; ln 1 is 0."""
    return -_upper_end(x, lambda x: -x.log())


def log2_up(n: int) -> Fraction:
    """Return log₂ n, rounded up; exactly where n is a power of two."""
    if n.bit_count() == 1:
        return Fraction(n.bit_length() - 1)
    return _upper_end(n, lambda n: n.log_base(2))


def inverse_log_up(x: float) -> Fraction:
    """Return ln(1/x), rounded up."""
    return -log_down(x)


def keeping_log_up(eta: float) -> Fraction:
    """Return ln(1/(1−η)), rounded up."""
    return _upper_end(eta, lambda eta: -(-eta).log1p())


def half_keeping_log_down(eta: float) -> Fraction:
    """Return ln(2/(2−η)), rounded down."""
    return -_upper_end(eta, lambda eta: (-eta / 2).log1p())


def _upper_end(x: float, function: Callable[[arb], arb]) -> Fraction:
    """Return the upper end of the ball that holds a function of x.

    FLINT has one precision for the whole process. It is set for this one computation and restored, one thread at a
    time. Where another library changes it meanwhile the ball is wider or narrower, but still holds the true value.
    """
    from flint import arb, ctx

    with _LOCK, ctx.workprec(_BITS):
        mantissa, exponent = function(arb(x)).upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
