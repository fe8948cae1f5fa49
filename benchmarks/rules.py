"""Rules that keep more than weights, against the perceptron's pass; and all rules with many more features declared.

On the streams of the first part every rule updates in every round, the perceptron too. The ratios are measured like
those of `ratios.py`, but of the time that the pass has the processor: these runs are short.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import scipy.sparse
from ratios import best, report

import onlinear
from onlinear.rules import (
    AROW,
    FTRL,
    SCW,
    AdaGrad,
    AveragedPerceptron,
    MarginPerceptron,
    NormalizedAdaGrad,
    OnlineGradient,
    PassiveAggressive,
    Perceptron,
    Winnow,
    add,
    dot,
    rule,
)

ENTRIES = 3_000_000
TURNS = 25


@rule(additive=True)
class AlwaysUpdating(NamedTuple):
    """The perceptron's pass on a stream where it is always wrong."""

    rate: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        add(w, y, x)
        return 1.0


# With small steps no loss ever becomes 0.
TARGETS = [
    (AdaGrad(eta=1e-6), 2.5),
    (AROW(r=1e9), 2.5),
    (SCW(C=1e-6), 2.5),
    (NormalizedAdaGrad(eta=1e-6, loss="hinge"), 4.0),
    (NormalizedAdaGrad(), 4.0),
    (FTRL(), None),
]
REAL = [
    Perceptron(),
    MarginPerceptron(0.3),
    AveragedPerceptron(),
    PassiveAggressive(),
    OnlineGradient(),
    AdaGrad(),
    NormalizedAdaGrad(),
    FTRL(),
    AROW(),
    SCW(),
]


def labels(n):
    return np.where(np.random.default_rng(1).random(n) < 0.5, 1, -1)


def dense(d):
    n = ENTRIES // d
    return np.random.default_rng(0).standard_normal((n, d)), labels(n)


def sparse(n, d, stored):
    """Rows with `stored` of d features; a few features are common and most are rare, as in text."""
    rng, order = np.random.default_rng(0), np.arange(stored)
    columns = (d * ((order + rng.random((n, stored))) / stored) ** 3).astype(np.int32)
    columns = np.maximum.accumulate(columns - order, axis=1) + order  # all different
    columns = np.minimum(columns, d - stored + order).astype(np.int32)
    values = rng.random(n * stored) + 0.1
    return scipy.sparse.csr_array((values, columns.ravel(), np.arange(n + 1) * stored), shape=(n, d)), labels(n)


def name_of(one):
    loss = f" ({one.loss} loss)" if hasattr(one, "loss") else ""
    return type(one).__name__ + loss


def times(rules, X, y):
    works = [lambda one=one: onlinear.run(one, X, y) for one in rules]
    return best(*works, turns=TURNS, clock=time.thread_time)


def against_the_perceptron():
    print("an update in every round, against the perceptron's")
    streams = {f"dense, d = {d:,}": dense(d) for d in (20, 100, 1000)}
    for stored in (14, 50, 100):
        for d in (100, 10_000, 100_000):
            streams[f"CSR, {stored} of {d:,}"] = sparse(ENTRIES // stored, d, stored)
    for name, (X, y) in streams.items():
        rules = [AlwaysUpdating(), *(one for one, _ in TARGETS)]
        assert all(onlinear.run(one, X, y).updates == len(y) for one in rules)  # noqa: S101
        perceptron, *others = times(rules, X, y)
        for (one, target), took in zip(TARGETS, others, strict=True):
            report(f"  {name_of(one)}, {name}", took / perceptron, target)


def with_more_features():
    n, d = 250_000, 10_000
    print(f"{n:,} rows of 14 features, with {100 * d:,} features declared, against {d:,}")
    X, y = sparse(n, d, 14)
    binary = X.copy()
    binary.data[:] = 1.0
    for one, Z in [*((one, X) for one in REAL), (Winnow(), binary)]:
        works = [lambda width=width: onlinear.run(one, Z, y, n_features=width) for width in (d, 100 * d)]  # noqa: B023
        narrow, wide = best(*works, turns=TURNS, clock=time.thread_time)
        report(f"  {name_of(one)}", wide / narrow, 1.3)


if __name__ == "__main__":
    against_the_perceptron()
    with_more_features()
