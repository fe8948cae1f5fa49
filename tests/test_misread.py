"""What NumPy, SciPy and pandas would read without a word, or crash on: each is an error that says where."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

import onlinear
from onlinear.errors import DataError, VerificationError
from onlinear.rules import Perceptron

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
Y = [1, -1, 1, -1]

ENTRANCES = {
    "run": lambda X, y: onlinear.run(Perceptron(), X, y),
    "blocks": lambda X, y: onlinear.run(Perceptron(), [(X, y)]),
    "stream": lambda X, y: onlinear.train(Perceptron(), onlinear.open_stream(X, y)),
    "converge": lambda X, y: onlinear.converge(Perceptron(), X, y),
    "batch": onlinear.batch_perceptron,
    "theory": onlinear.separability,
    "fit": lambda X, y: onlinear.PerceptronClassifier().fit(X, y),
    "partial_fit": lambda X, y: onlinear.PerceptronClassifier().partial_fit(X, y, classes=[-1, 1]),
    "experts": lambda X, y: onlinear.ExpertsClassifier().fit(X, y),
}
for_each_entrance = pytest.mark.parametrize("enter", ENTRANCES.values(), ids=ENTRANCES)


def changed(format, array, place, value):  # noqa: A002
    X = scipy.sparse.csr_array(DENSE).asformat(format)
    getattr(X, array)[place] = value
    return X


def coo(axis, value):
    X = scipy.sparse.coo_array(DENSE)
    X.coords[axis][0] = value
    return X


MALFORMED = {
    "csr, last pointer": lambda: changed("csr", "indptr", -1, 2**30),
    "csr, inner pointer": lambda: changed("csr", "indptr", 1, 2**30),
    "csr, negative pointer": lambda: changed("csr", "indptr", 2, -5),
    "csr, falling pointers": lambda: changed("csr", "indptr", 1, 5),
    "csr, column": lambda: changed("csr", "indices", 0, 77),
    "csr, negative column": lambda: changed("csr", "indices", 0, -3),
    "csc, last pointer": lambda: changed("csc", "indptr", -1, 2**30),
    "csc, row": lambda: changed("csc", "indices", 0, 77),
    "bsr, column": lambda: changed("bsr", "indices", 0, 77),
    "coo, row": lambda: coo(0, 77),
    "coo, negative row": lambda: coo(0, -1),
    "coo, column": lambda: coo(1, 77),
    "coo, negative column": lambda: coo(1, -1),
}


@for_each_entrance
@pytest.mark.parametrize("made", MALFORMED.values(), ids=MALFORMED)
def test_indices_out_of_range(enter, made):
    with pytest.raises(DataError):
        enter(made(), Y)


@pytest.mark.parametrize("made", MALFORMED.values(), ids=MALFORMED)
def test_indices_out_of_range_in_the_theory(made):
    X, run = made(), onlinear.run(Perceptron(), DENSE, Y)
    certificate = onlinear.certify(run, DENSE, Y)
    for use in (onlinear.max_margin, onlinear.best_comparator, onlinear.theory.ClassPairs, run.evaluate):
        with pytest.raises(DataError):
            use(X, Y)
    with pytest.raises(DataError):
        onlinear.theory.radius(X)
    with pytest.raises(DataError):
        onlinear.certify(run, X, Y)
    with pytest.raises(VerificationError, match=r"malformed|exceed|outside|column"):
        certificate.verify(X, Y)


@pytest.mark.parametrize("made", MALFORMED.values(), ids=MALFORMED)
def test_indices_out_of_range_when_predicting(made):
    run = onlinear.run(Perceptron(), DENSE, Y)
    model = onlinear.PerceptronClassifier().fit(DENSE, Y)
    for predict in (run.predict, run.decision_function, model.predict):
        with pytest.raises(DataError):
            predict(made())


@for_each_entrance
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_every_format_is_read_alike(enter, format):  # noqa: A002
    X = scipy.sparse.csr_array(DENSE).asformat(format)
    assert str(enter(X, Y)) == str(enter(scipy.sparse.csr_array(DENSE), Y))


def test_numbers_of_the_other_byte_order():
    X = scipy.sparse.csr_array(DENSE)
    swapped = X.copy()
    swapped.data = swapped.data.astype(">f8")
    assert np.array_equal(onlinear.run(Perceptron(), swapped, Y).weights, onlinear.run(Perceptron(), X, Y).weights)


@for_each_entrance
def test_masked_values(enter):
    mask = np.zeros_like(DENSE, dtype=bool)
    mask[2, 1] = True
    with pytest.raises(DataError, match="row 2: X has a masked value"):
        enter(np.ma.masked_array(DENSE, mask=mask), Y)
    with pytest.raises(DataError, match="row 2: X has a masked value"):
        enter([np.ma.masked_array(row, mask=hidden) for row, hidden in zip(DENSE, mask, strict=True)], Y)
    with pytest.raises(DataError, match="row 3: y has a masked value"):
        enter(DENSE, np.ma.masked_array(Y, mask=[0, 0, 0, 1]))


def test_masks_that_hide_nothing():
    X, y = np.ma.masked_array(DENSE, mask=False), np.ma.masked_array(Y, mask=False)
    assert np.array_equal(onlinear.run(Perceptron(), X, y).weights, onlinear.run(Perceptron(), DENSE, Y).weights)


@pytest.mark.parametrize(
    "learn",
    [
        lambda weights: onlinear.run(Perceptron(), DENSE, Y, sample_weight=weights),
        lambda weights: onlinear.batch_perceptron(DENSE, Y, sample_weight=weights),
        lambda weights: onlinear.PerceptronClassifier().partial_fit(DENSE, Y, [-1, 1], sample_weight=weights),
    ],
)
def test_masked_weights(learn):
    with pytest.raises(DataError, match="row 1: sample_weight has a masked value"):
        learn(np.ma.masked_array([1.0, 2.0, 1.0, 1.0], mask=[0, 1, 0, 0]))


@for_each_entrance
@pytest.mark.parametrize("kind", ["string", "boolean", "object", "category", "Int64", "float64"])
def test_missing_labels_of_pandas(enter, kind):
    y = pd.Series(["a", "b", None, "a"] if kind in {"string", "object", "category"} else [1, 0, None, 1], dtype=kind)
    with pytest.raises(DataError, match="row 2: label"):
        enter(DENSE, y)


@for_each_entrance
def test_labels_that_differ_by_a_null_character(enter):
    with pytest.raises(DataError, match=r"row 0: label 'a.*' ends in a null character"):
        enter(DENSE, ["a\0", "a", "a\0", "a"])


@for_each_entrance
def test_objects_that_differ_by_a_null_character_stay_apart(enter):
    try:
        learned = enter(DENSE, np.array(["a\0", "a", "a\0", "a"], dtype=object))
    except DataError:
        return
    assert learned.classes_.tolist() == ["a", "a\0"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_labels_of_arrow_that_differ_by_a_null_character(kind):
    table = pa.table({"x": [1.0, 2.0, 3.0], "y": pa.array(["a", "b", "a\0"]).cast(kind)})
    with pytest.raises(DataError, match=r"row 2: the label \(column 'y'\) ends in a null character"):
        onlinear.run(Perceptron(), onlinear.open_stream(table, label="y"))


def test_weights_that_overflow_in_the_last_round():
    learned = onlinear.run(Perceptron(), [[1e300]], [1], classes=[-1, 1], sample_weight=[1e8])
    assert learned.weights.tolist() == [1e308]
    with pytest.raises(DataError, match=r"round 1 an example is too large: w\[0\] is inf; scale the inputs"):
        onlinear.run(Perceptron(), [[1e300]], [1], classes=[-1, 1], sample_weight=[1e10])


@pytest.mark.parametrize("intercept", [False, True])
def test_separability_of_the_smallest_numbers(intercept):
    verdict = onlinear.separability([[0.0], [2e-320]], [1, -1], fit_intercept=intercept)
    assert isinstance(verdict, onlinear.theory.Separable if intercept else onlinear.theory.Inseparable)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [5e-324, 2e-320, 1e-310, 1e-305])
def test_the_theory_of_the_smallest_numbers(size, intercept):
    X, y = [[size], [-size]], [1, -1]
    margin = onlinear.max_margin(X, y, fit_intercept=intercept)
    margin.verify(X, y)
    assert margin.lower <= size <= margin.upper
    onlinear.separability(X, y, fit_intercept=intercept).verify(X, y)
    assert onlinear.best_comparator(X, y, fit_intercept=intercept).bound >= 1
    run = onlinear.run(Perceptron(), X, y, fit_intercept=intercept)
    onlinear.certify(run, X, y).verify(X, y)
