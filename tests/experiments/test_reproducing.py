"""`onlinear reproduce`."""

import dataclasses

import pytest

from command_line import lines_of, run
from onlinear.experiments import EXPERIMENTS


def test_the_list():
    shown = run("reproduce").stdout.splitlines()
    assert shown[0].split() == ["experiment", "question"]
    assert [line.split()[0] for line in shown[1:]] == list(EXPERIMENTS)
    assert [one["name"] for one in lines_of("reproduce")] == list(EXPERIMENTS)


def test_an_experiment(small):
    shown = run("reproduce", "figure1", "--size", "small").stdout
    assert shown == f"{small('figure1')!r}\n"


def test_json():
    *measured, end = lines_of("reproduce", "noise", "--size", "small", "--seeds", 2)
    assert len(measured) == 6
    assert {row["seed"] for row in measured} == {0, 1} == set(end["seeds"])
    assert end["holds"] is True
    assert "Perceptron hinge bound (P5)" in end["finding"]


def test_pictures_are_written(tmp_path):
    path = tmp_path / "xor.svg"
    run("reproduce", "figure1", "--size", "small", "-o", path, "-q")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["xor-2.svg", "xor-3.svg", "xor.svg"]
    assert path.read_text(encoding="utf-8").startswith("<svg")
    assert "Exclusive or" in path.read_text(encoding="utf-8")


def test_with_matplotlib(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    path = tmp_path / "noise.png"
    run("reproduce", "noise", "--size", "small", "--seeds", 1, "-o", path, "-q")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_finding_that_does_not_hold(monkeypatch):
    def conduct(scale, work):
        return EXPERIMENTS["figure1"].conduct(scale, work)._replace(holds=False)

    failing = dataclasses.replace(EXPERIMENTS["figure1"], conduct=conduct)
    monkeypatch.setitem(EXPERIMENTS, "order", failing)
    done = run("reproduce", "order", "--size", "small", code=1)
    assert "The finding does NOT hold" in done.stdout
    assert "order: the finding does not hold for these data" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure3"], "'figure3' is not one of figure2, figure1"),
        (["figure1", "-o", "there.txt"], "must end in .svg, .png, .pdf"),
        (["figure1", "-o", "nowhere/there.svg"], "does not exist"),
        (["figure1", "--seeds", "0"], "--seeds"),
    ],
)
def test_usage_errors(arguments, message):
    assert message in run("reproduce", *arguments, code=2).stderr
