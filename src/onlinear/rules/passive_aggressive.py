"""The passive-aggressive family: the smallest step that corrects the score."""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from onlinear.engine.algebra import add, dot, squared_norm, weight
from onlinear.engine.flat import Floats
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rows import Row
from onlinear.errors import ParameterError
from onlinear.rules.rule import Tie, check_number, rule

Aggressiveness: TypeAlias = Literal["PA", "PA-I", "PA-II"]
_VARIANTS: Final = ("PA", "PA-I", "PA-II")


@rule(additive=True, weighted=True, linear=True)
class PassiveAggressive(NamedTuple):
    """Passive-aggressive: ``w ← w + τ·y·x`` where the hinge loss ℓ = max(0, 1 − y⟨w,x⟩) is not 0.

    The step is the smallest that makes the loss 0, unless that is limited: τ = ℓ/‖x‖² (PA), τ = min(C, ℓ/‖x‖²)
    (PA-I), or τ = ℓ/(‖x‖² + 1/(2C)) (PA-II). Its mistakes are at most R²‖u‖² (PA, for u with y⟨u,x⟩ ≥ 1
    throughout), max(R², 1/C)(‖u‖² + 2CΣℓ(u)) (PA-I), and (R² + 1/(2C))(‖u‖² + 2CΣℓ(u)²) (PA-II), for every u
    (`onlinear.theory.bounds.passive_aggressive`).

    The intercept's constant 1 counts in ‖x‖², so the margin after a step of PA is 1; scikit-learn and River leave it
    out. A row of zeros, and one whose square underflows, causes no step; one whose square overflows is an error. The
    weight of an example multiplies C, so in PA it only matters whether it is 0.

    Parameters
    ----------
    C : float
        How large a step may be, for PA-I and PA-II; C > 0.
    variant : {"PA", "PA-I", "PA-II"}
        Which limit the steps have.
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer (2006), Online passive-aggressive algorithms, JMLR 7.

    Examples
    --------
    >>> import onlinear
    >>> onlinear.run(onlinear.rules.PassiveAggressive(), [[0.0, 2.0], [1.0, 0.0]], [+1, -1]).weights.tolist()
    [-1.0, 0.5]
    """

    C: float = 1.0
    variant: Aggressiveness = "PA-I"
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "C", above=0.0, below=math.inf)
        if self.variant not in _VARIANTS:
            raise ParameterError(f"PassiveAggressive: variant is {self.variant!r}; it must be one of {list(_VARIANTS)}")

    def start(self, n: int) -> Floats:
        return np.zeros(n)

    def score(self, w: Floats, x: Row) -> float:
        return dot(w, x)

    def update(self, w: Floats, x: Row, y: float, score: float, mistake: bool) -> float:
        loss, square, C = 1.0 - y * score, squared_norm(x), self.C * weight(x)
        if not math.isfinite(square):
            return TOO_LARGE
        if loss <= 0.0 or square == 0.0 or C == 0.0:
            return 0.0
        if self.variant == "PA-I":
            tau = min(C, loss / square)
        elif self.variant == "PA-II":
            tau = loss / (square + 0.5 / C)
        else:
            tau = loss / square
        add(w, tau * y, x)
        return tau
