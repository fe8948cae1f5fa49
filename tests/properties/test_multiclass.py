"""More than two classes: every layout and block size against the naive oracle, and the theorem itself."""

import math
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import naive
import onlinear
from onlinear.errors import DataError, ParameterError
from onlinear.rules import MarginPerceptron, Perceptron, Winnow, add, dot, index, rule, size, squared_norm, value
from onlinear.runs import state_before, with_classes
from onlinear.theory import bounds
from strategies import BLOCKS, LAYOUTS, as_layout, in_blocks, many_classes, real


@rule(additive=True, linear=True)
class Relaxation(NamedTuple):
    """Written for two classes; it uses the row's whole algebra."""

    factor: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        loss = 1.0 - y * score
        if loss <= 0.0 or squared_norm(x) == 0.0:
            return 0.0
        step = self.factor * loss / squared_norm(x)
        add(w, step * y, x)
        return step


@rule(additive=True, linear=True)
class EntryByEntry(NamedTuple):
    """The perceptron, with the row taken apart."""

    rate: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        if mistake:
            for k in range(size(x)):
                w[index(x, k)] += y * value(x, k)
        return mistake


@rule
class Shifted(NamedTuple):
    """Its score is not ⟨w,x⟩."""

    shift: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x) - self.shift

    def update(self, w, x, y, score, mistake):
        return False


def in_layout(data, k, layout, block, rule_, **options):
    """Run a rule with a weight vector for each of k classes, also where k is 2."""
    X, y = data
    X = as_layout(X, layout)
    state = state_before(
        rule_, range(k), len(data[0][0]), fit_intercept=options.get("fit_intercept", False), multiclass=True
    )
    if block is None:
        return onlinear.run(rule_, X, y, state=state, trace=True)
    return onlinear.run(rule_, in_blocks(X, y, block), state=state, trace=True)


def agree(run, oracle, intercept):
    weights, mistakes, updates, scores, predictions, moved = oracle
    found = np.column_stack([run.weights, run.intercept]) if intercept else run.weights
    assert np.array_equal(found, weights)
    assert run.trace.mistakes.tolist() == mistakes
    assert run.trace.updates.tolist() == updates
    assert np.array_equal(run.trace.scores, scores)
    assert run.trace.predictions.tolist() == predictions
    assert (run.mistakes, run.updates, run.rounds) == (len(mistakes), len(updates), len(scores))
    assert run.state.steps == moved


@settings(max_examples=30)
@given(data=many_classes(), intercept=st.booleans(), margin=st.none() | st.integers(0, 40))
def test_every_layout_and_block_agrees_with_the_oracle(data, intercept, margin):
    X, y, k = data
    rule_ = Perceptron() if margin is None else MarginPerceptron(margin, normalized=False)
    oracle = naive.multiclass(X, y, k, margin=margin, intercept=intercept)
    for layout, block in product(LAYOUTS, BLOCKS):
        note(f"{layout}, blocks of {block}")
        run = in_layout((X, y), k, layout, block, rule_, fit_intercept=intercept)
        agree(run, oracle, intercept)
        assert run.mistakes_by_class == tuple(np.bincount(y[run.trace.mistakes], minlength=k))
        scores = run.decision_function(as_layout(X, layout))
        assert np.array_equal(scores, X @ run.weights.T + run.intercept)
        assert np.array_equal(run.predict(as_layout(X, layout)), scores.argmax(axis=1))


@given(data=real(), intercept=st.booleans())
def test_two_classes_with_a_vector_each_are_the_perceptron_twice(data, intercept):
    X, y = data
    one = onlinear.run(Perceptron(), X, y, fit_intercept=intercept, trace=True)
    state = state_before(Perceptron(), [-1, 1], X.shape[1], fit_intercept=intercept, multiclass=True)
    two = onlinear.run(Perceptron(), X, y, state=state, trace=True)
    assert np.array_equal(two.weights, [-one.weights, one.weights])
    assert np.array_equal(two.trace.mistakes, one.trace.mistakes)
    assert two.mistakes_by_class == one.mistakes_by_class


@given(data=many_classes(max_rows=12))
def test_a_rule_taken_apart_is_the_same_rule(data):
    X, y, k = data
    assume(k > 2)
    whole, apart = (onlinear.run(one, X, y, classes=range(k)) for one in (Perceptron(), EntryByEntry()))
    assert np.array_equal(whole.weights, apart.weights)


@given(data=many_classes(max_rows=12), intercept=st.booleans())
def test_a_rule_of_ones_own_learns_pairs(data, intercept):
    X, y, k = data
    assume(k > 2)
    run = onlinear.run(Relaxation(0.5), X, y, classes=range(k), fit_intercept=intercept)
    W = np.zeros((k, X.shape[1] + 1))
    for x, right in zip(np.column_stack([X, np.full(len(X), float(intercept))]), y, strict=True):
        totals = W @ x
        wrong = int(np.argmax(np.where(np.arange(k) == right, -np.inf, totals)))
        square = 2.0 * float(x @ x)
        step = 0.5 * max(0.0, 1.0 - (totals[right] - totals[wrong])) / square if square else 0.0
        W[right] += step * x
        W[wrong] -= step * x
    assert np.allclose(np.column_stack([run.weights, run.intercept]), W, rtol=1e-9, atol=1e-9)


@given(data=many_classes(), intercept=st.booleans(), rate=st.sampled_from([0.0, 0.25, 1.0, 3.0]))
def test_weights_of_examples_are_the_sizes_of_steps(data, intercept, rate):
    X, y, k = data
    assume(k > 2)
    sizes = np.where(np.arange(len(y)) % 3 == 0, rate, 0.5)
    run = onlinear.run(Perceptron(), X, y, classes=range(k), fit_intercept=intercept, sample_weight=sizes, trace=True)
    agree(run, naive.multiclass(X, y, k, sizes=sizes.tolist(), intercept=intercept), intercept)


@given(data=many_classes(), cut=st.integers(0, 30))
def test_going_on_is_never_having_stopped(data, cut, tmp_path_factory):
    X, y, k = data
    assume(k > 2 and 0 < cut < len(y))
    path = tmp_path_factory.mktemp("model") / "model"
    for rule_ in (Perceptron(), MarginPerceptron(0.1, normalized=True)):
        whole = onlinear.run(rule_, X, y, classes=range(k))
        onlinear.run(rule_, X[:cut], y[:cut], classes=range(k)).save(path)
        rest = onlinear.run(rule_, X[cut:], y[cut:], state=onlinear.load(path))
        rest.save(path)
        again = onlinear.load(path)
        assert again.weights.tobytes() == whole.weights.tobytes()
        assert (again.mistakes_by_class, again.updates, again.rounds) == (
            whole.mistakes_by_class,
            whole.updates,
            whole.rounds,
        )
        assert again.margin_upper_bound == whole.margin_upper_bound


@given(data=many_classes(max_rows=20), order=st.randoms(use_true_random=False))
def test_classes_that_come_later(data, order):
    """Only classes that were seen are known: as an oracle that meets them one by one."""
    X, y, k = data
    assume(k > 2)
    for rule_ in (Perceptron(), MarginPerceptron(0.5, normalized=True)):
        state = state_before(rule_, y[:1], X.shape[1], multiclass=True)
        W = {int(y[0]): np.zeros(X.shape[1])}
        for x, label in zip(X, y.tolist(), strict=True):
            if label not in state.classes:
                known = [*state.classes.tolist(), label]
                order.shuffle(known)
                state = with_classes(state, known)
                W[label] = np.zeros(X.shape[1])
            state = onlinear.run(rule_, x[None], [label], state=state).state
            rivals = [r for r in state.classes.tolist() if r != label]
            if not rivals:
                continue
            best = max(W[r] @ x for r in rivals)
            wrong = next(r for r in rivals if W[r] @ x == best)
            bar = 0.0 if isinstance(rule_, Perceptron) else 0.5 * math.sqrt(sum(w @ w for w in W.values()))
            if W[label] @ x - best <= bar:
                W[label] = W[label] + x
                W[wrong] = W[wrong] - x
        found = dict(zip(state.classes.tolist(), onlinear.Run(state).weights, strict=True))
        assert found.keys() == W.keys()
        assert all(np.array_equal(found[label], W[label]) for label in W)


@given(data=many_classes(max_width=6), shift=st.integers(1, 4))
def test_the_theorem_and_its_proof_read_backwards(data, shift):
    """P13: U = the identity on the last k features separates, whatever the others hold."""
    X, y, k = data
    assume(k > 2)
    X = np.column_stack([X, shift * np.eye(k)[y]])
    U = np.column_stack([np.zeros((k, X.shape[1] - k)), np.eye(k)])
    margin = shift / math.sqrt(k)
    done = onlinear.converge(Perceptron(), X, y, classes=range(k))
    assert done.halted
    assert np.array_equal(done.predict(X), y)
    assert done.mistakes == done.updates
    assert done.mistakes <= bounds.multiclass(X, y, U, classes=range(k)).value
    assert done.mistakes <= 2.0 * float((X * X).sum(axis=1).max()) / margin**2 * (1.0 + 1e-12)
    assert done.margin_upper_bound >= margin * (1.0 - 1e-12)
    backward = bounds.multiclass_backward(done.weights, done.updates).value
    assert backward <= done.margin_upper_bound <= backward * (1.0 + 1e-9)
    batch = onlinear.batch_perceptron(X, y, classes=range(k))
    assert batch.halted
    assert np.array_equal(batch.predict(X), y)
    worst = onlinear.converge(Perceptron(), X, y, classes=range(k), selection="worst")
    assert worst.halted
    assert np.array_equal(worst.predict(X), y)


@given(data=many_classes(), sizes=st.lists(st.integers(0, 3), min_size=30, max_size=30))
def test_batch_perceptron_counts_an_example_as_often_as_it_weighs(data, sizes):
    X, y, k = data
    sizes = np.array(sizes[: len(y)])
    assume(k > 2 and sizes.any())
    weighed = onlinear.batch_perceptron(X, y, classes=range(k), sample_weight=sizes, max_passes=20)
    repeated = onlinear.batch_perceptron(
        np.repeat(X, sizes, axis=0), np.repeat(y, sizes), classes=range(k), max_passes=20
    )
    assert np.array_equal(weighed.weights, repeated.weights)
    assert (weighed.halted, weighed.state.steps) == (repeated.halted, repeated.state.steps)


@pytest.mark.parametrize(
    ("rule_", "message"),
    [
        (Winnow(), "takes binary inputs"),
        (Perceptron("negative"), "a tie is a mistake"),
        (Shifted(), r"if its score is ⟨w,x⟩, declare that: @rule\(linear=True\)"),
    ],
)
def test_rules_for_two_classes_only(rule_, message):
    with pytest.raises(ParameterError, match=message):
        onlinear.run(rule_, np.eye(3), [0, 1, 2], classes=[0, 1, 2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_no_row_is_learned_that_is_not_finite(bad, layout):
    X, y = np.tile(np.eye(3), (4, 1)), np.tile([0, 1, 2], 4)
    run = onlinear.run(Perceptron(), X, y, classes=[0, 1, 2])
    X[7, 1] = bad
    with pytest.raises(DataError, match=r"row 7, column 1: value .*NaN"):
        onlinear.run(Perceptron(), as_layout(X, layout), y, state=run)
    with pytest.raises(DataError, match="row 7, column 1"):
        run.predict(as_layout(X, layout))


@pytest.mark.parametrize("labels", [["a", "b", "c"], [2**62, -5, 7], [0.5, 1.5, -2.0], [True, False, 2]])
def test_labels_of_any_type(labels):
    y = np.array(labels * 2)
    run = onlinear.run(Perceptron(), np.tile(np.eye(3), (2, 1)), y, classes=np.unique(y))
    assert run.predict(np.eye(3)).tolist() == y[:3].tolist()
    assert run.mistakes_by_class == (1, 1, 1)
    with pytest.raises(DataError, match=r"row 0: label .*; the labels are"):
        onlinear.run(Perceptron(), np.eye(3)[:1], np.array([99]).astype(y.dtype), state=run)


def test_a_first_guess_for_every_class():
    start = (np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0]))
    run = onlinear.run(Perceptron(), [[0.0, 0.0]], [2], classes=[0, 1, 2], fit_intercept=True, start=start)
    assert np.array_equal(run.weights, start[0])
    assert np.array_equal(run.intercept, start[1])
    with pytest.raises(ParameterError, match="a row for each of the 3 classes"):
        onlinear.run(Perceptron(), [[0.0, 0.0]], [2], classes=[0, 1, 2], start=np.zeros((2, 3)))


def test_the_first_of_the_best_classes_is_predicted():
    run = onlinear.run(Perceptron(), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 2], classes=range(3))
    assert run.predict([[0.0, 0.0]]).tolist() == [0]
    assert "  classes    3: 0, 1, 2\n" in repr(run)
