"""What pictures say: their data against slow ways to compute them, and against the theorems."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import onlinear
from onlinear import Potentials, rules
from onlinear.errors import ParameterError
from onlinear.pictures import Picture
from onlinear.pictures.boundary import boundary_picture
from onlinear.pictures.bounds import bounds_picture
from onlinear.pictures.compare import compare_picture
from onlinear.pictures.confusion import confusion_picture
from onlinear.pictures.margin import margin_picture
from onlinear.pictures.mistakes import mistakes_picture
from onlinear.pictures.natural import natural_picture
from onlinear.pictures.plane import Box, Scores, zero_line
from onlinear.pictures.potentials import potentials_picture
from onlinear.pictures.regret import regret_picture
from onlinear.pictures.svg import svg
from onlinear.pictures.weights import weights_picture
from onlinear.theory import Separable, bounds


def layers_of(picture):
    return {layer.name: layer for layer in picture.layers if layer.name}


def starting(picture, words):
    (found,) = [layer for name, layer in layers_of(picture).items() if name.startswith(words)]
    return found


@pytest.fixture(scope="module")
def noisy():
    return onlinear.datasets.noisy(n=600, d=8, flip=0.2, seed=1)


@pytest.fixture(scope="module")
def separable():
    return onlinear.datasets.separable(margin=0.1, n=400, d=6, seed=3)


# --- Mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("trace", [True, "curve"])
def test_mistakes_are_those_of_a_plain_loop(noisy, trace):
    X, y = noisy
    run = onlinear.run(rules.Perceptron(), X, y, trace=trace)
    w, made, majority, latest = np.zeros(X.shape[1]), [0], [0], [0]
    seen, last = {-1: 0, 1: 0}, -1
    for x, label in zip(X, y, strict=True):
        wrong = label * (w @ x) <= 0
        made.append(made[-1] + wrong)
        majority.append(majority[-1] + (label != (1 if seen[1] > seen[-1] else -1)))
        latest.append(latest[-1] + (label != last))
        w = w + label * x if wrong else w
        seen[int(label)] += 1
        last = label
    shown = layers_of(mistakes_picture(run))
    for name, expected in (("Perceptron", made), ("majority so far", majority), ("last label", latest)):
        assert shown[name].x.tolist() == list(range(len(y) + 1))
        assert shown[name].y.tolist() == expected
    rates = layers_of(mistakes_picture(run, rate=True))["Perceptron"]
    assert np.allclose(rates.y, np.array(made[1:]) / np.arange(1, len(y) + 1))


def test_bounds_in_reach_are_levels_and_others_are_named_with_their_values(separable):
    X, y = separable
    run = onlinear.run(rules.Perceptron(), X, y, trace="curve")
    near, far = (bounds.Bound(value, f"Theorem ({value})") for value in (10.0 * run.mistakes, 10.1 * run.mistakes))
    other = bounds.Bound(1.0, "Another", of="updates")
    unknown = bounds.Bound(math.inf, "Unknown")
    picture = mistakes_picture(run, bounds=[near, far, other, unknown])
    (level,) = [layer for layer in picture.layers if layer.kind == "level"]
    assert level.y.tolist() == [near.value]
    assert picture.y.high >= near.value
    said = " ".join(picture.notes)
    assert f"{far.theorem} {far.value:g}" in said
    assert "Another bounds the updates" in said
    assert "Unknown: no limit is known" in said
    assert "majority so far" in said  # more than ten times the mistakes
    rate = mistakes_picture(run, bounds=[near], rate=True)
    assert np.allclose(layers_of(rate)[near.theorem].y, near.value / np.arange(1, 401))


def test_a_certificate_must_be_that_of_the_run(separable):
    X, y = separable
    run = onlinear.run(rules.Perceptron(), X, y, trace=True)
    certificate = onlinear.certify(run, X, y)
    assert starting(mistakes_picture(run, bounds=certificate), "Perceptron hinge bound (P5)").y[0] >= run.mistakes
    other = onlinear.run(rules.Perceptron(), X[:100], y[:100], trace=True)
    with pytest.raises(ParameterError, match=r"the certificate is for .* in 400 rounds; this run has .* in 100"):
        mistakes_picture(other, bounds=certificate)
    with pytest.raises(ParameterError, match='learn with trace="curve"'):
        mistakes_picture(onlinear.run(rules.Perceptron(), X, y))


def test_a_resumed_stretch_says_where_it_began(noisy):
    X, y = noisy
    first = onlinear.run(rules.Perceptron(), X[:200], y[:200])
    run = onlinear.run(rules.Perceptron(), X[200:], y[200:], state=first, trace=True)
    picture = mistakes_picture(run)
    assert picture.notes == ("Counted from round 201 on, where this stretch began.",)
    assert layers_of(picture)["Perceptron"].y[-1] == run.mistakes - first.mistakes
    assert picture.x.low == 200


def test_later_passes_are_said(noisy):
    said = "After round 600 come further passes: these examples had been learned from."
    run = onlinear.train(rules.Perceptron(), *noisy, passes=3, trace="curve")
    assert said in mistakes_picture(run).notes
    assert said in compare_picture([run]).notes
    once = onlinear.train(rules.Perceptron(), *noisy, trace="curve")
    assert said not in mistakes_picture(once).notes


def test_long_traces_are_thinned_and_end_where_they_end():
    y = np.tile([1, -1], 10_000)
    run = onlinear.run(rules.Perceptron(), np.ones((20_000, 1)), y, trace=True)
    line = layers_of(mistakes_picture(run))["Perceptron"]
    assert line.x.size <= 8193
    assert (line.x[-1], line.y[-1]) == (20_000, run.mistakes)


# --- Compare ----------------------------------------------------------------------------------------


def test_a_comparison_over_time_has_the_best_first(noisy):
    X, y = noisy
    comparison = onlinear.compare("all", X, y, trace="curve")
    picture = compare_picture(comparison)
    shown = [layer for layer in picture.layers if layer.role == "series"]
    order = sorted(comparison, key=lambda run: run.mistakes)
    expected = [*order[:4], order[-1]]
    assert [round(layer.y[-1] * 600) for layer in shown] == [run.mistakes for run in expected]
    assert shown[0].name.endswith(f"{expected[0].mistakes / 600:.2%}")
    assert sum(f"{type(run.rule).__name__}" in picture.notes[-1] for run in order[4:-1]) == len(order) - 5


def test_a_comparison_without_traces_is_bars_with_the_test_before_them(noisy):
    X, y = noisy
    comparison = onlinear.compare([rules.Perceptron(), rules.AROW()], X[:400], y[:400])
    bars = layers_of(compare_picture(comparison))
    best = min(comparison, key=lambda run: run.mistakes)
    assert bars["mistakes while learning"].x[0] == best.mistakes / 400
    assert bars["baseline"].x.tolist() == [best.baselines.majority / 400, best.baselines.last_label / 400]
    tested = comparison.evaluate(X[400:], y[400:])
    picture = compare_picture(tested)
    errors = layers_of(picture)["errors on the test examples"]
    assert errors.x.tolist() == sorted(test.error for test in tested.tests)
    intervals = [layer for layer in picture.layers if not layer.name]
    for error, row, interval in zip(errors.x, errors.y, intervals, strict=True):
        assert interval.x[0] <= error <= interval.x[1]
        assert interval.y.tolist() == [row, row]
    assert any(note.startswith("Each interval holds with probability 0.95") for note in picture.notes)
    (note,) = compare_picture(comparison.evaluate(X[:400], y[:400])).notes
    assert note.startswith("No intervals: the model was trained on these examples")
    named = compare_picture(list(comparison), names=["first", "second"])
    assert set(named.y.names) == {"first", "second", "majority so far", "last label"}
    with pytest.raises(ParameterError, match="there are 1 name for 2 runs"):
        compare_picture(comparison, names=["first"])


# --- Potentials -------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), margin=st.sampled_from([0.05, 0.1, 0.3]), d=st.integers(2, 8), fit=st.booleans())
def test_the_curves_of_the_proof_are_in_order_and_are_those_of_a_plain_loop(seed, margin, d, fit):
    X, y, u = (data := onlinear.datasets.separable(margin, 60, d, seed=seed)).X, data.y, data.comparator
    trace = Potentials((u, 0.0) if fit else u)
    run = onlinear.converge(rules.Perceptron(), X, y, fit_intercept=fit, trace=trace)
    shown = layers_of(potentials_picture(run))
    Z, v = (np.c_[np.ones(60), X], np.r_[0.0, u]) if fit else (X, u)
    w, used, norms, inner = np.zeros(Z.shape[1]), [], [0.0], [0.0]
    for t in run.trace.updates:
        w = w + y[t % 60] * Z[t % 60]
        used.append(t % 60)
        norms.append(np.linalg.norm(w))
        inner.append(w @ v / np.linalg.norm(v))
    k, R = np.arange(len(norms)), np.linalg.norm(Z[used], axis=1).max()
    gamma = (y[used] * (Z[used] @ v)).min() / np.linalg.norm(v)
    for name, expected in (("R√k", R * np.sqrt(k)), ("‖w‖", norms), ("⟨w,u⟩/‖u‖", inner), ("kγ", gamma * k)):
        assert np.allclose(shown[name].y, expected, atol=1e-12)
    for low, high in (("kγ", "⟨w,u⟩/‖u‖"), ("⟨w,u⟩/‖u‖", "‖w‖"), ("‖w‖", "R√k")):
        assert (shown[low].y <= shown[high].y + 1e-9).all()
    cosine = layers_of(potentials_picture(run, "cosine"))
    assert np.allclose(cosine["⟨w,u⟩/(‖w‖‖u‖)"].y[1:], np.array(inner[1:]) / norms[1:])
    assert (cosine["√k·γ/R"].y[1:] <= cosine["⟨w,u⟩/(‖w‖‖u‖)"].y[1:] + 1e-12).all()
    squares = layers_of(potentials_picture(run.trace, "squared_norm"))
    assert np.allclose(squares["‖w‖²"].y, np.square(norms))
    assert np.allclose(squares["kR²"].y, k * R**2)


def test_updates_that_are_no_mistakes_have_no_root_above(separable):
    run = onlinear.run(rules.MarginPerceptron(1.0), *separable, trace=Potentials(separable.comparator))
    picture = potentials_picture(run)
    assert set(layers_of(picture)) == {"‖w‖", "⟨w,u⟩/‖u‖", "kγ"}
    assert "holds for mistakes only" in picture.notes[0]


def test_a_comparator_that_is_wrong_has_no_line_below(separable):
    run = onlinear.run(rules.Perceptron(), *separable, trace=Potentials(-separable.comparator))
    picture = potentials_picture(run)
    assert set(layers_of(picture)) == {"R√k", "‖w‖", "⟨w,u⟩/‖u‖"}
    assert "there is no kγ" in picture.notes[-1]


def test_from_other_first_weights_the_limits_start_there(separable):
    start = np.full(6, 0.5)
    run = onlinear.run(rules.Perceptron(), *separable, start=start, trace=Potentials(separable.comparator))
    shown = layers_of(potentials_picture(run))
    assert shown["‖w‖"].y[0] == pytest.approx(np.linalg.norm(start))
    assert (shown["most that ‖w‖ can be"].y >= shown["‖w‖"].y - 1e-12).all()
    assert (shown["least that ⟨w,u⟩/‖u‖ can be"].y <= shown["⟨w,u⟩/‖u‖"].y + 1e-12).all()


def test_the_total_weight_of_winnow_stays_below_what_its_lemmas_allow():
    X, y = onlinear.datasets.disjunction(3, 40, 500, seed=2)
    rule = rules.Winnow(beta=0.5)
    run = onlinear.run(rule, X, y, trace=Potentials())
    shown = layers_of(potentials_picture(run))
    total, limit = [40.0], [40.0]
    w = np.ones(40)
    for t in run.trace.updates:
        w = w * np.where(X[t] > 0, 1.5 ** y[t], 1.0)
        total.append(w.sum())
        limit.append(limit[-1] + (0.5 * 40 if y[t] > 0 else -(1 - 1 / 1.5) * 40))
    assert np.allclose(shown["Φ, the sum of the weights"].y, total)
    assert np.allclose(starting(potentials_picture(run), "Φ₀").y, limit)
    assert (np.array(total) <= np.array(limit) + 1e-9).all()
    assert "Winnow mistake bound" in potentials_picture(run).notes[0]


def test_potentials_that_were_not_recorded_are_asked_for(separable):
    run = onlinear.run(rules.Perceptron(), *separable, trace=True)
    with pytest.raises(ParameterError, match="record them with trace="):
        potentials_picture(run)
    run = onlinear.run(rules.Perceptron(), *separable, trace=Potentials())
    assert "With a comparator u" in potentials_picture(run).notes[0]
    with pytest.raises(ParameterError, match=r"Potentials\(comparator=u\)"):
        potentials_picture(run, "cosine")
    with pytest.raises(ParameterError, match="what is 'norm'"):
        potentials_picture(run, "norm")


# --- Margin -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [False, True])
def test_the_margin_is_closed_in_from_both_sides(fit):
    X, y = onlinear.datasets.separable(0.15, 80, 4, seed=5)
    run = onlinear.converge(rules.MarginPerceptron(0.2), X, y, fit_intercept=fit, trace=Potentials(weights=True))
    interval = onlinear.max_margin(X, y, fit_intercept=fit)
    picture = margin_picture(run, X, y, interval=interval)
    shown = layers_of(picture)
    levels = [layer.y[0] for layer in picture.layers if layer.kind == "level"]
    same = interval.augmented if fit else interval
    assert levels == [same.upper, same.lower]
    Z = np.c_[np.ones(80), X] if fit else X
    w, best, upper, lower = np.zeros(Z.shape[1]), 0.0, [], []
    for k, t in enumerate(run.trace.updates, start=1):
        w = w + y[t % 80] * Z[t % 80]
        upper.append(np.linalg.norm(w) / k)
        best = max(best, (y * (Z @ w)).min() / np.linalg.norm(w))
        lower.append(best)
    assert np.allclose(shown["margin bound from the weights (P6)"].y, upper)
    assert upper[-1] == pytest.approx(run.margin_upper_bound)
    found = shown["best separator so far"]
    assert found.x.size >= 1
    assert np.allclose(found.y, np.array(lower)[found.x.astype(int) - 1])
    assert (found.y > 0.0).all()
    assert max(lower) <= levels[0] <= min(upper)


def test_an_interval_of_another_margin_is_refused(separable):
    X, y = separable
    run = onlinear.run(rules.Perceptron(), X, y, trace=Potentials(weights=True))
    with pytest.raises(ParameterError, match="interval is of examples with fit_intercept=True, the run has fit_"):
        margin_picture(run, X, y, interval=onlinear.max_margin(X, y, fit_intercept=True))
    with pytest.raises(ParameterError, match="interval is of examples with normalize=True, the run has normalize=Fa"):
        margin_picture(run, X, y, interval=onlinear.max_margin(X, y, normalize=True))


def test_a_margin_without_potentials_or_examples_says_what_is_missing(separable):
    plain = onlinear.run(rules.Perceptron(), *separable)
    with pytest.raises(ParameterError, match=r"Potentials\(weights=True\)"):
        margin_picture(plain)
    run = onlinear.run(rules.Perceptron(), *separable, trace=Potentials())
    assert margin_picture(run).notes == ("With X and y, the margin of the best separator so far is shown, too.",)
    assert "Potentials(weights=True)" in margin_picture(run, *separable).notes[0]
    arow = onlinear.run(rules.AROW(), *separable, trace=Potentials())
    with pytest.raises(ParameterError, match="not additive"):
        margin_picture(arow)


def test_no_separator_among_the_weights_is_said(noisy):
    run = onlinear.run(rules.Perceptron(), *noisy, trace=Potentials(weights=True))
    picture = margin_picture(run, *noisy)
    assert "None of the weights that were measured separates the examples." in picture.notes
    assert any(note.startswith("Margins were measured at 128 of") for note in picture.notes)
    assert "best separator so far" not in layers_of(picture)


def test_a_bound_that_goes_up_and_down_all_the_time_is_replaced_by_the_least_so_far():
    X, y = onlinear.datasets.noisy(0.1, 4000, 5, flip=0.2, seed=2)
    run = onlinear.run(rules.Perceptron(), X, y, trace=Potentials())
    picture = margin_picture(run)
    norms = np.sqrt(run.trace.potentials["squared_norm"]) / np.arange(1, run.updates + 1)
    (line,) = picture.layers
    assert line.name == "margin bound from the weights (P6), least so far"
    assert np.allclose(line.y, [norms[: k + 1].min() for k in range(norms.size)])


def test_the_least_bound_so_far_is_drawn_beside_one_that_goes_up_and_down():
    X, y = onlinear.datasets.separable(0.02, 300, 2, seed=1)
    run = onlinear.converge(rules.Perceptron(), X, y, trace=Potentials())
    norms = np.sqrt(run.trace.potentials["squared_norm"]) / np.arange(1, run.updates + 1)
    assert (np.diff(norms) > 0.0).any()
    shown = layers_of(margin_picture(run))
    assert np.allclose(shown["margin bound from the weights (P6)"].y, norms)
    assert np.allclose(shown["margin bound from the weights (P6), least so far"].y, np.minimum.accumulate(norms))


def test_an_interval_tightens(separable):
    interval = onlinear.max_margin(*separable)
    shown = layers_of(margin_picture(interval))
    upper, lower = shown["upper bound so far"].y, shown["margin of the best separator so far"].y
    assert (np.diff(upper) <= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert lower[-1] <= interval.upper
    assert upper[-1] == pytest.approx(interval.upper, rel=1e-3)
    certificate = onlinear.certify(onlinear.run(rules.Perceptron(), *separable), *separable)
    levels = [layer.y[0] for layer in margin_picture(certificate.margin).layers]
    assert levels == [certificate.margin.upper, certificate.margin.lower]


# --- Boundary ---------------------------------------------------------------------------------------

sixteenths = st.integers(-64, 64).map(lambda i: i / 16)


@given(a=sixteenths, b=sixteenths, c=sixteenths)
def test_a_line_in_a_box_is_where_the_score_is_0(a, b, c):
    box = Box(-2.0, 3.0, -1.0, 1.0)
    line = zero_line(Scores(a, b, c), box)
    grid = np.stack(np.meshgrid(np.linspace(-2, 3, 41), np.linspace(-1, 1, 41)), axis=-1).reshape(-1, 2)
    scores = Scores(a, b, c).of(grid)
    if line is None:
        assert (scores >= -1e-9).all() or (scores <= 1e-9).all()
        return
    assert np.allclose(Scores(a, b, c).of(line), 0.0, atol=1e-9)
    assert all(-2 - 1e-9 <= x <= 3 + 1e-9 and -1 - 1e-9 <= y <= 1 + 1e-9 for x, y in line)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_the_separator_is_where_the_score_is_0_and_the_strip_is_empty(sparse, normalize):
    X, y = onlinear.datasets.separable(0.2, 50, 2, seed=3)
    X = scipy.sparse.csr_matrix(X) if sparse else X
    run = onlinear.converge(rules.Perceptron(), X, y, fit_intercept=True, normalize=normalize, trace=True)
    picture = boundary_picture(run, X, y)
    Z = X.toarray() if sparse else X
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True) if normalize else Z
    shown = layers_of(picture)
    line = np.stack([shown["separator"].x, shown["separator"].y], axis=1)
    assert np.allclose(line @ run.weights + run.intercept, 0.0, atol=1e-12)
    for name, sign in (("-1", -1), ("1", 1)):
        assert np.allclose(np.stack([shown[name].x, shown[name].y], axis=1), Z[y == sign])
    size = np.linalg.norm(run.weights)
    nearest = (y * (Z @ run.weights + run.intercept)).min() / size
    strip = [layer for layer in picture.layers if layer.role == "bound"]
    distances = [(np.stack([one.x, one.y], axis=1) @ run.weights + run.intercept) / size for one in strip]
    assert np.allclose(np.abs(distances), nearest)
    rings = shown["updates, in order"]
    numbers = {int(k): i for i, text in enumerate(rings.texts) for k in text.split(", ")}
    for k, t in enumerate(run.trace.updates, start=1):
        assert [rings.x[numbers[k]], rings.y[numbers[k]]] == pytest.approx(Z[t % 50])


def test_the_way_of_the_weights_is_theirs_times_a_factor():
    X, y = onlinear.datasets.separable(0.05, 60, 2, seed=4)
    run = onlinear.run(rules.Perceptron(), X, y, trace=Potentials(weights=True))
    way = starting(boundary_picture(run, X, y), "w after each update")
    factor = float(way.name.partition("times ")[2] or 1.0)
    w = np.zeros(2)
    for i, t in enumerate(run.trace.updates, start=1):
        w = w + y[t] * X[t]
        assert [way.x[i], way.y[i]] == pytest.approx(factor * w)
    picture = boundary_picture(run, X, y)
    assert picture.x.low <= way.x.min() <= way.x.max() <= picture.x.high


def test_updates_are_not_marked_on_other_examples():
    X, y = onlinear.datasets.separable(0.2, 50, 2, seed=3)
    shuffled = np.random.default_rng(0).permutation(50)
    run = onlinear.run(rules.Perceptron(), X[shuffled], y[shuffled], trace=Potentials())
    picture = boundary_picture(run, X, y)
    assert "updates, in order" not in layers_of(picture)
    assert "not in the order of these examples" in picture.notes[-1]
    assert "updates, in order" in layers_of(boundary_picture(run, X[shuffled], y[shuffled]))


def test_updates_of_a_resumed_run_are_marked_on_all_examples_and_on_its_own():
    X, y = onlinear.datasets.noisy(0.1, 50, 2, flip=0.2, seed=3)
    first = onlinear.run(rules.Perceptron(), X[:7], y[:7])
    run = onlinear.run(rules.Perceptron(), X[7:], y[7:], state=first, trace=Potentials())
    assert run.trace.updates.size
    for begin in (0, 7):
        rings = layers_of(boundary_picture(run, X[begin:], y[begin:]))["updates, in order"]
        assert [[rings.x[i], rings.y[i]] for i in range(rings.x.size)] == X[run.trace.updates].tolist()


def test_borders_of_several_classes_are_where_the_best_two_scores_are_equal():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = np.argmax(X @ rng.normal(size=(2, 4)), axis=1)
    run = onlinear.run(rules.Perceptron(), X, y, fit_intercept=True)
    borders = [layer for layer in boundary_picture(run, X, y).layers if layer.name == "border"]
    assert borders
    for layer in borders:
        for share in (0.0, 0.3, 1.0):
            point = (1 - share) * np.array([layer.x[0], layer.y[0]]) + share * np.array([layer.x[1], layer.y[1]])
            scores = np.sort(run.decision_function(point[None])[0])
            assert scores[-1] == pytest.approx(scores[-2], abs=1e-9)


def test_two_columns_of_several_are_a_section_through_the_mean(noisy):
    X, y = noisy
    run = onlinear.run(rules.AROW(), X, y, fit_intercept=True)
    picture = boundary_picture(run, X, y, columns=(5, 2))
    point = X.mean(axis=0)
    line = layers_of(picture)["separator"]
    for a, b in zip(line.x, line.y, strict=True):
        point[[5, 2]] = a, b
        assert run.decision_function(point[None])[0] == pytest.approx(0.0, abs=1e-9)
    assert (picture.x.label, picture.y.label) == ("feature 5", "feature 2")
    assert any("their mean" in note for note in picture.notes)
    assert not any(layer.role == "bound" for layer in picture.layers)


def test_what_has_no_line_is_refused(noisy):
    X, y = noisy
    with pytest.raises(ParameterError, match="best_member"):
        boundary_picture(onlinear.run(rules.Majority(), X, y), X, y)
    with pytest.raises(ParameterError, match="two different columns"):
        boundary_picture(None, X, y, columns=(1, 1))
    with pytest.raises(ParameterError, match="no column 'size'"):
        boundary_picture(None, X, y, columns=("size", 1))
    with pytest.raises(ParameterError, match="there are 2 weights, but X has 8 columns"):
        boundary_picture([1.0, 2.0], X, y)


def test_winnow_s_line_is_at_its_threshold():
    X, y = onlinear.datasets.disjunction(1, 2, 40, seed=0)
    run = onlinear.run(rules.Winnow(threshold=1.5), X, y)
    line = layers_of(boundary_picture(run, X, y))["separator"]
    assert np.allclose(np.stack([line.x, line.y], axis=1) @ run.weights, 1.5)


# --- Regret and weights -----------------------------------------------------------------------------

EXPERTS = [
    rules.WeightedMajority(0.3),
    rules.FixedShare(0.4, 0.02),
    rules.RandomizedWeightedMajority(0.2, seed=1),
    rules.RandomizedWeightedMajority("anytime", seed=1),
]


@pytest.mark.parametrize("rule", EXPERTS, ids=repr)
def test_regret_is_that_of_a_plain_loop_and_within_its_theorem(rule):
    A, y = onlinear.datasets.experts(6, 300, best=0.3, rest=0.4, seed=2)
    run = onlinear.run(rule, A, y, trace=Potentials())
    picture = regret_picture(run)
    shown = layers_of(picture)
    wrong = np.cumsum(y[:, None] != A, axis=0)
    own = np.zeros(300)
    own[run.trace.mistakes] = 1
    expected = np.cumsum(own) - wrong.min(axis=1)
    rounds = shown["regret"].x.astype(int)
    assert shown["regret"].y.tolist() == expected[rounds - 1].tolist()
    assert shown["regret"].y[-1] == run.regret
    limited = "regret"
    if hasattr(rule, "seed"):
        limited = "expected regret"
        assert shown[limited].y[-1] == pytest.approx(run.expected_mistakes - run.expert_mistakes.min())
    for layer in picture.layers:
        if layer.role == "bound":
            at = np.searchsorted(shown[limited].x, layer.x)
            assert (shown[limited].y[at] <= layer.y + 1e-9).all()
    assert any(layer.role == "bound" for layer in picture.layers) or "Above the picture" in picture.notes[0]


def test_shares_of_experts_are_their_weights_over_time():
    A, y = onlinear.datasets.experts(4, 200, best=0.1, rest=0.4, seed=2)
    run = onlinear.run(rules.WeightedMajority(0.3), A, y, trace=Potentials())
    picture = regret_picture(run, "weights")
    wrong = np.cumsum(y[:, None] != A, axis=0)
    for n in range(4):
        line = layers_of(picture)[f"expert {n}"]
        at = line.x.astype(int) - 1
        weights = 0.7 ** wrong[at].astype(float)
        assert np.allclose(line.y, weights[:, n] / weights.sum(axis=1))


def test_a_majority_is_shown_beside_its_members(noisy):
    run = onlinear.run(rules.Majority(), *noisy)
    shown = layers_of(regret_picture(run))
    assert shown["the learner"].x.tolist() == [run.mistakes]
    assert shown["members"].x.tolist() == sorted(run.expert_mistakes.tolist())
    shares = weights_picture(run).layers[0].x
    assert shares.sum() == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="has no experts"):
        regret_picture(onlinear.run(rules.AROW(), *noisy))


def test_the_largest_weights_are_listed_by_size(noisy):
    X, y = noisy
    run = onlinear.run(rules.Perceptron(), X, y, fit_intercept=True)
    picture = weights_picture(run, top=5)
    shown = {name: value for layer in picture.layers for name, value in zip(layer.texts, layer.x, strict=True)}
    order = np.argsort(-np.abs(run.weights))[:5]
    assert shown == {f"feature {j}": run.weights[j] for j in order}
    assert list(picture.y.names) == [f"feature {j}" for j in order]
    assert picture.notes[0].startswith("3 more are not 0")
    for layer in picture.layers:
        assert (layer.x > 0).all() if layer.name == "for 1" else (layer.x < 0).all()


def test_weights_of_several_classes_name_feature_and_class():
    X = np.eye(3)
    run = onlinear.run(rules.Perceptron(), np.tile(X, (5, 1)), ["a", "b", "c"] * 5)
    picture = weights_picture(run, top=3)
    (layer,) = picture.layers
    for name, value in zip(layer.texts, layer.x, strict=True):
        feature, label = name.removeprefix("feature ").split(", for ")
        assert run.weights["abc".index(label), int(feature)] == value


def test_whole_numbers_of_any_size_can_be_shown():
    huge = np.array([10**400, -(10**399), 0], dtype=object)
    picture = weights_picture(Separable(huge, 0, fit_intercept=False, classes=(-1, 1)))
    assert sorted(value for layer in picture.layers for value in layer.x) == [-0.1, 1.0]


# --- Counts and bounds ------------------------------------------------------------------------------


def test_confusions_are_counted(noisy):
    X, y = noisy
    run = onlinear.run(rules.Perceptron(), X[:300], y[:300], trace=True)
    evaluation = run.evaluate(X[300:], y[300:])
    (cells,) = confusion_picture(evaluation).layers
    for column, row, text, shade in zip(cells.x, cells.y, cells.texts, cells.low, strict=True):
        label, guess = run.classes[int(row)], run.classes[int(column)]
        count = int(((y[300:] == label) & (run.predict(X[300:]) == guess)).sum())
        assert text == (str(count) if count else "")
        assert shade == pytest.approx(count / (y[300:] == label).sum())
    (while_learning,) = confusion_picture(run).layers
    assert sum(int(text or 0) for text in while_learning.texts) == 300


def test_the_shares_of_bounds_are_those_of_the_certificate(separable):
    X, y = separable
    run = onlinear.run(rules.Perceptron(), X, y)
    certificate = onlinear.certify(run, X, y)
    picture = bounds_picture(certificate)
    (layer,) = picture.layers
    expected = {one.theorem: run.mistakes / one.value for one in certificate.bounds if one.of == "mistakes"}
    assert {text.partition(":")[0]: share for text, share in zip(layer.texts, layer.x, strict=True)} == expected
    assert any(note.startswith("Progressive validation (P12)") for note in picture.notes)


def test_what_holds_with_a_probability_says_so():
    advice, y = onlinear.datasets.experts(N=8, n=1000, seed=0)
    run = onlinear.run(rules.RandomizedWeightedMajority(0.1), advice, y, trace="curve")
    certificate = onlinear.certify(run, advice, y)
    (level,) = [layer for layer in mistakes_picture(run, bounds=certificate).layers if layer.kind == "level"]
    assert level.name.endswith("(with probability 0.95)")
    picture = bounds_picture(certificate)
    assert ["expected" in name for name in picture.y.names] == [True, False]
    assert ["with probability 0.95" in name for name in picture.y.names] == [False, True]
    (note,) = picture.notes
    assert "(with probability 0.95), if examples are independent" in note


# --- Natural pictures -------------------------------------------------------------------------------


def natural_cases():
    X, y = onlinear.datasets.separable(0.2, 60, 2, seed=3)
    A, answers = onlinear.datasets.experts(4, 50, seed=1)
    traced = onlinear.run(rules.Perceptron(), X, y, trace=Potentials())
    plain = onlinear.run(rules.Perceptron(), X, y)
    contradiction = onlinear.separability([[1.0, 2.0], [1.0, 2.0]], [0, 1])
    halting = onlinear.converge(rules.Perceptron(), X, y, trace="curve")
    return {
        "Mistakes of Perceptron": traced,
        "Largest weights, Perceptron": plain,
        "Mistakes of WeightedMajority and of its experts": onlinear.run(rules.WeightedMajority(), A, answers),
        "Growth of the weights, Perceptron": traced.trace,
        "Mistakes over time": halting.trace,
        "Error of each rule": onlinear.compare([rules.Perceptron()], X, y),
        "Confusions in 60 examples": plain.evaluate(X, y),
        "What the theorems allowed, and how much was used": onlinear.certify(plain, X, y),
        "Largest margin, step by step": onlinear.max_margin(X, y),
        "Weights of the separator": onlinear.separability(X, y),
        "Why no vector separates": contradiction,
        "Data set of 4 examples": onlinear.datasets.xor(),
        "Data set of 1,000 examples": onlinear.datasets.separable(),
        "Weights of the experts, WeightedMajority": onlinear.run(rules.WeightedMajority(), A, answers).state,
        "Mistakes of Majority": onlinear.run(rules.Majority(), X, y, trace="curve"),
        "Regret of WeightedMajority": onlinear.run(rules.WeightedMajority(), A, answers, trace=Potentials()),
        "Mistakes of BatchPerceptron": onlinear.batch_perceptron(X, y, trace=True),
    }


def test_every_result_has_its_natural_picture():
    for title, result in natural_cases().items():
        picture = natural_picture(result)
        assert picture.title == title
        assert picture.frame().num_rows == sum(layer.x.size for layer in picture.layers)
        assert natural_picture(picture) is picture
        assert svg(picture).startswith("<svg")
        assert repr(picture).startswith(title)
    assert natural_picture("text") is None
    assert natural_picture(onlinear.datasets.Dataset(np.ones((2, 1)), np.array([-1, 1]))) is None


def test_the_shares_of_what_cancels_sum_to_1():
    verdict = onlinear.separability(*onlinear.datasets.xor(), fit_intercept=True)
    picture = natural_picture(verdict)
    assert sum(map(Fraction, picture.layers[0].x)) == 1
    assert picture.notes[0] == verdict.explain()


def test_principal_directions_keep_distances_of_data_in_a_plane():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 5)) + 3.0
    data = onlinear.datasets.Dataset(X, np.where(X[:, 0] > 3, 1, -1))
    picture = natural_picture(data)
    points = np.concatenate([np.stack([layer.x, layer.y], axis=1) for layer in picture.layers])
    ordered = np.concatenate([X[data.y == -1], X[data.y == 1]])
    assert np.allclose(
        np.linalg.norm(points[:, None] - points[None], axis=2), np.linalg.norm(ordered[:, None] - ordered[None], axis=2)
    )
    assert "they have 100% of it" in picture.notes[0]


def test_pictures_are_made_of_plain_data():
    for result in natural_cases().values():
        picture = natural_picture(result)
        assert isinstance(picture, Picture)
        for layer in picture.layers:
            assert layer.x.dtype == layer.y.dtype == np.float64
            assert layer.x.size == layer.y.size or layer.kind == "level"
            assert len(layer.texts) in (0, layer.x.size)
