"""The bound on every separator's margin that a run reports, against exact fractions, at every magnitude of a float."""

import math
from fractions import Fraction
from typing import NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import onlinear
from onlinear.errors import DataError
from onlinear.rules import Perceptron, add, dot, rule, weight
from strategies import as_layout

DIGITS = 10**60


@rule(additive=True, weighted=True, linear=True)
class Always(NamedTuple):
    """Steps on every example, so that large steps cancel."""

    rate: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        add(w, self.rate * weight(x) * y, x)
        return self.rate * weight(x)


@st.composite
def rows_of_any_size(draw):
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    entry = st.builds(
        lambda digits, exponent: float(f"{digits}e{exponent}"),
        st.integers(-30, 30),
        st.one_of(st.integers(-2, 2), st.integers(-325, 300)),
    )
    X = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=n, max_size=n))
    weights = draw(st.none() | st.lists(st.sampled_from([1.0, 1e-200, 1e-30, 1e-318, 1e5]), min_size=n, max_size=n))
    return (
        np.array(X),
        np.array([1, -1, *draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))]),
        weights,
    )


def exact_row(x, *, normalize, intercept):
    whole = [Fraction(float(v)) for v in x]
    square = sum(v * v for v in whole)
    if normalize and square:
        length = Fraction(math.isqrt(square.numerator * square.denominator * DIGITS**2), square.denominator * DIGITS)
        whole = [v / length for v in whole]
    return [*whole, Fraction(int(intercept))]


@pytest.mark.parametrize("learner", [Perceptron(), Always(), Always(1e-300)])
@settings(max_examples=200)
@given(
    data=rows_of_any_size(), normalize=st.booleans(), intercept=st.booleans(), layout=st.sampled_from(["dense", "csr"])
)
def test_it_is_no_smaller_than_the_combination_that_proves_it(learner, data, normalize, intercept, layout):
    X, y, weights = data
    options = {"normalize": normalize, "fit_intercept": intercept, "sample_weight": weights}
    try:
        run = onlinear.run(learner, as_layout(X, layout), y, trace=True, **options)
    except DataError:  # too large or too small for a float; the message says so
        return
    steps = [Fraction(getattr(learner, "rate", 1.0) * (weights[i] if weights else 1.0)) for i in run.trace.updates]
    total = sum(steps)
    if not total:
        assert run.margin_upper_bound == math.inf
        return
    parts = [exact_row(X[i], normalize=normalize, intercept=intercept) for i in run.trace.updates]
    signs = [int(y[i]) for i in run.trace.updates]
    combined = [
        sum(step * sign * part[j] for step, sign, part in zip(steps, signs, parts, strict=True)) / total
        for j in range(X.shape[1] + 1)
    ]
    bound = run.margin_upper_bound
    assert bound == math.inf or (Fraction(bound) * (1 + Fraction(1, 10**50))) ** 2 >= sum(v * v for v in combined)


def test_it_allows_for_what_cancels():
    """w ends at 0, but the three rows do not add up to 0: 1 was lost when it was added to 10¹⁶."""
    run = onlinear.run(Always(), [[1e16], [1.0], [1e16]], [1, 1, -1])
    assert run.weights.tolist() == [0.0]
    assert run.margin_upper_bound >= 1 / 3


def test_steps_too_small_for_a_float():
    run = onlinear.run(Perceptron(), [[1e-200], [-1e-200]], [1, -1], sample_weight=[1e-200] * 2)
    assert run.margin_upper_bound >= 1e-200
    run = onlinear.run(Perceptron(), [[1e300], [-1e300]], [1, -1], sample_weight=[1e-30] * 2, normalize=True)
    assert 1.0 <= run.margin_upper_bound <= 1.0 + 1e-12


def test_a_scale_that_overflows_with_the_step():
    run = onlinear.run(Perceptron(), [[0.0], [2e-305]], [1, -1], sample_weight=[1e-30, 1e5], normalize=True)
    assert run.weights.tolist() == [pytest.approx(-1e5)]
    assert 1.0 <= run.margin_upper_bound <= 1.0 + 1e-12
