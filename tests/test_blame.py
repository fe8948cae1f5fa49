"""Faults of a rule are the rule's, with its round and its line; the data are blamed for what is in them alone."""

import math
from typing import NamedTuple

import numba
import numpy as np
import pytest
import scipy.sparse

import onlinear
import onlinear.river
from onlinear.data.labels import declared_classes
from onlinear.data.matrices import as_matrix
from onlinear.data.numbered import numbered_chunk
from onlinear.errors import DataError, RuleError
from onlinear.rules import (
    TOO_LARGE,
    MarginPerceptron,
    Perceptron,
    Winnow,
    add,
    dot,
    rule,
    size,
    squared_norm,
    trial,
    value,
)
from onlinear.runs.learner import Learner
from strategies import as_layout

X = np.arange(1.0, 31.0).reshape(10, 3)
Y = np.tile([1, -1], 5)


@pytest.fixture(params=["compiled", "plain"])
def engine(request, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", int(request.param == "plain"))


class Two(NamedTuple):
    w: np.ndarray
    total: np.ndarray


def made(score=None, update=None, *, start=None, promises=None):
    cls = NamedTuple("Mine", [("rate", float)])
    cls.start = start or (lambda self, n: np.zeros(n))
    cls.score = score or (lambda self, w, x: dot(w, x))
    cls.update = update or (lambda self, w, x, y, score, mistake: mistake)
    return rule(**promises or {})(cls)(1.0)


def takes_a_logarithm(self, w, x):
    return dot(w, x) + math.log(4.0 - trial(x))


def divides(self, w, x):
    return dot(w, x) + 1.0 / (4 - trial(x))


def subtracts_infinities(self, w, x):
    large = 1e308 * trial(x) * trial(x)
    return dot(w, x) + (large - large)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (takes_a_logarithm, r"failed in round 4.*math domain error, at .*test_blame.py:\d+: .*math.log"),
        (divides, r"failed in round 4: .*division by zero, at .*test_blame.py:\d+: .*4 - trial"),
        (subtracts_infinities, r"failed in round 2 \(row 1\): score\(\) returned nan, although its weights and the"),
    ],
)
def test_a_score_that_the_rule_spoils(engine, score, message):
    with pytest.raises(RuleError, match=rf"rule Mine\(rate=1.0\) {message}"):
        onlinear.run(made(score), X, Y)


def spoils_the_weights(self, w, x, y, score, mistake):
    w[0] = (1e308 * trial(x)) * 10.0
    return True


def test_a_state_that_the_rule_spoils(engine):
    with pytest.raises(RuleError, match=r"failed in or before round 1: w\[0\] is inf in its state"):
        onlinear.run(made(update=spoils_the_weights), X, Y)
    with pytest.raises(RuleError, match=r"failed in or before round 1: w\[0\] is inf in its state"):
        onlinear.run(made(update=spoils_the_weights, promises={"additive": True}), X, Y)


def divides_later(self, w, x, y, score, mistake):
    return 1.0 / (5 - trial(x)) > 0.0


def reads_beyond(self, w, x, y, score, mistake):
    w[trial(x) - 1] += 1.0
    return True


def steps_to_infinity(self, w, x, y, score, mistake):
    return 1e308 * trial(x)


@pytest.mark.parametrize(
    ("update", "classes", "message"),
    [
        (divides_later, None, r"failed in round 5: .*division by zero, at .*test_blame.py:\d+: return 1.0 / \(5"),
        (divides_later, range(3), r"failed in round 5: .*division by zero, at .*test_blame.py:\d+: return 1.0 / \(5"),
        (reads_beyond, None, r"failed in round 4: index .*out of bounds.*, at .*test_blame.py:\d+: w\[trial"),
        (steps_to_infinity, None, r"failed in round 2: update\(\) returned a step that is negative or not finite"),
    ],
)
def test_faults_of_an_update_name_the_round_and_the_line(engine, update, classes, message):
    promises = {"linear": True}
    y = Y if classes is None else np.arange(10) % 3
    with pytest.raises(RuleError, match=message):
        onlinear.run(made(update=update, promises=promises), X, y, classes=classes)


def test_the_round_counts_on_from_a_state(engine):
    mine = made(update=divides_later)
    half = onlinear.run(mine, X[:3], Y[:3])
    with pytest.raises(RuleError, match="failed in round 5: "):
        onlinear.run(mine, X[3:], Y[3:], state=half)


def test_scoring_that_fails_is_the_rules_fault(engine):
    run = onlinear.run(made(divides), X[:3], Y[:3])
    with pytest.raises(RuleError, match=r"failed to score an example after 3 rounds: .*zero, at .*test_blame"):
        run.predict(X)
    face = onlinear.river.OnlineClassifier(made(subtracts_infinities))
    face.learn_one({"a": 1.0}, True)
    with pytest.raises(RuleError, match=r"failed in round 2 \(row 0\): score\(\) returned nan"):
        face.learn_one({"a": 1.0}, True)


def weighs_by_length(self, w, x):
    return dot(w, x) + squared_norm(x)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(
    ("mine", "data", "message"),
    [
        (Perceptron(), [[1.0, 2.0], [np.nan, 1.0]], "row 1, column 0: value nan; inputs must be finite"),
        (made(subtracts_infinities), [[1.0, 2.0], [np.inf, 1.0]], "row 1, column 0: value inf; inputs must be finite"),
        (Perceptron(), [[1e200, 2.0], [1e200, 1.0]], "row 1: its score overflows; scale the inputs"),
        (Perceptron(), [[1.5e308, 2.0], [-1.5e308, 1.0], [1.0, 1.0]], "row 1: its score overflows; scale the inputs"),
        (made(weighs_by_length), [[1.0, 2.0], [1e200, 1.0]], "row 1: its score overflows; scale the inputs"),
    ],
)
def test_data_are_blamed_for_what_is_in_them(engine, mine, data, message, layout):
    Z, y = as_layout(np.array(data), layout), [1, -1, 1][: len(data)]
    with pytest.raises(DataError, match=message):
        onlinear.run(mine, Z, y)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("labels", [[1, -1, 1], [0, 1, 2]], ids=["two classes", "three"])
def test_the_squared_norm_of_the_weights_does_not_overflow_unnoticed(engine, layout, labels):
    Z = np.array([[1.0, 2.0], [3e154, 2.0], [3e154, 1.0]])
    with pytest.raises(DataError, match="row 1: its values are too large to learn from; scale the inputs"):
        onlinear.run(MarginPerceptron(1.0, normalized=True), as_layout(Z, layout), labels)
    learned = onlinear.run(MarginPerceptron(1.0, normalized=True), as_layout(Z / 1e10, layout), labels)
    assert np.isfinite(learned.state.arrays.norm).all()


def test_what_update_refuses_is_not_counted(engine):
    def refuses(self, w, x, y, score, mistake):
        if trial(x) > 2:
            return TOO_LARGE
        add(w, y, x)
        return mistake

    learner = Learner(made(update=refuses), declared_classes([-1, 1]), fit_intercept=False, normalize=False)
    learner.begin(3)
    chunk = numbered_chunk(as_matrix(X), Y)
    assert learner.learn(chunk.block(slice(0, 10)), chunk.codes(learner.classes, slice(0, 10))) == 2
    assert (learner.rounds, learner.updates, learner.mistakes) == (2, 2, 2)
    assert isinstance(learner.refuse(chunk, 2), DataError)


def test_a_state_spoilt_in_the_last_round_is_noticed(engine):
    def spoils(self, state, x, y, score, mistake):
        state.total[0] += 1e308
        return 0.0

    mine = made(
        score=lambda self, state, x: dot(state.w, x),
        update=spoils,
        start=lambda self, n: Two(np.zeros(n), np.zeros(1)),
    )
    onlinear.run(mine, X[:1], Y[:1], classes=[-1, 1])
    with pytest.raises(RuleError, match=r"failed in or before round 2: total\[0\] is inf in its state"):
        onlinear.run(mine, X[:2], Y[:2])


def test_weights_that_large_examples_have_spoilt_are_the_datas_fault(engine):
    big = np.array([[1.5e308, 0.0], [0.0, 1.0], [1.5e308, 0.0], [0.0, 1.0]])
    zeros = made(lambda self, w, x: 0.0, Perceptron.update, promises={"additive": True})
    with pytest.raises(
        DataError, match=r"in or before round 4 an example is too large: w\[0\] is inf; scale the inputs"
    ):
        onlinear.run(zeros, big, [1, -1, 1, -1])
    with pytest.raises(DataError, match="its score overflows; scale the inputs"):
        onlinear.run(Perceptron(), big * 0.5, [1, -1, 1, 1], start=[1.7e308, 1.0])


def assigns_a_parameter(self, w, x, y, score, mistake):
    self.rate *= 0.9
    return mistake


def assigns_something_new(self, w, x, y, score, mistake):
    self.steps = 1.0
    return mistake


def assigns_a_field(self, state, x, y, score, mistake):
    state.total += state.w
    return mistake


def assigns_a_new_field(self, state, x, y, score, mistake):
    state.w = 0.9 * state.w
    return mistake


def binds_the_state_anew(self, w, x, y, score, mistake):
    w = 0.9 * w
    return mistake


def forgets_to_return(self, w, x, y, score, mistake):  # noqa: RET503
    if mistake:
        add(w, y, x)
        return True


def returns_nothing(self, w, x, y, score, mistake):
    add(w, y, x)


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (assigns_a_parameter, r"update\(\) assigns to self.rate; hyper-parameters do not change.*: self.rate \*= 0.9"),
        (assigns_something_new, r"update\(\) assigns to self.steps; hyper-parameters do not change"),
        (
            assigns_a_field,
            r"update\(\) assigns to the field total of the state; .*total = state.total; total \+= …, at .* \+=",
        ),
        (assigns_a_new_field, r"update\(\) assigns to the field w of the state; write into its array instead"),
        (binds_the_state_anew, r"update\(\) assigns a new value to w, .*changes the variable and not the state; .*0.9"),
        (forgets_to_return, r"update\(\) returns None on some path; it must return the size of the step, or whether"),
        (returns_nothing, r"update\(\) returns None on some path"),
    ],
)
def test_what_can_be_seen_in_the_code_is_refused_before_round_one(update, message):
    with pytest.raises(RuleError, match=f"rule Mine: {message}"):
        made(update=update)


def writes(self, w, x):
    w[0] = 1.0
    return dot(w, x)


def adds(self, w, x):
    add(w, 1.0, x)
    return dot(w, x)


def scales(self, w, x):
    w *= 0.9
    return dot(w, x)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (scales, r"score\(\) writes to an array; it must leave the state unchanged.*: w \*= 0.9"),
        (writes, r"score\(\) writes to an array; it must leave the state unchanged.*: w\[0\] = 1.0"),
        (adds, r"score\(\) calls add\(\); it must leave the state unchanged"),
        (lambda self, w, x: None, r"score\(\) returns None on some path; it must return the score"),
    ],
)
def test_a_score_that_writes_is_refused_before_round_one(score, message):
    with pytest.raises(RuleError, match=f"rule Mine: {message}"):
        made(score)


def test_an_infinity_that_the_rule_starts_with_is_no_fault(engine):
    mine = made(
        score=lambda self, state, x: dot(state.w, x),
        update=lambda self, state, x, y, score, mistake: mistake,
        start=lambda self, n: Two(np.full(n, 1e200), np.full(1, np.inf)),
    )
    with pytest.raises(DataError, match="row 1: its score overflows; scale the inputs"):
        onlinear.run(mine, [[1.0], [1e200]], [1, -1])


def test_no_false_alarms(engine):
    def score(self, state, x):
        total = 0.0
        for k in range(size(x)):
            v = value(x, k)
            total += v
        w = state.w
        if total > 1e9:
            return -1.0
        elif total < -1e9:  # noqa: RET505  # every path returns
            return 1.0
        else:
            return dot(w, x)

    def update(self, state, x, y, score, mistake):
        w = state.w
        state.total[0] += 1.0
        state.total[:] = state.total[0]
        y = 2.0 * y
        while mistake:
            add(w, y, x)
            return True
        return False

    mine = made(score, update, start=lambda self, n: Two(np.zeros(n), np.zeros(1)))
    assert onlinear.run(mine, X, Y).state.arrays.total[0] == 10.0

    def in_place(self, w, x, y, score, mistake):
        w *= 0.5
        return mistake

    made(update=in_place)


def steps_far(self, w, x, y, score, mistake):
    if mistake:
        add(w, 1e308 * y, x)
    return mistake


@pytest.mark.parametrize("options", [{}, {"normalize": True}], ids=["as it is", "normalized"])
@pytest.mark.parametrize("classes", [None, range(3)], ids=["two", "three"])
def test_weights_that_the_rule_makes_huge_are_its_fault(engine, options, classes):
    y = Y if classes is None else np.arange(10) % 3
    mine = made(update=steps_far, promises={"linear": True})
    with pytest.raises(RuleError, match=r"rule Mine\(rate=1.0\) failed in (or before )?round \d+"):
        onlinear.run(mine, np.vstack([X] * 30), np.tile(y, 30), classes=classes, **options)


def test_winnow_that_overflows_is_not_the_fault_of_zeros_and_ones():
    with pytest.raises(RuleError, match=r"round 2 \(row 1\): the score overflows, .*weights are as large as 1e\+308"):
        onlinear.run(Winnow(1e308, 1e308), np.ones((3, 2)), [1, 1, 0])


@pytest.mark.parametrize("classes", [None, range(3)])
def test_weights_that_start_as_nan_are_the_rules_fault(engine, classes):
    mine = made(start=lambda self, n: np.full(n, np.nan), promises={"linear": True})
    with pytest.raises(RuleError, match=r"rule Mine: start\(\d+\) returned weights that are not finite"):
        onlinear.run(mine, X, Y if classes is None else np.arange(10) % 3, classes=classes)


def test_a_single_weight_that_starts_as_nan_is_found_among_many(engine):
    def start(self, n):
        w = np.zeros(n)
        w[n - 1] = np.nan
        return w

    with pytest.raises(RuleError, match=r"rule Mine: start\(9000\) returned weights that are not finite"):
        onlinear.run(made(start=start), scipy.sparse.csr_array((2, 9000)), [0, 1])


def test_a_last_round_that_spoils_the_state(engine):
    with pytest.raises(RuleError, match=r"failed in or before round 1: w\[0\] is inf in its state"):
        onlinear.run(made(update=spoils_the_weights), X[:1], Y[:1], classes=(-1, 1))


def gives_up(self, w, x, y, score, mistake):
    if trial(x) == 3:
        raise RuntimeError("enough")
    return mistake


def asserts(self, w, x, y, score, mistake):
    if trial(x) == 3:
        raise AssertionError("never")
    return mistake


@pytest.mark.parametrize("update", [gives_up, asserts])
def test_whatever_a_rule_raises_names_the_round(engine, update):
    with pytest.raises(RuleError, match=r"failed in round 3: .*test_blame.py:\d+"):
        onlinear.run(made(update=update), X, Y)


def test_what_start_and_for_width_raise():
    def start(self, n):
        raise ValueError("no idea")

    with pytest.raises(RuleError, match=r"rule Mine: start\(3\) failed: ValueError: no idea"):
        onlinear.run(made(start=start), X, Y)
    cls = type(made())
    cls.for_width = lambda self, n: 1 / 0
    with pytest.raises(RuleError, match=r"for_width\(3\) failed: ZeroDivisionError: .*, at .*test_blame"):
        onlinear.run(cls(1.0), X, Y)


def bumps(w):
    w[0] += 1.0


def writes_through_a_variable(self, state, x):
    w = state.w
    w *= 0.5
    return dot(w, x)


def writes_in_a_function(self, state, x):
    bumps(state.w)
    return dot(state.w, x)


def fills(self, state, x):
    state.w.fill(1.0)
    return dot(state.w, x)


def writes_where_a_weight_is_positive(self, state, x):
    if state.w[0] > 0.0:
        bumps(state.w)
    return dot(state.w, x)


def writes_at_the_start(self, state, x):
    if state.w[0] == state.total[0] == 0.0:
        bumps(state.w)
    return dot(state.w, x)


@pytest.mark.parametrize(
    "score",
    [writes_through_a_variable, writes_in_a_function, fills, writes_where_a_weight_is_positive, writes_at_the_start],
)
def test_a_score_that_writes_by_other_means_is_refused_before_round_one(engine, score):
    with pytest.raises(
        RuleError, match=r"rule Mine: score\(\) writes to (an array|the state).* may write, at .*test_blame"
    ):
        onlinear.run(made(score, start=lambda self, n: Two(np.zeros(n), np.zeros(1))), X, Y)


@pytest.mark.parametrize("score", [writes_in_a_function, writes_where_a_weight_is_positive])
def test_a_score_that_writes_is_refused_where_no_feature_is_known_yet(score):
    model = onlinear.river.OnlineClassifier(
        made(score, start=lambda self, n: Two(np.zeros(n), np.zeros(1))), fit_intercept=False
    )
    with pytest.raises(RuleError, match=r"score\(\) writes to (an array|the state)"):
        model.learn_one({"a": 1.0}, True)


def binds_an_array_anew(self, state, x, y, score, mistake):
    w = state.w
    w = 0.9 * w
    return mistake


def counts_on_itself(self, state, x, y, score, mistake):
    self.t += 1
    return mistake


def adds_to_a_field_named_like_a_parameter(self, state, x, y, score, mistake):
    state.rate += state.w
    return mistake


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (binds_an_array_anew, r"assigns a new value to w, which changes the variable and not the state"),
        (counts_on_itself, r"assigns to self.t; hyper-parameters do not change"),
        (adds_to_a_field_named_like_a_parameter, r"assigns to the field rate of the state"),
    ],
)
def test_the_right_owner_is_named(update, message):
    with pytest.raises(RuleError, match=rf"rule Mine: update\(\) {message}"):
        made(update=update)


def test_a_variable_may_be_used_again(engine):
    def score(self, state, x):
        state = state.w
        return dot(state, x)

    def update(self, state, x, y, score, mistake):
        state, total = state
        total[0] += 1.0
        if mistake:
            add(state, y, x)
        return mistake

    mine = made(score, update, start=lambda self, n: Two(np.zeros(n), np.zeros(1)))
    run = onlinear.run(mine, X, Y)
    assert np.array_equal(run.weights, onlinear.run(Perceptron(), X, Y).weights)
    assert run.state.arrays.total[0] == 10.0
