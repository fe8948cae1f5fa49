"""What pictures leave out and say instead, and where their axes end."""

import numpy as np
import pytest

import onlinear
from onlinear import Potentials, rules
from onlinear.errors import ParameterError
from onlinear.pictures.boundary import boundary_picture
from onlinear.pictures.compare import compare_picture
from onlinear.pictures.confusion import confusion_picture
from onlinear.pictures.margin import margin_picture
from onlinear.pictures.mistakes import mistakes_picture, settled_top
from onlinear.pictures.natural import natural_picture
from onlinear.pictures.picture import Layer
from onlinear.pictures.plane import Box
from onlinear.pictures.potentials import potentials_picture
from onlinear.pictures.regret import regret_picture
from onlinear.pictures.weights import weights_picture
from onlinear.pictures.wording import label_name, limit_words, rounded, rule_name
from onlinear.theory import Separable, bounds


def layers_of(picture):
    return {layer.name: layer for layer in picture.layers if layer.name}


@pytest.fixture(scope="module")
def noisy():
    return onlinear.datasets.noisy(n=300, d=5, flip=0.2, seed=1)


# --- Words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "name"),
    [("spam", "spam"), ("", "''"), (" a", "' a'"), ("1", "'1'"), ("-1", "'-1'"), (1.0, "1"), (-1, "-1"), (0.5, "0.5")],
)
def test_labels_are_told_apart(label, name):
    assert label_name(label) == name


def test_numbers_in_notes():
    assert [rounded(value) for value in (-2.0, 0.12345, 1234.5, 3.0)] == ["−2", "0.123", "1,234", "3"]
    assert [limit_words(value) for value in (0.5, 97.8758121, 1000.2)] == ["0.5", "97.8759", "1,001"]
    assert rule_name(rules.Majority()) == "Majority"
    assert rule_name(rules.AROW(r=0.5)) == "AROW(r=0.5)"


# --- Ends of axes -----------------------------------------------------------------------------------


def test_the_first_rounds_do_not_decide_where_an_axis_ends():
    spike = Layer.of("", np.arange(101.0), np.r_[9.0, 9.0, np.full(99, 0.2)])
    assert settled_top([spike]) == pytest.approx(1.05 * 0.2)
    assert settled_top([spike, Layer.of("", [0.0, 100.0], [0.0, 0.4])], [0.3]) == pytest.approx(1.05 * 0.4)
    later = Layer.of("", 1000.0 + spike.x, spike.y)
    assert settled_top([later]) == pytest.approx(1.05 * 0.2)
    assert settled_top([spike], [0.5]) == pytest.approx(1.05 * 0.5)
    assert settled_top([Layer.of("", [], [])]) > 0.0


def test_axes_hold_what_is_measured(noisy):
    X, y = noisy
    separable = onlinear.datasets.separable(0.1, 100, 4, seed=1)
    traced = onlinear.run(rules.Perceptron(), X, y, trace=Potentials(weights=True))
    pictures = [
        mistakes_picture(traced),
        compare_picture(onlinear.compare([rules.Perceptron(), rules.AROW()], X, y, trace=True), rate=False),
        potentials_picture(traced),
        margin_picture(traced, X, y),
        margin_picture(onlinear.max_margin(*separable)),
        boundary_picture(None, X, y),
    ]
    for picture in pictures:
        for axis, name in ((picture.x, "x"), (picture.y, "y")):
            for layer in picture.layers:
                values = getattr(layer, name)
                values = values[np.isfinite(values)]
                assert axis.low is None or (values >= axis.low).all(), (picture.title, layer.name)
                assert axis.high is None or (values <= axis.high).all(), (picture.title, layer.name)
                # Nor is it lost in empty space.
                if layer.role == "series" and axis.high is not None and values.size > 1 and name == "x":
                    assert values.max() >= 0.8 * axis.high
    assert all(picture.y.low == 0.0 for picture in (pictures[0], pictures[1], pictures[4]))
    assert (pictures[1].y.label, pictures[1].y.percent) == ("mistakes", False)


@pytest.mark.parametrize("square", [False, True])
def test_a_box_is_around_its_points(square):
    points = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]])
    box = Box.around(points, square=square)
    assert (box.left, box.right) == pytest.approx((1 - 0.16, 3 + 0.16))
    edge = 0.16 if square else 0.08
    assert (box.bottom, box.top) == pytest.approx((5 - edge, 5 + edge))
    inside = [[edge.of(point) for edge in box.edges()] for point in points]
    assert (np.array(inside) > 0.0).all()
    corners = np.array([[box.left, box.bottom], [box.right, box.top]])
    assert sum(abs(edge.of(corners)).min() < 1e-12 for edge in box.edges()) == 4


# --- Compare ----------------------------------------------------------------------------------------


def test_few_rules_are_all_drawn_and_lengths_are_compared(noisy):
    X, y = noisy
    both = onlinear.compare([rules.Perceptron(), rules.AROW()], X, y, trace="curve")
    assert compare_picture(both).notes == ()
    assert len(compare_picture(both).layers) == 4
    short = onlinear.run(rules.FTRL(), X[:100], y[:100], trace=True)
    assert "The runs have seen different numbers of examples." in compare_picture([*both, short]).notes
    assert compare_picture([short, *both]).x.high == y.size
    bars = compare_picture(both, over_time=False)
    assert layers_of(bars)["mistakes while learning"].role == "series"
    assert layers_of(compare_picture(both.evaluate(X, y)))["mistakes while learning"].role == "baseline"
    with pytest.raises(ParameterError, match="no trace"):
        compare_picture(onlinear.compare([rules.AROW()], X, y), over_time=True)
    with pytest.raises(ParameterError, match="at least one Run"):
        compare_picture([])


def test_resumed_runs_are_compared_by_the_stretches_that_are_drawn(noisy):
    X, y = noisy
    resumed = []
    for rule in (rules.Perceptron(), rules.AROW()):
        first = onlinear.run(rule, X[:100], y[:100])
        resumed.append(onlinear.run(rule, X[100:], y[100:], state=first, trace="curve"))
    picture = compare_picture(resumed)
    drawn = [layer for layer in picture.layers if layer.role == "series"]
    for layer in drawn:
        assert layer.name.endswith(f"{layer.y[-1]:.2%}")
    assert drawn[0].y[-1] <= drawn[1].y[-1]
    assert (picture.x.low, picture.x.high) == (100, y.size)
    assert picture.notes == ("Counted from round 101 on, where these stretches began.",)


# --- Confusions -------------------------------------------------------------------------------------


def test_of_many_classes_those_with_the_most_errors_are_shown():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 2000)
    X = np.eye(40)[y] + (1.0 - y[:, None] / 40) * rng.normal(size=(2000, 40))
    run = onlinear.run(rules.Perceptron(), X, y)
    predicted = run.predict(X)
    errors = np.array([((y == r) != (predicted == r)).sum() for r in range(40)])
    picture = confusion_picture(run.evaluate(X, y))
    shown = [int(name) for name in picture.y.names]
    assert len(shown) == 30
    assert errors[shown].min() >= errors[[r for r in range(40) if r not in shown]].max()
    assert shown == sorted(shown)
    assert picture.layers[0].x.size == 900
    assert picture.notes == ("The 30 classes with the most errors, of 40.",)


def test_a_curve_has_numbers_for_classes(noisy):
    run = onlinear.run(rules.Perceptron(), *noisy, trace="curve")
    assert confusion_picture(run.trace).y.names == ("class 0", "class 1")
    assert confusion_picture(run).y.names == ("-1", "1")


def test_too_many_classes_have_no_matrix():
    n = 1100
    run = onlinear.run(rules.Perceptron(), np.ones((n, 1)), np.arange(n), classes=range(n))
    with pytest.raises(ParameterError, match=r"there are 1,100 classes, too many"):
        confusion_picture(run.evaluate(np.ones((n, 1)), np.arange(n)))


# --- Potentials and margins -------------------------------------------------------------------------


def test_batches_have_potentials_but_no_limits_of_single_updates():
    data = onlinear.datasets.separable(0.1, 60, 4, seed=1)
    run = onlinear.batch_perceptron(*data, trace=Potentials(data.comparator))
    picture = potentials_picture(run)
    assert set(layers_of(picture)) == {"‖w‖", "⟨w,u⟩/‖u‖"}
    assert picture.x.label == "steps"
    assert f"after {onlinear.display.counted(len(run.batch_sizes), 'step')}" in repr(run.trace)
    assert layers_of(picture)["‖w‖"].x[-1] == len(run.batch_sizes)
    with pytest.raises(ParameterError, match="margin_upper_bound"):
        margin_picture(run)


def test_updates_that_are_no_mistakes_are_said_beside_the_square():
    data = onlinear.datasets.separable(0.1, 60, 4, seed=1)
    run = onlinear.run(rules.MarginPerceptron(1.0), *data, trace=Potentials())
    assert potentials_picture(run, "squared_norm").notes == (
        "Some updates were not mistakes; ‖w‖ ≤ R√k holds for mistakes only.",
    )
    run = onlinear.run(rules.Perceptron(), *data, trace=Potentials())
    assert potentials_picture(run, "squared_norm").notes == ()


def test_an_interval_without_a_separator_does_not_claim_that_there_is_none():
    picture = margin_picture(onlinear.max_margin(*onlinear.datasets.xor(), fit_intercept=True))
    assert "there may be one" in picture.notes[0]
    interval = onlinear.max_margin(*onlinear.datasets.separable(0.1, 60, 4, seed=1))
    assert margin_picture(interval).notes[0].startswith("Proven: at least 0.1")


def test_a_wide_range_of_margins_has_a_logarithmic_axis():
    X, y = onlinear.datasets.separable(0.1, 60, 4, seed=1)
    short = onlinear.run(rules.Perceptron(), X[:5], y[:5], trace=Potentials())
    assert (margin_picture(short).x.log, margin_picture(short).y.log, margin_picture(short).y.low) == (
        False,
        False,
        0.0,
    )
    noisy = onlinear.datasets.noisy(0.1, 2000, 4, flip=0.3, seed=1)
    picture = margin_picture(onlinear.run(rules.Perceptron(), *noisy, trace=Potentials()))
    assert (picture.x.log, picture.y.log, picture.y.low) == (True, True, None)


def test_a_start_that_is_not_0_needs_the_weights_for_the_margin():
    data = onlinear.datasets.separable(0.1, 60, 4, seed=1)
    start = np.ones(4)
    run = onlinear.run(rules.Perceptron(), *data, start=start, trace=Potentials(weights=True))
    shown = layers_of(margin_picture(run))["margin bound from the weights (P6)"]
    assert shown.y[-1] == pytest.approx(run.margin_upper_bound)
    run = onlinear.run(rules.Perceptron(), *data, start=start, trace=Potentials())
    with pytest.raises(ParameterError, match="did not start from 0"):
        margin_picture(run)


# --- Experts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "theorem"),
    [
        (rules.WeightedMajority(0.3), lambda A, y: bounds.weighted_majority(A, y, 0.3)),
        (rules.FixedShare(0.4, 0.02), lambda A, y: bounds.fixed_share(A, y, 0.4, 0.02)),
        (rules.RandomizedWeightedMajority(0.2), lambda A, y: bounds.randomized_weighted_majority(A, y, 0.2)),
        (rules.RandomizedWeightedMajority("anytime"), bounds.anytime),
    ],
    # Not `repr`: that of a function has its address, which differs between processes.
    ids=["majority", "fixed share", "randomized", "anytime"],
)
def test_the_bound_on_the_regret_is_that_of_the_theorem(rule, theorem):
    A, y = onlinear.datasets.experts(6, 60, best=0.45, rest=0.5, seed=2)
    run = onlinear.run(rule, A, y, trace=Potentials())
    picture = regret_picture(run)
    expected = theorem(A, y).value - run.expert_mistakes.min()
    (bound,) = [layer for layer in picture.layers if layer.role == "bound"] or [None]
    if bound is None:
        assert f"a regret of at most {rounded(expected)} in the end" in picture.notes[0]
    else:
        assert bound.x[-1] == run.trace.updates[-1] + 1
        assert bound.y[-1] == pytest.approx(expected, abs=0.2)  # the last round may have had no update


def test_the_heaviest_experts_are_drawn_by_their_last_weight():
    A, y = onlinear.datasets.experts(9, 200, best=0.1, rest=0.4, seed=2)
    picture = regret_picture(onlinear.run(rules.WeightedMajority(0.1), A, y, trace=Potentials()), "weights")
    last = [layer.y[-1] for layer in picture.layers]
    assert len(last) == 5
    assert last == sorted(last, reverse=True)
    assert (picture.y.low, picture.y.high, picture.y.percent) == (0.0, 1.0, True)
    assert picture.notes == ("4 experts with less weight are not shown.",)


def test_experts_without_a_trace_are_bars():
    A, y = onlinear.datasets.experts(30, 100, best=0.1, rest=0.4, seed=2)
    run = onlinear.run(rules.WeightedMajority(), A, y)
    picture = regret_picture(run)
    assert picture.layers[1].x.tolist() == sorted(run.expert_mistakes.tolist())[:20]
    assert picture.notes == ("10 experts with more mistakes are not shown.",)
    shares = weights_picture(run, top=30).layers[0].x
    assert shares == pytest.approx(np.sort(run.weights / run.weights.sum())[::-1])


# --- Weights and boundaries -------------------------------------------------------------------------


def test_twenty_weights_are_shown_and_zeros_are_not():
    X = np.random.default_rng(0).normal(size=(50, 30))
    run = onlinear.run(rules.AROW(), X, np.where(X[:, 0] > 0, 1, -1))
    assert len(weights_picture(run).y.names) == 20
    assert weights_picture(run, top=30).notes == ("A weight depends on the unit of its feature.",)
    empty = onlinear.run(rules.Perceptron(), np.zeros((2, 3)), [1, -1])
    assert weights_picture(empty).notes[0] == "All weights are 0."


def test_huge_whole_numbers_make_a_line():
    huge = np.array([10**400, -(10**400)], dtype=object)
    verdict = Separable(huge, 5 * 10**399, fit_intercept=True, classes=(0, 1))
    X, y = np.array([[0.0, 2.0], [2.0, 0.0]]), [0, 1]
    line = layers_of(boundary_picture(verdict, X, y))["separator"]
    assert line.x - line.y + 0.5 == pytest.approx(0.0)


def test_columns_of_different_units_have_their_own_scales(noisy):
    X, y = np.array([[0.0, 0.0], [1.0, 900.0], [0.5, 100.0]]), [0, 1, 1]
    assert not boundary_picture(None, X, y).square
    assert boundary_picture(None, X * [1.0, 1e-3], y).square
    many = np.tile(X, (1000, 1))
    picture = boundary_picture(None, many, np.tile(y, 1000))
    assert sum(layer.x.size for layer in picture.layers) == 2000
    assert picture.notes == ("2,000 of the 3,000 examples are shown, at equal distances in their order.",)
    with pytest.raises(ParameterError, match="there is no column 2; they are 0 to 1"):
        boundary_picture(None, X, y, columns=(0, 2))
    with pytest.raises(ParameterError, match="at least two features"):
        boundary_picture(None, X[:, :1], y)


def test_a_line_outside_the_picture_is_said():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0]]), [0, 1]
    assert boundary_picture(([1.0, 1.0], -90.0), X, y).notes == ("The line is outside the picture.",)
    with_line = boundary_picture(([1.0, 1.0], -1.0), X, y)
    assert with_line.notes == ()
    assert (
        natural_picture(onlinear.datasets.Dataset(X, np.array([-1, 1]), np.ones(2), -1.0)).layers[2].name == "separator"
    )
