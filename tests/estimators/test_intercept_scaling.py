"""An intercept that is the weight of a constant other than 1: as if there were such a column."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.base import clone

import onlinear
import strategies
from onlinear.errors import ParameterError
from onlinear.rules import AdaGrad

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
MODELS = [
    onlinear.PerceptronClassifier(max_iter=9),
    onlinear.PerceptronClassifier(average=False, max_iter=9),
    onlinear.MarginPerceptronClassifier(margin=0.5, max_iter=9),
    onlinear.BatchPerceptronClassifier(max_iter=9),
    onlinear.OnlineClassifier(AdaGrad(), max_iter=9),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=repr)
@given(
    data=strategies.real(max_rows=12, max_width=4), scaling=st.sampled_from([0.25, 0.5, 4.0]), seed=st.integers(0, 9)
)
def test_it_is_one_more_column(model, classes, data, scaling, seed):
    X, _ = data
    y = np.concatenate([np.arange(classes), np.random.default_rng(seed).integers(0, classes, len(X))])[: len(X)]
    if np.unique(y).size < classes:
        return
    column = np.hstack([X, np.full((len(X), 1), scaling)])
    scaled, explicit = clone(model).set_params(intercept_scaling=scaling), clone(model).set_params(fit_intercept=False)
    for learn in ("fit", "partial_fit") if hasattr(model, "partial_fit") else ("fit",):
        for layout in ("dense", "csr", "csr, duplicates"):
            Z, with_column = (strategies.as_layout(matrix, layout) for matrix in (X, column))
            getattr(scaled, learn)(Z, y)
            getattr(explicit, learn)(with_column, y)
            assert np.array_equal(scaled.coef_, explicit.coef_[:, :-1])
            assert np.array_equal(scaled.intercept_, scaling * explicit.coef_[:, -1])
            assert np.array_equal(scaled.decision_function(Z), explicit.decision_function(with_column))
            assert np.array_equal(scaled.predict(X), explicit.predict(column))
            scores = X @ scaled.coef_.T + scaled.intercept_
            shown = scaled.decision_function(X)
            assert np.allclose(scores[:, 0] if classes == 2 else scores, shown, rtol=1e-12, atol=1e-12)


def test_a_constant_of_1_is_the_usual_intercept():
    X, y = onlinear.datasets.noisy(n=100, d=3, seed=0)
    one, usual = onlinear.PerceptronClassifier(intercept_scaling=1.0), onlinear.PerceptronClassifier()
    assert one.fit(X, y).coef_.tobytes() == usual.fit(X, y).coef_.tobytes()
    assert one.run_.state.fit_intercept
    none = onlinear.PerceptronClassifier(fit_intercept=False, intercept_scaling=7.0).fit(X, y)
    assert none.intercept_.tolist() == [0.0]


def test_certificates_copies_and_frames():
    X, y = onlinear.datasets.separable(margin=0.1, n=80, d=3, seed=0)
    frame = pd.DataFrame(X + 2.0, columns=["a", "b", "c"])
    model = onlinear.PerceptronClassifier(intercept_scaling=5.0).fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert model.run_.state.names == ("a", "b", "c", "(intercept)")
    certificate = model.certificate(frame, y)
    assert certificate.holds
    certificate.verify(np.hstack([X + 2.0, np.full((80, 1), 5.0)]), y)
    # What was learned does not depend on what a parameter is set to later.
    before = model.decision_function(frame)
    assert np.array_equal(model.set_params(intercept_scaling=2.0).decision_function(frame), before)


def test_refusals():
    X, y = onlinear.datasets.separable(margin=0.1, n=20, d=3, seed=0)
    for scaling in (0.0, -1.0, np.inf, np.nan, "1"):
        with pytest.raises(ParameterError, match=r"intercept_scaling is .*; it must be a finite number above 0"):
            onlinear.PerceptronClassifier(intercept_scaling=scaling).fit(X, y)
    model = onlinear.PerceptronClassifier(intercept_scaling=3.0).partial_fit(X, y, classes=[-1, 1])
    for scaling in (1.0, 2.0):
        with pytest.raises(ParameterError, match="intercept_scaling was 3 when training started, and cannot change"):
            model.set_params(intercept_scaling=scaling).partial_fit(X, y)
    with pytest.raises(ParameterError, match="fit_intercept was True when training started"):
        model.set_params(fit_intercept=False).partial_fit(X, y)
