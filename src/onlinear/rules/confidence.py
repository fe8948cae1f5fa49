"""Second-order rules: a Gaussian over weight vectors, which says how much is known about each weight."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.algebra import dot, weight
from onlinear.engine.flat import Floats
from onlinear.engine.leading import leading_variance, move_leading, move_others, other_variance
from onlinear.engine.passes import TOO_LARGE
from onlinear.engine.rows import Row
from onlinear.engine.steps import add_scaled, dot_squares, shrink
from onlinear.errors import ParameterError
from onlinear.rules.rule import Tie, check_number, rule

Softness: TypeAlias = Literal["SCW-I", "SCW-II"]
_VARIANTS: Final = ("SCW-I", "SCW-II")
MOST_FULL: Final = 2048
"""The largest number of features with a full matrix, which then takes 32 MB."""


class Gaussian(NamedTuple):
    """The mean of the weights, and Σ: a matrix S = A·Aᵀ for the leading features, a variance for each of the others.

    A has its final size from the beginning, whatever the number of features and classes.
    """

    w: Floats
    s: Floats
    """The variances; those of features with a row in A do not count."""
    A: NDArray[np.float64]
    f: NDArray[np.float64]
    """Room for f = Aᵀx and Af = Sx."""
    phi: Floats
    """What a rule computes from its parameters."""


def new_gaussian(full: int, n: int, phi: float = 0.0) -> Gaussian:
    """Return mean 0 and Σ = 1 for n weights."""
    return Gaussian(np.zeros(n), np.ones(n), np.eye(full), np.zeros((2, full)), np.array([phi]))


def check_full(owner: Any) -> None:
    """Raise a `ParameterError` unless `full` is a number of features."""
    full = owner.full
    if isinstance(full, bool) or not (isinstance(full, int) and 0 <= full <= MOST_FULL):
        raise ParameterError(
            f"{type(owner).__name__}: full is {full!r}; it must be the number of features with a full matrix,"
            f" from 0 (the diagonal only) to {MOST_FULL:,}"
        )


def variances(state: Gaussian, x: Row) -> tuple[float, float]:
    """Return what the leading and the other features contribute to v = xᵀΣx, the variance of the score."""
    if state.A.size == 0:
        return 0.0, dot_squares(state.s, x)
    return leading_variance(state.A, state.f, state.w, x), other_variance(state.s, state.A.shape[0], x)


def move(state: Gaussian, a: float, b: float, kept: float, x: Row) -> None:
    """Move the mean, w ← w + a·Σx, and become more certain, Σ ← Σ − b·Σx(Σx)ᵀ, without what Σ has no room for.

    `kept` is 1 − b·xᵀSx for the leading features.
    """
    if state.A.size == 0:
        add_scaled(state.w, a, state.s, x)
        shrink(state.s, b, x)
    else:
        move_leading(state.A, state.f, state.w, a, b, kept, x)
        move_others(state.w, state.s, state.A.shape[0], a, b, x)


@rule(weighted=True, linear=True)
class AROW(NamedTuple):
    """Adaptive regularisation of weights: ``w ← w + α·y·Σx`` and ``Σ ← Σ − β·Σx(Σx)ᵀ`` where ``y⟨w,x⟩ < 1``.

    With v = xᵀΣx: β = 1/(v + r) and α = max(0, 1 − y⟨w,x⟩)·β. Σ starts as 1. By default only its diagonal is kept, as
    the paper does for many features: the off-diagonal entries of each update are dropped, and a sparse round costs no
    more than its entries. With ``full=K`` the covariances of the first K features are kept, too. On tables of numbers
    this often saves many mistakes; an update costs about K² more (the square of the number of features, if there are
    fewer than K). The paper bounds the mistakes for the full matrix and two classes by quantities of the run; for the
    diagonal no bound is known.

    With k > 2 classes an example is z = x ⊗ (e_y − e_r), of the right class y and the best wrong one r, and all classes
    share the matrix S of the first K features: v = 2·xᵀSx, the step is ``w ← w + α·Sx ⊗ (e_y − e_r)``, and
    ``S ← S − (2/k)·β·Sx(Sx)ᵀ`` is the mean over the classes of what the exact step would subtract. The sharing is not
    the paper's, and no bound is known for it. The variances of the other features belong to one class each.

    An example of weight a counts as one with r/a. A row of zeros causes no step; a row for which v overflows is an
    error.

    Parameters
    ----------
    r : float
        r > 0; smaller values take larger steps.
    full : int
        K, the number of features, counted from the first (the intercept included), for which all covariances are kept:
        at most 2,048; 0 keeps the diagonal only. It may be larger than the number of features. The state holds K²
        numbers.
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
    full: int = 0
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "r", above=0.0, below=math.inf)
        check_full(self)

    def start(self, n: int) -> Gaussian:
        return new_gaussian(self.full, n)

    def score(self, state: Gaussian, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Gaussian, x: Row, y: float, score: float, mistake: bool) -> float:
        loss, a = 1.0 - y * score, weight(x)
        if loss <= 0.0 or a == 0.0:
            return 0.0
        lead, rest = variances(state, x)
        v, r = lead + rest, self.r / a
        if not math.isfinite(v):
            return TOO_LARGE
        beta = 1.0 / (v + r)
        if not v > 0.0 or beta == 0.0:
            return 0.0
        move(state, loss * beta * y, beta, (rest + r) * beta, x)
        return 1.0


@rule(weighted=True, linear=True)
class SCW(NamedTuple):
    """Soft confidence-weighted learning: ``w ← w + α·y·Σx`` and ``Σ ← Σ − β·Σx(Σx)ᵀ``, if y·s is below φ√v.

    With s = ⟨w,x⟩, m = y·s, v = xᵀΣx, φ = Φ⁻¹(η), ψ = 1 + φ²/2 and ζ = 1 + φ², the step of SCW-I is
    α = min(C, max(0, (−mψ + √(m²φ⁴/4 + vφ²ζ))/(vζ))). That of SCW-II is, with n = v + 1/(2C),
    α = max(0, (−(2mn + φ²mv) + φ√(φ²m²v² + 4nv(n + vφ²)))/(2(n² + nvφ²))). Then u = ¼(−αvφ + √(α²v²φ² + 4v))² and
    β = αφ/(√u + vαφ). Σ starts as 1; by default only its diagonal is kept, and the off-diagonal entries of each update
    are dropped. With ``full=K`` the covariances of the first K features are kept, too, and shared by all classes, as in
    `AROW`. No bound on the mistakes is known.

    The weight of an example multiplies C. A row of zeros causes no step; a row for which v overflows, or v² where a
    step is due, is an error.

    Parameters
    ----------
    eta : float
        η, the probability with which examples should be right after the step, ½ < η < 1.
    C : float
        C > 0; how far a single example may move the weights.
    variant : {"SCW-I", "SCW-II"}
        A linear or a quadratic penalty.
    full : int
        K, the number of features, counted from the first (the intercept included), for which all covariances are kept:
        at most 2,048; 0 keeps the diagonal only. It may be larger than the number of features. The state holds K²
        numbers.
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
    full: int = 0
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "eta", above=0.5, below=1.0)
        check_number(self, "C", above=0.0, below=math.inf)
        check_full(self)
        if self.variant not in _VARIANTS:
            raise ParameterError(f"SCW: variant is {self.variant!r}; it must be one of {list(_VARIANTS)}")

    def start(self, n: int) -> Gaussian:
        return new_gaussian(self.full, n, NormalDist().inv_cdf(self.eta))

    def score(self, state: Gaussian, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Gaussian, x: Row, y: float, score: float, mistake: bool) -> float:
        m, C, phi = y * score, self.C * weight(x), float(state.phi[0])
        lead, rest = variances(state, x)
        v = lead + rest
        if not math.isfinite(v):
            return TOO_LARGE
        if not v > 0.0 or C == 0.0 or m >= phi * math.sqrt(v):
            return 0.0
        if not math.isfinite(v * v):
            return TOO_LARGE
        if self.variant == "SCW-II":
            n = v + 0.5 / C
            root = phi * math.sqrt(phi * phi * m * m * v * v + 4.0 * n * v * (n + v * phi * phi))
            alpha = (root - m * (2.0 * n + phi * phi * v)) / (2.0 * n * (n + v * phi * phi))
        else:
            psi, zeta = 1.0 + 0.5 * phi * phi, 1.0 + phi * phi
            half = 0.5 * m * phi * phi
            root = math.sqrt(half * half + v * phi * phi * zeta)
            alpha = min(C, (root - m * psi) / (v * zeta))
        if not alpha > 0.0:
            return 0.0
        spread = alpha * v * phi
        deviation = 0.5 * (math.sqrt(spread * spread + 4.0 * v) - spread)
        total = deviation + spread
        move(state, alpha * y, alpha * phi / total, (deviation + alpha * phi * rest) / total, x)
        return 1.0
