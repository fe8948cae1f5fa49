"""The faces people know, against the originals: scikit-learn's estimators and River's, as ratios in one run.

The two sides of a ratio take turns, as in `ratios`. Each turn begins with estimators that have learned nothing.
"""

from __future__ import annotations

import operator
import random

import numpy as np
import pandas as pd
from ratios import best, dense, report, sparse
from river import linear_model
from sklearn.linear_model import Perceptron as SklearnPerceptron

import onlinear
import onlinear.river


def one_pass(make, X, y, classes):
    """Let a fresh estimator go over the examples once."""
    return lambda: make().partial_fit(X, y, classes=classes)


def sklearn_perceptron(**options):
    """As ours: in the order given. By default it shuffles, and takes about twice as long."""
    return SklearnPerceptron(shuffle=False, **options)


def against_scikit_learn():
    print("partial_fit, against scikit-learn's Perceptron in the same order: how many times slower it is")
    for intercept in (True, False):
        cases = (("dense, d = 100", dense(100), 3.0), ("CSR, 76 of 47,000 a row", sparse(), 1.3))
        for name, (X, y), target in cases:
            ours, theirs = best(
                one_pass(lambda: onlinear.PerceptronClassifier(fit_intercept=intercept), X, y, [-1, 1]),  # noqa: B023
                one_pass(lambda: sklearn_perceptron(fit_intercept=intercept), X, y, [-1, 1]),  # noqa: B023
                turns=5,
            )
            report(f"  {name}{', intercept' if intercept else ''}", theirs / ours, target, operator.ge)
    for name, (X, y) in (("10 classes, d = 64", ten_classes()), ("20 classes, 76 of 50,000 a row", twenty_classes())):
        classes = np.unique(y)
        ours, theirs = best(
            one_pass(onlinear.PerceptronClassifier, X, y, classes),
            one_pass(sklearn_perceptron, X, y, classes),
            turns=5,
        )
        report(f"  {name}", theirs / ours, 3.0, operator.ge)


def ten_classes(n=100_000, d=64):
    """Dense examples, labelled by the best of ten vectors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal((d, 10))).argmax(axis=1)


def twenty_classes():
    """Sparse examples as in text, labelled by the best of twenty vectors."""
    X, _ = sparse(n=50_000, d=50_000)
    return X, np.asarray(X @ np.random.default_rng(0).standard_normal((X.shape[1], 20))).argmax(axis=1)


def against_river():
    print("one example at a time, predict_one and learn_one, against River's Perceptron: how many times slower it is")
    for size, names, n, noise, target in (
        (9, 9, 20_000, 0.0, 2.0),
        (9, 9, 20_000, 0.5, None),
        (73, 40_000, 5_000, 0.0, 1.2),
    ):
        examples = dicts(size, names, n, noise)
        ours, theirs = best(
            lambda: one_by_one(onlinear.river.PerceptronClassifier(), examples),  # noqa: B023
            lambda: one_by_one(linear_model.Perceptron(), examples),  # noqa: B023
        )
        share = once(examples).mistakes / n
        report(f"  dicts, {size} of {names:,} features, {share:.0%} mistakes", theirs / ours, target, operator.ge)
    examples = dicts(9, 9, 20_000, 0.0)
    X = pd.DataFrame([x for x, _ in examples])
    y = pd.Series([y for _, y in examples])
    ours, theirs = best(
        lambda: onlinear.river.PerceptronClassifier().learn_many(X, y),
        lambda: learned(linear_model.Perceptron(), examples),
    )
    report("  learn_many on a frame of 9 columns, against its loop of learn_one", theirs / ours, 50.0, operator.ge)


def dicts(size, names, n, noise):
    """Examples as dicts, by name, labelled by a vector; a share of the labels is turned round."""
    rng = random.Random(0)  # noqa: S311  # a benchmark
    called = [f"feature_{j}" for j in range(names)]
    u = [rng.gauss(0.0, 1.0) for _ in range(names)]
    examples = []
    for _ in range(n):
        chosen = rng.sample(range(names), size)
        x = {called[j]: rng.gauss(0.0, 1.0) for j in (sorted(chosen) if size == names else chosen)}
        positive = sum(u[j] * x[called[j]] for j in chosen) > 0.0
        examples.append((x, positive != (rng.random() < noise)))
    return examples


def one_by_one(model, examples):
    for x, y in examples:
        model.predict_one(x)
        model.learn_one(x, y)


def learned(model, examples):
    for x, y in examples:
        model.learn_one(x, y)


def once(examples):
    model = onlinear.river.PerceptronClassifier()
    learned(model, examples)
    return model


if __name__ == "__main__":
    against_scikit_learn()
    against_river()
