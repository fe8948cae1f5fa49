"""Hinge losses and their sums over examples, rounded up.

A sum is taken over blocks of `SUMMED_ROWS` rows, and then over the blocks: it has the same bits however the examples
arrive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from onlinear.engine.flat import SUMMED_ROWS, Floats
from onlinear.rounding import UNIT
from onlinear.theory.check.exact import exact_sum, float_up, root_above
from onlinear.theory.examples import Examples


def hinge_bound(squared_radius: Fraction, squared_norm: Fraction, H: Fraction) -> float:
    """Return a²/2 + (a/2)√(a² + 4H) + H with a = R‖u‖, rounded up."""
    a2 = squared_radius * squared_norm
    return float_up(a2 / 2 + root_above(a2 * (a2 + 4 * H)) / 2 + H)


def hinge_sum(examples: Examples, u: Floats) -> float:
    """Return Σ max(0, 1 − y⟨u,x⟩) over all examples, rounded up."""
    return _sum_passes_up(hinge_losses(examples.once, u), examples.once.n, examples.passes)


def squared_hinge_sum(examples: Examples, u: Floats) -> float:
    """Return Σ max(0, 1 − y⟨u,x⟩)² over all examples, rounded up."""
    with np.errstate(over="ignore"):
        squares = (np.nextafter(losses * losses, np.inf) for losses in hinge_losses(examples.once, u))
        return _sum_passes_up(squares, examples.once.n, examples.passes)


def hinge_losses(examples: Examples, u: Floats) -> Iterator[Floats]:
    """Yield max(0, 1 − y⟨u,x⟩) of all examples, rounded up."""
    for part in examples.scores(u):
        short = 1.0 - part.y * part.scores
        # Rounding 1 − s costs at most |s|, since 1 itself is a float.
        size = np.abs(part.scores)
        errors = part.errors + np.minimum(size, 2.0 * UNIT * (1.0 + size))
        with np.errstate(over="ignore"):
            losses = np.maximum(0.0, np.where(errors > 0.0, np.nextafter(short + errors, np.inf), short))
        yield losses


def _sum_passes_up(parts: Iterable[Floats], n: int, passes: int) -> float:
    """Return the sum over several passes, in each of which the n rows have the same values, rounded up.

    It has the bits that it would have if all passes were read. A block of the sum may begin at any row: what is needed
    are the exact sums of the values before such rows.
    """
    if passes == 1:
        return sum_rows_up(parts)
    begins = range(0, n * passes, SUMMED_ROWS)
    cuts = np.unique([row % n for row in begins])
    before, total, first = {}, Fraction(0), 0
    for part in parts:
        if not np.isfinite(part).all():
            return math.inf
        here = cuts[np.searchsorted(cuts, first) : np.searchsorted(cuts, first + part.size)]
        *pieces, rest = map(exact_sum, np.split(part, here - first))
        for cut, piece in zip(here.tolist(), pieces, strict=True):
            total += piece
            before[cut] = total
        total += rest
        first += part.size
    sums = [row // n * total + before[row % n] for row in (*begins, n * passes)]
    return sum_up(np.array([float_up(b - a) for a, b in pairwise(sums)]))


def sum_rows_up(parts: Iterable[Floats]) -> float:
    """Return the sum of the values of all rows, which come in parts of any size, rounded up."""
    return sum_up(np.array([sum_up(block) for block in _in_summed_blocks(parts)]))


def _in_summed_blocks(parts: Iterable[Floats]) -> Iterator[Floats]:
    """Yield values in blocks of `SUMMED_ROWS`, and the rest."""
    held = np.empty(0)
    for part in parts:
        values = np.concatenate([held, part])
        whole = values.size - values.size % SUMMED_ROWS
        yield from values[:whole].reshape(-1, SUMMED_ROWS)
        held = values[whole:]
    if held.size:
        yield held


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
