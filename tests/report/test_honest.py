"""What would mislead in a report: ties, rounds that saw an example again, labels in order, one class, hidden text."""

import re

import numpy as np
import pytest

import onlinear
from command_line import run as cli
from onlinear.pictures.weights import weights_picture
from onlinear.report.overview import percent
from onlinear.report.page import SUFFIXES
from onlinear.report.parts import Chart, QuotedExamples, Sentences
from onlinear.rules import AROW, FixedShare, Majority, Perceptron, WeightedMajority
from report_data import three_classes


def section(page, name):
    return next(one for one in page.contents.sections if one.name == name)


def said(page, name):
    return " ".join(
        text for part in section(page, name).parts if isinstance(part, Sentences) for text in part.sentences
    )


def chart(page, name):
    return next(part for part in section(page, name).parts if isinstance(part, Chart))


def test_ties_are_told_from_wrong_predictions():
    X, y = np.eye(4), [-1, 1, -1, 1]
    page = onlinear.train(Perceptron(), X, y, trace="curve").report(X, y)
    assert [row[1:] for row in chart(page, "confusion").table.rows] == [["2", "0"], ["2", "0"]]
    assert "2 mistakes on the diagonal" in said(page, "confusion")
    quoted = section(page, "costliest").parts[1]
    assert isinstance(quoted, QuotedExamples)
    assert {one.said for one in quoted.examples} == {"label -1, a tie", "label 1, a tie"}
    A, b = three_classes()
    scored = onlinear.train(Majority(), A, b, trace="curve")
    wrong = scored.trace.confusion.sum() - np.trace(scored.trace.confusion)
    assert ("diagonal" in said(scored.report(), "confusion")) == (wrong < scored.mistakes)


def test_no_bound_is_rounded_down():
    X, y = onlinear.datasets.noisy(n=3000, seed=0)
    run = onlinear.train(Majority(), X, y, trace="curve")
    page = run.report(X, y)
    bound = next(one for one in onlinear.certify(run, X, y).bounds if one.of == "mistakes")
    told = re.search(r'"level":([\d.]+)', page.html())
    assert bound.value <= float(told[1]) <= bound.value * (1 + 1e-5)
    assert f"{float(told[1]):,.12g}" in chart(page, "theorems").table.rows[0][2]


def test_of_equal_costs_the_latest_are_shown():
    X, y = np.ones((40, 1)), [-1, 1] * 20
    run = onlinear.train(Majority([Perceptron()]), X, y, trace="curve")
    assert {one.cost for one in run.trace.costliest} == {1.0}
    every = onlinear.train(Majority([Perceptron()]), X, y, trace=True).trace
    equal = [t for t in every.mistakes.tolist() if abs(every.scores[t]) == 1.0]
    assert len(equal) > 10
    assert [one.round for one in run.trace.costliest] == equal[::-1][:10]


def test_passes_after_the_first_are_not_taken_for_new_examples():
    X, y = onlinear.datasets.noisy(n=200, seed=0)
    first = onlinear.train(Perceptron(), X, y)
    page = onlinear.train(Perceptron(), X, y, passes=3, trace="curve").report(X, y)
    assert f"in the first pass {first.mistakes} of 200, {first.mistakes / 200:.2%}" in page.contents.numbers[0].beside
    assert "first predicted" not in page.contents.lead
    assert "3 times over" in page.contents.lead


def test_labels_in_order_are_named_beside_the_share_of_mistakes():
    X, y = onlinear.datasets.noisy(n=2000, seed=0)
    order = np.argsort(y, kind="stable")
    pages = [onlinear.train(Perceptron(), X[i], y[i], trace="curve").report() for i in (slice(None), order)]
    assert ["not in random order" in page.contents.numbers[0].beside for page in pages] == [False, True]


@pytest.mark.parametrize("rule", [Perceptron(), Majority()])
def test_one_class_has_a_report(rule):
    X = np.abs(np.random.default_rng(0).normal(size=(20, 3)))
    page = onlinear.train(rule, X, np.ones(20), classes=(-1, 1), trace="curve").report(X, np.ones(20))
    assert said(page, "separability").startswith("Yes.")


def test_halting_loops_have_their_bounds():
    X, y = onlinear.datasets.separable(margin=0.1, n=200, d=5, seed=0)
    for loop in (onlinear.converge(Perceptron(), X, y, trace="curve"), onlinear.batch_perceptron(X, y, trace="curve")):
        page = loop.report(X, y)
        bound = onlinear.certify(loop, X, y).bounds[0]
        assert chart(page, "theorems").table.rows[0][0] == bound.theorem
        assert "over the same examples" in page.contents.lead
        facts = dict(section(page, "run").parts[0].pairs)
        assert facts["halted"].startswith("yes")
    A, b = onlinear.datasets.noisy(n=200, seed=0)
    page = onlinear.converge(Perceptron(), A, b, max_updates=50, trace="curve").report(A, b)
    assert dict(section(page, "run").parts[0].pairs)["halted"].startswith("no")


def test_experts_have_their_bounds():
    X, y = onlinear.datasets.experts(N=5, n=200, best=0.1, seed=0)
    runs = onlinear.compare([WeightedMajority(), FixedShare()], X, y, trace="curve")
    page = runs.report(X, y)
    assert "mistake bound" in chart(page, "theorems").table.rows[0][0]
    assert "not for the best of several rules" in said(page, "theorems")
    assert "Experts vote" in said(page, "separability")
    alone = runs[0].report(X, y)
    assert "several rules" not in said(alone, "theorems")


def test_features_of_libsvm_files_have_the_numbers_of_the_file(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("+1 2:1\n-1 1:1\n+1 2:1 1:0.5\n-1 1:2\n".replace("2:1 1:0.5", "1:0.5 2:1"))
    for zero_based, names in ((False, {"index 1", "index 2"}), (True, {"index 1", "index 2"})):
        run = onlinear.train(Perceptron(), onlinear.open_stream(path, zero_based=zero_based))
        layers = weights_picture(run).layers
        assert {text for layer in layers for text in layer.texts} == names


def test_small_shares_keep_two_digits():
    assert percent(0, 7) == "0.00%"
    assert percent(1, 3) == "33.33%"
    assert percent(4, 49_749) == "0.008%"
    assert percent(2, 49_749) == "0.004%"
    assert percent(123, 10**9) == "0.000012%"
    assert percent(1, 10**9) == "0.0000001%"
    assert percent(1, 1000) == "0.10%"


def test_what_turns_the_direction_of_text_is_shown_as_an_escape(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text('a,label\n1,"\u202ex"\n2,y\n1,"\u202ex"\n2,y\n', encoding="utf-8")
    for suffix in SUFFIXES:
        cli("report", "data.csv", "--label", "label", "-o", f"out{suffix}", "-q", "--title", "\u202etitle")
        text = (tmp_path / f"out{suffix}").read_text(encoding="utf-8")
        assert "\u202e" not in text
        assert "1,&#34;\\u202ex&#34;" in text or '1,"\\u202ex"' in text


def test_reasons_are_told_once(monkeypatch):
    X, y = onlinear.datasets.noisy(n=300, seed=0)
    page = onlinear.compare([Perceptron(), AROW()], X, y, shuffle=300, trace="curve").report(X, y, shuffle=300)
    (reason,) = section(page, "theorems").parts[0].sentences
    assert reason.endswith("they were shuffled.")
    assert "Perceptron" in reason
    assert "AROW" in reason
    monkeypatch.setattr("onlinear.report.subject.MOST_ENTRIES", 1)
    page = onlinear.train(Perceptron(), X, y, trace="curve").report(X, y)
    assert "too large to certify this rule" in said(page, "theorems")
