"""Damaged compiled code on disk, a bounded time long: it is compiled anew, and never crashes or changes a result.

``python fuzz/cache.py 60``, in seconds. Child processes run a rule and a loop without a rule, whose files are damaged
in between: bytes changed, cut off, inserted, moved from one file to the other. A child whose result is wrong, or that
ends in any other way, is reported with its seed, and the exit code is not 0; ``python fuzz/cache.py 60 SEED`` starts
with that seed.
"""

# ruff: noqa: T201

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHILD = """
import random, sys
from pathlib import Path
import numpy as np
from onlinear.engine import passes
from onlinear.engine.compile import Runner, dispatcher
from onlinear.engine.rows import DenseBlock
from onlinear.rules import add, dot, rule
from typing import NamedTuple

folder, seed, cases = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])


@rule
class Plain(NamedTuple):
    rate: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        add(w, self.rate * y, x)
        return True


def largest(numbers):
    best = numbers[0]
    for number in numbers:
        best = max(best, number)
    return best


def run():
    '''Run both as a new process would; return how many were found on disk.'''
    dispatcher.cache_clear()
    assert dispatcher(largest)(np.array([2.0, 5.0, 3.0])) == 5.0
    w, scores, codes = np.array([1.0, -2.0]), np.empty(3), np.empty(3, dtype=np.int8)
    block = DenseBlock(np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 1.0]]), 0, False)
    Runner(Plain())(passes.score, w, block, 0, 0, 1, scores, codes)
    assert scores.tolist() == [1.0, -2.0, 1.0], scores
    compiled = [dispatcher(largest), dispatcher(passes.score)]
    return sum(hits for one in compiled for hits in one.stats.cache_hits.values())


def damage(good, other, rng):
    place, end = sorted(rng.randrange(len(good) + 1) for _ in range(2))
    match rng.randrange(7):
        case 0:
            bits = bytearray(good)
            for _ in range(rng.choice([1, 1, 2, 50])):
                bits[rng.randrange(len(bits))] ^= 1 << rng.randrange(8)
            return bytes(bits)
        case 1:
            return good[:place]
        case 2:
            return good[:place] + rng.randbytes(rng.randrange(1, 5000)) + good[place:]
        case 3:
            return good[:place] + good[end:]
        case 4:
            return good[:place] + bytes(end - place) + good[end:]
        case 5:
            return good[:32] + other[32:]
        case _:
            return other


run()
assert run() == 2
files = sorted(folder.rglob("*.code"), key=lambda path: path.stat().st_size)
assert len(files) == 2, files
for case in range(seed, seed + cases):
    rng = random.Random(case)
    print(case, flush=True)
    good = [path.read_bytes() for path in files]
    chosen = rng.choice([[0], [0], [1], [0, 1]])  # the smaller one takes less time to compile
    changed = 0
    for k in chosen:
        bad = damage(good[k], good[1 - k], rng)
        files[k].write_bytes(bad)
        changed += bad != good[k]
    hits = run()
    assert hits == 2 - changed, f"{hits} of 2 found, {changed} damaged"
    assert run() == 2
"""
CASES = 25


def main():
    end = time.monotonic() + float(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        script, cache = Path(folder) / "child.py", Path(folder) / "cache"
        script.write_text(CHILD)
        settings = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
        settings.pop("NUMBA_DISABLE_JIT", None)
        for seed in itertools.count(first, CASES):
            words = [sys.executable, "-W", "error", str(script), str(cache), str(seed), str(CASES)]
            child = subprocess.run(words, env=settings, capture_output=True, text=True, check=False)  # noqa: S603
            tried = child.stdout.split()
            done += len(tried)
            if child.returncode != 0:
                print(f"case {tried[-1] if tried else seed}: exit code {child.returncode}\n{child.stderr}")
                return 1
            if time.monotonic() > end:
                break
    print(f"{done} cases of damaged code: all were compiled anew, with the right result")
    return 0


if __name__ == "__main__":
    sys.exit(main())
