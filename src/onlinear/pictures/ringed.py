"""Which examples a run was updated on, in order, and the way that its weights took."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.pictures.picture import Layer
from onlinear.pictures.plane import Box
from onlinear.runs.convergence import Convergence
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace

_LATEST = 25
"""The most updates that are numbered."""


class Rings(NamedTuple):
    """The rows of examples, and for each the numbers of its updates."""

    rows: NDArray[np.intp]
    texts: tuple[str, ...]


_NONE = Rings(np.empty(0, dtype=np.intp), ())


def ringed_updates(run: Run, labels: NDArray[Any], squared_lengths: Floats) -> tuple[Rings, list[str]]:
    """Return the rows of the latest updates with their numbers, counted from 1, and notes."""
    trace = run.trace
    if not isinstance(trace, Trace) or not trace.updates.size:
        return _NONE, []
    # A stretch of a resumed run went on through the examples, or had these to itself.
    begun = next((row for row in (trace.first_round, 0) if _in_order(run, trace, row, labels, squared_lengths)), None)
    if begun is None:
        return _NONE, ["The updates are not marked: the rounds were not in the order of these examples."]
    rows = (trace.updates - trace.first_round + begun) % labels.size
    latest = np.arange(max(0, trace.updates.size - _LATEST), trace.updates.size)
    numbered: dict[int, list[str]] = {}
    for k in latest.tolist():
        numbered.setdefault(int(rows[k]), []).append(str(k + 1))
    note = f"The last {_LATEST} of {trace.updates.size:,} updates are numbered."
    rings = Rings(np.array(list(numbered), dtype=np.intp), tuple(", ".join(each) for each in numbered.values()))
    return rings, [note] * (latest.size < trace.updates.size)


def _in_order(run: Run, trace: Trace, begun: int, labels: NDArray[Any], squared_lengths: Floats) -> bool:
    """Tell whether the rounds went through these examples again and again, from a row on, as far as the trace tells."""
    if isinstance(run, Convergence) and run.selection != "cyclic":
        return False
    rows = (begun + np.arange(trace.rounds)) % labels.size
    if not np.array_equal(run.classes[trace.answers], labels[rows]):
        return False
    if trace.squared_lengths.size != trace.updates.size:
        return True
    seen = squared_lengths[rows[trace.updates - trace.first_round]] + trace.fit_intercept
    return bool(np.allclose(seen, trace.squared_lengths, rtol=1e-9))


def way_of_weights(run: Run, box: Box) -> list[Layer]:
    """Return the way of two weights from the start on, if it was recorded, scaled down or up to be seen in the box."""
    trace = run.trace
    if not isinstance(trace, Trace) or "weights" not in trace.potentials or not trace.updates.size:
        return []
    way = np.concatenate([trace.before["weights"][:1], trace.potentials["weights"]])
    farthest = np.abs(way).max(axis=0)
    room = np.array([max(abs(box.left), abs(box.right)), max(abs(box.bottom), abs(box.top))])
    with np.errstate(divide="ignore"):
        scale = float(np.min(0.9 * room / farthest))
    if not 0.0 < scale < np.inf:
        return []
    scale = float(f"{scale:.1g}")
    name = "w after each update" if scale == 1.0 else f"w after each update, times {scale:g}"
    return [Layer.of(name, scale * way[:, 0], scale * way[:, 1], "path")]
