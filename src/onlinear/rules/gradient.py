"""Online gradient descent: one step size for all features, or one for each."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from onlinear.engine.algebra import add, dot, squared_norm, trial, weight
from onlinear.engine.flat import Floats
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rows import Row
from onlinear.engine.steps import add_rooted, add_squares
from onlinear.rules.losses import Loss, check_loss, slope
from onlinear.rules.rule import Tie, check_number, rule


@rule(additive=True, weighted=True, linear=True)
class OnlineGradient(NamedTuple):
    """Online gradient descent: ``w ← w − η_t·ℓ′·x`` with η_t = η₀/t^p, where ℓ′ is the slope of the loss in the score.

    The loss is max(0, 1 − ys) (hinge) or ln(1 + e^(−ys)) (logistic), with the score s = ⟨w,x⟩. With p = ½ the sum of
    the losses exceeds that of any fixed u by O(√T) if the weights are kept in a ball; for this variant, which does not
    project, no bound on the mistakes is known.

    Parameters
    ----------
    eta0 : float
        η₀ > 0, the first step size.
    power : float
        p ≥ 0, how fast the steps become smaller.
    loss : {"hinge", "logistic"}
        The loss.
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts.

    References
    ----------
    Zinkevich (2003), Online convex programming and generalized infinitesimal gradient ascent, ICML.

    Examples
    --------
    >>> import onlinear
    >>> onlinear.run(onlinear.rules.OnlineGradient(power=1.0), [[2.0, 0.0], [1.0, 1.0]], [+1, -1]).weights.tolist()
    [1.5, -0.5]
    """

    eta0: float = 1.0
    power: float = 0.5
    loss: Loss = "hinge"
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "eta0", above=0.0, below=math.inf)
        check_number(self, "power", least=0.0, below=math.inf)
        check_loss(self)

    def start(self, n: int) -> Floats:
        return np.zeros(n)

    def score(self, w: Floats, x: Row) -> float:
        return dot(w, x)

    def update(self, w: Floats, x: Row, y: float, score: float, mistake: bool) -> float:
        g = slope(self.loss == "logistic", y, score) * weight(x)
        if g == 0.0:
            return 0.0
        eta = self.eta0 / math.pow(float(trial(x)), self.power)
        add(w, -eta * g, x)
        return eta * abs(g)


class Adaptive(NamedTuple):
    """Weights, and the sum of the squared gradients of each."""

    w: Floats
    G: Floats


@rule(weighted=True, linear=True)
class AdaGrad(NamedTuple):
    """AdaGrad with a diagonal matrix: ``G_j ← G_j + g_j²``, then ``w_j ← w_j − η·g_j/√G_j``, with g = ℓ′·x.

    Features that were seldom active take larger steps. The loss is max(0, 1 − ys) (hinge) or ln(1 + e^(−ys))
    (logistic). Where the weights are kept in a box, the sum of the losses exceeds that of any fixed u by
    O(‖u‖_∞ Σ_j √G_j); for this variant, which does not project, no bound on the mistakes is known.

    The step of a feature does not depend on its unit, but the score does: on columns of very different sizes use
    `NormalizedAdaGrad`. A feature whose squared gradients underflow stays as it is (the paper's pseudo-inverse); a row
    whose square overflows is an error.

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
    Duchi, Hazan & Singer (2011), Adaptive subgradient methods, JMLR 12.

    Examples
    --------
    >>> import onlinear
    >>> onlinear.run(onlinear.rules.AdaGrad(), [[2.0, 0.0], [1.0, 1.0]], [+1, -1]).mistakes
    2
    """

    eta: float = 0.5
    loss: Loss = "hinge"
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "eta", above=0.0, below=math.inf)
        check_loss(self)

    def start(self, n: int) -> Adaptive:
        return Adaptive(np.zeros(n), np.zeros(n))

    def score(self, state: Adaptive, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Adaptive, x: Row, y: float, score: float, mistake: bool) -> float:
        g = slope(self.loss == "logistic", y, score) * weight(x)
        if g == 0.0:
            return 0.0
        if not math.isfinite(g * g * squared_norm(x)):
            return TOO_LARGE
        add_squares(state.G, g * g, x)
        add_rooted(state.w, -self.eta * g, state.G, x)
        return 1.0
