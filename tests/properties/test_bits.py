"""The same bits whatever the block size, after a pause, and one row at a time; here on any floats at all."""

from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, note
from hypothesis.extra.numpy import arrays

import onlinear
from onlinear.engine.runner import PlainRunner
from onlinear.errors import DataError
from onlinear.models.state import weights_of
from onlinear.rules import (
    AROW,
    FTRL,
    SCW,
    AdaGrad,
    AveragedPerceptron,
    FixedShare,
    MarginPerceptron,
    NormalizedAdaGrad,
    OnlineGradient,
    PassiveAggressive,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
)
from onlinear.runs import learner
from strategies import as_layout, in_blocks, labels

RULES = {
    "real": [
        Perceptron(),
        MarginPerceptron(0.3, normalized=True),
        MarginPerceptron(2.0, normalized=False),
        AROW(0.5),
        AROW(full=8),
        SCW(full=64),
        AdaGrad(),
        AveragedPerceptron(),
        FTRL(l1=0.1),
        NormalizedAdaGrad(),
        OnlineGradient(loss="logistic"),
        PassiveAggressive(2.0, "PA-II"),
        SCW(),
    ],
    "binary": [Winnow(), Winnow(beta=0.3, threshold=2.5)],
    "advice": [
        WeightedMajority(0.3),
        FixedShare(0.3, 0.1),
        RandomizedWeightedMajority(0.3, seed=7),
        RandomizedWeightedMajority("anytime", seed=7),
    ],
}
EVERY_RULE = [pytest.param(rule, id=repr(rule)) for rules in RULES.values() for rule in rules]
OTHER_WAYS = [
    AdaGrad(0.2, "logistic"),
    NormalizedAdaGrad(0.3, "hinge"),
    FTRL(0.5, 0.0, 0.0, 0.2),
    SCW(0.8, 0.5, "SCW-II"),
]


@st.composite
def stream(draw, rule):
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 25))
    if rule.inputs == "real":
        X = draw(arrays(np.float64, (n, d), elements=st.floats(-1e6, 1e6, allow_subnormal=False)))
    else:
        X = draw(arrays(np.int64, (n, d), elements=st.integers(0, 1))) * 1.0
        X = 2.0 * X - 1.0 if rule.inputs == "advice" else X
    return X, np.array(draw(labels(n)))


def bits(run):
    arrays = run.state.arrays
    arrays = [arrays] if isinstance(arrays, np.ndarray) else list(arrays)
    counters = (run.rounds, run.mistakes_by_class, run.updates)
    return counters, run.state.steps, run.state.reach, [array.tobytes() for array in arrays]


@pytest.mark.parametrize("rule", EVERY_RULE)
@given(data=st.data(), intercept=st.booleans(), normalize=st.booleans())
def test_block_size_never_shows(rule, data, intercept, normalize):
    X, y = data.draw(stream(rule))
    options = {"fit_intercept": intercept, "normalize": normalize} if rule.inputs == "real" else {}
    for layout in ("dense", "float32", "csr"):
        note(layout)
        Z = as_layout(X, layout)
        whole = onlinear.run(rule, Z, y, trace=True, **options)
        for size in (1, 7):
            parts = onlinear.run(rule, in_blocks(Z, y, size), trace=True, **options)
            assert bits(parts) == bits(whole)
            assert parts.trace.scores.tobytes() == whole.trace.scores.tobytes()
            assert parts.trace.mistakes.tolist() == whole.trace.mistakes.tolist()
            assert parts.trace.predictions.tolist() == whole.trace.predictions.tolist()


def outcome(rule, X, y, **options):
    """All that a run computes, or why a row was refused."""
    try:
        run = onlinear.run(rule, X, y, trace=True, **options)
    except DataError as error:
        return str(error)
    return bits(run), run.trace.scores.tobytes()


@pytest.mark.parametrize("rule", [*EVERY_RULE, *(pytest.param(rule, id=repr(rule)) for rule in OTHER_WAYS)])
@given(data=st.data(), intercept=st.booleans(), normalize=st.booleans())
def test_plain_python_computes_the_same(rule, data, intercept, normalize):
    X, y = data.draw(stream(rule))
    options = {}
    if rule.inputs == "real":
        X = X * 10.0 ** data.draw(arrays(np.int64, X.shape[1], elements=st.integers(-30, 20)))
        y = y * data.draw(arrays(np.int64, len(y), elements=st.integers(1, data.draw(st.integers(1, 2)))))
        options = {"fit_intercept": intercept, "normalize": normalize, "classes": sorted({-1, 1, *y.tolist()})}
    for layout in ("dense", "float32", "csr", "csr, int64 indices"):
        note(layout)
        Z = as_layout(X, layout)
        compiled = outcome(rule, Z, y, **options)
        with patch.object(learner, "runner_for", PlainRunner):
            assert outcome(rule, Z, y, **options) == compiled


@pytest.mark.parametrize("rule", EVERY_RULE)
@given(data=st.data())
def test_going_on_equals_never_stopping(rule, data):
    X, y = data.draw(stream(rule))
    cut = data.draw(st.integers(1, len(y) - 1))
    classes = (-1, 1)
    whole = onlinear.run(rule, X, y)
    first = onlinear.run(rule, X[:cut], y[:cut], classes=classes)
    before = bits(first)
    second = onlinear.run(rule, X[cut:], y[cut:], state=first.state)
    assert bits(second) == bits(whole)
    assert bits(first) == before


@pytest.mark.parametrize("rule", EVERY_RULE)
@given(data=st.data())
def test_scores_are_those_of_the_pass(rule, data):
    """What a run would predict next is what it does predict when it goes on."""
    X, y = data.draw(stream(rule))
    run = onlinear.run(rule, X, y)
    scores = run.decision_function(X)
    shown = run.predict(X)
    on = onlinear.run(rule, X[:1], y[:1], state=run.state, trace=True)
    near = 0.0
    if hasattr(rule, "final"):  # a mean is rounded before it predicts, and its products may underflow
        near = 1e-12 * float(np.abs(X).sum() ** 2) + 1e-322 * X.size
        assert abs(on.trace.scores[0] - scores[0]) <= near
    else:
        assert on.trace.scores[0].tobytes() == scores[0].tobytes()
    if abs(on.trace.scores[0]) > near:
        assert (on.mistakes > run.mistakes) == (shown[0] != y[0])
        assert run.classes[on.trace.predictions[0]] == shown[0]


@given(data=st.data())
def test_zeros_at_the_end_of_a_row_do_not_show(data):
    X, y = data.draw(stream(Perceptron()))
    wider = np.hstack([X, np.zeros((len(y), 5))])
    narrow, wide = (onlinear.run(Perceptron(), Z, y, trace=True) for Z in (X, wider))
    assert np.array_equal(narrow.trace.scores, wide.trace.scores)
    assert np.array_equal(narrow.weights, wide.weights[: X.shape[1]])


@pytest.mark.parametrize("rule", [*RULES["real"], Winnow(threshold=2.5)], ids=repr)
@given(data=st.data())
def test_growth_does_not_show(rule, data):
    """Features that appear late leave the weights as if they had been known all along."""
    X, y = data.draw(stream(rule))
    cut = data.draw(st.integers(0, X.shape[1] - 1))
    early = X[:, cut:].any(axis=1).argmax() if X[:, cut:].any() else len(y)
    grown = onlinear.run(
        rule,
        ((as_layout(X[[i], : cut if i < early and cut else None], "csr"), y[[i]]) for i in range(len(y))),
        classes=(-1, 1),
    )
    known = onlinear.run(rule, as_layout(X, "csr"), y)
    width = grown.n_features
    assert weights_of(grown.state.arrays).tobytes() == weights_of(known.state.arrays)[:width].tobytes()
    assert (grown.mistakes, grown.updates) == (known.mistakes, known.updates)
