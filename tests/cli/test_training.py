"""`train` and `compare`: the same bits as the library, whatever happens on the way, and what is printed."""

import io
import logging
import re
import sys

import numpy as np
import pytest

import onlinear
from command_line import OWN_RULE, lines_of, run
from onlinear.cli.notices import notices
from onlinear.cli.progress import Watch
from onlinear.errors import DataError
from onlinear.rules import Perceptron, Winnow
from onlinear.runs import Progress


def test_train_prints_the_run_and_saves_it(examples):
    result = run("train", "--rule", "perceptron", "real.svm", "--intercept", "--normalize", "-o", "model")
    again = onlinear.run(Perceptron(), onlinear.open_stream("real.svm"), fit_intercept=True, normalize=True)
    saved = onlinear.load("model")
    assert saved.state.fit_intercept
    assert saved.state.normalize
    assert np.array_equal(saved.weights, again.weights)
    *shown, test = result.stdout.splitlines()
    assert shown == [*repr(again).splitlines(), "  saved to   model"]
    assert "onlinear evaluate model DATA" in test
    quiet = run("train", "--rule", "perceptron", "real.svm", "--intercept", "--normalize", "-o", "model", "-q")
    assert quiet.stdout.splitlines() == shown


def test_progress_is_on_stderr_at_doubling_counts(examples):
    result = run("train", "--rule", "perceptron", "real.svm")
    labels, head, *rows = result.stderr.splitlines()
    assert labels == "labels: -1 → negative, 1 → positive"
    assert head.split() == ["rounds", "mistakes", "rate", "since", "last", "seconds"]
    assert [int(row.split()[0]) for row in rows] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert {len(row) for row in rows} == {len(head)}
    quiet = run("train", "--rule", "perceptron", "real.svm", "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout == result.stdout


def test_json_lines(examples):
    start, *progress, end = lines_of("train", "--rule", "perceptron", "real.svm", "--passes", 2)
    assert start["event"] == "start"
    assert start["labels"] == [-1, 1]
    assert start["rule"] == {"name": "Perceptron", "parameters": {"tie": "mistake"}}
    assert [line["rounds"] for line in progress] == [2**k for k in range(10)]
    assert {line["event"] for line in progress} == {"progress"}
    assert sum(line["recent_mistakes"] for line in progress) == progress[-1]["mistakes"]
    done = onlinear.train(Perceptron(), onlinear.open_stream("real.svm"), passes=2)
    assert end["event"] == "end"
    assert end["rounds"] == 600
    assert end["mistakes"] == done.mistakes == end["mistakes_positive"] + end["mistakes_negative"]
    assert end["rate"] == done.mistakes / 600
    assert end["margin_upper_bound"] == done.margin_upper_bound
    assert [line["event"] for line in lines_of("train", "--rule", "perceptron", "real.svm", "-q")] == ["end"]


def test_what_is_not_finite_is_null(examples):
    (examples / "easy.svm").write_text("0 1:1\n1 1:2\n")
    own(examples, IDLE)
    (end,) = lines_of("train", "easy.svm", "--rule", "file_rule.py:Idle", "-q")
    assert end["margin_upper_bound"] is None


IDLE = (
    OWN_RULE.replace("Halfway", "Idle")
    .replace("if mistake:", "if self.rate < 0.0:")
    .replace("self.rate * mistake", "0.0")
)


def own(folder, code=OWN_RULE):
    sys.modules.pop("file_rule", None)
    (folder / "file_rule.py").write_text(code)


def test_going_on_is_as_good_as_never_having_stopped(examples):
    for options in ([], ["--rule", "winnow", "--n-features", 20]):
        kind = "binary" if options else "real"
        lines = (examples / f"{kind}.svm").read_text().splitlines(keepends=True)
        (examples / "a.svm").write_text("".join(lines[:77]))
        (examples / "b.svm").write_text("".join(lines[77:]))
        run("train", "a.svm", "b.svm", "-o", "whole", *options)
        run("train", "a.svm", "-o", "model", *options)
        run("train", "b.svm", "--from", "model", "-o", "model")
        assert (examples / "model").read_bytes() == (examples / "whole").read_bytes()


def test_going_on_keeps_names_classes_and_columns(examples):
    head, *rows = (examples / "mail.csv").read_text().splitlines(keepends=True)
    (examples / "a.csv").write_text("".join([head, *rows[:3]]))
    (examples / "b.csv").write_text("".join([head, *rows[3:]]))
    options = ["--label", "spam", "--text", "subject", "--classes", "yes,no"]
    run("train", "a.csv", "b.csv", "-o", "whole", *options)
    run("train", "a.csv", "-o", "model", *options)
    run("train", "b.csv", "--from", "model", "-o", "model")
    assert (examples / "model").read_bytes() == (examples / "whole").read_bytes()
    assert onlinear.load("model").classes.tolist() == ["yes", "no"]


@pytest.mark.parametrize("options", [[], ["--shuffle", "50", "--seed", "3"]])
def test_a_checkpoint_is_gone_on_from(examples, monkeypatch, options):
    command = ["train", "first.svm", "second.svm", "--passes", 3, *options]
    run(*command, "-o", "whole")
    command += ["--checkpoint", "kept", "--every", 0, "-o", "model"]
    told = Watch.__call__

    def crash(watch, progress):
        told(watch, progress)
        if progress.rounds > 450:
            raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "__call__", crash)
    interrupted = run(*command, code=130)
    assert (
        interrupted.stderr.splitlines()[-1] == "onlinear: interrupted: run the same command again to resume from kept"
    )
    assert not (examples / "model").exists()
    monkeypatch.setattr(Watch, "__call__", told)
    assert "1 pass completed, and " in run("inspect", "kept").stdout
    other = run("train", "first.svm", "--passes", 2, "--checkpoint", "kept", code=1)
    assert "remove that file to start again" in other.stderr
    assert run(*command).stderr.startswith("resuming from kept\n")
    assert (examples / "model").read_bytes() == (examples / "whole").read_bytes()
    assert not (examples / "kept").exists()


def test_certify_ends_with_what_the_theorems_say(examples):
    shown = run("train", "--rule", "perceptron", "real.svm", "--certify", "--passes", 2).stdout
    assert re.search(r"Perceptron mistake bound \(P1\) +\d+ mistakes? ≤ ", shown)
    end, proof = lines_of("train", "--rule", "perceptron", "real.svm", "--certify", "-q")
    assert (end["event"], proof["event"]) == ("end", "certificate")
    assert proof["certificate"]["outcome"]["mistakes"] == end["mistakes"]
    for options in (["--shuffle", 10], ["--from", "model"], ["-"]):
        assert (
            "Invalid value for --certify"
            in run("train", "--rule", "perceptron", "real.svm", "--certify", *options, code=2).stderr
        )
    assert (
        "shuffle the files beforehand"
        in run("train", "--rule", "perceptron", "real.svm", "--certify", "--shuffle", 10, code=2).stderr
    )


def test_results_are_shown_before_they_are_certified(examples, monkeypatch):
    def fails(*_, **__):
        raise DataError("no proof")

    monkeypatch.setattr(onlinear.theory, "certify", fails)
    failed = run("train", "--rule", "perceptron", "real.svm", "--certify", code=1)
    assert failed.stdout.startswith("Run of Perceptron")
    assert failed.stderr.endswith("onlinear: error: no proof\n")


def test_lines_that_are_no_examples(examples):
    lines = ["1 1:1", "0 2:1", "1 2:x", "2 1:1", "1 1:2"]
    (examples / "bad.svm").write_text("\n".join(lines) + "\n")
    failed = run("train", "bad.svm", "-q", code=1)
    assert failed.stderr == "onlinear: error: bad.svm:3:5: value 'x' is not a finite number\n"
    (examples / "third.svm").write_text("\n".join([*lines[:2], *lines[3:]]) + "\n")
    failed = run("train", "third.svm", "-q", "--classes", "0,1", code=1)
    assert failed.stderr.startswith(
        "onlinear: error: third.svm:3: label 2; the labels are 0 (negative) and 1 (positive); "
    )
    skip = ("train", "bad.svm", "--classes", "0,1", "--on-error", "skip")
    skipped = run(*skip, "-o", "model")
    assert "skipped    2 lines, in model.quarantine" in skipped.stdout
    assert (examples / "model.quarantine").read_text().splitlines()[1::2] == lines[2:4]
    run(*skip, "--quarantine", "aside")
    assert (examples / "aside").read_bytes() == (examples / "model.quarantine").read_bytes()
    (end,) = lines_of(*skip, "-q")
    assert (end["rounds"], end["skipped"], end["quarantine"]) == (3, 2, "onlinear.quarantine")
    run(*skip, "--certify", "--quarantine", "again")
    assert (examples / "again").read_bytes() == (examples / "aside").read_bytes()


def test_where_nothing_is_skipped_no_file_is_touched(examples):
    (examples / "aside").write_text("mine")
    skip = ("real.svm", "--on-error", "skip", "--quarantine", "aside")
    assert "  skipped    0 lines\n" in run("train", *skip).stdout
    assert run("compare", *skip, "--rules", "perceptron").stderr.endswith("\nskipped 0 lines\n")
    (end,) = lines_of("train", *skip, "-q")
    assert (end["skipped"], end["quarantine"]) == (0, None)
    assert (examples / "aside").read_text() == "mine"


def test_the_seed_is_for_the_order_and_for_rules_that_draw(examples):
    def ended(*options):
        return lines_of("train", "advice.svm", "--rule", "randomized-weighted-majority", "-q", *options)[0]

    assert ended("--seed", 5)["rule"]["parameters"]["seed"] == 5
    assert {"best_expert", "regret", "expected_mistakes"} <= set(ended())
    (own_seed,) = lines_of("train", "advice.svm", "--rule", "RandomizedWeightedMajority(0.25, 7)", "--seed", 5, "-q")
    assert own_seed["rule"]["parameters"] == {"eta": 0.25, "seed": 7}


def test_a_rule_of_ones_own(examples):
    own(examples)
    run("train", "first.svm", "--rule", "file_rule.py:Halfway(rate=1)", "-o", "model")
    run("train", "second.svm", "--from", "model", "--rule", "file_rule.py:Halfway", "-o", "model")
    run("train", "real.svm", "--rule", "file_rule:Halfway(1)", "-o", "module")
    assert (examples / "model").read_bytes() == (examples / "module").read_bytes()
    usual = onlinear.run(Perceptron(), onlinear.open_stream("real.svm"))
    asked = run("predict", "model", "real.svm", code=2)
    assert "use --rule FILE.py:Halfway" in asked.stderr
    predictions = run("predict", "model", "real.svm", "--rule", "file_rule.py:Halfway").stdout.split()
    (X, _), *_ = onlinear.open_stream("real.svm")
    assert predictions == [str(label) for label in usual.predict(X)]
    shown = run("inspect", "model", "--top", 1).stdout
    assert "Halfway(rate=1.0)" in shown
    assert f"{np.abs(usual.weights).max():.6g}" in shown


def test_compare_reads_once_for_all(examples):
    rules = "perceptron, winnow(beta=0.5, threshold=20),MARGIN_PERCEPTRON(margin=0.1)"
    shown = run("compare", "binary.svm", "--rules", rules, "--intercept").stdout.splitlines()
    assert shown[0].split()[:2] == ["rule", "mistakes"]
    stream = onlinear.open_stream("binary.svm")
    alone = [onlinear.run(Perceptron(), stream, fit_intercept=True), onlinear.run(Winnow(0.5, 20), stream)]
    for one in alone:
        [line] = [line for line in shown if line.startswith(repr(one.rule))]
        assert line[len(repr(one.rule)) :].split()[0] == str(one.mistakes)
    assert len(shown) == 4
    assert all(line == line.rstrip() for line in shown)
    ends = [line for line in lines_of("compare", "binary.svm", "--rules", rules) if line["event"] == "end"]
    assert sorted(end["rule"]["name"] for end in ends) == ["MarginPerceptron", "Perceptron", "Winnow"]
    assert [end["mistakes"] for end in ends] == sorted(end["mistakes"] for end in ends)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_that_knows_the_length_of_a_pass(examples, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    labels = np.array([-1, 1])
    with Watch({}, as_json=False, quiet=False, passes=3, before=100) as watch:
        for rounds, passes, mark in ((128, 0, True), (400, 0, False), (600, 1, False), (700, 1, False)):
            watch(Progress(rounds, 10, 5, 5, passes, 0.5, mark, labels))
        (task,) = watch._bar.tasks
        assert (task.completed, task.total, task.description) == (300, 300, "pass 2/3")
        watch(Progress(800, 10, 5, 5, 2, 0.5, False, labels))
        assert (task.completed, task.total) == (100, 300)
    assert "labels: -1 → negative, 1 → positive" in screen.getvalue()
    assert "pass 3/3" in screen.getvalue()
    quiet = Terminal()
    monkeypatch.setattr(sys, "stderr", quiet)
    with Watch({}, as_json=False, quiet=True, passes=3, before=0) as watch:
        watch(Progress(1, 1, 1, 1, 0, 0.5, True, labels))
    assert quiet.getvalue() == ""


def test_notices_stand_above_the_bar_and_are_printed_once(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    log = logging.getLogger("onlinear")
    with notices(quiet=False), Watch({}, as_json=False, quiet=False, passes=1, before=0):
        log.info("compiling something")
        log.info("compiling something")
    assert screen.getvalue().count("compiling something") == 1
    assert "\x1b[2Kcompiling something" in screen.getvalue()  # the bar is erased first
    with notices(quiet=True):
        log.info("compiling something else")
    assert "else" not in screen.getvalue()
