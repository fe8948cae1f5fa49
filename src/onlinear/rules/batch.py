"""The batch perceptron's pass: scores with the weights, and collects the direction of the step to come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import add, dot, weight
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Row
from onlinear.rules.rule import Tie, rule


class Batch(NamedTuple):
    """Weights, and the sum of y·x over the misclassified examples of the pass that is under way."""

    w: Floats
    direction: Floats


@rule(additive=True, weighted=True)
class BatchPerceptron(NamedTuple):
    """What a pass of the batch perceptron does: score with w, and collect Σ y·x over the mistakes."""

    tie: Tie = "mistake"

    def start(self, n: int) -> Batch:
        return Batch(np.zeros(n), np.zeros(n))

    def score(self, state: Batch, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Batch, x: Row, y: float, score: float, mistake: bool) -> float:
        if not mistake:
            return 0.0
        add(state.direction, weight(x) * y, x)
        return weight(x)
