"""What the classifiers learn is what the rules learn: the same bits, whatever the batches and the layout."""

import contextlib
import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, note
from sklearn.exceptions import ConvergenceWarning

import onlinear
import strategies
from classifiers import ONLINE, as_the_rule_reads, in_batches, in_two, new, plain, same
from onlinear.errors import DataError, ParameterError, RuleError
from onlinear.estimators import patience
from onlinear.rules import WeightedMajority, Winnow
from onlinear.runs.convergence import Outcome


@pytest.mark.parametrize("name", ONLINE)
@given(data=strategies.real(), cuts=st.lists(st.integers(0, 30), max_size=4))
def test_partial_fit_is_one_pass_whatever_the_batches(name, data, cuts):
    X, y = data
    model = in_batches(new(name), X, y, cuts, classes=[-1, 1])
    run = onlinear.run(ONLINE[name][1], as_the_rule_reads(name, X), y, fit_intercept=name != "winnow")
    same(model, run)
    assert np.array_equal(model.predict(X), run.predict(as_the_rule_reads(name, X)))


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("shuffle", [False, True])
@given(data=strategies.real(max_rows=12, max_width=6))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_is_the_halting_loop(name, shuffle, data):
    X, y = data
    model = new(name, shuffle=shuffle, random_state=7, max_iter=20, **plain(name)).fit(X, y)
    run = onlinear.converge(
        ONLINE[name][1],
        as_the_rule_reads(name, X),
        y,
        selection="random" if shuffle else "cyclic",
        seed=7,
        max_passes=20,
        fit_intercept=name != "winnow",
    )
    same(model, run)
    assert model.n_iter_ == run.passes
    assert model.run_.halted == run.halted


@pytest.mark.parametrize("name", ONLINE)
@given(data=strategies.real())
def test_the_layout_changes_nothing(name, data):
    X, y = data
    one = new(name).partial_fit(X, y, classes=[-1, 1])
    for layout in ("float32", "fortran", "lists", "csr", "csc", "csr, duplicates"):
        note(layout)
        Z = strategies.as_layout(X, layout)
        other = new(name).partial_fit(Z, y, classes=[-1, 1])
        assert one.coef_.tobytes() == other.coef_.tobytes()
        assert np.array_equal(one.decision_function(X), other.decision_function(Z))


@pytest.mark.parametrize("estimator", [onlinear.PerceptronClassifier(), onlinear.BatchPerceptronClassifier()], ids=repr)
@given(data=strategies.separable(max_rows=10, max_width=5))
def test_fit_separates_what_can_be_separated(estimator, data):
    X, y, u = data
    estimator.set_params(max_iter=10**6, fit_intercept=False).fit(X, y)
    assert (y * estimator.decision_function(X) > 0).all()
    assert estimator.score(X, y) == 1.0
    assert (y * (X @ u)).min() / np.linalg.norm(u) <= estimator.margin_upper_bound_


@pytest.mark.parametrize("name", ONLINE)
@given(data=strategies.real(max_rows=12))
def test_scores_are_linear(name, data):
    X, y = data
    model = new(name).partial_fit(X, y, classes=[-1, 1])
    scores = as_the_rule_reads(name, X) @ model.coef_.T + model.intercept_
    assert np.array_equal(scores[:, 0], model.decision_function(X))


def test_what_is_known_is_in_the_warning():
    X, y = onlinear.datasets.xor()
    with pytest.warns(ConvergenceWarning, match=r"gave up after 30 passes; no separator .* a margin above 0\.\d+"):
        model = onlinear.PerceptronClassifier(max_iter=30, average=False).fit(X, y)
    assert model.n_iter_ == 30
    with pytest.warns(ConvergenceWarning, match=r"no separator has the margin 0\.9 that the rule asks for"):
        onlinear.MarginPerceptronClassifier(margin=0.9, normalized=True).fit(X, y)


def test_a_loop_that_goes_on_after_the_question_says_how_long_it_was(monkeypatch):
    X, y = onlinear.datasets.noisy(n=60, d=3, flip=0.2)

    def go_on(start, passes, stop):
        return onlinear.converge(onlinear.rules.Perceptron(), X, y, state=start, max_passes=passes, stop=stop)

    monkeypatch.setattr(patience, "_PASSES", 3)
    monkeypatch.setattr(patience, "_MOST", 10)
    yes = patience.Answer(separable=True, words="some vector separates them")
    for stop in (None, lambda passes: len(passes) == 2):
        run, known = patience.until_separated(go_on, None, None, stop, lambda: yes)
        assert (run.passes, run.max_passes, run.outcome) == (10, 10, Outcome.PASS_LIMIT)
        assert run.reason.startswith("gave up after 10 passes; no separator of these examples has a margin above 0.")
        assert "with a small margin: it takes too long" in known


def test_a_warm_start_goes_on():
    X, y = onlinear.datasets.separable(margin=0.02, n=200, d=5, seed=1)
    plain = onlinear.PerceptronClassifier(shuffle=False, average=False)
    for estimator in (plain, onlinear.BatchPerceptronClassifier()):
        whole = type(estimator)(**estimator.get_params()).fit(X, y)
        estimator.set_params(warm_start=True, max_iter=1)
        for left in reversed(range(whole.n_iter_)):
            # The last pass but one learns what there is to learn, the last one finds nothing.
            gives_up = pytest.warns(ConvergenceWarning, match="1 pass") if left > 1 else contextlib.nullcontext()
            with gives_up:
                estimator.fit(X, y)
        same(estimator, whole.run_)
    model = onlinear.PerceptronClassifier(warm_start=True).partial_fit(X, y, classes=[-1, 1])
    assert model.fit(X, y).t_ > 2 * len(y)
    with pytest.raises(DataError, match=r"unknown labels \[5\]; the classes are \[-1, 1\]"):
        model.fit(X, np.where(y > 0, 5, -1))


def test_without_a_warm_start_nothing_is_left_of_the_last_fit():
    X, y = onlinear.datasets.separable(margin=0.1, n=50, d=5, seed=0)
    model = onlinear.PerceptronClassifier().partial_fit(X[:, :3], np.where(y > 0, "p", "n"), classes=["p", "n"])
    model.fit(X, y)
    same(model, onlinear.PerceptronClassifier().fit(X, y).run_)


def test_random_states():
    X, y = onlinear.datasets.separable(margin=0.02, n=100, d=5, seed=0)
    fits = [
        onlinear.PerceptronClassifier(random_state=state).fit(X, y)
        for state in (3, np.int64(3), np.random.RandomState(5), np.random.RandomState(5), None)
    ]
    same(fits[0], fits[1].run_)
    same(fits[2], fits[3].run_)
    assert fits[4].score(X, y) == 1.0


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (False, True), (-3.0, 2.0), (-7, -1)])
@pytest.mark.parametrize("estimator", [onlinear.PerceptronClassifier(), onlinear.BatchPerceptronClassifier()], ids=repr)
def test_labels_of_any_type(estimator, labels):
    X, y = onlinear.datasets.separable(margin=0.1, n=50, d=5, seed=0)
    y = np.array(labels)[(y > 0).astype(int)]
    model = estimator.fit(X, y)
    assert model.classes_.tolist() == list(labels)
    assert np.array_equal(model.predict(X), y)
    assert ((model.decision_function(X) > 0) == (y == labels[1])).all()


def test_labels_as_objects():
    X, y = onlinear.datasets.separable(margin=0.1, n=50, d=5, seed=0)
    y = np.array(["no", "yes"], dtype=object)[(y > 0).astype(int)]
    model = onlinear.PerceptronClassifier().partial_fit(X, y, classes=["yes", "no"]).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("name", ONLINE)
@given(data=strategies.real(), cut=st.integers(1, 29))
def test_advice_is_what_was_predicted_before_the_answer(name, data, cut):
    X, y = data
    model, twin = new(name), new(name)
    twin.partial_fit(X[:1], y[:1], classes=[-1, 1])
    predicted = []
    for i in range(1, len(y)):
        predicted.append(int(twin.predict(X[i : i + 1])[0]))
        twin.partial_fit(X[i : i + 1], y[i : i + 1])
    advice = np.concatenate([model._advise(X[rows], y[rows], [-1, 1]) for rows in in_two(len(y), cut)])
    assert advice[1:].tolist() == predicted
    same(model, twin.run_)


def test_certificates():
    X, y = onlinear.datasets.separable(margin=0.1, n=60, d=3, seed=0)
    for model in (
        in_batches(onlinear.PerceptronClassifier(), X, y, [20, 41], classes=[-1, 1]),
        onlinear.PerceptronClassifier().fit(X, y),
        onlinear.MarginPerceptronClassifier().fit(X, y),
        onlinear.BatchPerceptronClassifier().fit(X, y),
    ):
        certificate = model.certificate(X, y)
        assert certificate.holds
        assert certificate.mistakes == model.mistakes_
        certificate.verify(X, y)
    X, y = onlinear.datasets.disjunction(k=2, N=20, n=100, seed=0)
    assert (
        onlinear.WinnowClassifier(binarize=0.5)
        .partial_fit(0.3 + X * 0.4, y, classes=[-1, 1])
        .certificate(0.3 + X * 0.4, y)
        .holds
    )


def test_refusals():
    X, y = onlinear.datasets.separable(margin=0.1, n=50, d=5, seed=0)
    for parameters, kind, match in (
        ({"rule": WeightedMajority()}, ParameterError, "use onlinear.ExpertsClassifier"),
        ({"rule": "perceptron"}, RuleError, "is not a rule"),
        ({"rule": Winnow()}, ParameterError, "fit_intercept does not apply"),
        ({"max_iter": 0}, ParameterError, "max_iter is 0"),
        ({"random_state": -1}, ParameterError, "seed is -1"),
    ):
        model = onlinear.OnlineClassifier(**parameters)
        with pytest.raises(kind, match=match):
            model.fit(X, y)
        assert not hasattr(model, "classes_")
    with pytest.raises(ParameterError, match="must name all labels"):
        onlinear.PerceptronClassifier().partial_fit(X, y)
    with pytest.raises(ParameterError, match="classes is empty"):
        onlinear.PerceptronClassifier().partial_fit(X, y, classes=[])
    with pytest.raises(DataError, match="Only binary classification is supported"):
        onlinear.WinnowClassifier().fit(X, np.arange(50) % 3)
    model = onlinear.PerceptronClassifier().fit(X, y).set_params(fit_intercept=False)
    with pytest.raises(ParameterError, match="fit_intercept was True"):
        model.partial_fit(X, y)
    batch = onlinear.BatchPerceptronClassifier(warm_start=True).fit(X, y).set_params(fit_intercept=False)
    with pytest.raises(ParameterError, match="fit_intercept was True"):
        batch.fit(X, y)
    with pytest.raises(ParameterError, match="the state belongs to"):
        model.set_params(fit_intercept=True, tie="negative").partial_fit(X, y)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32, "csr"])
def test_nothing_is_copied_whole(kind):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.integers(-9, 9, (20_000, 50)), dtype=np.float32 if kind == "csr" else kind)
    X = scipy.sparse.csr_array(X) if kind == "csr" else X
    y = rng.integers(0, 2, 20_000)
    model = onlinear.PerceptronClassifier().partial_fit(X, y, classes=[0, 1])  # compiles
    model.predict(X)
    tracemalloc.start()
    try:
        model.partial_fit(X, y)
        _, learning = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        model.predict(X)
        _, predicting = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert learning < 2**20
    assert predicting < 2**20 + 4 * y.nbytes
