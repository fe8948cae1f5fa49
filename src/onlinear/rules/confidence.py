"""Second-order rules: a Gaussian over weight vectors, which says how much is known about each weight."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.algebra import dot, index, size, value, weight
from onlinear.engine.flat import Floats
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rows import Row
from onlinear.engine.steps import add_scaled, dot_squares, shrink
from onlinear.errors import ParameterError
from onlinear.rules.rule import Tie, check_number, rule

Softness: TypeAlias = Literal["SCW-I", "SCW-II"]
_VARIANTS: Final = ("SCW-I", "SCW-II")
MOST_FULL: Final = 2048
"""The largest number of weights with a full matrix, which then takes 32 MB."""


class Gaussian(NamedTuple):
    """The mean and the variances of the weights; with a full matrix, all covariances."""

    w: Floats
    s: Floats
    """The diagonal of Σ."""
    S: NDArray[np.float64]
    """Σ, if it is full; otherwise empty."""
    u: Floats
    """Room for Σx, if Σ is full."""
    phi: Floats
    """What a rule computes from its parameters."""


def new_gaussian(owner: Any, n: int, phi: float = 0.0) -> Gaussian:
    """Return mean 0 and Σ = 1 for n weights."""
    if owner.full and n > MOST_FULL:
        raise ParameterError(
            f"{type(owner).__name__}: a full matrix for {n:,} weights; at most {MOST_FULL:,} (leave out full=True)"
        )
    full = n if owner.full else 0
    return Gaussian(np.zeros(n), np.ones(n), np.eye(full), np.zeros(full), np.array([phi]))


def variance(state: Gaussian, full: bool, x: Row) -> float:
    """Return v = xᵀΣx, the variance of the score; with a full matrix, keep Σx."""
    if not full:
        return dot_squares(state.s, x)
    for i in range(state.w.size):
        total = 0.0
        for k in range(size(x)):
            total += float(state.S[i, index(x, k)]) * value(x, k)
        state.u[i] = total
    return dot(state.u, x)


def move(state: Gaussian, full: bool, a: float, b: float, x: Row) -> None:
    """Move the mean, w ← w + a·Σx, and become more certain, Σ ← Σ − b·Σx(Σx)ᵀ (of its diagonal alone, if not full)."""
    if not full:
        add_scaled(state.w, a, state.s, x)
        shrink(state.s, b, x)
        return
    for i in range(state.w.size):
        state.w[i] += a * float(state.u[i])
        for j in range(state.w.size):
            state.S[i, j] -= b * (float(state.u[i]) * float(state.u[j]))


@rule(weighted=True, linear=True)
class AROW(NamedTuple):
    """Adaptive regularisation of weights: ``w ← w + α·y·Σx`` and ``Σ ← Σ − β·Σx(Σx)ᵀ`` where ``y⟨w,x⟩ < 1``.

    With v = xᵀΣx: β = 1/(v + r) and α = max(0, 1 − y⟨w,x⟩)·β. Σ starts as 1. By default only its diagonal is kept, as
    the paper does for many features: the off-diagonal entries of each update are dropped, and a sparse round costs no
    more than its entries. The paper bounds the mistakes for the full matrix by quantities of the run; for the diagonal
    no bound is known.

    An example of weight a counts as one with r/a. A row of zeros causes no step; a row for which v overflows is an
    error.

    Parameters
    ----------
    r : float
        r > 0; smaller values take larger steps.
    full : bool
        Keep all of Σ, for at most 2,048 weights (the intercept and all classes included).
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts.

    References
    ----------
    Crammer, Kulesza & Dredze (2009), Adaptive regularization of weight vectors, NIPS.

    Examples
    --------
    >>> import onlinear
    >>> onlinear.run(onlinear.rules.AROW(), [[1.0, 0.0], [0.0, 1.0]], [+1, -1]).weights.tolist()
    [0.5, -0.5]
    """

    r: float = 1.0
    full: bool = False
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "r", above=0.0, below=math.inf)

    def start(self, n: int) -> Gaussian:
        return new_gaussian(self, n)

    def score(self, state: Gaussian, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Gaussian, x: Row, y: float, score: float, mistake: bool) -> float:
        loss, a = 1.0 - y * score, weight(x)
        if loss <= 0.0 or a == 0.0:
            return 0.0
        v = variance(state, self.full, x)
        if not math.isfinite(v):
            return TOO_LARGE
        beta = 1.0 / (v + self.r / a)
        if v == 0.0 or beta == 0.0:
            return 0.0
        move(state, self.full, loss * beta * y, beta, x)
        return 1.0


@rule(weighted=True, linear=True)
class SCW(NamedTuple):
    """Soft confidence-weighted learning: ``w ← w + α·y·Σx`` and ``Σ ← Σ − β·Σx(Σx)ᵀ``, if y·s is below φ√v.

    With s = ⟨w,x⟩, m = y·s, v = xᵀΣx, φ = Φ⁻¹(η), ψ = 1 + φ²/2 and ζ = 1 + φ², the step of SCW-I is
    α = min(C, max(0, (−mψ + √(m²φ⁴/4 + vφ²ζ))/(vζ))). That of SCW-II is, with n = v + 1/(2C),
    α = max(0, (−(2mn + φ²mv) + φ√(φ²m²v² + 4nv(n + vφ²)))/(2(n² + nvφ²))). Then u = ¼(−αvφ + √(α²v²φ² + 4v))² and
    β = αφ/(√u + vαφ). Σ starts as 1; by default only its diagonal is kept, and the off-diagonal entries of each update
    are dropped. No bound on the mistakes is known.

    The weight of an example multiplies C. A row of zeros causes no step; a row for which v overflows is an error.

    Parameters
    ----------
    eta : float
        η, the probability with which examples should be right after the step, ½ < η < 1.
    C : float
        C > 0; how far a single example may move the weights.
    variant : {"SCW-I", "SCW-II"}
        A linear or a quadratic penalty.
    full : bool
        Keep all of Σ, for at most 2,048 weights (the intercept and all classes included).
    tie : {"mistake", "negative", "positive"}
        What a score of exactly 0 predicts.

    References
    ----------
    Wang, Zhao & Hoi (2012), Exact soft confidence-weighted learning, ICML.

    Examples
    --------
    >>> import onlinear
    >>> onlinear.run(onlinear.rules.SCW(), [[1.0, 0.0], [1.0, 1.0]], [+1, -1]).mistakes
    2
    """

    eta: float = 0.9
    C: float = 1.0
    variant: Softness = "SCW-I"
    full: bool = False
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "eta", above=0.5, below=1.0)
        check_number(self, "C", above=0.0, below=math.inf)
        if self.variant not in _VARIANTS:
            raise ParameterError(f"SCW: variant is {self.variant!r}; it must be one of {list(_VARIANTS)}")

    def start(self, n: int) -> Gaussian:
        return new_gaussian(self, n, NormalDist().inv_cdf(self.eta))

    def score(self, state: Gaussian, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Gaussian, x: Row, y: float, score: float, mistake: bool) -> float:
        m, C, phi = y * score, self.C * weight(x), float(state.phi[0])
        v = variance(state, self.full, x)
        if not math.isfinite(v * v):
            return TOO_LARGE
        if v == 0.0 or C == 0.0 or m >= phi * math.sqrt(v):
            return 0.0
        if self.variant == "SCW-II":
            n = v + 0.5 / C
            root = phi * math.sqrt(phi * phi * m * m * v * v + 4.0 * n * v * (n + v * phi * phi))
            alpha = (root - m * (2.0 * n + phi * phi * v)) / (2.0 * n * (n + v * phi * phi))
        else:
            psi, zeta = 1.0 + 0.5 * phi * phi, 1.0 + phi * phi
            root = math.sqrt(0.25 * m * m * phi**4 + v * phi * phi * zeta)
            alpha = min(C, (root - m * psi) / (v * zeta))
        if not alpha > 0.0:
            return 0.0
        spread = alpha * v * phi
        deviation = 0.5 * (math.sqrt(spread * spread + 4.0 * v) - spread)
        move(state, self.full, alpha * y, alpha * phi / (deviation + spread), x)
        return 1.0
