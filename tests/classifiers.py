"""The classifiers that learn example by example, each beside its rule, and how to compare the two."""

import numpy as np
from sklearn.base import clone

import onlinear
from onlinear.rules import MarginPerceptron, Perceptron, Winnow

ONLINE = {
    "perceptron": (onlinear.PerceptronClassifier(), Perceptron()),
    "tie": (onlinear.PerceptronClassifier(tie="positive"), Perceptron(tie="positive")),
    "margin": (onlinear.MarginPerceptronClassifier(), MarginPerceptron(1.0, normalized=False)),
    "winnow": (onlinear.WinnowClassifier(), Winnow()),
    "any rule": (
        onlinear.OnlineClassifier(MarginPerceptron(0.25, normalized=True)),
        MarginPerceptron(0.25, normalized=True),
    ),
}


def new(name, **parameters):
    return clone(ONLINE[name][0]).set_params(**parameters)


def plain(name):
    """Parameters with which `fit` is the rule's halting loop and nothing else."""
    return {"average": False} if "average" in ONLINE[name][0].get_params() else {}


def as_the_rule_reads(name, X):
    return (X > 0.0) * 1.0 if name == "winnow" else X


def same(model, run):
    """The model has learned what the run has: every bit of it."""
    assert (model.t_, model.mistakes_, model.updates_) == (run.rounds, run.mistakes, run.updates)
    assert model.run_.weights.tobytes() == run.weights.tobytes()
    assert np.array_equal(model.run_.intercept, run.intercept)
    assert model.margin_upper_bound_ == run.margin_upper_bound


def in_batches(model, X, y, cuts, **first):
    """Learn in batches that end at these rows."""
    begin = 0
    for end in [*sorted({cut for cut in cuts if 0 < cut < len(y)}), len(y)]:
        model.partial_fit(X[begin:end], y[begin:end], **first)
        begin, first = end, {}
    return model


def in_two(n, cut):
    """The rows before a cut and those from it on; all of them where it is beyond."""
    return [slice(0, cut), slice(cut, n)] if cut < n else [slice(0, n)]
