"""Baselines and the order check in runs: however examples arrive, in files, and in what is printed."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onlinear
from command_line import lines_of, run
from onlinear.errors import ModelError, ParameterError
from onlinear.models.header import labels_of
from onlinear.rules import Perceptron, Winnow
from onlinear.runs.baselines import Baselines

SORTED = np.repeat([-1, 1], [150, 50])


def labels_in(run):
    return [part.tolist() for part in run.state.labels]


def examples(seed, n, classes):
    rng = np.random.default_rng(seed)
    return rng.integers(-4, 5, (n, 3)) / 4.0, rng.integers(0, classes, n)


def libsvm(path, y):
    path.write_text("".join(f"{label:+d} 1:{i % 7} 2:1\n" for i, label in enumerate(y)))
    return path


@given(st.integers(0, 99), st.integers(5, 200), st.sampled_from([2, 3, 70]), st.integers(1, 99), st.data())
def test_blocks_and_resuming_change_nothing(seed, n, classes, size, data):
    X, y = examples(seed, n, classes)
    whole = onlinear.run(Perceptron(), X, y, classes=range(classes))
    blocks = [(X[i : i + size], y[i : i + size]) for i in range(0, n, size)]
    assert labels_in(onlinear.run(Perceptron(), blocks, classes=range(classes))) == labels_in(whole)
    cut = data.draw(st.integers(1, n - 1))
    first = onlinear.run(Perceptron(), X[:cut], y[:cut], classes=range(classes))
    kept = labels_in(first)
    assert labels_in(onlinear.run(Perceptron(), X[cut:], y[cut:], state=first)) == labels_in(whole)
    assert labels_in(first) == kept
    assert whole.baselines.mistakes == whole.mistakes
    assert whole.baselines.rounds == n
    assert (whole.order is None) == (classes > 64)


def test_only_the_first_pass_counts(tmp_path):
    stream = onlinear.open_stream(libsvm(tmp_path / "data.svm", SORTED))
    once, thrice = (onlinear.train(Perceptron(), stream, passes=passes) for passes in (1, 3))
    assert labels_in(once) == labels_in(thrice)
    assert once.baselines == Baselines(200, once.mistakes, 50, 1)
    assert f"in the first pass; the rule {once.mistakes:,} (" in repr(thrice)
    assert "in the first pass" not in repr(once)
    several = onlinear.compare([Perceptron(), Perceptron("negative")], stream, passes=2)
    assert labels_in(several[0]) == labels_in(once)


def test_what_a_shuffle_does_is_seen(tmp_path):
    stream = onlinear.open_stream(libsvm(tmp_path / "data.svm", SORTED))
    assert onlinear.train(Perceptron(), stream).order.noticed == 200
    assert onlinear.train(Perceptron(), stream, shuffle=200).order.noticed is None
    assert onlinear.train(Perceptron(), stream, shuffle=2).order.noticed == 200


class PowerCutError(Exception):
    """Ends training in the middle."""


@pytest.mark.parametrize("rounds", [1, 60, 150, 210, 390])
def test_checkpoints_continue_the_record(tmp_path, rounds):
    def report(progress):
        if progress.rounds >= rounds:
            raise PowerCutError

    X = np.arange(200.0)[:, None] % 7
    stream = onlinear.open_stream([(X[i : i + 16], SORTED[i : i + 16]) for i in range(0, 200, 16)], classes=(-1, 1))
    whole = onlinear.train(Perceptron(), stream, passes=2)
    options = {"passes": 2, "checkpoint": tmp_path / "kept", "every": 0}
    with pytest.raises(PowerCutError):
        onlinear.train(Perceptron(), stream, progress=report, **options)
    assert labels_in(onlinear.train(Perceptron(), stream, **options)) == labels_in(whole)


def test_what_a_summary_says():
    X = np.ones((200, 1))
    y = np.resize([1, 1, 0, 1, 1], 200)
    bad = onlinear.run(Perceptron(), X, y)
    assert bad.mistakes > bad.baselines.majority
    remark = "Worse than the most frequent label so far: try"
    assert f"{remark} an intercept or" in repr(bad)
    assert "Columns of very different size" in repr(bad)
    assert "Worse than repeating the last label" not in repr(bad)
    same = onlinear.run(Perceptron(), np.random.default_rng(0).permutation(y)[:, None] * 0.0, y, fit_intercept=True)
    assert f"{remark} another rule." in repr(same)
    assert "order" not in repr(onlinear.run(Perceptron(), X, np.random.default_rng(0).permutation(y)))
    hidden = onlinear.run(Perceptron(), X, SORTED)
    assert hidden.mistakes == 3
    assert "majority so far 50 (25.00%), last label 1 (0.50%)" in repr(hidden)
    assert "Worse than repeating the last label" in repr(hidden)
    assert "Worse than the most" not in repr(hidden)
    assert "The labels are not in random order (noticed at round 200)." in repr(hidden)


def test_a_comparison_names_the_rules_that_are_worse():
    X, y = np.ones((200, 1)), np.resize([1, 1, 0, 1, 1], 200)
    notes = onlinear.compare([Perceptron(), Perceptron("positive")], X, y).notes()
    assert "worse than the most frequent label so far: Perceptron(tie='positive'), Perceptron(tie='mistake')" in notes
    assert not any("repeating" in note for note in notes)
    both = onlinear.compare([Perceptron(), Winnow()], X, SORTED)
    assert [run.baselines.last_label_is_best for run in both] == [True, False]
    assert "worse than repeating the last label: Perceptron(tie='mistake')" in both.notes()


def test_halting_loops_have_no_baselines():
    done = onlinear.converge(Perceptron(), [[1.0], [-1.0]], [1, 0])
    assert done.baselines is None
    assert done.order is None
    assert "baselines" not in repr(done)


def test_a_model_file_keeps_the_record(tmp_path):
    X, y = examples(1, 100, 3)
    for classes in (range(3), range(70)):
        made = onlinear.run(Perceptron(), X, y, classes=classes)
        made.save(tmp_path / "model")
        loaded = onlinear.load(tmp_path / "model")
        assert labels_in(loaded) == labels_in(made)
        assert repr(loaded) == repr(made)
        loaded.save(tmp_path / "again")
        assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()


GOOD = {
    "counts": [3, 2],
    "pairs": [[2, 1], [1, 1]],
    "majority": 2,
    "last_label": 2,
    "mistakes": 4,
    "latest": 1,
    "noticed": 0,
    "checked": [0, 0],
    "past": 0.0,
}


@pytest.mark.parametrize(
    "changed",
    [
        None,
        [],
        {"counts": [3, 3]},
        {"counts": [3]},
        {"counts": [3, True]},
        {"counts": [3.0, 2]},
        {"counts": "32"},
        {"counts": [10**400, 2]},
        {"counts": [0, 0], "pairs": [[0, 0], [0, 0]], "majority": 0, "last_label": 0, "mistakes": 0, "latest": 0},
        {"pairs": [[2, 1], [1, 2]]},
        {"pairs": [[2, 1]]},
        {"pairs": [[2, 1], [1]]},
        {"pairs": [[3, 0], [0, 2]]},
        {"pairs": [[2, 1], 7]},
        {"pairs": None},
        {"pairs": {}},
        {"majority": -1},
        {"majority": 6},
        {"last_label": 3},
        {"mistakes": 5},
        {"mistakes": None},
        {"latest": 2},
        {"latest": True},
        {"noticed": 6},
        {"checked": [4, 0]},
        {"checked": [0]},
        {"past": 1.0},
        {"past": 0},
        {"more": 1},
    ],
    ids=repr,
)
def test_crafted_records_are_refused(changed):
    header = {"rounds": 8, "mistakes_negative": 2, "mistakes_positive": 2, "labels": json.loads(json.dumps(GOOD))}
    assert labels_of(header).counts.tolist() == [3, 2]
    header["labels"] = changed if not isinstance(changed, dict) else {**GOOD, **changed}
    with pytest.raises(ModelError, match=r"^labels"):
        labels_of(header)


def test_a_record_that_could_not_be_loaded_is_not_saved(tmp_path):
    made = onlinear.run(Perceptron(), [[1.0], [-1.0]], [1, 0])
    wrong = dataclasses.replace(
        made, state=dataclasses.replace(made.state, rounds=1, updates=0, mistakes_by_class=(0, 1))
    )
    with pytest.raises(ParameterError, match="cannot save: labels: counts has 2 labels, but there were 1 rounds"):
        wrong.save(tmp_path / "model")


def test_the_command_line_says_once_where_the_order_was_noticed(tmp_path):
    path = libsvm(tmp_path / "data.svm", np.repeat([-1, 1, -1], [100, 30, 300]))
    result = run("train", path, "--passes", 2)
    (notice,) = [line for line in result.stderr.splitlines() if "order" in line]
    assert notice.startswith(f"{path}:128: the labels up to here are not in random order. ")
    assert "shuffle all examples (--shuffle N, with N at least their number)" in notice
    assert "(noticed at round 128)" in result.stdout
    assert "(--shuffle 430 or more)" in result.stdout
    assert "window" not in result.stdout
    quiet = run("train", path, "--quiet")
    assert quiet.stderr == ""
    shuffled = run("train", path, "--shuffle", 2, "-o", tmp_path / "model")
    too_small = "The window of --shuffle 2 was too small for 430 examples."
    assert too_small in shuffled.stdout
    assert too_small in run("compare", path, "--rules", "perceptron", "--shuffle", 2).stderr
    assert "(onlinear train --shuffle 430 or more)" in run("inspect", tmp_path / "model").stdout
    assert "round 128: the labels up to here" in shuffled.stderr
    assert "order" not in run("train", path, "--shuffle", 1000).stderr


def test_json_has_the_numbers(tmp_path):
    path = libsvm(tmp_path / "data.svm", np.repeat([-1, 1, -1], [100, 30, 300]))
    *_, end = events = lines_of("train", path)
    assert [event for event in events if event["event"] == "order"] == [
        {"event": "order", "place": f"{path}:128", "rounds": 128}
    ]
    assert end["baselines"] == {"rounds": 430, "mistakes": end["mistakes"], "majority": 30, "last_label": 2}
    assert end["order"]["noticed"] == 128
    assert end["order"]["log_evidence"] > 7


@pytest.mark.parametrize(
    ("mistakes", "majority", "last_label", "found"),
    [(5, 6, 4, (False, True)), (5, 3, 4, (True, False)), (5, 4, 3, (True, True)), (5, 5, 5, (False, False))],
)
def test_which_baseline_is_better(mistakes, majority, last_label, found):
    baselines = Baselines(10, mistakes, majority, last_label)
    assert (baselines.majority_is_better, baselines.last_label_is_best) == found
