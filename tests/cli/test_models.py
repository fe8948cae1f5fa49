"""`predict`, `inspect`, `certify` and `convert`."""

import json

import numpy as np
import pytest
import scipy.sparse

import onlinear
from command_line import lines_of, process, run
from onlinear.rules import Perceptron, RandomizedWeightedMajority


def matrix(path):
    return scipy.sparse.vstack([X for X, _ in onlinear.open_stream(path)]).tocsr()


def test_predictions_alone_are_on_stdout(examples):
    run("train", "real.svm", "-o", "model")
    model, X = onlinear.load("model"), matrix("real.svm")
    result = run("predict", "model", "real.svm")
    assert result.stdout.split() == [str(label) for label in model.predict(X)]
    assert result.stderr == ""
    scored = [line.split("\t") for line in run("predict", "model", "real.svm", "--scores").stdout.splitlines()]
    assert [float(score) for _, score in scored] == model.decision_function(X).tolist()
    objects = lines_of("predict", "model", "real.svm", "--scores")
    assert [(str(one["prediction"]), one["score"]) for one in objects] == [(a, float(b)) for a, b in scored]


def test_labels_need_not_be_there(examples):
    run("train", "mail.csv", "--label", "spam", "--text", "subject", "-o", "model")
    assert run("predict", "model", "new.csv").stdout.split() == ["yes", "no"]
    (examples / "bare.svm").write_text("1:1 3:-1\n")
    run("train", "real.svm", "-o", "model")
    assert run("predict", "model", "bare.svm").stdout.strip() in {"-1", "1"}


def test_features_that_the_model_has_not_seen_change_nothing(examples):
    run("train", "--rule", "perceptron", "real.svm", "-o", "model")
    lines = (examples / "real.svm").read_text().splitlines()
    (examples / "wide.svm").write_text("".join(f"{line} 5000:3\n" for line in lines))
    usual = run("predict", "model", "real.svm", "--scores").stdout
    assert run("predict", "model", "wide.svm", "--scores").stdout == usual
    run("train", "real.svm", "-o", "model")  # some members of the majority learn from x/‖x‖
    assert "these features have an effect on the norm alone" in run("predict", "model", "wide.svm").stderr


def test_data_with_other_features_are_refused(examples):
    run("train", "real.svm", "-o", "numbered")
    run("train", "mail.csv", "--label", "spam", "-o", "named")
    run("convert", "mail.csv", "--label", "spam", "--drop", "length", "-o", "other.arrow")
    for model, data in (("numbered", "mail.csv"), ("named", "real.svm"), ("named", "other.arrow")):
        failed = run("predict", model, data, code=1)
        assert "are not those of the model" in failed.stderr
        assert failed.stdout == ""


def test_blocks_do_not_show_in_what_a_rule_draws(examples):
    run("train", "advice.svm", "--rule", "randomized-weighted-majority(eta=0.1, seed=3)", "-o", "model")
    lines = (examples / "advice.svm").read_text().splitlines(keepends=True)
    for k in range(4):
        (examples / f"part{k}.svm").write_text("".join(lines[25 * k : 25 * k + 25]))
    expected = onlinear.load("model").predict(matrix("advice.svm"))
    parts = run("predict", "model", *(f"part{k}.svm" for k in range(4))).stdout.split()
    assert parts == [str(label) for label in expected]
    assert onlinear.load("model").rule == RandomizedWeightedMajority(0.1, 3)


def test_a_bad_value_has_its_place(examples):
    run("train", "binary.svm", "--rule", "winnow", "-o", "model")
    (examples / "part.svm").write_text("1:1 2:1\n1:1 2:0.5\n")
    failed = run("predict", "model", "first.svm", "part.svm", code=1)
    assert failed.stderr.startswith("onlinear: error: first.svm:1, index 1: value ")
    failed = run("predict", "model", "part.svm", code=1)
    assert failed.stderr == "onlinear: error: part.svm:2, index 2: value 0.5; inputs must be 0 or 1\n"


def test_inspect_names_the_largest_weights(examples):
    run(
        "train",
        "--rule",
        "perceptron",
        "mail.csv",
        "--label",
        "spam",
        "--text",
        "subject",
        "--intercept",
        "-o",
        "model",
    )
    shown = run("inspect", "model", "--top", 3).stdout
    facts, _, table = shown.partition("\n\n")
    assert "options    intercept" in facts
    assert "reading    label='spam', text=['subject']" in facts
    model = onlinear.load("model")
    rows = [line.split() for line in table.splitlines()]
    assert rows[0] == ["feature", "weight"]
    order = np.argsort(-np.abs(model.weights), kind="stable")[:3]
    assert rows[1:] == [[model.state.names[k], f"{model.weights[k]:.6g}"] for k in order]
    (about,) = lines_of("inspect", "model", "--top", 1)
    assert about["top"] == [{"feature": rows[1][0], "index": int(order[0]), "weight": model.weights[order[0]]}]
    assert about["sha256"] in facts
    assert about["fingerprint"] in facts
    assert about["classes"]["labels"] == ["no", "yes"]


def test_inspect_counts_the_mistakes_of_experts(examples):
    run("train", "advice.svm", "--rule", "weighted-majority", "-o", "model")
    made = onlinear.load("model").expert_mistakes
    shown = run("inspect", "model", "--top", 2).stdout
    assert f"best expert  number {made.argmin()}, {made.min()} mistakes" in shown
    rows = [line.split()[:2] for line in shown.partition("\n\n")[2].splitlines()]
    assert rows == [["expert", "mistakes"], *([str(k), str(made[k])] for k in np.argsort(made, kind="stable")[:2])]


def test_certify_says_what_separates_the_data(examples):
    result = run("certify", "real.svm")
    assert result.stderr == "labels: -1 → negative, 1 → positive\n"
    assert result.stdout.startswith("Separable\n")
    assert "Largest margin, through the origin" in result.stdout
    start, found = lines_of("certify", "real.svm", "--intercept")
    assert start == {"event": "start", "labels": [-1, 1], "columns": None}
    assert found["verdict"] == {"verdict": "separable"}
    margin = onlinear.max_margin(onlinear.open_stream("real.svm"), fit_intercept=True)
    assert (found["margin"]["lower"], found["margin"]["upper"]) == (margin.lower, margin.upper)
    assert found["margin"]["augmented"]["difficulty"] == margin.augmented.difficulty
    (found,) = lines_of("certify", "real.svm", "--intercept", "--normalize", "-q")
    assert found["verdict"] is None


def test_certify_names_the_lines_that_contradict_each_other(examples):
    (examples / "both.svm").write_text("-1 1:1\n1 2:1\n1 1:2 2:5\n# nothing\n1 1:1\n")
    shown = run("certify", "both.svm").stdout
    assert shown.splitlines()[2:] == [
        "  both.svm:1  share 1/2, labelled -1",
        "  both.svm:5  share 1/2, labelled 1",
    ]
    (found,) = lines_of("certify", "both.svm", "-q")
    assert found["margin"] is None
    assert [row["place"] for row in found["verdict"]["rows"]] == ["both.svm:1", "both.svm:5"]
    assert found["verdict"]["because"].endswith("both.svm:1 (-1) and both.svm:5 (1).")
    run("train", "--rule", "perceptron", "both.svm", "-o", "model", "-q")
    for command in (
        ["train", "--rule", "perceptron", "both.svm", "--certify"],
        ["certify", "both.svm", "--model", "model"],
    ):
        assert "no: both.svm:1, both.svm:5 cancel exactly" in run(*command).stdout


def test_certify_names_the_line_of_zeros(examples):
    text = "-1 1:1\n# nothing\n1\n1 2:1\n"
    (examples / "zeros.svm").write_text(text)
    assert run("certify", "zeros.svm").stdout.splitlines()[2:] == ["  zeros.svm:3  share 1, labelled 1"]
    assert "no: zeros.svm:3 is all zeros" in run("train", "--rule", "perceptron", "zeros.svm", "--certify").stdout
    assert "  <stdin>:3  share 1, labelled 1\n" in process("certify", input=text).stdout


def test_certify_says_where_there_is_an_intercept(examples):
    shown = run("certify", "real.svm", "--intercept").stdout
    assert "weights and an intercept (floats) with y(⟨w,x⟩ + c) > 0" in shown
    assert "% of the upper end" in shown
    assert "intercept" not in run("certify", "real.svm").stdout


def test_the_certificate_of_a_run(examples):
    run("train", "real.svm", "-o", "model", "--passes", 2)
    result = run("certify", "--model", "model", "real.svm", "-o", "proof.json")
    assert result.stderr == "labels: -1 → negative, 1 → positive\n"
    certificate = onlinear.theory.Certificate.from_json((examples / "proof.json").read_text())
    assert result.stdout == f"{certificate!r}\n"
    certificate.verify(onlinear.open_stream("real.svm"))
    start, end = lines_of("certify", "--model", "model", "real.svm")
    assert start == {"event": "start", "labels": [-1, 1], "columns": None}
    assert end["certificate"] == json.loads(certificate.to_json())
    wrong = run("certify", "--model", "model", "first.svm", code=1)
    assert "not the examples of the run" in wrong.stderr
    assert "--model" in run("certify", "real.svm", "-o", "proof.json", code=2).stderr


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_converted_data_give_the_same_run(examples, ending):
    for data, options in (("real.svm", []), ("mail.csv", ["--label", "spam", "--text", "subject"])):
        result = run("convert", data, *options, "-o", f"packed.{ending}")
        assert result.stdout.startswith(f"Converted to packed.{ending}\n  examples  {300 if not options else 5}\n")
        packed = onlinear.run(Perceptron(), onlinear.open_stream(f"packed.{ending}"))
        run("train", "--rule", "perceptron", data, *options, "-o", "model")
        run("train", "--rule", "perceptron", f"packed.{ending}", "-o", "again")
        model, again = onlinear.load("model"), onlinear.load("again")
        assert np.array_equal(model.weights, packed.weights)
        assert model.state.names == again.state.names
        assert model.state.checksum == again.state.checksum
    start, about = lines_of("convert", "real.svm", "-o", f"packed.{ending}")
    assert start == {"event": "start", "labels": [-1, 1], "columns": None}
    assert (about["examples"], about["labels"], about["skipped"]) == (300, [-1, 1], 0)


BAD = "1 1:1\n0 2:1\n1 2:x\n1 1:2\n-1 1:3\n"


@pytest.mark.parametrize("contradiction", ["", "0 1:2\n"])
def test_certify_says_what_was_skipped(examples, contradiction):
    (examples / "bad.svm").write_text(BAD.replace("\n", f"\n{contradiction}", 1))
    skip = ("bad.svm", "--on-error", "skip")
    two = (*skip, "--classes", "0,1")
    result = run("certify", *two, "--quarantine", "aside")
    assert result.stderr.splitlines()[-1] == "skipped 2 lines, in aside"
    assert (examples / "aside").read_text().splitlines()[1::2] == ["1 2:x", "-1 1:3"]
    (end,) = lines_of("certify", *two, "-q")
    assert (end["skipped"], end["quarantine"]) == (2, "onlinear.quarantine")
    assert (examples / "onlinear.quarantine").read_bytes() == (examples / "aside").read_bytes()
    run("train", *two, "-o", "model")
    result = run("certify", "--model", "model", *skip, "-o", "proof.json", "-q")
    assert result.stderr == "skipped 2 lines, in proof.json.quarantine\n"
    assert (examples / "proof.json.quarantine").read_bytes() == (examples / "aside").read_bytes()
    (end,) = lines_of("certify", "--model", "model", *skip, "-q")
    assert (end["skipped"], end["quarantine"]) == (2, "onlinear.quarantine")


def test_control_characters_do_nothing(examples):
    (examples / "odd.csv").write_text('y,"a\nb",c\n"x\ty",1,0\n"\x1b[31mz",0,1\n')
    run("train", "--rule", "perceptron", "odd.csv", "--label", "y", "-o", "model")
    assert sorted(run("predict", "model", "odd.csv").stdout.splitlines()) == ["\\x1b[31mz", "x\\ty"]
    rows = [line.split("\t") for line in run("predict", "model", "odd.csv", "--scores").stdout.splitlines()]
    assert [len(row) for row in rows] == [2, 2]
    shown = run("inspect", "model").stdout
    assert sorted(line.split()[0] for line in shown.partition("\n\n")[2].splitlines()) == ["a\\nb", "c", "feature"]
    assert "\x1b" not in shown
    assert lines_of("predict", "model", "odd.csv")[0]["prediction"] in {"x\ty", "\x1b[31mz"}


def test_inspect_keeps_to_80_columns(examples):
    columns = [f"a_column_{k}" for k in range(30)]
    (examples / "wide.csv").write_text(
        ",".join(["y", *columns]) + "\n" + "".join(f"{y}" + f",{y}" * 30 + "\n" for y in (0, 1))
    )
    run("train", "wide.csv", "--label", "y", "--drop", ",".join(columns[:25]), "-o", "model")
    facts = run("inspect", "model").stdout.partition("\n\n")[0]
    assert max(map(len, facts.splitlines())) <= 80
    assert all(f"'{name}'" in facts for name in columns[:25])


@pytest.mark.parametrize("name", ["empty", "empty.svm", "empty.csv"])
def test_of_no_data_there_are_no_predictions(examples, name):
    run("train", "real.svm", "-o", "model")
    (examples / name).write_text("")
    result = run("predict", "model", name)
    assert (result.stdout, result.stderr) == ("", "")


def test_of_an_empty_pipe_there_are_no_predictions(examples):
    run("train", "real.svm", "-o", "model")
    piped = process("predict", "model", input="")
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, "", "")
    (examples / "empty").write_text("")
    assert run("predict", "model", "empty", "real.svm", code=1).stdout == ""
