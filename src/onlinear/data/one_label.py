"""A single label: its plain value, how messages show it, and whether it can be one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onlinear.errors import DataError


def plain(label: Any) -> Any:
    """Return a label as a plain value: a float that is a whole number as an integer."""
    value = label.item() if isinstance(label, np.generic) else label
    whole = isinstance(value, float) and abs(value) <= 2.0**53 and value == int(value)
    return int(value) if whole else value


def show(label: Any) -> str:
    """Return a label as it is written in Python."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def can_be_label(label: Any) -> bool:
    """Tell whether a label is neither missing nor infinite."""
    # pandas' NA is not equal to itself, nor to anything: it cannot even be asked.
    if label is None or type(label).__name__ in {"NAType", "NaTType"}:
        return False
    return not (isinstance(label, float | np.floating) and not math.isfinite(label))


def check_label(label: Any, place: str) -> None:
    """Raise if a label is missing or infinite."""
    if not can_be_label(label):
        raise DataError(f"{place}: {describe_missing(label)}")


def describe_missing(label: Any) -> str:
    """Return what is wrong with a label that is missing or infinite."""
    return "label is NaN" if isinstance(label, float | np.floating) and math.isnan(label) else f"label is {show(label)}"


def check_text_label(label: Any, place: str) -> None:
    """Raise if a label ends in a null character, which NumPy takes for the end of the text."""
    if label[-1:] in ("\0", b"\0"):
        raise DataError(f"{place}: label {label!r} ends in a null character; remove it")
