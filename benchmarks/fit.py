"""`fit` with its defaults, against scikit-learn's averaged gradient descent: test accuracy and time.

The accuracy is the mean over several splits and seeds; the two sides take turns, as in `ratios`. Real data are read
from `../shared/data`, if they are there.
"""

from __future__ import annotations

import operator
from pathlib import Path

import numpy as np
import scipy.sparse
from ratios import best, report
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

import onlinear

DATA = Path(__file__).parents[2] / "shared" / "data"
SEEDS = range(5)
POINTS, TIMES = -0.5, 3.0
"""How much less accurate, in percentage points, and how many times slower than theirs `fit` may be."""


def noisy(seed):
    """200,000 examples, a tenth of them with the wrong label."""
    X, y = onlinear.datasets.noisy(n=220_000, seed=seed)
    return X[:200_000], X[200_000:], y[:200_000], y[200_000:]


def adult(seed):
    """a9a with its test file, which is the same for every seed."""
    (X, y), (test, labels) = (load_svmlight_file(DATA / "a9a" / name, n_features=123) for name in ("a9a", "a9a.t"))
    return narrow(X), narrow(test), y, labels


def text(name, weighed, seed):
    """Bags of words: their counts, or tf-idf in rows of length 1."""
    X, y = load_svmlight_file(DATA / name / name)
    X, test, y, labels = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
    if weighed:
        tfidf = TfidfTransformer().fit(X)
        X, test = tfidf.transform(X), tfidf.transform(test)
    return narrow(X), narrow(test), y, labels


def generated_text(seed, n=20_000, d=20_000, words=50):
    """Rows of length 1 in which few features are frequent and most are rare."""
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, words)) ** 3).astype(np.int32)
    counts = scipy.sparse.csr_matrix((np.ones(n * words), (np.repeat(np.arange(n), words), columns.ravel())), (n, d))
    X = normalize(counts)
    scores = X @ (rng.standard_normal(d) * (rng.random(d) < 0.1))
    y = np.where(scores > np.median(scores), 1, -1)
    X, test, y, labels = train_test_split(X, y, test_size=0.2, random_state=seed)
    return narrow(X), narrow(test), y, labels


def narrow(X):
    """The same matrix with indices of 32 bits: scikit-learn takes no others."""
    X = scipy.sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


CASES = {
    "200,000 noisy examples": (noisy, None),
    "a9a": (adult, "a9a"),
    "subjectivity, tf-idf": (lambda seed: text("subjectivity", weighed=True, seed=seed), "subjectivity"),
    "subjectivity, counts": (lambda seed: text("subjectivity", weighed=False, seed=seed), "subjectivity"),
    "sms, tf-idf": (lambda seed: text("sms", weighed=True, seed=seed), "sms"),
    "sms, counts": (lambda seed: text("sms", weighed=False, seed=seed), "sms"),
    "proscons, tf-idf": (lambda seed: text("proscons", weighed=True, seed=seed), "proscons"),
    "generated text": (generated_text, None),
}


def against_averaged_gradient_descent():
    print("fit with its defaults, against scikit-learn's SGDClassifier(average=True): points of accuracy, and time")
    for name, (make, folder) in CASES.items():
        if folder is not None and not (DATA / folder).exists():
            print(f"  {name}: not at hand")
            continue
        scores, times, trained = [], [], []
        for seed in SEEDS:
            X, test, y, labels = make(seed)
            models = onlinear.PerceptronClassifier(random_state=seed), SGDClassifier(average=True, random_state=seed)
            times.append(best(*(lambda model=model: model.fit(X, y) for model in models), turns=3))  # noqa: B023
            scores.append([100.0 * model.score(test, labels) for model in models])
            trained.append(models[0].score(X, y))
        ours, theirs = np.mean(scores, axis=0)
        shown = f"  {name}{', separated' * (min(trained) == 1.0)}"
        verdict = "ok" if ours - theirs >= POINTS else "MISSED"
        print(f"{shown:<42} {ours:6.2f} % against {theirs:6.2f} % {ours - theirs:+6.2f} points   {verdict}")
        report(f"  {name}", float(np.median([one / other for one, other in times])), TIMES, operator.le)


def separable_by_a_hair():
    print("separable data: training accuracy of fit with its defaults")
    for n, d in ((1000, 5), (2000, 20), (5000, 500)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        y = X @ rng.standard_normal(d) > 0.0
        model = onlinear.PerceptronClassifier().fit(X, y)
        print(f"  {n:,} x {d}, a random hyperplane: {model.score(X, y):.4f} after {model.n_iter_:,} passes")


if __name__ == "__main__":
    against_averaged_gradient_descent()
    separable_by_a_hair()
