"""What rounding costs, and a norm that few roundings change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-53
"""The error of one rounding, relative to its result."""

LEAST = 2.0**-1074
"""The least positive float: where a result underflows, the error is at most half of it."""

_PORTION = 1 << 16
"""How many entries of a vector become Python numbers at a time."""


def accurate_norm(v: NDArray[np.float64]) -> float:
    """Return ‖v‖ to within a few roundings; no square underflows or overflows."""
    largest = max(float(np.max(v, initial=0.0)), -float(np.min(v, initial=0.0)))
    if largest == 0.0:
        return 0.0
    return largest * math.sqrt(math.fsum(itertools.chain.from_iterable(_squares(v, largest))))


def _squares(v: NDArray[np.float64], unit: float) -> Iterator[list[float]]:
    """Yield the squares of the entries that are not 0, some at a time: there may be millions of them."""
    for first in range(0, v.size, _PORTION):
        part = v[first : first + _PORTION]
        yield ((part[part != 0.0] / unit) ** 2).tolist()
