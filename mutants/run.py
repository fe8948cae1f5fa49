"""Plants faults in the source, one at a time, and checks that the tests notice: ``python mutants/run.py``.

First the tests run once on the source as it is, to learn which of them run which functions. Then each fault of a fixed
sample is planted in a copy of the source, and the tests that run its function follow, until one fails, hangs or
crashes. At the end the tests that have caught something must pass on the source as it is, in the same order.

Where very many tests run a function, hints.txt names one that notices the fault: it is tried first. Faults that no
test needs to notice are listed in survivors.txt, each with the reason. The exit code is not 0 if fewer
than 90 % of the faults are caught, or if one survives that is not listed. Results are kept in build/mutants: what has
been caught, or has survived and is explained, is not tried again.
"""

import argparse
import functools
import json
import multiprocessing
import os
import shutil
import sys
import time
from collections import defaultdict
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Imported once, for all processes to come.
import hypothesis.extra.numpy  # noqa: F401
import numba  # noqa: F401
import scipy.sparse  # noqa: F401
from faults import SAMPLE, SEED, sample
from testing import BUILD, Copy, Outcome, remove_copies, survey, test_files, try_tests

LEAST_CAUGHT = 0.9
NEAR = 4
"""The number of test files that are tried first."""
PATIENCE = 25.0
"""Seconds of tests in each of two stages that a fault has to survive."""
SURVIVORS = Path(__file__).with_name("survivors.txt")
HINTS = Path(__file__).with_name("hints.txt")
RESULTS = BUILD / "results.json"
SURVEY = BUILD / "survey.json"


def read_notes(path):
    """Return what a file says about faults: it stands below each, indented."""
    notes, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            notes[name] = line.strip()
        elif line and not line.startswith("#"):
            name = line
    return notes


def load(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(path, value):
    new = path.with_suffix(".new")
    new.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
    new.replace(path)


@functools.cache
def own_copy():
    """Return the copy of the source that belongs to this process."""
    return Copy()


def processes(number):
    return multiprocessing.get_context("fork").Pool(number)


def survey_file(file):
    return file, survey(own_copy(), file)


def survey_all(jobs):
    """Return all tests by file; files that have not changed since the last survey are not surveyed again.

    If their tests fail because the source has changed, that shows at the end.
    """
    digests, known = test_files(), load(SURVEY)
    surveyed = {file: known[file] for file in known if known[file]["digest"] == digests.get(file)}
    with processes(jobs) as pool:
        for file, tests in pool.imap_unordered(survey_file, sorted(digests.keys() - surveyed.keys())):
            surveyed[file] = {"digest": digests[file], "tests": tests}
            save(SURVEY, surveyed)
    return surveyed


def ordered(files):
    """Return the seconds of tests in the order to run them: of each file in turn the next one that does least else."""
    turns = []
    for tests in files:
        ranked = sorted((len(test["functions"]), test["seconds"], name) for name, test in tests.items())
        turns += [(turn, rank) for turn, rank in enumerate(ranked)]
    return {name: seconds for _, (_, seconds, name) in sorted(turns)}


def chosen(surveyed, wanted):
    """Return the wanted tests, file by file; first the file with the test that does least else."""
    files = []
    for file in surveyed.values():
        tests = {name: test for name, test in file["tests"].items() if test["passed"] and wanted(name, test)}
        if tests:
            files.append(tests)
    return sorted(files, key=lambda tests: min((len(test["functions"]), name) for name, test in tests.items()))


def nearest(surveyed, fault, hint):
    """Return the tests that run the function of a fault, in stages: a hint, those of the nearest files, and the others.

    For a fault outside functions, these are the tests that run any function of its file.
    """
    function, start = f"{fault.path} {fault.function}", f"{fault.path} "
    files = chosen(surveyed, lambda _, test: function in test["functions"]) or chosen(
        surveyed, lambda _, test: any(name.startswith(start) for name in test["functions"])
    )
    stages = [within_patience(ordered(stage)) for stage in (files[:NEAR], files[NEAR:]) if stage]
    return stages if hint is None else [{hint: PATIENCE}, *stages]


def within_patience(tests):
    kept, total = {}, 0.0
    for name, seconds in tests.items():
        if total + seconds <= PATIENCE:
            kept[name] = seconds
            total += seconds
    return kept


def try_fault(task):
    fault, stages = task
    begin = time.monotonic()
    copy = own_copy()
    outcome = Outcome(caught=False, by="no test runs it")
    with copy.planted(fault):
        for tests in stages:
            outcome = try_tests(copy, tests)
            if outcome.caught:
                break
    return fault, outcome, time.monotonic() - begin


def control(surveyed, caught):
    """Return the tests that have caught a fault, but fail without one, too."""
    copy = Copy()
    tests = ordered(chosen(surveyed, lambda name, _: name in caught))
    wrong = []
    while (outcome := try_tests(copy, tests)).caught:
        wrong.append(outcome.by)
        if outcome.by not in tests:
            break
        del tests[outcome.by]
    return wrong


def report(faults, results, explained):
    """Print what was caught, and return whether that is enough."""
    counts = defaultdict(lambda: [0, 0])
    for fault in faults:
        package = next(name for name in SAMPLE if fault.path.startswith(name))
        counts[package][0] += 1
        counts[package][1] += results[fault.name]["caught"]
    for package, (planted, caught) in counts.items():
        print(f"{package:20} {caught:3} of {planted:3} faults caught")
    caught = sum(results[fault.name]["caught"] for fault in faults)
    print(f"{'together':20} {caught:3} of {len(faults):3}, {caught / len(faults):.1%}")
    survivors = [fault for fault in faults if not results[fault.name]["caught"]]
    unexplained = [fault for fault in survivors if fault.name not in explained]
    for fault in survivors:
        print(f"survives: {fault.path}:{fault.line}: {fault.name}\n    {explained.get(fault.name, 'NOT EXPLAINED')}")
    return caught >= LEAST_CAUGHT * len(faults) and not unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=sum(SAMPLE.values()), help="the number of faults")
    parser.add_argument("--only", default="", help="faults in files that begin like this: engine, runs/learner")
    parser.add_argument("--jobs", type=int, default=2, help="the number of processes")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    args = parser.parse_args()
    if args.fresh:
        shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    remove_copies()
    faults = [fault for fault in sample(args.sample) if fault.path.startswith(args.only)]
    begin = time.monotonic()
    surveyed = survey_all(args.jobs)
    usable = sum(test["passed"] for file in surveyed.values() for test in file["tests"].values())
    print(f"{usable} tests, surveyed in {time.monotonic() - begin:.0f} s", flush=True)

    results = load(RESULTS)
    hints, explained = read_notes(HINTS), read_notes(SURVIVORS)
    settled = {name for name, result in results.items() if result["caught"] or name in explained}
    untried = [fault for fault in faults if fault.name not in settled]
    tasks = [(fault, nearest(surveyed, fault, hints.get(fault.name))) for fault in untried]
    tasks.sort(key=lambda task: task[0].name in results)  # first what has not been tried
    with processes(args.jobs) as pool:
        for fault, outcome, seconds in pool.imap_unordered(try_fault, tasks):
            place = f"{fault.path}:{fault.line}"
            results[fault.name] = {"caught": outcome.caught, "by": outcome.by, "place": place, "seed": SEED}
            save(RESULTS, results)
            word = "caught" if outcome.caught else "SURVIVES"
            print(f"{word} {fault.name} [{outcome.by}, {seconds:.0f} s]", flush=True)
    remove_copies()
    wrong = control(surveyed, {results[fault.name]["by"] for fault in faults})
    remove_copies()
    enough = report(faults, results, explained)
    print(f"{(time.monotonic() - begin) / 60.0:.1f} minutes")
    for test in wrong:
        print(f"fails without a fault, too: {test}")
    sys.exit(not enough or bool(wrong))


if __name__ == "__main__":
    main()
