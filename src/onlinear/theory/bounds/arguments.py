"""Checks of numbers that several bounds take."""

from __future__ import annotations

import math

from onlinear.errors import ParameterError


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
