"""What carries a row from a file to a pass: a chunk, a block, opened rows, and the cursor; nothing else."""

import gc
from typing import NamedTuple

import numpy as np

import onlinear
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
