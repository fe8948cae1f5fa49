"""Models of more than two classes on the command line: they are made in Python, and predict and are looked at here."""

import numpy as np
import pytest

import onlinear
from command_line import lines_of, run

X = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0]])
LABELS = ["feature", "b", "c"]


@pytest.fixture
def model(tmp_path):
    done = onlinear.converge(onlinear.rules.Perceptron(), X, LABELS, classes=LABELS)
    done.save(tmp_path / "model")
    (tmp_path / "data.svm").write_text("0 1:2\n0 2:2\n0 1:-2 2:-2\n", encoding="utf-8")
    np.save(tmp_path / "data.npy", X)
    return tmp_path / "model"


@pytest.mark.parametrize("name", ["data.svm", "data.npy"])
def test_predict(model, tmp_path, name):
    scores = onlinear.load(model).decision_function(X).tolist()
    assert run("predict", model, tmp_path / name).stdout.splitlines() == LABELS
    shown = run("predict", model, tmp_path / name, "--scores").stdout.splitlines()
    assert shown == ["\t".join([label, *map(repr, row)]) for label, row in zip(LABELS, scores, strict=True)]
    assert lines_of("predict", model, tmp_path / name, "--scores") == [
        {"prediction": label, "score": row} for label, row in zip(LABELS, scores, strict=True)
    ]


def test_inspect(model):
    done = onlinear.load(model)
    shown = run("inspect", model).stdout
    assert "'feature', 'b', 'c'" in shown
    assert "; by class 'feature': " in shown
    [told] = lines_of("inspect", model)
    assert told["mistakes_by_class"] == list(done.mistakes_by_class)
    assert {one["feature"]: one["weights"] for one in told["top"]} == {
        j: dict(zip(LABELS, done.weights[:, j].tolist(), strict=True)) for j in range(2)
    }


def test_training_goes_on(tmp_path):
    table, more = tmp_path / "first.csv", tmp_path / "more.csv"
    rows = [(2, 0, "feature"), (0, 2, "b"), (-2, -2, "c"), (1, 0, "c"), (0, 1, "feature")]
    for path, part in ((table, rows[:3]), (more, rows[3:]), (tmp_path / "all.csv", rows)):
        path.write_text("x,z,class\n" + "".join(f"{a},{b},{c}\n" for a, b, c in part), encoding="utf-8")
    assert "labels: 3: 'b', 'c', 'feature'\n" in run("train", table, "-o", tmp_path / "first").stderr
    run("train", more, "--from", tmp_path / "first", "-o", tmp_path / "both")
    run("train", tmp_path / "all.csv", "-o", tmp_path / "once")
    assert (tmp_path / "both").read_bytes() == (tmp_path / "once").read_bytes()


@pytest.fixture
def three(tmp_path):
    """A file whose second and fifth line contradict each other; the first row is a comment."""
    path = tmp_path / "three.svm"
    path.write_text("# three classes\n1 1:1\n2 2:1\n3 1:-1 2:-1\n2 1:1\n", encoding="utf-8")
    return path


def test_certify_shows_pairs_of_an_example_and_a_wrong_class(three):
    title, because, *pairs = run("certify", three, "--intercept").stdout.splitlines()
    assert title == "Inseparable, with an intercept"
    assert "these 2 pairs of an example and a wrong class" in because
    assert because.endswith("Σ λ·(x, 1)⊗(e_y − e_r) = 0")
    assert pairs == [
        f"  {three}:2, of class 1, against class 2  share 1/2",
        f"  {three}:5, of class 2, against class 1  share 1/2",
    ]
    assert "Inseparable\n" in run("certify", three).stdout
    found = lines_of("certify", three)[-1]["verdict"]
    assert found["rows"] == [
        {"row": 0, "place": f"{three}:2", "label": 1, "against": 2, "share": 0.5},
        {"row": 3, "place": f"{three}:5", "label": 2, "against": 1, "share": 0.5},
    ]
    assert (
        f"no: pairs of classes on {three}:2, {three}:5 cancel exactly"
        in run("train", "--rule", "perceptron", three, "--certify").stdout
    )


def test_certify_finds_a_weight_vector_for_each_class(three, tmp_path):
    three.write_text("1 1:1\n2 2:1\n3 1:-1 2:-1\n", encoding="utf-8")
    shown = run("certify", three, "--intercept").stdout
    assert "a weight vector and an intercept for each of the 3 classes" in shown
    assert "Largest margin, of the right class over every other" in shown
    assert "(a combination of 6 pairs)" in shown
    assert "intercept" not in run("certify", three).stdout
    three.write_text("1 1:1\n2\n3 1:-1 2:-1\n", encoding="utf-8")
    because = run("certify", three).stdout.splitlines()[1]
    assert because.endswith("this example is all zeros: every weight vector scores it 0")


@pytest.mark.parametrize(("classes", "listed"), [(12, "; by class 0: "), (13, "%)\n")])
def test_mistakes_are_listed_with_their_classes_unless_these_are_many(classes, listed):
    done = onlinear.run(onlinear.rules.Perceptron(), np.eye(classes), range(classes))
    (mistakes,) = [line for line in f"{done!r}\n".splitlines(keepends=True) if line.startswith("  mistakes")]
    assert listed in mistakes
    assert "\u00a0" not in repr(done)
