"""Weights of classes are weights of their examples."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from sklearn.utils.class_weight import compute_class_weight

import onlinear
import strategies
from classifiers import in_two, new, same
from onlinear.errors import ParameterError
from onlinear.rules import AROW, Perceptron, Winnow

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X, Y = onlinear.datasets.noisy(n=200, d=4, seed=0)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["perceptron", "margin", "any rule"])
@given(data=strategies.real(), cut=st.integers(1, 29), seed=st.integers(0, 99))
def test_partial_fit(name, classes, data, cut, seed):
    X, _ = data
    rng = np.random.default_rng(seed)
    y, own = rng.integers(0, classes, len(X)), rng.integers(0, 4, len(X)) / 2.0
    weights = {0: 0.5, 1: 2.0}  # any other class has weight 1
    each = np.array([0.5, 2.0, 1.0])[y]
    one, other, both = new(name, class_weight=weights), new(name), new(name, class_weight=weights)
    for rows in in_two(len(y), cut):
        one.partial_fit(X[rows], y[rows], classes=range(classes))
        other.partial_fit(X[rows], y[rows], classes=range(classes), sample_weight=each[rows])
        both.partial_fit(X[rows], y[rows], classes=range(classes), sample_weight=own[rows])
    same(one, other.run_)
    same(both, new(name).partial_fit(X, y, classes=range(classes), sample_weight=each * own).run_)


@given(data=strategies.real(max_rows=12, max_width=4), shuffle=st.booleans())
def test_fit(data, shuffle):
    X, y = data
    options = {"average": False, "shuffle": shuffle, "random_state": 5, "max_iter": 20}
    model = onlinear.PerceptronClassifier(class_weight={-1: 0.25, 1: 2.0}, **options).fit(X, y)
    loop = onlinear.converge(
        Perceptron(),
        X,
        y,
        selection="random" if shuffle else "cyclic",
        seed=5,
        max_passes=20,
        fit_intercept=True,
        sample_weight=np.where(y > 0, 2.0, 0.25),
    )
    same(model, loop)


@given(data=strategies.real(max_rows=12, max_width=4))
def test_in_the_batch_perceptron_a_weight_is_so_many_examples(data):
    X, y = data
    one = onlinear.BatchPerceptronClassifier(class_weight={-1: 3, 1: 1}, max_iter=20).fit(X, y)
    times = np.where(y > 0, 1, 3)
    other = onlinear.BatchPerceptronClassifier(max_iter=20).fit(X.repeat(times, axis=0), y.repeat(times))
    assert np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("labels", [(-1, 1), ("no", "yes")])
def test_balanced(labels):
    y = np.where(X[:, 0] > 0.3, *labels[::-1])
    weights = dict(zip(labels, compute_class_weight("balanced", classes=np.array(labels), y=y), strict=True))
    for average in ("auto", True, False):
        one, other = (
            onlinear.PerceptronClassifier(class_weight=given, average=average).fit(X, y)
            for given in ("balanced", weights)
        )
        same(one, other.run_)


@pytest.mark.parametrize(
    "model",
    [
        onlinear.PerceptronClassifier(),
        onlinear.PerceptronClassifier(average=False),
        onlinear.MarginPerceptronClassifier(),
        onlinear.BatchPerceptronClassifier(),
        onlinear.OnlineClassifier(AROW()),
    ],
    ids=repr,
)
def test_a_class_with_more_weight_is_predicted_more_often(model):
    shares = [(model.set_params(class_weight={-1: 1, 1: more}).fit(X, Y).predict(X) == 1).mean() for more in (0.1, 10)]
    assert shares[0] + 0.1 < shares[1]


def test_refusals():
    with pytest.raises(ParameterError, match="Winnow does not support class_weight"):
        onlinear.OnlineClassifier(Winnow(), fit_intercept=False, class_weight={-1: 2}).fit(X > 0, Y)
    with pytest.raises(ParameterError, match="class_weight='balanced' does not apply to partial_fit"):
        onlinear.PerceptronClassifier(class_weight="balanced").partial_fit(X, Y, classes=[-1, 1])
    with pytest.raises(ParameterError, match="weights must be finite and at least 0"):
        onlinear.PerceptronClassifier(class_weight={-1: -1.0}).fit(X, Y)
    with pytest.raises(ValueError, match="balanced"):
        onlinear.PerceptronClassifier(class_weight="fair").fit(X, Y)
    model = onlinear.PerceptronClassifier(class_weight={-1: 2.0}, average=False).fit(X, Y)
    with pytest.raises(ParameterError, match="learned with sample weights; the theorems assume equal steps"):
        model.certificate(X, Y)
