"""The error of one pass at defaults, beside that of peers: predict, then learn, and count the wrong predictions.

Every learner gets the same features of the same examples, in file order and in five fixed shuffles. Differences in the
shuffles are paired, and have a 95 % interval. Nothing is tuned. This reports, and fails no build.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.stats
import testbed
from peers import PEERS, Pass

import onlinear
from onlinear.rules import AROW, Majority, NormalizedAdaGrad, Perceptron


def ours(rule, examples, **options):
    begin = time.perf_counter()
    run = onlinear.run(rule, examples.X, examples.codes, classes=range(examples.n_classes), **options)
    return Pass(run.mistakes, time.perf_counter() - begin)


AUTO = "auto"
LEARNER = {AUTO: partial(ours, Majority())}
"""What is compared with each of the others."""
RULES = {
    type(rule).__name__: partial(ours, rule, fit_intercept=True) for rule in (Perceptron(), NormalizedAdaGrad(), AROW())
}
"""Single rules, to see which is good for what; they have no part in the verdict."""
LEARNERS = LEARNER | PEERS | RULES

FILE, SHUFFLED = "file order", "shuffled"
SEEDS = (1, 2, 3, 4, 5)
LEAD = 0.3
"""By how many percentage points a peer has to lead to be listed."""


LIBRARIES = {"onlinear": AUTO, "Vowpal Wabbit": "VW", "scikit-learn": "scikit-learn", "River": "River"}
"""What the names of a library's learners begin with."""
SHOWN = {
    "a9a": "a9a",
    "w8a": "w8a",
    "sms": "SMS spam",
    "subjectivity": "subjectivity",
    "adult": "adult, raw columns",
    "credit": "credit default, raw columns",
    "weather": "weather",
    "elec2": "electricity prices",
    "letter": "letter, 26 classes",
    "pendigits": "pendigits, 10 classes",
}
"""The streams in the table of README.md."""


class Errors(NamedTuple):
    """The errors of one learner on one stream, in percent."""

    file: float
    shuffled: list[float]
    seconds: float
    """The least time that a pass took."""

    @property
    def mean(self):
        return float(np.mean(self.shuffled))

    def behind(self, other):
        """Return by how many points this learner is worse in the shuffles, and half the width of the 95 % interval."""
        points = np.subtract(self.shuffled, other.shuffled)
        t = scipy.stats.t.ppf(0.975, points.size - 1)
        return float(points.mean()), float(t * points.std(ddof=1) / math.sqrt(points.size))


def measure(examples, rows):
    """Return the errors of all learners on one stream."""
    n = examples.codes.size
    errors, seconds = ({name: [] for name in LEARNERS} for _ in range(2))
    for order in (np.arange(n), *(np.random.default_rng(seed).permutation(n) for seed in SEEDS)):
        part = examples.in_order(order[:rows])
        for name, learn in LEARNERS.items():
            done = learn(part)
            errors[name].append(100.0 * done.mistakes / part.codes.size)
            seconds[name].append(done.seconds)
    return {name: Errors(first, others, min(seconds[name])) for name, (first, *others) in errors.items()}


def report(errors):
    print(f"  {'':<34} {FILE:>10} {SHUFFLED:>10}   auto behind by")
    for name, its in errors.items():
        line = f"  {name:<34} {its.file:>10.2f} {its.mean:>10.2f}"
        if name != AUTO:
            points, half = errors[AUTO].behind(its)
            line += f"   {points:+6.2f} ± {half:.2f}"
        print(line, flush=True)


class Lead(NamedTuple):
    """A peer that leads on a stream, by more points than LEAD."""

    stream: str
    order: str
    peer: str
    peer_error: float
    auto_error: float
    half_width: float
    """Of the 95 % interval of the difference; 0 in file order, which there is only one of."""

    def __str__(self):
        interval = f" ± {self.half_width:.2f}" if self.order == SHUFFLED else ""
        return (
            f"  {self.stream:<14} {self.order:<10}  {self.peer:<32} {self.peer_error:6.2f},"
            f" auto {self.auto_error:6.2f}: {self.auto_error - self.peer_error:.2f}{interval}"
        )


def leads(stream, errors):
    """Yield the peers that lead: in the shuffles, by more than LEAD at the nearer end of the interval."""
    auto = errors[AUTO]
    for peer in PEERS:
        its = errors[peer]
        if auto.file - its.file > LEAD:
            yield Lead(stream, FILE, peer, its.file, auto.file, 0.0)
        points, half = auto.behind(its)
        if points - half > LEAD:
            yield Lead(stream, SHUFFLED, peer, its.mean, auto.mean, half)


def mean_ranks(results):
    """Return the mean ranks of auto and its peers over the streams, in file order and shuffled; 1 is best."""
    names = [AUTO, *PEERS]
    ranks = [
        (
            scipy.stats.rankdata([errors[name].file for name in names]),
            scipy.stats.rankdata([errors[name].mean for name in names]),
        )
        for errors in results.values()
    ]
    file, shuffled = np.mean(ranks, axis=0).tolist()
    return {name: {FILE: a, SHUFFLED: b} for name, a, b in zip(names, file, shuffled, strict=True)}


def conclude(found, ranks, n_streams):
    print(f"mean rank among {len(ranks)} learners on {n_streams} streams")
    for name, its in sorted(ranks.items(), key=lambda item: item[1][SHUFFLED]):
        print(f"  {name:<34} {its[FILE]:>10.2f} {its[SHUFFLED]:>10.2f}")
    print(f"peers that lead by more than {LEAD} points:" if found else f"no peer leads by more than {LEAD} points")
    for lead in found:
        print(lead)


def table(results):
    """Yield the lines of a table: the error and the seconds of a pass of the best learner of each library."""
    yield f"| stream | {' | '.join(LIBRARIES)} |"
    yield f"|---|{'---|' * len(LIBRARIES)}"
    for stream, title in SHOWN.items():
        if stream in results:
            best = [
                min((its for name, its in results[stream].items() if name.startswith(prefix)), key=lambda its: its.mean)
                for prefix in LIBRARIES.values()
            ]
            cells = [f"{its.mean:.1f} %, {as_milliseconds(its.seconds)}" for its in best]
            yield f"| {title} | {' | '.join(cells)} |"


def as_milliseconds(seconds):
    """Return a time with two digits: 0.71 ms, 8.4 ms, 120 ms."""
    value = float(f"{1000.0 * seconds:.2g}")
    return f"{value:,.0f} ms" if value >= 10.0 else f"{value:g} ms"


def record(results, sizes, found, ranks, rows):
    """Return everything as plain data, for tables in the documentation."""
    names = ("scikit-learn", "river", "vowpalwabbit")
    return {
        "versions": {"onlinear": onlinear.__version__, **{name: importlib.metadata.version(name) for name in names}},
        "rows": rows,
        "seeds": SEEDS,
        "auto": AUTO,
        "peers": [*PEERS],
        "rules": [*RULES],
        "streams": {
            stream: {**sizes[stream], "errors": {name: as_data(its, errors[AUTO]) for name, its in errors.items()}}
            for stream, errors in results.items()
        },
        "leads": [lead._asdict() for lead in found],
        "mean_ranks": ranks,
    }


def as_data(its, auto):
    points, half = auto.behind(its)
    return {**its._asdict(), "mean": its.mean, "auto_behind": points, "half_width": half}


def main(streams, rows, path):
    results, sizes = {}, {}
    for stream, load in streams.items():
        examples = testbed.examples(*load())
        n, d = examples.X.shape
        sizes[stream] = {"rows": n, "features": d, "classes": examples.n_classes}
        print(f"{stream}: {n:,} × {d:,}, {examples.n_classes} classes")
        results[stream] = measure(examples, rows)
        report(results[stream])
    found = [lead for stream, errors in results.items() for lead in leads(stream, errors)]
    ranks = mean_ranks(results)
    conclude(found, ranks, len(results))
    print("the best learner of each library, shuffled:", *table(results), sep="\n")
    if path:
        path.write_text(json.dumps(record(results, sizes, found, ranks, rows), indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("streams", nargs="*", help="the names of some streams; default: all")
    parser.add_argument("--rows", type=int, help="only the first rows of each order: 300 take half a minute")
    parser.add_argument("--data", type=Path, default=testbed.DATA, help="a folder of real streams, if there is one")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    asked = parser.parse_args()
    known = testbed.streams(asked.data)
    if unknown := set(asked.streams) - set(known):
        parser.error(f"no stream is called {', '.join(unknown)}; there are {', '.join(known)}")
    main({name: known[name] for name in asked.streams or known}, asked.rows, asked.json)
