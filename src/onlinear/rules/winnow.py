"""Winnow: multiplicative, for many features of which few matter."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from onlinear.engine.algebra import dot, index, size, value
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Row
from onlinear.errors import ParameterError
from onlinear.rules.rule import as_number, check_number, rule

_LEAST = 2.0**-1022
"""No weight falls below this: from 0 it could never come back."""


@rule(inputs="binary", tie="negative")
class Winnow(NamedTuple):
    """Winnow: ``w_n ← w_n·(1+β)^(±1)`` of active features, after a missed positive (+) or a false positive (−).

    Predicts positive where ⟨w,x⟩ > θ; the score is ⟨w,x⟩ − θ. Inputs are 0 or 1, weights start at 1.
    On a disjunction of k of the N variables, with α = 1 + β and θ = N, it makes fewer than
    α/(α−1) + (1+α)·k·(log_α N + 1) mistakes: N enters by its logarithm only.

    Parameters
    ----------
    beta : float
        β > 0; promotion multiplies by α = 1 + β, demotion divides.
    threshold : float, optional
        θ > 0. None: the number of features N, which is then fixed before round one.

    Examples
    --------
    >>> import onlinear
    >>> run = onlinear.run(onlinear.rules.Winnow(), [[1, 0, 0], [0, 1, 1]], [1, 0])
    >>> run.weights.tolist()
    [2.0, 1.0, 1.0]
    """

    beta: float = 1.0
    threshold: float | None = None

    def check(self) -> None:
        check_number(self, "beta", above=0.0, below=math.inf)
        if not 1.0 < 1.0 + self.beta < math.inf:
            raise ParameterError(f"Winnow: beta is {self.beta!r}; 1 + beta rounds to 1, or is infinite")
        if self.threshold is not None:
            check_number(self, "threshold", above=0.0, below=math.inf)

    def for_width(self, n: int) -> Winnow:
        return self if self.threshold is not None else self._replace(threshold=float(n))

    def check_start(self, w: Floats) -> None:
        """Raise unless these weights can be multiplied: all above 0."""
        if not (w > 0.0).all():
            raise ParameterError("Winnow: start has a weight that is not above 0; multiplying cannot change that")

    def start(self, n: int) -> Floats:
        return np.ones(n)

    def score(self, w: Floats, x: Row) -> float:
        return dot(w, x) - as_number(self.threshold)

    def update(self, w: Floats, x: Row, y: float, score: float, mistake: bool) -> bool:
        if mistake:
            factor = (1.0 + self.beta) ** y
            for k in range(size(x)):
                if value(x, k) != 0.0:
                    n = index(x, k)
                    w[n] = max(w[n] * factor, _LEAST)
        return mistake

    def potentials(self, w: Floats) -> dict[str, Any]:
        """Return Φ = Σ w."""
        return {"total_weight": float(np.sum(w))}
