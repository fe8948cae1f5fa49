"""The halting loop and the batch perceptron."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear.errors import DataError, ParameterError
from onlinear.rules import MarginPerceptron, Perceptron, WeightedMajority, Winnow, add, dot, rule
from onlinear.runs.convergence import Outcome

X, Y = onlinear.datasets.separable(0.02, n=300, d=5, seed=3)
XOR = onlinear.datasets.xor()
SELECTIONS = ["cyclic", "random", "worst"]


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("matrix", [X, np.asfortranarray(X), X.astype(np.float32), scipy.sparse.csr_matrix(X)])
def test_it_halts_when_it_separates(selection, matrix):
    done = onlinear.converge(Perceptron(), matrix, Y, selection=selection, fit_intercept=True)
    assert done.halted
    assert np.array_equal(done.predict(matrix), Y)
    assert "nothing left to learn from 300 examples" in repr(done)


@pytest.mark.parametrize("tie", ["mistake", "negative", "positive"])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_ties_do_not_end_it_too_soon(selection, tie):
    """At the start every score is 0: whether a label is misclassified is for the convention to say."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.5], [0.5, 1.0]]), np.array([-1, 1, -1])
    done = onlinear.converge(Perceptron(tie), X, y, selection=selection)
    assert done.halted
    assert np.array_equal(done.predict(X), y)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_it_gives_up_and_says_what_is_known(selection):
    done = onlinear.converge(Perceptron(), *XOR, selection=selection, fit_intercept=True, max_updates=50)
    assert not done.halted
    assert (done.updates, done.outcome) == (50, Outcome.UPDATE_LIMIT)
    said, _, bound = done.reason.rpartition(" ")
    assert said == "gave up after 50 updates; no separator of these examples has a margin above"
    assert done.margin_upper_bound <= float(bound) <= done.margin_upper_bound * (1 + 1e-5)


def test_passes_are_limited():
    done = onlinear.converge(Perceptron(), *XOR, fit_intercept=True, max_passes=10)
    assert (done.halted, done.passes, done.rounds) == (False, 10, 40)
    assert done.outcome is Outcome.PASS_LIMIT
    assert "gave up after 10 passes" in done.reason


def test_random_orders_come_from_the_seed():
    one, same, other = (onlinear.converge(Perceptron(), X, Y, selection="random", seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.weights, same.weights)
    assert not np.array_equal(one.weights, other.weights)


def test_the_worst_is_taken_first():
    X = np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 1.0]])
    done = onlinear.converge(
        Perceptron(), X, [1, 1, 1], selection="worst", start=np.array([-1.0, -1.0]), max_updates=1, classes=(-1, 1)
    )
    assert done.weights.tolist() == [-1.0, 2.0]


@pytest.mark.parametrize("selection", SELECTIONS)
def test_going_on_from_a_run_does_not_begin_again(selection):
    first = onlinear.converge(Perceptron(), X[:150], Y[:150], selection=selection)
    again = onlinear.converge(Perceptron(), X[:150], Y[:150], selection=selection, state=first)
    assert again.updates == first.updates
    more = onlinear.converge(Perceptron(), X[150:], Y[150:], selection=selection, state=first)
    assert more.halted
    assert more.updates >= first.updates
    assert more.rounds > first.rounds
    online = onlinear.run(Perceptron(), X, Y)
    assert onlinear.converge(Perceptron(), X, Y, state=online).updates >= online.updates


def test_a_margin_out_of_reach_is_given_up_early():
    X = np.array([[1.0, 1.0], [-1.0, 1.0]])
    done = onlinear.converge(
        MarginPerceptron(margin=1.5, normalized=True), X, [1, 1], classes=(-1, 1), max_passes=10**6
    )
    assert not done.halted
    assert done.passes < 100
    assert done.outcome is Outcome.OUT_OF_REACH
    assert "no separator has the margin 1.5 that the rule asks for" in done.reason


def test_what_was_seen_before_does_not_speak_of_new_examples():
    margin = MarginPerceptron(0.3, normalized=True)
    before = onlinear.converge(margin, *XOR, max_passes=20)
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, -1])
    assert onlinear.converge(margin, X, y, state=before, max_passes=10**5).halted


@pytest.mark.parametrize("selection", SELECTIONS)
def test_just_enough_updates(selection):
    done = onlinear.converge(
        Perceptron(), np.eye(12), np.ones(12), classes=(-1, 1), selection=selection, max_updates=12
    )
    assert done.halted
    assert done.updates == 12


def test_just_enough_passes():
    whole = onlinear.converge(Perceptron(), X, Y)
    short = onlinear.converge(Perceptron(), X, Y, max_passes=whole.passes - 1)
    assert short.halted
    batch = onlinear.batch_perceptron(X, Y)
    assert onlinear.batch_perceptron(X, Y, max_passes=batch.passes - 1).halted


def test_going_on_draws_the_orders_that_come_next():
    noisy = onlinear.datasets.noisy(0.1, n=50, d=4, flip=0.3, seed=1)
    options = {"selection": "random", "seed": 4}
    first = onlinear.converge(Perceptron(), *noisy, max_passes=3, **options)
    then = onlinear.converge(Perceptron(), *noisy, max_passes=3, state=first, **options)
    whole = onlinear.converge(Perceptron(), *noisy, max_passes=6, **options)
    assert np.array_equal(then.weights, whole.weights)


def test_the_worst_is_not_all_there_is_to_learn_from():
    """A rule that asks more of one class than of the other is not done when the worst example is right."""

    @rule
    class Demanding(NamedTuple):
        more: float = 10.0

        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return dot(w, x)

        def update(self, w, x, y, score, mistake):
            step = y * score <= (self.more if y > 0 else 0.0)
            if step:
                add(w, y, x)
            return step

    ends = [onlinear.converge(Demanding(), np.eye(2), [1, -1], selection=each) for each in SELECTIONS]
    assert [end.halted for end in ends] == [True] * 3
    assert [end.weights.tolist() for end in ends] == [[11.0, -1.0]] * 3


def test_winnow_converges_on_a_disjunction():
    data = onlinear.datasets.disjunction(3, 20, n=400, seed=1)
    done = onlinear.converge(Winnow(), *data)
    assert done.halted
    assert np.array_equal(done.predict(data.X), data.y)


def test_refusals():
    with pytest.raises(ParameterError, match="WeightedMajority learns from every example, so it never halts"):
        onlinear.converge(WeightedMajority(), np.sign(X), Y)
    with pytest.raises(ParameterError, match="selection is 'best'"):
        onlinear.converge(Perceptron(), X, Y, selection="best")
    for name in ("max_passes", "max_updates"):
        with pytest.raises(ParameterError, match=f"{name} is 0; it must be an integer, at least 1"):
            onlinear.converge(Perceptron(), X, Y, **{name: 0})
        with pytest.raises(ParameterError, match=f"{name} is 2.5; it must be an integer"):
            onlinear.converge(Perceptron(), X, Y, **{name: 2.5})
    with pytest.raises(ParameterError, match="seed is -1; it must be an integer, at least 0"):
        onlinear.converge(Perceptron(), X, Y, seed=-1)
    with pytest.raises(ParameterError, match="state must be a BatchRun"):
        onlinear.batch_perceptron(X, Y, state=onlinear.batch_perceptron(X, Y).state)
    with pytest.raises(ParameterError, match=r"the step of size schedule\(1\) = 1e\+308 overflows"):
        onlinear.batch_perceptron(100.0 * X, Y, schedule=lambda k: 1e308)
    bad = X.copy()
    bad[7, 2] = np.nan
    for selection in SELECTIONS:
        with pytest.raises(DataError, match="row 7, column 2: value nan"):
            onlinear.converge(Perceptron(), bad, Y, selection=selection)
    with pytest.raises(DataError, match="row 7, column 2: value nan"):
        onlinear.batch_perceptron(bad, Y)
    with pytest.raises(ParameterError, match="schedule is 'fast'"):
        onlinear.batch_perceptron(X, Y, schedule="fast")
    with pytest.raises(ParameterError, match=r"schedule\(2\) is -1.0; a step size must be finite"):
        onlinear.batch_perceptron(*XOR, schedule=lambda k: 3.0 - 2.0 * k)


@pytest.mark.parametrize("schedule", ["constant", "1/k", lambda k: 1 / (1 + k)])
def test_batch_perceptron_against_a_naive_one(schedule):
    X = np.array([[4, 1], [1, 3], [-2, 1], [-3, -2]]) / 4.0
    y = np.array([1, 1, -1, -1])
    eta = {"constant": lambda k: 1.0, "1/k": lambda k: 1.0 / k}.get(schedule, schedule)
    w, sizes = np.zeros(2), []
    while (wrong := y * (X @ w) <= 0).any():
        sizes.append(int(wrong.sum()))
        w = w + eta(len(sizes)) * (y[wrong, None] * X[wrong]).sum(axis=0)
    done = onlinear.batch_perceptron(X, y, schedule=schedule)
    assert done.halted
    assert done.batch_sizes == tuple(sizes)
    assert np.allclose(done.weights, w)
    assert done.updates == sum(sizes)


def test_batch_perceptron_gives_up_and_goes_on():
    first = onlinear.batch_perceptron(*XOR, fit_intercept=True, max_passes=5)
    assert not first.halted
    assert first.passes == len(first.batch_sizes) == 5
    on = onlinear.batch_perceptron(*XOR, fit_intercept=True, max_passes=3, state=first)
    assert len(on.batch_sizes) == 8
    whole = onlinear.batch_perceptron(*XOR, fit_intercept=True, max_passes=8)
    assert np.array_equal(on.weights, whole.weights)
    assert "batches" in repr(on)


@pytest.mark.parametrize("layout", ["dense", "csr", "fortran"])
def test_batch_sums_are_added_in_fixed_blocks(layout):
    """The step adds the sums of blocks of 4,096 rows, in order, whatever the layout and its own blocks."""
    rng = np.random.default_rng(3)
    n, d = 10_000, 3
    X, y = rng.standard_normal((n, d)), rng.choice([-1, 1], n)
    direction = np.zeros(d)
    for first in range(0, n, 4096):
        part = np.zeros(d)
        for x, label in zip(X[first : first + 4096], y[first : first + 4096], strict=True):
            part += label * x  # at the start every example is misclassified
        direction += part
    matrix = {"dense": X, "csr": scipy.sparse.csr_array(X), "fortran": np.asfortranarray(X)}[layout]
    run = onlinear.batch_perceptron(matrix, y, max_passes=1)
    assert run.weights.tobytes() == direction.tobytes()


def test_a_run_given_as_start_is_still_taken():
    first = onlinear.converge(Perceptron(), X, Y, max_updates=1)
    with pytest.warns(DeprecationWarning, match="use state=run"):
        again = onlinear.converge(Perceptron(), X, Y, start=first)
    assert again.weights.tobytes() == onlinear.converge(Perceptron(), X, Y, state=first).weights.tobytes()
