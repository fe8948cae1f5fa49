"""Bounds on future examples: progressive validation (P12), and the VC dimension of margin classifiers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Unpack

from onlinear.checks import check_integers
from onlinear.errors import AssumptionError, ParameterError
from onlinear.theory.bounds.arguments import check_share
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.bounds.geometry import separating_geometry
from onlinear.theory.check.exact import float_up, root_above
from onlinear.theory.check.logarithms import inverse_log_up
from onlinear.theory.examples import Opening, examples_of


def risk(mistakes: int, rounds: int, *, delta: float = 0.05, examples: int | None = None) -> Bound:
    """Return the bound on the mean risk of the hypotheses that one pass has used (progressive validation).

    At most M/T + √(ln(1/δ)/(2T)), and 1, with probability 1 − δ. A hypothesis drawn uniformly from them has that
    mean risk, their majority vote at most twice it; the averaged vector has no such guarantee.

    Parameters
    ----------
    mistakes, rounds : int
        M and T of the pass.
    delta : float
        δ, with 0 < δ < 1.
    examples : int, optional
        The number of examples, to check that there were no more rounds than that; without it, the bound declares
        that each example was seen once.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> round(bounds.risk(8, 1000, delta=0.05, examples=1000).value, 4)
    0.0467
    """
    check_integers(1, rounds=rounds)
    check_integers(0, mistakes=mistakes)
    check_share(delta=delta)
    check_integers(0, examples=0 if examples is None else examples)
    mistakes, rounds = int(mistakes), int(rounds)
    if mistakes > rounds:
        raise ParameterError(f"{mistakes} mistakes in {rounds} rounds")
    if examples is not None and rounds > examples:
        raise AssumptionError(f"{rounds} rounds with {examples} examples: more than one pass")
    once = "each example is seen once"
    deviation = root_above(inverse_log_up(delta) / (2 * rounds))
    return Bound(
        min(1.0, float_up(Fraction(mistakes, rounds) + deviation)),
        "Progressive validation (P12)",
        checked=() if examples is None else (once,),
        declared=(*((once,) if examples is None else ()), "examples are independent, of one distribution (i.i.d.)"),
        quantities={"mistakes": mistakes, "rounds": rounds, "delta": delta},
        of="risk",
    )


def vc_dimension(X: Any, y: Any = None, u: Any = None, **options: Unpack[Opening]) -> Bound:
    """Return the bound on the VC dimension of classifiers with the margin of u.

    At most min(d, ⌈R²/γ²⌉) + 1 for γ = γ(u) and d features (an intercept is one more).

    Parameters
    ----------
    X, y, u, **options
        As in `perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> bounds.vc_dimension(np.eye(12), np.ones(12), np.ones(12), classes=(-1, 1)).value
    13.0
    """
    geometry = separating_geometry(examples_of(X, y, **options), u)
    return Bound(
        float(min(geometry.u.size, math.ceil(geometry.difficulty)) + 1),
        "VC dimension of margin classifiers",
        checked=(geometry.checked,),
        declared=("examples to come have ‖x‖ ≤ R, too",),
        quantities={**geometry.quantities(), "features": geometry.u.size},
        of="dimension",
    )
