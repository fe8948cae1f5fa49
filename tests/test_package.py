"""What is public, that it is documented, and that nothing heavy is loaded before it is used."""

import importlib
import inspect
import os
import re
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import onlinear

ROOT = Path(__file__).parents[1]

PUBLIC = {
    "onlinear": """AutoClassifier BatchPerceptronClassifier BatchRun Comparison Convergence Curve Evaluation
        ExpertsClassifier MarginPerceptronClassifier OnlineClassifier PerceptronClassifier Potentials
        Progress Run State Trace WinnowClassifier __version__ batch_perceptron best_comparator certify
        compare converge datasets errors estimators experiments load max_margin open_stream plot report
        rules run separability streams theory train verify_lemmas""",
    "onlinear.estimators": """AutoClassifier BatchPerceptronClassifier ExpertsClassifier MarginPerceptronClassifier
        OnlineClassifier PerceptronClassifier WinnowClassifier""",
    "onlinear.streams": "Chunk Reading Stream convert open_stream",
    "onlinear.rules": """AROW AdaGrad AveragedPerceptron FTRL FixedShare Majority MarginPerceptron Member
        NormalizedAdaGrad OnlineGradient PassiveAggressive Perceptron RandomizedWeightedMajority Rule SCW TOO_LARGE
        WeightedMajority Winnow add add_rooted add_scaled add_squares dot dot_squares index rule shrink size
        squared_norm trial uniform value weight""",
    "onlinear.river": """AutoClassifier MarginPerceptronClassifier OnlineClassifier PerceptronClassifier
        WinnowClassifier""",
    "onlinear.datasets": "Dataset disjunction drift experts noisy r_of_k separable xor",
    "onlinear.theory": """Broken Certificate ClassPairs Comparator Examples Inseparable LemmaReport Limits Margin
        MarginInterval OrderCheck Separable Step Undecided best_comparator bounds certify distances hinge_loss margin
        max_margin order_check radius rescale separability strip_width verify_lemmas""",
    "onlinear.plot": "boundary bounds compare confusion draw margin mistakes potentials regret weights",
    "onlinear.pictures": "Axis Layer Picture",
    "onlinear.experiments": """EXPERIMENTS Experiment Reproduction batch convergence experts figure1 figure2 margin
        noise order rules""",
    "onlinear.report": "Page report summarise",
    "onlinear.theory.bounds": """Bound additive_adversary anytime backward batch_constant batch_schedule duality
        fixed_share greedy_disjunction growth halving hinge margin_perceptron mistake_lemma multiclass
        multiclass_backward normalized_margin_perceptron p_norm passive_aggressive perceptron
        randomized_weighted_majority risk vc_dimension warm_start weighted_majority winnow""",
}


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()


def test_public_names():
    for name, names in PUBLIC.items():
        assert sorted(importlib.import_module(name).__all__) == sorted(names.split())
    assert set(dir(onlinear)) == set(onlinear.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'learn'"):
        onlinear.learn  # noqa: B018


def test_every_public_name_is_documented():
    modules = map(importlib.import_module, PUBLIC)
    things = [getattr(module, name) for module in modules for name in module.__all__]
    rule_methods = {"start", "score", "update", "predict", "for_width", "check", "accepts"}
    members = [
        member
        for thing in things
        if inspect.isclass(thing)
        for name, member in vars(thing).items()
        if isinstance(member, property) or inspect.isfunction(member)
        if not name.startswith("_") and name not in rule_methods
    ]
    for thing in [*things, *members]:
        assert isinstance(thing, str) or inspect.getdoc(thing), thing


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import onlinear", {"numpy", "scipy", "numba", "sklearn"}),
        ("import onlinear; onlinear.PerceptronClassifier()", {"numba", "river"}),
        ("import onlinear.rules, onlinear.datasets; onlinear.rules.Perceptron()", {"scipy", "numba"}),
        ("import onlinear; onlinear.run", {"scipy", "numba"}),
        ("import onlinear; onlinear.max_margin, onlinear.theory.bounds", {"scipy", "numba", "clarabel"}),
        (
            "import onlinear; onlinear.run(onlinear.rules.Perceptron(), [[1.0], [2.0]], [0, 1])",
            {"scipy.sparse", "scipy.stats", "sklearn", "pandas"},
        ),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code, absent):
    loaded = set(python(f"import sys; {code}; print(*sys.modules)"))
    assert not absent & loaded


@pytest.mark.slow
def test_the_tour_shows_an_experiment_a_run_and_a_report(tmp_path):
    shown = subprocess.run(
        [sys.executable, "-m", "onlinear.cli.tour", tmp_path], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    rows = [line.split() for line in shown.splitlines() if line.startswith("disjunction of 20")]
    assert [row[3:5] for row in rows] == [[N, rule] for N in ("200", "400", "800") for rule in ("Winnow", "Perceptron")]
    assert "\nFinding: On disjunctions of 20 variables" in shown
    mistakes = re.search(r"^  mistakes +(\d+) ", shown, re.MULTILINE)[1]
    assert f"written to {tmp_path / 'report.html'}" in shown
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"{mistakes} mistakes in 569 rounds" in page
    command = re.search(r"^\$ onlinear (report .*)$", shown, re.MULTILINE)[1].split()
    subprocess.run([sys.executable, "-m", "onlinear", *command], check=True, timeout=120)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page


def test_the_reference_is_up_to_date():
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == build["reference"](), "run `make docs`"


def test_the_pictures_are_up_to_date():
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    files = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "pictures").glob("*.svg")}
    assert set(files) == set(build["PICTURES"])
    for name, make in build["PICTURES"].items():
        assert files[name] == build["svg"](make()), "run `make docs`"


@pytest.mark.slow
def test_the_wheel_is_whole(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        capture_output=True,
        check=True,
        timeout=120,
        env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"},
    )
    (wheel,) = tmp_path.glob("onlinear-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert sources | {"onlinear/py.typed"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests", "benchmarks")) for name in names)


def test_no_index_or_host_in_the_constraints():
    for line in (ROOT / "constraints.txt").read_text().split():
        name, _, version = line.partition("==")
        assert name, line
        assert version, line
        assert "/" not in line, line
