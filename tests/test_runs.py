"""What a run returns and refuses."""

import gc
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import onlinear
from onlinear import Potentials
from onlinear.data.look_ahead import look_ahead
from onlinear.data.numbered import block_chunks
from onlinear.errors import DataError, DataWarning, ParameterError
from onlinear.rules import (
    MarginPerceptron,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
)

X, Y = onlinear.datasets.separable(0.1, n=200, d=5, seed=3)
CSR = scipy.sparse.csr_matrix(X)


def broken(value, row=7, column=2, matrix=X):
    copy = matrix.copy()
    copy[row, column] = value
    return copy


def outside(where):
    copy = scipy.sparse.csr_matrix(X)
    copy.has_canonical_format = True
    copy.has_sorted_indices = True
    getattr(copy, where)[-1] = 10**6 if where == "indices" else copy.nnz + 5
    return copy


BINARY = (X > 0) * 1.0
ADVICE = np.where(X > 0, 1.0, -1.0)


@pytest.mark.parametrize(
    ("rule", "data", "message"),
    [
        (Perceptron(), (broken(np.nan), Y), "row 7, column 2: value nan; inputs must be finite"),
        (Perceptron(), (broken(-np.inf), Y), "row 7, column 2: value -inf; inputs must be finite"),
        (Perceptron(), (broken(np.inf).astype(np.float32), Y), "row 7, column 2: value inf"),
        (Perceptron(), (scipy.sparse.csr_matrix(broken(np.nan)), Y), "row 7, column 2: value nan"),
        (Perceptron(), ([(X[:5], Y[:5]), (broken(np.nan)[5:], Y[5:])],), "row 7, column 2: value nan"),
        (MarginPerceptron(0.1, normalized=True), (broken(np.nan, row=199), Y), "row 199, column 2: value nan"),
        (Winnow(), (broken(0.5, matrix=BINARY), Y), "row 7, column 2: value 0.5; inputs must be 0 or 1"),
        (Winnow(), (broken(np.nan, matrix=BINARY), Y), "row 7, column 2: value nan; inputs must be 0 or 1"),
        (WeightedMajority(), (broken(0.0, matrix=ADVICE), Y), "row 7, column 2: value 0.0; advice must be"),
        (WeightedMajority(), (scipy.sparse.csr_matrix(broken(0.0, matrix=ADVICE)), Y), "row 7: advice must be"),
        (Perceptron(), (X, Y[:-1]), r"X has 200 row\(s\) and y has 199 label\(s\)"),
        (
            Perceptron(),
            (X, np.ones(200)),
            r"only one label \(1.0\) in the data; declare all labels \(classes\)",
        ),
        (Winnow(), (X > 0, np.where(np.arange(200) == 9, 5, Y)), r"the labels are 3: -1, 1, 5; Winnow takes binary"),
        (Perceptron(), (X, np.where(np.arange(200) == 9, np.nan, Y)), "row 9: label is NaN"),
        (Perceptron(), (X, [np.nan] * 200), "row 0: label is NaN"),
        (Perceptron(), (X, [np.inf, 1.0] * 100), "row 0: label is inf"),
        (Perceptron(), ([[1, 2], [3, 4]],), "block 0: .*is y missing"),
        (Perceptron(), (X, [1, "a"] * 100), "row 0: label 1 among strings"),
        (Perceptron(), (X, np.array([1, "a"] * 100, dtype=object)), "cannot be ordered"),
        (Perceptron(), (X, np.stack([Y, Y], axis=1)), r"y has 2 dimension\(s\)"),
        (Perceptron(), (X[0], Y), r"X has 1 dimension\(s\); it needs two"),
        (Perceptron(), ([["a", "b"]] * 200, Y), "X holds <U1, not numbers"),
        (Perceptron(), (X.astype(complex), Y), "X holds complex128, not numbers"),
        (Perceptron(), (np.array([[1.0, "b"]] * 200, dtype=object), Y), "row 0, column 1: 'b' is not a number"),
        (Perceptron(), ([[1.0, 2.0], [3.0]], [0, 1]), "X is not a matrix"),
        (Perceptron(), (X[:0], Y[:0]), "no examples"),
        (Perceptron(), ([],), "no examples"),
        (Perceptron(), (iter([(X[:0], Y[:0])]),), "no examples"),
        (Perceptron(), (X,), "y is missing"),
        (Perceptron(), ((X, Y),), "y is missing"),
        (Perceptron(), (5,), "y is missing"),
        (Perceptron(), ([X],), "block 0 is a ndarray, not a pair"),
        (Perceptron(), ([(X, Y), (X[:, :3], Y)],), "row 200 has 3 features, but 5 are known"),
        (Perceptron(), ([(X, Y), (X, Y[:3])],), "block 1: X has 200"),
        (Winnow(), ([(BINARY, Y), (np.ones((200, 6)), Y)],), "row 200 has 6 features; Winnow started with 5"),
        (WeightedMajority(), ([(ADVICE, Y), (np.ones((200, 6)), Y)],), "row 200 has 6 features"),
        (Perceptron(), (outside("indices"), Y), "row 199: its indices exceed the matrix"),
        (Perceptron(), (outside("indptr"), Y), "row 199: indptr goes from"),
        (Perceptron(), (np.array([[1e200], [1e200]]), [0, 1]), "row 1: .*score overflows"),
        (Perceptron(), (np.ma.masked_less(X, 0.0), Y), "row 0: X has a masked value"),
        (Perceptron(), (np.empty((200, 0)), Y), "X has no columns"),
        (Perceptron(), (np.full((200, 1), 10**400, dtype=object), Y), "X holds a number that is too large"),
        (Perceptron(), ([(X[:5], Y[:5] * 0 + 1), (X[5:], np.full(195, np.nan))],), "row 5: label is NaN"),
        (Perceptron(), (onlinear.datasets.xor(),), "block 0 is a ndarray, not a pair .* X and y are two arguments"),
    ],
)
def test_bad_data_is_refused_with_its_place(rule, data, message):
    with pytest.raises(DataError, match=message):
        onlinear.run(rule, *data)


@pytest.mark.parametrize(
    ("rule", "data", "options", "message"),
    [
        (
            Winnow(),
            (BINARY, Y),
            {"fit_intercept": True},
            "Winnow takes binary inputs unchanged; fit_intercept does not apply",
        ),
        (
            WeightedMajority(),
            (ADVICE, Y),
            {"normalize": True},
            "takes advice inputs unchanged; normalize does not apply",
        ),
        (WeightedMajority(), (ADVICE, Y), {"start": np.ones(5)}, "experts start with equal weights"),
        (Winnow(), (BINARY, Y), {"start": np.zeros(5)}, "start has a weight that is not above 0"),
        (Perceptron(), (X, Y), {"start": np.zeros(4)}, r"start has shape \(4,\); there are 5 features"),
        (Perceptron(), (X, Y), {"start": np.full(5, np.nan)}, "start has an entry that is not finite"),
        (Perceptron(), (X, Y), {"start": (np.zeros(5), 1.0)}, "start has an intercept, but fit_intercept is False"),
        (Perceptron(), (X, Y), {"n_features": 0}, "n_features is 0"),
        (Perceptron(), (X, Y), {"n_features": True}, "n_features is True"),
        (Perceptron(), (X, Y), {"classes": (0, "a")}, "must be two labels of one type"),
        (Perceptron(), (X, Y), {"classes": (np.nan, 1.0)}, "must be two labels of one type"),
        (Perceptron(), (X, Y), {"trace": "potentials"}, "trace is 'potentials'"),
        (Perceptron(), (X, Y), {"state": "abc"}, "state is a str; it must be a Run or its state"),
        (
            Perceptron(),
            (X, Y),
            {"start": onlinear.run(Perceptron(), X, Y)},
            "start is a Run; resume from it with state=",
        ),
        (Perceptron(), (X, Y), {"start": "ab"}, "start is not a vector of numbers"),
        (Perceptron(), (X, Y), {"classes": (1, 1)}, "must be two labels"),
        (Perceptron(), (X, Y), {"trace": Potentials(np.ones(3))}, r"comparator has shape \(3,\)"),
    ],
)
def test_bad_arguments_are_refused(rule, data, options, message):
    with pytest.raises(ParameterError, match=message):
        onlinear.run(rule, *data, **options)


def test_a_failed_run_leaves_the_state_as_it_was():
    first = onlinear.run(Perceptron(), X, Y)
    before = first.weights.copy()
    with pytest.raises(DataError, match="row 7"):
        onlinear.run(Perceptron(), broken(np.nan), -Y, state=first.state)
    assert np.array_equal(first.weights, before)
    assert first.rounds == 200
    with pytest.raises(ValueError, match="read-only"):
        first.weights[0] = 5.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": Perceptron("negative")}, "the state belongs to Perceptron"),
        ({"rule": MarginPerceptron(0.0, normalized=True)}, "the state belongs to Perceptron"),
        ({"start": np.zeros(5)}, "start and state exclude each other"),
        ({"fit_intercept": True}, "fit_intercept was False when the state began"),
        ({"normalize": True}, "normalize was False when the state began"),
        ({"n_features": 9}, "n_features is 9, but the state has 5"),
        ({"classes": (0, 1)}, r"classes is \(0, 1\), but the state has \[-1, 1\]"),
    ],
)
def test_a_state_goes_on_as_it_began(options, message):
    state = onlinear.run(Perceptron(), X, Y).state
    rule = options.pop("rule", Perceptron())
    with pytest.raises(ParameterError, match=message):
        onlinear.run(rule, X, Y, state=state, **options)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "yes"], ["no", "yes"]),
        ([0, 1], [0, 1]),
        ([1, 2], [1, 2]),
        ([False, True], [False, True]),
        ([-1.0, 1.0], [-1.0, 1.0]),
    ],
)
@pytest.mark.parametrize("block", [None, 1, 50])
def test_any_two_labels(labels, classes, block):
    y = np.array(labels)[(Y > 0).astype(int)]
    stream = (X, y) if block is None else (((X[i : i + block], y[i : i + block]) for i in range(0, 200, block)),)
    run = onlinear.run(Perceptron(), *stream)
    assert run.classes.tolist() == classes
    assert np.array_equal(run.weights, onlinear.run(Perceptron(), X, Y).weights)
    assert np.array_equal(run.predict(X) == classes[1], run.decision_function(X) > 0)


def test_blocks_whose_memory_is_reused():
    def reusing():
        buffer = np.empty((1, 5))
        for x, y in zip(X, np.sort(Y), strict=True):
            buffer[0] = x
            yield buffer, np.array([y])

    assert np.array_equal(
        onlinear.run(Perceptron(), reusing()).weights, onlinear.run(Perceptron(), X, np.sort(Y)).weights
    )


def test_one_label_for_too_long_asks_for_the_other():
    block = (np.ones((1000, 1000)), np.ones(1000))
    with pytest.raises(
        DataError, match=r"only one label .* in the first \d+ MB, up to row \d+; declare all labels \(classes\)"
    ):
        onlinear.run(Perceptron(), (block for _ in range(100)))


def test_declared_classes_decide_which_is_positive():
    flipped = onlinear.run(Perceptron(), X, Y, classes=(1, -1))
    assert np.array_equal(flipped.weights, -onlinear.run(Perceptron(), X, Y).weights)
    assert np.array_equal(flipped.predict(X), onlinear.run(Perceptron(), X, Y).predict(X))


def test_ties_are_shown_as_the_first_class_unless_positive():
    for tie, shown in (("mistake", -1), ("negative", -1), ("positive", 1)):
        run = onlinear.run(Perceptron(tie), X, Y)
        assert run.predict(np.zeros((3, 5))).tolist() == [shown] * 3


def test_ties_in_all_zero_rows():
    zeros, y = np.zeros((10, 3)), np.array([1, -1, -1, -1, 1, -1, -1, -1, -1, -1])
    counts = {tie: onlinear.run(Perceptron(tie), zeros, y).mistakes for tie in ("mistake", "negative", "positive")}
    assert counts == {"mistake": 10, "negative": 2, "positive": 8}
    assert onlinear.run(Perceptron(), zeros, y).updates == 10


def test_features_that_were_not_there_weigh_nothing():
    run = onlinear.run(Perceptron(), CSR, Y)
    wider = scipy.sparse.hstack([CSR, scipy.sparse.csr_matrix(np.ones((200, 2)))]).tocsr()
    with pytest.warns(DataWarning, match="200 of 200 examples have features that are not among the model's 5 features"):
        scores = run.decision_function(wider)
    assert np.array_equal(scores, run.decision_function(CSR))
    assert run.decision_function(CSR[:, :3]).shape == (200,)
    with pytest.raises(DataError, match="row 0 has 3 features, but 5 are known"):
        run.predict(X[:, :3])
    with pytest.raises(DataError, match="row 7, column 2: value nan"):
        run.predict(broken(np.nan))
    with pytest.raises(DataError, match="row 7, column 2: value 2"):
        onlinear.run(Winnow(), BINARY, Y).predict(broken(2.0, matrix=BINARY))


def test_the_width_can_be_declared():
    run = onlinear.run(Winnow(), [(BINARY, Y)], n_features=5)
    assert np.array_equal(run.weights, onlinear.run(Winnow(), BINARY, Y).weights)
    sparse = scipy.sparse.csr_matrix(BINARY)
    wide = onlinear.run(Winnow(), sparse, Y, n_features=9)
    assert wide.n_features == wide.weights.size == 9
    assert np.array_equal(wide.weights[:5], onlinear.run(Winnow(threshold=9.0), BINARY, Y).weights)


def test_sparse_memory_of_any_order():
    data, indices = np.repeat(CSR.data, 2)[::2], np.repeat(CSR.indices, 2)[::2]
    strided = scipy.sparse.csr_array((data, indices, CSR.indptr), shape=CSR.shape)
    assert not strided.data.flags.c_contiguous
    assert np.array_equal(onlinear.run(Perceptron(), strided, Y).weights, onlinear.run(Perceptron(), CSR, Y).weights)


def test_sparse_memory_written_to_after_a_run():
    matrix = CSR.copy()
    onlinear.run(Perceptron(), matrix, Y)
    for index in (2**30, -1):
        matrix.indices[8] = index
        with pytest.raises(DataError, match="row 1: its indices exceed the matrix"):
            onlinear.run(Perceptron(), matrix, Y)


@pytest.mark.parametrize("index", [-1, 100, 2**30])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("place", [0, 7, 8, 50, 95, 96, 99])
def test_every_index_is_checked(place, kind, index):
    wide = scipy.sparse.csr_array(np.ones((3, 100)))
    wide.indices, wide.indptr = wide.indices.astype(kind), wide.indptr.astype(kind)
    assert onlinear.run(Perceptron(), wide, [0, 1, 1]).rounds == 3
    wide.indices[100 + place] = index
    with pytest.raises(DataError, match="row 1: its indices exceed the matrix"):
        onlinear.run(Perceptron(), wide, [0, 1, 1])


def test_fit_intercept_is_true_or_false():
    once, twice = (onlinear.run(Perceptron(), X, Y, fit_intercept=value) for value in (True, 2))
    assert np.array_equal(once.weights, twice.weights)


@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e160])
def test_normalizing_does_not_depend_on_the_scale(scale):
    rule = MarginPerceptron(0.5, normalized=True)
    plain = onlinear.run(rule, X, Y, normalize=True)
    scaled = onlinear.run(rule, X * scale, Y, normalize=True)
    assert (scaled.mistakes, scaled.updates) == (plain.mistakes, plain.updates)
    assert scaled.margin_upper_bound == pytest.approx(plain.margin_upper_bound)


def test_classes_cannot_be_changed():
    names = np.array([-1, 1])
    run = onlinear.run(Perceptron(), X, Y, classes=names)
    names[:] = 5
    assert run.classes.tolist() == [-1, 1]
    with pytest.raises(ValueError, match="read-only"):
        run.classes[0] = 7


def test_growth_by_many_small_steps():
    eye = scipy.sparse.eye_array(300, format="csr")
    y = np.where(np.arange(300) % 2, 1, -1)
    run = onlinear.run(Perceptron(), ((eye[[i], : i + 1], y[[i]]) for i in range(300)))
    assert run.n_features == 300
    assert np.array_equal(run.weights, y)


def test_start_with_an_intercept():
    run = onlinear.run(Perceptron(), X, Y, fit_intercept=True, start=(np.ones(5), -2.0), trace=True)
    assert run.trace.scores[0] == pytest.approx(X[0].sum() - 2.0)


def test_potentials_of_each_kind():
    for rule, data, names in (
        (Perceptron(), X, {"squared_norm"}),
        (Winnow(), BINARY, {"total_weight", "squared_norm"}),
        (WeightedMajority(), ADVICE, {"weights", "mistakes"}),
        (RandomizedWeightedMajority("anytime"), ADVICE, {"weights", "mistakes"}),
    ):
        plain = onlinear.run(rule, data, Y, trace=True)
        traced = onlinear.run(rule, data, Y, trace=Potentials())
        assert plain.trace.potentials == {}
        assert set(traced.trace.potentials) == names
        assert {len(values) for values in traced.trace.potentials.values()} == {traced.updates}
        assert np.array_equal(traced.trace.scores, plain.trace.scores)
        assert np.array_equal(traced.weights, plain.weights)
    assert np.array_equal(traced.trace.potentials["mistakes"][-1], traced.expert_mistakes)


def test_a_comparator_with_its_intercept():
    u, c = np.arange(5.0), 2.0
    run = onlinear.run(Perceptron(), X, Y, fit_intercept=True, trace=Potentials((u, c)))
    assert run.trace.potentials["inner"][-1] == pytest.approx(run.weights @ u + run.intercept * c)
    distance = ((run.weights - u) ** 2).sum() + (run.intercept - c) ** 2
    assert run.trace.potentials["squared_distance"][-1] == pytest.approx(distance)


def test_rounds_of_a_trace_count_on():
    first = onlinear.run(Perceptron(), X[:50], Y[:50])
    second = onlinear.run(Perceptron(), X[50:], Y[50:], state=first.state, trace=True)
    whole = onlinear.run(Perceptron(), X, Y, trace=True)
    assert second.trace.mistakes.tolist() == [t for t in whole.trace.mistakes if t >= 50]


def test_what_a_run_shows():
    run = onlinear.run(Perceptron(), X, Y, fit_intercept=True)
    text = repr(run)
    assert text.startswith("Run of Perceptron(tie='mistake')\n")
    for fact in ("200 with 5 features", "-1 (negative), 1 (positive)", f"{run.mistakes:,} (", "at most", "intercept"):
        assert fact in text
    page = run._repr_html_()
    assert page.startswith("<table>")
    assert "<th style='text-align:left'>mistakes</th>" in page
    experts = repr(onlinear.run(RandomizedWeightedMajority(), ADVICE, Y))
    assert "best expert" in experts
    assert "expected mistakes" in experts
    strings = onlinear.run(Perceptron(), X, np.where(Y > 0, "<b>", "a"))
    assert "&lt;b&gt;" in strings._repr_html_()


def test_margin_is_unknown_before_the_first_update():
    run = onlinear.run(Perceptron(), X, Y, start=X.T @ Y)
    assert run.updates == 0
    assert run.margin_upper_bound == np.inf
    assert onlinear.run(Winnow(), BINARY, Y).margin_upper_bound is None


def test_a_state_may_be_given_as_its_run():
    first = onlinear.run(Perceptron(), X[:50], Y[:50])
    again = [onlinear.run(Perceptron(), X[50:], Y[50:], state=state).weights for state in (first, first.state)]
    assert np.array_equal(*again)


def test_runs_in_threads_do_not_meet():
    from concurrent.futures import ThreadPoolExecutor

    big, labels = onlinear.datasets.noisy(0.05, n=20_000, d=30, seed=2)
    alone = onlinear.run(Perceptron(), big, labels)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: onlinear.run(Perceptron(), big, labels), range(8)))
    assert {run.weights.tobytes() for run in together} == {alone.weights.tobytes()}


@pytest.mark.parametrize("eta", [0.01, 0.5, 1.0])
@pytest.mark.slow
def test_experts_neither_underflow_nor_forget(eta):
    """Expert 0 errs in the first half, expert 1 in the second and once more: expert 0 wins in the end."""
    half = 50_000
    y = np.ones(2 * half + 1)
    advice = np.ones((2 * half + 1, 3))
    advice[:half, 0] = -1
    advice[half:, 1] = -1
    advice[:, 2] = -1
    run = onlinear.run(WeightedMajority(eta), advice, y, classes=(-1, 1))
    assert run.expert_mistakes.tolist() == [half, half + 1, 2 * half + 1]
    assert run.weights[0] > run.weights[1] > 0 or eta == 1.0
    assert run.weights[0] / run.weights.max() == 1.0
    assert np.isfinite(run.decision_function(advice)).all()
    randomized = onlinear.run(RandomizedWeightedMajority(min(eta, 0.9)), advice, y, classes=(-1, 1))
    bound = (half * np.log(1 / (1 - min(eta, 0.9))) + np.log(3)) / min(eta, 0.9)
    assert randomized.expected_mistakes <= bound


def test_winnow_weights_never_reach_zero():
    X = np.ones((5000, 1))
    run = onlinear.run(Winnow(threshold=1e-320), X, -np.ones(5000), classes=(-1, 1))
    assert run.weights[0] > 0
    assert run.mistakes == 5000


def test_blocks_that_were_held_back_are_released_one_by_one():
    """The second label is in the last of many blocks; those before it are not kept when they have been learned from."""
    held = []

    def watched():
        for i in range(8):
            block = np.full((10, 2), float(i))
            held.append(weakref.ref(block))
            yield block, np.full(10, int(i >= 6))

    chunks = look_ahead(block_chunks(watched()))[1]
    for _ in range(6):
        next(chunks)
    gc.collect()
    assert [one() is not None for one in held[:5]] == [False] * 5


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_frames_name_the_features(make):
    frame = make({"length": [1.0, 2.0, 3.0, 4.0], "links": [4.0, 3.0, 2.0, 1.0]})
    y = ["no", "no", "yes", "yes"]
    run = onlinear.run(Perceptron(), frame, y)
    assert run.state.names == ("length", "links")
    for other in (
        onlinear.run(Perceptron(), frame, y, state=run.state),
        onlinear.converge(Perceptron(), frame, y),
        onlinear.batch_perceptron(frame, y),
    ):
        assert other.state.names == ("length", "links")
    assert set(onlinear.plot.weights.frame(run)["text"].to_pylist()) == {"length", "links"}
    array = frame.to_numpy()
    assert run.predict(frame).tolist() == run.predict(array).tolist()
    swapped = make({"links": [4.0], "length": [1.0]})
    for call in (lambda: run.predict(swapped), lambda: onlinear.run(Perceptron(), swapped, ["no"], state=run.state)):
        with pytest.raises(DataError, match="column 0 of X is 'links', but the run has 'length' there"):
            call()
    wider = make({"length": [1.0], "links": [4.0], "spam": [1.0]})
    assert onlinear.run(Perceptron(), wider, ["no"], state=run.state).state.names == ("length", "links", "spam")
    narrower = make({"length": [1.0]})
    with pytest.raises(DataError, match="column 1 of X is nothing, but the run has 'links' there"):
        onlinear.run(Perceptron(), narrower, ["no"], state=run.state)
    assert onlinear.run(Perceptron(), array, y).state.names is None
