"""Exact arithmetic: floats are whole numbers times a power of two, so sums and products of them can be exact."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError

Integers: TypeAlias = NDArray[np.object_]
"""An array of Python's integers, of any size."""


class Scaled(NamedTuple):
    """Numbers as whole numbers times a power of two: ``integers · 2**exponent``, exactly."""

    integers: Integers
    exponent: int


def to_integers(values: Floats) -> Scaled:
    """Return floats as whole numbers with a common power of two, the largest that serves."""
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ParameterError("a vector must have finite entries")
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    exponent = exponent.astype(np.int64) - 53
    lowest_bit = (whole & -whole).astype(np.float64)
    zeros = np.where(whole == 0, 0, np.frexp(lowest_bit)[1] - 1)
    whole, exponent = whole >> zeros, exponent + zeros
    common = int(exponent[whole != 0].min()) if whole.any() else 0
    shifts = np.where(whole == 0, 0, exponent - common)
    return Scaled(np.left_shift(whole.astype(object), shifts.astype(object)), common)


def exact_sum(values: Floats) -> Fraction:
    """Return Σ vᵢ."""
    whole = to_integers(values)
    return _in_unit(sum(whole.integers), whole.exponent)


def squared(values: Floats) -> Fraction:
    """Return ‖v‖²."""
    return inner(values, values)


def inner(u: Floats, v: Floats) -> Fraction:
    """Return ⟨u,v⟩."""
    a, b = to_integers(u), to_integers(v)
    return _in_unit(sum(a.integers * b.integers), a.exponent + b.exponent)


def products(rows: Any, w: Any) -> list[Fraction]:
    """Return ⟨w,x⟩ for each row of a CSR matrix; w holds floats, or whole numbers."""
    entries = to_integers(rows.data)
    if w.dtype == object:
        factors, exponent = w, entries.exponent
    else:
        weights = to_integers(w)
        factors, exponent = weights.integers, entries.exponent + weights.exponent
    terms = entries.integers * factors[rows.indices]
    ends = rows.indptr.tolist()
    return [_in_unit(sum(terms[a:b]), exponent) for a, b in pairwise(ends)]


def squared_lengths(rows: Any) -> list[Fraction]:
    """Return ‖x‖² for each row of a CSR matrix."""
    entries = to_integers(rows.data)
    terms = entries.integers * entries.integers
    ends = rows.indptr.tolist()
    return [_in_unit(sum(terms[a:b]), 2 * entries.exponent) for a, b in pairwise(ends)]


def over_one_denominator(weights: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return the numerators of fractions over their common denominator, and that."""
    denominator = 1
    for weight in weights:
        if denominator % weight.denominator:
            denominator = math.lcm(denominator, weight.denominator)
    return [weight.numerator * (denominator // weight.denominator) for weight in weights], denominator


class ExactColumns(NamedTuple):
    """Σ λᵢxᵢ over rows: pairs of a column and a whole number that is not 0, times the unit.

    Fractions would be reduced, column by column: with long denominators that takes far longer than the sum.
    """

    sums: Iterator[tuple[int, int]]
    unit: Fraction


def combination(rows: Any, numerators: list[int], denominator: int) -> ExactColumns:
    """Return Σ λᵢxᵢ over the rows of a CSR matrix with λᵢ = numeratorᵢ/denominator, one column at a time."""
    columns = rows.tocsc()
    entries = to_integers(columns.data)
    lines, ends = columns.indices.tolist(), columns.indptr.tolist()

    def sums() -> Iterator[tuple[int, int]]:
        for j, (a, b) in enumerate(pairwise(ends)):
            whole = sum(numerators[i] * entry for i, entry in zip(lines[a:b], entries.integers[a:b], strict=True))
            if whole:
                yield j, whole

    return ExactColumns(sums(), _in_unit(1, entries.exponent) / denominator)


def _in_unit(whole: int | Fraction, exponent: int) -> Fraction:
    """Return ``whole · 2**exponent``."""
    return Fraction(whole) * (1 << exponent) if exponent >= 0 else Fraction(whole) / (1 << -exponent)


def float_down(value: Fraction) -> float:
    """Return the largest float that is not above the value."""
    nearest = _nearest(value)
    above = nearest == math.inf or (nearest > -math.inf and Fraction(nearest) > value)
    return math.nextafter(nearest, -math.inf) if above else nearest


def float_up(value: Fraction) -> float:
    """Return the smallest float that is not below the value."""
    return 0.0 - float_down(-value)


def root_down(value: Fraction) -> float:
    """Return a float that is not above √value, and next to it."""
    return float_down(root_below(value))


def root_up(value: Fraction) -> float:
    """Return a float that is not below √value, and next to it."""
    return float_up(root_above(value))


def root_below(value: Fraction) -> Fraction:
    """Return √value to 64 bits or more, not above it; exactly where it is a fraction."""
    root, denominator, _ = _root(value)
    return Fraction(root, denominator)


def root_above(value: Fraction) -> Fraction:
    """Return √value to 64 bits or more, not below it; exactly where it is a fraction."""
    root, denominator, exact = _root(value)
    return Fraction(root if exact else root + 1, denominator)


def _root(value: Fraction) -> tuple[int, int, bool]:
    p, q = value.numerator, value.denominator
    # √(p/q) = √(pq)/q; shifted so that the integer square root has at least 64 bits.
    shift = max(0, 64 - (p * q).bit_length() // 2)
    radicand = (p * q) << (2 * shift)
    root = math.isqrt(radicand)
    return root, q << shift, root * root == radicand


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
