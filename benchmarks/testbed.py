"""The streams on which learners are compared: real, bundled with scikit-learn or River, and generated."""

from __future__ import annotations

from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import sklearn.datasets
from river import datasets
from river.datasets import synth

import onlinear

DATA = Path(__file__).parents[2] / "shared" / "data"
"""Real streams, a folder for each; they are not part of the repository."""


class Examples(NamedTuple):
    """Examples in order: as a matrix, as dicts for River, and as lines for Vowpal Wabbit, with the same features."""

    X: Any
    codes: np.ndarray
    """The number of each example's class, from 0."""
    n_classes: int
    dicts: list[dict[int, float]]
    lines: list[str]

    def in_order(self, order):
        return Examples(
            self.X[order],
            self.codes[order],
            self.n_classes,
            [self.dicts[i] for i in order],
            [self.lines[i] for i in order],
        )


def examples(X, y):
    """Return examples in all three forms."""
    classes, codes = np.unique(y, return_inverse=True)
    labels = (2 * codes - 1 if classes.size == 2 else codes + 1).tolist()
    rows = scipy.sparse.csr_array(X, copy=True)
    rows.eliminate_zeros()
    stored = [*entries(rows)]
    lines = [f"{label} | {' '.join(f'{j}:{v!r}' for j, v in row)}\n" for label, row in zip(labels, stored, strict=True)]
    # In a dense row a zero is a value like any other: a scaler takes it into account.
    dicts = [*map(dict, stored)] if scipy.sparse.issparse(X) else [dict(enumerate(row)) for row in X.tolist()]
    return Examples(X, codes, classes.size, dicts, lines)


def entries(rows):
    """Yield the pairs of index and value of each row."""
    indices, values, ends = rows.indices.tolist(), rows.data.tolist(), rows.indptr.tolist()
    for begin, end in pairwise(ends):
        yield [*zip(indices[begin:end], values[begin:end], strict=True)]


def streams(folder=DATA):
    """Return for each name a function that loads or makes X and y."""
    found = {path.parent.name: partial(read, path) for path in files(folder)}
    return found | BUNDLED | GENERATED


def files(folder):
    for home in sorted(folder.glob("*/")):
        yield from (path for end in ("", ".csv", ".gz") if (path := home / f"{home.name}{end}").is_file())


def read(path):
    """Read a file as the library reads it, so that all learners have the same features."""
    blocks, labels = zip(*onlinear.open_stream(path), strict=True)
    if not scipy.sparse.issparse(blocks[0]):
        return np.vstack(blocks), np.concatenate(labels)
    # Earlier blocks lack the features that occur first in later ones.
    width = max(block.shape[1] for block in blocks)
    for block in blocks:
        block.resize(block.shape[0], width)
    return scipy.sparse.csr_array(scipy.sparse.vstack(blocks)), np.concatenate(labels)


def bundled(load):
    return load(return_X_y=True)


def river_stream(make, n=None):
    dicts, labels = zip(*islice(make(), n), strict=True)
    return np.array([[*x.values()] for x in dicts], dtype=float), np.array(labels)


def made(n=10_000, **options):
    return sklearn.datasets.make_classification(
        n, **{"n_features": 20, "n_informative": 10, "random_state": 0, **options}
    )


def in_other_units():
    """Make columns that differ by up to eight orders of magnitude."""
    X, y = made()
    return X * 10.0 ** np.linspace(-4, 4, X.shape[1]), y


BUNDLED = {
    "breast_cancer": partial(bundled, sklearn.datasets.load_breast_cancer),
    "digits": partial(bundled, sklearn.datasets.load_digits),
    "iris": partial(bundled, sklearn.datasets.load_iris),
    "wine": partial(bundled, sklearn.datasets.load_wine),
    "phishing": partial(river_stream, datasets.Phishing),
    "bananas": partial(river_stream, datasets.Bananas),
    "segments": partial(river_stream, datasets.ImageSegments),
}
GENERATED = {
    "easy": partial(made, class_sep=2.0, flip_y=0.0),
    "noisy": partial(made, flip_y=0.3),
    "imbalanced": partial(made, weights=[0.95]),
    "five classes": partial(made, n_classes=5),
    "other units": in_other_units,
    "hyperplane": partial(
        river_stream, partial(synth.Hyperplane, seed=0, n_drift_features=5, mag_change=0.001), 20_000
    ),
    "led": partial(river_stream, partial(synth.LED, seed=0, noise_percentage=0.1), 10_000),
}
