"""Fewer points for the same picture: what a column of pixels hides is left out, and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onlinear.pictures.picture import Floats

Places = NDArray[np.int64]


def thin_line(x: Floats, y: Floats, width: float = 1.0) -> Places:
    """Return which points of a line to keep: the first, the lowest, the highest and the last of each column of pixels.

    The line through them covers the same pixels, so no burst is hidden, and there are at most four points for each
    column that the line enters.

    Parameters
    ----------
    x, y : float arrays
        The points in pixels, in the order of the line.
    width : float
        The width of a column.
    """
    if not x.size:
        return np.empty(0, dtype=np.int64)
    columns = np.floor(x / width)
    new = np.concatenate([[True], np.diff(columns) != 0])
    group = np.cumsum(new)
    by_height = np.lexsort((y, group))  # stable: of equal heights the first comes first
    starts = np.flatnonzero(new)
    ends = np.concatenate([starts[1:], [x.size]]) - 1
    return np.unique(np.concatenate([starts, ends, by_height[starts], by_height[ends]]))


def stretches(*coordinates: Floats) -> list[slice]:
    """Return the stretches of points between those that have a NaN."""
    known = np.logical_and.reduce([np.isfinite(one) for one in coordinates])
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def thin_points(x: Floats, y: Floats) -> Places:
    """Return which points to keep: one in each pixel."""
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    _, kept = np.unique(np.stack([np.round(x[known]), np.round(y[known])]), axis=1, return_index=True)
    return known[np.sort(kept)]
