"""Speed as ratios, each measured in one run: ours against reading the same memory, and against peers.

Machines differ and are shared, so only ratios are compared. The two sides of a ratio take turns, and
the ratio is that of their best times: a neighbour can only make either of them slower.
"""

from __future__ import annotations

import operator
import time
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.linear_model import Perceptron as SklearnPerceptron

import onlinear
from onlinear.rules import PassiveAggressive, Perceptron, add, dot, rule

ENTRIES = 50_000_000
TURNS = 15


@rule(additive=True)
class OwnPerceptron(NamedTuple):
    rate: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        if mistake:
            add(w, y, x)
        return mistake


def best(*works, turns=TURNS, clock=time.perf_counter):
    """Let the works take turns; return the best time of each."""
    times = [[] for _ in works]
    for turn in range(turns + 1):
        for work, record in zip(works, times, strict=True):
            begin = clock()
            work()
            if turn:  # the first turn compiles and warms up
                record.append(clock() - begin)
    return [min(record) for record in times]


def report(name, ratio, target, relation=operator.le):
    sign = "<=" if relation is operator.le else ">="
    verdict = "" if target is None else f"target {sign} {target:<4}  {'ok' if relation(ratio, target) else 'MISSED'}"
    print(f"{name:<66} {ratio:6.2f} x   {verdict}")


def dense(d, dtype=np.float64, margin=0.05):
    """Unit-length examples of a stream that a vector separates, in float64 or float32."""
    n = ENTRIES // d
    rng = np.random.default_rng(d)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.standard_normal((n, d)).astype(dtype)
    scores = X @ u.astype(dtype)
    y = np.where(scores > 0, 1, -1)
    X += (margin * y[:, None] * u).astype(dtype)
    return X, y


def sparse(n=200_000, d=47_000, stored=76):
    """Rows of 76 of 47,000 features; a few features are common and most are rare, as in text."""
    rng = np.random.default_rng(0)
    columns = (d * rng.random((n, int(stored * 1.6))) ** 3).astype(np.int32)
    rows = [np.unique(row)[:stored] for row in columns]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int32)
    indices = np.concatenate(rows)
    X = scipy.sparse.csr_matrix((rng.random(indices.size), indices, indptr), shape=(n, d))
    return X, np.where(X @ rng.standard_normal(d) > 0, 1, -1)


def against_memory():
    print("one online pass of the perceptron, against reading the same memory once")
    for d, target in ((20, 1.7), (100, 1.3), (1000, 1.3)):
        for dtype in (np.float64, np.float32):
            X, y = dense(d, dtype)
            ours, theirs = best(lambda: onlinear.run(Perceptron(), X, y), X.sum)  # noqa: B023
            mistakes = onlinear.run(Perceptron(), X, y).mistakes / len(y)
            name = f"  X.sum(), {len(y):,} x {d} {dtype.__name__}, {mistakes:.2%} mistakes"
            report(name, ours / theirs, target)
    X, y = sparse()
    w = np.random.default_rng(1).standard_normal(X.shape[1])
    ours, theirs = best(lambda: onlinear.run(Perceptron(), X, y), lambda: X @ w)
    mistakes = onlinear.run(Perceptron(), X, y).mistakes / len(y)
    report(
        f"  SciPy's X @ w, {X.shape[0]:,} x {X.shape[1]:,} CSR, {X.nnz / len(y):.0f} a row, {mistakes:.0%} mistakes",
        ours / theirs,
        1.3,
    )


def against_the_built_in():
    print("a rule of one's own, and another one, against the built-in perceptron")
    for name, (X, y) in {"dense, d = 20": dense(20), "dense, d = 100": dense(100), "CSR": sparse()}.items():
        own, built_in, passive = best(
            lambda: onlinear.run(OwnPerceptron(), X, y),  # noqa: B023
            lambda: onlinear.run(Perceptron(), X, y),  # noqa: B023
            lambda: onlinear.run(PassiveAggressive(), X, y),  # noqa: B023
        )
        report(f"  the same perceptron, {name}", own / built_in, 1.05)
        updates = [onlinear.run(r, X, y).updates / len(y) for r in (PassiveAggressive(), Perceptron())]
        report(
            f"  passive-aggressive, {name} ({updates[0]:.0%} updates, not {updates[1]:.0%})", passive / built_in, None
        )


def against_scikit_learn():
    print("scikit-learn's Perceptron, single pass, same order, no intercept: how many times slower")
    settings = {"max_iter": 1, "tol": None, "shuffle": False, "fit_intercept": False}
    for name, (X, y), target in (("dense, d = 100", dense(100), 3.0), ("CSR", sparse(), 1.3)):
        ours, theirs = best(
            lambda: onlinear.run(Perceptron(), X, y),  # noqa: B023
            lambda: SklearnPerceptron(**settings).fit(X, y),  # noqa: B023
        )
        report(f"  {name}", theirs / ours, target, operator.ge)


if __name__ == "__main__":
    against_memory()
    against_the_built_in()
    against_scikit_learn()
