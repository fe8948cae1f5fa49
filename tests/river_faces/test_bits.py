"""The same bits whichever way examples come: one at a time or in frames, by name or by number, or as a matrix."""

import pickle

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings

import onlinear
from onlinear.river import PerceptronClassifier
from onlinear.rules import Perceptron
from river_models import MANY_CLASSES, MODELS, bits

NAMES = [f"f{j}" for j in range(12)]
VALUES = st.one_of(st.floats(-8, 8), st.integers(-3, 3), st.sampled_from([0.0, -0.0, 1e-200, 1e150, 0.1]))


@st.composite
def batches(draw, labels, values=VALUES):
    """Tables with columns that come and go in any order, and labels."""
    drawn = []
    for _ in range(draw(st.integers(1, 5))):
        columns = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=10))
        n = draw(st.integers(1, 6))
        rows = draw(st.lists(st.lists(values, min_size=len(columns), max_size=len(columns)), min_size=n, max_size=n))
        drawn.append((columns, rows, draw(st.lists(labels, min_size=n, max_size=n))))
    return drawn


def examples(drawn):
    for columns, rows, labels in drawn:
        for row, label in zip(rows, labels, strict=True):
            yield dict(zip(columns, row, strict=True)), label


def ordinary(drawn, name):
    """The same tables without rows that are too short to be normalized, as members of a majority do."""
    if "majority" not in name:
        return drawn
    return [
        (columns, [[v if abs(v) > 1e-300 else 0.0 for v in row] for row in rows], labels)
        for columns, rows, labels in drawn
    ]


def learn_one_by_one(model, drawn):
    for x, y in examples(drawn):
        model.learn_one(x, y)


def learn_in_frames(model, drawn, library):
    for columns, rows, labels in drawn:
        if library is pd:
            model.learn_many(pd.DataFrame(rows, columns=columns, index=range(len(rows))), pd.Series(labels))
        elif columns:  # a polars frame without columns has no rows
            X = pl.DataFrame({name: [float(row[j]) for row in rows] for j, name in enumerate(columns)})
            model.learn_many(X, pl.Series(labels))
        else:
            for label in labels:
                model.learn_one({}, label)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25)
@given(drawn=batches(st.booleans()))
def test_frames_are_learned_as_the_loop_over_their_rows(name, library, drawn):
    drawn = ordinary(drawn, name)
    one, many = MODELS[name].clone(), MODELS[name].clone()
    learn_one_by_one(one, drawn)
    learn_in_frames(many, drawn, library)
    assert bits(one) == bits(many)
    assert one.weights == many.weights
    assert one.intercept == many.intercept
    assert one.margin_upper_bound == many.margin_upper_bound


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", MANY_CLASSES)
@settings(max_examples=25)
@given(drawn=batches(st.sampled_from(["a", "bb", "c", "dddd"])))
def test_frames_of_many_classes_are_learned_as_the_loop_over_their_rows(name, library, drawn):
    drawn = ordinary(drawn, name)
    one, many = MODELS[name].clone(), MODELS[name].clone()
    learn_one_by_one(one, drawn)
    learn_in_frames(many, drawn, library)
    assert bits(one) == bits(many)
    assert one.weights == many.weights
    assert one.intercept == many.intercept
    assert one.margin_upper_bound == many.margin_upper_bound


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25)
@given(drawn=batches(st.booleans()), data=st.data())
def test_whatever_is_done_in_between(name, drawn, data):
    drawn = ordinary(drawn, name)
    """Frames, single examples, predictions and pickles in any order: only what is learned counts."""
    plain, mixed = MODELS[name].clone(), MODELS[name].clone()
    learn_one_by_one(plain, drawn)
    for columns, rows, labels in drawn:
        X, y = pd.DataFrame(rows, columns=columns, index=range(len(rows))), pd.Series(labels)
        deed = data.draw(st.sampled_from(["frame", "loop", "predict and learn", "predict the frame", "pickle"]))
        if deed == "predict the frame":
            mixed.predict_many(X.assign(unseen=1.0))
        if deed == "pickle":
            mixed = pickle.loads(pickle.dumps(mixed))  # noqa: S301
        if deed in {"frame", "pickle"}:
            mixed.learn_many(X, y)
            continue
        for x, label in examples([(columns, rows, labels)]):
            if deed == "predict and learn":
                mixed.predict_one(x)
                mixed.predict_one(x | {"unseen": 1.0})
                mixed.predict_one(x)
            mixed.learn_one(x, label)
    assert bits(mixed) == bits(plain)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25)
@given(drawn=batches(st.booleans()))
def test_frames_are_predicted_as_their_rows(name, drawn):
    drawn = ordinary(drawn, name)
    model = MODELS[name].clone()
    learn_one_by_one(model, drawn)
    before = bits(model)
    for columns, rows, _ in drawn:
        X = pd.DataFrame(rows, columns=columns, index=range(7, 7 + len(rows))).assign(unseen=0.5)
        predicted = model.predict_many(X)
        assert predicted.index.equals(X.index)
        assert predicted.tolist() == [model.predict_one(x) for x in X.to_dict(orient="records")]
    assert bits(model) == before


@settings(max_examples=60)
@given(drawn=batches(st.booleans()), fit_intercept=st.booleans(), tie=st.sampled_from(["mistake", "positive"]))
def test_the_perceptron_by_name_is_the_pass_over_a_matrix(drawn, fit_intercept, tie):
    model = PerceptronClassifier(tie=tie, fit_intercept=fit_intercept)
    for x, y in examples(drawn):
        model.learn_one(dict(sorted(x.items())), y)
    # The matrix has a column for each name; where an example does not have it, nothing is stored.
    names = sorted(model.weights)
    rows = [[(names.index(name), value) for name, value in sorted(x.items())] for x, _ in examples(drawn)]
    stored = [entry for row in rows for entry in row]
    indptr = np.cumsum([0, *map(len, rows)])
    data, indices = np.array([value for _, value in stored], float), np.array([j for j, _ in stored], int)
    X = scipy.sparse.csr_array((data, indices, indptr), shape=(len(rows), max(1, len(names))))
    y = [label for _, label in examples(drawn)]
    run = onlinear.run(Perceptron(tie=tie), X, y, fit_intercept=fit_intercept, classes=(False, True))
    state = model.as_run().state
    assert [model.weights[name] for name in names] == run.weights[: len(names)].tolist()
    assert (model.intercept, model.mistakes, model.updates) == (run.intercept, run.mistakes, run.updates)
    assert (state.steps, state.reach) == (run.state.steps, run.state.reach)


WEIGHED = {name: model for name, model in MODELS.items() if model._learning.rule.weighted}


@pytest.mark.parametrize("labels", [st.booleans(), st.sampled_from([1, 2, 3])], ids=["two classes", "many"])
@pytest.mark.parametrize("name", WEIGHED)
@settings(max_examples=25)
@given(data=st.data())
def test_weights_of_examples(name, labels, data):
    one, many = WEIGHED[name].clone(), WEIGHED[name].clone()
    if not one._multiclass:
        labels = st.booleans()
    for columns, rows, y in ordinary(data.draw(batches(labels)), name):
        w = data.draw(st.lists(st.sampled_from([0, 1, 0.5, 3.7]), min_size=len(y), max_size=len(y)))
        for row, label, weight in zip(rows, y, w, strict=True):
            one.learn_one(dict(zip(columns, row, strict=True)), label, w=weight)
        X = pd.DataFrame(rows, columns=columns, index=range(len(rows)))
        many.learn_many(X, pd.Series(y), w=pd.Series(w))
    assert bits(one) == bits(many)
