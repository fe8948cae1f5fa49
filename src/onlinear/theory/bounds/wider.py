"""Bounds for relatives of the perceptron, and one from below for all of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple, TypeAlias, Unpack

import numpy as np

from onlinear.checks import check_integers
from onlinear.engine.algebra import size, value
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Row
from onlinear.errors import ParameterError
from onlinear.rounding import UNIT
from onlinear.rules.rule import rule
from onlinear.theory.bounds.additive import NO_OTHER_ROUNDS
from onlinear.theory.bounds.arguments import check_at_least
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.bounds.geometry import FROM_ZERO, separating_geometry
from onlinear.theory.bounds.witnesses import find_scaled_comparator
from onlinear.theory.check.exact import float_down, float_up, root_up, squared
from onlinear.theory.check.extremes import squared_radius
from onlinear.theory.check.hinge import hinge_sum, squared_hinge_sum
from onlinear.theory.examples import Opening, examples_of

Variant: TypeAlias = Literal["PA", "PA-I", "PA-II"]

_THEOREM: Final = {variant: f"Passive-aggressive mistake bound ({variant})" for variant in ("PA", "PA-I", "PA-II")}
_ROUNDINGS = 128.0
"""What powers and the roots of their sum may lose, in roundings; the sum itself loses one per entry."""
_LEAST = Fraction(2) ** -1074
"""The most that a product can lose to underflow."""


def passive_aggressive(
    X: Any,
    y: Any = None,
    u: Any = None,
    *,
    C: float | None = None,
    variant: Variant = "PA",
    **options: Unpack[Opening],
) -> Bound:
    """Return the bound on the mistakes of a passive-aggressive algorithm: in one pass, and for PA over any number.

    PA: M ≤ R²‖u‖² where y⟨u,x⟩ ≥ 1 throughout; a u with another functional margin is scaled to 1.
    PA-I: M ≤ max(R², 1/C)(‖u‖² + 2CΣℓ), and PA-II: M ≤ (R² + 1/(2C))(‖u‖² + 2CΣℓ²), for every u, with
    ℓ = max(0, 1 − y⟨u,x⟩), summed over all examples; infinite where the sum is too large for a float.

    Parameters
    ----------
    u : array, or pair (array, float)
        The comparator, and its intercept. Default: for PA a separator with nearly the largest margin; for the
        others, which need no separator, the best multiple of `onlinear.best_comparator`.
    C : float
        C > 0 for PA-I and PA-II; PA has no C.
    variant : {"PA", "PA-I", "PA-II"}
        The size of a step: unlimited, at most C, or damped.
    X, y, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> X, y = [[1.0, 0.0], [0.0, -1.0]], [1, -1]
    >>> bounds.passive_aggressive(X, y, [1.0, 1.0]).value
    2.0
    >>> bounds.passive_aggressive(X, y, [1.0, 1.0], C=0.5, variant="PA-I").mistakes
    4
    """
    _check_variant(C, variant)
    examples = examples_of(X, y, **options)
    if C is None:
        geometry = separating_geometry(examples, u)
        return Bound(
            float_up(geometry.difficulty),
            _THEOREM[variant],
            checked=(geometry.checked, "u is scaled so that y⟨u,x⟩ ≥ 1 on all examples"),
            declared=(FROM_ZERO, EXACT),
            quantities=geometry.quantities(),
        )
    C, power = float(C), 1 if variant == "PA-I" else 2
    vector = find_scaled_comparator(examples, C, power) if u is None else examples.vector("u", u)
    c, R2, norm = Fraction(C), squared_radius(examples).value, squared(vector)
    if power == 1:
        loss, factor = hinge_sum(examples, vector), max(R2, 1 / c)
    else:
        loss, factor = squared_hinge_sum(examples, vector), R2 + 1 / (2 * c)
    return Bound(
        float_up(factor * (norm + 2 * c * Fraction(loss))) if math.isfinite(loss) else math.inf,
        _THEOREM[variant],
        checked=(f"R and the losses are taken over all {examples.n:,} rounds",),
        declared=(FROM_ZERO, NO_OTHER_ROUNDS, EXACT),
        quantities={"radius": root_up(R2), "norm": root_up(norm), "C": C, "losses": loss},
    )


def _check_variant(C: float | None, variant: Variant) -> None:
    if variant not in ("PA", "PA-I", "PA-II"):
        raise ParameterError(f'variant is {variant!r}; it must be "PA", "PA-I" or "PA-II"')
    number = isinstance(C, int | float | np.number) and 0.0 < C < math.inf
    if not (C is None if variant == "PA" else number):
        raise ParameterError(f"C is {C!r}; {variant} needs {'none' if variant == 'PA' else 'a finite number above 0'}")


def p_norm(X: Any, y: Any = None, u: Any = None, *, p: float, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the mistakes of the p-norm perceptron.

    M ≤ (p−1)·X_p²·‖u‖_q² where y⟨u,x⟩ ≥ 1 throughout, X_p = max‖x‖_p and 1/p + 1/q = 1; a u with another
    functional margin is scaled to 1. p = 2 is the perceptron; p = 2 ln N behaves like Winnow.

    Parameters
    ----------
    p : float
        p ≥ 2.
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> X, y, u = np.ones((1, 100)), [1], np.eye(100)[0]
    >>> [bounds.p_norm(X, y, u, p=p, classes=(-1, 1)).mistakes for p in (2, 2 * np.log(100))]
    [100, 22]
    """
    check_at_least(2.0, p=p)
    examples = examples_of(X, y, **options)
    geometry = separating_geometry(examples, u)
    if p == 2.0:  # without the slack that other powers need
        radius2, norm2 = geometry.squared_radius, geometry.squared_norm
    else:
        slack = Fraction(1 + (2.0 * (geometry.u.size + _ROUNDINGS)) * UNIT)
        radius = max(float(part.scores.max()) for part in examples.score_with(PLengths(float(p))))
        radius2 = ((Fraction(radius) + _LEAST) * slack) ** 2
        norm2 = (_q_norm(geometry.u, p / (p - 1.0)) * slack) ** 2
    norm2 /= geometry.least.value**2
    return Bound(
        float_up((Fraction(p) - 1) * radius2 * norm2),
        "p-norm perceptron mistake bound",
        checked=(geometry.checked, "u is scaled so that y⟨u,x⟩ ≥ 1 on all examples"),
        declared=(FROM_ZERO, EXACT),
        quantities={"p": p, "radius": root_up(radius2), "norm": root_up(norm2)},
    )


@rule
class PLengths(NamedTuple):
    """Measures ‖x‖_p as a score; it learns nothing."""

    p: float

    def start(self, n: int) -> Floats:
        return np.zeros(n)

    def score(self, w: Floats, x: Row) -> float:
        largest = 0.0
        for k in range(size(x)):
            largest = max(largest, abs(value(x, k)))
        if largest == 0.0:
            return 0.0
        total = 0.0
        for k in range(size(x)):
            total += (abs(value(x, k)) / largest) ** self.p
        return float(largest * total ** (1.0 / self.p))

    def update(self, w: Floats, x: Row, y: float, score: float, mistake: bool) -> bool:
        return False


def _q_norm(u: Floats, q: float) -> Fraction:
    """Return ‖u‖_q up to roundings; it may exceed the largest float."""
    largest = float(np.abs(u).max())
    return Fraction(largest) * Fraction(math.pow(math.fsum(((np.abs(u) / largest) ** q).tolist()), 1.0 / q))


def additive_adversary(N: int, k: int) -> Bound:
    """Return how many mistakes an adversary forces on any additive algorithm, where Winnow makes O(k log N).

    At least (N + k − 1)/2, on examples that a disjunction of k of the N variables labels (Kivinen,
    Warmuth and Auer, 1997).

    Parameters
    ----------
    N, k : int
        The number of variables, and of those that matter.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bounds.additive_adversary(1000, 3).value
    501.0
    """
    check_integers(1, N=N, k=k)
    N, k = int(N), int(k)
    if k > N:
        raise ParameterError(f"k is {k}; there are {N} variables")
    return Bound(
        float_down(Fraction(N + k - 1, 2)),
        "Adversary against additive algorithms",
        declared=("an adversary chooses the examples",),
        quantities={"N": N, "k": k},
        lower=True,
    )
