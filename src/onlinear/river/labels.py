"""Labels as River's users give them: True and False, texts, numbers; of one kind in one model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError


def plain_label(y: Any, where: str = "") -> Any:
    """Return a label as a plain bool, int, float or str."""
    label = y.item() if isinstance(y, np.generic) else y
    if type(label) is bool or (type(label) is str and not label.endswith("\0")):  # NumPy cuts these off
        return label
    if (type(label) is int and -(2**63) <= label < 2**63) or (type(label) is float and math.isfinite(label)):
        return label
    raise DataError(
        f"{where}label {y!r}; a label is True or False, a text that does not end in a NUL, or a number that is finite"
        " and has at most 64 bits"
    )


def label_array(y: Any, n: int) -> NDArray[Any]:
    """Return the labels of n rows as an array, once they are known to be of one kind."""
    series = y if isinstance(y, np.ndarray) else y.to_numpy() if hasattr(y, "to_numpy") else None
    # Of a list such as [1, "a"] NumPy would make texts without a word.
    labels = np.asarray(y, dtype=object) if series is None else series
    if labels.shape != (n,):
        raise DataError(f"X has {n} row(s), y the shape {labels.shape}; it must be a series with a label for each row")
    if labels.dtype.kind in "bi":
        return labels
    plain = [plain_label(label, f"row {i}, ") for i, label in enumerate(labels.tolist())]
    for i, label in enumerate(plain):
        check_kind(label, type(plain[0]), f"row {i}, ")
    return np.array(plain)


def check_kind(label: Any, kind: type, where: str = "") -> None:
    """Raise where a label is of another kind than those before it."""
    if type(label) is not kind:
        raise DataError(
            f"{where}label {label!r} is of type {type(label).__name__}; the others are of type {kind.__name__},"
            " and the labels of one model are of one type"
        )
