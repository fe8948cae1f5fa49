"""Experts' advice on more than two classes: the vote against an exact oracle, and the theorems."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.extra.numpy import arrays

import naive
import onlinear
from onlinear.engine.draws import uniform
from onlinear.errors import DataError
from onlinear.rules import FixedShare, RandomizedWeightedMajority, WeightedMajority
from onlinear.runs import state_before
from strategies import as_layout, in_blocks


@st.composite
def advice(draw):
    """Numbers of classes that experts name, the right ones, and how many classes there are."""
    n, d, k = draw(st.integers(1, 30)), draw(st.integers(1, 6)), draw(st.integers(2, 5))
    named = draw(arrays(np.int64, (n, d), elements=st.integers(0, k - 1)))
    right = draw(arrays(np.int64, n, elements=st.integers(0, k - 1)))
    return named, right, k


def voted(rule, named, right, k, layout="dense", block=None):
    state = state_before(rule, range(k), named.shape[1], multiclass=True)
    X = as_layout(named * 1.0, layout)
    given = (X, right) if block is None else (in_blocks(X, right, block),)
    return onlinear.run(rule, *given, state=state, trace=True)


@given(data=advice(), layout=st.sampled_from(["dense", "float32", "csr"]), block=st.sampled_from([None, 1, 7]))
def test_weighted_plurality(data, layout, block):
    named, right, k = data
    mistakes, predictions, m, ahead = naive.plurality(named.tolist(), right.tolist(), k, eta=Fraction(1, 2))
    run = voted(WeightedMajority(0.5), named, right, k, layout, block)
    assert run.trace.mistakes.tolist() == mistakes
    assert run.trace.predictions.tolist() == predictions
    assert run.trace.scores == pytest.approx([float(share) for share in ahead], abs=1e-12)
    assert run.expert_mistakes.tolist() == m
    assert run.regret == len(mistakes) - min(m)
    assert run.weights.shape == (named.shape[1],)


@given(data=advice())
def test_a_vote_is_a_share_of_the_weight(data):
    named, right, k = data
    run = voted(FixedShare(), named, right, k)
    shares = run.decision_function(named)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(named)))
    for r in range(k):
        expected = np.where(named == r, run.weights, 0.0).sum(axis=1) / run.weights.sum()
        assert shares[:, r] == pytest.approx(expected)
    assert np.array_equal(run.predict(named), shares.argmax(axis=1))


@given(data=advice(), eta=st.sampled_from([0.3, "anytime"]), seed=st.integers(0, 9))
def test_a_drawn_expert_is_right_with_the_share_of_those_that_are(data, eta, seed):
    """With several classes a randomised rule meets what it would meet with two: who is right, and who is not."""
    named, right, k = data
    run = voted(RandomizedWeightedMajority(eta, seed), named, right, k)
    signs = np.where(named == right[:, None], 1.0, -1.0)
    both = onlinear.run(RandomizedWeightedMajority(eta, seed), signs, np.ones(len(right)), classes=(-1, 1), trace=True)
    assert run.expected_mistakes == both.expected_mistakes
    assert run.expert_mistakes.tolist() == both.expert_mistakes.tolist()
    drawn = [t for t, share in enumerate(both.trace.scores) if not uniform(seed, t) < (1 + share) / 2]
    assert run.trace.mistakes.tolist() == both.trace.mistakes.tolist() == drawn


@given(data=advice(), cut=st.integers(0, 30))
def test_new_classes_change_no_weight(data, cut):
    named, right, k = data
    assume(0 < cut < len(right))
    whole = voted(WeightedMajority(0.3), named, right, k)
    wide = onlinear.runs.with_classes(voted(WeightedMajority(0.3), named[:cut], right[:cut], k).state, range(k + 2))
    on = onlinear.run(WeightedMajority(0.3), named[cut:], right[cut:], state=wide)
    assert on.mistakes_by_class == (*whole.mistakes_by_class, 0, 0)
    assert on.weights.tobytes() == whole.weights.tobytes()


def test_advice_must_be_a_class():
    y = [0, 1, 2, 0]
    for bad in (3.0, -1.0, 0.5, np.nan):
        X = np.array([[0, 1.0], [2, 1], [bad, 0], [0, 0]])
        with pytest.raises(DataError, match=r"row 2, column 0: value .*advice on 3 classes .* 0 to 2"):
            onlinear.run(WeightedMajority(), X, y)
        with pytest.raises(DataError, match=r"row 2, column 0: value .*advice on 3 classes"):
            onlinear.run(WeightedMajority(), X[:2], y[:2], classes=[0, 1, 2]).predict(X)
    with pytest.raises(DataError, match="a tie is a mistake"):
        onlinear.run(WeightedMajority(tie="positive"), [[0], [1], [2]], [0, 1, 2])
