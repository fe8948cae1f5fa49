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

BLOCK, N = 16, 100
RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((N, 5)) * (RNG.random((N, 5)) < 0.6)
LABELS = np.where(RNG.random(N) < 0.5, -1, 1)
U = RNG.standard_normal(5)
MATRICES = {"dense": DENSE, "csr": scipy.sparse.csr_array(DENSE), "csc": scipy.sparse.csc_array(DENSE)}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 rows in the place of 4,096, so that few examples make several."""
    for module in (hinge, comparator):
        monkeypatch.setattr(module, "SUMMED_ROWS", BLOCK)


def rounded_up(values):
    """The exact sum, as the float that is not below it."""
    total = sum(map(Fraction, values.tolist()), Fraction(0))
    nearest = float(total)
    return nearest if Fraction(nearest) >= total else math.nextafter(nearest, math.inf)


def by_blocks(values, size=BLOCK):
    """Add `size` rows at a time, then the partial sums."""
    return rounded_up(np.array([rounded_up(values[i : i + size]) for i in range(0, values.size, size)]))


@given(
    values=st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed).random(9000) ** 8),
    cuts=st.lists(st.integers(0, 9000), max_size=6),
)
@settings(max_examples=20)
def test_the_parts_do_not_matter(values, cuts):
    parts = np.split(values, sorted(cuts))
    assert SUMMED_ROWS == 4096
    assert hinge.sum_rows_up(parts) == by_blocks(values, 4096)


def arrivals(X, y, size):
    """The same examples as a matrix, in blocks, and as a stream."""
    yield Examples(X, y, classes=(-1, 1))
    blocks = list(in_blocks(X if not scipy.sparse.issparse(X) else scipy.sparse.csr_array(X), y, size))
    yield Examples(blocks, classes=(-1, 1))
    yield Examples(onlinear.open_stream(blocks), classes=(-1, 1))


@pytest.mark.parametrize("layout", MATRICES)
@pytest.mark.parametrize("size", [1, 7, 16, 17, 64])
@pytest.mark.usefixtures("small_blocks")
def test_hinge_sums_have_the_same_bits_in_any_blocks(layout, size):
    found = []
    for opened in arrivals(MATRICES[layout], LABELS, size):
        losses = np.concatenate(list(hinge.hinge_losses(opened, U)))
        assert hinge.hinge_sum(opened, U) == by_blocks(losses) == theory.hinge_loss(U, opened)
        assert hinge.squared_hinge_sum(opened, U) == by_blocks(np.nextafter(losses * losses, np.inf))
        bound = bounds.passive_aggressive(opened, u=U, C=0.5, variant="PA-II")
        found.append((hinge.hinge_sum(opened, U), bounds.hinge(opened, u=U), bound))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("layout", MATRICES)
@pytest.mark.usefixtures("small_blocks")
def test_slopes_have_the_same_bits_in_any_blocks(layout):
    cuts = []
    for opened in arrivals(MATRICES[layout], LABELS, 7):
        learner = opened.learner(comparator.Slope(BLOCK))
        comparator._cut(opened, learner, -U)  # it leaves nothing behind
        cuts.append(comparator._cut(opened, learner, U))
    for cut, H in cuts:
        assert np.array_equal(cut.slope, cuts[0][0].slope)
        assert (cut.members, H) == (cuts[0][0].members, cuts[0][1])
    if layout != "dense":
        return
    slope, total = np.zeros(5), 0.0
    for first in range(0, N, BLOCK):
        part, here = np.zeros(5), 0.0
        for x, y in zip(DENSE[first : first + BLOCK], LABELS[first : first + BLOCK], strict=True):
            loss = 1.0 - y * lane_dot(U, 0, x, 0, 5)
            if loss > 0.0:
                part += y * x
                here += loss
        slope += part
        total += here
    assert np.array_equal(cuts[0][0].slope, slope)
    assert cuts[0][1] == total


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("rows", [1, 5, BLOCK, BLOCK + 1, N])
def test_the_number_of_passes_does_not_matter_either(rows):
    X, y = DENSE[:rows], LABELS[:rows]
    for passes in (1, 2, 3, 2 * BLOCK + 1):
        some, all_ = Examples(X, y, classes=(-1, 1)).repeated(passes), Examples([(X, y)] * passes, classes=(-1, 1))
        assert some.n == all_.n == passes * some.once.n
        for total in (hinge.hinge_sum, hinge.squared_hinge_sum):
            assert total(some, U) == total(all_, U)
            assert total(some, 1e200 * U) == total(all_, 1e200 * U)
        assert bounds.hinge(some, u=U) == bounds.hinge(all_, u=U)


def test_the_bounds_of_several_passes_are_those_of_their_rounds():
    advice, on = np.where(DENSE[:, :4] > 0.0, 1.0, -1.0), np.eye(5)
    for name, X, y in (("weighted_majority", advice, LABELS), ("anytime", advice, LABELS), ("winnow", on, np.ones(5))):
        repeated, read = Examples(X, y, classes=(-1, 1)).repeated(3), Examples([(X, y)] * 3, classes=(-1, 1))
        assert getattr(bounds, name)(repeated) == getattr(bounds, name)(read)
