"""The generators keep their promises, for any seed."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from onlinear import datasets
from onlinear.errors import ParameterError

SEEDS = st.integers(0, 10**6)


@given(seed=SEEDS, margin=st.sampled_from([0.01, 0.3, 0.9]), d=st.integers(2, 30))
def test_separable(seed, margin, d):
    data = datasets.separable(margin, n=200, d=d, seed=seed)
    assert (data.y * (data.X @ data.comparator)).min() >= margin
    assert np.linalg.norm(data.X, axis=1).max() <= 1.0 + 1e-12
    assert np.linalg.norm(data.comparator) == pytest.approx(1.0)
    assert np.array_equal(datasets.separable(margin, n=200, d=d, seed=seed).X, data.X)


@given(seed=SEEDS, r=st.integers(1, 3), k=st.integers(3, 8))
def test_r_of_k(seed, r, k):
    data = datasets.r_of_k(r, k, 12, n=2000, seed=seed)
    assert set(np.unique(data.X)) <= {0.0, 1.0}
    assert (data.y * (data.X @ data.comparator + data.intercept)).min() >= 1.0
    # Half are positive: within 5 standard deviations.
    assert abs((data.y > 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(2000)


def test_a_disjunction_is_one_of_k():
    one, other = datasets.disjunction(4, 10, n=50, seed=9), datasets.r_of_k(1, 4, 10, n=50, seed=9)
    assert np.array_equal(one.X, other.X)
    assert np.array_equal(one.y, other.y)
    assert np.array_equal(one.y > 0, one.X[:, :4].any(axis=1))


@given(seed=SEEDS)
def test_noisy(seed):
    data, clean = datasets.noisy(flip=0.2, n=2000, seed=seed), datasets.separable(n=2000, seed=seed)
    assert np.array_equal(data.X, clean.X)
    assert abs((data.y != clean.y).mean() - 0.2) < 5 * 0.4 / np.sqrt(2000)


@given(seed=SEEDS)
def test_experts(seed):
    data = datasets.experts(5, 2000, best=0.1, rest=0.4, seed=seed)
    assert set(np.unique(data.X)) == {-1.0, 1.0}
    rates = (data.y[:, None] != data.X).mean(axis=0)
    assert np.abs(rates - [0.1, 0.4, 0.4, 0.4, 0.4]).max() < 5 * 0.5 / np.sqrt(2000)


@given(seed=SEEDS)
def test_drift(seed):
    data = datasets.drift(0.2, n=101, d=5, pieces=3, seed=seed)
    assert data.X.shape == (101, 5)
    first = datasets.separable(0.2, n=34, d=5, seed=seed)
    assert np.array_equal(data.X[:34], first.X)
    assert (data.y[34:] * (data.X[34:] @ first.comparator)).min() < 0.2


def test_xor():
    X, y = datasets.xor()
    assert ((X.sum(axis=1) == 1) == (y > 0)).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: datasets.separable(margin=1.5),
        lambda: datasets.separable(d=1),
        lambda: datasets.disjunction(5, 3),
        lambda: datasets.r_of_k(4, 3, 10),
        lambda: datasets.noisy(flip=2.0),
        lambda: datasets.drift(pieces=0),
        lambda: datasets.experts(0),
        lambda: datasets.experts(3, best=-1.0),
    ],
)
def test_impossible_wishes(make):
    with pytest.raises(ParameterError, match="the data set needs"):
        make()
