"""The perceptron's mistakes.

The mistake bound (P1), the warm-start bound (P2), the mistake lemma (P3), the growth of the weights (P4) and the hinge
bound (P5).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Unpack

from onlinear.checks import check_integers
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.bounds.geometry import FROM_ZERO, separating_geometry
from onlinear.theory.bounds.witnesses import find_comparator
from onlinear.theory.check.exact import float_up, inner, root_above, root_below, root_down, root_up, squared
from onlinear.theory.check.extremes import squared_radius
from onlinear.theory.check.hinge import hinge_bound, hinge_sum
from onlinear.theory.examples import Opening, examples_of

NO_OTHER_ROUNDS = "there are no rounds but these"


def perceptron(X: Any, y: Any = None, u: Any = None, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the perceptron's mistakes: in any order, over any number of passes.

    M ≤ (R/γ(u))², where R = max‖x‖ and γ(u) = min y⟨u,x⟩/‖u‖, for every u that separates.

    Parameters
    ----------
    X, y : matrix and labels, or Examples
        As in `onlinear.run`; without y, blocks ``(X, y)`` that can be iterated again and again. Several bounds on the
        same data share one `onlinear.theory.Examples`, which takes the place of X, y and the options.
    u : array, or pair (array, float)
        The comparator, and its intercept. Default: a separator with nearly the largest margin.
    fit_intercept, normalize, classes, n_features
        As in `onlinear.run`; with an intercept, x has a further 1, and γ is the augmented margin.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> bounds.perceptron(np.eye(12), np.ones(12), np.ones(12), classes=(-1, 1)).value
    12.0
    """
    geometry = separating_geometry(examples_of(X, y, **options), u)
    return Bound(
        float_up(geometry.difficulty),
        "Perceptron mistake bound (P1)",
        checked=(geometry.checked,),
        declared=(FROM_ZERO, EXACT),
        quantities=geometry.quantities(),
    )


def warm_start(X: Any, y: Any = None, u: Any = None, *, start: Any, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the perceptron's mistakes from first weights v.

    M ≤ [R² − 2aγ + √((R² − 2aγ)² + 4γ²(b² − a²))] / (2γ²) with a = ⟨u,v⟩/‖u‖, b = ‖v‖ and γ = γ(u).

    Parameters
    ----------
    start : array, or pair (array, float)
        v, the weights before round one.
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> X, y = [[1.0, 0.0], [0.0, -1.0]], [1, -1]
    >>> bounds.warm_start(X, y, [1.0, 1.0], start=[0.0, 0.0]).value
    2.0
    >>> bounds.warm_start(X, y, [1.0, 1.0], start=[3.0, 3.0]).value
    0.0
    """
    examples = examples_of(X, y, **options)
    geometry, v = separating_geometry(examples, u), examples.vector("start", start)
    along, square = inner(geometry.u, v), squared(v)
    # Multiplied by ‖u‖², so that no other root is left: m + √(m² + 4g²c) over 2g², with g = min y⟨u,x⟩.
    g, c = geometry.least.value, square * geometry.squared_norm - along**2
    m = geometry.squared_radius * geometry.squared_norm - 2 * along * g
    radicand = m**2 + 4 * g**2 * c
    # Where m < 0 the same number is written without a difference of two that may be nearly equal.
    bound = (m + root_above(radicand)) / (2 * g**2) if m >= 0 else 2 * c / (root_below(radicand) - m)
    return Bound(
        float_up(bound),
        "Perceptron warm-start bound (P2)",
        checked=(geometry.checked,),
        declared=("the first weights are v", EXACT),
        quantities={**geometry.quantities(), "start_norm": root_up(square)},
    )


def mistake_lemma(X: Any, y: Any = None, u: Any = None, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the perceptron's mistakes from the distance that each one takes off.

    M ≤ ‖u‖²R² for y⟨u,x⟩ ≥ 1 on all rounds: every mistake lowers ‖w − R²u‖² by at least R². A u with
    another functional margin is scaled to 1, so the number is that of `perceptron`.

    Parameters
    ----------
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bound = bounds.mistake_lemma([[1.0, 0.0], [0.0, -1.0]], [1, -1], [2.0, 2.0])
    >>> bound.value, bound.quantities["squared_norm"], bound.quantities["fall"]
    (2.0, 2.0, 1.0)
    """
    geometry = separating_geometry(examples_of(X, y, **options), u)
    return Bound(
        float_up(geometry.difficulty),
        "Perceptron mistake lemma (P3)",
        checked=(geometry.checked, "u is scaled so that y⟨u,x⟩ ≥ 1 on all examples"),
        declared=(FROM_ZERO, EXACT),
        quantities={
            "radius": root_up(geometry.squared_radius),
            "squared_norm": float_up(1 / geometry.squared_margin),
            "fall": float_up(geometry.squared_radius),
        },
    )


def growth(X: Any, y: Any = None, u: Any = None, *, updates: int, **options: Unpack[Opening]) -> Bound:
    """Return bounds on the perceptron's weights after k updates, and the k at which they contradict each other.

    kγ ≤ ⟨w,u⟩/‖u‖ ≤ ‖w‖ ≤ R√k with γ = γ(u): the first grows faster than the last, and they cross at
    k = (R/γ)². The quantities are ``inner_at_least`` = kγ, rounded down, ``norm_at_most`` = R√k,
    rounded up, and ``cosine_at_least``, their quotient.

    Parameters
    ----------
    updates : int
        k, at least 0.
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> bound = bounds.growth(np.eye(4), np.ones(4), np.ones(4), updates=4, classes=(-1, 1))
    >>> bound.value, bound.quantities["inner_at_least"], bound.quantities["norm_at_most"]
    (4.0, 2.0, 2.0)
    """
    check_integers(0, updates=updates)
    updates = int(updates)  # NumPy's integers overflow
    geometry = separating_geometry(examples_of(X, y, **options), u)
    return Bound(
        float_up(geometry.difficulty),
        "Perceptron growth of the weights (P4)",
        checked=(geometry.checked,),
        declared=(FROM_ZERO, EXACT),
        quantities={
            **geometry.quantities(),
            "updates": updates,
            "inner_at_least": root_down(updates**2 * geometry.squared_margin),
            "norm_at_most": root_up(updates * geometry.squared_radius),
            "cosine_at_least": root_down(updates / geometry.difficulty),
        },
    )


def hinge(X: Any, y: Any = None, u: Any = None, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the perceptron's mistakes in one pass, for any u and any examples, separable or not.

    M ≤ a²/2 + (a/2)√(a² + 4H) + H with a = R‖u‖ and H = Σ max(0, 1 − y⟨u,x⟩) over all examples: for
    every u at once, and every order. The length of u matters. Infinite where H is too large for a float.

    Parameters
    ----------
    u : array, or pair (array, float)
        Any comparator. Default: `onlinear.best_comparator`, which makes the bound smallest.
    X, y, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> X, y = [[1.0], [1.0], [-1.0], [1.0]], [1, 1, -1, -1]
    >>> bounds.hinge(X, y, [0.0]).value >= 4.0
    True
    >>> bounds.hinge(X, y, [1.0]).mistakes
    4
    """
    examples = examples_of(X, y, **options)
    vector = find_comparator(examples) if u is None else examples.vector("u", u)
    radius, norm, loss = squared_radius(examples).value, squared(vector), hinge_sum(examples, vector)
    return Bound(
        hinge_bound(radius, norm, Fraction(loss)) if math.isfinite(loss) else math.inf,
        "Perceptron hinge bound (P5)",
        checked=(f"R and H are taken over all {examples.n:,} rounds",),
        declared=(FROM_ZERO, NO_OTHER_ROUNDS, EXACT),
        quantities={"radius": root_up(radius), "norm": root_up(norm), "hinge_sum": loss},
    )
