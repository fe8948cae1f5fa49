"""Checks of arguments that many functions share."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.errors import DataError, ParameterError
from onlinear.spelling import option


def check_integers(least: int, **values: Any) -> None:
    """Raise if an argument is not an integer, or is too small."""
    for name, value in values.items():
        if not (isinstance(value, int | np.integer) and value >= least):
            raise ParameterError(f"{option(name)} is {value!r}; it must be an integer, at least {least}")


def check_unmasked(name: str, given: Any) -> None:
    """Raise if an array, or one in a list of arrays, has masked entries: NumPy would use what is below the mask."""
    parts = given if isinstance(given, list | tuple) else [given]
    for row, part in enumerate(parts):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            place = row if part is not given else int(np.argwhere(np.ma.getmaskarray(part))[0][0])
            raise DataError(f"row {place}: {name} has a masked value; fill in or remove what is missing")
