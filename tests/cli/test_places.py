"""Nothing is written over what is read, and no two things into one file."""

import os
from pathlib import Path

import numpy as np
import pytest

from command_line import process, run


@pytest.fixture
def places(examples):
    """A folder with data, a link to them, matrices, a model, and a file with a line that is no example."""
    (examples / "folder").mkdir()
    for name in ("a.svm", "b.svm"):
        (examples / "folder" / name).write_text((examples / "real.svm").read_text())
    (examples / "link").symlink_to("folder/b.svm")
    (examples / "hard").hardlink_to(examples / "folder" / "b.svm")
    (examples / "bad.svm").write_text("1 1:1\n0 2:1\n1 2:x\n")
    np.save("X.npy", np.eye(4))
    np.save("y.npy", [0, 1, 0, 1])
    run("train", "real.svm", "-o", "model")
    return examples


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


SKIP = ["--on-error", "skip"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "bad.svm", *SKIP, "--quarantine", "bad.svm"], "--quarantine: bad.svm is among the data"),
        (["train", "bad.svm", *SKIP, "--quarantine", "./folder/../bad.svm"], "bad.svm is among the data"),
        (["train", "folder", *SKIP, "--quarantine", "folder/b.svm"], "folder/b.svm is inside folder"),
        (["train", "folder", *SKIP, "--quarantine", "link"], "link is inside folder"),
        (["train", "folder", *SKIP, "--quarantine", "hard"], "hard is among the data"),
        (["train", ".", *SKIP], "--quarantine: onlinear.quarantine is inside ."),
        (["train", "real.svm", "--from", "model", *SKIP, "--quarantine", "model"], "model is the file of --from"),
        (["train", "real.svm", "--from", "model", "--checkpoint", "model"], "model is the file of --from"),
        (["train", "real.svm", "-o", "new", "--checkpoint", "new"], "--output and --checkpoint are the same file: new"),
        (["train", "real.svm", "-o", "new", *SKIP, "--quarantine", "./new"], "--output and --quarantine are the same"),
        (["train", "real.svm", "--checkpoint", "real.svm"], "--checkpoint: real.svm is among the data"),
        (["train", "real.svm", "--checkpoint", "new.quarantine", *SKIP, "-o", "new"], "are the same file"),
        (["train", "folder", "-o", "folder/a.svm"], "--output: folder/a.svm is inside folder"),
        (["train", "folder", "-o", "folder/new"], "--output: folder/new is inside folder"),
        (["train", "X.npy", "--labels", "y.npy", "-o", "y.npy"], "--output: y.npy is the file of --labels"),
        (["train", "real.svm", "--rule", "own.py:Rule", "-o", "own.py"], "own.py is the file of --rule"),
        (["compare", "bad.svm", "--rules", "perceptron", *SKIP, "--quarantine", "bad.svm"], "is among the data"),
        (["convert", "bad.svm", *SKIP, "--quarantine", "x.arrow", "-o", "x.arrow"], "are the same file: x.arrow"),
        (["convert", "folder", "-o", "folder/x.arrow"], "folder/x.arrow is inside folder"),
        (["certify", "bad.svm", *SKIP, "--quarantine", "bad.svm"], "--quarantine: bad.svm is among the data"),
        (["certify", "real.svm", "--model", "model", "-o", "real.svm"], "--output: real.svm is among the data"),
        (["certify", "real.svm", "--model", "model", "-o", "model"], "--output: model is the file of --model"),
    ],
)
def test_nothing_is_lost(places, arguments, said):
    (places / "own.py").write_text("")
    before = contents(places)
    assert said in run(*arguments, code=2).stderr
    assert contents(places) == before


def test_nor_is_what_comes_through_the_standard_input(places):
    before = contents(places)
    with (places / "bad.svm").open() as file:
        refused = process("train", *SKIP, "--quarantine", "bad.svm", stdin=file)
    assert refused.returncode == 2
    assert "bad.svm is among the data" in refused.stderr
    assert contents(places) == before


def test_a_pipe_is_not_read_twice(places):
    os.mkfifo("pipe")
    for command in (["train"], ["compare", "--rules", "perceptron"]):
        refused = run(*command, "pipe", "--passes", 2, code=2)
        assert "--passes: pipe can be read only once" in refused.stderr
    assert "pipe can be read only once" in run("train", "pipe", "--certify", code=2).stderr


def test_a_model_may_be_replaced_and_devices_shared(places):
    run("train", "real.svm", "--from", "model", "-o", "./model")
    run("train", "bad.svm", *SKIP, "--quarantine", os.devnull)
    with Path(os.devnull).open() as nothing:
        assert process("train", "-", "real.svm", *SKIP, "--quarantine", os.devnull, stdin=nothing).returncode == 1
