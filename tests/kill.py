"""Training killed at random moments ends, once it is run again, with the same bits: ``python tests/kill.py``.

Each time a process of its own trains with checkpoints and is killed (SIGKILL): some time after its first checkpoint,
or right in the middle of writing one. Some are killed again after they have gone on. Then the data are changed, and
the same command must end with an error in the data; only if no example has changed that the checkpoint knows of, it
may end with the model of the changed data. Then the data are put back, the same command runs to its end, and its model
must be the uninterrupted one's, byte for byte. Fails where one differs, or where fewer than four of five kills have
met a process at work that had a checkpoint.
"""

# ruff: noqa: T201

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from onlinear.errors import OnlinearError
from onlinear.models.file import peek

SCRIPT = """
import sys
import onlinear
from onlinear.rules import MarginPerceptron, Perceptron

data, folder, every = sys.argv[1:4]
rule = eval(sys.argv[4])
options = eval(sys.argv[5])
stream = onlinear.open_stream(data)
print("begin", flush=True)
onlinear.train(rule, stream, checkpoint=f"{folder}/checkpoint", every=float(every), output=f"{folder}/model", **options)
"""
COMMANDS = [
    ("Perceptron()", "{'passes': 4, 'fit_intercept': True}"),
    ("MarginPerceptron(0.1, normalized=True)", "{'passes': 3, 'normalize': True}"),
    ("Perceptron('negative')", "{'passes': 3, 'shuffle': 5000, 'seed': 7}"),
]
PATIENCE = 300.0


class Killed(NamedTuple):
    """What a killed process left behind."""

    after: float
    at_work: bool
    reached: dict | None
    """How far its checkpoint had come; None: there was none."""
    unfinished: int
    """How many files it was writing."""


def make(path, n, seed=0, entries=5, width=300):
    """Write n short examples that a vector separates but for one in ten."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(width)
    with Path(path).open("wb") as file:
        for first in range(0, n, 50_000):
            rows = min(50_000, n - first)
            # Indices ascend where each is drawn from a range of its own.
            step = width // entries
            columns = rng.integers(0, step, (rows, entries)) + np.arange(entries) * step
            values = rng.integers(1, 100_000, (rows, entries))
            y = np.where((u[columns] * values).sum(axis=1) > 0, 1, -1) * np.where(rng.random(rows) < 0.1, -1, 1)
            line = "%d " + " ".join(["%d:0.%05d"] * entries)
            both = np.stack([columns + 1, values], axis=2).reshape(rows, -1)
            file.write("".join(line % tuple(row) + "\n" for row in np.column_stack([y, both]).tolist()).encode())


def append_rows(text, rng):
    """Add the first rows again, at the end."""
    return text + text[: text.index(b"\n", rng.randrange(1000)) + 1]


def edit_line(text, rng):
    """Change the last digit of a line."""
    end = text.index(b"\n", rng.randrange(len(text)))
    return text[: end - 1] + (b"1" if text[end - 1 : end] != b"1" else b"2") + text[end:]


def replace_all(text, rng):
    """Put the same rows into another order."""
    cut = text.index(b"\n", rng.randrange(len(text) // 4, len(text) // 2)) + 1
    return text[cut:] + text[:cut]


def drop_rows(text, rng):
    """Leave out the last rows."""
    return text[: text.index(b"\n", rng.randrange(len(text) // 2, len(text) - 1000)) + 1]


CHANGES = [append_rows, edit_line, replace_all, drop_rows]


def same_lines(one, other):
    """Return how many lines two texts have in common from the start."""
    size = min(len(one), len(other))
    different = np.frombuffer(one, np.uint8, size) != np.frombuffer(other, np.uint8, size)
    return one.count(b"\n", 0, int(np.argmax(different)) if different.any() else size)


class Trial:
    """One command over one file, in a folder of its own."""

    def __init__(self, data, folder, every, command):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.checkpoint, self.model = self.folder / "checkpoint", self.folder / "model"
        self.data, self.every, self.command = Path(data), every, command
        self._words = [sys.executable, "-c", SCRIPT, str(data), str(folder), str(every), *command]

    def clear(self):
        for path in self.folder.iterdir():
            path.unlink()

    def _begun(self):
        process = subprocess.Popen(self._words, stdout=subprocess.PIPE)
        if process.stdout.readline() != b"begin\n":
            process.wait()
            raise AssertionError(f"training did not begin: {self._words}")
        return process

    def finish(self):
        """Train to the end; return the model, and how long there were checkpoints."""
        with self._begun() as process:
            self._await_checkpoint(process, self._stamp())
            begin = end = time.monotonic()
            while self.checkpoint.exists() and process.poll() is None and end - begin < PATIENCE:
                time.sleep(0.0005)
                end = time.monotonic()
            if process.wait(PATIENCE) != 0:
                raise AssertionError(f"training ended with {process.returncode}")
        if self.checkpoint.exists():
            raise AssertionError("the checkpoint is still there when all is done")
        return self.model.read_bytes(), end - begin

    def try_changed(self, change, rng, reached):
        """Train with changed data, then put back the data and the checkpoint; return what happened, and what is wrong.

        `reached` is how far the checkpoint has come.
        """
        text, kept = self.data.read_bytes(), self.checkpoint.read_bytes()
        changed = change(text, rng)
        self.data.write_bytes(changed)
        try:
            done = subprocess.run(self._words, capture_output=True, text=True, check=False, timeout=PATIENCE)
            if "onlinear.errors.DataError" in done.stderr:
                return "refused", None if done.returncode == 1 and not self.model.exists() else "a model was saved"
            if done.returncode != 0:
                return "failed", done.stderr.strip().splitlines()[-1]
            known = 0 if "shuffle" in self.command[1] else reached["rows"]  # shuffled, the lines are not in order
            if reached["passes"] > 0 or same_lines(text, changed) < known:
                return "accepted", "the changed data were accepted"
            fresh = Trial(self.data, self.folder.with_name(f"{self.folder.name}-fresh"), self.every, self.command)
            fresh.clear()
            return "accepted", None if fresh.finish()[0] == self.model.read_bytes() else "the model is of mixed data"
        finally:
            self.data.write_bytes(text)
            self.checkpoint.write_bytes(kept)
            self.model.unlink(missing_ok=True)

    def kill(self, delay, *, in_writing):
        """Train, and kill the process: `delay` after it has a new checkpoint, or once it begins to write one."""
        before, left = self._stamp(), self._unfinished()  # an earlier kill may have left some
        with self._begun() as process:
            begin = time.monotonic()
            self._await_checkpoint(process, before)
            wait_until = time.monotonic() + delay
            while time.monotonic() < wait_until and process.poll() is None:
                time.sleep(0.0005)
            if in_writing:
                while not self._unfinished() - left and process.poll() is None:
                    pass
            at_work = process.poll() is None
            process.kill()
            process.wait(PATIENCE)
        reached = None
        with contextlib.suppress(FileNotFoundError):
            reached = peek(self.checkpoint)["notes"]
        return Killed(time.monotonic() - begin, at_work, reached, len(self._unfinished() - left))

    def _await_checkpoint(self, process, before):
        while self._stamp() == before and process.poll() is None:
            time.sleep(0.0005)

    def _stamp(self):
        """Return what changes whenever a checkpoint is written."""
        with contextlib.suppress(FileNotFoundError):
            found = self.checkpoint.stat()
            return found.st_ino, found.st_mtime_ns
        return None

    def _unfinished(self):
        return {name for name in os.listdir(self.folder) if name.startswith(".onlinear-")}  # noqa: PTH208  # quick


def rehearse(data, folder, kills, every, seed=0, commands=COMMANDS, longest_wait=None, tell=print):
    """Kill this many times; return how many kills met a process at work that had a checkpoint, and what went wrong.

    They come up to `longest_wait` after a checkpoint; by default, that is measured.
    """
    rng = random.Random(seed)  # noqa: S311  # no secrets here
    trials = [Trial(data, Path(folder) / str(k), every, command) for k, command in enumerate(commands)]
    wanted = []
    for trial in trials:
        if longest_wait is None:
            trial.finish()  # compiles
            trial.clear()
        model, duration = trial.finish()
        wanted.append((model, 0.9 * duration if longest_wait is None else longest_wait))
        tell(f"uninterrupted: {duration:.2f} s from the first checkpoint to the last")
    hits, wrong = 0, []
    for number in range(kills):
        which = number % len(trials)
        trial, (model, longest) = trials[which], wanted[which]
        trial.clear()
        times = 1 + (rng.random() < 0.25)
        for _ in range(times):
            in_writing = rng.random() < 0.3
            killed = trial.kill(rng.uniform(0.0, longest / times), in_writing=in_writing)
        hit = killed.at_work and killed.reached is not None
        hits += hit
        where = "no checkpoint"
        if killed.reached is not None:
            where = f"a checkpoint at pass {killed.reached['passes']}, row {killed.reached['rows']:,}"
        try:
            problem = None
            if killed.reached is not None:
                change = CHANGES[number % len(CHANGES)]
                happened, problem = trial.try_changed(change, rng, killed.reached)
                where += f"; {change.__name__}: {happened}"
            same = trial.finish()[0] == model
        except (AssertionError, OnlinearError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        if problem is not None:
            where += f" ({problem})"
        if problem is not None or not same:
            wrong.append(number)
        tell(
            f"kill {number + 1:3}, command {which}: after {killed.after:5.2f} s"
            f"{'' if killed.at_work else ' (it had ended)'}, {where}"
            f"{', while writing' if killed.unfinished else ''}: {'the same bits' if number not in wrong else 'WRONG'}"
        )
    return hits, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--examples", type=int, default=1_000_000)
    parser.add_argument("--every", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.svm"
        make(data, asked.examples)
        print(f"{asked.examples:,} examples, {data.stat().st_size / 1e6:.0f} MB, a checkpoint every {asked.every} s")
        hits, wrong = rehearse(data, Path(folder) / "runs", asked.kills, asked.every, asked.seed)
    print(f"{hits} of {asked.kills} kills met a process at work that had a checkpoint; {len(wrong)} ended otherwise")
    return 1 if wrong or hits < 0.8 * asked.kills else 0


if __name__ == "__main__":
    sys.exit(main())
