"""Compiled code on disk: damage costs a compilation, never a crash or a wrong result."""

import functools
import logging
import os
import subprocess
import sys
import textwrap
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace

import hypothesis.strategies as st
import pytest
from hypothesis import given

import onlinear
from command_line import command
from onlinear.engine import cache
from onlinear.engine import compile as compiling
from onlinear.engine.cache import CodeFiles

KEY, CONTENT = "a signature", bytes(range(64))


@pytest.fixture
def files(tmp_path):
    return CodeFiles(tmp_path, "function", "stamp")


def test_what_is_saved_is_loaded(files):
    assert files.load(KEY) is None
    for content in (CONTENT, b"", b"other"):
        files.save(KEY, content)
        assert files.load(KEY) == content


def test_keys_and_stamps_are_kept_apart(files, tmp_path):
    files.save(KEY, CONTENT)
    assert files.load("another signature") is None
    other = CodeFiles(tmp_path, "function", "another stamp")
    assert other.load(KEY) is None
    other.save(KEY, b"newer")
    assert other.load(KEY) == b"newer"
    assert files.load(KEY) is None
    assert len(list(tmp_path.iterdir())) == 1  # what is stale is replaced
    files.path("another signature").write_bytes(files.path(KEY).read_bytes())
    assert other.load("another signature") is None


def test_every_flipped_bit_is_noticed(files):
    files.save(KEY, CONTENT)
    path = files.path(KEY)
    good = path.read_bytes()
    for place in range(len(good)):
        for bit in range(8):
            path.write_bytes(good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1 :])
            assert files.load(KEY) is None
    path.write_bytes(good)
    assert files.load(KEY) == CONTENT


def test_every_other_length_is_noticed(files):
    files.save(KEY, CONTENT)
    path = files.path(KEY)
    good = path.read_bytes()
    for size in range(len(good)):
        path.write_bytes(good[:size])
        assert files.load(KEY) is None
        path.write_bytes(good[size + 1 :])
        assert files.load(KEY) is None
    path.write_bytes(good + b"\0")
    assert files.load(KEY) is None


@given(garbage=st.binary(max_size=100))
def test_garbage_is_noticed(garbage, tmp_path_factory):
    files = CodeFiles(tmp_path_factory.mktemp("cache"), "function", "stamp")
    files.path(KEY).write_bytes(garbage)
    assert files.load(KEY) is None
    files.save(KEY, CONTENT)
    assert files.load(KEY) == CONTENT


def test_a_folder_in_place_of_a_file_is_absent(files):
    files.path(KEY).mkdir()
    assert files.load(KEY) is None
    with pytest.raises(OSError, match="directory"):
        files.save(KEY, CONTENT)


def test_many_writers_at_once_leave_whole_files(tmp_path):
    """Whoever reads meanwhile finds nothing, or what one of the writers has written."""
    contents = [bytes([k]) * 200_000 for k in range(4)]
    done = threading.Event()
    found = set()

    def write(content):
        for _ in range(10):
            CodeFiles(tmp_path, "function", "stamp").save(KEY, content)

    def read():
        while not done.is_set():
            found.add(CodeFiles(tmp_path, "function", "stamp").load(KEY))

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    reader = threading.Thread(target=read)
    for thread in [reader, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert found <= {None, *contents}
    assert CodeFiles(tmp_path, "function", "stamp").load(KEY) in contents
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_not_kept_is_not_announced_as_kept(monkeypatch, caplog):
    """The warning points at the code that called the library, and no later message contradicts it."""

    def refuse(function):
        raise RuntimeError("no locator available")

    monkeypatch.setattr(cache, "_unkept", threading.Event())
    context = SimpleNamespace(refresh=lambda: None)
    announce = functools.partial(compiling._announce, refuse)
    with caplog.at_level(logging.INFO, logger="onlinear"):
        announce((int,), True)
        monkeypatch.setattr(cache, "FunctionCache", refuse)
        with pytest.warns(RuntimeWarning, match="cannot be kept") as given:
            unkept = cache.CodeCache(refuse, "a digest", announce)
        assert unkept.load_overload((int,), context) is None
    assert given[0].filename == __file__
    what = Path(__file__).stem.replace("_", " ")
    assert caplog.messages == [f"compiling {what} (once per machine) …", f"compiling {what} …"]


def run(script, *arguments, limit=None, **environment):
    """Run a script in a process of its own, which a crash may end; return what it has printed, and its warnings."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | environment
    command = [sys.executable, str(script), *map(str, arguments)]
    if limit is not None:
        command = ["sh", "-c", f'ulimit -f {limit} && exec "$@"', "sh", *command]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def script(tmp_path):
    """Write a script: numba looks for the cache of a function beside its file."""

    def write(text):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write


EVERY_DAMAGE = """
    import random, sys
    from pathlib import Path
    from onlinear.engine.compile import dispatcher

    def double(n):
        return 2 * n

    def hits():
        compiled = dispatcher.__wrapped__(double)  # as another process would make it
        assert compiled(21) == 42
        return sum(compiled.stats.cache_hits.values())

    def damaged(good, rng):
        place = rng.randrange(len(good))
        yield good[:place] + bytes([good[place] ^ 1 << rng.randrange(8)]) + good[place + 1:]
        yield good[:place]
        yield good[:place] + rng.randbytes(rng.randrange(1, 50)) + good[place:]
        yield rng.randbytes(len(good))

    assert hits() == 0
    (path,) = Path(sys.argv[1]).rglob("*.code")
    good, rng = path.read_bytes(), random.Random(0)
    assert hits() == 1
    cases = [b"", good[:1], good[:32], good[32:], good + b"."] + [bad for _ in range(10) for bad in damaged(good, rng)]
    for bad in cases:
        path.write_bytes(bad)
        assert hits() == 0  # compiled anew,
        assert hits() == 1  # and kept
    print(len(cases))
"""


@pytest.mark.slow
def test_damaged_code_is_compiled_anew(script, tmp_path):
    printed, said = run(script(EVERY_DAMAGE), tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert int(printed) == 45
    assert said == ""


@pytest.mark.slow
def test_commands_survive_damage_and_announce_what_they_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    (tmp_path / "data.svm").write_text("1 1:0.5\n-1 2:1.5\n1 1:1 3:2.25\n")
    model = tmp_path / "model"

    def announced(*options):
        words = command("train", "--rule", "perceptron", tmp_path / "data.svm", "-o", model, *options)
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines()
        return [line for line in lines if line.startswith("compiling ")], model.read_bytes()

    def damage(*names):
        for file in (tmp_path / "cache").rglob("*.code"):
            if file.name.startswith(names):
                good = file.read_bytes()
                middle = len(good) // 2
                file.write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])

    some = ["libsvm lines", "checksum", "Perceptron for sparse rows"]
    some = [f"compiling {what} (once per machine) …" for what in some]
    lines, wanted = announced()
    assert set(some) <= set(lines)
    assert len(set(lines)) == len(lines)
    assert announced() == ([], wanted)
    damage("passes.learn", "checksum", "libsvm_lines.mark_separators")
    assert announced() == (some, wanted)
    for option in ("--quiet", "--json"):
        damage("checksum.chain")
        assert announced(option) == ([], wanted)


UNKEPT = """
    import sys
    from onlinear.engine.compile import dispatcher

    def double(n):
        return 2 * n

    def triple(n):
        return 3 * n

    assert (dispatcher(double)(21), dispatcher(triple)(14)) == (42, 42)
    print(sum(dispatcher(double).stats.cache_hits.values()))
"""


def assert_said_once(said, folder):
    assert said.count("RuntimeWarning") == 1
    assert f"compiled code cannot be kept in {folder}" in said
    assert "NUMBA_CACHE_DIR" in said


@pytest.mark.slow
def test_what_cannot_be_kept_runs_and_is_said_once(script, tmp_path):
    """The limit on the size of files stands for a full disk; a file in place of a folder for a lack of permission."""
    path, cache, home = script(UNKEPT), tmp_path / "cache", tmp_path / "home"
    printed, said = run(path, limit=1, NUMBA_CACHE_DIR=str(cache))
    assert printed == "0\n"
    assert_said_once(said, cache)
    assert not list(cache.rglob("*.tmp"))
    assert not list(cache.rglob("*.code"))
    only = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    cache = tmp_path / "file"
    cache.touch()
    printed, said = run(path, NUMBA_CACHE_DIR=str(cache), **only)
    assert printed == "0\n"
    assert_said_once(said, cache)
    # Neither beside the script, nor in the user's folder.
    (tmp_path / "__pycache__").touch()
    home.touch()
    there = {"HOME": str(home), "XDG_CACHE_HOME": str(home)}
    printed, said = run(path, **there)
    assert printed == "0\n"
    assert_said_once(said, tmp_path / "__pycache__")
    # In the user's folder, where there is one.
    home.unlink()
    for hits in ("0\n", "1\n"):
        assert run(path, **there) == (hits, "")
    assert len(list(Path(home).rglob("*.code"))) == 2


@pytest.mark.parametrize("writable", [True, False])
def test_the_library_runs_from_a_zip_file(tmp_path, writable):
    """Clusters send it so; the cache then follows the home folder, which may not exist."""
    package = Path(onlinear.__file__).parent
    with zipfile.ZipFile(tmp_path / "onlinear.zip", "w") as archive:
        for path in package.rglob("*.py"):
            archive.write(path, path.relative_to(package.parent))
    code = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
import onlinear
assert onlinear.__file__.startswith(sys.argv[1])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    print(onlinear.run(onlinear.rules.Perceptron(), [[1.0, 0.0], [0.0, 1.0]], [0, 1]).mistakes)
print(*(one.message for one in said))
"""
    home = tmp_path / "home" if writable else tmp_path / "onlinear.zip"  # a file is no folder, even for root
    kept = {name: value for name, value in os.environ.items() if name not in {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}}
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "onlinear.zip"],
        check=False,
        env=kept | {"HOME": str(home)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    mistakes, said = done.stdout.split("\n")[:2]
    assert mistakes == "2"
    assert ("compiled code cannot be kept in" in said) != writable
    assert any(home.rglob("*.code")) == writable
