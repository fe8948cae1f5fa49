"""More than two classes: a vector each, declared from the start or known from their first example on."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, note

import onlinear
import strategies
from classifiers import ONLINE, in_batches, in_two, new, same
from onlinear.errors import DataError, ParameterError


@pytest.mark.parametrize("name", ["perceptron", "margin", "any rule"])
@given(data=strategies.real(), cuts=st.lists(st.integers(0, 30), max_size=4), seed=st.integers(0, 99))
def test_partial_fit_is_one_pass_whatever_the_batches(name, data, cuts, seed):
    X, _ = data
    y = np.random.default_rng(seed).integers(0, 4, len(X))
    model = in_batches(new(name), X, y, cuts, classes=range(4))
    same(model, onlinear.run(ONLINE[name][1], X, y, fit_intercept=True, classes=range(4)))
    assert model.coef_.shape == (4, X.shape[1])
    assert np.array_equal(X @ model.coef_.T + model.intercept_, model.decision_function(X))
    assert np.array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))


@given(data=strategies.real(), cut=st.integers(1, 29))
def test_two_classes_with_a_vector_each(data, cut):
    X, y = data
    one, two = (onlinear.PerceptronClassifier(new_classes=new_classes) for new_classes in (False, True))
    for rows in in_two(len(y), cut):
        advice = [model._advise(X[rows], y[rows], [-1, 1]).tolist() for model in (one, two)]
        assert advice[0] == advice[1]
    assert (one.mistakes_, one.updates_) == (two.mistakes_, two.updates_)
    # The vectors are w and −w.
    assert np.array_equal(2.0 * one.coef_, two.coef_)
    assert np.array_equal(2.0 * one.intercept_, two.intercept_)
    assert np.array_equal(2.0 * one.decision_function(X), two.decision_function(X))
    assert np.array_equal(one.predict(X), two.predict(X))


def one_by_one(X, y):
    """The multiclass perceptron with intercept, written plainly: a class is known from its first example on."""
    W, mistakes = {}, 0
    for x, label in zip(np.hstack([np.ones((len(X), 1)), X]), y.tolist(), strict=True):
        W.setdefault(label, np.zeros(x.size))
        wrong = {other: w @ x for other, w in sorted(W.items()) if other != label}
        if wrong and max(wrong.values()) >= W[label] @ x:
            best = max(wrong, key=wrong.get)
            W[label], W[best], mistakes = W[label] + x, W[best] - x, mistakes + 1
    return np.array([W[label] for label in sorted(W)]), mistakes


@pytest.mark.parametrize("labels", [range(5), ["e", "bb", "ddd", "a", "ccccc"]], ids=["numbers", "words"])
@given(data=strategies.real(), cuts=st.lists(st.integers(0, 30), max_size=4), seed=st.integers(0, 99))
def test_new_classes_may_turn_up_anywhere(labels, data, cuts, seed):
    X, _ = data
    y = np.random.default_rng(seed).choice(list(labels), len(X))
    model = in_batches(onlinear.PerceptronClassifier(new_classes=True), X, y, cuts)
    W, mistakes = one_by_one(X, y)
    assert model.classes_.tolist() == sorted(set(y.tolist()))
    assert model.mistakes_ == mistakes
    assert np.array_equal(model.run_.weights, W[:, 1:])
    assert np.array_equal(model.run_.intercept, W[:, 0])


def test_new_classes_are_refused_where_they_were_not_asked_for():
    X = np.eye(3)
    model = onlinear.PerceptronClassifier().partial_fit(X, ["a", "b", "a"], classes=["a", "b"])
    with pytest.raises(DataError, match=r"row 1: label 'c'"):
        model.partial_fit(X, ["a", "c", "b"])
    with pytest.raises(DataError, match=r"unknown labels \['c'\]; the classes are \['a', 'b'\]"):
        model.partial_fit(X, ["a", "b", "b"], classes=["a", "b", "c"])
    with pytest.raises(ParameterError, match="train anew with one for each class"):
        model.set_params(new_classes=True).partial_fit(X, ["a", "c", "b"])
    model = onlinear.PerceptronClassifier(new_classes=True).partial_fit(X, ["a", "b", "a"])
    bad = np.where(X > 0, np.inf, X)
    for labels, match in ((["a", "c", "d"], "row 0"), ([1, 2, 3], "of one type"), ([0.5, 0.25, 1.5], "of one type")):
        with pytest.raises(DataError, match=match):
            model.partial_fit(bad, labels)
    assert model.classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="continuous"):
        onlinear.PerceptronClassifier(new_classes=True).partial_fit(X, [1.0, 0.25, 1.5])


@pytest.mark.parametrize("new_classes", [False, True])
def test_certificates(new_classes):
    X, y = np.vstack([np.eye(3), 2 * np.eye(3)]), [0, 1, 2, 0, 1, 2]
    model = onlinear.PerceptronClassifier(new_classes=new_classes)
    for learned in (model.partial_fit(X, y, classes=[0, 1, 2]), model.fit(X, y)):
        certificate = learned.certificate(X, y)
        assert certificate.holds
        assert certificate.mistakes == learned.mistakes_
        certificate.verify(X, y)


def test_what_was_learned_before_a_class_was_known_has_no_certificate():
    X, y = np.vstack([np.eye(3), 2 * np.eye(3)]), [0, 1, 2, 0, 1, 2]
    with pytest.raises(DataError, match="the run has"):
        onlinear.PerceptronClassifier(new_classes=True).partial_fit(X, y).certificate(X, y)


@given(data=strategies.real(), seed=st.integers(0, 99))
def test_the_layout_changes_nothing(data, seed):
    X, _ = data
    y = np.random.default_rng(seed).integers(0, 4, len(X))
    one = onlinear.PerceptronClassifier(new_classes=True).partial_fit(X, y)
    for layout in ("float32", "fortran", "csr", "csc", "csr, duplicates"):
        note(layout)
        Z = strategies.as_layout(X, layout)
        other = onlinear.PerceptronClassifier(new_classes=True).partial_fit(Z, y)
        assert one.coef_.tobytes() == other.coef_.tobytes()
        assert np.array_equal(one.decision_function(X), other.decision_function(Z))
