"""The batch perceptron's pass: score with the weights, and sum up the direction of the next step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import add, dot, weight
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Row
from onlinear.rules.rule import Tie, rule


class BatchState(NamedTuple):
    """Weights, and the sum of y·x over the misclassified examples of the current pass."""

    w: Floats
    direction: Floats


@rule(additive=True, weighted=True, linear=True)
class BatchPerceptron(NamedTuple):
    """A pass of the batch perceptron: score with w, and sum up y·x over the mistakes."""

    tie: Tie = "mistake"

    def start(self, n: int) -> BatchState:
        return BatchState(np.zeros(n), np.zeros(n))

    def score(self, state: BatchState, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: BatchState, x: Row, y: float, score: float, mistake: bool) -> float:
        if not mistake:
            return 0.0
        add(state.direction, weight(x) * y, x)
        return weight(x)
