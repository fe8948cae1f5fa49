"""What a report says is what the run made; both forms say it; and the same input gives the same bytes."""

import base64
import dataclasses
import hashlib
import html
import itertools
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import onlinear
from command_line import process
from command_line import run as cli
from onlinear.errors import DataError, OnlinearError, ParameterError
from onlinear.report import report
from onlinear.report.parts import Chart, FactList, QuotedExamples, Sentences, ValueTable
from onlinear.rules import AROW, Majority, Perceptron, WeightedMajority
from onlinear.runs.curve import CurvePoints
from report_data import HOSTILE, LABELS, three_classes

NAMES = ["perceptron", "three classes", "hostile"]


class Shown(HTMLParser):
    """The text of a page as a reader sees it, and its tags."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.texts, self.tags, self.hidden = [], [], 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.hidden += tag in {"script", "style"}

    def handle_endtag(self, tag):
        self.hidden -= tag in {"script", "style"}

    def handle_data(self, data):
        if not self.hidden:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def section(page, name):
    return next(one for one in page.contents.sections if one.name == name)


def parts(page, name, kind):
    return [part for part in section(page, name).parts if isinstance(part, kind)]


def everything(contents):
    """Yield all texts of a report, but for those of pictures, and what stands in code."""
    yield contents.title
    yield contents.lead
    for number in contents.numbers:
        yield from (number.value, number.what, number.beside)
    for one in contents.sections:
        yield one.title
        for part in one.parts:
            match part:
                case Sentences(sentences):
                    yield from sentences
                case FactList(pairs):
                    yield from (text for pair in pairs for text in pair)
                case ValueTable():
                    yield from (part.caption, *part.names, *(cell for row in part.rows for cell in row))
                case Chart():
                    yield from (part.picture.title, *part.picture.notes, part.table.caption)
                    yield from (cell for row in part.table.rows for cell in row)
                case QuotedExamples(examples):
                    yield from (text for each in examples for text in (each.place, each.said, each.text))


def unescaped(markdown):
    return html.unescape(re.sub(r"\\([\\`*_\[\]#|~$+\-.)=])", r"\1", markdown))


# --- Facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_say_everything(reported, name):
    page = reported[name][1]
    shown = Shown(page.html()).text.replace(" ", "")
    markdown = unescaped(page.markdown()).replace(" ", "")
    for text in everything(page.contents):
        bare = "".join(text.split())
        assert bare in shown
        assert bare in "".join(markdown.split())


def test_the_numbers_are_those_of_the_run(reported):
    run, page = reported["perceptron"]
    assert page.contents.numbers[0].value == f"{run.mistakes / run.rounds:.2%}"
    assert f"{run.mistakes:,} mistakes in {run.rounds:,} rounds" == page.contents.numbers[0].beside
    (curve, rate) = parts(page, "mistakes", Chart)
    beside = run.baselines
    counts = [run.mistakes, run.updates, beside.majority, beside.last_label]
    assert curve.table.rows[-1] == [f"{run.rounds:,}", *(f"{count:,}" for count in counts)]
    assert rate.table.rows[-1] == [f"{run.rounds:,}", *(f"{count / run.rounds:.2%}" for count in counts)]
    line = next(layer for layer in curve.picture.layers if layer.name == "Perceptron")
    assert line.y.tolist() == run.trace.mistakes.tolist()
    (confusion,) = parts(page, "confusion", Chart)
    assert [row[1:] for row in confusion.table.rows] == [
        [f"{n:,}" for n in row] for row in run.trace.confusion.tolist()
    ]
    (weights,) = parts(page, "weights", Chart)
    largest = int(np.abs(run.weights).argmax())
    assert weights.table.rows[0] == [f"feature {largest}", f"{run.weights[largest]:.6g}".replace("-", "−")]


def test_the_theorems_are_those_of_the_certificate(reported):
    run, page = reported["perceptron"]
    X, y = onlinear.datasets.separable(margin=0.05, n=400, d=6, seed=1)
    certificate = onlinear.certify(run, X, y)
    (bounds,) = parts(page, "theorems", Chart)
    assert [row[0] for row in bounds.table.rows] == [bound.theorem for bound in certificate.bounds]
    for row, bound, entry in zip(bounds.table.rows, certificate.bounds, certificate.record["bounds"], strict=True):
        if bound.of == "mistakes":
            assert row[1] == f"{entry['actual']:,} mistakes"
            allowed = float(row[2].split()[1].replace(",", ""))
            assert bound.value <= allowed <= bound.value * (1 + 1e-5)
    drawn = parts(page, "mistakes", Chart)[0].picture
    for bound in certificate.bounds:
        layers = [layer for layer in drawn.layers if layer.name.startswith(bound.theorem)]
        assert len(layers) == 1 or any(bound.theorem in note for note in drawn.notes)
        assert all(layer.y.tolist() == [bound.value] for layer in layers)
    assert "Yes." in section(page, "separability").parts[0].sentences[0]
    margin = dict(parts(page, "separability", FactList)[0].pairs)["largest margin"]
    low, high = (float(end) for end in re.match(r"([\d.]+) to ([\d.]+)", margin).groups())
    assert low <= onlinear.max_margin(X, y).lower <= high


def test_the_costliest_examples_are_found_and_shown(reported):
    run, page = reported["hostile"]
    (quoted,) = parts(page, "costliest", QuotedExamples)
    assert len(quoted.examples) == len(run.trace.costliest)
    path = next(str(part.pairs[0][1]) for part in parts(page, "run", FactList))
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    for example, one in zip(quoted.examples, run.trace.costliest, strict=True):
        assert example.place == f"{path}:{one.round + 2} (round {one.round + 1:,})"
        assert example.text == lines[one.round + 1]
        assert example.said.startswith(f"label {LABELS[one.answer]}, predicted {LABELS[one.prediction]}")


def test_the_examples_that_decide_are_shown_as_they_stood(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("+1 1:1 2:0.5\n-1 1:2\n-1 1:1 2:0.5\n+1 2:3\n")
    stream = onlinear.open_stream(path)
    page = onlinear.train(Perceptron(), stream, trace="curve").report(stream)
    (quoted,) = parts(page, "separability", QuotedExamples)
    assert [(one.place, one.text) for one in quoted.examples] == [
        (f"{path}:1", "+1 1:1 2:0.5"),
        (f"{path}:3", "-1 1:1 2:0.5"),
    ]


def test_several_rules_stand_beside_each_other(reported):
    compared, page = reported["three classes"]
    (rules,) = parts(page, "rules", Chart)
    assert sorted((row[0], row[1]) for row in rules.table.rows) == sorted(
        (repr(run.rule), f"{run.mistakes:,}") for run in compared
    )
    made = [int(row[1].replace(",", "")) for row in rules.table.rows]
    assert made == sorted(made)
    majority = next(run for run in compared if run.state.members)
    page = report(majority)
    (members,) = parts(page, "members", Chart)
    assert [int(row[1]) for row in members.table.rows] == [
        majority.mistakes,
        *sorted(majority.expert_mistakes.tolist()),
    ]


def test_what_is_unknown_is_said(reported):
    run, _ = reported["perceptron"]
    alone = report(dataclasses.replace(run, trace=None))
    assert 'trace="curve"' in section(alone, "mistakes").parts[0].sentences[0]
    assert "not part of this report" in section(alone, "theorems").parts[0].sentences[0]
    assert {"costliest", "confusion", "separability"}.isdisjoint(one.name for one in alone.contents.sections)


def test_examples_that_are_too_large_are_left_to_certify(monkeypatch):
    monkeypatch.setattr("onlinear.report.material.MOST_ENTRIES", 100)
    X, y = onlinear.datasets.separable(margin=0.1, n=50, d=20, seed=0)
    page = onlinear.train(Perceptron(), X, y, trace="curve").report(X, y)
    assert "onlinear certify goes on" in section(page, "theorems").parts[0].sentences[0]
    assert all(one.name != "separability" for one in page.contents.sections)


def test_the_verdict_is_about_the_examples_as_they_were_given():
    A, b = three_classes(60)
    page = onlinear.train(Perceptron(), A, b, normalize=True, trace="curve").report(A, b)
    assert "as they were given" in section(page, "separability").parts[-1].sentences[0]


def test_what_a_report_does_not_decide_has_an_interval(monkeypatch):
    monkeypatch.setattr("onlinear.report.subject._SECONDS", 1e-9)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 60)), rng.choice([-1, 1], size=400)
    page = onlinear.train(Perceptron(), X, y, trace="curve").report(X, y)
    assert page.contents.numbers[-1].value == "not decided"
    assert "onlinear certify searches for longer" in section(page, "separability").parts[0].sentences[0]
    assert parts(page, "separability", FactList)[0].pairs[0][1].startswith("0 to ")


def test_halting_loops_and_resumed_runs_have_reports():
    X, y = onlinear.datasets.separable(margin=0.1, n=200, d=5, seed=0)
    loop = onlinear.converge(Perceptron(), X, y, selection="random", trace="curve")
    page = loop.report(X, y)
    assert dict(parts(page, "run", FactList)[0].pairs)["rounds"] == f"{loop.rounds:,}"
    assert all("row" not in one.place for one in parts(page, "costliest", QuotedExamples)[0].examples)
    assert "converge" in section(page, "reproduce").parts[0].text
    first = onlinear.train(Perceptron(), X[:50], y[:50])
    rest = onlinear.train(Perceptron(), X[50:], y[50:], state=first, trace="curve")
    page = rest.report(X[50:], y[50:])
    assert "Counted from round 51" in " ".join(parts(page, "mistakes", Chart)[0].picture.notes)
    assert page.markdown()


def test_other_examples_are_refused():
    X, y = onlinear.datasets.noisy(n=300, seed=0)
    run = onlinear.train(Perceptron(), X, y, trace="curve")
    with pytest.raises(DataError, match="not the examples of the run"):
        run.report(X, -y)
    with pytest.raises(ParameterError, match="there is no report on a int"):
        report(3)


def test_experts_have_a_report():
    X, y = onlinear.datasets.experts(N=5, n=200, best=0.1, seed=0)
    run = onlinear.train(WeightedMajority(), X, y, trace="curve")
    page = run.report(X, y)
    assert section(page, "weights").parts[0].table.names[0] == "expert"
    assert page.html()


def test_a_shuffled_run_names_the_examples_it_saw(tmp_path):
    X, y = onlinear.datasets.noisy(n=300, seed=0)
    run = onlinear.train(Perceptron(), X, y, shuffle=64, seed=5, trace="curve")
    page = run.report(X, y, shuffle=64, seed=5)
    places = [one.place for one in parts(page, "costliest", QuotedExamples)[0].examples]
    assert all(re.match(r"row \d+ \(round", place) for place in places)
    assert "shuffled" in section(page, "theorems").parts[0].sentences[0]
    with pytest.raises(DataError, match="not in its order"):
        run.report(X, y)


def test_a_certificate_has_a_report():
    X, y = onlinear.datasets.noisy(n=200, seed=0)
    certificate = onlinear.certify(onlinear.run(Perceptron(), X, y), X, y)
    page = certificate.report(X, y)
    assert dict(parts(page, "run", FactList)[0].pairs)["fingerprint"].endswith(
        certificate.record["data"]["fingerprint"]
    )
    assert len(parts(page, "separability", QuotedExamples)[0].examples) == 12
    assert parts(page, "theorems", Chart)
    assert page.html() == certificate.report(X, y).html()
    assert certificate.report().markdown()


def test_compare_records_what_each_rule_records_alone():
    A, b = three_classes()
    rules = [AROW(), Perceptron(), Majority()]
    for run, rule in zip(onlinear.compare(rules, A, b, passes=2, trace="curve"), rules, strict=True):
        alone = onlinear.train(rule, A, b, passes=2, trace="curve").trace
        assert run.trace.mistakes.tolist() == alone.mistakes.tolist()
        assert run.trace.confusion.tolist() == alone.confusion.tolist()
        assert run.trace.costliest == alone.costliest
    assert all(run.trace is None for run in onlinear.compare(rules, A, b))


# --- The page -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_names_exactly_what_the_page_has(reported, name):
    page = reported[name][1].html()
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none';")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(scripts) == len(styles) == 1
    for kind, (text,) in (("script", scripts), ("style", styles)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.search(r"\sstyle=|https?://(?!www\.w3\.org/2000/svg)|<link|<img|<iframe|@import|url\(", page) or (
        name == "hostile"
    )


@pytest.mark.parametrize("name", NAMES)
def test_tags_are_only_those_of_the_templates(reported, name):
    shown = Shown(reported[name][1].html())
    assert {tag for tag, _ in shown.tags} & {"img", "b", "i"} <= {"b"}
    for tag, attributes in shown.tags:
        assert not any(attribute.startswith("on") or attribute == "style" for attribute in attributes)
        assert tag != "script" or attributes in ({}, {"type": "application/json"})
    ids = [attributes["id"] for _, attributes in shown.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    levels = [int(tag[1]) for tag, _ in shown.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_names_from_users_are_shown_and_not_run(reported):
    page = reported["hostile"][1]
    text = page.html()
    shown = Shown(text).text
    markdown = page.markdown()
    assert "<script>alert(3)</script>" in shown
    for name in (*HOSTILE, *LABELS):
        assert name in shown
    outside = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", markdown)
    assert "<script" not in outside
    assert "<b>" not in outside
    assert "&lt;script&gt;alert(3)&lt;/script&gt;" in outside
    for data in re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL):
        assert json.loads(data)["layers"]
        assert "<" not in data


def test_tables_of_markdown_keep_their_columns(reported):
    rows = [line for line in reported["hostile"][1].markdown().splitlines() if line.startswith("|")]
    tables = "\n".join(rows)
    assert r"a\|b" in tables
    for above, below in itertools.pairwise(rows):
        if re.fullmatch(r"\|[ :|-]+\|", below):
            assert len(re.findall(r"(?<!\\)\|", above)) == below.count("|")


def test_the_same_input_gives_the_same_bytes(hostile_file):
    made = set()
    for _ in range(2):
        stream = onlinear.open_stream(hostile_file)
        page = onlinear.train(Majority(), stream, trace="curve").report(stream)
        made.add((page.html(), page.markdown()))
    assert len(made) == 1
    assert "Made by onlinear" in page.html()
    assert page.contents.signature.count(" on ") == 0


def test_a_long_run_has_a_small_report():
    rng = np.random.default_rng(0)
    n, block = 1_000_000, 50_000
    mistaken = rng.random(n) < 0.01
    for first in rng.choice(n - 2000, size=8, replace=False):
        mistaken[first : first + 2000] = True
    points = CurvePoints()
    answers = rng.integers(2, size=n)
    for first in range(0, n, block):
        part = slice(first, first + block)
        points.add(
            mistaken[part], mistaken[part], answers[part], answers[part] ^ mistaken[part], rng.normal(size=block)
        )
    X, y = onlinear.datasets.noisy(n=100, seed=0)
    run = dataclasses.replace(onlinear.run(Perceptron(), X, y), trace=points.curve())
    text = report(run).html()
    assert len(text.encode()) < 2_000_000
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    layer = next(one for one in data["layers"] if one["name"] == "Perceptron")
    at = np.array(data["places"][layer["x"]])
    assert layer["y"] == np.concatenate([[0], np.cumsum(mistaken)])[at].tolist()


def test_without_jinja_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(OnlinearError, match=r'pip install "onlinear\[report\]"'):
        onlinear.run(Perceptron(), *onlinear.datasets.noisy(n=50, seed=0)).report()


def test_the_name_of_the_file_decides_on_the_form(tmp_path):
    page = report(onlinear.run(Perceptron(), *onlinear.datasets.noisy(n=50, seed=0)), date="2026-01-31", title="Mine")
    page.save(tmp_path / "a.html")
    page.save(tmp_path / "a.MD")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page.html()
    assert (tmp_path / "a.MD").read_text(encoding="utf-8") == page.markdown() == page._repr_markdown_()
    assert "on 2026-01-31." in page.markdown()
    assert repr(page).startswith("Mine\n  What was run")
    with pytest.raises(ParameterError, match=r"ends in \.html or"):
        page.save(tmp_path / "a.txt")


# --- The command line -----------------------------------------------------------------------------


@pytest.fixture
def data_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = rng.integers(2, size=(120, 5))
    text = "".join(
        f"{'+1' if row[0] else '-1'} {' '.join(f'{j + 1}:1' for j in np.flatnonzero(row))}\n" for row in rows
    )
    (tmp_path / "data.svm").write_text(text)
    return "data.svm"


def test_onlinear_report_writes_both_forms(data_file, tmp_path):
    for name in ("out.html", "again.html", "out.md"):
        cli("report", data_file, "-o", name, "-q", "--title", "T")
    texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("out.html", "again.html", "out.md")]
    assert texts[0].replace("out.html", "") == texts[1].replace("again.html", "")
    run = onlinear.train(Majority(), onlinear.open_stream(data_file))
    assert f"{run.mistakes:,} mistakes in 120 rounds" in texts[2]
    assert "onlinear report data.svm --output out.md --title T --quiet" in texts[2]


def test_onlinear_report_takes_rules_and_passes(data_file, tmp_path):
    given = ["--rules", "perceptron,winnow", "--passes", "2", "--intercept"]
    cli("report", data_file, "-o", "out.md", *given)
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert "--rules perceptron,winnow --output out.md --passes 2 --intercept" in unescaped(text)
    assert "read 2 times" in text
    assert "Rules compared" in text


def test_onlinear_report_reads_a_pipe_once(data_file, tmp_path):
    done = process("report", "-", "-o", "out.md", "-q", input=(tmp_path / data_file).read_text())
    assert done.returncode == 0
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert "The examples are not part of this report" in text
    assert "in 120 rounds" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["-o", "out.txt"], "must end in .html"), (["-o", "data.svm"], "overwritten"), ([], "--output")],
)
def test_onlinear_report_refuses(data_file, arguments, said):
    assert said in cli("report", data_file, *arguments, code=2).stderr
