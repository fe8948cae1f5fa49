"""Messages name the options of the command line there, and the arguments in Python."""

import ast
import re
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import onlinear
from command_line import run
from onlinear.cli.app import commands
from onlinear.errors import OnlinearError, ParameterError
from onlinear.rules import Perceptron
from onlinear.spelling import command_line, option

FILES = {
    "one.svm": "1 1:1\n1 1:2\n",
    "zero.svm": "1 0:1\n-1 1:1\n",
    "wide.svm": "1 1:1\n-1 9:1\n",
    "odd.txt": "what is this\n",
    "gap.csv": "a,label\n1,1\n,0\n",
    "nameless.csv": "a,b\n1,x\n0,y\n",
    "words.csv": "w,label\none,1\ntwo,0\nthree,1\n",
}
CASES = [
    ("one.svm", {}, [], "declare all labels"),
    ("zero.svm", {}, [], "libsvm indices start at 1"),
    ("wide.svm", {"max_features": 3}, ["--max-features", 3], "at most 3 features"),
    ("wide.svm", {"max_features": 3, "n_features": 4}, ["--max-features", 3, "--n-features", 4], "4; at most 3"),
    ("odd.txt", {}, [], "name it with"),
    ("gap.csv", {}, [], "the value is missing"),
    ("nameless.csv", {}, [], "name it"),
    ("words.csv", {"max_features": 2}, ["--max-features", 2], "at most 2"),
    ("words.csv", {"zero_based": True}, ["--zero-based"], "does not apply to csv files"),
    ("X.npy", {}, [], "there are no labels"),
]
ARGUMENT = re.compile(r"\b[a-z]+_[a-z]+\b|\b[a-z_]{2,}=|open_stream")
OPTION = re.compile(r"(?<![\w-])--[a-z]")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    np.save(tmp_path / "X.npy", np.eye(2))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("file", "arguments", "options", "message"), CASES)
def test_each_face_has_its_own_words(folder, file, arguments, options, message):
    with pytest.raises(OnlinearError, match=message) as caught:
        onlinear.run(Perceptron(), onlinear.open_stream(folder / file, **arguments))
    assert not OPTION.search(str(caught.value))
    code = 2 if isinstance(caught.value, ParameterError) else 1
    said = run("train", file, "-o", "model", *options, code=code).stderr.splitlines()[-1]
    assert message in said
    assert OPTION.search(said)
    assert not ARGUMENT.search(said)


def test_no_message_of_the_library_names_an_option_of_the_command_line():
    root = Path(onlinear.__file__).parent
    files = [path for path in root.rglob("*.py") if "cli" not in path.relative_to(root).parts]
    assert len(files) > 100
    for path in files:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                assert not OPTION.search(node.value), f"{path}:{node.lineno}: use onlinear.spelling.option"


def test_spelling():
    assert option("max_features") == "max_features"
    with command_line({"max_features": "--max-features"}):
        assert (option("max_features"), option("max_features", 3)) == ("--max-features", "--max-features 3")
        with command_line({}):
            assert option("max_features", 3) == "max_features=3"
        assert option("max_features", True) == "--max-features"
        assert option("max_features", {"a": 1, "b": 2}) == "--max-features a=1,b=2"
        assert option("like") == "like"
    assert option("max_features", 3) == "max_features=3"


def test_an_error_leaves_the_words_of_python_behind(folder):
    run("train", "one.svm", "-o", "model", code=1)
    with pytest.raises(OnlinearError, match=r"declare all labels \(classes\)"):
        onlinear.run(Perceptron(), onlinear.open_stream(folder / "one.svm"))


FAULTS = {
    "word.csv": "a,label\n1,1\nx,0\n",
    "empty.csv": "a,label\n1,1\n,0\n",
    "third.csv": "a,label\n1,1\n2,0\n3,2\n",
}
NAMED = re.compile(r"--[a-z-]+")


@pytest.mark.parametrize("file", FAULTS)
@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "convert", "certify", "compare"])
def test_a_command_advises_only_what_it_offers(tmp_path, monkeypatch, command, file):
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text("a,label\n1,1\n2,0\n")
    Path(file).write_text(FAULTS[file])
    run("train", "good.csv", "-o", "model", "-q")
    arguments = {
        "train": [file, "-o", "new", "--kind", "a=number", "--classes", "0,1"],
        "predict": ["model", file],
        "evaluate": ["model", file],
        "convert": [file, "-o", "new.svm", "--kind", "a=number", "--classes", "0,1"],
        "certify": [file, "--model", "model"],
        "compare": [file, "--rules", "perceptron", "--kind", "a=number", "--classes", "0,1"],
    }[command]
    failed = CliRunner().invoke(commands, [command, *arguments])
    assert failed.exit_code == (0 if (command, file) == ("predict", "third.csv") else 1)
    said = failed.stderr.splitlines()[-1] if failed.exit_code else ""
    assert not ARGUMENT.search(said)
    assert set(NAMED.findall(said)) <= options_of(command)


def options_of(command):
    context = click.Context(commands)
    return {name for one in commands.get_command(context, command).params for name in one.opts}


def test_options_of_a_checkpoint_have_the_names_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.svm").write_text("1 1:1\n-1 2:1\n" * 50)
    Path("bad.svm").write_text("1 1:1\n-1 2:1\n" * 50 + "what\n")
    run("train", "bad.svm", "-o", "model", "--checkpoint", "c", "--every", "0", "-q", code=1)
    failed = run("train", "bad.svm", "-o", "model", "--checkpoint", "c", "--intercept", "-q", code=1)
    assert "c: this checkpoint was made with --intercept = False, not True" in failed.stderr
