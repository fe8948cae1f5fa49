"""Bounds on margins, and on the updates of margin perceptrons.

The margin bound from the weights (P6), the margin duality (P7), and the update bounds of margin perceptrons (P8, P9).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError, ParameterError
from onlinear.runs.outcome import Run
from onlinear.theory.bounds.arguments import check_at_least
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.bounds.geometry import FROM_ZERO, separating_geometry
from onlinear.theory.check.exact import float_up, root_above, root_below, root_down, root_up
from onlinear.theory.check.interval import learned_kind, proven_upper
from onlinear.theory.check.logarithms import log_up
from onlinear.theory.examples import Opening, examples_of


def backward(run: Run) -> Bound:
    """Return the bound on the margin of any separator of a run's examples, from its weights alone.

    γ* ≤ ‖w − v‖/Σλ, where an additive rule has led from v to w = v + Σ λ y x; infinite without an update.

    Parameters
    ----------
    run : Run
        A run of an additive rule.

    Examples
    --------
    >>> import onlinear
    >>> from onlinear.theory import bounds
    >>> run = onlinear.run(onlinear.rules.Perceptron(), [[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> 2**-0.5 <= bounds.backward(run).value < 0.7072
    True
    """
    if not isinstance(run, Run):
        raise ParameterError(f"run is {run!r}; it must be a Run, as onlinear.run returns it")
    margin = run.margin_upper_bound
    if margin is None:
        raise AssumptionError(f"{type(run.rule).__name__} is not additive: its weights are not a sum of steps λ·y·x")
    return Bound(
        margin,
        "Margin bound from the weights (P6)",
        declared=("the rule moves w by λ·y·x only, λ ≥ 0",),
        quantities={"updates": run.updates, "steps": run.state.steps},
        of="margin",
    )


def duality(X: Any, y: Any = None, *, rows: Any, shares: Any, **options: Unpack[Opening]) -> Bound:
    """Return the bound on every separator's margin that a convex combination of the vectors y·x proves.

    γ* ≤ ‖Σ λ y x‖ for λ ≥ 0, Σλ = 1; the smallest such length is γ*.

    Parameters
    ----------
    rows, shares : arrays
        The rows that take part, by their numbers, and their λ, at least 0, which are divided by their sum.
    X, y, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bounds.duality([[3.0, 0.0], [0.0, -4.0]], [1, -1], rows=[0, 1], shares=[1, 1]).value
    2.5
    """
    examples = examples_of(X, y, **options)
    numbers, weights = _numbers(rows), _shares(shares)
    if numbers.size != weights.size or not weights.any():
        raise ParameterError(
            f"{weights.size} shares for {numbers.size} rows; each row needs one, and not all of them may be 0"
        )
    return Bound(
        proven_upper(examples, numbers, weights, learned_kind(examples)),
        "Margin duality (P7)",
        checked=("the shares are at least 0, and count for 1 together",),
        quantities={"rows": numbers.size},
        of="margin",
    )


def margin_perceptron(X: Any, y: Any = None, u: Any = None, *, margin: float, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the updates of ``MarginPerceptron(margin)``.

    U ≤ (R² + 2b)/γ² for b = `margin` and γ = γ(u). When it halts, its own margin is above
    bγ/(R² + 2b), which is the quantity ``margin_when_halted``.

    Parameters
    ----------
    margin : float
        b, at least 0.
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bound = bounds.margin_perceptron([[1.0], [-1.0]], [1, -1], [1.0], margin=1.5)
    >>> bound.value, bound.quantities["margin_when_halted"]
    (4.0, 0.375)
    """
    check_at_least(0.0, margin=margin)
    geometry = separating_geometry(examples_of(X, y, **options), u)
    b, gamma2 = Fraction(margin), geometry.squared_margin
    reach = geometry.squared_radius + 2 * b
    return Bound(
        float_up(reach / gamma2),
        "Margin perceptron update bound (P8)",
        checked=(geometry.checked,),
        declared=(FROM_ZERO, EXACT),
        quantities={**geometry.quantities(), "margin_when_halted": root_down(b**2 * gamma2 / reach**2)},
        of="updates",
    )


def normalized_margin_perceptron(
    X: Any, y: Any = None, u: Any = None, *, margin: float, **options: Unpack[Opening]
) -> Bound:
    """Return the bound on the updates of ``MarginPerceptron(margin, normalized=True)``.

    U ≤ 2R²/(γ−β)² + 2(R+β)/(γ−β), and U(γ−β) ≤ R + (R²/2γ)(1 + ln U), for β = `margin` below γ = γ(u):
    the smaller of the two. When it halts, its own margin is above β.

    Parameters
    ----------
    margin : float
        β, with 0 ≤ β < γ(u).
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bound = bounds.normalized_margin_perceptron([[1.0], [-1.0]], [1, -1], [1.0], margin=0.5)
    >>> bound.quantities["first_form"], bound.mistakes
    (14.0, 4)
    """
    check_at_least(0.0, margin=margin)
    geometry = separating_geometry(examples_of(X, y, **options), u)
    beta = Fraction(margin)
    if beta**2 >= geometry.squared_margin:
        raise AssumptionError(
            f"u has a margin of {root_up(geometry.squared_margin):g}, which is not above the {margin:g} asked for"
        )
    R, gamma = root_above(geometry.squared_radius), root_below(geometry.squared_margin)
    first = second = math.inf
    if gamma > beta:  # as it is, but for the last bit of γ
        room = gamma - beta
        first = float_up(2 * R**2 / room**2 + 2 * (R + beta) / room)
        second = _largest_solution(R, gamma, room)
    return Bound(
        min(first, second),
        "Normalised margin perceptron update bound (P9)",
        checked=(geometry.checked, "its margin is above β"),
        declared=(FROM_ZERO, EXACT),
        quantities={**geometry.quantities(), "first_form": first, "second_form": second},
        of="updates",
    )


def _largest_solution(R: Fraction, gamma: Fraction, room: Fraction) -> float:
    """Return the largest U with U·room ≤ R + (R²/2γ)(1 + ln U), rounded up."""

    def allowed(U: float) -> float:
        return float_up((R + R**2 / (2 * gamma) * (1 + log_up(U))) / room)

    # U = 1 is a solution, and the solutions from there on are an interval: so this ends beyond the largest.
    U = 1.0
    while math.isfinite(U) and allowed(U) >= U:
        U *= 2.0
    # `allowed` rises with U: what it makes of a U that is not below the largest solution is not, either.
    while math.isfinite(U) and (less := allowed(U)) < U:
        U = less
    return U


def _numbers(rows: Any) -> NDArray[np.intp]:
    """Return row numbers; raise where they are not integers."""
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or not (numbers.dtype.kind in "iu" or numbers.size == 0):
        raise ParameterError(f"rows is {rows!r}; it must be the numbers of rows, which are integers")
    return numbers.astype(np.intp)


def _shares(shares: Any) -> Floats:
    """Return the shares of a convex combination, up to their sum."""
    try:
        values = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"shares is {shares!r}; it must be numbers, one for each row") from error
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0.0)).all():
        raise ParameterError(f"shares is {shares!r}; it must be finite numbers, at least 0, one for each row")
    return values
