"""The protocol of a rule: one table, and what was added to it: `linear`, `final` and `trial`."""

import inspect
import math
import types
from typing import NamedTuple

import numba
import numpy as np
import pytest

import onlinear
import onlinear.river
from onlinear.engine.fingerprint import fingerprint, methods, own_fingerprint
from onlinear.engine.protocol import METHODS, NOT_COMPILED
from onlinear.errors import ParameterError, RuleError
from onlinear.rules import Perceptron, Rule, add, dot, rule, trial, weight
from onlinear.rules.registry import BUILT_IN, ONLINE
from onlinear.rules.rule import is_rule
from strategies import as_layout, in_blocks

RNG = np.random.default_rng(5)
X = RNG.integers(-64, 65, (60, 9)) / 16.0
Y = np.where(X @ RNG.normal(size=9) + RNG.normal(size=60) > 0, 1, -1)
KINDS = RNG.integers(0, 3, 60)


@pytest.fixture(params=["compiled", "plain"])
def engine(request, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", int(request.param == "plain"))


class Averages(NamedTuple):
    w: np.ndarray
    late: np.ndarray
    """Σ (t−1)·a·x over the updates a·x of the rounds t."""
    t: np.ndarray


@rule(additive=True, weighted=True, linear=True)
class Averaged(NamedTuple):
    """The averaged perceptron: it predicts with the mean of the weights after each round."""

    rate: float = 1.0

    def start(self, n):
        return Averages(np.zeros(n), np.zeros(n), np.zeros(1))

    def score(self, state, x):
        return dot(state.w, x)

    def update(self, state, x, y, score, mistake):
        state.t[0] = trial(x)
        if not mistake:
            return 0.0
        a = self.rate * weight(x)
        add(state.w, a * y, x)
        add(state.late, (trial(x) - 1.0) * a * y, x)
        return a

    def final(self, state):
        return state.w - state.late / max(1.0, state.t[0])


def naive(X, y, *, intercept=False, classes=None):
    """Return the last weights and their mean, by the book: a row for each class, the intercept first."""
    X = np.hstack([np.ones((len(X), int(intercept))), X])
    k = 1 if classes is None else classes
    w, total = np.zeros((k, X.shape[1])), np.zeros((k, X.shape[1]))
    for x, label in zip(X, y, strict=True):
        scores = w @ x
        if classes is None:
            w[0] += (label * scores[0] <= 0) * label * x
        else:
            rival = max((r for r in range(k) if r != label), key=lambda r: (scores[r], -r))
            if scores[label] <= scores[rival]:
                w[label] += x
                w[rival] -= x
        total += w
    return w, total / len(X)


def test_the_table_and_the_typing_protocol_agree():
    required = {name for name, method in METHODS.items() if method.required}
    assert {name for name in vars(Rule) if inspect.isfunction(getattr(Rule, name)) and name[0] != "_"} == required
    for name in required:
        found = tuple(inspect.signature(getattr(Rule, name)).parameters)
        assert found == ("self", *METHODS[name].parameters)
    for method in METHODS.values():
        if method.default is not None:
            assert tuple(inspect.signature(method.default).parameters) == ("self", *method.parameters)


def test_the_documentation_lists_every_method_of_the_table():
    text = inspect.getdoc(rule)
    for name, method in METHODS.items():
        assert f"``{name}{method.signature}``" in text
    assert "{required}" not in text
    assert "{optional}" not in text


def test_only_what_is_compiled_enters_the_fingerprint_of_compiled_code():
    assert set(methods(Averaged)) == {"score", "update", "predict", "accepts"}
    assert {"start", "final", "for_width", "check", "check_start", "goal_margin", "potentials"} == NOT_COMPILED
    before = fingerprint(Averaged)
    kept, Averaged.final = Averaged.final, lambda self, state: state.w
    assert fingerprint(Averaged) == before
    Averaged.final = kept


def test_the_registry_has_every_rule_by_its_name():
    assert all(cls.__name__ == name for name, cls in BUILT_IN.items())
    assert set(BUILT_IN) - set(ONLINE) == {"BatchPerceptron"}
    public = {name for name in onlinear.rules.__all__ if is_rule(getattr(onlinear.rules, name))}
    assert public == {*ONLINE, "Majority"}  # made of rules, so it is spelled in a way of its own


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("intercept", [False, True])
def test_final_weights_are_shown_and_predict(engine, layout, intercept):
    last, mean = naive(X, Y, intercept=intercept)
    Z = as_layout(X, layout)
    shown = set()
    for block in (1, 7, None):
        data = (Z, Y) if block is None else (in_blocks(Z, Y, block),)
        run = onlinear.run(Averaged(), *data, classes=(-1, 1), fit_intercept=intercept)
        assert np.array_equal(run.state.arrays.w, last[0])
        assert np.allclose([*[run.intercept] * intercept, *run.weights], mean[0], rtol=1e-12)
        scores = run.decision_function(Z)
        assert np.allclose(scores, X @ run.weights + run.intercept)
        assert np.array_equal(run.predict(Z), np.where(scores > 0, 1, -1))
        shown.add((run.weights.tobytes(), run.intercept, scores.tobytes(), run.margin_upper_bound))
    assert len(shown) == 1
    perceptron = onlinear.run(Perceptron(), Z, Y, classes=(-1, 1), fit_intercept=intercept)
    assert run.margin_upper_bound == perceptron.margin_upper_bound
    half = onlinear.run(Averaged(), Z[:31], Y[:31], classes=(-1, 1), fit_intercept=intercept)
    rest = onlinear.run(Averaged(), Z[31:], Y[31:], state=half)
    assert rest.weights.tobytes() == run.weights.tobytes()


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_final_weights_of_several_classes(engine, layout, tmp_path):
    last, mean = naive(X, KINDS, intercept=True, classes=3)
    Z = as_layout(X, layout)
    run = onlinear.run(Averaged(), in_blocks(Z, KINDS, 7), classes=range(3), fit_intercept=True)
    assert np.array_equal(run.state.arrays.w.reshape(-1, 3).T, last)
    assert np.allclose(np.hstack([run.intercept[:, None], run.weights]), mean, rtol=1e-12)
    assert np.array_equal(run.predict(Z), (X @ run.weights.T + run.intercept).argmax(axis=1))
    run.save(tmp_path / "model")
    again = onlinear.load(tmp_path / "model", rule=Averaged)
    assert again.weights.tobytes() == run.weights.tobytes()
    assert again.state.arrays.w.tobytes() == run.state.arrays.w.tobytes()
    with pytest.raises(ParameterError, match="contains no code"):
        onlinear.load(tmp_path / "model")


def test_final_weights_of_features_that_come_later(engine):
    Z = as_layout(X, "csr")
    blocks = [(Z[:20, :4], Y[:20]), (Z[20:40, :7], Y[20:40]), (Z[40:], Y[40:])]
    padded = X.copy()
    padded[:20, 4:] = padded[20:40, 7:] = 0.0
    run = onlinear.run(Averaged(), blocks)
    assert np.allclose(run.weights, naive(padded, Y)[1][0], rtol=1e-12)
    assert np.allclose(run.decision_function(Z[:, :4]), X[:, :4] @ run.weights[:4])


def test_final_weights_in_scikit_learn_and_river():
    run = onlinear.run(Averaged(), X, Y, fit_intercept=True)
    model = onlinear.OnlineClassifier(Averaged()).partial_fit(X, Y, classes=[-1, 1])
    assert np.array_equal(model.coef_[0], run.weights)
    assert np.array_equal(model.predict(X), run.predict(X))
    assert np.array_equal(model.decision_function(X), run.decision_function(X))
    face = onlinear.river.OnlineClassifier(Averaged())
    for x, y in zip(X, Y, strict=True):
        face.learn_one(dict(enumerate(x)), bool(y > 0))
    assert np.array_equal([face.weights[j] for j in range(9)], run.weights)
    assert [face.predict_one(dict(enumerate(x))) for x in X] == (run.predict(X) > 0).tolist()


def broken(**added):
    cls = NamedTuple("Broken", [("rate", float)])
    for name in ("start", "score", "update"):
        setattr(cls, name, getattr(Averaged, name))
    for name, method in added.items():
        setattr(cls, name, method)
    return cls


@pytest.mark.parametrize(
    ("final", "message"),
    [
        (
            lambda self, state: state.w[:3],
            r"final\(\) returned shape \(3,\) of float64; .* float64 array of shape \(9,\)",
        ),
        (lambda self, state: None, r"final\(\) returned NoneType"),
        (lambda self, state: state.w / 0.0, r"final\(\) returned weights that are not finite"),
        (lambda self, state: state.mean, r"final\(\) failed: AttributeError: .*mean"),
        (lambda self, state: np.multiply(state.w, 2, out=state.w), r"final\(\) failed: ValueError: .*read-only"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*encountered in divide")
def test_faulty_final_weights_name_the_rule(final, message):
    run = onlinear.run(rule(broken(final=final))(1.0), X, Y)
    with pytest.raises(RuleError, match=f"rule Broken: {message}"):
        run.weights  # noqa: B018
    with pytest.raises(RuleError, match=f"rule Broken: {message}"):
        run.predict(X)


def test_final_weights_of_a_score_that_is_not_linear(engine):
    @rule
    class Shifted(NamedTuple):
        shift: float = 1.0

        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return dot(w, x) - self.shift

        def update(self, w, x, y, score, mistake):
            add(w, y, x)
            return True

        def final(self, w):
            return 0.5 * w

    run = onlinear.run(Shifted(), X, Y)
    assert np.array_equal(run.decision_function(X), X @ (0.5 * run.state.arrays) - 1.0)


class Seen(NamedTuple):
    w: np.ndarray
    sum: np.ndarray


@rule(linear=True)
class Decaying(NamedTuple):
    """Steps of size 1/√t."""

    rate: float = 1.0

    def start(self, n):
        return Seen(np.zeros(n), np.zeros(2))

    def score(self, state, x):
        return dot(state.w, x)

    def update(self, state, x, y, score, mistake):
        state.sum[0] += trial(x)
        state.sum[1] = trial(x)
        if mistake:
            add(state.w, y * self.rate / np.sqrt(trial(x)), x)
        return mistake


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("classes", [None, 3])
def test_the_number_of_the_round(engine, layout, classes):
    y = Y if classes is None else KINDS
    given = (-1, 1) if classes is None else range(3)
    Z, shown = as_layout(X, layout), set()
    for block in (1, 7, 60):
        run = onlinear.run(Decaying(), in_blocks(Z, y, block), classes=given)
        assert run.state.arrays.sum.tolist() == [60 * 61 / 2, 60]
        shown.add(run.weights.tobytes())
    half = onlinear.run(Decaying(), Z[:25], y[:25], classes=given)
    shown.add(onlinear.run(Decaying(), Z[25:], y[25:], state=half).weights.tobytes())
    assert len(shown) == 1
    if classes is None:
        w = np.zeros(9)
        for t, (x, label) in enumerate(zip(X, Y, strict=True), 1):
            w += (label * (w @ x) <= 0) * label / np.sqrt(t) * x
        assert np.allclose(run.weights, w)


def test_when_predicting_it_is_the_round_to_come(engine):
    @rule
    class Clock(NamedTuple):
        rate: float = 1.0

        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return 0.0 * dot(w, x) + trial(x)

        def update(self, w, x, y, score, mistake):
            return False

    run = onlinear.run(Clock(), X, Y, trace=True)
    assert run.trace.scores.tolist() == list(range(1, 61))
    assert set(run.decision_function(X).tolist()) == {61.0}
    face = onlinear.river.OnlineClassifier(Clock())
    for x, y in zip(X[:5], Y, strict=False):
        face.learn_one(dict(enumerate(x)), bool(y > 0))
    assert face.as_run().decision_function(X[:2]).tolist() == [6.0, 6.0]


def clipped(self, state, x):
    return min(1000.0, dot(state.w, x))


def clipped_far_away(self, state, x):
    return min(1e9, dot(state.w, x))


def dead_near_zero(self, state, x):
    return dot(state.w, x) if abs(dot(state.w, x)) > 1e-9 else 0.0


def of_the_round(self, state, x):
    return dot(state.w, x) * (1.0 if trial(x) < 1000 else 2.0)


def of_the_weight(self, state, x):
    return dot(state.w, x) if weight(x) > 0.0 else 0.0


def scaled_by_the_state(self, state, x):
    return dot(state.w, x) * (1.0 + state.t[0])


def with_other_weights(self, state, x):
    return dot(state.w, x) + dot(state.late, x)


def linear_for_short_rows(self, state, x):
    return dot(state.w, x) if onlinear.rules.size(x) < 20 else 0.0


@pytest.mark.parametrize(
    "score",
    [
        linear_for_short_rows,
        clipped,
        clipped_far_away,
        dead_near_zero,
        of_the_round,
        of_the_weight,
        scaled_by_the_state,
        with_other_weights,
    ],
)
def test_a_promise_that_is_not_kept_is_found_out(score):
    faulty = rule(linear=True)(broken(score=score))(1.0)
    onlinear.run(faulty, X, Y)
    with pytest.raises(RuleError, match=r"rule Broken promises linear=True, but its score is not ⟨w,x⟩"):
        onlinear.run(faulty, X, KINDS, classes=range(3))
    own = rule(linear=True)(broken(predict=lambda self, score, t: 1))(1.0)
    with pytest.raises(RuleError, match=r"promises linear=True, but defines predict\(\)"):
        onlinear.run(own, X, KINDS, classes=range(3))


def test_parameters_that_print_alike_are_checked_each():
    @rule(linear=True)
    class Scaled(NamedTuple):
        factors: np.ndarray

        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return dot(w, x) * self.factors[2500]

        def update(self, w, x, y, score, mistake):
            return mistake

    ones = np.ones(5000)
    onlinear.run(Scaled(ones), X, KINDS, classes=range(3))
    ones[2500] = 2.0
    with pytest.raises(RuleError, match="its score is not ⟨w,x⟩"):
        onlinear.run(Scaled(ones), X, KINDS, classes=range(3))


def test_a_rule_that_knows_its_width_may_be_linear():
    @rule(linear=True)
    class Prior(NamedTuple):
        prior: np.ndarray

        def start(self, n):
            if n != self.prior.size:
                raise ValueError(f"the prior has {self.prior.size} entries, not {n}")
            return self.prior.copy()

        def score(self, w, x):
            return dot(w, x)

        def update(self, w, x, y, score, mistake):
            return mistake

    run = onlinear.run(Prior(np.arange(27.0)), X, KINDS, classes=range(3))
    assert run.weights.tolist() == np.arange(27.0).reshape(9, 3).T.tolist()


def test_a_score_that_fails_at_a_random_point_is_the_rules_fault():
    faulty = rule(linear=True)(broken(score=lambda self, state, x: dot(state.w, x) / (self.rate - 1.0)))(1.0)
    with pytest.raises(RuleError, match=r"rule Broken: score\(\) failed at a random point: .*zero, at .*test_protocol"):
        onlinear.run(faulty, X, KINDS, classes=range(3))


def _learn_one_by_one(model, X, y):
    for x, label in zip(X, y, strict=True):
        model.learn_one(dict(enumerate(x.tolist())), int(label))


def test_faces_tell_what_is_wrong_with_a_promise():
    faulty = rule(linear=True)(broken(score=clipped))(1.0)
    with pytest.raises(RuleError, match="promises linear=True, but its score is not"):
        onlinear.OnlineClassifier(faulty).fit(X, KINDS)
    with pytest.raises(RuleError, match="promises linear=True, but its score is not"):
        onlinear.OnlineClassifier(faulty).partial_fit(X, KINDS, classes=[0, 1, 2])
    model = onlinear.river.OnlineClassifier(faulty, fit_intercept=False)  # it starts without any feature
    with pytest.raises(RuleError, match="promises linear=True, but its score is not"):
        _learn_one_by_one(model, X, KINDS)


def test_the_final_weights_of_a_rule_that_becomes_another():
    class Doubled(NamedTuple):
        rate: float = 1.0

        def for_width(self, n):
            return Perceptron()

        start, score, update = Perceptron.start, Perceptron.score, Perceptron.update

        def final(self, w):
            return 2.0 * w

    run = onlinear.run(rule(Doubled)(), X, Y)
    assert np.array_equal(run.weights, 2.0 * run.state.arrays)
    assert np.array_equal(run.decision_function(X), X @ run.weights)


class Uneven(NamedTuple):
    w: np.ndarray
    twice: np.ndarray
    more: np.ndarray
    table: np.ndarray


def test_arrays_of_any_length_grow(engine, tmp_path):
    @rule
    class Grows(NamedTuple):
        rate: float = 1.0

        def start(self, n):
            return Uneven(np.zeros(n), np.zeros(2 * n), np.zeros(n + 1), np.zeros((n, 2)))

        def score(self, state, x):
            return dot(state.w, x)

        def update(self, state, x, y, score, mistake):
            state.twice[-1] += 1.0
            state.more[-1] += 1.0
            state.table[-1, 0] += 1.0
            return mistake

    widths = (2, 3, 6, 40, 41)
    blocks = [(as_layout(np.eye(k)[:2], "csr"), [1, -1]) for k in widths]
    run = onlinear.run(Grows(), blocks)
    assert [array.shape for array in run.state.arrays] == [(41,), (82,), (42,), (41, 2)]
    for k in widths:  # two rounds at each width, at what was then the end
        assert run.state.arrays.twice[2 * k - 1] == run.state.arrays.more[k] == run.state.arrays.table[k - 1, 0] == 2.0
    run.save(tmp_path / "model")
    assert (
        onlinear.load(tmp_path / "model", rule=Grows).state.arrays.twice.tobytes() == run.state.arrays.twice.tobytes()
    )


def test_functions_of_math_give_the_same_plain_and_compiled(monkeypatch):
    @rule
    class Edges(NamedTuple):
        rate: float = 1.0

        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return dot(w, x)

        def update(self, w, x, y, score, mistake):
            s = 1e3 * score
            a = 1.0 / (1.0 + math.exp(s)) + 1.0 / (1.0 + math.cosh(s)) - 1.0 / (2.0 - math.log(abs(score)))
            add(w, y * a, x)
            return True

    shown = set()
    for plain in (0, 1):
        monkeypatch.setattr(numba.config, "DISABLE_JIT", plain)
        shown.add(onlinear.run(Edges(), X, Y).weights.tobytes())
    assert len(shown) == 1


def steep(s):
    return math.exp(s)


def test_functions_that_a_rule_calls_do_not_raise_either(engine):
    @rule
    class Steep(NamedTuple):
        rate: float = 1.0

        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return dot(w, x)

        def update(self, w, x, y, score, mistake):
            add(w, y / (1.0 + steep(1000.0)), x)
            return True

    assert not onlinear.run(Steep(), X, Y).weights.any()


def test_without_the_promise_there_are_two_classes_and_the_error_tells_what_to_add():
    plain = rule(broken())(1.0)
    with pytest.raises(ParameterError, match=r"Broken supports only two classes; .*@rule\(linear=True\)"):
        onlinear.run(plain, X, KINDS, classes=range(3))
    with pytest.raises(ValueError, match="linear=True"):
        onlinear.OnlineClassifier(plain).partial_fit(X, KINDS, classes=[0, 1, 2])


def test_the_promise_is_part_of_a_rules_own_fingerprint_only_where_it_is_given():
    without, given = rule(broken()), rule(linear=True)(broken())
    assert own_fingerprint(without) == own_fingerprint(rule(linear=False)(broken()))
    assert own_fingerprint(without) != own_fingerprint(given)


def test_a_function_reached_through_a_module_is_part_of_the_fingerprint():
    helpers = types.ModuleType("helpers")

    def define(gain):
        helpers.gain = gain
        cls = broken()
        cls.update = lambda self, w, x, y, score, mistake: helpers.gain(score)
        return own_fingerprint(rule(cls))

    assert define(lambda s: s) == define(lambda s: s)
    assert define(lambda s: s) != define(lambda s: 2.0 * s)


class Crowd(NamedTuple):
    w: np.ndarray
    m: np.ndarray
    expected: np.ndarray


@rule(inputs="advice")
class OwnExperts(NamedTuple):
    """Follow the leader, as a rule of one's own."""

    rate: float = 1.0

    def start(self, n):
        return Crowd(np.ones(n), np.zeros(n), np.zeros(1))

    def score(self, state, x):
        return dot(state.w, x)

    def update(self, state, x, y, score, mistake):
        for n in range(state.m.size):
            if y * onlinear.rules.value(x, n) < 0.0:
                state.m[n] += 1.0
        return False


def test_own_experts_are_reported_and_refused_like_the_librarys():
    advice = np.where(X > 0, 1.0, -1.0)
    run = onlinear.run(OwnExperts(), advice, Y)
    made = (advice != Y[:, None]).sum(axis=0)
    assert run.expert_mistakes.tolist() == made.tolist()
    assert run.regret == run.mistakes - made.min()
    assert run.expected_mistakes is None
    assert "regret" in repr(run)
    with pytest.raises(ParameterError, match="OwnExperts learns from every example, so it never halts"):
        onlinear.converge(OwnExperts(), advice, Y)


def test_the_promise_may_be_added_to_a_rule_whose_model_was_saved_without_it(tmp_path):
    def define(**promises):
        cls = NamedTuple("Promised", [("rate", float)])
        cls.start = lambda self, n: np.zeros(n)
        cls.score = lambda self, w, x: dot(w, x)
        cls.update = lambda self, w, x, y, score, mistake: mistake
        return rule(**promises)(cls)

    onlinear.run(define()(1.0), X, Y).save(tmp_path / "model")
    again = onlinear.load(tmp_path / "model", rule=define(linear=True))
    assert again.predict(X).tolist() == onlinear.load(tmp_path / "model", rule=define()).predict(X).tolist()
