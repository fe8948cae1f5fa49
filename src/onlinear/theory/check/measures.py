"""Margins, distances, radius and hinge loss of a vector on examples.

Margins are rounded down, the radius and the hinge loss up, so that bounds computed from them hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError, ParameterError
from onlinear.rounding import accurate_norm
from onlinear.theory.check.exact import float_down, root_up, squared
from onlinear.theory.check.extremes import divide_by_root, least_agreement, squared_radius
from onlinear.theory.check.hinge import hinge_sum
from onlinear.theory.examples import Examples, examples_of
from onlinear.theory.reading import count_rows


class Margin(NamedTuple):
    """The smallest y⟨w,x⟩ over the examples, rounded down.

    Attributes
    ----------
    functional : float
        min y⟨w,x⟩; with an intercept b, min y(⟨w,x⟩ + b).
    geometric : float
        The same divided by ‖w‖: the distance to the hyperplane, where all examples are on their side.
    augmented : float
        The same divided by √(‖w‖² + b²): the margin in the theorems when an intercept is learned.
    row : int
        An example that attains it.
    """

    functional: float
    geometric: float
    augmented: float
    row: int


def margin(w: Any, X: Any, y: Any = None, *, normalize: bool = False, classes: Any = None) -> Margin:
    """Return the margin of a vector on examples, functional and geometric, rounded down.

    γ(w) = min y⟨w,x⟩/‖w‖; with a pair (w, b), min y(⟨w,x⟩ + b)/‖w‖.

    Parameters
    ----------
    w : array, or pair (array, float)
        The vector, and the intercept that belongs to it.
    X, y : matrix and labels, or Examples
        As in `onlinear.run`; without y, blocks ``(X, y)`` that can be iterated again and again.
    normalize, classes
        As in `onlinear.run`.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.margin([3.0, 4.0], [[1.0, 1.0], [-1.0, 0.0]], [1, -1])
    Margin(functional=3.0, geometric=0.6, augmented=0.6, row=1)
    """
    examples, whole = _read(w, X, y, normalize, classes)
    least = least_agreement(examples, whole)
    features = squared(whole[examples.bias :])
    return Margin(
        float_down(least.value),
        divide_by_root(least.value, features),
        divide_by_root(least.value, squared(whole)),
        least.row,
    )


def distances(w: Any, X: Any, y: Any = None, *, normalize: bool = False, classes: Any = None) -> Floats:
    """Return each example's distance from the hyperplane, y(⟨w,x⟩ + b)/‖w‖: negative on the wrong side.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.distances(([2.0], -22.0), [[10.0], [12.0], [9.0]], [-1, 1, 1]).tolist()
    [1.0, 1.0, -2.0]
    """
    examples, whole = _read(w, X, y, normalize, classes)
    size = accurate_norm(whole[examples.bias :])
    if size == 0.0:
        raise ParameterError("w is zero: it has no hyperplane")
    return np.concatenate([codes * scores / size for _, codes, scores in examples.prices(whole)])


def rescale(w: Any, X: Any, y: Any = None, *, normalize: bool = False, classes: Any = None) -> Any:
    """Return w (or the pair) divided by its functional margin: then min y⟨w,x⟩ = 1, up to rounding.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.rescale([3.0, 4.0], [[1.0, 1.0], [-1.0, 0.0]], [1, -1]).tolist()
    [1.0, 1.3333333333333333]
    """
    examples, whole = _read(w, X, y, normalize, classes)
    least = least_agreement(examples, whole)
    if least.value <= 0:
        raise AssumptionError(f"w does not separate the examples: see row {least.row}")
    with np.errstate(over="ignore", divide="ignore"):
        scaled = whole / float(least.value)
    if not np.isfinite(scaled).all():
        raise ParameterError("the rescaled vector overflows; scale the inputs")
    return (scaled[1:], float(scaled[0])) if examples.bias else scaled


def strip_width(w: Any, X: Any, y: Any = None, *, normalize: bool = False, classes: Any = None) -> float:
    """Return the width of the strip without examples around the hyperplane, 2γ(w), rounded down; 0 if there is none.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.strip_width(([1.0], -11.0), [[10.0], [12.0]], [-1, 1])
    2.0
    """
    return max(0.0, 2.0 * margin(w, X, y, normalize=normalize, classes=classes).geometric)


def radius(X: Any, *, fit_intercept: bool = False, normalize: bool = False) -> float:
    """Return R = max‖x‖ over the rows, rounded up; with an intercept each row has a further 1.

    Parameters
    ----------
    X : matrix or Examples
        Or blocks ``(X, y)`` that can be iterated again and again.
    fit_intercept, normalize
        As in `onlinear.run`.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    if isinstance(X, Examples) or _are_blocks(X):
        examples = examples_of(X, fit_intercept=fit_intercept, normalize=normalize)
    else:
        labels = np.ones(count_rows(X))
        examples = Examples(X, labels, fit_intercept=fit_intercept, normalize=normalize, classes=(-1, 1))
    return root_up(squared_radius(examples).value)


def _are_blocks(X: Any) -> bool:
    """Tell whether X is not a matrix but an iterable of pairs, each a matrix and its labels."""
    if hasattr(X, "shape") or isinstance(X, Iterator) or not isinstance(X, Iterable):
        return False
    first = next(iter(X), None)
    return isinstance(first, tuple) and len(first) == 2 and (hasattr(first[0], "shape") or np.ndim(first[0]) == 2)


def hinge_loss(u: Any, X: Any, y: Any = None, *, normalize: bool = False, classes: Any = None) -> float:
    """Return the hinge loss H(u) = Σ max(0, 1 − y⟨u,x⟩) over all examples, rounded up.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.hinge_loss([0.5], [[1.0], [2.0], [-1.0]], [1, 1, 1], classes=(-1, 1)) <= 2.0 + 1e-12
    True
    """
    examples, whole = _read(u, X, y, normalize, classes)
    return hinge_sum(examples, whole)


def _read(w: Any, X: Any, y: Any, normalize: bool, classes: Any) -> tuple[Examples, Floats]:
    fit_intercept = isinstance(w, tuple) and not isinstance(X, Examples)
    examples = examples_of(X, y, fit_intercept=fit_intercept, normalize=normalize, classes=classes)
    return examples, examples.vector("w", w)
