"""Data as people have them: scikit-learn's bundled sets, and libsvm files where they are at hand."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file, load_wine
from sklearn.preprocessing import StandardScaler

import onlinear
from onlinear.rules import Perceptron
from onlinear.theory import Inseparable, Separable

FILES = Path(__file__).parents[2] / "shared" / "data"


def libsvm(name):
    path = FILES / name / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    return load_svmlight_file(path)


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
