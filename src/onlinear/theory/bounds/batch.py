"""The batch perceptron's steps: P10 and P11 of the theory sheet."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from onlinear.checks import check_integers
from onlinear.engine.flat import Floats
from onlinear.runs.batch import Schedule, step_size_of
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.bounds.geometry import FROM_ZERO, opened, separates, separating
from onlinear.theory.check.exact import float_up, root_up
from onlinear.theory.examples import UNIT, Examples

_MAX_STEPS = 1_000_000


def batch_perceptron(
    X: Any,
    y: Any = None,
    u: Any = None,
    *,
    fit_intercept: bool = False,
    normalize: bool = False,
    classes: Any = None,
) -> Bound:
    """Return the bound on the steps of `onlinear.batch_perceptron` with a constant step size.

    At most (n+1)²/(4n)·(R/γ)² steps for n examples and γ = γ(u); and Σ|I_k| ≤ n(R/γ)² over the
    misclassified sets I_k, which is the quantity ``updates``.

    Parameters
    ----------
    X, y, u, fit_intercept, normalize, classes
        As in `perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> bound = bounds.batch_perceptron(np.eye(4), np.ones(4), np.ones(4), classes=(-1, 1))
    >>> bound.value, bound.quantities["updates"]
    (6.25, 16.0)
    """
    examples, whole = opened(X, y, u, fit_intercept=fit_intercept, normalize=normalize, classes=classes)
    return batch_perceptron_of(examples, whole)


def batch_perceptron_of(examples: Examples, u: Floats, n: int | None = None) -> Bound:
    """Return P10 for open examples, of which at most n (all) are in a step together."""
    geometry = separating(examples, u)
    n = examples.n if n is None else n
    return Bound(
        float_up(Fraction((n + 1) ** 2, 4 * n) * geometry.difficulty),
        "P10 batch perceptron",
        checked=(separates(examples),),
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
    fit_intercept: bool = False,
    normalize: bool = False,
    classes: Any = None,
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
    X, y, u, fit_intercept, normalize, classes
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
    examples, whole = opened(X, y, u, fit_intercept=fit_intercept, normalize=normalize, classes=classes)
    return batch_schedule_of(examples, whole, schedule, max_steps)


def batch_schedule_of(
    examples: Examples, u: Floats, schedule: Schedule, max_steps: int = _MAX_STEPS, n: int | None = None
) -> Bound:
    """Return P11 for open examples, of which at most n (all) are in a step together."""
    check_integers(1, max_steps=max_steps)
    max_steps = int(max_steps)
    step_size = step_size_of(schedule)
    geometry = separating(examples, u)
    n = examples.n if n is None else n
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
        "P11 batch perceptron, schedule",
        checked=(separates(examples),),
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
            # underflows is nothing beside it.
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
