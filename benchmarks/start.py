"""How long the majority takes to its first round: with nothing compiled, and with everything on disk.

Each start is a process of its own that trains on a few lines of text, as the command line does.
"""

import tempfile
import time
from pathlib import Path

from process import run_python

TURNS = 5
LINES = "1 1:1 3:0.5\n-1 2:1\n1 1:2\n-1 2:0.5 3:1\n"
COLD, WARM = 12.0, 1.5
"""The most seconds that a start should take."""


def start(data, cache):
    """Return the seconds that a process takes, and what it says on the way."""
    begin = time.perf_counter()
    done = run_python("-m", "onlinear", "train", str(data), NUMBA_CACHE_DIR=str(cache))
    return time.perf_counter() - begin, done.stderr


def report(name, seconds, most):
    print(f"{name:<44} {seconds:7.2f} s   target <= {most:<4} {'ok' if seconds <= most else 'MISSED'}", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        data, cache = Path(folder) / "data.svm", Path(folder) / "cache"
        data.write_text(LINES)
        cold, said = start(data, cache)
        notices = sum(line.startswith("compiling ") for line in said.splitlines())
        report(f"auto, nothing compiled ({notices} notices)", cold, COLD)
        report("auto, compiled before", min(start(data, cache)[0] for _ in range(TURNS)), WARM)
