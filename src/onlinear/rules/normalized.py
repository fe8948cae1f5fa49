"""Gradient descent that does not depend on the units of the features."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import dot, squared_norm, weight
from onlinear.engine.flat import Floats
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rows import Row
from onlinear.engine.steps import adapt, add_scaled, dot_squares, grow_scales
from onlinear.rules.losses import Loss, check_loss, slope
from onlinear.rules.rule import Tie, check_number, rule

_STEPS = 40
"""More steps of Newton's method than are ever needed."""


class Normalized(NamedTuple):
    """Weights, and what is known about the size of each feature and of its gradients."""

    w: Floats
    q: Floats
    """1/s², where s is the largest |x| of the feature so far; 0 if it was always 0."""
    G: Floats
    """The sum of the squared gradients."""
    r: Floats
    """1/(s·√G)."""
    sums: Floats
    """Over the rounds with a slope: the number of rounds t, and N = Σ_t Σ_j (x_j/s_j)²."""


@rule(weighted=True, linear=True)
class NormalizedAdaGrad(NamedTuple):
    """Normalised AdaGrad: ``w_j ← w_j − √(t/N)·η·g_j/(s_j·√G_j)``, with s_j = max |x_j| so far and G_j = Σ g_j².

    g = ℓ′·x is the gradient of the loss, max(0, 1 − ys) (hinge) or ln(1 + e^(−ys)) (logistic), and N = Σ_t Σ_j
    (x_j/s_j)². Where s_j grows, w_j shrinks in proportion. So predictions do not depend on the unit of any feature:
    raw columns such as age and income need no scaling. No bound on the mistakes is known for this variant.

    A step does not overshoot. It is that of infinitely many small steps which add up to η: for the hinge loss it ends
    where y·s = 1, and for the logistic loss it follows the curve of decreasing slopes. The same steps are Vowpal
    Wabbit's default. As there, and other than in the paper, an example is predicted before s_j grows with it, and t
    and N count only rounds in which the loss has a slope; rows of zeros do not count.

    A row whose square overflows is an error; entries whose square underflows (below about 1e-144) count as 0.

    Parameters
    ----------
    eta : float
        η > 0.
    loss : {"hinge", "logistic"}
        The loss.
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts.

    References
    ----------
    Ross, Mineiro & Langford (2013), Normalized online learning, UAI; Karampatziakis & Langford (2011), Online
    importance weight aware updates, UAI.

    Examples
    --------
    >>> import onlinear
    >>> rule = onlinear.rules.NormalizedAdaGrad()
    >>> X, y = onlinear.datasets.noisy(n=1000, seed=0)
    >>> onlinear.run(rule, X, y).mistakes == onlinear.run(rule, X * 1024, y).mistakes
    True
    """

    eta: float = 0.5
    loss: Loss = "logistic"
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "eta", above=0.0, below=math.inf)
        check_loss(self)

    def start(self, n: int) -> Normalized:
        return Normalized(*(np.zeros(size) for size in (n, n, n, n, 2)))

    def score(self, state: Normalized, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Normalized, x: Row, y: float, score: float, mistake: bool) -> float:
        logistic, a = self.loss == "logistic", weight(x)
        g = slope(logistic, y, score)
        if g == 0.0 or a == 0.0:
            return 0.0
        if not math.isfinite(a * squared_norm(x)):
            return TOO_LARGE
        grow_scales(state.w, state.q, x)
        adapt(state.r, state.q, state.G, a * g * g, x)
        size = dot_squares(state.q, x)
        if size == 0.0:
            return 0.0
        state.sums[0] += a
        state.sums[1] += a * size
        # How far the score moves per unit of a step, and how far it is to go.
        scale = math.sqrt(state.sums[0] / state.sums[1])
        reach = scale * dot_squares(state.r, x)
        if reach == 0.0:
            return 0.0
        h = self.eta * a * reach
        far = logistic_distance(y * score, h) if logistic else min(h, 1.0 - y * score)
        add_scaled(state.w, y * far / reach * scale, state.r, x)
        return 1.0


def logistic_distance(margin: float, h: float) -> float:
    """Return how far many small steps of total size h move a margin z: the δ with δ + e^z·(e^δ − 1) = h.

    The margin moves with the speed 1/(1 + e^z), so z + e^z grows by h. Newton's method starts above the root of a
    convex function, and falls towards it.
    """
    e = math.exp(min(max(margin, -500.0), 500.0))
    far = min(h / (1.0 + e), math.log1p(h / e))
    for _ in range(_STEPS):
        lower = far - (far + e * math.expm1(far) - h) / (1.0 + e * math.exp(far))
        if not lower < far:
            return far
        far = max(lower, 0.0)
    return far
