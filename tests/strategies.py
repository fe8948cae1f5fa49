"""Hypothesis data. Numbers are multiples of 1/16, small enough that every sum of them is exact."""

import hypothesis.strategies as st
import numpy as np
import scipy.sparse
from hypothesis.extra.numpy import arrays

TIES = ["mistake", "negative", "positive"]
BLOCKS = [1, 7, None]


def labels(n):
    return st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n).filter(lambda y: len(set(y)) == 2)


@st.composite
def examples(draw, entries=None, max_rows=30, max_width=20):
    """A matrix of exact numbers with labels of both kinds."""
    n = draw(st.integers(2, max_rows))
    d = draw(st.integers(1, max_width))
    entries = st.integers(-64, 64) if entries is None else entries
    X = draw(arrays(np.int64, (n, d), elements=entries, fill=st.just(0)))
    return X, np.array(draw(labels(n)))


def real(**options):
    return examples(**options).map(lambda data: (data[0] / 16.0, data[1]))


def binary(**options):
    return examples(st.integers(0, 1), **options).map(lambda data: (data[0] * 1.0, data[1]))


def advice(**options):
    return examples(st.integers(0, 1), **options).map(lambda data: (2.0 * data[0] - 1.0, data[1]))


@st.composite
def separable(draw, **options):
    """Examples labelled by a vector u with y⟨u,x⟩ > 0 throughout; returns X, y, u."""
    X, y = draw(real(**options))
    u = draw(arrays(np.int64, X.shape[1], elements=st.integers(-8, 8))) * 1.0
    if not u.any():
        u[0] = 1.0
    scores = X @ u
    # Whatever u does not decide is moved along it.
    X = np.where((scores == 0)[:, None], X + np.outer(y, u), X)
    y = np.sign(X @ u).astype(int)
    if len(set(y.tolist())) < 2:
        X[0], y[0] = -X[0], -y[0]
    return X, y, u


def _other_numbers(X):
    return X.astype(np.int64) if (np.floor(X) == X).all() else X.astype(np.longdouble)


def _with_duplicates(X):
    half = scipy.sparse.coo_array(X / 2.0)
    rows, columns = half.coords
    twice = (np.tile(half.data, 2), (np.tile(rows, 2), np.tile(columns, 2)))
    # From COO, SciPy would sum them; so the CSR arrays are written out, unsorted.
    order = np.argsort(twice[1][0], kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(twice[1][0], minlength=X.shape[0]))])
    return scipy.sparse.csr_array((twice[0][order], twice[1][1][order], indptr), shape=X.shape)


def _wide_indices(X):
    X = scipy.sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


LAYOUTS = {
    "dense": np.ascontiguousarray,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "other numbers": _other_numbers,
    "lists": lambda X: X.tolist(),
    "csr": scipy.sparse.csr_matrix,
    "csr, int64 indices": _wide_indices,
    "csr, float32": lambda X: scipy.sparse.csr_matrix(X.astype(np.float32)),
    "csr, duplicates": _with_duplicates,
    "csc": scipy.sparse.csc_matrix,
}


def as_layout(X, layout):
    """The same matrix in another form."""
    return LAYOUTS[layout](X)


def in_blocks(X, y, size):
    """The examples as a stream of blocks of this many rows."""
    for first in range(0, len(y), size):
        yield X[first : first + size], y[first : first + size]


@st.composite
def many_classes(draw, **options):
    """Exact numbers with labels of k ≥ 2 classes, 0 to k − 1; returns X, y, k."""
    X, _ = draw(real(**options))
    k = draw(st.integers(2, 11) | st.integers(12, 40))
    y = draw(st.lists(st.integers(0, k - 1), min_size=len(X), max_size=len(X)))
    return X, np.array(y), k
