"""Averages: what they are, when `fit` returns them, and that separable data are separated all the same."""

import warnings
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize

import onlinear
import strategies
from classifiers import in_two
from onlinear.errors import ParameterError
from onlinear.rules import AveragedPerceptron, Perceptron

NOISY = onlinear.datasets.noisy(n=600, d=5, seed=0)


def slow_average(X, y, classes, passes, margin=0.0):
    """The mean of the weights after each round, of the perceptron in the order given: an intercept, then features.

    Two classes have one vector, more have one each.
    """
    Z = np.hstack([np.ones((len(X), 1)), X])
    W, total = np.zeros((len(classes), Z.shape[1])), 0.0
    for _ in range(passes):
        for x, label in zip(Z, y, strict=True):
            right, scores = classes.index(label), W @ x
            wrong = max((r for r in range(len(classes)) if r != right), key=lambda r: (scores[r], -r))
            # Two vectors w and −w are twice as far apart as w and 0.
            if scores[right] - scores[wrong] <= margin * (2 if len(classes) == 2 else 1):
                W[right] += x
                W[wrong] -= x
            total = total + W
    mean = total / (passes * len(X))
    return mean if len(classes) > 2 else mean[1:]


def weights_of(model):
    return np.hstack([model.intercept_[:, None], model.coef_])


@pytest.mark.parametrize("classes", [2, 3])
@given(data=strategies.real(max_rows=15, max_width=4), cut=st.integers(1, 14), seed=st.integers(0, 99))
def test_partial_fit_averages_over_all_rounds(classes, data, cut, seed):
    X, _ = data
    y = np.random.default_rng(seed).integers(0, classes, len(X))
    model = onlinear.PerceptronClassifier(average=True)
    for rows in in_two(len(y), cut):
        model.partial_fit(X[rows], y[rows], classes=range(classes))
    assert np.allclose(weights_of(model), slow_average(X, y.tolist(), list(range(classes)), 1), rtol=1e-10, atol=1e-10)
    assert np.array_equal(model.predict(X), model.run_.predict(X))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("make", "margin"), [(onlinear.PerceptronClassifier, 0.0), (onlinear.MarginPerceptronClassifier, 1.0)]
)
@given(seed=st.integers(0, 99))
def test_fit_averages_over_all_rounds(make, margin, classes, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-20, 20, (60, 3)) / 16.0, rng.integers(0, classes, 60)
    X[1], y[:2] = X[0], [0, 1]  # which contradict each other
    for layout, average in product(["dense", "csr"], [True, "auto"]):
        model = make(average=average, shuffle=False, max_iter=7).fit(strategies.as_layout(X, layout), y)
        assert isinstance(model.run_.rule, AveragedPerceptron)
        assert (model.n_iter_, model.run_.halted) == (7, False)
        oracle = slow_average(X, y.tolist(), list(range(classes)), 7, margin)
        assert np.allclose(weights_of(model), oracle, rtol=1e-10, atol=1e-10)


@given(data=strategies.separable(max_rows=12, max_width=5))
def test_what_can_be_separated_is_separated(data):
    X, y, u = data
    for model in (
        onlinear.PerceptronClassifier(fit_intercept=False),
        onlinear.PerceptronClassifier(fit_intercept=False, average=False),
        onlinear.PerceptronClassifier(fit_intercept=False, early_stopping=True, shuffle=False),
        onlinear.MarginPerceptronClassifier(fit_intercept=False),
    ):
        model.fit(X, y)
        assert model.run_.halted
        assert model.score(X, y) == 1.0
        assert (y * (X @ u)).min() / np.linalg.norm(u) <= model.margin_upper_bound_


@pytest.mark.parametrize(("n", "d", "classes"), [(1000, 5, 2), (600, 40, 2), (300, 6, 3)])
def test_what_takes_hundreds_of_passes_is_separated(n, d, classes):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal((d, classes))).argmax(axis=1)
    passes = []
    for parameters in ({}, {"average": False}, {"average": False, "shuffle": False}):
        model = onlinear.PerceptronClassifier(**parameters).fit(X, y)
        assert model.score(X, y) == 1.0
        passes.append(model.n_iter_)
    assert max(passes) > 50
    assert onlinear.MarginPerceptronClassifier(margin=0.1).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine], ids=["two classes", "three"])
def test_raw_columns_with_a_tiny_margin_are_separated_by_the_separator_of_the_check(load):
    """The perceptron alone would need millions of passes: columns differ by factors of a thousand."""
    X, y = load(return_X_y=True)
    model = onlinear.PerceptronClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.run_.halted
    assert model.n_iter_ < 10
    certificate = model.certificate(X, y)
    assert certificate.holds
    certificate.verify(X, y)
    # Without a change of its start, it goes on with what it has, up to the limit that it was given.
    with pytest.warns(ConvergenceWarning, match=r"some vector separates|more passes \(max_iter\) may help"):
        onlinear.PerceptronClassifier(average=False, max_iter=200).fit(X, y)


def test_it_is_soon_found_out_that_nothing_separates():
    X, y = onlinear.datasets.noisy(n=10_000, d=10, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = onlinear.PerceptronClassifier().fit(X, y)
    assert model.n_iter_ == 2
    assert model.run_.reason.startswith("averaged over 2 passes; no vector separates these examples: those in rows ")
    assert np.array_equal(model.coef_, onlinear.PerceptronClassifier(average=True).fit(X, y).coef_)
    with pytest.warns(ConvergenceWarning, match=r"gave up after 2 passes; .* no vector separates") as caught:
        last = onlinear.PerceptronClassifier(average=False).fit(X, y)
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert isinstance(last.run_.rule, Perceptron)
    assert model.score(X, y) > last.score(X, y)


def test_a_grid_search_is_quiet():
    X, y = NOISY
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GridSearchCV(onlinear.PerceptronClassifier(), {"fit_intercept": [True, False]}, cv=3).fit(X, y)
        GridSearchCV(onlinear.MarginPerceptronClassifier(), {"margin": [0.0, 1.0]}, cv=3).fit(X, y)


def test_early_stopping_does_not_insist():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 20))
    y = X @ rng.standard_normal(20) > 0.0
    early = onlinear.PerceptronClassifier(early_stopping=True).fit(X, y)
    assert early.run_.reason.endswith("more passes would hardly help")
    assert early.n_iter_ == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        last = onlinear.PerceptronClassifier(early_stopping=True, average=False).fit(*NOISY)
    assert last.n_iter_ == 2


def test_going_on_from_an_average():
    X, y = NOISY
    model = onlinear.PerceptronClassifier(shuffle=False).fit(X, y)
    passes = model.n_iter_
    model.partial_fit(X, y)
    assert np.allclose(weights_of(model), slow_average(X, y.tolist(), [-1, 1], passes + 1), rtol=1e-9, atol=1e-9)
    again = model.set_params(warm_start=True).fit(X, y)
    assert again.t_ == (passes + 1 + again.n_iter_) * len(y)
    for average in (False, True):
        with pytest.raises(ParameterError, match="the state belongs to"):
            model.set_params(average=average).partial_fit(X, y)


def test_the_end_of_a_fit_can_be_certified_and_saved(tmp_path):
    separable = onlinear.datasets.separable(margin=0.02, n=150, d=4, seed=1)
    three = np.digitize(separable.X[:, 0], [-0.2, 0.2])
    for X, y in (NOISY, separable, (NOISY.X, np.random.default_rng(0).integers(0, 3, 600)), (separable.X, three)):
        for average in ("auto", True):
            model = onlinear.PerceptronClassifier(average=average).fit(X, y)
            certificate = model.certificate(X, y)
            assert certificate.holds
            certificate.verify(X, y)
            model.run_.save(tmp_path / "model")
            loaded = onlinear.load(tmp_path / "model")
            assert np.array_equal(loaded.predict(X), model.predict(X))
            assert loaded.reason == model.run_.reason


def test_progress_is_printed(capsys):
    onlinear.PerceptronClassifier(verbose=1).fit(*NOISY)
    onlinear.BatchPerceptronClassifier(verbose=1, max_iter=1).fit(np.eye(2), [0, 1])
    heading, first, *_, last, batch, _ = capsys.readouterr().out.splitlines()
    assert heading == "[PerceptronClassifier] passes for an average"
    assert first.startswith("[PerceptronClassifier] pass 1: ")
    assert first.endswith("%)")
    assert last.startswith("[PerceptronClassifier] averaged over 34 passes; no vector separates")
    assert batch == "[BatchPerceptronClassifier] pass 1: 2 mistakes (100.00%)"
    onlinear.PerceptronClassifier().fit(*NOISY)
    assert not capsys.readouterr().out


def test_refusals():
    for average in ("always", 1, None):
        with pytest.raises(ParameterError, match='it must be True, False or "auto"'):
            onlinear.PerceptronClassifier(average=average).fit(*NOISY)
    model = onlinear.MarginPerceptronClassifier(margin=0.1, normalized=True, average=True)
    with pytest.raises(ParameterError, match="there are no averages for MarginPerceptron"):
        model.fit(*NOISY)


def texts(n, seed, d=3000, words=30, flip=0.0):
    """Rows of unit length in which few features are frequent and most are rare, labelled by some of the features."""
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, words)) ** 3).astype(np.int32)
    counts = scipy.sparse.csr_matrix((np.ones(n * words), (np.repeat(np.arange(n), words), columns.ravel())), (n, d))
    X = normalize(counts)
    scores = X @ (rng.standard_normal(d) * (rng.random(d) < 0.1))
    return X, np.where((scores > np.median(scores)) ^ (rng.random(n) < flip), 1, -1)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: onlinear.datasets.noisy(n=6000, seed=seed),
        lambda seed: onlinear.datasets.noisy(n=20_000, flip=0.2, seed=seed),
        lambda seed: texts(4000, seed),
        lambda seed: texts(4000, seed, flip=0.1),
    ],
    ids=["noisy", "noisier", "text", "noisy text"],
)
def test_as_accurate_as_averaged_gradient_descent(make):
    differences = []
    for seed in range(4):
        X, y = make(seed)
        half = X.shape[0] // 2
        models = onlinear.PerceptronClassifier(random_state=seed), SGDClassifier(average=True, random_state=seed)
        ours, theirs = (model.fit(X[:half], y[:half]).score(X[half:], y[half:]) for model in models)
        differences.append(ours - theirs)
    assert np.mean(differences) > -0.005
