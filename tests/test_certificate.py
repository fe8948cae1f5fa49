"""Certificates: every procedure, every layout, and every single entry altered."""

import copy
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear.errors import DataError, OnlinearError, ParameterError, VerificationError
from onlinear.rules import (
    AROW,
    AdaGrad,
    AveragedPerceptron,
    FixedShare,
    Majority,
    MarginPerceptron,
    Member,
    OnlineGradient,
    PassiveAggressive,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
    add,
    dot,
    rule,
)
from onlinear.runs import state_before, with_classes
from onlinear.theory import Certificate
from onlinear.theory.search import comparator
from strategies import LAYOUTS, as_layout, in_blocks


@rule(additive=True)
class Halfway(NamedTuple):
    """A rule of the user's own: the perceptron with half a step."""

    step: float = 0.5

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        if mistake:
            add(w, self.step * y, x)
        return self.step * mistake


@rule(additive=True)
class Weighted(NamedTuple):
    """A rule with an array among its hyper-parameters."""

    cost: np.ndarray

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        step = self.cost[int(y > 0.0)] * mistake
        add(w, step * y, x)
        return step


def sixteenths(data):
    """Rounded to multiples of 1/16, which are the same numbers in float32."""
    return np.round(data.X * 16) / 16, data.y


SEPARABLE = sixteenths(onlinear.datasets.separable(margin=0.3, n=60, d=4, seed=1))
NOISY = sixteenths(onlinear.datasets.noisy(margin=0.3, n=60, d=3, flip=0.1, seed=1))
DISJUNCTION = tuple(onlinear.datasets.disjunction(2, 8, n=60, seed=1))
THRESHOLD = tuple(onlinear.datasets.r_of_k(2, 4, 8, n=60, seed=1))
ADVICE = tuple(onlinear.datasets.experts(5, 60, seed=1))
THREE = (np.round(np.random.default_rng(2).standard_normal((40, 3)) * 16) / 16, np.arange(40) % 3)
THREE[0][:] += 4 * np.eye(3)[THREE[1]]
TANGLED = (np.vstack([THREE[0], THREE[0][:1]]), np.append(THREE[1], 1))
PERFECT = tuple(onlinear.datasets.experts(5, 60, best=0.0, seed=1))

NAMED = (np.random.default_rng(3).integers(0, 3, (60, 4)) * 1.0, np.arange(60) % 3)
MEMBERS = [Member(Perceptron(), normalize=True), AROW(r=0.5), AveragedPerceptron()]

CASES = {
    "one pass": (SEPARABLE, lambda X, y: onlinear.run(Perceptron(), X, y)),
    "intercept": (SEPARABLE, lambda X, y: onlinear.run(Perceptron("negative"), X, y, fit_intercept=True)),
    "normalized": (SEPARABLE, lambda X, y: onlinear.run(Perceptron(), X, y, normalize=True)),
    "three passes": (SEPARABLE, lambda X, y: onlinear.run(Perceptron(), [(X, y)] * 3)),
    "a start": (SEPARABLE, lambda X, y: onlinear.run(Perceptron(), X, y, start=np.ones(4))),
    "a start with intercept": (
        SEPARABLE,
        lambda X, y: onlinear.run(Perceptron(), X, y, start=(np.ones(4), 0.5), fit_intercept=True),
    ),
    "not separable": (NOISY, lambda X, y: onlinear.run(Perceptron(), X, y, fit_intercept=True)),
    "margin": (SEPARABLE, lambda X, y: onlinear.run(MarginPerceptron(0.05, normalized=True), X, y)),
    "margin, not normalized": (
        SEPARABLE,
        lambda X, y: onlinear.converge(MarginPerceptron(1.0, normalized=False), X, y),
    ),
    "halting": (SEPARABLE, lambda X, y: onlinear.converge(Perceptron(), X, y)),
    "halting, random": (SEPARABLE, lambda X, y: onlinear.converge(Perceptron(), X, y, selection="random", seed=5)),
    "halting, worst": (SEPARABLE, lambda X, y: onlinear.converge(Perceptron(), X, y, selection="worst")),
    "stopped": (NOISY, lambda X, y: onlinear.converge(Perceptron(), X, y, max_updates=7)),
    "stopped, worst": (NOISY, lambda X, y: onlinear.converge(Perceptron(), X, y, max_updates=7, selection="worst")),
    "given up": (NOISY, lambda X, y: onlinear.converge(Perceptron(), X, y, max_passes=3)),
    "batch": (SEPARABLE, lambda X, y: onlinear.batch_perceptron(X, y, tie="positive")),
    "batch, 1/k": (SEPARABLE, lambda X, y: onlinear.batch_perceptron(X, y, schedule="1/k")),
    "classes": (THREE, lambda X, y: onlinear.run(Perceptron(), X, y, classes=[2, 0, 1])),
    "classes, intercept": (THREE, lambda X, y: onlinear.run(Perceptron(), X, y, classes=range(3), fit_intercept=True)),
    "classes, halting": (THREE, lambda X, y: onlinear.converge(Perceptron(), X, y, classes=range(3))),
    "classes, margin": (
        THREE,
        lambda X, y: onlinear.run(MarginPerceptron(0.05, normalized=True), X, y, classes=range(3), fit_intercept=True),
    ),
    "classes, batch": (THREE, lambda X, y: onlinear.batch_perceptron(X, y, classes=range(3))),
    "classes, not separable": (TANGLED, lambda X, y: onlinear.run(Perceptron(), X, y, classes=range(3))),
    "classes, a start": (
        THREE,
        lambda X, y: onlinear.run(
            Perceptron(), X, y, classes=range(3), start=(np.eye(3), np.ones(3)), fit_intercept=True
        ),
    ),
    "averaged, margin": (SEPARABLE, lambda X, y: onlinear.run(AveragedPerceptron(2.0), X, y)),
    "averaged, margin, not separable": (NOISY, lambda X, y: onlinear.run(AveragedPerceptron(0.5), X, y)),
    "averaged": (SEPARABLE, lambda X, y: onlinear.run(AveragedPerceptron(tie="positive"), X, y, fit_intercept=True)),
    "averaged, a start": (SEPARABLE, lambda X, y: onlinear.run(AveragedPerceptron(), X, y, start=np.ones(4))),
    "averaged, not separable": (NOISY, lambda X, y: onlinear.run(AveragedPerceptron(), [(X, y)] * 2)),
    "averaged, halting": (SEPARABLE, lambda X, y: onlinear.converge(AveragedPerceptron(), X, y)),
    "averaged, classes": (THREE, lambda X, y: onlinear.run(AveragedPerceptron(), X, y, classes=range(3))),
    "PA": (SEPARABLE, lambda X, y: onlinear.run(PassiveAggressive(variant="PA"), [(X, y)] * 3, normalize=True)),
    "PA, halting": (SEPARABLE, lambda X, y: onlinear.converge(PassiveAggressive(variant="PA"), X, y)),
    "PA, not separable": (NOISY, lambda X, y: onlinear.run(PassiveAggressive(variant="PA"), X, y)),
    "PA, classes": (
        THREE,
        lambda X, y: onlinear.run(PassiveAggressive(variant="PA"), X, y, classes=range(3), fit_intercept=True),
    ),
    "PA-I": (SEPARABLE, lambda X, y: onlinear.run(PassiveAggressive(2.0, tie="negative"), X, y)),
    "PA-I, not separable": (NOISY, lambda X, y: onlinear.run(PassiveAggressive(0.5), X, y, fit_intercept=True)),
    "PA-I, a start": (NOISY, lambda X, y: onlinear.run(PassiveAggressive(0.5), X, y, start=np.ones(3))),
    "PA-I, halting": (SEPARABLE, lambda X, y: onlinear.converge(PassiveAggressive(), X, y)),
    "PA-I, classes": (THREE, lambda X, y: onlinear.run(PassiveAggressive(), X, y, classes=range(3))),
    "PA-II": (NOISY, lambda X, y: onlinear.run(PassiveAggressive(0.1, "PA-II"), [(X, y)] * 3)),
    "no mistake bound": (SEPARABLE, lambda X, y: onlinear.run(AROW(), X, y)),
    "no mistake bound, classes": (THREE, lambda X, y: onlinear.run(AdaGrad(), X, y, classes=range(3))),
    "winnow": (DISJUNCTION, lambda X, y: onlinear.run(Winnow(beta=0.5), X, y)),
    "winnow, no disjunction": (THRESHOLD, lambda X, y: onlinear.run(Winnow(), X, y)),
    "majority": (ADVICE, lambda X, y: onlinear.run(WeightedMajority(0.25), X, y)),
    "no share": (ADVICE, lambda X, y: onlinear.run(FixedShare(0.25, 0.0), X, y)),
    "fixed share": (ADVICE, lambda X, y: onlinear.run(FixedShare(0.25), X, y)),
    "halving": (PERFECT, lambda X, y: onlinear.run(WeightedMajority(1.0), X, y)),
    "randomized": (ADVICE, lambda X, y: onlinear.run(RandomizedWeightedMajority(0.25, seed=3), X, y)),
    "anytime": (ADVICE, lambda X, y: onlinear.run(RandomizedWeightedMajority("anytime"), [(X, y)] * 2)),
    "several classes, majority": (NAMED, lambda X, y: onlinear.run(WeightedMajority(0.25), X, y, classes=range(3))),
    "several classes, anytime": (
        NAMED,
        lambda X, y: onlinear.run(RandomizedWeightedMajority("anytime"), X, y, classes=range(3)),
    ),
    "members": (NOISY, lambda X, y: onlinear.run(Majority(MEMBERS), X, y)),
    "members, passes": (NOISY, lambda X, y: onlinear.run(Majority(MEMBERS, FixedShare()), [(X, y)] * 2)),
    "members, classes": (TANGLED, lambda X, y: onlinear.run(Majority(MEMBERS), X, y, classes=range(3))),
}


@pytest.fixture(scope="module")
def certificates():
    return {name: onlinear.certify(make(*data), *data) for name, (data, make) in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_it_holds_and_goes_through_json(certificates, case):
    certificate, (X, y) = certificates[case], CASES[case][0]
    assert certificate.holds
    again = Certificate.from_json(certificate.to_json())
    assert again.record == certificate.record
    assert repr(again) == repr(certificate)
    again.verify(X, y)
    again.verify(X, y)
    assert again._repr_html_().startswith("<table>")


THEOREMS = {
    "one pass": {"P1", "P5", "P12"},
    "intercept": {"P1", "P5", "P12"},
    "three passes": {"P1", "P5"},
    "a start": {"P2"},
    "not separable": {"P5", "P12"},
    "margin": {"P9", "P12"},
    "margin, not normalized": {"P8"},
    "halting": {"P1"},
    "given up": set(),
    "batch": {"P10"},
    "batch, 1/k": set(),
    "classes": {"P13"},  # the labels follow in a circle, so P12 is withheld
    "classes, intercept": {"P13"},
    "classes, halting": {"P13"},
    "classes, margin": {"P9"},
    "classes, batch": {"P10"},
    "classes, not separable": set(),
    "classes, a start": set(),
    "averaged": {"P1", "P5", "P12"},
    "averaged, a start": {"P2"},
    "averaged, not separable": {"P5"},
    "averaged, halting": {"P1"},
    "averaged, classes": {"P13"},
    "PA": {"PA"},
    "PA, halting": {"PA"},
    "PA, not separable": {"P12"},
    "PA, classes": {"PA"},
    "PA-I": {"PA-I", "P12"},
    "PA-I, not separable": {"PA-I", "P12"},
    "PA-I, a start": set(),
    "PA-I, halting": set(),
    "PA-I, classes": set(),
    "PA-II": {"PA-II"},
    "no mistake bound": {"P12"},
    "no mistake bound, classes": set(),
    "winnow": {"Winnow", "P12"},
    "winnow, no disjunction": {"P12"},
    "majority": {"Weighted", "P12"},
    "no share": {"Fixed", "P12"},
    "fixed share": {"Fixed", "P12"},
    "halving": {"Halving", "P12"},
    "randomized": {"Randomised", "P12"},
    "anytime": {"Anytime"},
}


def short_names(certificate):
    """The theorems that apply: the number in parentheses, or the first word."""
    names = [bound.theorem for bound in certificate.bounds]
    return {name.rpartition("(")[2].removesuffix(")").split()[0] for name in names}


@pytest.mark.parametrize("case", THEOREMS)
def test_the_theorems_that_apply_are_there(certificates, case):
    certificate = certificates[case]
    assert short_names(certificate) == THEOREMS[case]


def test_what_a_person_reads(certificates):
    text = repr(certificates["not separable"])
    assert "separable" in text
    assert "cancel exactly" in text
    assert "Perceptron mistake bound (P1)" in text
    assert "does not apply: no vector separates the examples" in text
    assert "the tightest" in text
    assert "no disjunction of variables labels these examples" in repr(certificates["winnow, no disjunction"])
    assert "affine: the distance to the hyperplane" in repr(certificates["intercept"])
    assert certificates["one pass"].difficulty == pytest.approx(
        (certificates["one pass"].margin.radius / certificates["one pass"].margin.lower) ** 2
    )


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("case", ["one pass", "winnow", "majority"])
def test_any_layout_and_blocks_have_the_same_digest(certificates, case, layout):
    certificate, (X, y) = certificates[case], CASES[case][0]
    certificate.verify(as_layout(X, layout), y)
    certificate.verify(list(in_blocks(scipy.sparse.csr_array(X), y, 7)))


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_any_layout_of_several_classes(certificates, layout):
    certificate, (X, y) = certificates["classes, intercept"], CASES["classes, intercept"][0]
    certificate.verify(as_layout(X, layout), y)


def test_certificates_of_several_classes_and_what_has_none():
    X, y = THREE
    weighed = onlinear.run(Perceptron(), X, y, classes=range(3), sample_weight=np.full(40, 0.5))
    with pytest.raises(ParameterError, match="learned with sample weights"):
        onlinear.certify(weighed, X, y)
    onlinear.certify(onlinear.run(Perceptron(), X, y, classes=range(3)), [(X, y)]).verify(
        [(X[:7], y[:7]), (X[7:], y[7:])]
    )
    order = np.argsort(y, kind="stable")  # the third class comes last, and would have been a rival before
    X, y, margin = X[order], y[order], MarginPerceptron(20.0, normalized=False)
    first, rest = slice(0, np.count_nonzero(y < 2)), slice(np.count_nonzero(y < 2), None)
    two = onlinear.run(margin, X[first], y[first], state=state_before(margin, [0, 1], 3, multiclass=True))
    onlinear.certify(two, X[first], y[first]).verify(X[first], y[first])
    grown = onlinear.run(margin, X[rest], y[rest], state=with_classes(two.state, range(3)))
    with pytest.raises(DataError, match="the run has"):
        onlinear.certify(grown, X, y)


def leaves(value, path=()):
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, (*path, name))
    elif isinstance(value, list):
        for k, one in enumerate(value):
            yield from leaves(one, (*path, k))
    else:
        yield path


def altered(record, path):
    """The record with another value at one place."""
    changed = copy.deepcopy(record)
    place = changed
    for step in path[:-1]:
        place = place[step]
    value = place[path[-1]]
    if isinstance(value, bool):
        value = not value
    elif isinstance(value, int | float):
        value = value + 1
    else:
        value = 1 if value is None else f"{value}x"
    place[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    "case",
    [
        *("intercept", "not separable", "halting, random", "batch", "winnow", "randomized"),
        *("classes, intercept", "classes, not separable", "averaged", "PA, classes", "PA-II"),
        *("members", "members, classes"),
    ],
)
def test_every_altered_entry_is_found_out(certificates, case):
    record, (X, y) = certificates[case].record, CASES[case][0]
    places = list(leaves(record))
    assert len(places) > 20
    for path in places:
        with pytest.raises(OnlinearError):
            Certificate(altered(record, path)).verify(X, y)
    for name in record:
        without = {key: value for key, value in record.items() if key != name}
        with pytest.raises(VerificationError):
            Certificate(without).verify(X, y)


def test_other_data_fail_with_the_reason(certificates):
    certificate, (X, y) = certificates["one pass"], CASES["one pass"][0]
    moved = X.copy()
    moved[7, 2] += 1 / 16
    for examples in [(moved, y), (X[::-1], y[::-1])]:
        with pytest.raises(VerificationError, match=r"data.fingerprint: the certificate says '\w+….*, the data say"):
            certificate.verify(*examples)
    with pytest.raises(VerificationError, match=r"data.rows: the certificate says 60, the data say 59"):
        certificate.verify(X[1:], y[1:])
    with pytest.raises(VerificationError, match=r"row 0: label"):
        certificate.verify(X, np.where(y > 0, "yes", "no"))


def test_the_reason_names_the_entry(certificates):
    certificate, (X, y) = certificates["one pass"], CASES["one pass"][0]
    made = certificate.mistakes
    false = altered(certificate.record, ("outcome", "mistakes"))
    with pytest.raises(
        VerificationError, match=rf"outcome\.mistakes: the certificate says {made + 1}, the data say {made}"
    ):
        Certificate(false).verify(X, y)


def test_a_rule_of_ones_own_is_asked_for():
    X, y = SEPARABLE
    certificate = onlinear.certify(onlinear.run(Halfway(0.25), X, y), X, y)
    again = Certificate.from_json(certificate.to_json())
    with pytest.raises(ParameterError, match=r"give its class: verify\(X, y, rule=Halfway\)"):
        again.verify(X, y)
    again.verify(X, y, rule=Halfway)
    with pytest.raises(ParameterError, match="of the rule Halfway, not of Perceptron"):
        again.verify(X, y, rule=Perceptron)
    for parameters in ({}, {"steps": 0.25}):
        with pytest.raises(VerificationError):
            Certificate(
                {**certificate.record, "rule": {**certificate.record["rule"], "parameters": parameters}}
            ).verify(X, y, rule=Halfway)
    assert short_names(certificate) == {"P12"}
    assert certificate.margin.separable


def test_arrays_and_strings_go_through_json():
    X, y = SEPARABLE
    names = np.where(y > 0, "spam", "ham")
    certificate = onlinear.certify(onlinear.run(Weighted(np.array([1.0, 2.0])), X, names), X, names)
    Certificate.from_json(certificate.to_json()).verify(scipy.sparse.csc_array(X), names, rule=Weighted)


def test_features_that_only_the_run_knows_of():
    X, y = scipy.sparse.csr_array(DISJUNCTION[0]), DISJUNCTION[1]
    certificate = onlinear.certify(onlinear.run(Winnow(), X, y, n_features=20), X, y)
    assert certificate.bounds[0].quantities["N"] == 20
    Certificate.from_json(certificate.to_json()).verify(X, y)


def test_a_layout_that_rounds_otherwise_changes_nothing():
    # One-decimal numbers: dense and sparse scores differ in their last bits, and the two runs part.
    X = np.array([[1.2, 0.9, 0.3], [0.1, -0.5, -0.3], [-0.7, 0.7, 0.7], [0.9, 2.0, 0.7]])
    y = np.array([1, -1, 1, -1])
    runs = {layout: onlinear.run(Perceptron(), as_layout(X, layout), y) for layout in ("dense", "csr")}
    assert runs["dense"].mistakes != runs["csr"].mistakes
    for layout, run in runs.items():
        certificate = onlinear.certify(run, as_layout(X, layout), y)
        for other in LAYOUTS:
            if "float32" not in other:  # those are other numbers
                certificate.verify(as_layout(X, other), y)
        certificate.verify(list(in_blocks(X, y, 3)))
        certificate.verify(list(in_blocks(scipy.sparse.csr_array(X), y, 3)))


def test_a_limit_that_is_met_as_it_halts():
    X, y = SEPARABLE
    for selection in ("cyclic", "random", "worst"):
        updates = onlinear.converge(Perceptron(), X, y, selection=selection).updates
        done = onlinear.converge(Perceptron(), X, y, selection=selection, max_updates=updates)
        assert done.halted
        onlinear.certify(done, X, y).verify(X, y)
    begun = onlinear.converge(Perceptron(), X, y, selection="worst", max_updates=2)
    with pytest.raises(DataError, match="over these examples it gets"):
        onlinear.certify(onlinear.converge(Perceptron(), X, y, selection="worst", state=begun), X, y)


@pytest.mark.parametrize("size", [1e-162, 1e-170, 1e-300])
def test_no_theorem_is_held_against_scores_that_underflow(size):
    X, y = np.tile([[size, 0.0], [0.0, size]], (20, 1)), np.ones(40)
    run = onlinear.run(Perceptron(), X, y, classes=(-1, 1))
    assert run.mistakes > 2  # which exact arithmetic would allow
    certificate = onlinear.certify(run, X, y)
    assert certificate.bounds == []
    assert "scale the inputs" in repr(certificate)
    certificate.verify(X, y)


def test_a_start_at_zero_is_no_start():
    X, y = NOISY
    certificate = onlinear.certify(onlinear.run(Perceptron(), X, y, start=np.zeros(3)), X, y, np.ones(3))
    assert short_names(certificate) == {"P5", "P12"}


def test_numbers_of_thousands_of_digits():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((280, 120)), rng.choice([-1, 1], 280)
    verdict = onlinear.separability(X, y)
    assert max(share.denominator.bit_length() for share in verdict.shares) > 4300
    assert "more" in verdict.explain()
    assert "more" in repr(verdict)
    certificate = onlinear.certify(onlinear.run(Perceptron(), X, y), X, y, np.zeros(120))
    Certificate.from_json(certificate.to_json()).verify(X, y)


def test_inseparable_is_inseparable_however_long_the_rows():
    X, y = NOISY
    certificate = onlinear.certify(onlinear.run(Perceptron(), X, y, normalize=True), X, y)
    assert certificate.record["separability"]["verdict"] == "inseparable"
    certificate.verify(X, y)


def test_alterations_too_small_to_matter_and_claims_left_out():
    X, y = tuple(onlinear.datasets.xor())
    certificate = onlinear.certify(onlinear.run(Perceptron(), X, y, fit_intercept=True), X, y)
    for name, value in [("separability", {"verdict": "undecided"}), ("delta", np.nextafter(0.05, 1.0))]:
        with pytest.raises(VerificationError):
            Certificate({**certificate.record, name: value}).verify(X, y)
    record = copy.deepcopy(certificate.record)
    record["bounds"][0]["value"] *= 1 + 1e-13  # a weaker claim than is proven
    with pytest.raises(VerificationError, match="has been altered"):
        Certificate(record).verify(X, y)


def test_labels_that_cannot_be_written_down():
    X, y = SEPARABLE
    for labels in (np.where(y > 0, b"yes", b"no"), np.where(y > 0, "2020-01-02", "2020-01-01").astype("datetime64[D]")):
        with pytest.raises(ParameterError, match="cannot be recorded"):
            onlinear.certify(onlinear.run(Perceptron(), X, labels), X, labels)
    certificate = onlinear.certify(onlinear.run(Perceptron(), X, y > 0), X, y > 0)
    Certificate.from_json(certificate.to_json()).verify(X, y > 0)


def test_progress_of_a_certificate():
    X, y = NOISY
    seen = []
    onlinear.certify(onlinear.run(Perceptron(), X, y), X, y, progress=seen.append)
    assert len(seen) > 1


def test_ones_own_comparator():
    X, y = NOISY
    run = onlinear.run(Perceptron(), X, y)
    best = onlinear.certify(run, X, y)
    mine = onlinear.certify(run, X, y, np.ones(3))
    by_theorem = [{b.theorem: b.value for b in one.bounds}["Perceptron hinge bound (P5)"] for one in (best, mine)]
    assert run.mistakes <= by_theorem[0] < by_theorem[1]
    mine.verify(X, y)
    with pytest.raises(ParameterError, match="comparator has shape"):
        onlinear.certify(run, X, y, np.ones(2))
    X, y = DISJUNCTION
    with pytest.raises(ParameterError, match="a comparator is for the perceptron"):
        onlinear.certify(onlinear.run(Winnow(), X, y), X, y, np.ones(8))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (SEPARABLE, {"fit_intercept": True}),
        (SEPARABLE, {"start": np.ones(4)}),
        (NOISY, {}),
        (THREE, {"classes": range(3)}),
    ],
)
def test_the_averaged_perceptron_is_bounded_in_its_updates(data, options):
    """It learns like the perceptron: what the theorems allow for those mistakes, they allow for its updates."""
    runs = [onlinear.run(one, *data, **options) for one in (Perceptron(), AveragedPerceptron())]
    learned, averaged = (onlinear.certify(run, *data).record["bounds"] for run in runs)
    alike = [entry for entry in learned if entry["of"] == "mistakes"]
    assert alike
    assert [entry for entry in averaged if "P12" not in entry["theorem"]] == [{**e, "of": "updates"} for e in alike]
    assert {entry["actual"] for entry in alike} == {runs[1].updates}


@pytest.mark.parametrize("case", ["PA", "PA-I, not separable", "PA-II"])
def test_the_passive_aggressive_bound_is_that_of_the_theorem(certificates, case):
    (X, y), make = CASES[case]
    run, certificate = make(X, y), certificates[case]
    [bound] = [bound for bound in certificate.bounds if "Passive" in bound.theorem]
    variant, C = run.rule.variant, run.rule.C
    Z = X / np.linalg.norm(X, axis=1, keepdims=True) if run.state.normalize else X
    Z = np.hstack([np.ones((len(Z), 1)), Z]) if run.state.fit_intercept else Z
    R2 = np.square(Z).sum(axis=1).max()
    if variant == "PA":
        u = np.array(certificate.record["margins"]["learned"]["weights"])
        value = R2 * (u @ u) / (y * (Z @ u)).min() ** 2
    else:
        u = np.array(certificate.record["comparator"])
        losses = np.maximum(0.0, 1.0 - y * (Z @ u)) ** (1 if variant == "PA-I" else 2)
        factor = max(R2, 1.0 / C) if variant == "PA-I" else R2 + 0.5 / C
        value = factor * (u @ u + 2.0 * C * losses.sum() * (run.rounds // len(y)))
    assert bound.value == pytest.approx(value)
    rounds = "180 rounds" if variant == "PA-II" else "60 rounds" if variant == "PA-I" else "60 examples"
    assert rounds in bound.checked[0]
    assert run.mistakes <= bound.mistakes
    assert bound.of == "mistakes"
    assert bound.declared == ("rounding decided no prediction",)


def test_pairs_of_classes_are_called_so(certificates):
    [bound] = certificates["PA, classes"].bounds
    assert bound.checked[0].startswith("u separates all 80 pairs of an example's class and another, ")


def test_no_comparator_is_searched_for_when_a_certificate_is_verified(certificates, monkeypatch):
    monkeypatch.setattr(comparator, "_cut", None)
    (X, y), record = CASES["PA-II"][0], certificates["PA-II"].record
    Certificate(record).verify(X, y)
    with pytest.raises(VerificationError, match=r"\(PA-II\) does not apply"):
        Certificate({**record, "comparator": None}).verify(X, y)


def test_another_comparator_of_a_passive_aggressive_run_is_no_better():
    X, y = NOISY
    run = onlinear.run(PassiveAggressive(0.2, "PA-II"), X, y)
    best = onlinear.certify(run, X, y)
    u = np.array(best.record["comparator"])
    for other in (0.9 * u, 1.1 * u, np.zeros(3), onlinear.best_comparator(X, y).weights):
        mine = onlinear.certify(run, X, y, other)
        mine.verify(X, y)
        assert best.tightest.value <= mine.tightest.value
    huge = onlinear.certify(run, X, y, np.full(3, 1e308))
    assert short_names(huge) == {"P12"}
    assert "(PA-II)  does not apply: a number in it is too large for a float" in repr(huge)
    with pytest.raises(ParameterError, match="comparator: "):
        onlinear.certify(onlinear.run(PassiveAggressive(), 8 * X, y), 8 * X, y, np.full(3, 1e308))
    with pytest.raises(ParameterError, match="a comparator is for the perceptron"):
        onlinear.certify(onlinear.run(PassiveAggressive(variant="PA"), X, y), X, y, u)


@pytest.mark.parametrize("rule_", [AROW(), OnlineGradient(), PassiveAggressive(0.01)], ids=repr)
def test_a_run_with_sample_weights_has_no_certificate(rule_):
    X, y = NOISY
    run = onlinear.run(rule_, X, y, sample_weight=np.linspace(0.5, 2.0, len(y)))
    with pytest.raises(DataError, match="no certificate for a run with sample weights"):
        onlinear.certify(run, X, y)
    onlinear.certify(onlinear.run(rule_, X, y, sample_weight=np.ones(len(y))), X, y).verify(X, y)


def test_why_no_passive_aggressive_bound_applies(certificates):
    reasons = {
        "PA, not separable": "no vector is known that separates the examples",
        "PA-I, a start": "it did not start from the rule's own first weights",
        "PA-I, halting": "it applies to rounds in the order of the examples",
        "PA-I, classes": "it is about two classes",
    }
    for case, reason in reasons.items():
        excluded = certificates[case].record["excluded"]
        assert [entry["reason"] for entry in excluded if "Passive" in entry["theorem"]] == [reason]
    X, y = np.tile([[1e-162, 0.0], [0.0, 1e-162]], (20, 1)), [1, -1] * 20
    certificate = onlinear.certify(onlinear.run(PassiveAggressive(), X, y), X, y)
    assert "(PA-I)" in repr(certificate)
    assert "scale the inputs" in repr(certificate)


def test_an_outcome_of_other_examples_is_refused():
    X, y = SEPARABLE
    run = onlinear.run(Perceptron(), X, y)
    with pytest.raises(DataError, match=r"the run has .* over these examples it gets"):
        onlinear.certify(run, X[::-1], y[::-1])
    with pytest.raises(DataError, match="has read 60 examples, but there are 50"):
        onlinear.certify(run, X[:50], y[:50])
    half = onlinear.run(Perceptron(), X[:30], y[:30])
    onlinear.certify(onlinear.run(Perceptron(), X[30:], y[30:], state=half), X, y).verify(X, y)
    schedule = onlinear.batch_perceptron(X, y, schedule=lambda k: 1.0)
    with pytest.raises(ParameterError, match="a schedule of your own"):
        onlinear.certify(schedule, X, y)
    with pytest.raises(ParameterError, match="it must be a Run"):
        onlinear.certify(np.ones(4), X, y)
    with pytest.raises(ParameterError, match=r"delta is 2\.0"):
        onlinear.certify(run, X, y, delta=2.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"certificate": 2}', "\ud800", "{" * 10_000])
def test_what_is_no_certificate(text):
    with pytest.raises(DataError, match="not a certificate"):
        Certificate.from_json(text)


def test_plain_json(certificates):
    for certificate in certificates.values():
        text = certificate.to_json()
        assert json.loads(text, parse_constant=pytest.fail) == certificate.record


OLD = json.loads((Path(__file__).parent / "golden" / "v1-certificates.json").read_text(encoding="utf-8"))


REFUSED = ("classes, intercept", "classes, not separable")


@pytest.mark.parametrize("case", REFUSED)
def test_earlier_versions_did_not_check_the_order(case):
    with pytest.raises(VerificationError) as refused:
        Certificate(OLD[case]).verify(*CASES[case][0])
    assert "Progressive validation (P12) does not apply: the examples are not i.i.d." in str(refused.value)


@pytest.mark.parametrize("case", [case for case in OLD if case not in REFUSED])
def test_certificates_of_earlier_versions_verify(case):
    """Their theorems had other names, and their logarithms were rounded by a few units more."""
    data = CASES["normalized" if case == "normalized, sparse" else case][0]
    certificate = Certificate(OLD[case])
    certificate.verify(*data)
    assert Certificate.from_json(certificate.to_json()).record == OLD[case]
    assert "P5 perceptron, not separable" not in repr(certificate)
    theorems = {entry["theorem"] for part in ("bounds", "excluded") for entry in OLD[case][part]}
    assert not theorems & {bound.theorem for bound in certificate.bounds}
    false = copy.deepcopy(OLD[case])
    for part in ("bounds", "excluded"):
        for entry in false[part][:1]:
            entry["theorem"] = "P3 mistake lemma"
    with pytest.raises(VerificationError):
        Certificate(false).verify(*data)


def test_what_rests_on_iid_is_withheld_where_the_order_is_not_random():
    X, y = onlinear.datasets.noisy(margin=0.3, n=300, d=3, flip=0.1, seed=1)
    in_order = np.argsort(y, kind="stable")
    made = onlinear.certify(onlinear.run(Perceptron(), X, y), X, y)
    assert short_names(made) == {"P5", "P12"}
    X, y = X[in_order], y[in_order]
    made = onlinear.certify(onlinear.run(Perceptron(), X, y), X, y)
    assert short_names(made) == {"P5"}
    assert "P12)   does not apply: the examples are not i.i.d.: their labels are not in random order" in repr(made)
    made.verify(X, y)


def test_a_halting_loop_of_winnow():
    X, y = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), [1, 1, -1, 1]
    certificate = onlinear.certify(onlinear.converge(Winnow(), X, y), X, y)
    assert "4 mistakes < 14 (28.6% of it)" in repr(certificate)
    [bound] = [bound for bound in certificate.bounds if "Winnow" in bound.theorem]
    assert "labels all 4 examples" in " ".join(bound.checked)
    assert certificate.difficulty is None


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_rows_that_cancel_spare_the_search_for_a_margin(fit_intercept):
    X, y = onlinear.datasets.separable(margin=0.2, n=50, d=3, seed=0)
    X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    run, steps = onlinear.run(Perceptron(), X, y, fit_intercept=fit_intercept), []
    certificate = onlinear.certify(run, X, y, comparator=np.zeros(3), progress=steps.append)
    assert steps == []
    assert certificate.record["separability"]["rows"] == [0, 50]
    kinds = {name: entry for name, entry in certificate.record["margins"].items() if entry is not None}
    assert set(kinds) == ({"learned", "affine"} if fit_intercept else {"learned"})
    assert all(entry["lower"] == 0.0 and entry["upper"] < 1e-12 for entry in kinds.values())
    certificate.verify(X, y)


def test_a_small_budget_leaves_open_what_is_not_found():
    X, y = onlinear.datasets.noisy(n=300, d=10, seed=1)
    run = onlinear.run(Perceptron(), X, y)
    hasty = onlinear.certify(run, X, y, comparator=np.zeros(10), seconds=1e-9)
    assert hasty.record["separability"] == {"verdict": "undecided"}
    hasty.verify(X, y)
    assert onlinear.certify(run, X, y, comparator=np.zeros(10)).record["separability"]["verdict"] == "inseparable"
