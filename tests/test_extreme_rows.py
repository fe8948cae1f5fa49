"""Rows of zeros, equal rows, huge and tiny ones: every rule learns without NaN, or refuses the row with its place."""

import numpy as np
import pytest

import onlinear
from onlinear.errors import DataError
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
    MarginPerceptron(0.1),
    AveragedPerceptron(),
    *(PassiveAggressive(variant=variant) for variant in ("PA", "PA-I", "PA-II")),
    *(rule(loss=loss) for rule in (OnlineGradient, AdaGrad, NormalizedAdaGrad) for loss in ("hinge", "logistic")),
    FTRL(),
    FTRL(l1=0.1, l2=0.1, beta=0.0),
    AROW(),
    AROW(full=True),
    *(SCW(variant=variant) for variant in ("SCW-I", "SCW-II")),
]
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
