"""Follow the proximally regularised leader: sparse models from a stream."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import dot, squared_norm, weight
from onlinear.engine.flat import Floats
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rates import Proximal, lead
from onlinear.engine.rows import Row
from onlinear.errors import ParameterError
from onlinear.rules.losses import slope
from onlinear.rules.rule import Tie, check_number, rule


class Leader(NamedTuple):
    """The weights, and the sums that they follow from."""

    w: Floats
    z: Floats
    """Σ (g − σ·w): the gradients, and what keeps the weights near those of earlier rounds."""
    n: Floats
    """Σ g²."""


@rule(weighted=True, linear=True)
class FTRL(NamedTuple):
    """FTRL-Proximal with the logistic loss: per-feature rates, and weights that are exactly 0 until they matter.

    With the gradient g = ℓ′·x of ln(1 + e^(−ys)): σ_j = (√(n_j + g_j²) − √n_j)/α, z_j ← z_j + g_j − σ_j·w_j,
    n_j ← n_j + g_j²; then w_j = 0 where |z_j| ≤ λ₁, and otherwise
    ``w_j = −(z_j − sign(z_j)·λ₁) / ((β + √n_j)/α + λ₂)``. The regret to any fixed u is O(√T) for bounded gradients; no
    bound on the mistakes is known.

    Weights that are given with ``start=`` are what the sums begin from. A row whose square overflows is an error.

    Parameters
    ----------
    alpha, beta : float
        The rate of feature j is α/(β + √n_j); α > 0, β ≥ 0.
    l1, l2 : float
        The penalties λ₁ and λ₂, at least 0. Without penalties the weights are those of gradient descent with these
        rates. β and λ₂ cannot both be 0.
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts.

    References
    ----------
    McMahan et al. (2013), Ad click prediction: a view from the trenches, KDD.

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.noisy(n=1000, d=50, seed=0)
    >>> sparse = onlinear.run(onlinear.rules.FTRL(l1=20.0), X, y)
    >>> int((sparse.weights == 0).sum()) > 10
    True
    """

    alpha: float = 0.1
    beta: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "alpha", above=0.0, below=math.inf)
        for name in ("beta", "l1", "l2"):
            check_number(self, name, least=0.0, below=math.inf)
        if self.beta == self.l2 == 0.0:
            raise ParameterError("FTRL: beta and l2 are both 0; a rate could be infinite")

    def start(self, n: int) -> Leader:
        return Leader(np.zeros(n), np.zeros(n), np.zeros(n))

    def score(self, state: Leader, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Leader, x: Row, y: float, score: float, mistake: bool) -> float:
        g = slope(True, y, score) * weight(x)
        if g == 0.0:
            return 0.0
        if not math.isfinite(g * g * squared_norm(x)):
            return TOO_LARGE
        lead(state.w, state.z, state.n, g, Proximal(self.alpha, self.beta, self.l1, self.l2), x)
        return 1.0
