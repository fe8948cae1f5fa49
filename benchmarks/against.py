"""This checkout against another one: every row is run in turns, and the ratio of their times is shown.

``python benchmarks/against.py ../other`` loads the library of both checkouts and lets them take turns, 20 times for
each row. Both read the same arrays, in one process: where a process happens to have its arrays in memory can make it
slower by several per cent for as long as it lives. A ratio above 1 means that this checkout is slower. The interval is
that of the median of the paired ratios, at 95 %; a row is marked where even its lower end is above 1.03.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import sys
import tempfile
import time
from pathlib import Path

import faces
import generate
import numpy as np
import pandas as pd
import ratios
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer

import onlinear
import onlinear.river

HERE = Path(__file__).parents[1]
TOLERANCE = 1.03


OWN = {"onlinear", "against", "ratios", "faces"}
"""The modules that each checkout has of its own."""

dense, sparse = generate.once(ratios.dense), generate.once(ratios.sparse)
ten_classes, twenty_classes = generate.once(faces.ten_classes), generate.once(faces.twenty_classes)
PERCEPTRON = onlinear.rules.Perceptron()
LAYOUTS = {
    "dense, d = 20": lambda: dense(20),
    "dense, d = 100": lambda: dense(100),
    "CSR": sparse,
}


def rows(folder):
    """Return the rows: for each name a function that prepares the work, and returns it."""
    return {**learning(), **estimators(), **river(), **files(folder), **theory()}


def learning():
    made = {}
    for d in (20, 100, 1000):
        for dtype in (np.float64, np.float32):
            made[f"run, dense, d = {d}, {dtype.__name__}"] = run_of(PERCEPTRON, functools.partial(dense, d, dtype))
    made["run, CSR"] = run_of(PERCEPTRON, sparse)
    for name, data in LAYOUTS.items():
        made[f"a rule of one's own, {name}"] = run_of(ratios.OwnPerceptron(), data)
        made[f"passive-aggressive, {name}"] = run_of(ratios.PassiveAggressive(), data)
        made[f"predict, {name}"] = prediction_of(data)
    return made


def run_of(rule, data):
    def prepare():
        X, y = data()
        return lambda: onlinear.run(rule, X, y)

    return prepare


def prediction_of(data):
    def prepare():
        X, y = data()
        run = onlinear.run(PERCEPTRON, X, y)
        return lambda: run.predict(X)

    return prepare


def estimators():
    made = {}
    for name in ("dense, d = 100", "CSR"):
        made[f"partial_fit, {name}"] = fit_of(LAYOUTS[name], fit_intercept=False)
        made[f"partial_fit, {name}, intercept"] = fit_of(LAYOUTS[name])
    made["partial_fit, 10 classes"] = fit_of(ten_classes)
    made["partial_fit, 20 classes, CSR"] = fit_of(twenty_classes)
    return made


def fit_of(data, **options):
    def prepare():
        X, y = data()
        classes = np.unique(y)
        return lambda: onlinear.PerceptronClassifier(**options).partial_fit(X, y, classes=classes)

    return prepare


def river():
    return {
        "River, 9 features": dicts_of(9, 9, 20_000, 0.0),
        "River, 9 features, noise": dicts_of(9, 9, 20_000, 0.5),
        "River, 73 of 40,000 features": dicts_of(73, 40_000, 5_000, 0.0),
        "River, learn_many": frame,
    }


def dicts_of(size, names, n, noise):
    def prepare():
        examples = faces.dicts(size, names, n, noise)
        return lambda: faces.one_by_one(onlinear.river.PerceptronClassifier(), examples)

    return prepare


def frame():
    examples = faces.dicts(9, 9, 20_000, 0.0)
    X, y = pd.DataFrame([x for x, _ in examples]), pd.Series([y for _, y in examples])
    return lambda: onlinear.river.PerceptronClassifier().learn_many(X, y)


def files(folder):
    text, packed = folder / "data.svm", folder / "data.arrow"
    made = {}
    for name, path in (("text", text), ("converted", packed)):
        made[f"from {name}, learning"] = reading_of(path, text, lambda stream: onlinear.run(PERCEPTRON, stream))
        made[f"from {name}, reading"] = reading_of(path, text, drain)
    made["blocks in memory"] = functools.partial(blocks_of, text)
    return made


def reading_of(path, text, work):
    def prepare():
        if not path.exists():
            onlinear.streams.pack(onlinear.open_stream(text), path)
        return lambda: work(onlinear.open_stream(path))

    return prepare


def drain(stream):
    for _ in stream:
        pass


def blocks_of(text):
    blocks = list(onlinear.open_stream(text))
    return lambda: onlinear.run(PERCEPTRON, blocks)


def theory():
    made = {}
    for name, data in {
        "breast cancer": functools.partial(load_breast_cancer, return_X_y=True),
        "noisy": lambda: tuple(onlinear.datasets.noisy(margin=0.1, n=20_000, d=100)),
        "separable": lambda: tuple(onlinear.datasets.separable(margin=0.05, n=100_000, d=50)),
    }.items():
        examples = functools.cache(data)
        made[f"separability, {name}"] = prepared(onlinear.separability, examples)
        made[f"max_margin, {name}"] = prepared(lambda X, y: onlinear.max_margin(X, y, tol=1e-4), examples)
        made[f"best_comparator, {name}"] = prepared(onlinear.best_comparator, examples)
        made[f"certify, {name}"] = prepared(certificate_of, examples)
        made[f"verify, {name}"] = verification_of(examples)
    return made


def prepared(work, examples):
    def prepare():
        X, y = examples()
        return lambda: work(X, y)

    return prepare


def certificate_of(X, y):
    return onlinear.certify(onlinear.run(PERCEPTRON, X, y), X, y)


def verification_of(examples):
    def prepare():
        X, y = examples()
        certificate = certificate_of(X, y)
        return lambda: certificate.verify(X, y)

    return prepare


class Checkout:
    """The library of one checkout, and the rows that work with it; its modules can be found while it is open."""

    def __init__(self, root, folder):
        self.path, self.modules = str(Path(root).resolve() / "src"), {}
        with self:
            self.rows = importlib.import_module("against").rows(folder)

    def __enter__(self):
        sys.path.insert(0, self.path)
        sys.modules.update(self.modules)

    def __exit__(self, *_):
        sys.path.remove(self.path)
        self.modules = take_out_own_modules()

    def prepare(self, name):
        """Prepare a row, and run it once: it is compiled then."""
        with self:
            self.work = self.rows[name]()
            self.work()

    def seconds(self):
        with self:
            begin = time.perf_counter()
            self.work()
            return time.perf_counter() - begin


def take_out_own_modules():
    """Return the modules that each checkout has of its own; they are imported anew the next time."""
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in OWN}


def interval(ratios):
    """Return the median of paired ratios, and an interval for it that holds with 95 % for any distribution."""
    ordered = sorted(ratios)
    n = len(ordered)
    # The k-th smallest and largest of n enclose the median unless fewer than k of n coin flips are heads.
    k = int(binom.ppf(0.025, n, 0.5))
    return float(np.median(ordered)), ordered[max(0, k - 1)], ordered[min(n - 1, n - k)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", help="the root of the other checkout")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        generate.write(folder / "data.svm", 200_000)
        take_out_own_modules()
        new, old = Checkout(HERE, folder), Checkout(asked.other, folder)
        for name in new.rows:
            if asked.only in name:
                report(name, take_turns(name, new, old, asked.turns))


def take_turns(name, new, old, turns):
    """Return pairs of times of a row, in the new and in the old checkout."""
    new.prepare(name)
    old.prepare(name)
    pairs = []
    for turn in range(turns):
        order = (new, old) if turn % 2 else (old, new)
        times = {checkout: checkout.seconds() for checkout in order}
        pairs.append((times[new], times[old]))
    return pairs


def report(name, pairs):
    median, low, high = interval([a / b for a, b in pairs])
    best = min(a for a, _ in pairs) / min(b for _, b in pairs)
    mark = "SLOWER" if low > TOLERANCE else ""
    print(f"{name:<42} {median:6.3f}  [{low:.3f}, {high:.3f}]  best {best:6.3f}  {mark}", flush=True)


if __name__ == "__main__":
    main()
