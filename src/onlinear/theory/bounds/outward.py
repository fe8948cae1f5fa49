"""Logarithms rounded outward: they are no fractions, so a few units in the last place are added or taken."""

from __future__ import annotations

import math
from fractions import Fraction

from onlinear.errors import ParameterError

_SLACK = 4.0
"""Units in the last place; the logarithms of a platform's C library are right to within one."""


def log_up(x: float) -> Fraction:
    """Return ln x, rounded up; ln 1 is 0."""
    return _above(math.log(x))


def log_down(x: float) -> Fraction:
    """Return ln x, rounded down; ln 1 is 0."""
    return -_above(-math.log(x))


def inverse_log_up(x: float) -> Fraction:
    """Return ln(1/x), rounded up."""
    return _above(-math.log(x))


def keeping_log_up(eta: float) -> Fraction:
    """Return ln(1/(1−η)), rounded up."""
    return _above(-math.log1p(-eta))


def half_keeping_log_down(eta: float) -> Fraction:
    """Return ln(2/(2−η)), rounded down; it is above η/2, which also holds where η/2 is too small for a float."""
    return max(Fraction(eta) / 2, -_above(math.log1p(-eta / 2)))


def _above(logarithm: float) -> Fraction:
    return Fraction(logarithm + _SLACK * math.ulp(logarithm)) if logarithm else Fraction(0)


def check_share(**values: float) -> None:
    """Raise unless arguments are numbers between 0 and 1, both excluded."""
    for name, value in values.items():
        if not (isinstance(value, int | float) and 0.0 < value < 1.0):
            raise ParameterError(f"{name} is {value!r}; it must be a number with 0 < {name} < 1")


def check_at_least(least: float, **values: float) -> None:
    """Raise unless arguments are finite numbers, and not too small."""
    for name, value in values.items():
        if not (isinstance(value, int | float) and least <= value < math.inf):
            raise ParameterError(f"{name} is {value!r}; it must be a finite number, at least {least:g}")
