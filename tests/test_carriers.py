"""What carries a row from a file to a pass: a chunk, a block, opened rows, and the cursor; nothing else."""

import gc
from typing import NamedTuple

import numpy as np
import scipy.sparse

import onlinear
from onlinear.data.matrices import as_matrix
from onlinear.engine.runner import PlainRunner
from onlinear.rules import dot, rule
from onlinear.runs import learner

MARK = 0.123456789
"""A value that stands nowhere else in memory."""

seen = []


def look():
    """List the classes of the library whose objects hold the marked value at this moment."""
    found = set()
    for thing in gc.get_objects():
        kind = type(thing)
        if not str(kind.__module__).startswith("onlinear."):
            continue
        names = getattr(kind, "_fields", None) or getattr(kind, "__slots__", None) or getattr(thing, "__dict__", ())
        held = [getattr(thing, name, None) for name in names]
        if any(isinstance(part, np.ndarray) and part.dtype == float and (part == MARK).any() for part in held):
            found.add(kind.__name__)
    seen.append(found)


@rule
class Watcher(NamedTuple):
    """Learns nothing, and looks around in the round of the marked example."""

    rate: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        look()
        return False


def test_a_row_has_four_carriers(tmp_path, monkeypatch):
    monkeypatch.setattr(learner, "runner_for", PlainRunner)
    path = tmp_path / "data.svm"
    path.write_text(f"+1 1:{MARK} 3:2\n-1 2:1\n")
    seen.clear()
    onlinear.train(Watcher(), onlinear.open_stream(path), passes=2)
    assert len(seen) == 4
    for found in seen:
        # The matrix is the part of a chunk that holds its values.
        assert found == {"CsrMatrix", "SparseBlock", "SparseRows", "SparseRow"}


def test_an_array_goes_the_same_way(monkeypatch):
    monkeypatch.setattr(learner, "runner_for", PlainRunner)
    seen.clear()
    onlinear.run(Watcher(), [[MARK, 2.0], [0.0, 1.0]], [1, -1])
    assert seen == [{"DenseMatrix", "DenseBlock", "DenseRows", "DenseRow"}] * 2


@rule
class Counter(NamedTuple):
    """Learns nothing, and counts how often it has to start."""

    rate: float = 1.0

    def start(self, n):
        starts.append(n)
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        return False


starts = []


def test_room_is_made_for_many_features_at_a_time():
    """Features that come one by one do not have the weights copied each time."""
    starts.clear()
    blocks = ((scipy.sparse.csr_array(np.eye(1, n, n - 1)), [n % 2]) for n in range(1, 400))
    assert onlinear.run(Counter(), blocks, classes=(0, 1)).n_features == 399
    assert len(starts) < 40


def test_single_precision_is_not_widened():
    X = np.asfortranarray(np.ones((4, 3), dtype=np.float32))
    assert as_matrix(X).block(slice(0, 2), 0, False).values.dtype == np.float32
