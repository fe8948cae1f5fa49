"""Evaluation: the measures of scikit-learn in one reading, an exact interval, and what is said about odd data."""

import dataclasses
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
import scipy.stats
import sklearn.metrics
from hypothesis import given

import onlinear
from onlinear.errors import DataError, DataWarning, ParameterError
from onlinear.rules import MarginPerceptron, Perceptron, RandomizedWeightedMajority, Winnow
from onlinear.runs.auc import EXACT, RocCurve, _area
from onlinear.runs.evaluating import binomial_interval
from onlinear.runs.evaluation import show_interval
from strategies import BLOCKS, in_blocks, many_classes, real

NEAR = {"rel": 0.0, "abs": 1e-12}


def agrees_with_sklearn(found, y, predicted, classes):
    """Compare with scikit-learn on the same predictions: over all classes one by one, and its own macro averages."""
    metrics = sklearn.metrics
    listed = {"labels": classes, "zero_division": 0}
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, predicted), **NEAR)
    assert found.error == pytest.approx(1.0 - metrics.accuracy_score(y, predicted), **NEAR)
    assert found.confusion.tolist() == metrics.confusion_matrix(y, predicted, labels=classes).tolist()
    precision, recall, f1, support = metrics.precision_recall_fscore_support(y, predicted, **listed)
    assert found.precision == pytest.approx(precision, **NEAR)
    assert found.recall == pytest.approx(recall, **NEAR)
    assert found.f1 == pytest.approx(f1, **NEAR)
    assert found.support.tolist() == support.tolist()
    macro = metrics.precision_recall_fscore_support(y, predicted, average="macro", zero_division=0)
    assert (found.macro_precision, found.macro_recall, found.macro_f1) == pytest.approx(macro[:3], **NEAR)
    assert found.baseline == max(y.tolist().count(label) for label in classes) / y.size


@given(real(max_width=3), real(max_width=3), st.booleans())
def test_two_classes_as_in_scikit_learn(learned, data, intercept):
    (X, y), (more, z) = learned, data
    width = min(X.shape[1], more.shape[1])
    X, more = X[:, :width], more[:, :width]
    run = onlinear.run(Perceptron(), X, y, fit_intercept=intercept)
    scores, predicted = run.decision_function(more), run.predict(more)
    whole = run.evaluate(more, z)
    agrees_with_sklearn(whole, z, predicted, [-1, 1])
    assert whole.auc == pytest.approx(sklearn.metrics.roc_auc_score(z, scores), **NEAR)
    assert whole.auc_error == 0.0
    assert whole.ties == np.count_nonzero(scores == 0.0)
    for size in BLOCKS[:2]:
        assert run.evaluate(in_blocks(more, z, size)).as_dict() == whole.as_dict()
    assert run.evaluate(onlinear.open_stream(more, z)).as_dict() == whole.as_dict()
    assert run.evaluate(scipy.sparse.csr_array(more), z).as_dict() == whole.as_dict()


@given(many_classes(max_width=4))
def test_many_classes_as_in_scikit_learn(data):
    X, y, k = data
    names = np.array([f"class {r:02}" for r in range(max(k, 3))])
    run = onlinear.run(MarginPerceptron(0.5, normalized=True), X, names[y], classes=names)
    whole = run.evaluate(X, names[y])
    agrees_with_sklearn(whole, names[y], run.predict(X), names)
    assert whole.auc is None
    assert run.evaluate(in_blocks(X, names[y], 3)).as_dict() == whole.as_dict()
    assert run.evaluate(onlinear.open_stream(X, names[y], classes=names)).as_dict() == whole.as_dict()


def test_a_vector_for_each_of_two_classes_has_an_auc():
    X, y = onlinear.datasets.noisy(n=300, seed=1)
    state = onlinear.runs.state_before(Perceptron(), [-1, 1], 20, multiclass=True)
    run = onlinear.run(Perceptron(), X, y, state=state)
    scores = run.decision_function(X)
    assert run.evaluate(X, y).auc == pytest.approx(
        sklearn.metrics.roc_auc_score(y, scores[:, 1] - scores[:, 0]), **NEAR
    )


# --- AUC ------------------------------------------------------------------------------------------


def share_of_ordered_pairs(scores, positive):
    """The AUC by its definition, pair by pair."""
    high, low = (scores[which].tolist() for which in (positive, ~positive))
    won = sum(2 * (p > n) + (p == n) for p in high for n in low)
    return Fraction(won, 2 * len(high) * len(low)) if high and low else None


def area_of(scores, positive, size, **limits):
    curve = RocCurve(**limits)
    for first in range(0, scores.size, size):
        curve.add(scores[first : first + size], positive[first : first + size])
    return curve.area()


@given(
    st.lists(st.tuples(st.integers(-9, 9) | st.floats(-9, 9, width=32), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 70),
    st.integers(1, 12),
)
def test_the_auc_is_exact_or_within_its_bound(pairs, exact, edges):
    scores = np.array([score for score, _ in pairs], dtype=np.float64)
    positive = np.array([which for _, which in pairs])
    true = share_of_ordered_pairs(scores, positive)
    area = area_of(scores, positive, 7, exact=exact, edges=edges)
    assert {area_of(scores, positive, size, exact=exact, edges=edges) for size in (1, 60)} == {area}
    if true is None:
        assert area is None
        return
    assert abs(Fraction(area.value) - true) <= Fraction(area.error) + Fraction(1, 2**53)
    if scores.size <= exact or np.unique(scores).size <= min(edges, np.unique(scores[:exact]).size):
        equal = (scores[positive][:, None] == scores[~positive]).mean()
        assert area[:2] == (float(true), 0.0)
        assert area.ties == pytest.approx(equal)


def test_the_auc_of_more_pairs_than_64_bits_can_count():
    n = 1 << 32
    small, large = (_area(np.array([[1, 2, 3], [3, 2, 2]]) * scale, np.array([[2], [2]]) * scale) for scale in (1, n))
    assert large == small
    assert small.value == float(Fraction(3 * 1 + 2 * (2 + 2) + 2 * (6 + 3), 84))


def test_the_auc_of_a_long_stream():
    rng = np.random.default_rng(0)
    n = EXACT + 200_000
    positive = rng.random(n) < 0.3
    scores = rng.normal(size=n) + positive
    area = area_of(scores, positive, 1 << 16)
    true = sklearn.metrics.roc_auc_score(positive, scores)
    assert 0.0 < abs(area.value - true) <= area.error < 1e-5
    # Scores of few values are counted exactly, however long the stream is.
    coarse = np.round(scores)
    assert area_of(coarse, positive, 1 << 16).error == 0.0


# --- The interval ---------------------------------------------------------------------------------


def tail(n, p, counts):
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in counts)


@given(st.integers(1, 14), st.data(), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_interval_is_that_of_clopper_and_pearson(n, data, delta):
    hits = data.draw(st.integers(0, n))
    lower, upper = (Fraction(end) for end in binomial_interval(hits, n, delta))
    half = Fraction(delta) / 2
    # Rounded outward: the ends themselves are excluded with the declared probability, and no more than they must.
    assert lower == 0 if hits == 0 else tail(n, lower, range(hits, n + 1)) <= half
    assert upper == 1 if hits == n else tail(n, upper, range(hits + 1)) <= half
    wide = Fraction(1, 10**9)
    assert hits == 0 or tail(n, lower * (1 + wide), range(hits, n + 1)) > half
    assert hits == n or tail(n, upper * (1 - wide), range(hits + 1)) > half


@given(st.integers(1, 10), st.fractions(0, 1, max_denominator=64), st.sampled_from([0.05, 0.4]))
def test_the_interval_covers_as_declared(n, p, delta):
    held = [k for k in range(n + 1) if binomial_interval(k, n, delta)[0] <= p <= binomial_interval(k, n, delta)[1]]
    assert tail(n, p, held) >= 1 - Fraction(delta)


def test_the_interval_of_many_examples():
    lower, upper = binomial_interval(900_000_000, 1_000_000_000, 0.05)
    usual = scipy.stats.norm.interval(0.95, 0.9, math.sqrt(0.09 / 1e9))
    assert (lower, upper) == pytest.approx(usual, abs=1e-8)
    assert lower < 0.9 < upper
    assert show_interval((2 / 3, 2 / 3)) == "66.6666% to 66.6667%"


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.5, float("nan")])
def test_delta_is_a_probability(delta):
    with pytest.raises(ParameterError, match=r"delta is .*; it must be between 0 and 1"):
        a_run().evaluate([[1.0]], [1], delta=delta)


# --- What is said ---------------------------------------------------------------------------------


def a_run():
    """The score is x itself."""
    return onlinear.run(Perceptron(), [[1.0], [-2.0]], [1, -1], start=[1.0])


def fact(found, name):
    """The facts of this name; long ones go on in lines without a name."""
    values, last = [], None
    for each, value in found._facts():
        if each == name:
            values.append(value)
        elif each == "" and last == name:
            values[-1] += f" {value}"
        last = each or last
    return values


def test_the_summary():
    found = a_run().evaluate([[1.0], [2.0], [-1.0], [0.0], [3.0]], [1, -1, -1, 1, 1])
    assert repr(found).splitlines()[:2] == ["Evaluation of Perceptron(tie='mistake')", "  examples  5"]
    assert fact(found, "accuracy") == ["60.00%: 3 correct, 2 wrong"]
    assert fact(found, "baseline") == ["60.00%: always 1, the most frequent label. The model is no better than that"]
    assert fact(found, "ties") == ["1 example, predicted as the first of the tied classes"]
    assert repr(found).splitlines()[-3:] == [
        "label \\ predicted  -1  1",
        "-1                  1  1",
        "1                   1  2",
    ]
    assert "<td>-1</td>" in found._repr_html_()
    assert found.as_dict()["classes"][1] == {
        "label": 1, "precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "support": 3, "predicted": 3
    }  # fmt: skip
    with pytest.raises(ValueError, match="read-only"):
        found.support[0] = 7
    with pytest.raises(AttributeError):
        found.ties = 0


def test_a_model_below_the_baseline():
    found = a_run().evaluate([[1.0], [1.0], [1.0], [-1.0]], [-1, -1, -1, 1])
    assert fact(found, "baseline") == ["75.00%: always -1, the most frequent label. The model is worse than that"]
    good = a_run().evaluate([[1.0], [-1.0]], [1, -1])
    assert fact(good, "baseline") == ["50.00%: always -1, the most frequent label"]


def test_what_is_undefined():
    found = a_run().evaluate([[1.0], [2.0]], [-1, -1])
    assert found.auc is None
    assert found.as_dict()["auc_error"] is None
    assert fact(found, "AUC") == ["undefined: all examples have the same label"]
    assert fact(found, "baseline") == ["100.00%: always -1, the most frequent label, and the only one here"]
    assert fact(found, "undefined") == [
        "the precision of class -1, never predicted; 0 is shown",
        "the recall of class 1, without an example; 0 is shown",
    ]
    with pytest.raises(DataError, match="no examples"):
        a_run().evaluate(iter([]))


def test_a_class_that_neither_occurs_nor_is_predicted_is_no_remark():
    run = onlinear.converge(Perceptron(), np.eye(3), range(3), classes=range(3))
    assert "undefined  the" not in repr(run.evaluate(np.eye(3)[:2], [0, 1]))


def test_unknown_labels_are_errors_or_skipped(tmp_path):
    run = a_run()
    with pytest.raises(DataError, match=r"row 1: label 3; the labels are -1 \(negative\) and 1 \(positive\)"):
        run.evaluate([[1.0], [2.0]], [1, 3])
    path = tmp_path / "data.svm"
    path.write_text("1 1:2\n3 1:1\n-1 1:x\n-1 1:2\n")
    like = onlinear.train(Perceptron(), onlinear.open_stream([[1.0], [-1.0]], [1, -1]))
    with pytest.raises(DataError, match=r"data.svm:2: label 3"):
        run.evaluate(onlinear.open_stream(path, like=like))
    found = run.evaluate(onlinear.open_stream(path, like=like, on_error="skip"))
    assert (found.examples, found.skipped) == (2, 2)
    many = onlinear.train(Perceptron(), [[1.0], [-1.0], [0.5]], [1, 3, 4])
    found = many.evaluate(onlinear.open_stream(path, like=many, on_error="skip"))
    assert (found.examples, found.skipped) == (2, 2)
    with pytest.raises(DataError, match=r"data.svm:3:6"):
        many.evaluate(onlinear.open_stream(path, like=many))
    assert fact(found, "skipped") == ["2 lines, not counted above"]


@pytest.mark.parametrize("intercept", [False, True])
def test_examples_of_the_training_are_noticed(intercept):
    X, y = onlinear.datasets.noisy(n=60, seed=3)
    run = onlinear.train(Perceptron(), X[:40], y[:40], fit_intercept=intercept)
    for size in (1, 7, 60):
        found = run.evaluate(in_blocks(X, y, size))
        assert (found.trained_on, found.interval) == (40 / 60, None)
        assert fact(found, "interval") == [
            "none: the model was trained on about 67% of these examples, so this is no estimate for new ones"
        ]
    shuffled = np.random.default_rng(0).permutation(40)
    for rows in (slice(0, 40), slice(7, 25), shuffled):
        found = run.evaluate(scipy.sparse.csr_array(X)[rows], y[rows])
        assert found.no_interval == "the model was trained on these examples, so this is no estimate for new ones"
    found = run.evaluate(X[40:], y[40:])
    assert (found.trained_on, found.interval) == (0.0, binomial_interval(found.correct, found.examples, 0.05))
    found = run.evaluate(X[35:], y[35:])
    assert (found.trained_on, found.no_interval) == (1 / 5, "")
    assert fact(found, "overlap") == ["about 20% of the examples also occur in the training data"]
    assert onlinear.run(Perceptron(), X, y).evaluate(X, y).trained_on is None


@pytest.mark.parametrize("options", [{"passes": 3}, {"shuffle": 1000}, {"passes": 2, "shuffle": 7, "seed": 1}])
def test_examples_of_the_training_are_noticed_however_they_were_read(options, tmp_path):
    X, y = onlinear.datasets.noisy(n=2000, seed=3)
    first = onlinear.train(Perceptron(), X[:700], y[:700], **options)
    both = onlinear.train(Perceptron(), X[700:1400], y[700:1400], state=first, **options)
    both.save(tmp_path / "model")
    run = onlinear.load(tmp_path / "model")
    for part in (slice(0, 700), slice(700, 1400), slice(200, 1200)):
        assert run.evaluate(X[part], y[part]).trained_on == 1.0
    assert run.evaluate(X[1400:], y[1400:]).trained_on == 0.0
    assert run.evaluate(X[1000:1800], y[1000:1800]).trained_on == pytest.approx(0.5, abs=0.1)


def test_examples_that_are_often_equal_are_no_sign_of_the_training_data():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 3)) * 1.0, np.arange(400) // 2 % 2
    run = onlinear.train(Perceptron(), X[:200], y[:200])
    found = run.evaluate(X[200:], y[200:])
    why = "these examples occur in the training data, so this may be no estimate for new ones"
    assert (found.trained_on, found.no_interval) == (1.0, why)
    found = run.evaluate([*X[200:208], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]], [0, 1] * 5)
    assert (found.interval is None, found.no_interval) == (False, "")
    assert "of the examples also occur in the training data" in fact(found, "overlap")[0]


def test_data_that_were_read_twice_are_noticed():
    X, y = onlinear.datasets.noisy(n=300, seed=3)
    twice = onlinear.train(Perceptron(), X, y, state=onlinear.train(Perceptron(), X, y))
    assert "these examples occur in the training data" in twice.evaluate(X, y).no_interval


def test_examples_from_arrays_are_not_recognised():
    X, y = onlinear.datasets.noisy(n=300, seed=3)
    run = onlinear.run(Perceptron(), X[150:], y[150:], state=onlinear.train(Perceptron(), X[:150], y[:150]))
    assert run.evaluate(X[150:], y[150:]).trained_on is None


def test_a_state_without_rounds_can_be_evaluated():
    X, y = onlinear.datasets.noisy(n=30, seed=3)
    state = onlinear.train(Perceptron(), X, y).state
    empty = dataclasses.replace(state, rounds=0, updates=0, mistakes_by_class=(0, 0), labels=None)
    assert onlinear.Run(empty).evaluate(X, y).trained_on == 1.0


def test_no_interval_without_independence():
    X = np.linspace(-1.0, 1.0, 64)[:, None]
    run, y = a_run(), np.sign(X[:, 0]).astype(int)
    found = run.evaluate(X, y)
    assert found.order.noticed == 64
    assert fact(found, "interval") == [
        "none: the labels are not in random order (noticed at example 64), so the examples are not independent"
    ]
    assert found.as_dict()["no_interval"] == found.no_interval
    mixed = np.random.default_rng(0).permutation(64)
    found = run.evaluate(X[mixed], y[mixed])
    assert (found.order.noticed, found.no_interval) == (None, "")
    declared = "(declared: examples are independent, of one distribution, and not used in training)"
    assert fact(found, "interval") == [f"{show_interval(found.interval)} with probability 0.95 {declared}"]
    found = run.evaluate(X[mixed], y[mixed], delta=1e-7)  # not "probability 1"
    assert fact(found, "interval") == [f"{show_interval(found.interval)} with probability 1 − 1e-07 {declared}"]
    found = run.evaluate(X[:9], y[:9])
    assert fact(found, "interval") == ["none: all examples have the same label, so this is no estimate for the others"]
    assert fact(found, "macro") == ["precision 1.0000, recall 1.0000, F1 1.0000, of 1 of 2 classes"]


def test_summaries_have_at_most_80_columns():
    found = a_run().evaluate([[1.0], [1.0], [1.0], [-1.0]], [-1, -1, -1, 1])
    assert max(map(len, repr(found).splitlines())) <= 80


def test_many_classes_are_shown_briefly():
    names = [f"c{r:02}" for r in range(30)]
    X, y = np.eye(30), np.array(names)
    run = onlinear.converge(Perceptron(), X, y, classes=names)
    X[[2, 3]] = X[[3, 2]]
    shown = repr(run.evaluate(X, y))
    assert [line.split() for line in shown.splitlines()[-3:]] == [
        ["label", "predicted", "most", "frequent", "confusions"],
        ["'c02'", "'c03'", "1"],
        ["'c03'", "'c02'", "1"],
    ]
    assert fact(run.evaluate(X, y), "AUC") == ["for two classes only"]
    # Beyond some number of classes a matrix would be too large; the measures are not.
    wide = [f"c{r:04}" for r in range(1_100)]
    data = scipy.sparse.eye_array(1_100, format="csr")
    found = onlinear.run(Perceptron(), data, wide, classes=wide).evaluate(data, wide)
    assert found.confusion is None
    assert found.as_dict()["confusion"] is None
    assert "… 1,000 more" in repr(found)
    assert found.support.tolist() == [1] * 1_100


def test_randomised_predictions_are_those_of_predict():
    X, y = onlinear.datasets.experts(N=5, n=400, best=0.1, seed=0)
    run = onlinear.run(RandomizedWeightedMajority(), X[:200], y[:200])
    found = run.evaluate(X[200:], y[200:])
    assert found.correct == np.count_nonzero(run.predict(X[200:]) == y[200:])


# --- Features that the model does not have ----------------------------------------------------------

WIDE = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 5.0], [-1.0, 1.0, 1.0]])
LAYOUTS = [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_new_features_are_counted(layout):
    run, X = a_run(), layout(WIDE)
    words = "2 of 3 examples have features that are not among the model's 1 feature; these features have no effect"
    first = r" \(first: row 1, column 2; strict=True makes it an error\)"
    with pytest.warns(DataWarning, match=words + first):
        found = run.evaluate(X, [1, 1, -1])
    assert (found.unknown, found.correct) == (2, 3)
    assert fact(found, "features") == ["2 examples with features that the model does not have"]
    for ask in (
        run.predict,
        run.decision_function,
        lambda X: list(run.predictions(onlinear.open_stream(X, [0, 0, 0]))),
    ):
        with pytest.warns(DataWarning, match=words):
            ask(X)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_strict_refuses_new_features(layout):
    run, X = a_run(), layout(WIDE)
    stream = onlinear.open_stream(X, [1, 1, -1])
    for ask in (
        lambda: run.predict(X, strict=True),
        lambda: run.decision_function(X, strict=True),
        lambda: list(run.predictions(stream, strict=True)),
        lambda: run.evaluate(X, [1, 1, -1], strict=True),
        lambda: run.evaluate(stream, strict=True),
    ):
        with pytest.raises(DataError, match="row 1, column 2: the model has no such feature; it has 1"):
            ask()
    assert run.evaluate(layout(WIDE[:1]), [1], strict=True).unknown == 0


def test_new_features_of_winnow_have_weights():
    X, y = onlinear.datasets.disjunction(k=2, N=4, n=40, seed=0)
    run = onlinear.run(Winnow(threshold=2.0), X, y)
    with pytest.warns(DataWarning, match="these features have their first weights"):
        run.predict([[1.0, 0.0, 0.0, 0.0, 1.0]])


def test_none_of_the_features():
    with pytest.warns(DataWarning, match="no example has any of the model's 1 feature: are these the right data"):
        a_run().evaluate(scipy.sparse.csr_array(WIDE[:, [1, 0, 2]] * [0.0, 1.0, 1.0]), [1, 1, -1])


def test_new_columns_and_categories_of_a_table(tmp_path):
    (tmp_path / "old.csv").write_text("a,c,label\n1,x,yes\n-2,y,no\n")
    (tmp_path / "new.csv").write_text("a,c,label\n1,x,yes\n-2,z,no\n")
    run = onlinear.train(Perceptron(), onlinear.open_stream(tmp_path / "old.csv"))
    stream = onlinear.open_stream(tmp_path / "new.csv", like=run)
    with pytest.warns(DataWarning, match=r"1 of 2 examples .*first: .*new.csv:3, .*c=z"):
        assert run.evaluate(stream).unknown == 1
    with pytest.raises(DataError, match=r"new.csv:3, .*c=z.*: the model has no such feature; it has 3"):
        run.evaluate(stream, strict=True)


@pytest.mark.parametrize("rule", [Perceptron(), Winnow(), Winnow(threshold=2.0)], ids=repr)
def test_predicting_notices_new_categories_as_evaluating_does(tmp_path, rule):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("c,d,label\nx,u,yes\ny,v,no\n")
    new.write_text("c,d,label\nx,new,yes\nother,last,no\ny,new,yes\nx,u,yes\n")
    run = onlinear.train(rule, onlinear.open_stream(old))
    stream = onlinear.open_stream(new, like=run, labelled=False)
    labelled = onlinear.open_stream(new, like=run)
    effect = "first weights" if rule == Winnow(threshold=2.0) else "no effect"
    words = rf"3 of 4 examples .*{effect} \(first: .*new.csv:2, feature 'd=new'"
    with pytest.warns(DataWarning, match=words):
        predicted = np.concatenate([labels for labels, _ in run.predictions(stream)])
    with pytest.warns(DataWarning, match=words):
        found = run.evaluate(labelled)
    assert found.correct == (predicted == ["yes", "no", "yes", "yes"]).sum()
    for ask in (lambda: list(run.predictions(stream, strict=True)), lambda: run.evaluate(labelled, strict=True)):
        with pytest.raises(DataError, match=r"new.csv:2, feature 'd=new': the model has no such feature; it has 4"):
            ask()


def test_predicting_says_which_columns_it_does_not_read(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("a,c,label\n1,x,yes\n-2,y,no\n")
    new.write_text("id,a,c,when\n7,1,x,now\n8,-2,y,then\n")
    run = onlinear.train(Perceptron(), onlinear.open_stream(old))
    stream = onlinear.open_stream(new, like=run, labelled=False)
    assert stream.unknown_columns == ("id", "when")
    with pytest.warns(DataWarning, match="these columns are not among the model's and not read: 'id', 'when'"):
        assert [label for labels, _ in run.predictions(stream) for label in labels] == ["yes", "no"]
    with pytest.raises(DataError, match="these columns are not among the model's: 'id', 'when'"):
        next(run.predictions(stream, strict=True))
    plain = onlinear.open_stream(old, like=run, labelled=False)
    assert plain.unknown_columns == ()
    assert len(list(run.predictions(plain, strict=True))) == 1
