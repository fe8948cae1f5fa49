"""Sums over examples have the same bits however the examples arrive, and are those of the explicit blocks."""

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings

import onlinear
from onlinear import theory
from onlinear.engine.flat import SUMMED_ROWS, lane_dot
from onlinear.theory import Examples, bounds
from onlinear.theory.check import hinge
from onlinear.theory.search import comparator
from strategies import in_blocks

N = 2 * SUMMED_ROWS + 500
RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((N, 5)) * (RNG.random((N, 5)) < 0.6)
LABELS = np.where(RNG.random(N) < 0.5, -1, 1)
U = RNG.standard_normal(5)
MATRICES = {"dense": DENSE, "csr": scipy.sparse.csr_array(DENSE), "csc": scipy.sparse.csc_array(DENSE)}


def rounded_up(values):
    """The exact sum, as the float that is not below it."""
    total = sum(map(Fraction, values.tolist()), Fraction(0))
    nearest = float(total)
    return nearest if Fraction(nearest) >= total else math.nextafter(nearest, math.inf)


def by_blocks(values):
    """Add 4,096 rows at a time, then the partial sums."""
    assert SUMMED_ROWS == 4096
    return rounded_up(np.array([rounded_up(values[i : i + 4096]) for i in range(0, values.size, 4096)]))


@given(
    values=st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed).random(9000) ** 8),
    cuts=st.lists(st.integers(0, 9000), max_size=6),
)
@settings(max_examples=20)
def test_the_parts_do_not_matter(values, cuts):
    parts = np.split(values, sorted(cuts))
    assert hinge.sum_rows_up(parts) == by_blocks(values)


def arrivals(X, y, size):
    """The same examples as a matrix, in blocks, and as a stream."""
    yield Examples(X, y, classes=(-1, 1))
    blocks = list(in_blocks(X if not scipy.sparse.issparse(X) else scipy.sparse.csr_array(X), y, size))
    yield Examples(blocks, classes=(-1, 1))
    yield Examples(onlinear.open_stream(blocks), classes=(-1, 1))


@pytest.mark.parametrize("layout", MATRICES)
@pytest.mark.parametrize("size", [1000, 4096, 4097])
def test_hinge_sums_have_the_same_bits_in_any_blocks(layout, size):
    found = []
    for examples in arrivals(MATRICES[layout], LABELS, size):
        losses = np.concatenate(list(hinge.hinge_losses(examples, U)))
        assert hinge.hinge_sum(examples, U) == by_blocks(losses) == theory.hinge_loss(U, examples)
        assert hinge.squared_hinge_sum(examples, U) == by_blocks(np.nextafter(losses * losses, np.inf))
        bound = bounds.passive_aggressive(examples, u=U, C=0.5, variant="PA-II")
        found.append((hinge.hinge_sum(examples, U), bounds.hinge(examples, u=U), bound))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("layout", MATRICES)
def test_slopes_have_the_same_bits_in_any_blocks(layout):
    cuts = [comparator._cut(examples, U) for examples in arrivals(MATRICES[layout], LABELS, 1000)]
    for cut, H in cuts:
        assert np.array_equal(cut.slope, cuts[0][0].slope)
        assert (cut.members, H) == (cuts[0][0].members, cuts[0][1])
    if layout != "dense":
        return
    slope, total = np.zeros(5), 0.0
    for first in range(0, N, 4096):
        part, here = np.zeros(5), 0.0
        for x, y in zip(DENSE[first : first + 4096], LABELS[first : first + 4096], strict=True):
            loss = 1.0 - y * lane_dot(U, 0, x, 0, 5)
            if loss > 0.0:
                part += y * x
                here += loss
        slope += part
        total += here
    assert np.array_equal(cuts[0][0].slope, slope)
    assert cuts[0][1] == total


def test_the_number_of_passes_does_not_matter_either():
    examples = Examples(DENSE, LABELS)
    twice = hinge.hinge_sum(examples.repeated(2), U)
    assert twice == hinge.hinge_sum(Examples([(DENSE, LABELS)] * 2), U)
