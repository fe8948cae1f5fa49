"""Certificates by somebody with bad intentions: altered records whose digest has been computed anew."""

import copy
import hashlib
import json
import tracemalloc
from functools import cache

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import onlinear
from onlinear.errors import DataError, ParameterError, VerificationError
from onlinear.rules import MarginPerceptron, Perceptron, RandomizedWeightedMajority, Winnow
from onlinear.theory import Certificate, Examples, Limits
from onlinear.theory.bounds import Bound
from onlinear.theory.reading import LabelledData

SEPARABLE = tuple(onlinear.datasets.separable(margin=0.3, n=40, d=3, seed=1))
XOR = tuple(onlinear.datasets.xor())
ADVICE = tuple(onlinear.datasets.experts(4, 30, seed=1))
THREE = (np.eye(3)[np.arange(30) % 3] * 4 + np.arange(90).reshape(30, 3) % 7 / 8, np.arange(30) % 3)
MAKE = {
    "run": (SEPARABLE, lambda X, y: onlinear.run(Perceptron(), X, y, fit_intercept=True)),
    "start": (SEPARABLE, lambda X, y: onlinear.run(Perceptron(), X, y, start=np.ones(3))),
    "inseparable": (XOR, lambda X, y: onlinear.run(Perceptron(), X, y, fit_intercept=True)),
    "converge": (
        SEPARABLE,
        lambda X, y: onlinear.converge(MarginPerceptron(0.1, normalized=True), X, y, selection="random", seed=3),
    ),
    "worst": (SEPARABLE, lambda X, y: onlinear.converge(Perceptron(), X, y, selection="worst")),
    "forever": (XOR, lambda X, y: onlinear.converge(Perceptron(), X, y, max_passes=5)),
    "forever, worst": (
        XOR,
        lambda X, y: onlinear.converge(Perceptron(), X, y, selection="worst", max_updates=5),
    ),
    "batch": (SEPARABLE, onlinear.batch_perceptron),
    "batch, forever": (XOR, lambda X, y: onlinear.batch_perceptron(X, y, max_passes=4)),
    "classes": (THREE, lambda X, y: onlinear.run(Perceptron(), X, y, classes=range(3))),
    "winnow": ((XOR[0] > 0, XOR[1]), lambda X, y: onlinear.run(Winnow(), X * 1.0, y)),
    "experts": (ADVICE, lambda X, y: onlinear.run(RandomizedWeightedMajority(0.25, seed=3), X, y)),
}


@cache
def certified(case):
    """A certificate, and the examples that it belongs to."""
    (X, y), make = MAKE[case]
    X = np.asarray(X, dtype=float)
    return onlinear.certify(make(X, y), X, y), X, y


def sealed(record):
    """The record with the digest of its content."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return {**content, "digest": hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}


def altered(record, changes):
    """The record with other values at some places."""
    record = copy.deepcopy(record)
    for path, value in changes.items():
        *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
        place = record
        for step in steps:
            place = place[step]
        place[last] = value(place[last]) if callable(value) else value
    return record


def test_values_that_are_proven_have_no_tolerance():
    """A claim below what was recomputed is refused, however little below."""
    certificate, X, y = certified("run")
    for k, entry in enumerate(certificate.record["bounds"]):
        for less in (1 - 9e-13, 1 - 2.0**-53, 0.5):
            with pytest.raises(VerificationError, match=rf"bounds\[{k}\]\.value: the certificate says"):
                Certificate(sealed(altered(certificate.record, {f"bounds.{k}.value": entry["value"] * less}))).verify(
                    X, y
                )
        for name, value in entry["quantities"].items():
            for factor in (1 - 9e-13, 2.0):
                forged = altered(certificate.record, {f"bounds.{k}.quantities.{name}": value * factor})
                with pytest.raises(VerificationError, match=rf"bounds\[{k}\]\.quantities\.{name}: the certificate"):
                    Certificate(sealed(forged)).verify(X, y)
    weaker = altered(certificate.record, {"bounds.0.value": lambda value: value * (1 + 1e-13)})
    Certificate(sealed(weaker)).verify(X, y)  # as earlier versions rounded


def test_the_margins_have_no_tolerance():
    certificate, X, y = certified("run")
    for path in ("margins.learned.lower", "margins.learned.upper", "margins.affine.lower", "margins.learned.radius"):
        for factor in (1 - 2.0**-52, 1 + 2.0**-52):
            forged = altered(certificate.record, {path: lambda value, factor=factor: value * factor})
            with pytest.raises(VerificationError, match=path):
                Certificate(sealed(forged)).verify(X, y)


TOO_MUCH = [
    ("run", {"procedure.passes": 10**9, "outcome.rounds": 40 * 10**9}, "too many passes: 1,000,000,000, above the"),
    ("run", {"procedure.passes": 10**5, "data.rows": 10**9}, "too many rounds"),
    ("converge", {"procedure.passes": 10**9, "procedure.max_passes": 10**9}, "too many passes"),
    ("forever", {"procedure.max_passes": 10**12}, r"procedure\.passes: the certificate says 5, the data say 6"),
    ("forever, worst", {"procedure.max_updates": 10**12}, r"passes: the certificate says 5, the data say 6"),
    ("forever, worst", {"procedure.max_updates": None}, r"passes: the certificate says 5, the data say 6"),
    ("batch, forever", {"procedure.max_passes": 10**12}, r"passes: the certificate says 4, the data say 5"),
    ("worst", {"procedure.passes": 10**7}, "too many passes"),
    ("run", {"options.n_features": 10**13}, "too many weights"),
    ("run", {"options.n_features": 10**8}, "too many weights"),
    (
        "classes",
        {"options.classes": list(range(10**4)), "data.rows": 10**5, "margins.learned.weights": None},
        "too many rounds: 999,900,000",
    ),
    (
        "classes",
        {"options.classes": list(range(10**4)), "options.n_features": 10**4, "margins.learned.weights": None},
        "too many weights",
    ),
    (
        "run",
        {"margins.learned.support": [2] * 10**6},
        r"margins\.learned\.support\[1\] is row 2 again; .* all different",
    ),
    ("run", {"margins.learned.support": list(range(5)), "margins.learned.shares": [0.2] * 6}, "5 rows, but 6 shares"),
    ("run", {"margins.learned.support": [40], "margins.learned.shares": [1.0]}, "row 40 is not among them"),
    ("inseparable", {"separability.rows": [0, 0, 0, 0]}, "all different"),
    ("inseparable", {"separability.rows": [0, 1, 2, -3]}, r"separability\.rows\[3\] is -3; .* the numbers of rows"),
    ("inseparable", {"separability.rows": [0, 1, 2, 4]}, "separability: there are 4 rows; row 4 is not among them"),
    (
        "inseparable",
        {"separability.rows": list(range(10**5)), "separability.shares": ["1/186a0"] * 10**5, "data.rows": 10**5},
        "100,000 rows, where 4 are always enough",
    ),
    (
        "inseparable",
        {
            "separability.rows": list(range(10**4)),
            "separability.shares": [f"1/{2**60000:x}", *["1/3"] * (10**4 - 1)],
            "data.rows": 10**4,
            "options.n_features": 10**4,
        },
        "too long over their common denominator: 150,010,000, above the limit characters",
    ),
    ("inseparable", {"separability.shares.0": "1/" + "f" * 10**6}, "too many digits"),
    ("inseparable", {"separability.shares.0": "f" * 10**6 + "/1"}, "too many digits"),
    (
        "inseparable",
        {"separability.shares": [f"1/{2**60000 + k:x}" for k in (1, 3, 5, 7)]},
        "the shares have too many digits",
    ),
    ("inseparable", {"separability.shares.0": "1e99999999999"}, "in base 16"),
    ("inseparable", {"separability.shares.0": "0/4"}, "in base 16"),
    ("inseparable", {"separability.shares.0": "2/8"}, "in its lowest terms|the certificate says"),
    ("inseparable", {"separability.shares.0": "1/8"}, "their sum 1"),
]


@pytest.mark.parametrize(("case", "changes", "message"), TOO_MUCH, ids=range(len(TOO_MUCH)))
def test_what_would_take_forever_is_refused_at_once(case, changes, message):
    certificate, X, y = certified(case)
    with pytest.raises(VerificationError, match=message):
        Certificate(sealed(altered(certificate.record, changes))).verify(X, y)


MALFORMED = [
    ("procedure.passes", True, "is True; it must be a count from 1"),
    ("procedure.passes", 1.0, "is 1.0; it must be a count"),
    ("procedure.passes", 0, "is 0; it must be a count from 1"),
    ("procedure.kind", "batch", "procedure: unexpected passes|'run' or 'batch_perceptron'"),
    ("procedure.kind", ["run"], "procedure: unexpected passes|'run' or 'batch_perceptron'"),
    ("outcome.mistakes", -1, r"outcome\.mistakes is -1"),
    ("outcome.rounds", 10**5000, r"outcome\.rounds is an integer of 16,610 bits; it must be a count"),
    ("outcome.weights", "0" * 63, "64 hexadecimal digits"),
    ("options.fit_intercept", 1, "is 1; it must be true or false"),
    ("options.classes", [], "a list of labels of one type"),
    ("options.classes", [1, "1"], "a list of labels of one type"),
    ("options.classes", [0, 2**70], "a list of labels of one type"),
    ("options.start", [1, 2, 3], "a list of finite floats"),
    ("options", [], "options is list; it must be an object"),
    ("data.layout", "diagonal", "'dense' or 'sparse' or 'mixed'"),
    ("delta", 0.0, "0 < delta < 1"),
    ("delta", float("nan"), "0 < delta < 1"),
    ("margins.learned.lower", float("inf"), "a finite number"),
    ("margins.learned.shares", ["0.5"], "a list of finite floats"),
    ("margins.learned", None, r"margins\.learned is None; it must be an object"),
    ("margins.learned.support", [], r"margins\.learned\.support has no row"),
    ("margins.learned.support", [0, True], r"margins\.learned\.support\[1\] is True; .* the numbers of rows"),
    ("margins.learned.weights", [], r"margins\.learned\.weights has 0 entries; it must have 4"),
    ("margins.affine.weights", [1.0] * 5, r"margins\.affine\.weights has 5 entries; it must have 4"),
    ("comparator", [0.0], "comparator has 1 entries; it must have 4"),
    ("comparator", [[0.0]], "a list of finite floats"),
    ("bounds", {}, "bounds is dict; it must be a list"),
    ("bounds.0", None, r"bounds\[0\] is None; it must be an object"),
    ("bounds.0.quantities", {"radius": float("nan")}, "an object of numbers"),
    ("bounds.0.quantities", {"radius\n": 1.0}, "an object of numbers"),
    ("bounds.0.chance", None, "true or false"),
    ("bounds.0.chance", True, r"bounds\[0\]\.quantities\.delta is None; it must be a number with 0 < delta < 1"),
    ("bounds.0.theorem", "P1\nverified", "without control characters"),
    ("bounds.0.checked", ["words", 1], r"bounds\[0\]\.checked\[1\] is 1; .* a list of strings"),
    ("rule.name", "P\x1b[2J", "without control characters"),
    ("rule.parameters", {"tie": [[1], [1, 2]]}, "Perceptron refuses its parameters"),
    ("rule.parameters", {"ti\x1be": 1}, "an object of numbers, strings"),
    ("rule.name", "Perceptrons", "this onlinear has no rule 'Perceptrons'"),
    ("rule.name", "__class__", "this onlinear has no rule"),
    ("rule.parameters", {"tie": {}}, "an object of numbers, strings"),
    ("rule.parameters", {"tie": "never"}, "Perceptron refuses its parameters: Perceptron: tie is 'never'"),
    ("rule.parameters", {"ties": "mistake"}, "Perceptron refuses its parameters"),
    ("certificate", 2, "certificate is 2; it must be 1"),
    ("certificate", True, "certificate is True; it must be 1"),
]


@pytest.mark.parametrize(("path", "value", "message"), MALFORMED, ids=range(len(MALFORMED)))
def test_the_structure_is_checked_before_any_work(path, value, message):
    certificate, *_ = certified("run")
    with pytest.raises(VerificationError, match=message):
        Certificate(altered(certificate.record, {path: value})).verify(None)  # the examples are not looked at


def test_unknown_and_missing_keys_are_refused_everywhere():
    certificate, *_ = certified("run")

    def objects(value, path=""):
        if isinstance(value, dict) and not path.endswith(("quantities", "parameters")):
            yield path
            for name, one in value.items():
                yield from objects(one, f"{path}.{name}".lstrip("."))
        elif isinstance(value, list):
            for k, one in enumerate(value):
                yield from objects(one, f"{path}.{k}")

    places = list(objects(certificate.record))
    assert len(places) > 10
    for path in places:
        for change in ({"extra": 1}, None):

            def changed(part, change=change):
                return {**part, **change} if change else dict(list(part.items())[1:])

            record = certificate.record
            record = altered(record, {path: changed}) if path else changed(record)
            with pytest.raises(VerificationError, match=r"unexpected|missing"):
                Certificate(record).verify(None)
            with pytest.raises(DataError, match=r"not a certificate: .*(unexpected|missing)"):
                Certificate.from_json(json.dumps(record))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"certificate": 1, "certificate": 1}', "duplicate key"),
        ('{"certificate": NaN}', "NaN is not JSON"),
        ('{"certificate": -Infinity}', "Infinity is not JSON"),
        ('{"certificate": ' + "9" * 100_000 + "}", "digits"),
        ('{"certificate": ' + "[" * 100_000 + "]" * 100_000 + "}", "recursion"),
        ('{"certificate": ' + "[" * 500 + "]" * 500 + "}", "missing"),
        (" " * 2**24 + "{}", "the text is too long: 16,777,218, above the limit characters=16,777,216"),
    ],
    ids=range(7),
)
def test_texts_that_are_no_certificates(text, message):
    with pytest.raises(DataError, match=message):
        Certificate.from_json(text)


def test_repeats_take_no_memory():
    certificate, X, y = certified("run")
    forged = Certificate(altered(certificate.record, {"margins.learned.support": [2] * 10**6}))
    tracemalloc.start()
    try:
        with pytest.raises(VerificationError):
            forged.verify(X, y)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_limits_are_stated_and_adjustable():
    certificate, X, y = certified("inseparable")
    record, sparse = certificate.record, scipy.sparse.csr_array(X)
    for limits, message in {
        Limits(passes=0): "too many passes: 1, above the limit passes=0; see Limits",
        Limits(numbers=2): "the rule has too many weights: 3",
        Limits(numbers=7): "too many entries to be made dense: 8",
        Limits(entries=2): "a vector has too many entries: 3",
        Limits(entries=5): "the rows have too many entries",
        Limits(digits=0): "a share has too many digits",
        Limits(characters=3): "the shares are too long over their common denominator: 4",
        Limits(products=7): "the shares have too many digits for these rows: 8",
    }.items():
        with pytest.raises(VerificationError, match=message):
            certificate.verify(sparse, y, limits=limits)
    certificate.verify(sparse, y, limits=Limits(passes=1, rounds=0, numbers=8, entries=8, digits=1))
    text = certificate.to_json()
    assert Certificate.from_json(text, limits=Limits(characters=len(text))).record == record
    with pytest.raises(DataError, match="the text is too long"):
        Certificate.from_json(text, limits=Limits(characters=len(text) - 1))
    twice = onlinear.certify(onlinear.run(Perceptron(), [(X, y)] * 2), X, y)
    with pytest.raises(VerificationError, match="too many rounds: 8, above the limit rounds=7"):
        twice.verify(X, y, limits=Limits(rounds=7))
    with pytest.raises(VerificationError, match="the run reads too many numbers: 24, above the limit reads=23"):
        twice.verify(X, y, limits=Limits(reads=23))
    twice.verify(X, y, limits=Limits(rounds=8, reads=24))
    classes, X, y = certified("classes")
    for limits, message in {
        Limits(pairs=300): "the pairs of classes have too many entries: 3",
        Limits(reads=359): "the run reads too many numbers: 360",
    }.items():
        with pytest.raises(VerificationError, match=message):
            classes.verify(X, y, limits=limits)
    classes.verify(X, y, limits=Limits(rounds=60, reads=360, pairs=360))


def test_classes_that_do_not_occur_make_no_work():
    """The pairs are counted before any of them is made."""
    certificate, X, y = certified("classes")
    many = {"options.classes": list(range(400)), "margins.learned.weights": None, "data.by_class": lambda own: own}
    with pytest.raises(VerificationError, match="the pairs of classes have too many entries"):
        Certificate(sealed(altered(certificate.record, many))).verify(X, y, limits=Limits(pairs=10**4))


def test_the_rows_of_a_combination_are_counted_before_they_are_copied(monkeypatch):
    certificate, X, y = certified("inseparable")
    monkeypatch.setattr(Examples, "rows", None)
    for layout in (np.asarray, scipy.sparse.csr_array):
        with pytest.raises(VerificationError, match=r"margins\.learned: the rows have too many entries"):
            certificate.verify(layout(X), y, limits=Limits(entries=5))


@given(data=st.data())
def test_entries_are_counted_as_they_are_stored(data):
    X = np.array(data.draw(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=9)))
    numbers = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, unique=True)))
    for bias in (False, True):
        for layout in (np.asarray, scipy.sparse.csr_array):
            blocks = [(layout(X[i : i + 4].astype(float)), np.ones(len(X[i : i + 4]))) for i in range(0, len(X), 4)]
            examples = Examples(blocks, fit_intercept=bias, classes=(-1, 1))
            assert (
                examples.count_entries(numbers)
                == examples.rows(numbers)[0].nnz
                == X[numbers].sum() + bias * len(numbers)
            )


@pytest.mark.parametrize("case", ["run", "winnow passes", "experts"])
def test_bounds_read_the_examples_of_several_passes_once(case, monkeypatch):
    """The number of passes that a certificate claims decides what is counted, not how often the examples are read."""
    X, y = SEPARABLE if case == "run" else (np.eye(5), np.ones(5)) if case == "winnow passes" else ADVICE
    rule = {"run": Perceptron(), "winnow passes": Winnow(), "experts": RandomizedWeightedMajority(0.25)}[case]
    read = LabelledData.rows

    def counted(self, classes, passes=1):
        assert passes == 1
        return read(self, classes, passes)

    run = onlinear.run(rule, [(X, y)] * 7, classes=(-1, 1))
    certificate = onlinear.certify(run, X, y)
    monkeypatch.setattr(LabelledData, "rows", counted)
    certificate.verify(X, y)


def test_a_theorem_about_one_pass_is_refused_before_the_run_is_repeated(monkeypatch):
    certificate, X, y = certified("run")
    monkeypatch.setattr("onlinear.theory.certificate.certificate.replay", None)
    more = {"procedure.passes": 50, "outcome.rounds": 2000}
    with pytest.raises(VerificationError, match=r"Progressive validation \(P12\) does not apply: .* one pass"):
        Certificate(sealed(altered(certificate.record, more))).verify(X, y)


@pytest.mark.parametrize(
    ("case", "changes", "message"),
    [
        (
            "run",
            {"margins": None, "separability": None},
            "^margins is null; a run like this one has a margin that is aug",
        ),
        ("run", {"margins.affine": None}, r"^margins\.affine is null; a run like this one has a margin that is affine"),
        ("run", {"margins.learned.shares": lambda own: [0.0] * len(own)}, r"^margins\.learned\.shares bound no margin"),
        ("run", {"margins.affine.shares": lambda own: [0.0] * len(own)}, r"^margins\.affine\.shares .* of each class"),
        (
            "run",
            {"comparator": [1e200] * 4},
            r"^Perceptron hinge bound \(P5\) does not apply: .* too large for a float",
        ),
        ("run", {"comparator": [1e308] * 4}, "these examples: comparator: .* the score overflows"),
    ],
)
def test_messages_name_the_entry(case, changes, message):
    certificate, X, y = certified(case)
    with pytest.raises(VerificationError, match=message):
        Certificate(sealed(altered(certificate.record, changes))).verify(X, y)


def test_nothing_in_a_certificate_passes_for_another_line():
    certificate, *_ = certified("run")
    odd = "\x1b[2J\n  verified  yes\u202e"
    changes = {"excluded": [{"theorem": "P99", "reason": odd}], "bounds.0.note": odd, "bounds.0.checked": [odd]}
    forged = Certificate.from_json(json.dumps(sealed(altered(certificate.record, changes))))
    for shown in (forged, forged.bounds[0]):
        assert r"\x1b[2J\n  verified  yes\u202e" in repr(shown)
        assert all(line.isprintable() for line in repr(shown).split("\n"))
        assert shown._repr_html_().isprintable()
    with pytest.raises(DataError, match=r"unexpected \\x1b\[2J"):
        Certificate.from_json(json.dumps({**certificate.record, "\x1b[2J": 1}))


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        (0.05, "0.95"),
        (1 / 3, "0.666666"),
        (1e-5, "0.99999"),
        (1.5e-5, "0.999985"),
        (1.00000001e-5, "0.999989"),
        (1e-7, "1 − 1e-07"),
        (1.2345678e-9, "1 − 1.23457e-09"),
        (1e-300, "1 − 1e-300"),
        (1 - 2.0**-53, "1e-16"),
    ],
)
def test_a_probability_is_not_rounded_up(delta, words):
    X, y = SEPARABLE
    certificate = onlinear.certify(onlinear.run(Perceptron(), X, y), X, y, delta=delta)
    assert f", with probability {words} (declared" in repr(certificate)


def test_a_loop_is_not_repeated_for_longer_than_it_is_said_to_have_taken():
    """A run that was cut short cannot be passed off as one that has ended."""
    X, y = onlinear.datasets.separable(margin=0.01, n=60, d=4, seed=2)
    for selection in ("cyclic", "random", "worst"):
        ended = onlinear.converge(Perceptron(), X, y, selection=selection)
        assert ended.halted
        assert ended.passes > 2
        limit = "max_updates" if selection == "worst" else "max_passes"
        for passes in range(1, ended.passes):
            cut = onlinear.converge(Perceptron(), X, y, selection=selection, **{limit: passes})
            record = copy.deepcopy(onlinear.certify(cut, X, y).record)
            record["procedure"][limit] = 1000
            with pytest.raises(VerificationError, match=r"procedure\.passes|outcome"):
                Certificate(sealed(record)).verify(X, y)
        onlinear.certify(ended, X, y).verify(X, y)


def test_a_run_that_exceeds_a_certain_bound_does_not_verify(monkeypatch):
    """Only rounding can do that. A bound that holds with some probability may be exceeded, and says so."""
    from onlinear.theory.certificate import statements

    X, y = SEPARABLE
    run = onlinear.run(Perceptron(), X, y)
    monkeypatch.setattr(statements, "perceptron", lambda *_, **__: Bound(0.5, "Perceptron mistake bound (P1)"))
    certificate = onlinear.certify(run, X, y)
    assert not certificate.holds
    assert "1 mistake > 0.5" in repr(certificate)
    with pytest.raises(VerificationError, match="the run exceeds a bound, so rounding decided a prediction"):
        certificate.verify(X, y)
    X, y = ADVICE
    run = onlinear.run(RandomizedWeightedMajority(0.25, seed=3), X, y)
    assert run.mistakes > 1

    def tight(*_, eta, delta=None):
        return Bound(1.0, "a theorem", quantities={"delta": delta}) if delta else Bound(100.0, "a theorem")

    monkeypatch.setattr(statements, "randomized_weighted_majority", tight)
    unlucky = onlinear.certify(run, X, y)
    assert not unlucky.holds
    unlucky.verify(X, y)


def places(value, path=()):
    """All places in a record, inner and outer."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from places(one, (*path, name))


ODD = [None, True, 0, 1, -1, 2**31, 10**9, 2**62, 10**40, 0.0, -0.0, 1e-320, 1e308, 0.5, "", "1/2", [], {}, [[]], [0]]


@given(case=st.sampled_from(sorted(MAKE)), data=st.data())
def test_no_alteration_leads_to_a_false_certificate(case, data):
    """Whatever is altered, verifying ends with an error, or what is claimed is true of the run."""
    certificate, X, y = certified(case)
    record = copy.deepcopy(certificate.record)
    for _ in range(data.draw(st.integers(1, 3))):
        steps = data.draw(st.sampled_from([path for path in places(record) if path]))
        place = record
        for step in steps[:-1]:
            place = place[step]
        value = place[steps[-1]]
        others = [st.sampled_from(ODD), st.just(value)]
        if isinstance(value, float):
            others += [st.sampled_from([value * (1 + 2.0**-52), value * (1 - 9e-13), -value]), st.floats()]
        if isinstance(value, int):
            others += [st.sampled_from([value + 1, value - 1, float(value)]), st.integers()]
        if isinstance(value, list) and value:
            others += [st.sampled_from([value[1:], value + value[:1], value[::-1], value * 1000])]
        place[steps[-1]] = copy.deepcopy(data.draw(st.one_of(others)))
    try:
        forged = Certificate.from_json(json.dumps(sealed(record)))
        assert all(line.isprintable() for line in repr(forged).split("\n"))
        assert (forged.margin is None) == (forged.difficulty is None)
        forged.verify(X, y)
    except (DataError, VerificationError):
        return
    except ParameterError:
        assert record["rule"]["own"]  # then its class must be given
        return
    assert_true(forged, certificate)


def assert_true(forged, certificate):
    """What a verified certificate claims is true of the run that the other one was made from, if it is the same."""
    mine, its = certificate.record, forged.record
    assert its["data"] == mine["data"]
    assert forged.holds
    if (its["rule"], its["options"]) == (mine["rule"], mine["options"]):
        assert its["outcome"] == mine["outcome"]
        for name, part in (its["margins"] or {}).items():
            if part is not None:
                assert part["lower"] <= mine["margins"][name]["upper"]
                assert part["upper"] >= mine["margins"][name]["lower"]
        verdicts = {(one["separability"] or {}).get("verdict") for one in (its, mine)}
        assert verdicts != {"separable", "inseparable"}
