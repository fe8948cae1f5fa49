"""The same bits whichever way examples come: one at a time or in frames, by name or by number, or as a matrix."""

import hypothesis.strategies as st
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings

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
    one, many = MODELS[name].clone(), MODELS[name].clone()
    learn_one_by_one(one, drawn)
    learn_in_frames(many, drawn, library)
    assert bits(one) == bits(many)
    assert one.weights == many.weights
    assert one.intercept == many.intercept
    assert one.margin_upper_bound == many.margin_upper_bound
