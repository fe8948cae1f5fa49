"""Learning from some rows of a chunk, with weights, up to a number of updates."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

from onlinear.data.chunk import Chunk
from onlinear.data.matrices import Rows
from onlinear.engine.flat import Floats
from onlinear.engine.rows import NO_WEIGHTS
from onlinear.runs.learner import Learner
from onlinear.runs.recorder import AnyRecorder

Codes: TypeAlias = NDArray[Any]
"""−1 and +1, or the numbers of the classes."""


def learn_until(
    learner: Learner,
    chunk: Chunk,
    codes: Codes,
    rows: Rows,
    last: int | None,
    weights: Floats = NO_WEIGHTS,
    recorder: AnyRecorder | None = None,
) -> None:
    """Learn from some rows of a chunk, until there have been `last` updates."""
    y = codes[rows]
    limit = -1 if last is None else last - learner.updates
    block = chunk.block(rows, learner.bias, learner.normalize)
    if weights.size:
        block = block._replace(weights=weights[rows])
    end = recorder.learn(learner, block, y, limit) if recorder else learner.learn(block, y, limit=limit)
    if end < y.size and learner.updates != last:
        raise learner.refuse(chunk, rows.start + end if isinstance(rows, slice) else int(rows[end]))


def settled(learner: Learner, chunk: Chunk, codes: Codes, weights: Floats = NO_WEIGHTS) -> bool:
    """Tell whether no example is left to learn from, tested on a copy."""
    trial = learner.twin()
    for span in chunk.spans():
        learn_until(trial, chunk, codes, span, learner.updates + 1, weights)
        if trial.updates > learner.updates:
            return False
    return True
