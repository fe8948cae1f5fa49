"""Compilation: what cannot be compiled is explained, and the disk cache is neither stale nor fragile."""

import enum
import gc
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

import onlinear
from onlinear.engine import passes
from onlinear.engine.compile import Runner
from onlinear.engine.fingerprint import fingerprint
from onlinear.engine.garbage import without_collection
from onlinear.engine.rows import DenseBlock
from onlinear.errors import RuleError
from onlinear.rules import (
    MarginPerceptron,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
    add,
    dot,
    rule,
)
from strategies import as_layout, labels

X, Y = onlinear.datasets.separable(0.1, n=50, d=5, seed=3)


class Pieces:
    """The methods of a perceptron, to be replaced one at a time."""

    @staticmethod
    def start(self, n):
        return np.zeros(n)

    @staticmethod
    def score(self, w, x):
        return dot(w, x)

    @staticmethod
    def update(self, w, x, y, score, mistake):
        if mistake:
            add(w, y, x)
        return mistake


def made(**methods):
    cls = NamedTuple("Made", [("rate", float), ("mode", str)])
    for name in ("start", "score", "update"):
        setattr(cls, name, methods.get(name, getattr(Pieces, name)))
    return rule(cls)(1.0, "fast")


def uses_a_field_that_is_not_there(self, w, x):
    return dot(w, x) * self.speed


def uses_a_name_that_is_not_there(self, w, x):
    return dot(w, x) * speed  # noqa: F821


def reads_a_string(self, w, x):
    return dot(w, x) if len(self.mode) > 4 else 0.0


def allocates(self, w, x):
    return dot(np.zeros(5), x)


def adds_a_row_to_an_array(self, w, x):
    return (w + x)[0]


def swaps_its_arguments(self, w, x):
    return dot(x, w)


def multiplies_a_row(self, w, x):
    return (2.0 * x)[0]


def is_no_number(self, w, x):
    return "high"


def returns_nothing(self, w, x):
    dot(w, x)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (
            uses_a_field_that_is_not_there,
            "rule Made cannot be compiled: Unknown attribute 'speed'; compiled methods see fields .*self.speed",
        ),
        (uses_a_name_that_is_not_there, "rule Made cannot be compiled: .*'speed'"),
        (reads_a_string, "rule Made cannot be compiled: .*text.*self.mode"),
        (adds_a_row_to_an_array, "rule Made cannot be compiled: x is a row, not an array: use dot"),
        (swaps_its_arguments, "rule Made cannot be compiled: x is a row, not an array: use dot"),
        (multiplies_a_row, "rule Made cannot be compiled: x is a row, not an array: use dot"),
        (is_no_number, "rule Made cannot be compiled: "),
        (
            returns_nothing,
            r"rule Made: score\(\) returns None on some path; it must return the score, at",
        ),
        (allocates, r"rule Made cannot be compiled: it allocates memory in a round; .*start\(\)"),
    ],
)
def test_what_cannot_be_compiled_is_explained(score, message):
    with pytest.raises(RuleError, match=message) as caught:
        onlinear.run(made(score=score), X, Y)
    assert len(str(caught.value)) < 300
    assert caught.value.report or score is returns_nothing
    if score in {uses_a_field_that_is_not_there, reads_a_string, allocates}:
        assert "test_compile.py" in str(caught.value)


FACTOR = 1.0


def scaled(self, w, x, y, score, mistake):
    add(w, FACTOR * y, x)
    return True


def inner(y):
    return FACTOR * y


def outer(y):
    return inner(y)


consts = types.ModuleType("consts")
consts.step = outer
consts.SHIFT = 0.0


class Size(enum.Enum):
    SMALL = 1.0


@numba.njit
def jitted(y):
    return FACTOR * y


single = (numba.njit(inner),)


def calls_a_helper(self, w, x, y, score, mistake):
    add(w, outer(y), x)
    return True


def calls_through_a_module(self, w, x, y, score, mistake):
    add(w, consts.step(y) + consts.SHIFT, x)
    return True


def calls_a_jitted_helper(self, w, x, y, score, mistake):
    add(w, jitted(y=y), x)
    return True


def calls_from_a_tuple(self, w, x, y, score, mistake):
    add(w, single[0](y), x)
    return True


@pytest.mark.filterwarnings("ignore:First-class function type feature is experimental")
@pytest.mark.parametrize(
    "update", [scaled, calls_a_helper, calls_through_a_module, calls_a_jitted_helper, calls_from_a_tuple]
)
def test_whatever_a_rule_calls_is_as_it_is_now(update, monkeypatch):
    rule = made(update=update)
    once = onlinear.run(rule, X, Y)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert np.array_equal(onlinear.run(rule, X, Y).weights, 2.0 * once.weights)
    monkeypatch.setitem(globals(), "FACTOR", 1.0)
    assert np.array_equal(onlinear.run(rule, X, Y).weights, once.weights)


def test_a_helper_defined_again_is_seen(monkeypatch):
    rule = made(update=calls_a_helper)
    once = onlinear.run(rule, X, Y)
    monkeypatch.setitem(globals(), "inner", lambda y: 4.0 * y)
    assert np.array_equal(onlinear.run(rule, X, Y).weights, 4.0 * once.weights)


def closing_over(factor, array):
    def update(self, w, x, y, score, mistake):
        add(w, factor * array[0] * y, x)
        return True

    return update


@pytest.mark.parametrize("update", [calls_through_a_module, calls_a_jitted_helper, calls_from_a_tuple])
def test_fingerprints_do_not_depend_on_where_things_lie_in_memory(update):
    cls = type(made(update=update))
    found = set()
    for k in range(100):
        found.add(fingerprint(cls))
        [("some", k), [k], {"k": k}] * k
    assert len(found) == 1


def test_fingerprints_differ_where_behaviour_does():
    one = fingerprint(type(made(update=closing_over(1.0, np.array([1.0])))))
    assert fingerprint(type(made(update=closing_over(1.0, np.array([1.0]))))) == one
    assert fingerprint(type(made(update=closing_over(2.0, np.array([1.0]))))) != one
    assert fingerprint(type(made(update=closing_over(1.0, np.array([2.0]))))) != one

    def default(self, w, x, y, score, mistake, big=np.zeros(5000)):  # noqa: B008
        return mistake

    def value(size):
        def update(self, w, x, y, score, mistake):
            return size.value > 0.5

        return update

    cls = type(made())
    cls.update = default
    before = fingerprint(cls)
    default.__defaults__[0][2500] = 1.0
    assert fingerprint(cls) != before
    larger = enum.Enum("Size", {"SMALL": 2.0})
    assert fingerprint(type(made(update=value(Size.SMALL)))) != fingerprint(type(made(update=value(larger.SMALL))))


class Band(NamedTuple):
    low: float
    high: float


Swapped = NamedTuple("Band", [("high", float), ("low", float)])
Swapped.__qualname__ = Band.__qualname__


def gentle(score):
    return 1.0


def harsh(score):
    return 10.0


def a_module(rate):
    module = types.ModuleType("settings")
    module.RATE = rate
    return module


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((gentle, harsh, gentle), (gentle, harsh, harsh), id="which value occurs again"),
        pytest.param(((1, 2), 3), ((1,), 2, 3), id="where a tuple ends"),
        pytest.param(Band(1.0, 10.0), Swapped(1.0, 10.0), id="the fields of a tuple"),
        pytest.param(a_module(1.0), a_module(10.0), id="what is in a module"),
        pytest.param(lambda t: t, lambda *t: t, id="how a function takes its arguments"),
    ],
)
def test_fingerprints_differ_where_what_a_rule_reads_differs(one, other):
    def reading(value):
        def update(self, w, x, y, score, mistake):
            held = value
            return held is not None

        return update

    assert fingerprint(type(made(update=reading(one)))) != fingerprint(type(made(update=reading(other))))


def test_a_method_of_the_library_that_is_replaced_is_noticed(monkeypatch):
    before = fingerprint(Perceptron)

    def update(self, w, x, y, score, mistake):
        add(w, 7.0 * y, x)
        return 7.0

    monkeypatch.setattr(Perceptron, "update", update)
    assert fingerprint(Perceptron) != before


def bump(w, x):
    w[0] += 1.0
    return dot(w, x)


def test_scoring_cannot_change_the_state():
    def score(self, w, x):
        w[0] += 1.0
        return dot(w, x)

    with pytest.raises(RuleError, match=r"rule Made: score\(\) writes to an array; .*w\[0\] \+= 1.0"):
        made(score=score)

    def hidden(self, w, x):
        return bump(w, x)

    with pytest.raises(RuleError, match=r"rule Made: score\(\) writes to the state; .*w\[0\] \+= 1.0"):
        onlinear.run(made(score=hidden), X, Y)


def test_a_class_defined_again_goes_on_with_its_new_code():
    runs = []
    for factor in ("1.0", "4.0"):
        space = {"__name__": "notebook"}
        exec(textwrap.dedent(RULE).replace("FACTOR", factor), space)  # noqa: S102
        runs.append(onlinear.run(space["Mine"](), X, Y, state=runs[0].state if runs else None))
    assert np.allclose(runs[1].weights, 5.0 * runs[0].weights)


def test_a_class_defined_again_runs_its_new_code():
    runs = []
    for factor in ("1.0", "4.0"):
        space = {"add": add, "dot": dot, "np": np, "rule": rule, "NamedTuple": NamedTuple}
        exec(textwrap.dedent(RULE).replace("FACTOR", factor), space)  # noqa: S102
        runs.append(onlinear.run(space["Mine"](), X, Y))
        del space
    assert np.array_equal(runs[1].weights, 4.0 * runs[0].weights)


@pytest.mark.parametrize("layout", ["dense", "float32", "csr", "csr, float32"])
@pytest.mark.parametrize(
    "rule",
    [
        Perceptron(),
        MarginPerceptron(0.3, normalized=True),
        Winnow(0.3),
        WeightedMajority(0.3),
        RandomizedWeightedMajority(0.3, seed=5),
        RandomizedWeightedMajority("anytime", seed=5),
    ],
    ids=repr,
)
@given(data=st.data())
def test_compiled_and_plain_have_the_same_bits(rule, layout, data):
    """On any floats: the order of every sum is the same."""
    n, d = data.draw(st.integers(2, 30)), data.draw(st.integers(1, 20))
    X = data.draw(arrays(np.float64, (n, d), elements=st.floats(-1e3, 1e3, allow_subnormal=False)))
    X = {"real": X, "binary": (X > 0) * 1.0, "advice": np.where(X > 0, 1.0, -1.0)}[rule.inputs]
    y = data.draw(labels(n))
    X = as_layout(X, layout)
    normalize = rule.inputs == "real" and data.draw(st.booleans())
    outcomes = []
    for plain in (0, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(numba.config, "DISABLE_JIT", plain)
            run = onlinear.run(rule, X, y, normalize=normalize, trace=True)
        arrays_ = run.state.arrays if isinstance(run.state.arrays, tuple) else [run.state.arrays]
        outcomes.append((run.trace.scores.tobytes(), run.mistakes, [a.tobytes() for a in arrays_], run.state.reach))
    assert outcomes[0] == outcomes[1]


def test_a_pass_releases_the_gil():
    """While a pass is at work (its first score is there), this thread can still spoil the last row."""
    n = 5_000_000
    X, y = np.ones((n, 1)), np.ones(n, dtype=np.int8)
    runner, ends = Runner(Perceptron()), []

    def work(scores):
        counts, sums = np.zeros(4, dtype=np.int64), np.zeros(2)
        block, events = DenseBlock(X, 0, False), np.empty(n, dtype=np.uint8)
        ends.append(runner(passes.learn, np.ones(1), block, y, 0, 0, True, -1, counts, sums, scores, events))

    work(np.zeros(n))  # compiles
    assert ends == [n]
    for _ in range(20):
        X[-1] = 1.0
        scores = np.zeros(n)
        thread = threading.Thread(target=work, args=(scores,))
        thread.start()
        while scores[0] == 0.0 and thread.is_alive():
            pass
        X[-1] = np.nan
        thread.join()
        if ends[-1] == n - 1:
            return
    pytest.fail("with the lock held, the last row was always read first")


RULE = """
    from typing import NamedTuple
    import numpy as np
    from onlinear.rules import add, dot, rule

    class Weights(NamedTuple):
        w: np.ndarray

    @rule
    class Mine(NamedTuple):
        rate: float = 1.0
        def start(self, n): return Weights(np.zeros(n))
        def score(self, state, x): return dot(state.w, x)
        def update(self, state, x, y, score, mistake):
            add(state.w, FACTOR * y, x)
            return True
"""
REPORT = """
    import sys
    import numpy as np
    import onlinear
    from onlinear.engine import passes
    from onlinear.engine.compile import dispatcher

    X, y = np.eye(3), [1, -1, 1]
    run = onlinear.run({rule}, X, y)
    stats = dispatcher(passes.learn).stats
    print(run.weights[0], sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def process(tmp_path):
    """Run a script in a process of its own, with a cache of its own; return its weight, hits and misses."""

    def run(script, **environment):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(script))
        settings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")} | environment
        settings.pop("NUMBA_DISABLE_JIT", None)
        done = subprocess.run(
            [sys.executable, str(path)], env=settings, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        weight, hits, misses = done.stdout.split()
        return float(weight), int(hits), int(misses)

    return run


@pytest.mark.slow
def test_a_rule_in_main_is_found_by_the_next_process_and_an_edit_is_not_missed(process):
    first = RULE.replace("FACTOR", "2.0") + REPORT.format(rule="Mine()")
    edited = RULE.replace("FACTOR", "5.0") + REPORT.format(rule="Mine()")
    assert process(first) == (2.0, 0, 1)
    assert process(first) == (2.0, 1, 0)
    assert process(edited) == (5.0, 0, 1)
    assert process(first) == (2.0, 1, 0)


@pytest.mark.slow
def test_a_constant_and_a_helper_of_another_module_count(process, tmp_path):
    module = tmp_path / "theirs.py"
    body = textwrap.dedent(RULE).replace("FACTOR * y", "step(y)")
    call = REPORT.format(rule="theirs.Mine()")

    def write(factor):
        helper = f"\nFACTOR = {factor}\n\ndef step(y):\n    return FACTOR * y\n"
        module.write_text(body + helper)
        return "import theirs\n" + textwrap.dedent(call)

    assert process(write(2.0)) == (2.0, 0, 1)
    assert process(write(7.0)) == (7.0, 0, 1)
    assert process(write(2.0)) == (2.0, 1, 0)
    module.unlink()
    # The index on disk names a module that is gone; the built-in rules do not care.
    assert process(REPORT.format(rule="onlinear.rules.Perceptron()")) == (1.0, 0, 1)
    assert process(REPORT.format(rule="onlinear.rules.Perceptron()")) == (1.0, 1, 0)


@pytest.fixture
def own_copy(tmp_path):
    """Run a script with a copy of the library's source, which may be edited; return what it prints."""
    source = Path(onlinear.__file__).parent
    shutil.copytree(source, tmp_path / "src" / "onlinear", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "data.svm").write_text("1 1:0.5\n-1 2:1.5\n1 1:1 3:2.25\n")

    def run(script, *arguments):
        settings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path / "src")}
        settings.pop("NUMBA_DISABLE_JIT", None)
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script), *arguments],
            cwd=tmp_path,
            env=settings,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


LOADED = """
    import onlinear
    from onlinear.data import checksum
    from onlinear.engine import passes
    from onlinear.engine.compile import dispatcher
    from onlinear.streams.formats.text import libsvm_lines

    onlinear.run(onlinear.rules.Perceptron(), onlinear.open_stream("data.svm"))
    for name, function in {"learn": passes.learn, "text": libsvm_lines.parse_lines, "sums": checksum.add_up}.items():
        if sum(dispatcher(function).stats.cache_hits.values()):
            print(name)
"""
UNCHANGED = """
    import sys
    from pathlib import Path

    import onlinear
    from onlinear.data import checksum
    from onlinear.engine import compile, fingerprint, passes
    from onlinear.streams.formats.text import libsvm_lines, words

    words.teach_text()

    def digests():
        fingerprint._engine_digest.cache_clear()
        learn, text, sums = (
            fingerprint.source_digest(function, compile._forms)
            for function in (passes.learn, libsvm_lines.parse_lines, checksum.add_up)
        )
        return {"learn": learn + fingerprint.fingerprint(onlinear.rules.Perceptron), "text": text, "sums": sums}

    for edited in sys.argv[1:]:
        before = digests()
        with (Path(onlinear.__file__).parent / edited).open("a") as file:
            file.write("# a remark\\n")
        after = digests()
        print(*(name for name in before if before[name] == after[name]))
"""


@pytest.mark.slow
def test_an_edit_of_the_library_makes_stale_what_was_compiled_from_it_and_nothing_else(own_copy, tmp_path):
    edits = {
        "streams/formats/text/decimals.py": "learn sums",  # not the parser's own file
        "streams/formats/text/words.py": "learn sums",
        "engine/draws.py": "",  # `mix` and `unsigned` are in all three
        "engine/passes.py": "text sums",
        "engine/explain.py": "learn text sums",
        "engine/protocol.py": "learn text sums",  # it holds the documentation of the methods
    }
    assert own_copy(UNCHANGED, *edits) == list(edits.values())
    assert own_copy(LOADED) == []
    assert own_copy(LOADED) == ["learn", "text", "sums"]
    with (tmp_path / "src" / "onlinear" / "engine" / "passes.py").open("a") as file:
        file.write("# another remark\n")
    assert own_copy(LOADED) == ["text", "sums"]


WITHOUT = """
    import sys
    for name in {absent}:
        sys.modules[name] = None
    import warnings
    warnings.simplefilter("ignore")
    import hashlib
    import numpy as np
    import onlinear, onlinear.river
    from onlinear.rules import MarginPerceptron, Perceptron, RandomizedWeightedMajority, Winnow

    path, model = sys.argv[1:]
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        for y in rng.choice([-1, 1], 40):
            columns = np.sort(rng.choice(9, 4, replace=False)) + 1
            file.write(f"{{y}} " + " ".join(f"{{j}}:{{y * (j % 3) + rng.normal():.17g}}" for j in columns) + chr(10))
    X = rng.normal(size=(50, 7))
    y = np.where(X[:, 0] > 0.1, 1, -1)
    onlinear.train(MarginPerceptron(0.1, normalized=True), onlinear.open_stream(path), passes=2).save(model)
    run = onlinear.load(model)
    shown = [open(model, "rb").read(), run.predict(rng.normal(size=(5, 9))).tobytes()]
    run = onlinear.converge(Perceptron(), X, y, max_passes=5)
    shown += [run.weights.tobytes(), str(run.margin_upper_bound)]
    run = onlinear.run(Perceptron(), X, y % 3, classes=[0, 1, 2], fit_intercept=True, normalize=True)
    shown += [run.weights.tobytes(), run.decision_function(X).tobytes()]
    run = onlinear.run(RandomizedWeightedMajority("anytime"), np.where(X > 0, 1, -1), y)
    shown += [run.state.arrays.w.tobytes(), str(onlinear.run(Winnow(), X > 0, y))]
    face = onlinear.river.PerceptronClassifier()
    for row, label in zip(X, y):
        face.learn_one({{str(j): v for j, v in enumerate([*row] * 6)}}, bool(label > 0))
    shown += [str(face.weights), str(onlinear.separability(X, y))]
    print([hashlib.sha256(one if isinstance(one, bytes) else one.encode()).hexdigest()[:8] for one in shown])
    print("numba" in [name for name, module in sys.modules.items() if module])
"""


def test_without_numba_everything_runs_and_has_the_same_bits(tmp_path):
    shown = []
    for absent in ([], ["numba", "llvmlite"]):
        script = textwrap.dedent(WITHOUT).format(absent=absent)
        command = [sys.executable, "-c", script, str(tmp_path / "data.svm"), str(tmp_path / "model.safetensors")]
        settings = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout.splitlines())
    assert shown[0][0] == shown[1][0]
    assert [lines[1] for lines in shown] == ["True", "False"]


def test_that_numba_is_missing_is_said_once():
    code = "import sys; sys.modules['numba'] = None; import onlinear\n" + 2 * (
        "onlinear.run(onlinear.rules.Perceptron(), [[1.0], [2.0]], [0, 1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.count("RuntimeWarning: numba cannot be imported") == 1


TWO_THREADS = """
    import sys
    import threading
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target
    from onlinear.engine import flat, vectors
    from onlinear.engine.compile import teach_intrinsic

    def compile_something():
        with global_compiler_lock:
            cpu_target.typing_context.refresh()

    def repeat(work):
        for _ in range(300):
            try:
                work()
            except ValueError as error:
                print(error)

    sys.setswitchinterval(1e-6)
    works = [compile_something, lambda: teach_intrinsic(flat.address, vectors.address)]
    threads = [threading.Thread(target=repeat, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_what_is_taught_in_one_thread_does_not_disturb_another_that_compiles():
    code = textwrap.dedent(TWO_THREADS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == ""


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_as_before_once_a_rule_is_compiled(collects):
    seen = []

    @rule
    class Watched(NamedTuple):
        def start(self, n):
            return np.zeros(n)

        def score(self, w, x):
            return dot(w, x)

        def update(self, w, x, y, score, mistake):
            return False

    (gc.enable if collects else gc.disable)()
    try:
        with without_collection():
            seen.append(gc.isenabled())
        onlinear.run(Watched(), [[1.0], [2.0]], [-1, 1])
        seen.append(gc.isenabled())
    finally:
        gc.enable()
    assert seen == [False, collects]
