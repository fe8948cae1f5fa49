"""Rows of zeros, equal rows, huge and tiny ones: every rule learns without NaN, or refuses the row with its place."""

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear.engine.leading import leading_variance, move_leading, move_others, other_variance
from onlinear.engine.rates import Proximal, adapt, add_rated, lead
from onlinear.engine.rows import DenseBlock, PairRow, SparseBlock, open_rows, row
from onlinear.engine.steps import add_rooted, add_scaled, add_squares, dot_squares, shrink
from onlinear.errors import DataError, ParameterError
from onlinear.rules import (
    AROW,
    FTRL,
    SCW,
    AdaGrad,
    AveragedPerceptron,
    MarginPerceptron,
    NormalizedAdaGrad,
    OnlineGradient,
    PassiveAggressive,
    Perceptron,
)
from onlinear.rules.registry import ONLINE

RULES = [
    Perceptron(),
    MarginPerceptron(0.1, normalized=True),
    AveragedPerceptron(),
    *(PassiveAggressive(variant=variant) for variant in ("PA", "PA-I", "PA-II")),
    *(rule(loss=loss) for rule in (OnlineGradient, AdaGrad, NormalizedAdaGrad) for loss in ("hinge", "logistic")),
    FTRL(),
    FTRL(l1=0.1, l2=0.1, beta=0.0),
    AROW(),
    AROW(full=8),
    AROW(full=1),
    SCW(full=8),
    *(SCW(variant=variant) for variant in ("SCW-I", "SCW-II")),
]
FINE = (Perceptron, AveragedPerceptron, OnlineGradient)
"""They add up rows, and need no squares."""
SMALLEST = (PassiveAggressive, NormalizedAdaGrad, AROW, SCW)
"""Their step depends on the size of the row."""
ROWS = {
    "zeros": [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
    "equal": [[0.3, -0.7]] * 6,
    "huge": [[1e150, 1.0], [-1e150, 2.0], [3e149, -1e150]],
    "too large": [[1e160, 1.0], [-1e200, 2.0], [1e308, -1e308]],
    "tiny": [[1e-150, -1e-150], [2e-150, 1e-150], [1e-150, 0.0]],
    "nearly nothing": [[1e-200, 0.0], [5e-324, -1e-310], [0.0, 2e-300]],
    "of all sizes": [[1e-200, 1e150], [1e150, 1e-200], [1.0, -1e-150]],
}


def attempt(rule, X, y, **options):
    """Return the run, or why an example was refused."""
    try:
        return onlinear.run(rule, X, y, **options), ""
    except DataError as error:
        return None, str(error)


def test_every_rule_for_real_inputs_is_tried():
    assert {type(rule) for rule in RULES} == {cls for cls in ONLINE.values() if cls.inputs == "real"}


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_any_size(rule, kind):
    X = np.array(ROWS[kind])
    for y, intercept in (([1, -1, 1] * (len(X) // 3), False), ([-1, -1, 1] * (len(X) // 3), True)):
        for k in range(1, len(X) + 1):
            run, refusal = attempt(rule, X[:k], y[:k], classes=(-1, 1), fit_intercept=intercept)
            if run is None:
                assert kind in {"huge", "too large", "of all sizes"}
                assert "too large" in refusal or "overflows" in refusal
                break
            arrays = [run.state.arrays] if isinstance(run.state.arrays, np.ndarray) else run.state.arrays
            assert all(np.isfinite(array).all() for array in arrays)
            assert np.isfinite(run.weights).all()


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rows_of_zeros_change_no_prediction(rule):
    X, y = onlinear.datasets.noisy(n=60, d=4, seed=0)
    zeros = np.zeros((len(X), 4))
    mixed, labels = np.stack([X, zeros], axis=1).reshape(-1, 4), np.repeat(y, 2)
    one, other = (onlinear.run(rule, *data, trace=True).trace.scores for data in ((X, y), (mixed, labels)))
    if isinstance(rule, AveragedPerceptron | OnlineGradient):  # they count rounds
        assert (other[1::2] == 0.0).all()
    else:
        assert np.array_equal(other[::2], one)


@pytest.mark.parametrize("rule", [rule for rule in RULES if not isinstance(rule, FINE)], ids=repr)
def test_rows_whose_square_overflows_are_refused(rule):
    with pytest.raises(DataError, match="row 0: its values are too large to learn from; scale the inputs"):
        onlinear.run(rule, [[1e200, 0.0]], [1], classes=(-1, 1))


@pytest.mark.parametrize("rule", [rule for rule in RULES if isinstance(rule, SMALLEST)], ids=repr)
def test_rows_of_zeros_are_no_updates(rule):
    assert onlinear.run(rule, np.zeros((5, 2)), [1, -1, 1, 1, -1]).updates == 0


@pytest.mark.parametrize("rule", [AROW(full=64), SCW(full=64)], ids=repr)
def test_a_variance_below_zero_by_rounding_is_none(rule):
    """Of a matrix little remains where a huge row was seen before."""
    X, y = np.full((40, 1), 104_380_000.0), [-1, -1, -1, -1, 1] * 8
    assert np.isfinite(onlinear.run(rule, X, y, fit_intercept=True).weights).all()


@pytest.mark.parametrize("rule", [OnlineGradient(), AdaGrad(2.0), NormalizedAdaGrad(9.0, "hinge")], ids=repr)
def test_no_update_where_the_loss_is_zero(rule):
    run = onlinear.run(rule, [[3.0]] * 10, [1] * 10, classes=(-1, 1))
    assert (run.updates, run.mistakes) == (1, 1)


def first_row(layout):
    block = DenseBlock(np.ones((1, 3)), 0, False)
    if layout == "sparse":
        block = SparseBlock(np.ones(3), np.arange(3), np.array([0, 3]), 3, 0, False)
    x = row(open_rows(block), 0, 0)
    return PairRow(x, 4, 0, 1) if layout == "pair" else x


@pytest.mark.parametrize("layout", ["dense", "sparse", "pair"])
@pytest.mark.parametrize("short", range(4))
def test_an_array_that_is_too_short_for_a_step_is_refused(layout, short):
    x = first_row(layout)
    n = 12 if layout == "pair" else 3
    w, s, r, q = (np.ones(n - (k == short)) for k in range(4))
    calls = {
        0: [lambda: dot_squares(w, x), lambda: add_squares(w, 1.0, x), lambda: shrink(w, 1.0, x)],
        1: [lambda: add_scaled(w, 1.0, s, x), lambda: add_rooted(w, 1.0, s, x), lambda: add_rated(w, 1.0, s, x)],
        2: [lambda: lead(w, s, r, 1.0, Proximal(1.0, 1.0, 0.0, 0.0), x)],
        3: [lambda: adapt(w, s, r, q, 1.0, x)],
    }
    for call in [one for number, group in calls.items() if number >= short for one in group]:
        with pytest.raises(IndexError, match="fewer entries than there are features"):
            call()


@pytest.mark.parametrize("layout", ["dense", "sparse", "pair"])
def test_arrays_that_are_too_short_for_the_leading_features_are_refused(layout):
    x = first_row(layout)
    n = 12 if layout == "pair" else 3
    A, f, w, s = np.eye(3), np.zeros((2, 3)), np.zeros(n), np.ones(n)
    assert leading_variance(A, f, w, x) + other_variance(s, 2, x) > 0.0
    for given in ((A, f, w[:-1]), (A, f[:1], w), (A, f[:, :-1], w), (A[:, :-1], f, w)):
        with pytest.raises(IndexError, match="fewer entries than there are features"):
            leading_variance(*given, x)
        with pytest.raises(IndexError, match="fewer entries than there are features"):
            move_leading(*given, 1.0, 0.1, 0.5, x)
    with pytest.raises(IndexError, match="fewer entries than there are features"):
        other_variance(s[:-1], 2, x)
    for arrays in ((w[:-1], s), (w, s[:-1])):
        with pytest.raises(IndexError, match="fewer entries than there are features"):
            move_others(*arrays, 2, 1.0, 0.1, x)


@pytest.mark.parametrize("rule", [AROW(full=3), SCW(full=3)], ids=repr)
def test_a_million_equal_examples(rule):
    """Σ becomes small, and never loses its signs."""
    X, y = np.array([[3.0, -1.0, 0.5]] * 4), [1, -1, 1, -1]
    run = onlinear.run(rule, X, y, fit_intercept=True)
    for _ in range(18):
        X, y = np.vstack([X, X]), y * 2
    run = onlinear.run(rule, X, y, state=run.state)
    assert run.rounds == 4 + 2**20
    A, s = run.state.arrays.A, run.state.arrays.s
    S = A @ A.T
    x = np.array([1.0, 3.0, -1.0])
    assert all(np.isfinite(array).all() for array in run.state.arrays)
    assert (np.diag(S) > 0).all()
    assert (s[3:] > 0).all()
    assert 0.0 < x @ S @ x < 0.01
    # Across x nothing has been learned: there Σ is still 1.
    across = np.array([3.0, -1.0, 0.0])
    assert across @ S @ across == pytest.approx(10.0, rel=1e-9)


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_variances_do_not_fall_below_zero(layout):
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = rng.standard_normal((6, 2)) * 10.0 ** rng.uniform(-1, 12, (6, 1))
        y = rng.choice([-1, 1], 6)
        for classes, labels in (((-1, 1), y), (range(3), np.arange(6) % 3)):
            state = onlinear.run(AROW(), layout(X), labels, fit_intercept=True, classes=classes).state
            assert (state.arrays.s >= 0.0).all()


def test_a_row_that_scw_refuses_is_to_blame_with_any_number_of_classes():
    for X, y, classes in (([[1e100]], [1], (-1, 1)), ([[1e100]], [1], range(3))):
        with pytest.raises(DataError, match="row 0: its values are too large to learn from; scale the inputs"):
            onlinear.run(SCW(), X, y, classes=classes)


def test_a_rate_cannot_be_infinite():
    with pytest.raises(ParameterError, match="FTRL: beta and l2 are both 0"):
        FTRL(beta=0.0)
    assert np.isfinite(
        onlinear.run(FTRL(beta=0.0, l2=0.1), [[500.0, 0.0], [500.0, 1.0]], [1, 1], classes=(-1, 1)).weights
    ).all()
