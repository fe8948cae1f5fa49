"""Mistakes of the user, exit codes, what is loaded, pipes; and that the page in the docs is up to date."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import onlinear
from command_line import OWN_RULE, command, process, run, shell, without_notices
from onlinear.cli import app, rule_spec
from onlinear.rules import Perceptron, Winnow

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "No such command 'trian'"),
        (["train", "--rul", "winnow"], "No such option '--rul'. Did you mean '--rule'?"),
        (
            ["train", "real.svm", "--rule", "perceptrn"],
            "no rule 'perceptrn' (did you mean 'perceptron'?); there are auto, majority(RULE, …), arow, ada-grad, ",
        ),
        (
            ["train", "real.svm", "--rule", "winnow(bet=1)"],
            "no parameter 'bet' (did you mean 'beta'?); it has beta, threshold",
        ),
        (["train", "real.svm", "--rule", "winnow(beta=-1)"], "beta is -1.0; it must be a number with 0.0 < beta"),
        (["train", "real.svm", "--rule", "perceptron(tie=negative)"], 'written in quotes: tie="negative"'),
        (["train", "real.svm", "--rule", "winnow(beta=open('x'))"], "beta=open('x') is neither a number nor a string"),
        (["train", "real.svm", "--rule", "winnow(beta=1"], "is not of the form NAME(parameter=value, …)"),
        (["train", "real.svm", "--rule", "winnow(1)(2)"], "is not of the form NAME(parameter=value, …)"),
        (["train", "real.svm", "--rule", "margin-perceptron"], "a parameter is missing: MarginPerceptron(margin=…)"),
        (["train", "real.svm", "--rule", "winnow(1, 2, 3)"], "Invalid value for --rule"),
        (["train", "real.svm", "--rule", "nothing.py:Rule"], "nothing.py: there is no such file"),
        (["train", "real.svm", "--rule", "no.such.module:Rule"], "there is no module 'no.such.module' here"),
        (["train", "real.svm", "--rule", "onlinear.rules:Winow"], "no rule 'Winow' (did you mean 'Winnow'?); it has"),
        (["train", "binary.svm", "--rule", "winnow", "--intercept"], "takes binary inputs as they are: no --intercept"),
        (["train", "real.svm", "-o", "no/model"], "the folder no does not exist"),
        (["train", "real.svm", "-o", "real.svm"], "real.svm is among the data, and would be overwritten"),
        (["train", "real.svm", "-o", "."], ". is a folder"),
        (["train", "real.svm", "--quarantine", "aside"], "--quarantine needs --on-error skip"),
        (["train", "real.svm", "--classes", "1"], "is one label; there must be at least two"),
        (["train", "mail.csv", "--drop", "a,,b"], "'a,,b' has an empty name"),
        (["train", "real.svm", "--max-features", "0"], "--max-features"),
        (["compare", "real.svm", "--rules", ","], "no rule is given"),
        (["compare", "real.svm"], "Missing option '--rules'"),
        (
            ["convert", "real.svm", "-o", "real.csv"],
            "real.csv must end with .arrow, .parquet, or for libsvm text with .svm",
        ),
        (["predict"], "Missing argument 'MODEL'"),
        (["train", "real.svm", "--rule", ""], "no rule is named"),
        (["train", "real.svm", "--rule", ":"], "':' is not of the form FILE.py:CLASS or MODULE:CLASS"),
        (["train", "real.svm", "--rule", "..x:Y"], "'..x' is neither a file FILE.py nor the name of a module"),
        (["train", "real.svm", "--rule", "winnow(beta=1,beta=2)"], "beta is given twice"),
        (["train", "mail.csv", "--hash-bits", "8"], "--hash-bits needs --encode hash"),
        (["train", "mail.csv", "--text", "subject", "--drop", "subject"], "'subject' is among the columns to --drop"),
        (["train", "mail.csv", "--text", "subject", "--features", "length"], "'subject' is not among the --features"),
        (["train", "real.svm", "--every", "3"], "--every needs --checkpoint"),
        (["train", ""], "a file name is empty"),
        (["train", "-", "real.svm", "-"], "- is given more than once"),
        (["train", "real.svm", "-", "--passes", "2"], "--passes: the standard input can be read only once"),
        (["compare", "-", "--rules", "perceptron", "--passes", "2"], "--passes: the standard input can be read only"),
        (["certify", "--model", "model", "real.svm", "--intercept"], "--intercept is stored in the model"),
        (["certify", "--model", "model", "real.svm", "--normalize"], "--normalize is stored in the model"),
        (["certify", "--model", "model", "real.svm", "--classes", "0,1"], "--classes is stored in the model"),
    ],
)
def test_usage_errors(examples, arguments, said):
    result = run(*arguments, code=2)
    assert said in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "nothing.svm"], "nothing.svm: the file does not exist"),
        (["train", "real.svm", "--rule", "winnow"], "real.svm:1, index 1: value"),
        (["train", "mail.csv", "--label", "spm"], "did you mean 'spam'?"),
        (["train", "real.svm", "--max-features", "3"], "real.svm:1:"),
        (["train", "real.svm", "--from", "nothing"], "nothing: No such file or directory"),
        (["train", "real.svm", "--rule", "faulty.py:Rule"], "faulty.py: ZeroDivisionError: division by zero"),
        (
            ["train", "real.svm", "--rule", "ends.py:Rule"],
            "ends.py: it ends the process while it is imported: sys.exit(0",
        ),
        (["train", "real.svm", "--rule", "starts_not.py:Halfway"], "rule Halfway: start(8) failed: KeyError: 'start'"),
        (["predict", "real.svm", "real.svm"], "real.svm: not a model file, or truncated"),
        (["inspect", "real.svm"], "real.svm: not a model file, or truncated"),
        (["certify", "empty.svm"], "no examples"),
    ],
)
def test_errors_in_data_and_models_take_one_line(examples, arguments, said):
    (examples / "faulty.py").write_text("1 / 0\n")
    (examples / "ends.py").write_text("import sys\nsys.exit(0)\n")
    (examples / "starts_not.py").write_text(OWN_RULE.replace("return np.zeros(n)", 'raise KeyError("start")'))
    sys.modules.pop("starts_not", None)
    (examples / "empty.svm").write_text("")
    result = run(*arguments, code=1)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("onlinear: error: ")
    assert said in line


def test_debug_shows_where(examples):
    for arguments in (["--debug", "train", "nothing.svm"], ["train", "nothing.svm", "--debug"]):
        shown = run(*arguments, code=1).stderr
        assert shown.startswith("Traceback (most recent call last):\n")
        assert shown.endswith("onlinear: error: nothing.svm: the file does not exist\n")
    shown = run("train", "real.svm", "--text", "a", "--debug", code=2).stderr
    assert shown.startswith("Traceback (most recent call last):\n")
    assert "\nUsage: onlinear train" in shown


def test_going_on_with_other_options_is_refused(examples):
    run("train", "--rule", "perceptron", "first.svm", "-o", "model")
    for options, said in (
        (["--intercept"], "--intercept: model was trained without it"),
        (["--rule", "winnow"], "the model is of the rule Perceptron, not of Winnow"),
        (["--rule", "perceptron('negative')"], "model contains the parameters of its rule"),
        (["--n-features", "9"], "--n-features: model has 8 features"),
        (["--classes", "1,-1"], "classes are 1 and -1"),
        (["--hash-bits", "9"], "--hash-bits needs --encode hash"),
    ):
        assert said in run("train", "--rule", "perceptron", "second.svm", "--from", "model", *options, code=2).stderr


def test_going_on_keeps_the_seed_of_the_rule(examples):
    run("train", "advice.svm", "--rule", "randomized-weighted-majority", "--seed", 5, "-o", "model")
    refused = run("train", "advice.svm", "--from", "model", "--seed", 6, code=2)
    assert "--seed: the rule of model has the seed 5" in refused.stderr
    run("train", "advice.svm", "--from", "model", "--seed", 6, "--shuffle", 10)


def test_going_on_reads_in_the_same_way(examples):
    options = ["--label", "spam", "--text", "subject", "--encode", "hash", "--hash-bits", 8]
    run("train", "mail.csv", *options, "-o", "model")
    run("train", "mail.csv", "--from", "model")
    run("train", "mail.csv", "--from", "model", "--hash-bits", 8)
    for other in (["--hash-bits", 9], ["--encode", "names"], ["--text", "colour"]):
        failed = run("train", "mail.csv", "--from", "model", *other, code=1)
        assert "the features of these data are not those of the model" in failed.stderr


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


@pytest.mark.parametrize("name", app.COMMANDS)
def test_the_help_page_has_the_first_sentence_of_each_command(name):
    assert run(name, "--help").stdout.split("\n\n")[1].strip() == app.COMMANDS[name].summary


def test_the_standard_input(examples):
    text = (examples / "real.svm").read_text()
    named = run("train", "real.svm").stdout.splitlines()
    for arguments in (["train", "-q"], ["train", "-", "-q"]):
        piped = process(*arguments, input=text)
        assert (piped.returncode, piped.stderr) == (0, "")
        assert piped.stdout.splitlines() == named
    assert process("certify", "-q", input=text).stdout == run("certify", "real.svm").stdout
    failed = process("train", "--rule", "winnow", "-q", input=(examples / "binary.svm").read_text())
    assert failed.returncode == 1
    assert "--n-features" in failed.stderr


def test_an_error_while_the_input_is_open(examples):
    good = b"1 1:1\n0 2:1\n" * 200_000
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command("train", "-q"), **pipes) as running:
        running.stdin.write(b"1 1:x\n" + good)
        running.stdin.flush()
        assert running.wait(timeout=60) == 1
        assert (
            without_notices(running.stderr.read())
            == b"onlinear: error: <stdin>:1:5: value 'x' is not a finite number\n"
        )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.slow
def test_streams_that_are_closed_or_full(examples):
    run("train", "real.svm", "-o", "model")
    for arguments in (["train", "real.svm", "-q"], ["predict", "model", "real.svm"], ["--help"]):
        closed = shell('"$@" >&-', *arguments)
        assert (closed.returncode, closed.stderr) == (0, "")
        full = shell('"$@" >/dev/full', *arguments)
        assert (full.returncode, full.stderr) == (1, "onlinear: error: No space left on device\n")
    assert shell('"$@" >/dev/full', "--version").stderr == "onlinear: error: No space left on device\n"
    assert shell('"$@" 2>&-', "train", "real.svm").returncode == 0
    assert shell('"$@" 2>/dev/full', "train", "real.svm").returncode == 1
    assert shell('"$@" <&-', "train", "real.svm").returncode == 0
    for arguments in (["train"], ["train", "-"]):
        closed = shell('"$@" <&-', *arguments)
        assert closed.returncode == 2
        assert "the standard input is closed" in closed.stderr


def test_a_closed_pipe_is_silent(examples):
    run("train", "real.svm", "-o", "model")
    lines = (examples / "real.svm").read_text() * 200
    (examples / "long.svm").write_text(lines)
    with subprocess.Popen(
        command("predict", "model", "long.svm"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.readline().strip() in {b"1", b"-1"}
        running.stdout.close()
        assert without_notices(running.stderr.read()) == b""
        assert running.wait(timeout=60) == 141


def test_the_page_of_the_command_line_is_up_to_date():
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == build["command_line"](), "run `make docs`"
