"""Found by those who tried to break the classifiers: labels, words of warning, tags."""

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import onlinear
from onlinear.errors import DataError, ParameterError
from onlinear.rules import MarginPerceptron, Winnow, dot, rule


@rule
class Shifted(NamedTuple):
    """Its score is not ⟨w,x⟩, so it tells two classes apart."""

    shift: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x) - self.shift

    def update(self, w, x, y, score, mistake):
        return False


def warning_of(model, X, y):
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    return str(caught[0].message)


def test_many_classes_are_no_regression():
    y = np.repeat(np.arange(30), 2)
    X = np.eye(30)[y]
    assert onlinear.PerceptronClassifier().fit(X, y).score(X, y) == 1.0
    for classes in (np.arange(30), None):
        model = onlinear.PerceptronClassifier(new_classes=classes is None)
        assert model.partial_fit(X, y, classes=classes).classes_.size == 30
    with pytest.raises(DataError, match=r"Unknown label type: continuous. A label is 0\.5"):
        model.fit(X, y / 2)


def test_labels_that_floats_cannot_tell_apart():
    X, y = np.eye(5), np.arange(4) + 2**53
    model = onlinear.PerceptronClassifier(new_classes=True).partial_fit(X[:4], y)
    before = model.run_
    with pytest.raises(DataError, match="int64 and float64 have no common type"):
        model.partial_fit(X[4:], np.array([7.0]))
    assert model.run_ is before
    assert model.partial_fit(X[4:], np.array([7])).classes_.tolist() == [7, *y.tolist()]


@pytest.mark.parametrize("kind", ["str", "object", "category"])
def test_texts_of_pandas_can_be_saved(kind, tmp_path):
    X, y = np.eye(3), pd.Series(["a", "b", "c"], dtype=kind)
    for labels in (y, y[:2]):
        model = onlinear.PerceptronClassifier().fit(X[: len(labels)], labels)
        model.run_.save(tmp_path / "model")
        assert onlinear.load(tmp_path / "model").predict(X[:2]).tolist() == ["a", "b"]


@pytest.mark.parametrize(("kind", "classes"), [(np.uint8, [-1, 0, 1]), (np.int8, [300, 301, 302])])
def test_labels_of_a_narrow_type(kind, classes):
    with pytest.raises(DataError, match=r"row \d: label \d; the labels are"):
        onlinear.PerceptronClassifier().partial_fit(np.eye(3), np.array([0, 1, 2], kind), classes=classes)


def test_a_margin_that_nothing_has():
    X, y = np.eye(2), [0, 1]
    for limit in (50, None):
        model = onlinear.MarginPerceptronClassifier(margin=5.0, normalized=True, max_iter=limit)
        said = warning_of(model, X, y)
        assert said == "MarginPerceptronClassifier: no separator has the margin 5 that the rule asks for"
    just = onlinear.MarginPerceptronClassifier(margin=1.0, normalized=True, fit_intercept=False)
    assert "more passes would hardly help" in warning_of(just, [[1.0, 0.3], [-1.0, 0.3]], [1, 0])
    assert just.n_iter_ == 128


def test_advice_that_helps():
    X, y = [[0.0], [1.0], [1.0]], [0, 1, 0]
    perceptron = onlinear.PerceptronClassifier(max_iter=3, average=False)
    winnow = onlinear.WinnowClassifier(max_iter=3)
    assert warning_of(perceptron, X, y).endswith('more passes (max_iter) may help; average="auto" would predict better')
    assert warning_of(winnow, X, y).endswith("more passes (max_iter) may help")
    assert "those in rows 1, 2 cancel exactly; average=" in warning_of(perceptron.set_params(max_iter=None), X, y)
    assert perceptron.n_iter_ == 128
    assert warning_of(winnow.set_params(max_iter=None), X, y).endswith("more passes would hardly help")
    wide = np.eye(4, 300)
    wide[3] = wide[2]  # which contradict each other; but there are too many features to ask
    said = warning_of(perceptron, wide, [0, 1, 2, 0])
    assert "whether any vector separates these examples is not known; average=" in said
    fresh = onlinear.PerceptronClassifier().partial_fit(wide, [0, 1, 2, 0], classes=range(3))
    assert fresh.certificate(wide, [0, 1, 2, 0]).record["separability"]["verdict"] == "inseparable"


def test_two_classes_that_could_have_been_more_have_a_certificate():
    X, y = onlinear.datasets.separable(margin=0.2, n=60, d=3, seed=0)
    for learn in ("fit", "partial_fit"):
        model = getattr(onlinear.PerceptronClassifier(new_classes=True, shuffle=False), learn)(X, y)
        if learn == "fit":
            model.certificate(X, y).verify(X, y)
            continue
        with pytest.raises(DataError, match="appeared after the first call"):
            model.certificate(X, y)
    named = onlinear.PerceptronClassifier(new_classes=True).partial_fit(X, y, classes=[-1, 1])
    named.certificate(X, y).verify(X, y)


def test_tags_tell_what_a_rule_can_do():
    for rule_, many in (
        (Shifted(), False),
        (Winnow(), False),
        (MarginPerceptron(1.0, normalized=True), True),
        (None, True),
    ):
        model = onlinear.OnlineClassifier(rule_, fit_intercept=False)
        assert model.__sklearn_tags__().classifier_tags.multi_class == many
    with pytest.raises(DataError, match="Only binary classification"):
        onlinear.OnlineClassifier(Shifted()).partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1, 2])
    with pytest.raises(ParameterError, match="tie is 'foo'"):
        onlinear.PerceptronClassifier(tie="foo").partial_fit(np.eye(3), [0, 1, 2], classes=[0, 1, 2])
    with pytest.raises(DataError, match="classes is empty"):
        onlinear.ExpertsClassifier().partial_fit(np.eye(2), [0, 1], classes=[])


def test_no_warning_where_there_is_nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        onlinear.PerceptronClassifier().fit(np.eye(2), [0, 1])


def test_of_several_classes_none_is_positive():
    run = onlinear.PerceptronClassifier().fit(np.eye(3), [0, 1, 2]).run_
    assert sum(run.mistakes_by_class) == run.mistakes
    with pytest.raises(AttributeError, match="mistakes_by_class"):
        run.mistakes_positive  # noqa: B018
