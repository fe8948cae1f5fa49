"""What rounding costs, and a norm that few roundings change."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-53
"""The error of one rounding, relative to its result."""

LEAST = 2.0**-1074
"""The least positive float: where a result underflows, the error is at most half of it."""


def accurate_norm(v: NDArray[np.float64]) -> float:
    """Return ‖v‖ to within a few roundings; no square underflows or overflows."""
    largest = float(np.max(np.abs(v), initial=0.0))
    if largest == 0.0:
        return 0.0
    return largest * math.sqrt(math.fsum(((v / largest) ** 2).tolist()))
