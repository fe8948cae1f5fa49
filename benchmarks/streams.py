"""Speed and memory of learning from files, against peers on the same examples: ratios of one run.

One pass over 200 MB of text (15 million entries, 47,000 features), and over the converted form of it, in process and
warm. The contenders take turns, and the ratio is that of their best times. ``--memory`` trains from a file of 4 GB
instead, and tells the most memory that took.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import generate
import vowpalwabbit
from process import run_python
from sklearn.datasets import load_svmlight_file

import onlinear
from onlinear.rules import Majority, Perceptron
from onlinear.streams import convert

ROWS = 200_000
TURNS = 6
HUGE = 4 * 10**9
MOST_MEMORY = 400
TRAIN = """
import re, sys
from pathlib import Path
import onlinear
run = onlinear.train(onlinear.rules.Perceptron(), onlinear.open_stream(sys.argv[1]))
peak = int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(run.rounds, run.weights.nbytes, peak)
"""


class Spent(NamedTuple):
    """The best times of one contender: by the clock, and of all its threads together.

    Threads need free cores, which a neighbour may take; the second number shows whether that happened.
    """

    seconds: float
    processor: float


def best(**works):
    """Let the works take turns; return the best times of each.

    Each is done twice in its turn, and timed the second time: what others have left in the processor's caches, and
    taken from the allocator, is nobody's merit or fault.
    """
    times = {name: [] for name in works}
    for _ in range(TURNS):
        for name, work in works.items():
            work()
            begin, processor = time.perf_counter(), time.process_time()
            work()
            times[name].append((time.perf_counter() - begin, time.process_time() - processor))
    return {name: Spent(*map(min, zip(*record, strict=True))) for name, record in times.items()}


def report(name, spent, ours=None, target=None):
    line = f"{name:<44} {spent.seconds:7.3f} s {spent.processor:7.3f} s"
    if ours is not None:
        ratio = spent.seconds / ours.seconds
        line += f" {ratio:6.2f} x   target >= {target:<4} {'ok' if ratio >= target else 'MISSED'}"
        line += f"   (processor time {spent.processor / ours.processor:.2f} x)"
    print(line, flush=True)


def wabbit(data, *options):
    """Let Vowpal Wabbit learn from a file, once: its parser runs when a workspace is made."""
    words = ["-d", str(data), "--loss_function", "hinge", "--quiet", "-b", "18", *options]
    vowpalwabbit.Workspace(arg_list=words).finish()


def learn(stream):
    return onlinear.run(Perceptron(), stream)


def drain(stream):
    for _ in stream:
        pass


def against_peers(folder):
    text, theirs, packed = folder / "data.svm", folder / "data.vw", folder / "data.arrow"
    begin = time.perf_counter()
    generate.write(text, ROWS, wabbit=theirs)
    made = time.perf_counter() - begin
    convert(onlinear.open_stream(text), packed)
    blocks = list(onlinear.open_stream(text))
    entries = sum(X.nnz for X, _ in blocks)
    run = learn(onlinear.open_stream(text))
    print(
        f"{text.stat().st_size / 1e6:.0f} MB of text, {run.rounds:,} examples, {entries:,} entries,"
        f" {run.state.n_features:,} features, {run.mistakes / run.rounds:.0%} mistakes (made in {made:.0f} s)"
    )
    spent = best(
        text=lambda: learn(onlinear.open_stream(text)),
        wabbit=lambda: wabbit(theirs),
        auto=lambda: onlinear.run(Majority(), onlinear.open_stream(text)),
        packed=lambda: learn(onlinear.open_stream(packed)),
        cache=lambda: wabbit(theirs, "--cache_file", str(folder / "data.cache")),
        loading=lambda: load_svmlight_file(text),
        parsing=lambda: drain(onlinear.open_stream(text)),
        unpacking=lambda: drain(onlinear.open_stream(packed)),
        learning=lambda: learn(blocks),
    )
    print("one pass of the perceptron from text: by the clock, processor time, how many times longer others take")
    report("  ours", spent["text"])
    report("  Vowpal Wabbit, from its own text", spent["wabbit"], spent["text"], 4)
    report("  scikit-learn's load_svmlight_file alone", spent["loading"], spent["text"], 12)
    print(f"one pass of the majority of {len(Majority().members)} rules from text, against one learner of theirs")
    report("  ours", spent["auto"])
    report("  Vowpal Wabbit, from its own text", spent["wabbit"], spent["auto"], 1)
    print("one pass from the converted form")
    report("  ours", spent["packed"])
    report("  Vowpal Wabbit, from its cache", spent["cache"], spent["packed"], 5)
    print("what ours is made of; reading goes on in other threads meanwhile")
    report("  reading text", spent["parsing"])
    report("  reading the converted form", spent["unpacking"])
    report("  learning from blocks in memory", spent["learning"])


def several_classes(folder):
    """Print how long text with ten labels takes, beside the parse and the same blocks in memory."""
    text = folder / "classes.svm"
    if not (folder / "data.svm").exists():
        generate.write(folder / "data.svm", ROWS)
    with (folder / "data.svm").open() as source, text.open("w") as file:
        for i, line in zip(range(ROWS // 4), source, strict=False):
            file.write(f"{i * 7 % 10} {line.partition(' ')[2]}")
    blocks = list(onlinear.open_stream(text))
    spent = best(
        text=lambda: learn(onlinear.open_stream(text)),
        parsing=lambda: drain(onlinear.open_stream(text)),
        learning=lambda: learn(blocks),
    )
    print("ten classes")
    report("  from text", spent["text"])
    both = Spent(*(sum(pair) for pair in zip(spent["parsing"], spent["learning"], strict=True)))
    report("  the parse, and the same blocks in memory", both, spent["text"], 0.83)


def trained(path):
    """Train from a file in a process of its own; return its rounds, its weights' and its own megabytes."""
    done = run_python("-c", TRAIN, str(path))
    rounds, weights, peak = map(int, done.stdout.split())
    return rounds, weights / 2**20, peak / 2**10


def memory(folder):
    """Print how much memory training from a file of 4 GB takes, beside the same from a thousand examples."""
    small, part, huge = folder / "small.svm", folder / "part.svm", folder / "huge.svm"
    generate.write(small, 1_000)
    generate.write(part, ROWS)
    with huge.open("wb") as file:
        while file.tell() < HUGE:
            with part.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 24)
    for path in (small, huge):
        begin = time.perf_counter()
        rounds, weights, peak = trained(path)
        beyond = peak - weights
        print(
            f"{path.stat().st_size / 1e6:8,.0f} MB, {rounds:>10,} examples: {peak:4.0f} MB at most,"
            f" {beyond:4.0f} MB beyond the weights ({time.perf_counter() - begin:.1f} s)"
            f"   target < {MOST_MEMORY}  {'ok' if beyond < MOST_MEMORY else 'MISSED'}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="store_true", help="how much memory a file of 4 GB takes")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if asked.memory:
            memory(Path(name))
        else:
            against_peers(Path(name))
            several_classes(Path(name))
