"""The running checksum of examples: it goes on where it ended, and sees neither blocks nor layouts."""

import hypothesis.strategies as st
import numpy as np
import scipy.sparse
from hypothesis import assume, given

from onlinear.data.checksum import Checksum, row_sums
from onlinear.engine.rows import DenseBlock, SparseBlock
from strategies import real


def checksum(X, y, size=None, so_far=None):
    """Follow X in blocks of `size` rows, with a new Checksum for each."""
    done = str(Checksum()) if so_far is None else so_far
    step = size or max(1, len(y))
    for first in range(0, len(y), step):
        part = X[first : first + step]
        if scipy.sparse.issparse(part):
            block = SparseBlock(part.data, part.indices, part.indptr, part.shape[1], 0, normalize=False)
        else:
            block = DenseBlock(np.ascontiguousarray(part), 0, normalize=False)
        again = Checksum(done)
        again.add(row_sums(block), np.asarray(y[first : first + step], dtype=np.int8))
        done = str(again)
    return done


@given(real(), st.integers(1, 9))
def test_blocks_pauses_and_layouts_do_not_show(data, size):
    X, y = data
    whole = checksum(X, y)
    assert checksum(X, y, size) == whole
    assert checksum(scipy.sparse.csr_array(X), y, size) == whole
    stored_zeros = scipy.sparse.csr_array(np.where(X == 0.0, 1.0, X))
    stored_zeros.data[np.where(X == 0.0, True, False).reshape(-1)] = -0.0
    assert checksum(stored_zeros, y) == whole
    assert checksum(X.astype(np.float32), y) == whole


@given(real(), st.data())
def test_any_change_shows(data, choice):
    X, y = data
    whole = checksum(X, y)
    i, j = choice.draw(st.integers(0, X.shape[0] - 1)), choice.draw(st.integers(0, X.shape[1] - 1))
    other = X.copy()
    other[i, j] = np.nextafter(X[i, j], np.inf)
    flipped = y.copy()
    flipped[i] = -y[i]
    moved = np.roll(X, 1, axis=1)
    assert checksum(other, y) != whole
    assert checksum(X, flipped) != whole
    assert checksum(X[:-1], y[:-1]) != whole
    assume(not np.array_equal(moved, X))
    assert checksum(moved, y) != whole
    order = np.roll(np.arange(len(y)), 1)
    assume(not (np.array_equal(X[order], X) and np.array_equal(y[order], y)))
    assert checksum(X[order], y[order]) != whole


def test_checksums_in_older_files_stay_valid():
    X = np.array([[1.0, 0.0, -2.5], [0.0, 3.0, 0.0]])
    assert checksum(X, [-1, 1]) == "b818a2728373d2ae5f10b111d497ed29"
    assert checksum(X, [0, 2]) == "d16eaea28190cb0f872fc6757a6443d1"
