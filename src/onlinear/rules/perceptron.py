"""The perceptron and its margin variant: additive rules."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import add, dot, size, squared_norm, trial, weight
from onlinear.engine.flat import Floats, address, lane_dot
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rows import Row
from onlinear.errors import ParameterError
from onlinear.rounding import UNIT
from onlinear.rules.compensated import accumulate
from onlinear.rules.rule import Tie, check_number, rule

_DOUBTFUL = 2.0**-30
"""The relative error of a running ‖w‖² from which on it is computed afresh."""
_SELDOM = 1024
"""That reads all weights, however short the rows are: it is done at most once in this many rounds."""
_AT_A_TIME = 4096
"""Weights whose squares are summed without keeping what is rounded off."""


@rule(additive=True, weighted=True, linear=True)
class Perceptron(NamedTuple):
    """The perceptron: ``w ← w + y·x`` on a mistake.

    From w = 0, on examples with ‖x‖ ≤ R that some u separates with margin γ, it makes at most (R/γ)²
    mistakes, in any order and over any number of passes.

    Parameters
    ----------
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts: neither label (it counts against both), −1, or +1.

    Examples
    --------
    >>> import onlinear
    >>> run = onlinear.run(onlinear.rules.Perceptron(), [[1.0, 0.0], [0.0, 1.0]], [+1, -1])
    >>> run.mistakes, run.weights.tolist()
    (2, [1.0, -1.0])
    """

    tie: Tie = "mistake"

    def start(self, n: int) -> Floats:
        return np.zeros(n)

    def score(self, w: Floats, x: Row) -> float:
        return dot(w, x)

    def update(self, w: Floats, x: Row, y: float, score: float, mistake: bool) -> float:
        if not mistake:
            return 0.0
        add(w, weight(x) * y, x)
        return weight(x)


class Normed(NamedTuple):
    """Weights and their squared norm, which is kept up to date rather than computed each round."""

    w: Floats
    norm: Floats
    """‖w‖² as a sum and its compensation, and a bound on the rounding errors in it; −1 where it is not yet known."""


@rule(additive=True, weighted=True, linear=True)
class MarginPerceptron(NamedTuple):
    """The margin perceptron: ``w ← w + y·x`` while ``y⟨w,x⟩ ≤ margin`` (or ``≤ margin·‖w‖``).

    It steps on mistakes and on examples that are right by too little. From w = 0, with b = `margin`, it takes at most
    (R² + 2b)/γ*² steps, where γ* is the largest possible margin, and where it halts its margin is above bγ*/(R² + 2b).
    Normalised, with a margin β below γ*, it takes at most 2R²/(γ*−β)² + 2(R+β)/(γ*−β) steps, and where it halts its
    margin is above β.

    Parameters
    ----------
    margin : float
        b in the units of the score; where normalised, β in the units of ‖x‖. At least 0.
    normalized : bool
        Whether the margin is multiplied by ‖w‖.
    tie : {"mistake", "negative", "positive"}
        What counts as a mistake at a score of exactly 0; the step does not depend on it.

    Examples
    --------
    >>> import onlinear
    >>> rule = onlinear.rules.MarginPerceptron(margin=0.5)
    >>> onlinear.converge(rule, [[1.0, 0.2], [0.2, 1.0]], [+1, -1]).halted
    True
    """

    margin: float
    normalized: bool = False
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "margin", least=0.0, below=math.inf)
        if not isinstance(self.normalized, bool | np.bool_):
            raise ParameterError(f"MarginPerceptron: normalized is {self.normalized!r}; it must be True or False")

    def goal_margin(self) -> float | None:
        """Return the margin without which the rule does not halt."""
        return self.margin if self.normalized else None

    def start(self, n: int) -> Normed:
        return Normed(np.zeros(n), np.array([0.0, 0.0, -1.0]))

    def score(self, state: Normed, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Normed, x: Row, y: float, score: float, mistake: bool) -> float:
        bar = self.margin
        if self.normalized:
            if is_doubtful(state.norm, trial(x)):
                recompute_norm(state)
            bar *= math.sqrt(max(0.0, state.norm[0] + state.norm[1]))
        if y * score > bar:
            return 0.0
        # ‖w + ayx‖² = ‖w‖² + 2ay⟨w,x⟩ + a²‖x‖². With n entries in x, the rounding errors of ⟨w,x⟩ and of w + ayx
        # change that by at most (n + 4)·u·(‖w‖ + a‖x‖)², and the square is at most twice the sum of the squares.
        a = weight(x)
        product, square = 2.0 * a * y * score, a * a * squared_norm(x)
        if not math.isfinite(state.norm[0] + product + square):
            return TOO_LARGE
        add(state.w, a * y, x)
        state.norm[2] += UNIT * (size(x) + 4.0) * 2.0 * (state.norm[0] + square)
        accumulate(state.norm, product)
        accumulate(state.norm, square)
        return a


def is_doubtful(norm: Floats, t: int) -> bool:
    """Tell whether the running ‖w‖² should be computed afresh in round t: the same rounds for any number of weights."""
    return norm[2] < 0.0 or (t % _SELDOM == 0 and norm[2] > _DOUBTFUL * (norm[0] + norm[1]))


def recompute_norm(state: Normed) -> None:
    """Compute ‖w‖² from the weights."""
    state.norm[:] = 0.0
    w, n = address(state.w), state.w.size
    for j in range(0, n, _AT_A_TIME):
        accumulate(state.norm, lane_dot(w, j, w, j, min(_AT_A_TIME, n - j)))
