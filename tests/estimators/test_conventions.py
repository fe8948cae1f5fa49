"""What each convention demands at its edges, from one table over all estimators.

A convention says what is right in each situation; an estimator is one line with its convention.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import onlinear
import onlinear.river

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
Y = np.array(["a", "b", "a", "b"])


def refused(kind, match, function, *args, **kwargs):
    """A call fails, says why, and leaves no trace on the estimator whose method it is."""
    estimator = function.__self__
    before = dict(vars(estimator))
    with pytest.raises(kind, match=match):
        function(*args, **kwargs)
    assert vars(estimator) == before


def learners(estimator):
    """The ways in which a classifier of scikit-learn's learns: `fit`, and where it has it `partial_fit`."""
    yield estimator.fit, {}
    if hasattr(estimator, "partial_fit"):
        yield estimator.partial_fit, {"classes": ["a", "b"]}


class ScikitLearn:
    """Nothing is predicted before `fit`; the features are fixed then; whatever is not as declared is an error."""

    @staticmethod
    def predicting_before_learning(make):
        model = make()
        refused(NotFittedError, "not fitted", model.predict, X)
        refused(NotFittedError, "not fitted", model.decision_function, X)

    @staticmethod
    def unseen_features(make):
        frame = pd.DataFrame(X, columns=["height", "width"])
        model = make().fit(frame, Y)
        assert model.feature_names_in_.tolist() == ["height", "width"]
        assert model.predict(frame).tolist() == Y.tolist()
        other = frame.rename(columns={"width": "depth"})
        refused(ValueError, "depth", model.predict, other)
        if hasattr(model, "partial_fit"):
            refused(ValueError, "depth", model.partial_fit, other, Y)

    @staticmethod
    def not_a_number(make):
        for bad in (np.nan, np.inf):
            spoilt = X.copy()
            spoilt[2, 1] = bad
            for learn, classes in learners(make()):
                refused(ValueError, "(?i)nan|inf", learn, spoilt, Y, **classes)
            refused(ValueError, "(?i)nan|inf", make().fit(X, Y).predict, spoilt)

    @staticmethod
    def wrong_width(make):
        model = make().fit(X, Y)
        for wrong in (X[:, :1], np.hstack([X, X])):
            refused(ValueError, "expecting 2 features", model.predict, wrong)
            if hasattr(model, "partial_fit"):
                refused(ValueError, "expecting 2 features", model.partial_fit, wrong, Y)

    @staticmethod
    def one_class(make):
        refused(ValueError, "only one class, 'a'", make().fit, X[::2], Y[::2])
        if hasattr(make(), "partial_fit"):
            model = make().partial_fit(X[::2], Y[::2], classes=["a", "b"])
            assert set(model.predict(X)) <= {"a", "b"}
            assert model.partial_fit(X[1::2], Y[1::2]).t_ == 4

    @staticmethod
    def labels_of_mixed_types(make):
        for learn, classes in learners(make()):
            refused(ValueError, "of one type", learn, X, ["a", 1, "a", 1], **classes)
            refused(ValueError, "of one type|label 1", learn, X, np.array(["a", 1, "a", 1], dtype=object), **classes)
        if hasattr(make(), "partial_fit"):
            refused(ValueError, "of one type", make().partial_fit, X, Y, classes=["a", 1])


class NewClasses(ScikitLearn):
    """The same, but that labels need not be declared."""

    @staticmethod
    def one_class(make):
        for learn in (make().fit, make().partial_fit):
            model = learn(X[::2], Y[::2])
            assert model.predict(X).tolist() == ["a"] * 4
            assert model.partial_fit(X[1::2], Y[1::2]).classes_.tolist() == ["a", "b"]


class River:
    """Predicting works at any time and changes nothing; features and labels come as they come, of one kind each."""

    @staticmethod
    def predicting_before_learning(make):
        model = make()
        assert model.predict_one({"height": 1.0}) is None
        assert model.predict_many(pd.DataFrame(X)).tolist() == [None] * 4
        assert model.classes == []

    @staticmethod
    def unseen_features(make):
        model = learned(make())
        names = list(model.weights)
        assert model.predict_one({"height": 1.0, "depth": 5.0}) == model.predict_one({"height": 1.0})
        assert list(model.weights) == names
        model.learn_one({"depth": 1.0}, True)
        assert list(model.weights) == [*names, "depth"]

    @staticmethod
    def not_a_number(make):
        for bad in (np.nan, np.inf):
            model = learned(make())
            before = model.rounds, model.weights
            for call in (model.predict_one, lambda x, model=model: model.learn_one(x, True)):
                with pytest.raises(ValueError, match=r"(?i)feature 'width': value .*(nan|inf)"):
                    call({"height": 1.0, "width": bad})
            assert (model.rounds, model.weights) == before

    @staticmethod
    def wrong_width(make):
        model = learned(make())
        assert model.predict_one({}) in {False, True}
        model.learn_one({}, False)
        model.learn_one({"height": 1.0, "width": 1.0, "depth": 1.0}, True)
        assert model.rounds == 6

    @staticmethod
    def one_class(make):
        model = make()
        model.learn_one({"height": 1.0}, True)
        assert model.classes == [False, True]
        assert model.predict_one({"height": 1.0}) in {False, True}

    @staticmethod
    def labels_of_mixed_types(make):
        model = learned(make())
        for other in ("a", 1, 1.0, None):
            with pytest.raises(ValueError, match="label"):
                model.learn_one({"height": 1.0}, other)
        assert model.rounds == 4


def learned(model):
    for row, y in zip(X.tolist(), [True, False, True, False], strict=True):
        model.learn_one(dict(zip(["height", "width"], row, strict=True)), y)
    return model


TABLE = {
    "PerceptronClassifier": (onlinear.PerceptronClassifier, ScikitLearn),
    "PerceptronClassifier, new classes": (lambda: onlinear.PerceptronClassifier(new_classes=True), NewClasses),
    "MarginPerceptronClassifier": (onlinear.MarginPerceptronClassifier, ScikitLearn),
    "BatchPerceptronClassifier": (onlinear.BatchPerceptronClassifier, ScikitLearn),
    "WinnowClassifier": (onlinear.WinnowClassifier, ScikitLearn),
    "WinnowClassifier, inputs as they are": (lambda: onlinear.WinnowClassifier(binarize=None), ScikitLearn),
    "ExpertsClassifier": (onlinear.ExpertsClassifier, ScikitLearn),
    "OnlineClassifier": (onlinear.OnlineClassifier, ScikitLearn),
    "PerceptronClassifier, River": (onlinear.river.PerceptronClassifier, River),
    "MarginPerceptronClassifier, River": (onlinear.river.MarginPerceptronClassifier, River),
    "WinnowClassifier, River": (lambda: onlinear.river.WinnowClassifier(threshold=1.5), River),
    "OnlineClassifier, River": (onlinear.river.OnlineClassifier, River),
}

SITUATIONS = [name for name in vars(ScikitLearn) if not name.startswith("_")]


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", TABLE)
def test_convention(name, situation):
    make, convention = TABLE[name]
    getattr(convention, situation)(make)
