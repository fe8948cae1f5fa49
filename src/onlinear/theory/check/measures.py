"""What is measured of a vector and examples: margins, distances, radius, hinge sums.

Margins are rounded down, the radius and hinge sums up: what they are used for stays proven. Floating
point with an error bound decides almost every row; the few that may be the extreme one are computed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.matrices import open_source
from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError, ParameterError
from onlinear.runs.margin import norm
from onlinear.theory.check.exact import float_down, products, root_down, root_up, squared, squared_lengths
from onlinear.theory.examples import UNIT, Examples

_EXACT_ENTRIES = 4_000_000
"""How many entries are computed with exactly, about, where many rows might be the extreme one: some seconds' work."""
_PORTION = 200_000


class Margin(NamedTuple):
    """The smallest y⟨w,x⟩ over the examples, rounded down.

    Attributes
    ----------
    functional : float
        min y⟨w,x⟩; with an intercept b, min y(⟨w,x⟩ + b).
    geometric : float
        The same divided by ‖w‖: the distance to the hyperplane, where all examples are on their side.
    augmented : float
        The same divided by √(‖w‖² + b²): what the theorems speak of when an intercept is learned.
    row : int
        An example that attains it.
    """

    functional: float
    geometric: float
    augmented: float
    row: int


class Extreme(NamedTuple):
    """The largest or smallest value over all examples (or a bound on it, where it is not exact), and its row."""

    value: Fraction
    row: int
    exact: bool


def margin(w: Any, X: Any, y: Any = None, *, normalize: bool = False, classes: Any = None) -> Margin:
    """Return the margin of a vector on examples, functional and geometric, rounded down.

    γ(w) = min y⟨w,x⟩/‖w‖; with a pair (w, b), min y(⟨w,x⟩ + b)/‖w‖.

    Parameters
    ----------
    w : array, or pair (array, float)
        The vector, and the intercept that belongs to it.
    X, y : matrix and labels
        As in `onlinear.run`; without y, blocks ``(X, y)``.
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
        divided_by_root(least.value, features),
        divided_by_root(least.value, squared(whole)),
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
    size = norm(whole[examples.bias :])
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
    X : matrix
        Or blocks ``(X, y)`` that can be iterated again and again.
    fit_intercept, normalize
        As in `onlinear.run`.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    if _are_blocks(X):
        examples = Examples(X, fit_intercept=fit_intercept, normalize=normalize)
    else:
        labels = np.ones(open_source(X).n)
        examples = Examples(X, labels, fit_intercept=fit_intercept, normalize=normalize, classes=(-1, 1))
    return root_up(squared_radius(examples).value)


def _are_blocks(X: Any) -> bool:
    """Tell whether X is no matrix, but an iterable of pairs of a matrix and its labels."""
    if hasattr(X, "shape") or isinstance(X, Iterator) or not isinstance(X, Iterable):
        return False
    first = next(iter(X), None)
    return isinstance(first, tuple) and len(first) == 2 and (hasattr(first[0], "shape") or np.ndim(first[0]) == 2)


def hinge(u: Any, X: Any, y: Any = None, *, normalize: bool = False, classes: Any = None) -> float:
    """Return the hinge sum H(u) = Σ max(0, 1 − y⟨u,x⟩), rounded up.

    Examples
    --------
    >>> from onlinear import theory
    >>> theory.hinge([0.5], [[1.0], [2.0], [-1.0]], [1, 1, 1], classes=(-1, 1)) <= 2.0 + 1e-12
    True
    """
    examples, whole = _read(u, X, y, normalize, classes)
    return hinge_sum(examples, whole)


def hinge_sum(examples: Examples, u: Floats) -> float:
    """Return H(u) over all examples, rounded up."""
    return sum_up(np.array([sum_up(losses) for losses in hinge_losses(examples, u)]))


def hinge_losses(examples: Examples, u: Floats) -> Iterator[Floats]:
    """Yield max(0, 1 − y⟨u,x⟩) of all examples, rounded up."""
    for part in examples.scores(u):
        short = 1.0 - part.y * part.scores
        # Rounding 1 − s costs at most |s|, since 1 itself is a float.
        size = np.abs(part.scores)
        errors = part.errors + np.minimum(size, 2.0 * UNIT * (1.0 + size))
        with np.errstate(over="ignore"):
            yield np.maximum(0.0, np.where(errors > 0.0, np.nextafter(short + errors, np.inf), short))


def sum_up(values: Floats) -> float:
    """Return a sum, rounded up only where it is not exact."""
    terms = values.tolist()
    try:
        total = math.fsum(terms)
    except OverflowError:
        return math.inf
    if total == math.inf:
        return total
    return math.nextafter(total, math.inf) if math.fsum([*terms, -total]) > 0.0 else total


def least_agreement(examples: Examples, w: Floats) -> Extreme:
    """Return min y⟨w,x⟩; where rows are normalised, or too many are equal, a bound that is not above it."""
    rows, lows, ceiling = [np.empty(0, dtype=np.intp)], [np.empty(0)], math.inf
    for part in examples.scores(w):
        agreement = part.y * part.scores
        ceiling = min(ceiling, float((agreement + part.errors).min()))
        low = agreement - part.errors
        near = np.flatnonzero(low <= ceiling)
        rows.append(part.first + near)
        lows.append(low[near])
    near_rows, low = np.concatenate(rows), np.concatenate(lows)
    near_rows, low = near_rows[low <= ceiling], low[low <= ceiling]
    if examples.normalize or near_rows.size * examples.entries > _EXACT_ENTRIES * examples.n:
        lowest = int(np.argmin(low))
        return Extreme(Fraction(math.nextafter(float(low[lowest]), -math.inf)), int(near_rows[lowest]), exact=False)
    agreements: list[Fraction] = []
    for some in _portions(near_rows, examples):
        matrix, y = examples.rows(some)
        agreements += [int(code) * value for code, value in zip(y, products(matrix, w), strict=True)]
    k = min(range(len(agreements)), key=agreements.__getitem__)
    return Extreme(agreements[k], int(near_rows[k]), exact=True)


def squared_radius(examples: Examples) -> Extreme:
    """Return max‖x‖²; where too many rows might be the longest, a bound that is not below it."""
    if examples.normalize:
        # A row is x/‖x‖, or zero, and with an intercept has a further 1: by definition ‖x‖² is 0, 1 or 2.
        longest, row = max((float(some.max()), first + int(some.argmax())) for first, some, _ in examples.lengths())
        return Extreme(Fraction(round(longest**2)), row, exact=True)
    rows, highs, floor = [np.empty(0, dtype=np.intp)], [np.empty(0)], 0.0
    for first, lengths, error in examples.lengths():
        floor = max(floor, float(lengths.max()) * (1.0 - error))
        high = np.nextafter(lengths * (1.0 + error), lengths * 2.0)  # of a zero row nothing is rounded
        near = np.flatnonzero(high >= floor)
        rows.append(first + near)
        highs.append(high[near])
    near_rows, high = np.concatenate(rows), np.concatenate(highs)
    near_rows, high = near_rows[high >= floor], high[high >= floor]
    if near_rows.size * examples.entries > _EXACT_ENTRIES * examples.n:
        highest = int(np.argmax(high))
        return Extreme(Fraction(float(high[highest])) ** 2, int(near_rows[highest]), exact=False)
    squares: list[Fraction] = []
    for some in _portions(near_rows, examples):
        squares += squared_lengths(examples.rows(some)[0])
    k = max(range(len(squares)), key=squares.__getitem__)
    return Extreme(squares[k], int(near_rows[k]), exact=True)


def _portions(rows: NDArray[np.intp], examples: Examples) -> list[NDArray[np.intp]]:
    """Return rows in portions that take little memory where their entries are whole numbers without limit."""
    entries = rows.size * examples.entries // examples.n
    return np.array_split(rows, 1 + entries // _PORTION)


def divided_by_root(value: Fraction, square: Fraction) -> float:
    """Return value/√square, rounded down; of a zero vector the margin is 0."""
    if square == 0:
        return 0.0 if value == 0 else (math.inf if value > 0 else -math.inf)
    quotient = value * value / square
    return root_down(quotient) if value >= 0 else -root_up(quotient)


def _read(w: Any, X: Any, y: Any, normalize: bool, classes: Any) -> tuple[Examples, Floats]:
    examples = Examples(X, y, fit_intercept=isinstance(w, tuple), normalize=normalize, classes=classes)
    return examples, examples.vector("w", w)
