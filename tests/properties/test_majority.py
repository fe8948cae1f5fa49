"""The majority of several rules: each member as if it ran alone, and the vote as if their advice were the data."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import onlinear
from onlinear.rules import (
    AROW,
    SCW,
    AveragedPerceptron,
    FixedShare,
    Majority,
    Member,
    NormalizedAdaGrad,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
)
from onlinear.runs import majority as majority_learner
from strategies import LAYOUTS, as_layout, binary, in_blocks, many_classes, real

MEMBERS = (
    Member(Perceptron(), normalize=True),
    Member(AROW(r=0.5), fit_intercept=False),
    SCW(),
    AveragedPerceptron(),
    NormalizedAdaGrad(loss="hinge"),
)


def alone(rule, X, y, classes):
    """Run each member by itself, then the vote and the follower over what the members predicted."""
    runs = [
        onlinear.run(
            each.rule, X, y, fit_intercept=each.fit_intercept, normalize=each.normalize, classes=classes, trace=True
        )
        for each in rule.members
    ]
    named = np.stack([run.trace.predictions for run in runs], axis=1)
    codes = np.searchsorted(classes, y)
    if len(classes) == 2:
        named = 2 * named - 1
    votes = [
        onlinear.run(each, named * 1.0, codes, classes=range(len(classes)), trace=True)
        for each in (rule.vote, RandomizedWeightedMajority("anytime"))
    ]
    return runs, named, votes


def bits(state):
    """Everything that a state knows about what it has learned."""
    arrays = [state.arrays] if isinstance(state.arrays, np.ndarray) else list(state.arrays)
    parts = [bits(part) for part in (*state.members, *([state.follower] if state.follower else []))]
    counters = (state.rounds, state.mistakes_by_class, state.updates, state.steps, state.reach)
    return counters, [array.tobytes() for array in arrays], parts


def agrees(run, rule, X, y, classes):
    runs, named, (vote, follower) = alone(rule, X, y, classes)
    assert run.mistakes_by_class == vote.mistakes_by_class
    assert run.updates == vote.updates
    assert run.weights.tobytes() == vote.weights.tobytes()
    assert run.expected_mistakes == follower.expected_mistakes
    assert [bits(member) for member in run.state.members] == [bits(each.state) for each in runs]
    wrong = (named != (2 * np.searchsorted(classes, y) - 1 if len(classes) == 2 else y)[:, None]).sum(axis=0)
    assert run.expert_mistakes.tolist() == wrong.tolist()
    assert run.regret == run.mistakes - min(wrong)
    return vote


@settings(max_examples=25)
@given(data=real(), layout=st.sampled_from(sorted(LAYOUTS)), block=st.sampled_from([None, 1, 7]))
def test_two_classes(data, layout, block):
    X, y = data
    Z = as_layout(X, layout)
    for vote in (WeightedMajority(0.3), FixedShare(0.3, 0.1)):
        rule = Majority(MEMBERS, vote)
        given_ = (Z, y) if block is None else (in_blocks(np.asarray(Z) if layout == "lists" else Z, y, block),)
        run = onlinear.run(rule, *given_, classes=(-1, 1), trace=True)
        voted = agrees(run, rule, Z, y, (-1, 1))
        assert run.trace.predictions.tolist() == voted.trace.predictions.tolist()
        assert run.trace.scores.tobytes() == voted.trace.scores.tobytes()


@settings(max_examples=25)
@given(data=many_classes(max_rows=20, max_width=8), block=st.sampled_from([None, 1, 7]))
def test_many_classes(data, block):
    X, y, k = data
    if k == 2:
        k = 3
    rule = Majority(MEMBERS)
    given_ = (X, y) if block is None else (in_blocks(X, y, block),)
    run = onlinear.run(rule, *given_, classes=range(k), trace=True)
    voted = agrees(run, rule, X, y, range(k))
    assert run.trace.predictions.tolist() == voted.trace.predictions.tolist()


@given(data=binary())
def test_members_may_need_the_number_of_features(data):
    X, y = data
    rule = Majority([Winnow(), Perceptron()])
    agrees(onlinear.run(rule, X, y, classes=(-1, 1)), rule, X, y, (-1, 1))


@given(data=real(), cut=st.integers(1, 29))
def test_going_on_equals_never_stopping(tmp_path_factory, data, cut):
    X, y = data
    cut = min(cut, len(y) - 1)
    rule = Majority(MEMBERS)
    whole = onlinear.run(rule, X, y, classes=(-1, 1))
    first = onlinear.run(rule, X[:cut], y[:cut], classes=(-1, 1))
    before = bits(first.state)
    path = tmp_path_factory.mktemp("majority") / "model"
    first.save(path)
    for state in (first, first.state, onlinear.load(path)):
        assert bits(onlinear.run(rule, X[cut:], y[cut:], state=state).state) == bits(whole.state)
    assert bits(first.state) == before


@given(data=real())
def test_threads_change_nothing(data):
    X, y = data
    rule = Majority(MEMBERS)
    here = onlinear.run(rule, X, y)
    many, majority_learner._MANY = majority_learner._MANY, 0
    try:
        there = onlinear.run(rule, X, y)
        assert there.predict(X).tolist() == here.predict(X).tolist()
    finally:
        majority_learner._MANY = many
    assert bits(there.state) == bits(here.state)


@given(data=real())
def test_prediction_is_the_vote_of_the_members_final_predictions(data):
    X, y = data
    rule = Majority(MEMBERS)
    run = onlinear.run(rule, X, y, classes=(-1, 1))
    runs, *_ = alone(rule, X, y, (-1, 1))
    advice = np.stack([each.predict(X) for each in runs], axis=1)
    shares = advice @ run.weights / run.weights.sum()
    assert run.decision_function(X) == pytest.approx(shares, abs=1e-12)
    sure = np.abs(shares) > 1e-9
    assert np.array_equal(run.predict(X)[sure], np.where(shares > 0, 1, -1)[sure])


@settings(max_examples=25)
@given(data=many_classes(max_rows=20, max_width=8))
def test_new_classes_and_features_may_come_late(data):
    X, y, _ = data
    rule = Majority(MEMBERS)
    whole = onlinear.run(rule, X, y, new_classes=True)
    parts = onlinear.run(rule, in_blocks(X, y, 1), new_classes=True)
    assert bits(whole.state) == bits(parts.state)
    assert set(whole.classes) == set(y)
    few, half = max(1, X.shape[1] // 2), len(y) // 2
    sparse = as_layout(X, "csr")
    blocks = [(sparse[:half, :few], y[:half]), (sparse[half:], y[half:])]
    grown = onlinear.run(rule, blocks, new_classes=True)
    assert grown.n_features == X.shape[1]
    assert all(member.n_features == X.shape[1] for member in grown.state.members)


@given(data=real(), weights=st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=30, max_size=30))
def test_weights_go_to_the_members(data, weights):
    X, y = data
    rule = Majority([Perceptron(), AROW()])
    run = onlinear.run(rule, X, y, sample_weight=weights[: len(y)], classes=(-1, 1))
    for member, state in zip(rule.members, run.state.members, strict=True):
        one = onlinear.run(member.rule, X, y, fit_intercept=True, sample_weight=weights[: len(y)], classes=(-1, 1))
        assert bits(state) == bits(one.state)
