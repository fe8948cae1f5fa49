"""Pictures in rows: bars with names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onlinear.pictures.picture import Axis, Layer, Role


def row_bars(name: str, rows: Sequence[str], lengths: Any, *, first: int = 0, role: Role = "series") -> Layer:
    """Return a bar for each row, from row `first` on; row 0 is at the top."""
    return Layer.of(name, lengths, first + np.arange(len(rows)), "bars", role, texts=tuple(rows))


def rows_axis(rows: Sequence[str], label: str = "") -> Axis:
    """Return the axis of rows with these names."""
    return Axis(label, names=tuple(rows))
