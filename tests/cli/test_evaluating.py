"""`evaluate`, `compare --test`, `compare --rules all`, and data that do not fit the model."""

import json
import re

import numpy as np
import pytest

import onlinear
from command_line import lines_of, run, shell
from onlinear.rules import Perceptron, Winnow
from onlinear.rules.registry import ONLINE


@pytest.fixture
def model(examples):
    run("train", "first.svm", "-o", "model")
    return onlinear.load("model")


def test_evaluate_prints_what_python_finds(model):
    found = model.evaluate(onlinear.open_stream("second.svm", like=model), delta=0.2)
    shown = run("evaluate", "model", "second.svm", "--delta", 0.2)
    assert shown.stdout == f"{found!r}\n"
    assert shown.stderr == ""
    [told] = lines_of("evaluate", "model", "second.svm", "--delta", 0.2)
    assert told == {"model": "model", **found.as_dict(), "quarantine": None}
    piped = shell('cat second.svm | "$@"', "evaluate", "model", "--json", "--delta", 0.2)
    assert json.loads(piped.stdout) == told


def test_evaluate_says_when_it_has_the_examples_of_the_training(model):
    assert "none: the model was trained on these examples" in run("evaluate", "model", "first.svm").stdout
    both = run("evaluate", "model", "first.svm", "second.svm").stdout
    assert "none: the model was trained on about 33% of these" in both


def test_evaluate_several_classes(examples):
    rows = [(k % 5, k % 3) for k in range(90)]
    text = "".join(f"{(a + b) % 3} 1:{a} 2:{b}\n" for a, b in rows)
    (examples / "three.svm").write_text(text)
    run("train", "three.svm", "--intercept", "-o", "model")
    [told] = lines_of("evaluate", "model", "three.svm")
    assert [one["label"] for one in told["classes"]] == [0, 1, 2]
    assert (told["trained_on"], told["auc"]) == (1.0, None)
    shown = run("compare", "three.svm", "--rules", "all", "--test", "three.svm", "-q")
    assert shown.stdout.splitlines()[0].split()[:4] == ["rule", "mistakes", "rate", "updates"]
    assert "left out: Winnow (" in shown.stderr


def test_evaluate_reads_columns_as_in_training(examples):
    run("train", "mail.csv", "--label", "spam", "--text", "subject", "-o", "model")
    [told] = lines_of("evaluate", "model", "mail.csv")
    assert (told["examples"], told["trained_on"], told["baseline_label"]) == (5, 1.0, "yes")
    (examples / "other.csv").write_text("wanted,length,colour,subject\nyes,2,red,buy\nno,0.1,pink,hello\n")
    shown = run("evaluate", "model", "other.csv", "--label", "wanted")
    assert "1 of 2 examples have features that are not among the model's" in shown.stderr
    failed = run("evaluate", "model", "other.csv", "--label", "wanted", "--strict", code=1)
    assert "other.csv:3, " in failed.stderr
    assert "pink" in failed.stderr


def test_evaluate_takes_matrices_with_their_labels(model, examples):
    X, y = onlinear.datasets.separable(margin=0.01, n=50, d=8, seed=1)
    np.save("X.npy", X)
    np.save("y.npy", y)
    [told] = lines_of("evaluate", "model", "X.npy", "--labels", "y.npy")
    assert told["correct"] == np.count_nonzero(model.predict(X) == y)


def test_unknown_labels(model, examples):
    (examples / "odd.svm").write_text("1 1:1\n7 1:1\n-1 2:1\n")
    assert "odd.svm:2: label 7" in run("evaluate", "model", "odd.svm", code=1).stderr
    shown = run("evaluate", "model", "odd.svm", "--on-error", "skip", "--quarantine", "aside")
    assert shown.stderr == "skipped 1 line, in aside\n"
    assert re.search("skipped +1 line, not counted above", shown.stdout)
    assert (examples / "aside").read_text() == (
        "# odd.svm:2: label 7; the labels are -1 (negative) and 1 (positive); the model does not know this one; leave"
        " such examples out (--on-error skip)\n7 1:1\n"
    )
    [told] = lines_of("evaluate", "model", "odd.svm", "--on-error", "skip")
    assert (told["examples"], told["skipped"], told["quarantine"]) == (2, 1, "onlinear.quarantine")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate"], "Missing argument 'MODEL'"),
        (["evaluate", "model", "real.svm", "--delta", "1"], "--delta"),
        (["evaluate", "model", "real.svm", "--quarantine", "q"], "--quarantine needs --on-error skip"),
        (["compare", "real.svm", "--rules", "perceptron", "--strict"], "--strict needs --test"),
        (["compare", "real.svm", "--rules", "perceptron", "--test", "none"], "--test: none: there is no such file"),
        (["compare", "--rules", "perceptron", "-", "--test", "-"], "--test: the standard input can be read only once"),
        (
            [
                "compare",
                "first.svm",
                "--rules",
                "perceptron",
                "--test",
                "real.svm",
                "--on-error",
                "skip",
                "--quarantine",
                "real.svm",
            ],
            "real.svm is among the data",
        ),
    ],
)
def test_usage(model, arguments, message):
    assert message in run(*arguments, code=2).stderr


def test_predict_says_once_that_features_are_new(model, examples):
    (examples / "wide.svm").write_text("1 1:1\n1 1:1 9:1\n1 12:2\n")
    shown = run("predict", "model", "wide.svm")
    assert len(shown.stdout.splitlines()) == 3
    assert shown.stderr == (
        "onlinear: warning: 2 of 3 examples have features that are not among the model's 8 features; these features"
        " have an effect on the norm alone (first: wide.svm:2, index 9; --strict makes it an error)\n"
    )
    failed = run("predict", "model", "wide.svm", "--strict", code=1)
    assert "wide.svm:2, index 9: the model has no such feature; it has 8" in failed.stderr


def test_compare_with_a_test(examples):
    rules = "perceptron,margin-perceptron(margin=0.1),winnow"
    arguments = ["compare", "binary.svm", "--rules", rules, "--test", "binary.svm"]
    shown = run(*arguments, "-q")
    stream = onlinear.open_stream("binary.svm")
    alone = [onlinear.run(Perceptron(), stream), onlinear.run(Winnow(), stream)]
    for one in alone:
        [line] = [line for line in shown.stdout.splitlines() if line.startswith(repr(one.rule))]
        found = one.evaluate(stream)
        assert f" {found.accuracy:.2%}" in line
        assert found.interval is None
    assert "no intervals: the model was trained on these examples" in shown.stderr
    assert f"baselines: majority so far {alone[0].baselines.majority / 300:.2%}, last label" in shown.stderr
    assert "test: 300 examples; always" in shown.stderr
    ends = [line for line in lines_of(*arguments) if line["event"] == "end"]
    accuracies = [end["test"]["accuracy"] for end in ends]
    assert accuracies == sorted(accuracies, reverse=True)
    assert all(end["seconds"] >= 0.0 for end in ends)
    assert "wide.svm:2, index 30" in run_wide(examples, arguments)


def run_wide(examples, arguments):
    (examples / "wide.svm").write_text("1 1:1\n-1 30:1\n")
    return run(*arguments[:-1], "wide.svm", "--strict", code=1).stderr


def test_compare_all_rules_that_fit(examples):
    def names(data, *more):
        told = lines_of("compare", data, "--rules", "all", "-q", *more)
        left = {line["rule"]: line["reason"] for line in told if line["event"] == "left out"}
        return {line["rule"]["name"] for line in told if line["event"] == "end"}, left

    taken, left = names("real.svm")
    real = {name for name, cls in ONLINE.items() if cls.inputs == "real"} - {"MarginPerceptron"} | {"Majority"}
    assert taken == real
    assert left["Winnow"] == "real.svm:1: inputs must be 0 or 1"
    assert left["WeightedMajority"] == "real.svm:1: advice must be -1 or +1 in every column"
    assert left["MarginPerceptron"] == "margin has no default; name it: MarginPerceptron(margin=…)"
    taken, left = names("binary.svm")
    assert taken == real | {"Winnow"}
    taken, left = names("advice.svm", "--seed", 3)
    assert taken == real | {"FixedShare", "RandomizedWeightedMajority", "WeightedMajority"}
    # Whether an input fits may show late; and from a pipe nothing can be known in advance.
    (examples / "late.svm").write_text("1 1:1 2:1\n-1 2:1\n1 1:1\n1 1:0.5\n")
    taken, left = names("late.svm")
    assert taken == real
    assert left["Winnow"] == "late.svm:4, index 1: value 0.5; inputs must be 0 or 1"
    piped = shell('cat binary.svm | "$@"', "compare", "--rules", "all,margin-perceptron(margin=1)", "-q")
    assert "left out: Winnow (it needs the number of features in advance (--n-features)" in piped.stderr
    head, *rows = (line for line in piped.stdout.splitlines() if line.startswith("rule") or "(" in line)
    assert head.split()[0] == "rule"
    assert real | {"MarginPerceptron"} <= {line.partition("(")[0] for line in rows}
