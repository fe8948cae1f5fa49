"""The values of features as numbers, and the errors for those that are not."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from onlinear.engine.flat import Floats
from onlinear.errors import DataError
from onlinear.rules.rule import INPUTS

PLAIN = frozenset({float, int, bool})
"""The types of Python numbers, whose sums are floats as in compiled code."""


def as_numbers(x: Mapping[Any, Any]) -> array[float]:
    """Return the values of an example, each as the nearest float64."""
    try:
        return as_floats(x.values())
    except (TypeError, ValueError, OverflowError):
        raise refusal(x) from None


def as_floats(values: Collection[Any]) -> array[float]:
    """Return values as the nearest floats; raise if one is not a real number."""
    if not PLAIN.issuperset(map(type, values)) and any(isinstance(v, complex | np.complexfloating) for v in values):
        raise TypeError("a complex number")  # NumPy would drop the imaginary part
    # Unlike float(), this accepts numbers of any type, but no strings.
    return array("d", [*values])


def refusal(x: Mapping[Any, Any], where: str = "", inputs: str = "real") -> DataError:
    """Return the error for an example that cannot be scored: its first bad value, or an overflow."""
    for name, value in x.items():
        wrong = fault(value, inputs)
        if wrong is not None:
            return DataError(f"{where}feature {name!r}: value {value!r}; {wrong}")
    return DataError(f"{where}its score overflows; scale the inputs")


def row_refusal(names: list[Any], values: Floats, i: int, inputs: str) -> DataError:
    """Return the error for row i of a table."""
    where = f"row {i}, " if len(values) > 1 else ""
    return refusal(dict(zip(names, values[i].tolist(), strict=True)), where, inputs)


def fault(value: Any, inputs: str) -> str | None:
    """Return what is wrong with a value, and the remedy; None if a rule with such inputs accepts it."""
    if isinstance(value, str | bytes):
        return "inputs must be numbers: one-hot encode it first"
    if value is None:
        return "inputs must be numbers: impute it, or leave the feature out"
    try:
        number = as_floats([value])[0]
    except OverflowError:
        return "it is too large for a float"
    except (TypeError, ValueError):
        return f"inputs must be numbers, not {type(value).__name__}"
    if not math.isfinite(number):
        return "inputs must be finite, not NaN or infinity: impute it, or leave the feature out"
    good, demand = INPUTS[inputs].good, INPUTS[inputs].demand
    return None if good(np.array([number]))[0] else demand
