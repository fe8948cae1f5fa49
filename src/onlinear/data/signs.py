"""Comparing labels: which of two each of them is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.one_label import can_be_label
from onlinear.engine.flat import address
from onlinear.engine.runner import can_compile, kernel

_COMPILED = (np.int64, np.float64)


def signs_of(y: NDArray[Any], negative: Any, positive: Any) -> tuple[NDArray[np.int8], bool]:
    """Return −1 or +1 for each label, 0 where it is neither of the two; and whether there is no such label.

    The usual types are compared by a compiled loop: NumPy needs several, which take a tenth of a quick run.
    """
    kind = y.dtype.type
    if kind in _COMPILED and type(negative) is kind is type(positive) and y.dtype.isnative and can_compile():
        signs = np.empty(y.size, dtype=np.int8)
        return signs, kernel(write_signs)(np.ascontiguousarray(y), negative, positive, signs)
    signs = are_equal(y, positive).view(np.int8) - are_equal(y, negative).view(np.int8)
    return signs, bool(signs.all())


def write_signs(y: NDArray[Any], negative: Any, positive: Any, signs: NDArray[np.int8]) -> bool:
    """Write −1 or +1 for each label, 0 where it is neither of the two; tell whether there is no such label."""
    labels, written = address(y), address(signs)
    neither = 0
    for i in range(y.size):
        above, below = int(labels[i] == positive), int(labels[i] == negative)
        written[i] = above - below
        neither |= 1 - above - below
    return neither == 0


def are_equal(y: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Tell which labels are equal to one; those that are missing are not."""
    try:
        same = np.asarray(y == label, dtype=bool)
        return same if same.shape == y.shape else np.broadcast_to(same, y.shape)
    except TypeError:
        return np.fromiter((can_be_label(one) and bool(one == label) for one in y), dtype=bool, count=y.size)
