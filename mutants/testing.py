"""Runs tests on a copy of the source, in a process of its own, and learns which tests run which functions.

Everything runs uncompiled (``NUMBA_DISABLE_JIT=1``): a fault in the engine or in a rule then costs no compilation, and
every function that a test runs is seen. Tests that compile all the same, or that fail uncompiled, are left out.
"""

import contextlib
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "mutants"

LEFT_OUT = {
    "cli": "tests a face; no faults are planted there",
    "estimators": "likewise",
    "river_faces": "likewise",
    "test_cache.py": "tests compiled code",
    "test_docs.py": "reads the pages",
    "test_guides.py": "runs the pages",
    "test_house.py": "reads the source",
    "test_kill.py": "trains in other processes; make kill does so at length",
    "test_memory.py": "measures memory",
    "test_package.py": "tests the package as it is installed",
    "test_real_data.py": "takes long uncompiled",
}
"""Tests that are not run, with the reason."""

LONGEST_TEST = 5.0
"""Seconds; tests that take longer are not run again."""
LAST_MOMENT = 60.0
"""Seconds after which a test is interrupted."""
LONGEST_SURVEY = 3600
MEMORY = 4 << 30
COMPILER = ("engine/compile.py", "Runner._compile")


class Outcome(NamedTuple):
    """What the tests said."""

    caught: bool
    by: str
    """The test that failed, or what else happened."""


class Copy:
    """A copy of the source, and a place for results; each worker has its own."""

    def __init__(self):
        BUILD.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(dir=BUILD, prefix="copy-"))
        self.tree = self._folder / "src"
        shutil.copytree(ROOT / "src", self.tree, ignore=shutil.ignore_patterns("__pycache__"))

    @contextlib.contextmanager
    def planted(self, fault):
        """Have the fault in the source for a while."""
        path = self.tree / "onlinear" / fault.path
        source = path.read_bytes()
        try:
            _write(path, fault.plant(source))
            yield
        finally:
            _write(path, source)

    def call(self, work, longest):
        """Call `work` in a process that imports the copy; return its result, or None and the exit code."""
        result = self._folder / "result.json"
        result.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self._enter(longest)
                result.write_text(json.dumps(work()), encoding="utf-8")
                status = 0
            except BaseException:  # noqa: BLE001  # the process must end here
                traceback.print_exc()
            os._exit(status)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests have started
        code = os.waitstatus_to_exitcode(status)
        return json.loads(result.read_text(encoding="utf-8")) if code == 0 else None, code

    def _enter(self, longest):
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (longest, longest))
        log = os.open(self._folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = str(self.tree)
        sys.path.insert(0, str(self.tree))


def remove_copies():
    for folder in BUILD.glob("copy-*"):
        shutil.rmtree(folder)


def _write(path, source):
    """Write a source file, so that no older compiled one is taken for it."""
    path.write_bytes(source)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def _call_pytest(plugin, *words):
    options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    options += ["-m", "not slow", "-k", "not compiled"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # Hypothesis has been imported before
    return int(pytest.main([*options, *words], plugins=[plugin]))


# --- Which tests run which functions ----------------------------------------------------------------


class Survey:
    """Notes for each test whether it passes, how long it takes, and which functions of the source it runs."""

    def __init__(self, tree):
        self.tests = {}
        self._source = f"{tree / 'onlinear'}{os.sep}"
        self._run = set()

    def _trace(self, frame, event, arg):
        self._run.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self._run.clear()
        test = self.tests[item.nodeid] = {"passed": True}
        begin = time.process_time()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        signal.setitimer(signal.ITIMER_VIRTUAL, LAST_MOMENT, 1.0)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            sys.settrace(None)
            threading.settrace(None)
            functions = {
                (code.co_filename.removeprefix(self._source), code.co_qualname.replace(".<locals>", ""))
                for code in self._run
                if code.co_filename.startswith(self._source)
            }
            seconds = time.process_time() - begin
            test["passed"] &= seconds < LONGEST_TEST and COMPILER not in functions
            test |= {"seconds": seconds, "functions": sorted(map(" ".join, functions))}

    def pytest_runtest_logreport(self, report):
        self.tests[report.nodeid]["passed"] &= report.outcome == "passed"


class TooSlow(BaseException):
    """A test takes too long; no test catches this."""


def _give_up(*_):
    raise TooSlow


def test_files():
    """Return the files of the tests that are run, with digests of their contents."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    used = [path for path in paths if not {*path.relative_to(ROOT / "tests").parts} & LEFT_OUT.keys()]
    return {path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in used}


def survey(copy, file):
    """Return the tests of a file, as `Survey` notes them."""

    def work():
        signal.signal(signal.SIGVTALRM, _give_up)
        plugin = Survey(copy.tree)
        _call_pytest(plugin, file)
        return plugin.tests

    tests, code = copy.call(work, LONGEST_SURVEY)
    if tests is None:
        sys.exit(f"{file} ends with exit code {code}")
    return tests


# --- Trying them --------------------------------------------------------------------------------------


class Chosen:
    """Runs chosen tests in a given order, and notes those that fail; one that takes too long ends the process.

    `seconds` are the times that the tests usually take.
    """

    def __init__(self, seconds):
        self._seconds = seconds
        self._order = {test: k for k, test in enumerate(seconds)}
        self.failed = []

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((item for item in items if item.nodeid in self._order), key=lambda i: self._order[i.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        usual = self._seconds[item.nodeid]
        signal.setitimer(signal.ITIMER_VIRTUAL, 5.0 * usual + 20.0)  # it may be the first to need a fixture
        signal.setitimer(signal.ITIMER_REAL, 20.0 * usual + 60.0)
        return (yield)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed.append(f"{report.nodeid} (import)")


def try_tests(copy, seconds):
    """Run tests in this order, up to the first that fails."""

    def work():
        plugin = Chosen(seconds)
        code = _call_pytest(plugin, "-x", *sorted({test.partition("::")[0] for test in seconds}))
        return code, plugin.failed

    found, code = copy.call(work, LONGEST_SURVEY)
    if found is None:
        return Outcome(caught=True, by=signal.Signals(-code).name if code < 0 else "the process ends")
    code, failed = found
    if failed:
        return Outcome(caught=True, by=failed[0])
    if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        return Outcome(caught=False, by="no test fails")
    return Outcome(caught=True, by=f"pytest ends with {code}")
