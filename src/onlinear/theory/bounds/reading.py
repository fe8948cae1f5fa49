"""Blocks of examples whose inputs a rule takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.engine.rows import Block
from onlinear.errors import AssumptionError
from onlinear.theory.examples import Examples


class Scored(NamedTuple):
    """A block from row `first` on, with labels ±1 and the rule's scores before it has learned anything."""

    first: int
    block: Block
    y: NDArray[np.int8]
    scores: Floats


def accepted(examples: Examples, rule: Any) -> Iterator[Scored]:
    """Yield all blocks; raise where a row is nothing that the rule, and so its theorem, is for."""
    reader = examples.learner(rule)
    for first, chunk, span, y in examples.blocks():
        block = chunk.block(span, examples.bias, examples.normalize)
        scores, _, end = reader.score(block, y.size, 0)
        if end < y.size:
            raise AssumptionError(str(reader.refuse(chunk, span.start + end)))
        yield Scored(first + span.start, block, y, scores)
