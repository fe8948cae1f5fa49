"""What is recorded while a learner runs: traces, curves, and the weights at each update."""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given

import onlinear
import strategies
from onlinear import Potentials
from onlinear.errors import ParameterError
from onlinear.rules import Majority, MarginPerceptron, Perceptron, WeightedMajority, Winnow
from onlinear.runs.curve import CurvePoints
from strategies import in_blocks

MANY = strategies.many_classes(max_rows=25, max_width=4).filter(lambda data: len(set(data[1].tolist())) > 1)


def slow_curve(trace, most):
    """The curve from its definition, round by round."""
    n, classes = trace.rounds, int(max(trace.answers.max(), trace.predictions.max(), 1)) + 1
    counts, last, rows = [0] * classes, 0, [(0, 0, 0, 0, 0)]
    confusion = np.zeros((classes, classes), dtype=int)
    costs = []
    for t in range(n):
        answer, shown, mistaken = (
            int(trace.answers[t]),
            int(trace.predictions[t]),
            t + trace.first_round in trace.mistakes,
        )
        _, mistakes, updates, majority, repeated = rows[-1]
        updated = t + trace.first_round in trace.updates
        leader = counts.index(max(counts))
        rows.append(
            (t + 1, mistakes + mistaken, updates + updated, majority + (leader != answer), repeated + (last != answer))
        )
        counts[answer] += 1
        last = answer
        confusion[answer, shown] += 1
        if mistaken:
            costs.append((-abs(float(trace.scores[t])), -t - trace.first_round, answer, shown))
    stride = 1
    while 1 + n // stride > most:
        stride *= 2
    kept = [row for row in rows if row[0] % stride == 0 or row[0] == n]
    return kept, confusion, sorted(costs)[:10]


def assert_curve(curve, trace, most):
    rows, confusion, costs = slow_curve(trace, most)
    columns = [curve.rounds - trace.first_round, curve.mistakes, curve.updates, curve.majority, curve.last_label]
    assert np.stack(columns, axis=1).tolist() == [list(row) for row in rows]
    assert curve.confusion.sum() == confusion.sum()
    assert curve.confusion[: len(confusion), : len(confusion)].tolist() == confusion.tolist()
    assert [(-one.cost, -one.round, one.answer, one.prediction) for one in curve.costliest] == costs


@given(data=st.one_of(strategies.real(), MANY), most=st.integers(2, 40), cuts=st.lists(st.integers(0, 30), max_size=4))
def test_a_curve_is_the_trace_at_some_moments(data, most, cuts):
    X, y = data[:2]
    trace = onlinear.run(Perceptron(), X, y, trace=True).trace
    assert_curve(trace.curve(most), trace, most)
    points = CurvePoints(most)
    events = np.zeros((2, trace.rounds), dtype=bool)
    events[0, trace.mistakes] = events[1, trace.updates] = True
    ends = sorted({0, trace.rounds, *(min(cut, trace.rounds) for cut in cuts)})
    for first, end in itertools.pairwise(ends):
        part = slice(first, end)
        points.add(*events[:, part], trace.answers[part], trace.predictions[part], trace.scores[part])
    assert_curve(points.curve(), trace, most)


@given(data=st.one_of(strategies.real(), MANY))
def test_a_recorded_curve_has_the_counts_of_the_run_and_of_its_baselines(data):
    X, y = data[:2]
    for rule in (Perceptron(), Majority([Perceptron(), MarginPerceptron(0.5)])):
        whole = onlinear.run(rule, X, y, trace="curve")
        for size in (1, 7):
            again = onlinear.run(rule, in_blocks(X, y, size), trace="curve", classes=whole.classes)
            assert again.trace.mistakes.tolist() == whole.trace.mistakes.tolist()
            assert again.trace.majority.tolist() == whole.trace.majority.tolist()
            assert again.trace.costliest == whole.trace.costliest
        curve = whole.trace
        assert (curve.rounds[-1], curve.mistakes[-1], curve.updates[-1]) == (len(y), whole.mistakes, whole.updates)
        assert (curve.majority[-1], curve.last_label[-1]) == (whole.baselines.majority, whole.baselines.last_label)
        assert_curve(curve, onlinear.run(rule, X, y, trace=True).trace, 2048)


def test_a_long_curve_has_few_points_and_hides_no_burst():
    n = 300_000
    points = CurvePoints()
    mistakes = np.zeros(n, dtype=bool)
    mistakes[123_456:123_600] = True
    for part in np.array_split(np.arange(n), 37):
        wrong, none = mistakes[part], np.zeros(part.size, dtype=int)
        points.add(wrong, wrong, none, none, np.zeros(part.size))
    curve = points.curve()
    assert curve.rounds.size <= 2049
    assert curve.mistakes[-1] == mistakes.sum()
    rates = np.diff(curve.mistakes) / np.diff(curve.rounds)
    assert rates.max() > 0.4


@given(data=strategies.real(), passes=st.integers(1, 3))
def test_training_is_traced_like_a_run_over_the_same_rounds(data, passes):
    X, y = data
    one = onlinear.train(Perceptron(), in_blocks(X, y, 7), passes=1, trace=True)
    assert one.trace.scores.tobytes() == onlinear.run(Perceptron(), X, y, trace=True).trace.scores.tobytes()
    for wanted in (True, "curve", Potentials(weights=True)):
        train = onlinear.train(Perceptron(), X, y, passes=passes, trace=wanted).trace
        run = onlinear.run(Perceptron(), np.tile(X, (passes, 1)), np.tile(y, passes), trace=wanted).trace
        assert repr(train) == repr(run)
        assert train.mistakes.tolist() == run.mistakes.tolist()


@given(data=strategies.separable(max_rows=12), intercept=st.booleans())
def test_the_weights_at_each_update_are_those_of_the_rule(data, intercept):
    X, y, _ = data
    for selection in ("cyclic", "random", "worst"):
        done = onlinear.converge(
            Perceptron(),
            X,
            y,
            selection=selection,
            fit_intercept=intercept,
            max_updates=40,
            trace=Potentials(weights=True),
        )
        trace, w = done.trace, np.zeros(X.shape[1] + intercept)
        assert (trace.mistakes.size, trace.updates.size, trace.rounds) == (done.mistakes, done.updates, done.rounds)
        path = trace.potentials["weights"]
        assert path.shape == (done.updates, X.shape[1])
        signed = {tuple(row) for row in (y[:, None] * np.column_stack([np.ones((len(y), int(intercept))), X])).tolist()}
        for t in range(done.updates):
            new = np.concatenate([trace.potentials["intercept"][t : t + 1] if intercept else [], path[t]])
            assert tuple((new - w).tolist()) in signed  # each step adds y·x of one of the examples
            w = new
        assert np.array_equal(w[int(intercept) :], done.weights)
        assert done.updates == 0 or onlinear.verify_lemmas(trace).holds


@given(data=strategies.real(max_rows=10))
def test_the_batch_perceptron_is_traced_step_by_step(data):
    X, y = data
    done = onlinear.batch_perceptron(X, y, max_passes=6, trace=Potentials(weights=True))
    w, path = np.zeros(X.shape[1]), []
    for _ in done.batch_sizes:
        wrong = y * (X @ w) <= 0
        w = w + (y[wrong, None] * X[wrong]).sum(axis=0)
        path.append(w.tolist())
    assert done.trace.potentials["weights"].tolist() == path
    assert done.trace.updates.size == done.updates == sum(done.batch_sizes)
    assert done.trace.rounds == done.rounds
    with pytest.raises(ParameterError, match="batch perceptron"):
        onlinear.verify_lemmas(done.trace)


@given(data=MANY, size=st.sampled_from([1, 3, 30]))
def test_recorded_classes_are_those_of_the_run_after_classes_were_added(data, size):
    X, y = data[:2]
    labels = np.array([f"{7 * i % 41:02}" for i in range(41)])[y]  # in another order than they may appear
    for wanted in (True, "curve"):
        run = onlinear.run(Perceptron(), in_blocks(X, labels, size), new_classes=True, trace=wanted)
        confusion = run.trace.curve().confusion if wanted is True else run.trace.confusion
        counts = [int((labels == label).sum()) for label in run.classes]
        assert confusion.sum(axis=1).tolist() == [*counts, *[0] * (len(confusion) - len(counts))]
        assert (confusion.sum() - np.trace(confusion)) <= run.mistakes
        if wanted is True:
            assert run.classes[run.trace.answers].tolist() == labels.tolist()


def test_new_features_have_the_first_weights_in_earlier_rows():
    blocks = [(scipy.sparse.csr_matrix([[1.0]]), [1]), (scipy.sparse.csr_matrix([[0.0, 1.0]]), [-1])]
    for rule, first in ((Perceptron(), 0.0), (Winnow(threshold=5.0), 1.0)):
        trace = onlinear.run(rule, blocks, classes=[-1, 1], trace=Potentials(weights=True)).trace
        assert trace.potentials["weights"][0, 1] == first


def test_what_is_recorded_is_shown_as_a_table():
    X, y = onlinear.datasets.separable(margin=0.1, n=300, d=3, seed=0)
    run = onlinear.run(Perceptron(), X, y, trace=Potentials(weights=True))
    for shown in (run.trace, run.trace.curve(), run.state, onlinear.datasets.xor()):
        lines = repr(shown).splitlines()
        assert 3 < len(lines) < 15
        assert not any("array(" in line for line in lines)
        assert shown._repr_html_().startswith("<table>")
    advice = onlinear.datasets.experts(4, n=50, seed=0)
    assert "weights" in repr(onlinear.run(WeightedMajority(), *advice, trace=Potentials()).trace)


def test_requests_that_cannot_be_met_are_refused(tmp_path):
    X, y = onlinear.datasets.xor()
    for function in (
        lambda **given: onlinear.run(Perceptron(), X, y, **given),
        lambda **given: onlinear.train(Perceptron(), X, y, **given),
        lambda **given: onlinear.converge(Perceptron(), X, y, **given),
        lambda **given: onlinear.batch_perceptron(X, y, **given),
    ):
        with pytest.raises(ParameterError, match="it must be True, False"):
            function(trace="all")
        with pytest.raises(ParameterError, match="comparator"):
            function(trace=Potentials(np.zeros(5)))
    with pytest.raises(ParameterError, match="does not keep a trace"):
        onlinear.train(Perceptron(), X, y, trace=True, checkpoint=tmp_path / "c")
