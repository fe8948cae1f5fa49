"""The smallest y⟨w,x⟩ and the largest ‖x‖² over all examples, exactly or rounded outward.

Floating point with an error bound decides almost every row; the few that may be the extreme one are computed exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.theory.check.exact import products, root_down, root_up, squared_lengths
from onlinear.theory.examples import Examples

_EXACT_ENTRIES = 4_000_000
"""About how many entries are computed with exactly where many rows may be the extreme one: a few seconds' work."""
_PORTION = 200_000
"""How many of them are held in memory at a time."""


class Extreme(NamedTuple):
    """The largest or smallest value over all examples (or a bound on it, where it is not exact), and its row."""

    value: Fraction
    row: int
    exact: bool


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
    examples = examples.once
    if examples.normalize:
        # A row is x/‖x‖, or zero, and with an intercept has a further 1: by definition ‖x‖² is 0, 1 or 2.
        longest, row = max((float(some.max()), first + int(some.argmax())) for first, some, _ in examples.lengths())
        return Extreme(Fraction(round(longest**2)), row, exact=True)
    rows, highs, floor = [np.empty(0, dtype=np.intp)], [np.empty(0)], 0.0
    for first, lengths, error in examples.lengths():
        floor = max(floor, float(lengths.max()) * (1.0 - error))
        with np.errstate(over="ignore"):
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
    """Return rows in portions that take little memory as exact integers."""
    entries = rows.size * examples.entries // examples.n
    return np.array_split(rows, 1 + entries // _PORTION)


def divide_by_root(value: Fraction, square: Fraction) -> float:
    """Return value/√square, rounded down; of a zero vector the margin is 0."""
    if square == 0:
        return 0.0 if value == 0 else (math.inf if value > 0 else -math.inf)
    quotient = value * value / square
    return root_down(quotient) if value >= 0 else -root_up(quotient)
