"""How long the theory takes: seconds of one run, which depend on the machine, beside what was reached.

Libsvm files may be named on the command line: ``python benchmarks/theory.py mushrooms a9a``.
"""

import sys
import time
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_svmlight_file

import onlinear
from onlinear.rules import Perceptron
from onlinear.theory import Examples, bounds


def timed(what, call):
    before = time.perf_counter()
    result = call()
    print(f"  {time.perf_counter() - before:7.2f} s  {what}", end="")
    return result


def passive_aggressive(examples, u):
    return bounds.passive_aggressive(examples, u=u, C=1.0, variant="PA-II")


def report(name, X, y):
    print(f"{name}: {X.shape[0]:,} × {X.shape[1]:,}")
    print(f": {type(timed('separability', lambda: onlinear.separability(X, y))).__name__}")
    found = timed("max_margin", lambda: onlinear.max_margin(X, y, tol=1e-4))
    print(f": {found.lower:.6g} to {found.upper:.6g}, gap {found.gap:.1e}, {len(found.steps)} steps")
    timed("its verification", lambda: found.verify(X, y))
    print()
    u = timed("best_comparator", lambda: onlinear.best_comparator(X, y))
    run = onlinear.run(Perceptron(), X, y)
    print(f": {run.mistakes:,} mistakes, bound {u.bound:,.1f}, at best {u.least_bound:,.1f}, gap {u.gap:.1e}")
    examples = Examples(X, y)
    timed("two bounds", lambda: [bound(examples, u=u.weights) for bound in (bounds.hinge, passive_aggressive)])
    print()
    certificate = timed("certify", lambda: onlinear.certify(run, X, y))
    print()
    timed("its verification", lambda: certificate.verify(X, y))
    print()


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        report(path.name, *load_svmlight_file(path))
    report("breast cancer", *load_breast_cancer(return_X_y=True))
    report("noisy", *onlinear.datasets.noisy(margin=0.1, n=100_000, d=100))
    report("separable at 1 %", *onlinear.datasets.separable(margin=0.01, n=1_000_000, d=50))
