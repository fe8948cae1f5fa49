"""Mistakes of the user, exit codes, what is loaded, pipes; and that the page in the docs is up to date."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import onlinear
from command_line import OWN_RULE, process, run
from onlinear.cli import rule_spec
from onlinear.errors import OnlinearError
from onlinear.rules import Perceptron, Winnow

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "No such command 'trian'"),
        (["train", "--rul", "winnow"], "No such option '--rul'. Did you mean '--rule'?"),
        (
            ["train", "real.svm", "--rule", "perceptrn"],
            "no rule 'perceptrn' (did you mean 'perceptron'?); there are margin-",
        ),
        (
            ["train", "real.svm", "--rule", "winnow(bet=1)"],
            "no parameter 'bet' (did you mean 'beta'?); it has beta, threshold",
        ),
        (["train", "real.svm", "--rule", "winnow(beta=-1)"], "beta is -1.0; it must be a number with 0.0 < beta"),
        (["train", "real.svm", "--rule", "perceptron(tie=negative)"], 'written in quotes: tie="negative"'),
        (["train", "real.svm", "--rule", "winnow(beta=open('x'))"], "beta=open('x') is not a number or a text"),
        (["train", "real.svm", "--rule", "winnow(beta=1"], "is not of the form NAME(parameter=value, …)"),
        (["train", "real.svm", "--rule", "winnow(1)(2)"], "is not of the form NAME(parameter=value, …)"),
        (["train", "real.svm", "--rule", "margin-perceptron"], "a parameter is missing: MarginPerceptron(margin=…)"),
        (["train", "real.svm", "--rule", "winnow(1, 2, 3)"], "Invalid value for --rule"),
        (["train", "real.svm", "--rule", "nothing.py:Rule"], "nothing.py: there is no such file"),
        (["train", "real.svm", "--rule", "no.such.module:Rule"], "there is no module 'no.such.module' here"),
        (["train", "real.svm", "--rule", "onlinear.rules:Winow"], "no rule 'Winow' (did you mean 'Winnow'?); it has"),
        (["train", "binary.svm", "--rule", "winnow", "--intercept"], "takes binary inputs as they are: no --intercept"),
        (["train", "real.svm", "-o", "no/model"], "there is no folder no"),
        (["train", "real.svm", "-o", "real.svm"], "real.svm is among the data, and would be lost"),
        (["train", "real.svm", "-o", "."], ". is a folder"),
        (["train", "real.svm", "--quarantine", "aside"], "--quarantine is for --on-error skip"),
        (["train", "real.svm", "--classes", "1"], "must be two labels"),
        (["train", "mail.csv", "--drop", "a,,b"], "'a,,b' has an empty name"),
        (["train", "real.svm", "--max-features", "0"], "--max-features"),
        (["compare", "real.svm", "--rules", ","], "no rule is named"),
        (["compare", "real.svm"], "Missing option '--rules'"),
        (["convert", "real.svm", "-o", "real.csv"], "real.csv must end with .arrow or .parquet"),
        (["predict"], "Missing argument 'MODEL'"),
    ],
)
def test_usage_errors(examples, arguments, said):
    result = run(*arguments, code=2)
    assert said in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nothing.svm"], "nothing.svm: there is no such file"),
        (["train", "real.svm", "--rule", "winnow"], "real.svm:1, column 0: value"),
        (["train", "mail.csv", "--label", "spm"], "did you mean 'spam'?"),
        (["train", "real.svm", "--max-features", "3"], "real.svm:1:"),
        (["train", "real.svm", "--from", "nothing"], "nothing: No such file or directory"),
        (["train", "real.svm", "--rule", "faulty.py:Rule"], "faulty.py: ZeroDivisionError: division by zero"),
        (["predict", "real.svm", "real.svm"], "real.svm: not a model file, or cut short"),
        (["inspect", "real.svm"], "real.svm: not a model file, or cut short"),
        (["certify", "empty.svm"], "no examples"),
    ],
)
def test_errors_in_data_and_models_take_one_line(examples, arguments, said):
    (examples / "faulty.py").write_text("1 / 0\n")
    (examples / "empty.svm").write_text("")
    result = run(*arguments, code=1)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("onlinear: error: ")
    assert said in line


def test_debug_shows_where(examples):
    for arguments in (["--debug", "train", "nothing.svm"], ["train", "nothing.svm", "--debug"]):
        with pytest.raises(OnlinearError, match="no such file"):
            run(*arguments)


def test_going_on_with_other_options_is_refused(examples):
    run("train", "first.svm", "-o", "model")
    for options, said in (
        (["--intercept"], "--intercept: model was begun without it"),
        (["--rule", "winnow"], "the model is of the rule Perceptron, not of Winnow"),
        (["--rule", "perceptron('negative')"], "model has the parameters of its rule"),
    ):
        assert said in run("train", "second.svm", "--from", "model", *options, code=2).stderr


def test_rules_by_name():
    for name in ("winnow", "WINNOW", " Winnow ", "Winnow()"):
        assert rule_spec.parse(name).make() == Winnow()
    assert rule_spec.parse("winnow(0.5, threshold=3)").make() == Winnow(0.5, 3.0)
    assert rule_spec.parse('perceptron(tie="negative")').make(seed=1) == Perceptron("negative")
    assert rule_spec.split("a, b(c, 'd,)', [1, 2]),e:F(x=(1, 2)),") == ["a", "b(c, 'd,)', [1, 2])", "e:F(x=(1, 2))"]


def test_a_file_may_not_take_the_name_of_a_module_in_use(examples):
    (examples / "json.py").write_text(OWN_RULE)
    assert "give the file another name" in run("train", "real.svm", "--rule", "json.py:Halfway", code=2).stderr


def test_the_version():
    assert run("--version").stdout == f"onlinear {onlinear.__version__}\n"


def test_help_loads_nothing_heavy():
    code = "import sys, onlinear.cli\ntry: onlinear.cli.main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "Commands:" in shown
    assert not {"numpy", "scipy", "numba", "pyarrow", "rich", "onlinear.runs"} & set(shown.split())


def test_the_standard_input(examples):
    text = (examples / "real.svm").read_text()
    named = run("train", "real.svm", "-o", "model").stdout.splitlines()[:-1]
    for arguments in (["train", "-q"], ["train", "-", "-q"]):
        piped = process(*arguments, input=text)
        assert (piped.returncode, piped.stderr) == (0, "")
        assert piped.stdout.splitlines() == named
    assert process("certify", "-q", input=text).stdout == run("certify", "real.svm").stdout
    failed = process("train", "--rule", "winnow", "-q", input=(examples / "binary.svm").read_text())
    assert failed.returncode == 1
    assert "--n-features" in failed.stderr


def test_a_closed_pipe_is_silent(examples):
    run("train", "real.svm", "-o", "model")
    lines = (examples / "real.svm").read_text() * 200
    (examples / "long.svm").write_text(lines)
    command = [sys.executable, "-m", "onlinear", "predict", "model", "long.svm"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline().strip() in {b"1", b"-1"}
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(timeout=60) == 141


def test_the_page_of_the_command_line_is_up_to_date():
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == build["command_line"](), "run `make docs`"
