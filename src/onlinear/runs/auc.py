"""The area under the ROC curve (AUC) of a stream of scores, in bounded memory."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats

EXACT = 1 << 20
"""The AUC of up to this many examples is exact."""
_EDGES = 1 << 16
"""The scores that divide the others into cells, if there are more examples."""


class Area(NamedTuple):
    """An AUC, by how much it may be wrong (0 where it is exact but for rounding), and the share of pairs that tie."""

    value: float
    error: float
    ties: float


class RocCurve:
    """Collects scores and labels for the area under their ROC curve.

    The AUC is the share of pairs (positive, negative) in which the positive example has the higher score, where a tie
    counts one half. Up to `EXACT` examples, all scores are kept. After that, quantiles of the scores kept so far divide
    the line into cells: each quantile is a cell of its own, and so is each open interval between two neighbours. Only
    the numbers of positive and negative scores in each cell are kept. The order of two scores is then unknown only if
    both are in the same interval. Counting one half for such a pair is wrong by at most one half, so the
    AUC is wrong by at most Σ pₖnₖ / (2PN), the sum over the intervals. The first `EXACT` examples determine the
    cells, so the size of the blocks does not matter.
    """

    def __init__(self, exact: int = EXACT, edges: int = _EDGES) -> None:
        self._exact, self._most = exact, edges
        self._kept: list[tuple[Floats, NDArray[np.bool_]]] = []
        self._room = exact
        self._edges: Floats | None = None
        self._cells = np.zeros((2, 0), dtype=np.int64)

    def add(self, scores: Floats, positive: NDArray[np.bool_]) -> None:
        """Take in the scores of examples, and which of them are positive."""
        if self._edges is None:
            first = slice(0, self._room)
            self._kept.append((scores[first].copy(), positive[first].copy()))
            self._room -= self._kept[-1][0].size
            scores, positive = scores[first.stop :], positive[first.stop :]
            if scores.size:
                self._divide()
        if scores.size:
            self._count(scores, positive)

    def area(self) -> Area | None:
        """Return the AUC of the examples so far, at least one; None if all have the same label."""
        if self._edges is not None:
            return _area(self._cells, self._cells[:, ::2])
        scores, positive = map(np.concatenate, zip(*self._kept, strict=True))
        found, place = np.unique(scores, return_inverse=True)
        cells = np.stack([np.bincount(place[which], minlength=found.size) for which in (~positive, positive)])
        return _area(cells, cells[:, :0])

    def _divide(self) -> None:
        """Replace the scores kept so far by the numbers of those in each cell."""
        scores, positive = map(np.concatenate, zip(*self._kept, strict=True))
        self._edges = np.unique(scores)
        if self._edges.size > self._most:
            # Quantiles: a score that occurs often is one of them.
            self._edges = np.unique(np.sort(scores)[:: -(-scores.size // self._most)])
        self._cells = np.zeros((2, 2 * self._edges.size + 1), dtype=np.int64)
        self._kept = []
        self._count(scores, positive)

    def _count(self, scores: Floats, positive: NDArray[np.bool_]) -> None:
        assert self._edges is not None  # noqa: S101  # it is only called with cells
        place = np.searchsorted(self._edges, scores)
        # Cell 2i is the interval below edge i, cell 2i + 1 the edge itself.
        hit = self._edges[np.minimum(place, self._edges.size - 1)] == scores
        place = 2 * place + hit
        size = self._cells.shape[1]
        self._cells[0] += np.bincount(place[~positive], minlength=size)
        self._cells[1] += np.bincount(place[positive], minlength=size)


def _area(cells: NDArray[np.int64], open_cells: NDArray[np.int64]) -> Area | None:
    """Return the AUC from the negative and positive scores in each cell, in integers until the last division."""
    pairs = math.prod(map(int, cells.sum(axis=1)))
    if not pairs:
        return None
    # Twice the number of pairs bounds every sum below.
    whole = np.int64 if 2 * pairs < 1 << 63 else object
    negative, positive = cells.astype(whole)
    below = np.cumsum(negative) - negative
    value = int((positive * (2 * below + negative)).sum()) / (2 * pairs)
    unknown = int(np.prod(open_cells.astype(whole), axis=0).sum())
    ties = (int((negative * positive).sum()) - unknown) / pairs
    # The division may round down, and the value itself is rounded.
    return Area(value, math.nextafter(unknown / (2 * pairs) + 2.0**-53, math.inf) if unknown else 0.0, ties)
