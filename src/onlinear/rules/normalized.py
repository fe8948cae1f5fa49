"""Gradient descent that does not depend on the units of the features."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import dot, squared_norm, weight
from onlinear.engine.flat import Floats
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rates import adapt, add_rated
from onlinear.engine.rows import Row
from onlinear.rules.losses import Loss, check_loss, slope
from onlinear.rules.rule import Tie, check_number, rule

_STEPS = 8
"""More steps towards a root than are ever needed."""
_NEAR = 1e-3
"""Where no more is missing, the next step is exact but for rounding."""
_FAR = 4.0
"""Up to here the first guess is good enough; beyond, e^δ may overflow."""


class Normalized(NamedTuple):
    """Weights, and what is known about the size of each feature and of its gradients."""

    w: Floats
    q: Floats
    """1/s², where s is the largest |x| of the feature so far; 0 if it was always 0."""
    G: Floats
    """The sum of the squared gradients."""
    r: Floats
    """Room for the rates 1/(s·√G) of the entries of a row."""
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
        size, rate = adapt(state.w, state.q, state.G, state.r, a * g * g, x)
        if size == 0.0:
            return 0.0
        state.sums[0] += a
        state.sums[1] += a * size
        # How far the score moves per unit of a step, and how far it is to go.
        scale = math.sqrt(state.sums[0] / state.sums[1])
        reach = scale * rate
        if reach == 0.0:
            return 0.0
        h = self.eta * a * reach
        far = logistic_distance(y * score, abs(g), h) if logistic else min(h, 1.0 - y * score)
        add_rated(state.w, y * far / reach * scale, state.r, x)
        return 1.0


def logistic_distance(margin: float, speed: float, h: float) -> float:
    """Return how far many small steps of total size h move a margin z: the δ with δ + e^z·(e^δ − 1) = h.

    The margin moves with the speed v = 1/(1 + e^z), so z + e^z grows by h. Multiplied by v, this is
    v·δ + (1 − v)·(e^δ − 1) = v·h. What is missing after a guess obeys the same equation, with the speed at that point.
    """
    goal, rest = h * speed, 1.0 - speed
    near = goal < _FAR
    far = short_distance(goal, rest) if near else min(goal, math.log((goal + rest) / speed) - margin)
    for _ in range(_STEPS):
        grown = rest * math.expm1(far) if near else speed * math.exp(margin + far) - rest
        slowed = 1.0 / (1.0 + grown)
        missing = (goal - speed * far - grown) * slowed
        far += short_distance(missing, 1.0 - speed * slowed)
        if not abs(missing) > _NEAR:
            break
    return far


def short_distance(u: float, p: float) -> float:
    """Return the δ with (1 − p)·δ + p·(e^δ − 1) = u for a small u, but for terms of the order u⁴."""
    return u / (1.0 + p * u * (0.5 + u * (1.0 / 6.0 - 0.25 * p)))
