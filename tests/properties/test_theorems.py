"""The theorems, with the inequality of each step and not only the totals.

Data are multiples of 1/16, so potentials are exact; where a margin is irrational, both sides are
compared squared, or with a comparator whose margin is known as a fraction.
"""

import copy
import math
from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

import onlinear
from exact_oracle import squared_largest_margin
from onlinear import Potentials
from onlinear.errors import VerificationError
from onlinear.rules import (
    AveragedPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
)
from onlinear.theory import Certificate
from strategies import TIES, advice, examples, real, separable


def geometry(X, y, u):
    """R², the functional margin min y⟨u,x⟩ and ‖u‖², as fractions."""
    X = [[Fraction(v) for v in x] for x in X]
    u = [Fraction(v) for v in u]
    radius = max(sum(v * v for v in x) for x in X)
    margin = min(int(a) * sum(v * c for v, c in zip(x, u, strict=True)) for x, a in zip(X, y, strict=True))
    return radius, margin, sum(c * c for c in u)


def largest_margin(X, y):
    """γ* for two features."""
    return math.sqrt(squared_largest_margin(X, y))


@given(data=separable(), tie=st.sampled_from(TIES), passes=st.integers(1, 3))
def test_p1_mistakes_are_at_most_the_squared_difficulty(data, tie, passes):
    X, y, u = data
    radius, margin, norm = geometry(X, y, u)
    run = onlinear.run(Perceptron(tie), [(X, y)] * passes)
    assert run.mistakes * margin**2 <= radius * norm


def test_p1_is_tight():
    n = 12
    run = onlinear.run(Perceptron(), np.eye(n), np.ones(n), classes=(-1, 1))
    radius, margin, norm = geometry(np.eye(n), np.ones(n), np.ones(n))
    assert Fraction(run.mistakes) == radius * norm / margin**2 == n


@given(data=separable(), start=st.integers(-8, 8))
def test_p2_warm_start(data, start):
    X, y, u = data
    v = np.full(X.shape[1], start / 4.0)
    radius, margin, norm = geometry(X, y, u)
    done = onlinear.run(Perceptron(), [(X, y)] * 3, start=v)
    # With b = ‖v‖ and ⟨u,v⟩ = a‖u‖: after M mistakes a + Mγ ≤ ⟨w,u⟩/‖u‖ ≤ √(b² + M R²).
    gamma = float(margin) / math.sqrt(norm)
    a, b2, R2 = float(u @ v) / math.sqrt(norm), float(v @ v), float(radius)
    middle = R2 - 2 * a * gamma
    bound = (middle + math.sqrt(middle**2 + 4 * gamma**2 * max(0.0, b2 - a**2))) / (2 * gamma**2)
    assert done.mistakes <= bound * (1 + 1e-9) + 1e-9


@given(data=separable(), tie=st.sampled_from(TIES))
def test_p3_every_mistake_comes_nearer_to_the_comparator(data, tie):
    X, y, u = data
    radius, margin, _ = geometry(X, y, u)
    c = radius / margin  # ‖w − cu‖² falls by at least R² at every mistake
    trace = onlinear.run(Perceptron(tie), [(X, y)] * 2, trace=Potentials(float(c) * u)).trace
    distance = [float(c) ** 2 * float(u @ u), *trace.potentials["squared_distance"]]
    for before, after in pairwise(distance):
        assert after <= before - float(radius) + 1e-9 * before


@given(data=separable(), tie=st.sampled_from(TIES))
def test_p4_inner_product_and_norm_at_every_mistake(data, tie):
    X, y, u = data
    _, margin, norm = geometry(X, y, u)
    trace = onlinear.run(Perceptron(tie), X, y, trace=Potentials(u)).trace
    inner, square = 0.0, 0.0
    for k, t in enumerate(trace.updates):
        assert trace.potentials["inner"][k] >= inner + margin
        assert trace.potentials["squared_norm"][k] <= square + X[t] @ X[t]
        inner, square = trace.potentials["inner"][k], trace.potentials["squared_norm"][k]
        # The alignment: kγ ≤ ⟨w,u⟩ ≤ ‖w‖ for unit u.
        assert inner**2 <= square * norm
    assert trace.updates.tolist() == trace.mistakes.tolist()


@given(data=separable(), tie=st.sampled_from(TIES), passes=st.integers(1, 3))
def test_p1_bounds_the_updates_of_the_averaged_perceptron(data, tie, passes):
    X, y, u = data
    radius, margin, norm = geometry(X, y, u)
    run = onlinear.run(AveragedPerceptron(tie=tie), [(X, y)] * passes)
    assert run.updates * margin**2 <= radius * norm


@given(data=separable(max_rows=12, max_width=3), tie=st.sampled_from(TIES), passes=st.integers(1, 3))
def test_pa_the_losses_of_separable_rounds_are_bounded(data, tie, passes):
    """The sum of the squared losses, of which each mistake has at least 1, is at most R²‖u‖² for y⟨u,x⟩ ≥ 1."""
    X, y, u = data
    radius, margin, norm = geometry(X, y, u)
    run = onlinear.run(PassiveAggressive(variant="PA", tie=tie), [(X, y)] * passes, trace=True)
    losses = np.maximum(0.0, 1.0 - np.tile(y, passes) * run.trace.scores)
    bound = radius * norm / margin**2
    assert run.mistakes <= np.square(losses).sum() <= float(bound) * (1 + 1e-9)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@given(
    data=real(max_rows=10, max_width=3),
    C=st.sampled_from([0.03, 1.0, 20.0]),
    tie=st.sampled_from(TIES),
    passes=st.integers(1, 2),
    options=st.fixed_dictionaries({"fit_intercept": st.booleans(), "normalize": st.booleans()}),
)
def test_certificates_of_passive_aggressive_runs(variant, data, C, tie, passes, options):
    X, y = data
    run = onlinear.run(PassiveAggressive(C, variant, tie), [(X, y)] * passes, **options)
    certificate = onlinear.certify(run, X, y)
    certificate.verify(X, y)
    found = [bound for bound in certificate.bounds if bound.theorem.endswith(f"({variant})")]
    if variant == "PA" and not certificate.margin.separable:
        assert found == []
    else:
        assert [run.mistakes <= bound.mistakes for bound in found] == [True]
        false = copy.deepcopy(certificate.record)
        [entry] = [entry for entry in false["bounds"] if entry["theorem"] == found[0].theorem]
        entry["value"] = np.nextafter(entry["value"], 0.0)
        with pytest.raises(VerificationError, match=r"bounds\[0\]\.value"):
            Certificate(false).verify(X, y)


@pytest.mark.parametrize(
    "rule", [Perceptron(), MarginPerceptron(0.5, normalized=True), MarginPerceptron(3.0, normalized=False)], ids=repr
)
@given(data=separable(max_width=2), start=st.integers(-4, 4), normalize=st.booleans())
def test_p6_no_separator_has_a_larger_margin(rule, data, start, normalize):
    X, y, u = data
    assume(X.shape[1] == 2)
    run = onlinear.run(rule, [(X, y)] * 5, start=np.full(2, start / 4.0), normalize=normalize)
    lengths = np.linalg.norm(X, axis=1)
    Z = X / lengths[:, None] if normalize else X
    slack = 1e-12 * lengths.max()  # of γ* itself, where it is computed from rounded rows
    assert run.margin_upper_bound >= largest_margin(Z, y) - (slack if normalize else 0.0)
    assert run.margin_upper_bound >= float((y * (Z @ u)).min()) / math.sqrt(u @ u) - 1e-12 * abs(Z).max()


@given(data=real(max_width=4))
def test_p6_is_the_length_of_the_mean_step(data):
    X, y = data
    run = onlinear.run(Perceptron(), X, y)
    if run.updates:
        exact = sum(Fraction(w) ** 2 for w in run.weights) / run.updates**2
        assert exact <= Fraction(run.margin_upper_bound) ** 2
        reach = sum(np.linalg.norm(x) for x in X)
        assert run.margin_upper_bound <= math.sqrt(exact) + 1e-12 * (1 + reach)


@given(data=separable(max_rows=12, max_width=2), b=st.sampled_from([0.0, 1.0, 10.0, 1000.0]))
def test_p8_margin_perceptron(data, b):
    X, y, _ = data
    assume(X.shape[1] == 2)
    gamma, R2 = largest_margin(X, y), float(max((x @ x) for x in X))
    assume((R2 + 2 * b) / gamma**2 < 1e5)
    done = onlinear.converge(MarginPerceptron(b, normalized=False), X, y, max_passes=10**6)
    assert done.halted
    assert done.updates <= (R2 + 2 * b) / gamma**2 * (1 + 1e-9)
    reached = (y * (X @ done.weights)).min() / np.linalg.norm(done.weights)
    assert reached > b * gamma / (R2 + 2 * b) * (1 - 1e-9)


@given(data=separable(max_rows=12, max_width=2), share=st.sampled_from([0.0, 0.25, 0.5, 0.9]))
def test_p9_normalized_margin_perceptron(data, share):
    X, y, _ = data
    assume(X.shape[1] == 2)
    gamma, R = largest_margin(X, y), math.sqrt(max((x @ x) for x in X))
    beta = share * gamma
    bound = 2 * R**2 / (gamma - beta) ** 2 + 2 * (R + beta) / (gamma - beta)
    assume(bound < 1e5)
    done = onlinear.converge(MarginPerceptron(beta, normalized=True), X, y, max_passes=10**6)
    assert done.halted
    assert done.updates <= bound * (1 + 1e-9)
    sharper = R + R**2 / (2 * gamma) * (1 + math.log(done.updates))
    assert done.updates * (gamma - beta) <= sharper * (1 + 1e-9)
    assert (y * (X @ done.weights)).min() / np.linalg.norm(done.weights) > beta * (1 - 1e-12)


@given(data=separable(max_rows=12, max_width=2), selection=st.sampled_from(["cyclic", "random", "worst"]))
def test_p1_for_the_halting_loop(data, selection):
    X, y, u = data
    radius, margin, norm = geometry(X, y, u)
    assume(radius * norm / margin**2 < 10**5)
    done = onlinear.converge(Perceptron(), X, y, selection=selection, max_passes=10**6, seed=1)
    assert done.halted
    assert done.updates * margin**2 <= radius * norm
    assert (y * (X @ done.weights) > 0).all()


@given(data=separable(max_rows=12, max_width=4))
def test_p10_batch_perceptron_with_a_constant_step(data):
    X, y, u = data
    radius, margin, norm = geometry(X, y, u)
    n = len(y)
    difficulty = radius * norm / margin**2
    assume(n * difficulty < 10**4)
    done = onlinear.batch_perceptron(X, y, max_passes=10**6)
    assert done.halted
    assert (y * (X @ done.weights) > 0).all()
    assert sum(done.batch_sizes) == done.updates <= n * difficulty
    assert len(done.batch_sizes) <= Fraction((n + 1) ** 2, 4 * n) * difficulty


@given(data=separable(max_rows=6, max_width=3), power=st.sampled_from([0.0, 0.25, 0.5]))
def test_p11_batch_perceptron_with_a_schedule(data, power):
    X, y, u = data
    radius, margin, norm = geometry(X, y, u)
    limit = len(y) ** 2 * float(radius * norm / margin**2)
    assume(limit < 300)
    done = onlinear.batch_perceptron(X, y, schedule=lambda k: k**-power, max_passes=10**6)
    assert done.halted
    steps = np.array([float(k) ** -power for k in range(1, len(done.batch_sizes) + 1)])
    if steps.size:
        assert steps.sum() ** 2 / (steps**2).sum() <= limit * (1 + 1e-9)


@given(data=separable(max_rows=8, max_width=2), schedule=st.sampled_from(["constant", "1/k"]))
def test_p6_for_the_batch_perceptron(data, schedule):
    X, y, _ = data
    assume(X.shape[1] == 2)
    done = onlinear.batch_perceptron(X, y, schedule=schedule, max_passes=20)
    assert done.margin_upper_bound >= largest_margin(X, y)


@st.composite
def disjunctions(draw):
    X, _ = draw(examples(st.integers(0, 1), max_rows=60))
    k = draw(st.integers(1, X.shape[1]))
    y = np.where(X[:, :k].any(axis=1), 1, -1)
    return X * 1.0, y, k


@given(data=disjunctions(), beta=st.sampled_from([0.5, 1.0, 2.0]), threshold=st.sampled_from([None, 1.0, 0.3, 7.0]))
def test_winnow_on_a_disjunction(data, beta, threshold):
    X, y, k = data
    N, alpha = X.shape[1], 1.0 + beta
    theta = float(N) if threshold is None else threshold
    run = onlinear.run(Winnow(beta, threshold), [(X, y)] * 4, classes=(-1, 1), trace=Potentials())
    phi = [float(N), *run.trace.potentials["total_weight"]]
    for t, before, after in zip(run.trace.updates, phi, phi[1:], strict=False):
        if y[t % len(y)] > 0:
            assert after <= before + (alpha - 1) * theta * (1 + 1e-12)
        else:
            assert after < before - (1 - 1 / alpha) * theta * (1 - 1e-12)
        assert after > 0
    promotions = max(0, math.floor(math.log(theta, alpha) + 1e-9) + 1)
    assert run.mistakes_positive <= k * promotions
    assert run.mistakes < N * alpha / (theta * (alpha - 1)) + (1 + alpha) * k * promotions
    assert run.weights.max() <= alpha * max(theta, 1.0) * (1 + 1e-12)
    if threshold is None:
        assert run.mistakes_negative < alpha / (alpha - 1) + alpha * run.mistakes_positive
        assert run.mistakes < alpha / (alpha - 1) + (1 + alpha) * k * (math.log(N, alpha) + 1)


@given(data=advice(max_rows=60), eta=st.sampled_from([0.1, 0.5, 0.9]), tie=st.sampled_from(TIES))
def test_weighted_majority(data, eta, tie):
    X, y = data
    run = onlinear.run(WeightedMajority(eta, tie), X, y, trace=Potentials())
    N, best = X.shape[1], run.expert_mistakes.min()
    bound = (math.log(N) + best * math.log(1 / (1 - eta))) / math.log(2 / (2 - eta))
    assert run.mistakes <= bound + 1e-9
    if eta <= 0.5:
        assert run.mistakes <= 2 * (1 + eta) * best + 2 * math.log(N) / eta + 1e-9
    # Every mistake takes at least the share η/2 of the total weight.
    total = float(N)
    made = dict(zip(run.trace.updates.tolist(), run.trace.potentials["mistakes"], strict=True))
    for t in range(run.rounds):
        after = ((1 - eta) ** made[t]).sum() if t in made else total
        if t in run.trace.mistakes:
            assert after <= total * (1 - eta / 2) * (1 + 1e-12)
        assert after <= total
        total = after


@pytest.mark.parametrize("T", [100, 1000])
def test_the_regret_of_weighted_majority_may_grow_linearly(T):
    """Two experts who never agree: the right one is always the one with no more weight."""
    X, y = np.tile([1.0, -1.0], (T, 1)), np.where(np.arange(T) % 2, -1, 1)
    run = onlinear.run(WeightedMajority(0.5), X, y)
    assert (run.mistakes, run.regret) == (T, T // 2)
    drawn = onlinear.run(RandomizedWeightedMajority("anytime"), X, y)
    assert drawn.expected_mistakes - T // 2 <= math.sqrt(T)


@given(data=advice(max_rows=60))
def test_halving(data):
    X, y = data
    X = np.hstack([X, y[:, None]])  # a perfect expert
    run = onlinear.run(WeightedMajority(eta=1.0), X, y)
    assert run.mistakes <= math.log2(X.shape[1])


@given(data=advice(max_rows=60), eta=st.sampled_from([0.1, 0.5, 0.9]), seed=st.integers(0, 1000))
def test_randomized_weighted_majority(data, eta, seed):
    X, y = data
    run = onlinear.run(RandomizedWeightedMajority(eta, seed), X, y)
    for m in run.expert_mistakes:
        assert run.expected_mistakes <= (m * math.log(1 / (1 - eta)) + math.log(X.shape[1])) / eta + 1e-9
        if eta <= 0.5:
            assert run.expected_mistakes <= (1 + eta) * m + math.log(X.shape[1]) / eta + 1e-9


@given(data=advice(max_rows=60))
def test_anytime(data):
    X, y = data
    N, T = X.shape[1], len(y)
    run = onlinear.run(RandomizedWeightedMajority("anytime"), X, y)
    bound = 2 * math.sqrt(T * math.log(N) / 2) + math.sqrt(math.log(N) / 8)
    assert run.expected_mistakes - run.expert_mistakes.min() <= bound + 1e-9


def test_sampled_mistakes_follow_their_expectation():
    data = onlinear.datasets.experts(20, 500, best=0.2, seed=1)
    runs = [onlinear.run(RandomizedWeightedMajority(0.2, seed), *data) for seed in range(200)]
    expected = runs[0].expected_mistakes
    assert {run.expected_mistakes for run in runs} == {expected}
    mean = sum(run.mistakes for run in runs) / len(runs)
    # Each count has a standard deviation of at most √(T/4); the mean of 200 is within 5 of its own.
    assert abs(mean - expected) <= 5 * math.sqrt(500 / 4 / len(runs))
