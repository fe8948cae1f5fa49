"""Checks of arguments that many functions share."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.errors import ParameterError


def check_integers(least: int, **values: Any) -> None:
    """Raise if an argument is not an integer, or is too small."""
    for name, value in values.items():
        if not (isinstance(value, int | np.integer) and value >= least):
            raise ParameterError(f"{name} is {value!r}; it must be an integer, at least {least}")
