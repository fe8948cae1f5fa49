"""Labels: booleans, strings or numbers, of one type per model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError


def plain_label(y: Any, where: str = "") -> Any:
    """Return a label as a plain bool, int, float or str."""
    label = y.item() if isinstance(y, np.generic) else y
    if type(label) is bool or (type(label) is str and not label.endswith("\0")):  # which NumPy would strip
        return label
    if (type(label) is int and -(2**63) <= label < 2**63) or (type(label) is float and math.isfinite(label)):
        return label
    raise DataError(
        f"{where}label {y!r}; a label must be True or False, a string that does not end in NUL, or a finite number of"
        " at most 64 bits"
    )


def label_array(y: Any, n: int) -> NDArray[Any]:
    """Return the labels of n rows as an array; raise unless they are of one type."""
    series = y if isinstance(y, np.ndarray) else y.to_numpy() if hasattr(y, "to_numpy") else None
    # NumPy would convert a list such as [1, "a"] to strings silently.
    labels = np.asarray(y, dtype=object) if series is None else series
    if labels.shape != (n,):
        raise DataError(f"X has {n} row(s), y has shape {labels.shape}; y must be a series with one label per row")
    if labels.dtype.kind in "bi":
        return labels
    plain = [plain_label(label, f"row {i}, ") for i, label in enumerate(labels.tolist())]
    for i, label in enumerate(plain):
        check_kind(label, type(plain[0]), f"row {i}, ")
    return np.array(plain)


def check_kind(label: Any, kind: type, where: str = "") -> None:
    """Raise if a label is of another type than those before it."""
    if type(label) is not kind:
        raise DataError(
            f"{where}label {label!r} is of type {type(label).__name__}, the labels before it of type {kind.__name__};"
            " the labels of a model must be of one type"
        )
