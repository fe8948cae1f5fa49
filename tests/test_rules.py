"""What a rule is: hyper-parameters in range, methods of the right shape, and one's own like the built-in ones."""

import math
import pickle
from itertools import product
from typing import NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, note

import naive
import onlinear
from onlinear.engine.protocol import METHODS
from onlinear.errors import ParameterError, RuleError
from onlinear.rules import (
    AROW,
    SCW,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
    add,
    dot,
    index,
    rule,
    size,
    squared_norm,
    value,
)
from onlinear.rules.registry import ONLINE
from strategies import as_layout, in_blocks, real

X, Y = onlinear.datasets.separable(0.1, n=50, d=5, seed=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Perceptron(tie="maybe"), "Perceptron: tie is 'maybe'"),
        (lambda: MarginPerceptron(margin=-1), r"margin is -1.0; it must be a number with 0.0 <= margin"),
        (lambda: MarginPerceptron(margin=float("nan")), "margin is nan"),
        (lambda: MarginPerceptron(margin="wide"), "margin is 'wide'"),
        (lambda: Winnow(beta=0), "Winnow: beta is 0.0; it must be a number with 0.0 < beta"),
        (lambda: Winnow(threshold=-2), "threshold is -2"),
        (lambda: WeightedMajority(eta=1.5), "eta is 1.5; it must be a number with 0.0 < eta <= 1.0"),
        (lambda: RandomizedWeightedMajority(eta=1), "eta is 1.0; it must be a number with 0.0 < eta < 1.0"),
        (lambda: RandomizedWeightedMajority(eta="always"), "eta is 'always'"),
        (lambda: RandomizedWeightedMajority(seed=-1), "seed is -1"),
        (lambda: Winnow()._replace(beta=-1.0), "beta is -1.0"),
        (lambda: AROW(full=True), "AROW: full is True; it must be the number of features with a full matrix, from 0"),
        (lambda: SCW(full=np.False_), "SCW: full is False; it must be the number of features"),
        (lambda: AROW(full=2049), r"full is 2049; .* from 0 \(the diagonal only\) to 2,048"),
        (lambda: SCW(full=-1), "full is -1"),
        (lambda: AROW(full=8.0), "full is 8.0"),
    ],
)
def test_hyper_parameters_out_of_range(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_defaults():
    """They are part of the interface: results depend on them."""
    made = {name: cls() for name, cls in ONLINE.items() if cls is not MarginPerceptron}
    tie = "tie='mistake'"
    assert {name: repr(rule).removeprefix(name) for name, rule in made.items()} == {
        "AROW": f"(r=1.0, full=0, {tie})",
        "AdaGrad": f"(eta=0.5, loss='hinge', {tie})",
        "AveragedPerceptron": f"(margin=0.0, progressive=True, {tie})",
        "FTRL": f"(alpha=0.1, beta=1.0, l1=0.0, l2=0.0, {tie})",
        "FixedShare": f"(eta=0.5, share=0.01, {tie})",
        "NormalizedAdaGrad": f"(eta=0.5, loss='logistic', {tie})",
        "OnlineGradient": f"(eta0=1.0, power=0.5, loss='hinge', {tie})",
        "PassiveAggressive": f"(C=1.0, variant='PA-I', {tie})",
        "Perceptron": f"({tie})",
        "RandomizedWeightedMajority": "(eta=0.5, seed=0)",
        "SCW": f"(eta=0.9, C=1.0, variant='SCW-I', full=0, {tie})",
        "WeightedMajority": f"(eta=0.5, {tie})",
        "Winnow": "(beta=1.0, threshold=None)",
    }


def test_numbers_of_any_kind_become_plain_ones():
    assert repr(Winnow(beta=np.float32(2), threshold=5)) == "Winnow(beta=2.0, threshold=5.0)"
    assert repr(RandomizedWeightedMajority(0.5, seed=np.int64(3))) == "RandomizedWeightedMajority(eta=0.5, seed=3)"
    assert pickle.loads(pickle.dumps(Winnow(2))) == Winnow(2.0)  # noqa: S301


@rule(additive=True)
class Relaxation(NamedTuple):
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


@rule(additive=True)
class OwnPerceptron(NamedTuple):
    """The perceptron once more, entry by entry, with a helper, a constant and a method of its own."""

    rate: float = 1.0

    def start(self, n):
        return OwnState(np.zeros(n), np.zeros(1))

    def step(self, y):
        return scaled(self.rate, y)

    def score(self, state, x):
        total = 0.0
        for k in range(size(x)):
            total += state.w[index(x, k)] * value(x, k)
        return total

    def update(self, state, x, y, score, mistake):
        if mistake:
            state.steps[0] += 1.0
            for k in range(size(x)):
                state.w[index(x, k)] += self.step(y) * value(x, k)
        return mistake


class OwnState(NamedTuple):
    w: np.ndarray
    steps: np.ndarray


UNIT = 1.0


def scaled(rate, y):
    return rate * y * UNIT


@given(data=real())
def test_own_rule_gets_what_the_built_in_ones_get(data):
    X, y = data
    oracles = {intercept: naive.perceptron(X, y, intercept=intercept) for intercept in (False, True)}
    layouts = ["dense", "float32", "fortran", "csr", "csr, int64 indices"]
    for layout, block, (intercept, oracle) in product(layouts, [1, 7, None], oracles.items()):
        note(f"{layout}, blocks of {block}")
        Z = as_layout(X, layout)
        stream = (Z, y) if block is None else (in_blocks(Z, y, block),)
        run = onlinear.run(OwnPerceptron(), *stream, fit_intercept=intercept, trace=True)
        assert run.trace.mistakes.tolist() == oracle.mistakes
        assert [*run.weights, *([run.intercept] if intercept else [])] == oracle.weights
        assert run.state.arrays.steps[0] == run.updates
        built_in = onlinear.run(Perceptron(), Z, y, fit_intercept=intercept)
        assert run.margin_upper_bound == built_in.margin_upper_bound


def test_steps_of_any_size():
    data = onlinear.datasets.separable(0.1, n=2000, d=10, seed=0)
    run = onlinear.run(Relaxation(), *data)
    # With a factor of 1 it is PA: M ≤ R²‖u‖² where y⟨u,x⟩ ≥ 1. Its margin bound adds up these steps.
    same = onlinear.run(PassiveAggressive(variant="PA"), *data)
    assert (run.weights.tolist(), run.margin_upper_bound) == (same.weights.tolist(), same.margin_upper_bound)
    assert run.mistakes <= 1 / 0.1**2
    assert run.margin_upper_bound >= 0.1
    assert run.updates > run.mistakes
    zeros = onlinear.run(Relaxation(), [[1.0, 0.0], [0.0, 0.0]], [1, -1])
    assert zeros.updates == 1


def method(name):
    def broken(**methods):
        base = {
            "start": lambda self, n: np.zeros(n),
            "score": lambda self, w, x: dot(w, x),
            "update": lambda self, w, x, y, score, mistake: mistake,
        }
        made = NamedTuple(name, [("rate", float)])
        for key, function in (base | methods).items():
            if function is not None:
                setattr(made, key, function)
        return made

    return broken


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"update": None}, r"rule Broken has no method update\(self, state, x, y, score, mistake\)"),
        ({"start": 3}, r"rule Broken has no method start\(self, n\)"),
        ({"score": lambda self, w: 0.0}, r"rule Broken: the method is score\(self, state, x\), not score\(self, w\)"),
        ({"predict": lambda self, score: 1}, r"rule Broken: the method is predict\(self, score, t\)"),
    ],
)
def test_faulty_definitions_are_named(methods, message):
    with pytest.raises(RuleError, match=message):
        rule(method("Broken")(**methods))


def test_rules_do_not_inherit():
    class Sub(Perceptron):
        pass

    with pytest.raises(RuleError, match=r"rule Sub is not a typing.NamedTuple of its own; rules do not inherit"):
        rule(Sub)
    with pytest.raises(RuleError, match="is not a rule"):
        onlinear.run(Sub(), X, Y)


def test_fields_may_not_take_the_engines_names():
    class Named(NamedTuple):
        inputs: float = 1.0

    for name in ("start", "score", "update"):
        setattr(Named, name, getattr(Perceptron, name))
    with pytest.raises(RuleError, match="rule Named: a field cannot be called inputs"):
        rule(Named)


def test_an_array_that_is_too_short_is_refused():
    class Two(NamedTuple):
        w: np.ndarray
        z: np.ndarray

    def update(self, state, x, y, score, mistake):
        add(state.z, y, x)
        return mistake

    faulty = rule(
        method("Faulty")(
            start=lambda self, n: Two(np.zeros(n), np.zeros(1)),
            score=lambda self, state, x: dot(state.w, x),
            update=update,
        )
    )
    with pytest.raises(RuleError, match=r"failed in round 1: dot\(\) or add\(\) with an array that has fewer entries"):
        onlinear.run(faulty(1.0), X, Y)


def test_an_index_out_of_bounds_is_refused():
    def update(self, w, x, y, score, mistake):
        w[w.size + 5] += 1.0
        return True

    with pytest.raises(RuleError, match=r"failed in round 1: index .*is out of bounds"):
        onlinear.run(rule(method("Faulty")(update=update))(1.0), X, Y)


def test_array_fields_are_read_as_they_are_written():
    @rule
    class Costs(NamedTuple):
        costs: np.ndarray

        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return dot(w, x)

        def update(self, w, x, y, score, mistake):
            add(w, self.costs[1] * y, x)
            return True

    strided = np.array([1.0, 99.0, 2.0, 99.0])[::2]
    run = onlinear.run(Costs(strided), np.eye(2), [0, 1])
    assert run.weights.tolist() == [-2.0, 2.0]


def test_a_start_that_is_not_zero_is_taken_into_account():
    def away(self, n):
        return np.full(n, -1.0)

    steady = rule(additive=True)(method("Steady")(start=away, update=Perceptron.update))
    run = onlinear.run(steady(1.0), [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], [1, 1, 1], classes=(-1, 1))
    assert run.updates == 2
    assert run.margin_upper_bound == pytest.approx(1.0)
    grown = onlinear.run(
        steady(1.0), [([[1.0]], [1]), (as_layout(np.array([[1.0, 0.5]]), "csr"), [1])], classes=(-1, 1)
    )
    exact = np.hypot(2.0, 0.5) / 2
    assert grown.margin_upper_bound == pytest.approx(exact)


def test_the_width_a_rule_sees_is_the_width_there_is():
    @rule
    class Normed(NamedTuple):
        rate: float = 1.0

        def start(self, n):
            return np.ones(n)

        def score(self, w, x):
            return dot(w, x) / w.size

        def update(self, w, x, y, score, mistake):
            return mistake

    blocks = [(as_layout(np.eye(4), "csr"), [1, -1, 1, -1]), (as_layout(np.eye(5), "csr"), [1, -1, 1, -1, 1])]
    run = onlinear.run(Normed(), blocks, trace=True)
    assert run.trace.scores.tolist() == [1 / 4] * 4 + [1 / 5] * 5


def test_an_own_rule_over_advice():
    @rule(inputs="advice")
    class Count(NamedTuple):
        rate: float = 1.0

        def start(self, n):
            return np.ones(n)

        def score(self, w, x):
            return dot(w, x)

        def update(self, w, x, y, score, mistake):
            return False

    run = onlinear.run(Count(), np.where(X > 0, 1.0, -1.0), Y)
    assert run.expert_mistakes is run.regret is run.expected_mistakes is None
    assert "Count" in repr(run)


def test_a_rule_is_a_named_tuple():
    with pytest.raises(RuleError, match=r"rule Plain is not a typing.NamedTuple of its own"):

        @rule
        class Plain:
            pass


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda self, n: [0.0] * n, "rule Broken: start.. returned list"),
        (lambda self, n: np.zeros(n + 1), r"rule Broken: start\(5\) returned weights of shape \(6,\)"),
        (lambda self, n: np.zeros(n, dtype=int), "rule Broken: start.. must return C-contiguous float64 arrays"),
    ],
)
def test_faulty_starts_are_named(start, message):
    faulty = rule(method("Broken")(start=start))
    with pytest.raises(RuleError, match=message):
        onlinear.run(faulty(1.0), X, Y)


def test_what_is_not_a_rule():
    with pytest.raises(RuleError, match=r"Perceptron is a class; a rule is an instance of it: Perceptron\(...\)"):
        onlinear.run(Perceptron, X, Y)
    with pytest.raises(RuleError, match="is not a rule; decorate its class"):
        onlinear.run((1, 2), X, Y)


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (lambda self, w, x, y, score, mistake: 1.0 / (self.rate - self.rate), "division by zero"),
        (lambda self, w, x, y, score, mistake: -self.rate, "returned a step that is negative or not finite"),
        (lambda self, w, x, y, score, mistake: score * float("nan"), "returned a step that is negative or not"),
    ],
)
def test_faults_in_a_round_name_the_rule(update, message):
    faulty = rule(method("Faulty")(update=update))
    with pytest.raises(RuleError, match=rf"rule Faulty\(rate=1.0\) failed in round 1: .*{message}"):
        onlinear.run(faulty(1.0), X, Y)


@given(
    data=real(max_rows=20, max_width=4),
    weights=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 3.0]), min_size=20, max_size=20),
    normalized=st.booleans(),
)
def test_the_margin_perceptron_keeps_the_norm_of_its_weights(data, weights, normalized):
    X, y = data
    run = onlinear.run(MarginPerceptron(0.5, normalized=normalized), X, y, sample_weight=weights[: len(y)])
    w, norm = run.state.arrays
    # Multiples of 2⁻⁶, small enough that every sum is exact.
    assert norm[0] + norm[1] == float(w @ w) or not run.updates


def test_a_weight_of_winnow_can_always_come_back():
    ones = np.ones((1, 2))
    down = onlinear.run(Winnow(threshold=0.5), np.vstack([ones] * 1200), [0] * 1200, classes=(0, 1), start=[1.0, 1e308])
    assert down.weights[0] == 2.0**-1022
    up = onlinear.run(Winnow(threshold=0.5), [[1.0, 0.0]] * 1100, [1] * 1100, state=down)
    assert up.weights[0] > 0.5


@pytest.mark.parametrize("layout", ["csr", "coo", "csc"])
def test_entries_that_stand_twice_are_added(layout):
    rows, columns, values = [0, 0, 1, 1, 1], [2, 2, 0, 1, 0], [1.0, 2.0, -1.0, 4.0, -2.0]
    X = scipy.sparse.coo_array((values, (rows, columns)), shape=(2, 3))
    if layout == "csr":
        X = scipy.sparse.csr_array((values, columns, [0, 2, 5]), shape=(2, 3))
    elif layout == "csc":
        X = scipy.sparse.csc_array(([-1.0, -2.0, 4.0, 1.0, 2.0], [1, 1, 1, 0, 0], [0, 2, 3, 5]), shape=(2, 3))
    dense = np.array([[0.0, 0.0, 3.0], [-3.0, 4.0, 0.0]])
    run, expected = (onlinear.run(Perceptron(), Z, [1, -1]) for Z in (X, dense))
    assert run.weights.tolist() == expected.weights.tolist() == [3.0, -4.0, 3.0]
    assert run.decision_function(X).tolist() == [9.0, -25.0]
    assert onlinear.PerceptronClassifier(fit_intercept=False).partial_fit(X, [1, -1], [-1, 1]).coef_.tolist() == [
        [3.0, -4.0, 3.0]
    ]
    assert onlinear.theory.radius(X) == 5.0


def test_the_allowance_for_rounding_counts_every_step():
    """The sum of λ‖x‖, from which the margin bound's allowance for rounding follows; of pairs of classes, λ·√2‖x‖."""
    X, y = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25], [-2.0, 1.0], [4.0, 4.0]]), [0, 1, 2, 0, 1]
    for classes, length in ((range(3), np.sqrt(2.0)), ((0, 1), 1.0)):
        labels = np.minimum(y, len(classes) - 1)
        run = onlinear.run(Perceptron(), X, labels, classes=classes, trace=True)
        assert run.updates > 1
        rows = np.asarray(run.trace.updates) - run.trace.first_round
        assert run.state.reach == pytest.approx(length * np.linalg.norm(X[rows], axis=1).sum())


def test_the_margin_perceptron_knows_the_norm_of_its_first_weights():
    # ⟨w,x⟩ = 1/2 is right, but not by 0.9·‖w‖.
    run = onlinear.run(MarginPerceptron(0.9, normalized=True), [[0.5, 0.0]], [1], classes=(0, 1), start=[1.0, 0.0])
    assert (run.updates, run.mistakes) == (1, 0)


def running_norm(run):
    return math.sqrt(run.state.arrays.norm[0] + run.state.arrays.norm[1])


def test_the_norm_of_a_long_run():
    X, y = onlinear.datasets.noisy(n=5000, d=30, seed=0)
    run = onlinear.run(MarginPerceptron(0.5, normalized=True), X, y, fit_intercept=True)
    norm = math.hypot(*run.weights, run.intercept)
    assert running_norm(run) == pytest.approx(norm, rel=1e-13)
    # A bound on the error since the start, when ‖w‖ was 0: it is small, but not nothing.
    assert 1e-13 * norm**2 < run.state.arrays.norm[2] < 2**-30 * norm**2
    # The unit does not matter.
    short, long = (
        onlinear.run(MarginPerceptron(unit, normalized=True), unit * X, y).state.arrays.norm
        for unit in (2.0**-9, 2.0**30)
    )
    assert (short * 2.0**78).tobytes() == long.tobytes()


def test_the_margin_perceptron_computes_the_norm_afresh_after_cancellation():
    """A huge row comes and goes. To the running sum ‖w‖ is 0, and nothing is too little, until round 1024."""
    X = np.array([[2.0**30, 1.0], [-(2.0**30), 1.0], *[[0.0, 1.0 / 3.0]] * 1500])
    y = np.ones(len(X), dtype=int)
    for rounds, updates in ((1023, 2), (1024, 3), (1100, 79)):
        run = onlinear.run(MarginPerceptron(1e9, normalized=True), X[:rounds], y[:rounds], classes=(-1, 1))
        assert run.updates == updates
        doubt, square = run.state.arrays.norm[2], float(np.square(run.weights).sum())
        assert (doubt < 2**-30 * square) == (updates > 2)
        assert abs(running_norm(run) ** 2 - square) <= doubt
    assert running_norm(run) == pytest.approx(math.hypot(*run.weights), rel=1e-13)


def test_the_norm_does_not_depend_on_weights_that_are_zero():
    X, y = onlinear.datasets.noisy(n=3000, d=20, seed=1)
    X = scipy.sparse.csr_array(X * 10.0 ** np.arange(-10, 10))
    narrow, wide = (onlinear.run(MarginPerceptron(0.5), X, y, n_features=n) for n in (20, 9000))
    assert narrow.weights.tobytes() == wide.weights[:20].tobytes()
    assert narrow.state.arrays.norm.tobytes() == wide.state.arrays.norm.tobytes()


def test_the_docstring_of_rule_lists_every_method():
    for name in METHODS:
        assert f"``{name}(self" in rule.__doc__
