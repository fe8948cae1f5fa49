"""The best comparator for P5: no vector beats its lower bound, and a second solver agrees."""

from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import onlinear
from onlinear import theory
from onlinear.rules import Perceptron
from onlinear.theory import Examples
from onlinear.theory.search.comparator import scaled_comparator
from strategies import LAYOUTS, as_layout, in_blocks, real


def bound(u, X, y):
    """P5 as it stands in the sheet."""
    a = np.sqrt((X * X).sum(axis=1).max()) * np.linalg.norm(u)
    H = np.maximum(0.0, 1.0 - y * (X @ u)).sum()
    return a * a / 2 + a / 2 * np.sqrt(a * a + 4 * H) + H


@given(data=real(max_width=5), u=st.lists(st.integers(-20, 20), min_size=5, max_size=5), intercept=st.booleans())
def test_no_vector_is_better_and_no_run_makes_more_mistakes(data, u, intercept):
    X, y = data
    found = onlinear.best_comparator(X, y, fit_intercept=intercept)
    assert found.gap <= 1e-3
    assert onlinear.run(Perceptron(), X, y, fit_intercept=intercept).mistakes <= found.bound
    whole = np.hstack([X, np.ones((len(y), 1))]) if intercept else X
    other = np.resize(np.array(u) / 4.0, whole.shape[1])
    assert found.least_bound <= bound(other, whole, y) * (1 + 1e-12)
    mine = np.append(found.weights, [found.intercept] * intercept)
    assert found.bound == pytest.approx(bound(mine, whole, y))
    assert found.bound >= bound(mine, whole, y) * (1 - 1e-12)


@given(data=real(max_width=4, max_rows=15), layout=st.sampled_from(sorted(LAYOUTS)), normalize=st.booleans())
def test_layouts_and_blocks(data, layout, normalize):
    X, y = data
    plain = onlinear.best_comparator(X, y, normalize=normalize)
    assert onlinear.best_comparator(as_layout(X, layout), y, normalize=normalize).bound == pytest.approx(plain.bound)
    assert onlinear.best_comparator(list(in_blocks(X, y, 4)), normalize=normalize).bound == pytest.approx(plain.bound)


@pytest.mark.parametrize("scaled", [False, True])
def test_breast_cancer_against_a_second_solver(scaled):
    X, labels = load_breast_cancer(return_X_y=True)
    X, y = (StandardScaler().fit_transform(X) if scaled else X), 2 * labels - 1
    found = onlinear.best_comparator(X, y)
    assert found.gap <= 1e-3
    assert onlinear.run(Perceptron(), X, y).mistakes <= found.bound
    # A smooth solver, started from ours and from elsewhere, finds nothing better.
    for start in (found.weights, found.weights + 0.01):
        other = minimize(bound, start, (X, y), method="L-BFGS-B")
        assert found.bound <= other.fun * 1.01
        assert found.least_bound <= other.fun


def test_progress_is_seen_and_bounds_close():
    X, y = onlinear.datasets.noisy(n=500, d=8, seed=2)
    seen = []
    found = onlinear.best_comparator(X, y, progress=seen.append)
    assert tuple(seen) == found.steps
    assert all(a.lower <= b.lower and a.upper >= b.upper for a, b in pairwise(seen))
    assert "no vector brings the bound below" in repr(found)
    assert theory.bounds.hinge(X, y, found.weights).value == found.bound


def test_where_nothing_can_be_learned():
    found = onlinear.best_comparator(np.zeros((4, 2)), [0, 1, 0, 1])
    assert (found.bound, found.least_bound, found.gap) == (4.0, 4.0, 0.0)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("C", [1e-5, 0.1, 30.0])
def test_the_best_multiple_of_a_comparator(C, power):
    X, y = onlinear.datasets.noisy(margin=0.3, n=200, d=4, flip=0.05, seed=0)
    examples, u = Examples(X, y), onlinear.best_comparator(X, y).weights

    def cost(a, passes=1):
        losses = np.maximum(0.0, 1.0 - a * y * (X @ u)) ** power
        return a * a * (u @ u) + 2.0 * C * passes * losses.sum()

    for passes in (1, 3):
        [scale] = set(np.round(scaled_comparator(examples.repeated(passes), u, C, power) / u, 9))
        least = minimize_scalar(cost, (0.0, 1.0), args=(passes,), tol=1e-12).fun
        assert cost(scale, passes) == pytest.approx(least, rel=1e-7)
    assert scaled_comparator(examples, np.zeros(4), C, power).tolist() == [0.0] * 4
