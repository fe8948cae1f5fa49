"""Every rule, layout and block size against the naive oracle: same rounds, same weights, same bits."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import naive
import onlinear
from onlinear.engine.draws import uniform
from onlinear.rules import (
    FixedShare,
    MarginPerceptron,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
)
from strategies import BLOCKS, LAYOUTS, TIES, advice, as_layout, binary, in_blocks, real

INTERCEPT = st.booleans()


def learn(rule, X, y, layout, block, **options):
    note(f"{layout}, blocks of {block}")
    X = as_layout(X, layout)
    if block is None:
        return onlinear.run(rule, X, y, trace=True, **options)
    return onlinear.run(rule, in_blocks(X, y, block), trace=True, **options)


def learn_in_all_forms(rule, X, y, **options):
    """Yield a run for every layout and block size. The last that failure reports note is the one that failed."""
    for layout, block in product(LAYOUTS, BLOCKS):
        yield learn(rule, X, y, layout, block, **options)


def agree(run, oracle, *, exact=True):
    assert run.trace.mistakes.tolist() == oracle.mistakes
    assert run.trace.updates.tolist() == oracle.updates
    assert (run.mistakes_positive, run.mistakes_negative) == (oracle.positive, oracle.negative)
    assert run.mistakes == len(oracle.mistakes)
    assert run.updates == len(oracle.updates)
    assert run.rounds == len(oracle.scores)
    weights = [*run.weights, run.intercept] if run.state.fit_intercept else run.weights
    if exact:
        assert np.array_equal(weights, oracle.weights)
        assert np.array_equal(run.trace.scores, oracle.scores)
    else:
        assert np.allclose(weights, oracle.weights, rtol=1e-9, atol=1e-9)
        assert np.allclose(run.trace.scores, oracle.scores, rtol=1e-9, atol=1e-9)


# An example is drawn once for all layouts and block sizes: drawing takes longer than learning.


@given(data=real(), tie=st.sampled_from(TIES), intercept=INTERCEPT)
def test_perceptron(data, tie, intercept):
    X, y = data
    oracle = naive.perceptron(X, y, tie=tie, intercept=intercept)
    for run in learn_in_all_forms(Perceptron(tie), X, y, fit_intercept=intercept):
        agree(run, oracle)


@given(
    data=real(),
    tie=st.sampled_from(TIES),
    intercept=INTERCEPT,
    normalized=st.booleans(),
    margin=st.sampled_from([0.0, 0.25, 1.0, 4.0]),
)
def test_margin_perceptron(data, tie, intercept, normalized, margin):
    X, y = data
    rule = MarginPerceptron(margin, normalized=normalized, tie=tie)
    oracle = naive.margin_perceptron(X, y, margin=margin, normalized=normalized, tie=tie, intercept=intercept)
    for run in learn_in_all_forms(rule, X, y, fit_intercept=intercept):
        agree(run, oracle)


@given(data=binary(), beta=st.sampled_from([0.5, 1.0, 3.0]), threshold=st.sampled_from([None, 0.5, 3.0]))
def test_winnow(data, beta, threshold):
    X, y = data
    oracle = naive.winnow(X, y, beta=beta, threshold=threshold)
    for run in learn_in_all_forms(Winnow(beta, threshold), X, y):
        agree(run, oracle, exact=beta == 1.0)


@given(data=advice(), tie=st.sampled_from(TIES), eta=st.sampled_from([0.5, 1.0]))
def test_weighted_majority(data, tie, eta):
    X, y = data
    oracle = naive.experts(X, y, weight=lambda m, t: (1 - eta) ** m, predict=lambda s, t: naive.sign(s, tie))
    for run in learn_in_all_forms(WeightedMajority(eta, tie), X, y):
        agree_experts(run, oracle)


@given(data=advice(), eta=st.sampled_from([0.5, 0.9]), share=st.sampled_from([0.0, 0.1, 0.5]))
def test_fixed_share(data, eta, share):
    X, y = data
    oracle = naive.fixed_share(X, y, eta=eta, share=share)
    assume(all(abs(score) > 1e-9 for score in oracle.scores[1:]))  # rounding would decide a drawn vote
    oracle.weights = np.array(oracle.weights) / max(oracle.weights)
    for run in learn_in_all_forms(FixedShare(eta, share), X, y):
        agree_experts(run, oracle)


@given(data=advice(), eta=st.sampled_from([0.5, 0.25, "anytime"]), seed=st.integers(0, 2**63 - 1))
def test_randomized_weighted_majority(data, eta, seed):
    X, y = data
    log_n = math.log(X.shape[1])

    def weight(m, t):
        return math.exp(-math.sqrt(8 * log_n / t) * m) if eta == "anytime" else (1 - eta) ** m

    oracle = naive.experts(X, y, weight=weight, predict=lambda s, t: 1 if uniform(seed, t) < (1 + s) / 2 else -1)
    for run in learn_in_all_forms(RandomizedWeightedMajority(eta, seed), X, y):
        agree_experts(run, oracle)
        assert run.expected_mistakes == pytest.approx(oracle.expected_mistakes)


def agree_experts(run, oracle):
    assert run.trace.mistakes.tolist() == oracle.mistakes
    assert run.trace.updates.tolist() == oracle.updates
    assert run.expert_mistakes.tolist() == oracle.expert_mistakes
    assert run.regret == len(oracle.mistakes) - min(oracle.expert_mistakes)
    assert np.allclose(run.trace.scores, oracle.scores)
    assert np.allclose(run.weights / run.weights.max(), oracle.weights)


@pytest.mark.parametrize("layout", ["dense", "float32", "csr"])
@given(data=real(), start=st.booleans())
def test_start(layout, data, start):
    X, y = data
    v = np.arange(X.shape[1]) / 4.0 if start else np.zeros(X.shape[1])
    run = learn(Perceptron(), X, y, layout, None, start=v)
    agree(run, naive.perceptron(X, y, start=v))


@pytest.mark.parametrize("layout", ["dense", "float32", "csr"])
@given(data=real(), intercept=INTERCEPT)
def test_normalize_is_the_same_as_normalized_rows(layout, data, intercept):
    X, y = data
    run = learn(Perceptron(), X, y, layout, None, normalize=True, fit_intercept=intercept)
    oracle = naive.perceptron(X, y, normalize=True, intercept=intercept)
    # Rounding may part the two at a near-tie; up to there the scores agree.
    ties = [t for t, s in enumerate(oracle.scores) if 0 < abs(s) < 1e-9 or 0 < abs(run.trace.scores[t]) < 1e-9]
    end = ties[0] if ties else len(y)
    assert np.allclose(run.trace.scores[:end], oracle.scores[:end], atol=1e-9)
    if not ties:
        agree(run, oracle, exact=False)
