"""The averaged perceptron: it learns as the perceptron does, and predicts with the mean of its weights."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import add, dot, weight
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Row
from onlinear.errors import ParameterError
from onlinear.rules.rule import Tie, check_number, rule


class Averaged(NamedTuple):
    """The weights that learn, and what their mean lacks: w̄ = w − late/t."""

    w: Floats
    late: Floats
    """Σ (i−1)·y_i·x_i over the rounds i with a step: in how many rounds each step was still missing."""
    t: Floats
    """The number of rounds."""


@rule(additive=True, weighted=True, linear=True)
class AveragedPerceptron(NamedTuple):
    """The averaged perceptron: ``w ← w + y·x`` where ``y⟨w,x⟩ ≤ margin``; it predicts with w̄, the mean of w so far.

    The score is ⟨w̄,x⟩, and its sign the prediction, from the second round on. The steps are those of the perceptron,
    or of the margin perceptron. So the mistake bound (P1) and the hinge bound (P5) limit its *updates* (with a margin,
    the margin perceptron's update bound (P8) does), and the margin bound (P6) holds. No bound on the mistakes of w̄ is
    known for this variant; on data that nothing separates it errs far less than the last weights, which follow the last
    few mistakes.

    The weight of an example multiplies its step; in the mean every round counts once, whatever its weight.
    `Run.weights` and predictions use w̄; resuming continues with w. With more than two classes w̄ only predicts after
    learning, and the mistakes that are counted are those of w.

    Parameters
    ----------
    margin : float
        b, in the units of the score; at least 0. With 0, it learns as the perceptron does.
    progressive : bool
        Whether w̄ predicts in the rounds, too. Otherwise w does, as with more than two classes, and w̄ only predicts
        after learning; that takes about half the time.
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts; steps do not depend on it.

    References
    ----------
    Freund & Schapire (1999), Large margin classification using the perceptron algorithm, Machine Learning 37.

    Examples
    --------
    >>> import onlinear
    >>> run = onlinear.run(onlinear.rules.AveragedPerceptron(), [[2.0, 0.0], [1.0, 1.0]], [+1, -1])
    >>> run.state.arrays.w.tolist(), run.weights.tolist()
    ([1.0, -1.0], [1.5, -0.5])
    """

    margin: float = 0.0
    progressive: bool = True
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "margin", least=0.0, below=math.inf)
        if not isinstance(self.progressive, bool):
            raise ParameterError(f"AveragedPerceptron: progressive is {self.progressive!r}; it must be True or False")

    def start(self, n: int) -> Averaged:
        return Averaged(np.zeros(n), np.zeros(n), np.zeros(1))

    def score(self, state: Averaged, x: Row) -> float:
        learned = dot(state.w, x)
        if self.progressive and state.t[0] > 0.0:
            return learned - dot(state.late, x) / float(state.t[0])
        return learned

    def update(self, state: Averaged, x: Row, y: float, score: float, mistake: bool) -> float:
        before = float(state.t[0])
        state.t[0] += 1.0
        learned = dot(state.w, x) if self.progressive else score
        if y * learned > self.margin:
            return 0.0
        add(state.w, weight(x) * y, x)
        add(state.late, before * weight(x) * y, x)
        return weight(x)

    def final(self, state: Averaged) -> Averaged:
        """Return the mean of the weights after each round."""
        mean = state.w - state.late / max(1.0, float(state.t[0]))
        return Averaged(mean, np.zeros_like(mean), state.t.copy())
