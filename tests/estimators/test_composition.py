"""The classifiers among scikit-learn's tools: pipelines, searches, frames, copies on disk and in other processes."""

import pickle
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onlinear
from onlinear.errors import DataError
from onlinear.rules import MarginPerceptron, Perceptron, add, dot, rule

X, Y = onlinear.datasets.separable(margin=0.05, n=120, d=4, seed=0)
NAMES = ["north", "east", "south", "west"]
ESTIMATORS = [
    onlinear.PerceptronClassifier(),
    onlinear.PerceptronClassifier(new_classes=True),
    onlinear.MarginPerceptronClassifier(margin=0.01, normalized=True),
    onlinear.BatchPerceptronClassifier(),
    onlinear.WinnowClassifier(threshold=1.5, max_iter=5),
    onlinear.OnlineClassifier(MarginPerceptron(0.5, normalized=False)),
]
# Four signs do not tell these examples apart; what Winnow makes of them is not the point here.
pytestmark = pytest.mark.filterwarnings("ignore:WinnowClassifier:sklearn.exceptions.ConvergenceWarning")


@rule(additive=True, linear=True)
class Relaxation(NamedTuple):
    """A rule of a user's own: half a step on a mistake, a quarter where the score is small."""

    bar: float = 0.5

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        step = 0.5 if mistake else 0.25 if y * score < self.bar else 0.0
        if step > 0.0:
            add(w, step * y, x)
        return step


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_copies_predict_and_go_on_alike(estimator, tmp_path):
    model = clone(estimator).fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    for copy in (pickle.loads(pickle.dumps(model)), mapped):  # noqa: S301
        assert np.array_equal(copy.decision_function(X), model.decision_function(X))
        if hasattr(copy, "partial_fit"):
            one, other = (each.partial_fit(X, Y) for each in (copy, clone(estimator).fit(X, Y)))
            assert np.array_equal(one.coef_, other.coef_)
            assert one.mistakes_ == other.mistakes_


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(estimator, frame):
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    model = clone(estimator).fit(table, Y)
    assert model.feature_names_in_.tolist() == NAMES
    assert np.array_equal(model.coef_, clone(estimator).fit(X, Y).coef_)
    assert np.array_equal(model.predict(table), model.predict(frame(dict(zip(NAMES, X.T, strict=True)))))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[NAMES[::-1]])
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).set_output(transform="pandas").fit(table, Y)
    assert pipeline[-1].feature_names_in_.tolist() == NAMES


def test_labels_from_a_frame():
    table = pd.DataFrame({"y": np.where(Y > 0, "yes", "no")})
    for y in (table["y"], table["y"].astype("category"), pl.Series(table["y"].tolist())):
        assert onlinear.PerceptronClassifier().fit(X, y).score(X, table["y"]) == 1.0


def test_searches_and_scores():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), onlinear.OnlineClassifier()),
        {"onlineclassifier__rule": [Perceptron(), MarginPerceptron(1.0, normalized=False)]},
        n_jobs=2,
        error_score="raise",
    ).fit(X, Y)
    assert search.best_score_ > 0.8
    again = cross_val_score(search.best_estimator_, X, Y)
    assert np.isclose(again.mean(), search.best_score_)


def test_a_rule_of_ones_own():
    model = onlinear.OnlineClassifier(Relaxation(), fit_intercept=False)
    assert model.fit(X, Y).score(X, Y) == 1.0
    assert model.margin_upper_bound_ >= 0.05
    assert model.certificate(X, Y).holds
    many = onlinear.OnlineClassifier(Relaxation()).fit(np.eye(4), ["a", "b", "c", "d"])
    assert many.predict(np.eye(4)).tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_run_knows_the_columns_of_a_frame(library, tmp_path):
    frame = library.DataFrame({"a": [1.0, -1.0, 2.0], "b": [0.5, 1.0, -1.0]})
    model = onlinear.PerceptronClassifier(fit_intercept=False).fit(frame, [1, 0, 1])
    model.run_.save(tmp_path / "model")
    run = onlinear.load(tmp_path / "model")
    assert run.state.names == ("a", "b")
    assert run.predict(frame).tolist() == model.predict(frame).tolist()
    for other in (frame[["b", "a"]], frame[["a"]], library.DataFrame({"a": [1.0], "b": [1.0], "c": [1.0]})):
        with pytest.raises(DataError, match=r"column \d of X is .*, but the run has"):
            run.predict(other)
    stream = onlinear.open_stream(frame[["b", "a"]], like=run, labelled=False)
    assert [labels.tolist() for labels, _ in run.predictions(stream)] == [model.predict(frame).tolist()]
