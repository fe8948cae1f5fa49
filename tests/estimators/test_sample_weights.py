"""Weights of examples: they scale the steps, where no theorem is lost by that."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import onlinear
import strategies
from classifiers import ONLINE, in_two, new, same
from onlinear.errors import DataError, ParameterError


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", ["perceptron", "margin"])
@given(data=strategies.real(), cut=st.integers(1, 29), seed=st.integers(0, 99))
def test_sample_weights_scale_the_steps(name, classes, data, cut, seed):
    X, _ = data
    rng = np.random.default_rng(seed)
    y, weights = rng.integers(0, classes, len(X)), rng.integers(0, 5, len(X)) / 4.0
    model = new(name)
    for rows in in_two(len(y), cut):
        model.partial_fit(X[rows], y[rows], classes=range(classes), sample_weight=weights[rows])
    same(
        model,
        onlinear.run(ONLINE[name][1], X, y, fit_intercept=True, classes=list(range(classes)), sample_weight=weights),
    )


@given(data=strategies.real(max_rows=12, max_width=6), seed=st.integers(0, 99))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_weight_in_the_batch_perceptron_is_so_many_examples(data, seed):
    X, y = data
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    weights[[np.argmin(y), np.argmax(y)]] = 1  # of both classes something is left
    one = onlinear.BatchPerceptronClassifier(max_iter=20).fit(X, y, sample_weight=weights)
    other = onlinear.BatchPerceptronClassifier(max_iter=20).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.intercept_, other.intercept_)
    assert one.run_.halted == other.run_.halted


def test_sample_weights_are_refused_where_a_theorem_needs_steps_of_one_size():
    X, y = onlinear.datasets.disjunction(k=2, N=20, n=50, seed=0)
    with pytest.raises(ParameterError, match="Winnow does not support sample_weight"):
        onlinear.WinnowClassifier().partial_fit(X, y, classes=[-1, 1], sample_weight=np.ones(50))
    with pytest.raises(TypeError, match=r"no sample_weight; use partial_fit, or class_weight"):
        onlinear.PerceptronClassifier().fit(X, y, sample_weight=np.ones(50))
    for weights, match in ((np.ones(3), "shape"), (-np.ones(50), "at least 0"), (np.full(50, np.nan), "finite")):
        with pytest.raises(ParameterError, match=match):
            onlinear.PerceptronClassifier().partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    with pytest.raises(DataError, match="zero except for one class, 1"):
        onlinear.BatchPerceptronClassifier().fit(X, y, sample_weight=y > 0)
    with pytest.raises(DataError, match="zero for every example"):
        onlinear.BatchPerceptronClassifier().fit(X, y, sample_weight=np.zeros(50))
