"""Labelled examples as text, for the benchmarks: libsvm's form, and the same examples in Vowpal Wabbit's."""

import contextlib
import functools
from pathlib import Path

import numpy as np

FEATURES = 47_000
DRAWN = 76
_CHUNK = 5_000
_WIDTH = 15  # of " 47000:0.123456", the longest entry


_MADE = {}


def once(make):
    """Return a function that makes its data once, however often the module that defines it is loaded."""

    @functools.wraps(make)
    def made(*args):
        key = make.__name__, args
        if key not in _MADE:
            _MADE[key] = make(*args)
        return _MADE[key]

    return made


def write(path, n, *, wabbit=None, seed=0):
    """Write n examples of about 76 of 47,000 features; a few features are common and most are rare, as in text.

    The values have six decimals. A vector labels them, and one label in fifty is wrong. With `wabbit`, the same go
    there in Vowpal Wabbit's form.
    """
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(FEATURES)
    forms = [(path, (b"+1", b"-1"))] + ([(wabbit, (b"1 |", b"-1 |"))] if wabbit else [])
    with contextlib.ExitStack() as stack:
        files = [(stack.enter_context(Path(name).open("wb")), heads) for name, heads in forms]
        for first in range(0, n, _CHUNK):
            rows = min(_CHUNK, n - first)
            columns = np.sort((FEATURES * rng.random((rows, DRAWN)) ** 2).astype(np.int64), axis=1)
            values = rng.integers(0, 1_000_000, (rows, DRAWN))
            fresh = np.ones((rows, DRAWN), dtype=bool)
            fresh[:, 1:] = columns[:, 1:] != columns[:, :-1]
            scores = (u[columns] * values * fresh).sum(axis=1)
            positive = (scores > 0) ^ (rng.random(rows) < 0.02)
            for file, heads in files:
                file.write(_text(columns + 1, values, fresh, positive, heads))


def _text(indices, values, fresh, positive, heads):
    """Return rows as text: a table of characters, one entry a row, from which what is not needed is dropped."""
    n, drawn = indices.shape
    table = np.empty((n, 1 + drawn, _WIDTH), dtype=np.uint8)
    needed = np.zeros(table.shape, dtype=bool)
    for mask, head in zip((positive, ~positive), heads, strict=True):
        head = np.frombuffer(b"\n" + head, dtype=np.uint8)  # noqa: PLW2901
        table[mask, 0, : head.size], needed[mask, 0, : head.size] = head, True
    entries, kept = table[:, 1:], needed[:, 1:]
    entries[..., 0], entries[..., 6], entries[..., 7], entries[..., 8] = b" :0."
    for k in range(5):
        power = 10 ** (4 - k)
        entries[..., 1 + k] = indices // power % 10 + ord("0")
        kept[..., 1 + k] = fresh & (indices >= power)
    for k in range(6):
        entries[..., 9 + k] = values // 10 ** (5 - k) % 10 + ord("0")
    for k in (0, *range(6, _WIDTH)):
        kept[..., k] = fresh
    return table[needed].tobytes()[1:] + b"\n"
