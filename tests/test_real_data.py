"""Data as people have them: scikit-learn's bundled sets, and libsvm files where they are at hand."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file, load_wine
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize

import onlinear
from onlinear.rules import Perceptron
from onlinear.theory import Inseparable, Separable

FILES = Path(__file__).parents[2] / "shared" / "data"


def libsvm(name):
    path = FILES / name / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    return load_svmlight_file(path)


def narrow(X):
    """The same matrix with indices of 32 bits: scikit-learn's classifiers take no others."""
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_breast_cancer_is_separable_by_a_hair(scaled, intercept):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X) if scaled else X
    verdict = onlinear.separability(X, y, fit_intercept=intercept)
    verdict.verify(X, y)
    # Centred at 0, the classes need an intercept; raw, the features' own means take its place.
    assert isinstance(verdict, Inseparable if scaled and not intercept else Separable)
    if isinstance(verdict, Separable):
        found = onlinear.max_margin(X, y, fit_intercept=intercept)
        assert found.gap <= 1e-6
        assert found.upper < 1e-3 * found.radius
        found.verify(X, y)


def test_two_kinds_of_iris_are_not_separable():
    X, y = load_iris(return_X_y=True)
    for one, separable in [(0, True), (1, False)]:
        two = (y == one) | (y == 2)
        verdict = onlinear.separability(X[two], y[two], fit_intercept=True)
        verdict.verify(X[two], y[two])
        assert isinstance(verdict, Separable if separable else Inseparable)
        if not separable:
            assert len(verdict.rows) <= X.shape[1] + 2


@pytest.mark.parametrize("load", [load_digits, load_wine])
def test_one_class_against_the_rest(load):
    X, y = load(return_X_y=True)
    for digit in np.unique(y):
        rest = (y == digit).astype(int)
        verdict = onlinear.separability(X, rest, fit_intercept=True)
        verdict.verify(X, rest)
        found = onlinear.max_margin(X, rest, fit_intercept=True, tol=1e-3)
        found.verify(X, rest)
        assert found.separable == isinstance(verdict, Separable)
        assert not found.separable or found.gap <= 1e-3


@pytest.mark.parametrize("intercept", [False, True])
def test_a_certificate_for_breast_cancer(intercept):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    run = onlinear.run(Perceptron(), X, y, fit_intercept=intercept)
    certificate = onlinear.certify(run, X, y)
    assert certificate.holds
    certificate.verify(X, y)


def test_mushrooms():
    X, y = libsvm("mushrooms")
    verdict = onlinear.separability(X, y)
    verdict.verify(X, y)
    assert isinstance(verdict, Separable)
    found = onlinear.max_margin(X, y)
    assert found.gap <= 1e-4
    found.verify(X, y)
    assert onlinear.run(Perceptron(), X, y).mistakes <= found.difficulty


@pytest.mark.parametrize("intercept", [False, True])
def test_a9a(intercept):
    X, y = libsvm("a9a")
    verdict = onlinear.separability(X, y, fit_intercept=intercept)
    verdict.verify(X, y)
    assert isinstance(verdict, Inseparable)
    found = onlinear.best_comparator(X, y, fit_intercept=intercept)
    assert found.gap <= 0.01
    assert onlinear.run(Perceptron(), X, y, fit_intercept=intercept).mistakes <= found.bound


def test_fit_is_as_accurate_as_averaged_gradient_descent_on_adults():
    X, y = libsvm("a9a")
    test, labels = load_svmlight_file(FILES / "a9a" / "a9a.t", n_features=X.shape[1])
    theirs = SGDClassifier(average=True, random_state=0).fit(narrow(X), y).score(narrow(test), labels)
    scores = [onlinear.PerceptronClassifier(random_state=seed).fit(X, y).score(test, labels) for seed in range(5)]
    assert min(scores) > theirs - 0.005
    assert max(scores) - min(scores) < 0.005


@pytest.mark.parametrize("name", ["subjectivity", "sms", "proscons"])
@pytest.mark.parametrize("unit", [False, True])
def test_fit_is_as_accurate_as_averaged_gradient_descent_on_text(name, unit):
    X, y = libsvm(name)
    X = normalize(X) if unit else X
    differences = []
    for seed in range(8):
        *parts, learned, asked = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
        train, test = map(narrow, parts)
        ours = onlinear.PerceptronClassifier(random_state=seed).fit(train, learned)
        theirs = SGDClassifier(average=True, random_state=seed).fit(train, learned)
        differences.append(ours.score(test, asked) - theirs.score(test, asked))
        assert ours.run_.halted == (ours.score(train, learned) == 1.0)
    assert np.mean(differences) > -0.005
