"""The steps of the batch perceptron (P10), with any schedule of step sizes (P11)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Unpack

from onlinear.checks import check_integers
from onlinear.rounding import UNIT
from onlinear.runs.batch import Schedule, step_size_of
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.bounds.geometry import FROM_ZERO, separating_geometry
from onlinear.theory.check.exact import float_up, root_up
from onlinear.theory.examples import Opening, examples_of

_MAX_STEPS = 1_000_000


def batch_constant(X: Any, y: Any = None, u: Any = None, *, n: int | None = None, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the steps of `onlinear.batch_perceptron` with a constant step size.

    At most (n+1)²/(4n)·(R/γ)² steps for n examples and γ = γ(u); and Σ|I_k| ≤ n(R/γ)² over the
    misclassified sets I_k, which is the quantity ``updates``.

    Parameters
    ----------
    n : int, optional
        The most examples that a step can take together. Default: the number of rows.
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> bound = bounds.batch_constant(np.eye(4), np.ones(4), np.ones(4), classes=(-1, 1))
    >>> bound.value, bound.quantities["updates"]
    (6.25, 16.0)
    """
    check_integers(1, n=1 if n is None else n)
    geometry = separating_geometry(examples_of(X, y, **options), u)
    n = geometry.n if n is None else n
    return Bound(
        float_up(Fraction((n + 1) ** 2, 4 * n) * geometry.difficulty),
        "Batch perceptron step bound (P10)",
        checked=(geometry.checked,),
        declared=(FROM_ZERO, "the step size is constant", EXACT),
        quantities={**geometry.quantities(), "n": n, "updates": float_up(n * geometry.difficulty)},
        of="steps",
    )


def batch_schedule(
    X: Any,
    y: Any = None,
    u: Any = None,
    *,
    schedule: Schedule,
    max_steps: int = _MAX_STEPS,
    n: int | None = None,
    **options: Unpack[Opening],
) -> Bound:
    """Return the bound on the steps of `onlinear.batch_perceptron` with step sizes η_k.

    Fewer than the first K with (Σ_{k≤K} η_k)²/Σ_{k≤K} η_k² > (nR/γ)², for n examples and γ = γ(u).
    For η_k = 1/k this K is exponential in nR/γ.

    Parameters
    ----------
    schedule : {"constant", "1/k"} or callable
        η_k, as in `onlinear.batch_perceptron`.
    max_steps : int
        Look no further than this; the bound is infinite where no K was found.
    n : int, optional
        The most examples that a step can take together. Default: the number of rows.
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> X, y, u = [[1.0, 0.0], [0.0, -1.0]], [1, -1], [1.0, 1.0]
    >>> bounds.batch_schedule(X, y, u, schedule=lambda k: k**-0.5).mistakes
    9
    >>> bounds.batch_schedule(X, y, u, schedule="1/k").mistakes
    19
    """
    check_integers(1, max_steps=max_steps)
    max_steps = int(max_steps)
    step_size = step_size_of(schedule)
    geometry = separating_geometry(examples_of(X, y, **options), u)
    n = geometry.n if n is None else n
    goal = n**2 * geometry.difficulty
    # A constant step size makes the quotient K.
    first = (
        float_up(Fraction(math.floor(goal) + 1))
        if schedule == "constant"
        else _first_beyond(goal, step_size, max_steps)
    )
    notes = []
    if math.isinf(first):
        notes.append(f"no K up to {max_steps:,} is large enough")
    if schedule == "1/k":
        exponent = root_up(goal * Fraction(math.pi**2 / 6))
        notes.append(f"with step sizes 1/k, K is exponential in nR/γ: about exp({exponent:.3g})")
    return Bound(
        first,
        "Batch perceptron step bound with a schedule (P11)",
        checked=(geometry.checked,),
        declared=(FROM_ZERO, EXACT),
        quantities={**geometry.quantities(), "n": n, "goal": float_up(goal)},
        strict=True,
        of="steps",
        note="; ".join(notes),
    )


def _first_beyond(goal: Fraction, step_size: Callable[[int], float], max_steps: int) -> float:
    """Return the first K whose quotient is certainly above the goal, or infinity."""
    limit = float_up(goal)
    if limit >= max_steps:  # the quotient is never above K
        return math.inf
    largest = total = squares = 0.0
    exponent = 0
    for k in range(1, max_steps + 1):
        eta = step_size(k)
        if eta > largest:
            # Sums are in units of the largest step so far, rounded to a power of two: so none overflows, and what
            # underflows is negligible beside it.
            largest, before, exponent = eta, exponent, math.frexp(eta)[1]
            total = math.ldexp(total, before - exponent)
            squares = math.ldexp(squares, 2 * (before - exponent))
        eta = math.ldexp(eta, -exponent)
        total += eta
        squares += eta * eta
        # Each sum has been rounded k times at most, and each square once; the rest is for this comparison, and for
        # what has underflowed.
        if total * total * (1.0 - (2.0 * k + 8.0) * UNIT) > limit * squares * (1.0 + (k + 8.0) * UNIT):
            return float(k)
    return math.inf
