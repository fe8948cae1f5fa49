"""Every built-in rule obeys its lemmas; a rule with a planted fault is caught where it first shows.

Where it first shows is found a second time, by brute force: the faulty rule as it stands, in fractions.
"""

import contextlib
import math
import re
import warnings
from fractions import Fraction
from typing import NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

import onlinear
from onlinear import Potentials
from onlinear.errors import ParameterError
from onlinear.rules import (
    MarginPerceptron,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
    add,
    dot,
    experts,
    index,
    rule,
    size,
    squared_norm,
    uniform,
    value,
)
from onlinear.theory.lemmas import verify_lemmas
from onlinear.theory.lemmas.claims import LEMMAS
from strategies import TIES, advice, as_layout, binary, examples, in_blocks, labels, real, separable


@rule(additive=True)
class EverySize(NamedTuple):
    """Steps of every size."""

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        step = max(0.0, 1.0 - y * score) / (squared_norm(x) + 0.01)
        add(w, y * step, x)
        return step


@rule(additive=True)
class Projection(NamedTuple):
    """Steps that are long where x is short."""

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        step = max(0.0, 1.0 - y * score) / max(squared_norm(x), 2.0**-1022)
        add(w, y * step, x)
        return step


@rule(additive=True)
class Slow(NamedTuple):
    """Steps that are short."""

    rate: float

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        if mistake:
            add(w, self.rate * y, x)
            return self.rate
        return 0.0


ADDITIVE = [
    *map(Perceptron, TIES),
    MarginPerceptron(0.3, normalized=True),
    MarginPerceptron(3.0, normalized=False),
    EverySize(),
]
WINNOWS = [
    Winnow(),
    Winnow(beta=0.3),
    Winnow(beta=2.0, threshold=1.5),
    Winnow(beta=1e-12, threshold=2.5),
    Winnow(beta=1e20, threshold=1e9),
    Winnow(beta=1.0, threshold=1e40),
]
EXPERTS = [
    *(WeightedMajority(eta, tie) for eta, tie in zip([0.1, 0.5, 1.0], TIES, strict=True)),
    RandomizedWeightedMajority(0.3, seed=5),
    RandomizedWeightedMajority("anytime"),
]
LAYOUTS = st.sampled_from(["dense", "csr"])


def holds(trace, u=None):
    """The report, which must be good, and must say at how many updates each lemma was checked."""
    report = verify_lemmas(trace, u)
    assert report.holds, report
    assert all(0 < times <= trace.updates.size for times in report.checked.values())
    assert set(report.checked) <= set(LEMMAS)
    return report


def traced(rule_, data, u=None, **options):
    trace = onlinear.run(rule_, *data, trace=Potentials(u), **options).trace
    assume(trace.updates.size)
    return trace


@pytest.mark.parametrize("rule_", ADDITIVE, ids=repr)
@given(
    data=real(max_width=6),
    layout=LAYOUTS,
    intercept=st.booleans(),
    normalize=st.booleans(),
    warm=st.booleans(),
    scale=st.sampled_from([1e-170, 1e-160, 1e-153, 1e-100, 1 / 3, 1.0, 1e4, 1e140]),
)
def test_additive_rules_on_any_examples(rule_, data, layout, intercept, normalize, warm, scale):
    X, y = data
    # Rows of very different lengths, in numbers that are not exact.
    X = X * np.geomspace(0.7, 700.0, len(y))[:, None] * scale
    u = np.cos(np.arange(X.shape[1]))
    options = {"fit_intercept": intercept, "normalize": normalize}
    if warm:
        options["start"] = np.sin(np.arange(X.shape[1])) * scale
    trace = traced(rule_, (as_layout(X, layout), y), (u, -0.5) if intercept else u, **options)
    report = holds(trace, (u, -0.5) if intercept else u)
    assert {"step: norm", "step: inner product"} <= set(report.checked)
    assert ("alignment: sum" in report.checked) == (trace.before["squared_norm"][0] == 0.0)


@pytest.mark.parametrize("rule_", ADDITIVE, ids=repr)
@given(data=separable(max_width=6), layout=LAYOUTS, normalize=st.booleans(), cut=st.integers(1, 29))
def test_additive_rules_with_a_separating_comparator(rule_, data, layout, normalize, cut):
    X, y, u = data
    X, cut = as_layout(X, layout), min(cut, len(y) - 1)
    whole = traced(rule_, (X, y), u, normalize=normalize)
    report = holds(whole, u)
    assert report.checked["growth (P4): inner product"] == whole.updates.size
    if isinstance(rule_, Perceptron):
        # All the lemmas of its proof, at every update; nothing is left out.
        assert set(report.checked.values()) == {whole.updates.size}
        proof = ("step", "growth", "mistake lemma", "alignment")
        assert set(report.checked) == {name for name in LEMMAS if name.startswith(proof)}
    first = onlinear.run(rule_, X[:cut], y[:cut], normalize=normalize, classes=(-1, 1))
    second = onlinear.run(rule_, X[cut:], y[cut:], state=first.state, trace=Potentials(u)).trace
    if second.updates.size:
        holds(second, u)
        late = whole.updates >= cut
        for mine, other in [(second.before, whole.before), (second.potentials, whole.potentials)]:
            assert all(np.array_equal(mine[name], other[name][late]) for name in mine)


@pytest.mark.parametrize("rule_", WINNOWS, ids=repr)
@given(data=binary(), layout=LAYOUTS, warm=st.booleans(), cut=st.integers(1, 29))
def test_winnow(rule_, data, layout, warm, cut):
    X, y = data
    cut = min(cut, len(y) - 1)
    start = np.linspace(0.1, 3.0, X.shape[1]) if warm else None
    whole = traced(rule_, ([(as_layout(X, layout), y)] * 5,), start=start)
    report = holds(whole)
    assert report.checked["Winnow: step"] == report.checked["Winnow: total"] == whole.updates.size
    first = onlinear.run(rule_, X[:cut], y[:cut], start=start, classes=(-1, 1))
    holds(traced(rule_, (X[cut:], y[cut:]), state=first.state))


@given(data=binary(max_rows=12))
def test_winnow_whose_features_appear_late(data):
    """Each new weight adds 1 to Φ between two updates, which is nobody's step."""
    X, y = data
    blocks = ((as_layout(X[[i], : 1 + i * X.shape[1] // len(y)], "csr"), y[[i]]) for i in range(len(y)))
    trace = traced(Winnow(threshold=0.7), (blocks,), classes=(-1, 1))
    holds(trace)


def test_winnow_whose_weights_stop_falling():
    """One weight is promoted as often as it is demoted, the other falls to where it could not come back from."""
    X, y = np.tile([[1.0, 0.0], [1.0, 1.0]], (1500, 1)), np.tile([1, -1], 1500)
    run = onlinear.run(Winnow(threshold=0.5), X, y, start=[0.5, 1.0], trace=Potentials())
    assert run.weights[1] == 2.0**-1022
    assert holds(run.trace).checked["Winnow: demotion"] > 1022


@rule(tie="negative")
class RealWinnow(NamedTuple):
    """Winnow for inputs in [0, 1], where a step is within its lemmas but not at their edge."""

    beta: float
    threshold: float

    def start(self, n):
        return np.ones(n)

    def score(self, w, x):
        return dot(w, x) - self.threshold

    def update(self, w, x, y, score, mistake):
        if mistake:
            for k in range(size(x)):
                w[index(x, k)] *= (1.0 + self.beta) ** (y * value(x, k))
        return mistake

    def potentials(self, w):
        return {"total_weight": float(np.sum(w))}


@given(data=examples(st.integers(0, 16), max_width=6), threshold=st.sampled_from([0.5, 1.0, 2.5]))
def test_winnow_on_real_inputs_has_no_equality(data, threshold):
    X, y = data
    report = holds(traced(RealWinnow(1.0, threshold), (X / 16.0, y)))
    assert "Winnow: total" in report.checked
    assert "Winnow: step" not in report.checked


@pytest.mark.parametrize("rule_", EXPERTS, ids=repr)
@given(data=advice(max_rows=60), layout=LAYOUTS, cut=st.integers(1, 29))
def test_experts(rule_, data, layout, cut):
    X, y = data
    cut = min(cut, len(y) - 1)
    report = holds(traced(rule_, (as_layout(X, layout), y)))
    if rule_ == RandomizedWeightedMajority(0.3, seed=5):
        assert report.checked["experts: share"] == report.checked["experts: total"]
    first = onlinear.run(rule_, X[:cut], y[:cut], classes=(-1, 1))
    holds(traced(rule_, (X[cut:], y[cut:]), state=first.state))


@given(data=advice(max_rows=60, max_width=5), eta=st.sampled_from([0.1, 0.9, 1.0 - 2.0**-40, 1.0 - 2.0**-53, 1.0]))
def test_experts_of_whom_none_is_good(data, eta):
    """Each expert and its opposite: weights fade, underflow and are refreshed; those recorded are those in use."""
    X, y = np.hstack([data[0], -data[0]]), data[1]
    run = onlinear.run(WeightedMajority(eta), [(X, y)] * 4, trace=Potentials())
    assert holds(run.trace).checked["experts: weights"] == len(y) * 4
    assert run.trace.potentials["weights"].max(axis=1).tolist() == [1.0] * (len(y) * 4)
    if run.weights.max() == 1.0:
        assert run.trace.potentials["weights"][-1].tolist() == run.weights.tolist()


def test_long_runs():
    X, y = onlinear.datasets.separable(margin=0.01, n=1500, d=200, seed=3)
    for additive in ADDITIVE:
        run = onlinear.run(additive, X * math.pi, y, fit_intercept=True, trace=Potentials(np.ones(200)))
        holds(run.trace, np.ones(200))
    X, y = onlinear.datasets.experts(30, 3000, best=0.3, seed=1)
    for majority in EXPERTS:
        holds(onlinear.run(majority, X, y, trace=Potentials()).trace)


@pytest.mark.parametrize(
    "rule_", [EverySize(), MarginPerceptron(0.3, normalized=True), RandomizedWeightedMajority()], ids=repr
)
@given(data=st.data())
def test_a_trace_leaves_the_run_as_it_is(rule_, data):
    X, y = data.draw((advice if rule_.inputs == "advice" else real)())
    plain, recorded = (onlinear.run(rule_, X / 1.0, y, trace=trace) for trace in (False, Potentials()))
    assert recorded.weights.tobytes() == plain.weights.tobytes()
    for name in ("rounds", "updates", "mistakes_by_class", "steps", "reach"):
        assert getattr(recorded.state, name) == getattr(plain.state, name)
    trace = recorded.trace
    assert len(trace.labels) == len(trace.steps) == len(trace.squared_lengths) == trace.updates.size
    assert trace.labels.tolist() == y[trace.updates].tolist()
    if rule_.additive:
        assert trace.squared_lengths == pytest.approx((X[trace.updates] ** 2).sum(axis=1))
        assert math.fsum(trace.steps) == pytest.approx(plain.state.steps)


@given(data=real(max_width=5), block=st.sampled_from([1, 7]), layout=LAYOUTS)
def test_blocks_do_not_show_in_what_is_recorded(data, block, layout):
    X, y = data
    u = np.arange(X.shape[1]) + 1.0
    blocks = ((as_layout(part, layout), some) for part, some in in_blocks(X, y, block))
    once = traced(Perceptron(), (as_layout(X, layout), y), (u, 2.0), fit_intercept=True)
    again = traced(Perceptron(), (blocks,), (u, 2.0), fit_intercept=True, classes=(-1, 1))
    for name in ("labels", "steps", "squared_lengths", "agreements"):
        assert getattr(once, name).tolist() == getattr(again, name).tolist()
    exact = y[once.updates] * (X[once.updates] @ u + 2.0)
    assert once.agreements.tolist() == exact.tolist()


# Numbers that are very large or small.

SHORT = [1e-320, 1e-310, 1e-200, 1e-170, 1e-155]


@pytest.mark.parametrize("rule_", [*ADDITIVE, Projection(), Slow(1e-5), Slow(1e-12)], ids=repr)
@given(
    data=separable(max_width=6),
    length=st.sampled_from([*SHORT, 1.0, 1e150, 1e170, 1e200, 1e300]),
    scale=st.sampled_from([1e-307, 1e-300, 1e-163, 1e-162, 1e-150, 1.0, 1e100, 1e140, 1e300]),
    normalize=st.booleans(),
    intercept=st.booleans(),
    warm=st.booleans(),
    flip=st.booleans(),
)
def test_underflow_and_overflow_are_no_fault(rule_, data, length, scale, normalize, intercept, warm, flip):
    X, y, u = data
    X = X * np.geomspace(0.7, 3.0, len(y))[:, None] * scale
    y = np.where(flip & (np.arange(len(y)) % 3 == 0), -y, y)
    assume(len(set(y.tolist())) == 2)
    u = u * (length / 3.0)
    options = {"fit_intercept": intercept, "normalize": normalize}
    if warm:
        options["start"] = -np.sign(u) * scale
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            trace = traced(rule_, (X, y), u, **options)
        except onlinear.errors.DataError as error:
            assume(not re.search("overflows|too large", str(error)))
            raise
        # Where everything has overflowed there is nothing to check.
        with contextlib.suppress(ParameterError):
            holds(trace)


@pytest.mark.parametrize("length", SHORT)
@pytest.mark.parametrize("normalize", [False, True])
def test_a_short_comparator(length, normalize):
    X, y = onlinear.datasets.separable(margin=0.05, n=200, d=6, seed=0)
    u = onlinear.max_margin(X, y).weights
    for v in (u, np.ones(6)):
        trace = onlinear.run(Perceptron(), X, y, trace=Potentials(v * length), normalize=normalize).trace
        checked = holds(trace).checked
        assert checked["alignment: cosine"] == checked["step: inner product"] == trace.updates.size
    # The slack is for underflow, not for faults: what is well above it is seen.
    if length > 1e-300:
        broken = verify_lemmas(onlinear.run(FaultyPerceptron(FORGETS), X, y, trace=Potentials(u * length)).trace).broken
        assert broken.round == 0


@pytest.mark.parametrize("u", [None, np.ones(2), np.ones(2) * 1e200], ids=repr)
def test_what_overflows_is_not_checked_and_warns_nobody(u):
    X, y = [[1.0, 0.0], [0.0, 1.0]], [-1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = onlinear.run(Perceptron(), X, y, start=[1e200, -1e200], trace=Potentials(u))
        assert run.trace.potentials["squared_norm"].tolist() == [np.inf, np.inf]
        with pytest.raises(ParameterError, match="or their potentials have overflowed"):
            verify_lemmas(run.trace)
        onlinear.run(Perceptron(), np.eye(2) * 1e200, y, trace=Potentials(u))
        total = onlinear.run(Winnow(threshold=1.0), np.eye(2), y, start=[1e308] * 2, trace=Potentials(u)).trace
        assert total.before["total_weight"].tolist()[0] == np.inf


# Planted faults. Each rule is what its name says but for the line with its `fault`.

DOUBLE, SIGN, FORGETS, DECAYS = range(1, 5)


@rule(additive=True)
class FaultyPerceptron(NamedTuple):
    fault: int

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        if mistake:
            first = w[0]
            if self.fault == DECAYS:
                for n in range(w.size):
                    w[n] *= 0.5
            if self.fault == DOUBLE:
                add(w, 2.0 * y, x)
            elif self.fault == SIGN and score > 0.0:
                add(w, -y, x)
            else:
                add(w, y, x)
            if self.fault == FORGETS:
                w[0] = first
        return mistake


def moved(fault, w, x, y, score):
    """The weights of a faulty perceptron after a mistake."""
    keep = Fraction(1, 2) if fault == DECAYS else 1
    step = 2 * y if fault == DOUBLE else -y if fault == SIGN and score > 0 else y
    after = [keep * a + step * v for a, v in zip(w, x, strict=True)]
    return [w[0], *after[1:]] if fault == FORGETS else after


def product(a, b):
    return sum(v * c for v, c in zip(a, b, strict=True))


def first_false_step(fault, X, y, u):
    """The first round in which a faulty perceptron's ‖w‖², or else ⟨w,u⟩, does not change as w + yx does."""
    w, updates = [Fraction(0)] * len(u), 0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        score = product(w, x)
        if label * score <= 0:
            after = moved(fault, w, x, label, score)
            right = moved(None, w, x, label, score)
            if product(after, after) != product(right, right):
                return "step: norm", t, updates
            if product(after, u) != product(right, u):
                return "step: inner product", t, updates
            w, updates = after, updates + 1
    return None


@st.composite
def small_examples(draw):
    X, y = draw(examples(st.integers(-4, 4), max_rows=12, max_width=5))
    u = draw(st.lists(st.integers(-3, 3), min_size=X.shape[1], max_size=X.shape[1]))
    return X.tolist(), y.tolist(), u


def caught(trace, expected):
    """The report, which must name the lemma, the round and the update that brute force found; or none."""
    report = verify_lemmas(trace)
    found = report.broken and (report.broken.lemma, report.broken.round, report.broken.update)
    assert found == expected, report
    assert report.holds == (expected is None)
    return report


@pytest.mark.parametrize("fault", [0, DOUBLE, SIGN, FORGETS, DECAYS])
@given(data=small_examples())
def test_faulty_perceptrons_are_caught(fault, data):
    X, y, u = data
    trace = traced(FaultyPerceptron(fault), (np.array(X, dtype=float), y), u)
    caught(trace, first_false_step(fault, X, y, u))


@pytest.mark.parametrize("fault", [DOUBLE, SIGN, FORGETS, DECAYS])
def test_faulty_perceptrons_are_caught_on_ordinary_data(fault):
    X, y = onlinear.datasets.separable(margin=0.05, n=300, d=10, seed=0)
    report = verify_lemmas(onlinear.run(FaultyPerceptron(fault), X, y, trace=Potentials(X[0])).trace, X[0])
    assert not report.holds
    assert report.broken.lemma == "step: norm"
    shown = repr(report)
    assert f"broken in round {report.broken.round}" in shown
    assert report.broken.claim in shown
    assert "‖w‖² changed by" in shown
    assert "off by" in shown
    assert "step: norm (round" in report._repr_html_()


@rule(additive=True)
class Stubborn(NamedTuple):
    """Predicts the label +1 whatever the score: its steps are right, but a mistake is no longer one of w."""

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def predict(self, score, t):
        return 1

    def update(self, w, x, y, score, mistake):
        if mistake:
            add(w, y, x)
        return mistake


def test_a_mistake_that_the_weights_did_not_make_breaks_p4_and_p3():
    X, y = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [-1, -1, 1]
    trace = onlinear.run(Stubborn(), X, y, trace=Potentials([-1.0, 1.0])).trace
    report = verify_lemmas(trace)
    assert (report.broken.lemma, report.broken.round, report.broken.update) == ("growth (P4): norm", 1, 1)
    assert "grew by 3; it should be at most ‖x‖² = 1 (off by 2," in report.broken.claim


PROMOTES, HARDLY_DEMOTES, NEVER_DEMOTES, TRIPLES, STAYS, HARDLY_PROMOTES, OVERSHOOTS, NEVER_PROMOTES = range(1, 9)


@rule(inputs="binary", tie="negative")
class FaultyWinnow(NamedTuple):
    """A user's own Winnow, with α = 2."""

    fault: int
    threshold: float
    beta: float = 1.0

    def start(self, n):
        return np.ones(n)

    def score(self, w, x):
        return dot(w, x) - self.threshold

    def update(self, w, x, y, score, mistake):
        if self.fault == NEVER_DEMOTES and y < 0.0:
            return False
        if self.fault == NEVER_PROMOTES and y > 0.0:
            return False
        factor = promoted(self.fault) if y > 0.0 else demoted(self.fault)
        if mistake:
            for k in range(size(x)):
                if value(x, k) != 0.0:
                    w[index(x, k)] *= factor
        return mistake

    def potentials(self, w):
        return {"total_weight": float(np.sum(w))}


def promoted(fault):
    return 3.0 if fault == TRIPLES else 1.0 if fault == STAYS else 1.5 if fault == HARDLY_PROMOTES else 2.0


def demoted(fault):
    return 2.0 if fault == PROMOTES else 0.75 if fault == HARDLY_DEMOTES else 0.4 if fault == OVERSHOOTS else 0.5


def first_false_change(fault, X, y, threshold):
    """The first round in which a faulty Winnow's Φ grows by too much, falls by too little, or not by what it should."""
    ups = {TRIPLES: 3, STAYS: 1, HARDLY_PROMOTES: Fraction(3, 2), NEVER_PROMOTES: 1}
    downs = {PROMOTES: 2, HARDLY_DEMOTES: Fraction(3, 4), NEVER_DEMOTES: 1, OVERSHOOTS: Fraction(2, 5)}
    w, updates = [Fraction(1)] * len(X[0]), 0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        positive = product(w, x) > threshold
        if positive == (label > 0):
            continue
        factor = ups.get(fault, 2) if label > 0 else downs.get(fault, Fraction(1, 2))
        after = [a * factor if v else a for a, v in zip(w, x, strict=True)]
        unlearned = fault == (NEVER_DEMOTES if label < 0 else NEVER_PROMOTES)
        if label > 0 and sum(after) - sum(w) > threshold:
            return "Winnow: promotion", t, updates
        # A fall by just that much would be false, too, but within rounding of the truth.
        if label < 0 and sum(w) - sum(after) < Fraction(1, 2) * threshold:
            return "Winnow: demotion", t, None if unlearned else updates
        right = 2 if label > 0 else Fraction(1, 2)
        if after != [a * right if v else a for a, v in zip(w, x, strict=True)]:
            return "Winnow: step", t, None if unlearned else updates
        w, updates = after, updates + (not unlearned)
    return None


@pytest.mark.parametrize("fault", range(9))
@given(data=examples(st.integers(0, 1), max_rows=20, max_width=6), threshold=st.sampled_from([1, 2, 3]))
def test_faulty_winnows_are_caught(fault, data, threshold):
    X, y = data[0].tolist(), data[1].tolist()
    trace = traced(FaultyWinnow(fault, float(threshold)), (data[0] * 1.0, y))
    caught(trace, first_false_change(fault, X, y, threshold))


@rule(inputs="advice")
class FaultyPool(NamedTuple):
    """The library's own pool, its weights multiplied by what is not 1−η; the counts are right."""

    keep: float
    eta: float = 0.5

    def start(self, n):
        return experts.new_pool(n)

    def score(self, pool, x):
        return experts.vote(pool, x)

    def update(self, pool, x, y, score, mistake):
        return experts.punish(pool, x, y, self.keep)

    def potentials(self, pool):
        return experts.expert_potentials(pool)


@pytest.mark.parametrize("keep", [0.5, 0.4999, 0.9, 1.0])
@given(data=advice(max_rows=15, max_width=4))
def test_the_weights_in_use_are_the_ones_looked_at(keep, data):
    X, y = data
    trace = traced(FaultyPool(keep), (X, y))
    m = np.cumsum(y[:, None] != X, axis=0)
    unequal = np.flatnonzero(m.max(axis=1) > m.min(axis=1))
    if keep == 0.5 or not unequal.size:
        holds(trace)
    else:
        broken = verify_lemmas(trace).broken
        assert (broken.lemma, broken.round) == ("experts: weights", unequal[0])


class Panel(NamedTuple):
    w: np.ndarray
    m: np.ndarray


PUNISHES_RIGHT, COUNTS_TWICE, KEEPS_WEIGHTS, DEAF = range(1, 5)


@rule(inputs="advice")
class FaultyMajority(NamedTuple):
    """A user's own weighted majority, without any care about underflow."""

    fault: int
    eta: float = 0.5

    def start(self, n):
        return Panel(np.ones(n), np.zeros(n))

    def score(self, panel, x):
        return dot(panel.w, x)

    def update(self, panel, x, y, score, mistake):
        return punish(panel, x, y, self.fault)

    def potentials(self, panel):
        return {"weights": panel.w, "mistakes": panel.m.astype(np.int64)}


@rule(inputs="advice")
class FaultyDraw(NamedTuple):
    """The same, randomised."""

    fault: int
    eta: float = 0.5
    seed: int = 3

    def start(self, n):
        return Panel(np.ones(n), np.zeros(n))

    def score(self, panel, x):
        total = 0.0
        for n in range(panel.w.size):
            total += panel.w[n]
        # One that is deaf to the first expert believes the opposite of what it says.
        lost = 2.0 * panel.w[0] * value(x, 0) if self.fault == DEAF else 0.0
        return (dot(panel.w, x) - lost) / total

    def predict(self, score, t):
        return 2 * (uniform(self.seed, t) < 0.5 * (1.0 + score)) - 1

    def update(self, panel, x, y, score, mistake):
        return punish(panel, x, y, self.fault)

    def potentials(self, panel):
        return {"weights": panel.w, "mistakes": panel.m.astype(np.int64)}


def punish(panel, x, y, fault):
    punished = False
    for n in range(panel.w.size):
        if (value(x, n) != y) != (fault == PUNISHES_RIGHT):
            punished = True
            panel.m[n] += 2.0 if fault == COUNTS_TWICE else 1.0
            if fault != KEEPS_WEIGHTS:
                panel.w[n] *= 0.5
    return punished


def first_false_punishment(fault, X, y, drawn):
    """The first round in which faulty experts do not change as they should."""
    half = Fraction(1, 2)
    w, m, updates = [Fraction(1)] * len(X[0]), [0] * len(X[0]), 0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        sway = product(w, x) - (2 * w[0] * x[0] if fault == DEAF else 0)
        hit = [(v != label) != (fault == PUNISHES_RIGHT) for v in x]
        phi = sum(half**k for k in m)
        share = sum(a for a, one in zip(w, hit, strict=True) if one) / sum(w)
        implied = half * (1 - label * sway / sum(w))
        m = [k + one * (2 if fault == COUNTS_TWICE else 1) for k, one in zip(m, hit, strict=True)]
        w = [a * half if one and fault != KEEPS_WEIGHTS else a for a, one in zip(w, hit, strict=True)]
        update = updates if any(hit) else None
        if any(hit) and fault == COUNTS_TWICE:
            return "experts: counts", t, update
        if any(hit) and [a / max(w) for a in w] != [half ** (k - min(m)) for k in m]:
            return "experts: weights", t, update
        if not drawn and label * sway <= 0 and sum(half**k for k in m) > Fraction(3, 4) * phi:
            return "experts: majority", t, update
        if drawn and any(hit) and share != implied:
            return "experts: share", t, update
        updates += any(hit)
    return None


@pytest.mark.parametrize(
    "rule_",
    [
        *map(FaultyMajority, [0, PUNISHES_RIGHT, COUNTS_TWICE, KEEPS_WEIGHTS]),
        *map(FaultyDraw, [0, PUNISHES_RIGHT, COUNTS_TWICE, KEEPS_WEIGHTS, DEAF]),
    ],
    ids=repr,
)
@given(
    data=st.integers(2, 15).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.sampled_from([-1, 1]), min_size=4, max_size=4), min_size=n, max_size=n), labels(n)
        )
    )
)
def test_faulty_experts_are_caught(rule_, data):
    X, y = data
    trace = traced(rule_, (np.array(X, dtype=float), y))
    caught(trace, first_false_punishment(rule_.fault, X, y, hasattr(rule_, "seed")))


@pytest.mark.parametrize(
    ("rule_", "lemma"),
    [
        (FaultyWinnow(PROMOTES, 4.0), "Winnow: demotion"),
        (FaultyWinnow(HARDLY_DEMOTES, 4.0), "Winnow: demotion"),
        (FaultyWinnow(NEVER_DEMOTES, 4.0), "Winnow: demotion"),
        (FaultyWinnow(TRIPLES, 4.0), "Winnow: step"),
        (FaultyWinnow(STAYS, 4.0), "Winnow: step"),
        (FaultyWinnow(HARDLY_PROMOTES, 4.0), "Winnow: step"),
        (FaultyWinnow(OVERSHOOTS, 4.0), "Winnow: step"),
        (FaultyWinnow(NEVER_PROMOTES, 4.0), "Winnow: step"),
        (FaultyMajority(PUNISHES_RIGHT), "experts: majority"),
        (FaultyMajority(COUNTS_TWICE), "experts: counts"),
        (FaultyMajority(KEEPS_WEIGHTS), "experts: weights"),
        (FaultyDraw(PUNISHES_RIGHT), "experts: share"),
        (FaultyDraw(DEAF), "experts: share"),
    ],
    ids=repr,
)
def test_other_faults_are_caught_on_ordinary_data(rule_, lemma):
    draws = np.random.default_rng(1)
    data, answers = draws.integers(0, 2, (40, 8)) * 1.0, np.where(draws.random(40) < 0.5, 1, -1)
    data = 2.0 * data - 1.0 if rule_.inputs == "advice" else data
    report = verify_lemmas(onlinear.run(rule_, data, answers, trace=Potentials()).trace)
    assert report.broken.lemma == lemma
    assert ("no update" in repr(report)) == (report.broken.update is None)


# What cannot be verified is refused.

X, Y = np.eye(3), np.array([1, -1, 1])


@rule(inputs="advice")
class Silent(NamedTuple):
    """Experts of whom nothing is known."""

    def start(self, n):
        return np.ones(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        return True


@pytest.mark.parametrize(
    ("traced", "u", "message"),
    [
        (lambda: None, None, "holds no potentials; record it with trace=onlinear.Potentials"),
        (lambda: onlinear.run(Perceptron(), X, Y, trace=True).trace, None, "holds no potentials"),
        (
            lambda: onlinear.run(Perceptron(), X, Y, trace=Potentials()).trace,
            np.ones(3),
            "not the comparator of this trace",
        ),
        (
            lambda: onlinear.run(Perceptron(), X, Y, trace=Potentials(np.ones(3))).trace,
            np.zeros(3),
            "not the comparator",
        ),
        (
            lambda: onlinear.run(Perceptron(), X, Y, trace=Potentials(np.ones(3))).trace,
            (np.ones(3), 1.0),
            "not the comparator",
        ),
        (lambda: onlinear.run(Perceptron(), X, Y, trace=Potentials([0.0, 1, 1])).trace, [1.0, 1], "not the comparator"),
        (lambda: onlinear.run(WeightedMajority(), 2 * X - 1, Y, trace=Potentials(X[0])).trace, X[0], "leave u out"),
        (
            lambda: onlinear.run(Silent(), 2 * X - 1, Y, trace=Potentials()).trace,
            None,
            "nothing to check: .* 3 updates",
        ),
        (
            lambda: onlinear.run(Perceptron("positive"), X, [1, 1, 1], classes=(-1, 1), trace=Potentials()).trace,
            None,
            "nothing to check: the trace has 0 updates",
        ),
    ],
)
def test_what_cannot_be_verified(traced, u, message):
    trace = traced()
    with pytest.raises(ParameterError, match=message):
        verify_lemmas(trace, u)


def test_the_comparator_may_be_left_out_or_given_again():
    with_intercept = onlinear.run(Perceptron(), X, Y, fit_intercept=True, trace=Potentials([1.0, 2.0, 3.0])).trace
    assert with_intercept.comparator.tolist() == [0.0, 1.0, 2.0, 3.0]
    for u in (None, [1.0, 2.0, 3.0], ([1.0, 2.0, 3.0], 0.0)):
        assert verify_lemmas(with_intercept, u).holds
    plain = onlinear.run(Perceptron(), X, Y, trace=Potentials([1.0, -2.0, 3.0])).trace
    assert verify_lemmas(plain, np.array([1, -2, 3])).checked["mistake lemma (P3): distance to cu"] == 3


@rule(additive=True)
class Lazy(NamedTuple):
    """A perceptron that does not learn from its mistakes on negative examples."""

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        if mistake and y > 0.0:
            add(w, y, x)
            return 1.0
        return 0.0


@given(data=separable(max_width=4))
def test_a_mistake_that_nothing_was_learned_from(data):
    X, y, u = data
    trace = traced(Lazy(), (X, y), u)
    skipped = np.setdiff1d(trace.mistakes, trace.updates)
    report = verify_lemmas(trace, u)
    if skipped.size:
        assert (report.broken.lemma, report.broken.round, report.broken.update) == (
            "growth (P4): inner product",
            skipped[0],
            None,
        )
    else:
        assert report.holds
