"""Bounds of the multiclass perceptron (P13)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Unpack

from onlinear.checks import check_integers
from onlinear.errors import AssumptionError, ParameterError
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.bounds.geometry import geometry_of
from onlinear.theory.bounds.witnesses import find_separator
from onlinear.theory.check.exact import float_up, root_down, root_up, squared
from onlinear.theory.pairs import PairsOpening, finite_matrix, pairs_of

ALL_FROM_ZERO = "the first weights of all classes are 0"


def multiclass(X: Any, y: Any = None, U: Any = None, **options: Unpack[PairsOpening]) -> Bound:
    """Return the bound on the mistakes of the multiclass perceptron, which has a vector for each class.

    M ≤ 2R²/γ² where ⟨U_y − U_r, x⟩ ≥ γ‖U‖_F for every class r other than the right one, y. On a mistake
    (a tie with the right class counts as one) x is added to the right class's vector and subtracted from that of the
    class with the best score.

    Parameters
    ----------
    X, y : matrix and labels, or ClassPairs
        The labels may be of any number of classes. Several bounds on the same data share one
        `onlinear.theory.ClassPairs`, which takes the place of X, y and the options.
    U : matrix
        A row for each class, in the order of `classes`; with an intercept a pair (matrix, intercepts). Default:
        one with nearly the largest margin.
    fit_intercept : bool
        Whether an intercept is learned, as if every example had a further feature 1.
    classes : array
        All labels. Default: those in y, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinear.theory import bounds
    >>> round(bounds.multiclass(np.eye(3), ["a", "b", "c"], np.eye(3)).value, 12)
    6.0
    """
    pairs = pairs_of(X, y, **options)
    geometry = geometry_of(pairs.seen, find_separator(pairs.seen) if U is None else pairs.vector(U))
    if geometry.least.value <= 0:
        raise AssumptionError(f"U does not separate the classes: see {pairs.name(geometry.least.row)}")
    return Bound(
        float_up(geometry.difficulty),
        "Multiclass perceptron mistake bound (P13)",
        checked=(f"U separates the classes on all {pairs.codes.size:,} examples, and ‖x‖ ≤ R on them",),
        declared=(ALL_FROM_ZERO, EXACT),
        quantities={
            "radius": root_up(geometry.squared_radius / 2),
            "margin": root_down(geometry.squared_margin),
            "classes": pairs.classes.size,
        },
    )


def multiclass_backward(W: Any, mistakes: int) -> Bound:
    """Return the bound on the multiclass margin of any separator of the examples, from the weights alone.

    γ ≤ ‖W‖_F/M after M mistakes, where ⟨U_y − U_r, x⟩ ≥ γ for all r ≠ y and ‖U‖_F = 1; infinite for M = 0.

    Parameters
    ----------
    W : matrix
        The weights, a row for each class.
    mistakes : int
        M, all of them from weights 0.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bounds.multiclass_backward([[1.0, -1.0], [-1.0, 1.0]], 4).value
    0.5
    """
    check_integers(0, mistakes=mistakes)
    mistakes = int(mistakes)
    matrix = finite_matrix(W)
    if matrix is None:
        raise ParameterError("W must be a matrix of finite numbers, with a row for each class")
    square = squared(matrix.reshape(-1))
    return Bound(
        root_up(square / Fraction(mistakes) ** 2) if mistakes else math.inf,
        "Multiclass margin bound from the weights (P13)",
        declared=(ALL_FROM_ZERO, "W is the sum of the steps, which no rounding has changed"),
        quantities={"norm": root_up(square), "mistakes": mistakes},
        of="margin",
    )
