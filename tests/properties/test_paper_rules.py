"""The rules against the pseudo-code of their papers: every layout and block size, weights, classes, intercepts."""

import math
from decimal import Decimal, localcontext
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, note

import onlinear
import paper_rules as papers
from onlinear.models.state import weights_of
from onlinear.rules import (
    AROW,
    FTRL,
    SCW,
    AdaGrad,
    AveragedPerceptron,
    NormalizedAdaGrad,
    OnlineGradient,
    PassiveAggressive,
)
from onlinear.rules.normalized import logistic_distance
from strategies import as_layout, in_blocks, many_classes, real

RULES = {
    AveragedPerceptron(): papers.Averaged,
    AveragedPerceptron(0.5): lambda n: papers.Averaged(n, 0.5),
    AveragedPerceptron(progressive=False): lambda n: papers.Averaged(n, progressive=False),
    PassiveAggressive(0.5, "PA"): lambda n: papers.PassiveAggressive(n, 0.5, "PA"),
    PassiveAggressive(0.5): lambda n: papers.PassiveAggressive(n, 0.5),
    PassiveAggressive(0.5, "PA-II"): lambda n: papers.PassiveAggressive(n, 0.5, "PA-II"),
    OnlineGradient(): papers.OnlineGradient,
    OnlineGradient(0.3, 1.0, "logistic"): lambda n: papers.OnlineGradient(n, 0.3, 1.0, "logistic"),
    AdaGrad(): papers.AdaGrad,
    AdaGrad(0.2, "logistic"): lambda n: papers.AdaGrad(n, 0.2, "logistic"),
    NormalizedAdaGrad(): papers.NormalizedAdaGrad,
    NormalizedAdaGrad(0.3, "hinge"): lambda n: papers.NormalizedAdaGrad(n, 0.3, "hinge"),
    FTRL(): papers.FTRL,
    FTRL(0.5, 0.5, 0.4, 0.1): lambda n: papers.FTRL(n, 0.5, 0.5, 0.4, 0.1),
    AROW(): papers.AROW,
    AROW(0.3, full=9): lambda n: papers.AROW(n, 0.3, full=9),
    AROW(full=3): lambda n: papers.AROW(n, full=3),
    AROW(2.0, full=1): lambda n: papers.AROW(n, 2.0, full=1),
    SCW(): papers.SCW,
    SCW(0.8, 0.5, "SCW-II"): lambda n: papers.SCW(n, 0.8, 0.5, "SCW-II"),
    SCW(full=9): lambda n: papers.SCW(n, full=9),
    SCW(0.7, 0.5, "SCW-II", full=2): lambda n: papers.SCW(n, 0.7, 0.5, "SCW-II", full=2),
}
EVERY_RULE = [pytest.param(rule, make, id=repr(rule)) for rule, make in RULES.items()]
SMALL = {"max_rows": 12, "max_width": 5}
NEAR = 1e-9


def sizes(n):
    """Weights of examples: all 1, or any."""
    return st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)


def runs(rule, X, y, weights, **options):
    """Yield a run for every layout; in blocks, too, unless examples have weights."""
    for layout, block in product(
        ["dense", "float32", "csr", "csr, int64 indices"], [None] if weights else [None, 1, 5]
    ):
        note(f"{layout}, blocks of {block}")
        Z = as_layout(X, layout)
        if block is None:
            yield onlinear.run(rule, Z, y, sample_weight=weights, trace=True, **options)
        else:
            yield onlinear.run(rule, in_blocks(Z, y, block), trace=True, **options)


@pytest.mark.parametrize(("rule", "make"), EVERY_RULE)
@given(data=st.data(), intercept=st.booleans())
def test_two_classes(rule, make, data, intercept):
    X, y = data.draw(real(**SMALL))
    weights = data.draw(sizes(len(y)))
    oracle = papers.Outcome(make(X.shape[1] + intercept), X, y, weights or [1.0] * len(y), intercept=intercept)
    assume(oracle.edge > NEAR)
    for run in runs(rule, X, y, weights, fit_intercept=intercept, classes=(-1, 1)):
        assert run.trace.mistakes.tolist() == oracle.mistakes
        assert run.trace.scores == pytest.approx(oracle.scores, rel=1e-10, abs=1e-10)
        assert [*[run.intercept] * intercept, *run.weights] == pytest.approx(oracle.w, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(("rule", "make"), EVERY_RULE)
@given(data=st.data(), intercept=st.booleans())
def test_many_classes(rule, make, data, intercept):
    X, y, _ = data.draw(many_classes(max_rows=8, max_width=3))
    y, k = y % 4, 4
    weights = data.draw(sizes(len(y)))
    made = make((X.shape[1] + intercept) * k)
    oracle = papers.Outcome(made, X, y, weights or [1.0] * len(y), intercept=intercept, classes=k)
    assume(oracle.edge > NEAR)
    for run in runs(rule, X, y, weights, fit_intercept=intercept, classes=range(k)):
        assert run.trace.mistakes.tolist() == oracle.mistakes
        found = weights_of(run.state.final)
        assert found == pytest.approx(np.array(oracle.w), rel=1e-10, abs=1e-12)


@given(z=st.floats(-600, 600), h=st.floats(1e-12, 1e6), size=st.sampled_from([1.0, 1e-3, 1e-9, 1e12]))
def test_the_distance_of_many_small_steps(z, h, size):
    """δ + e^z·(e^δ − 1) = h, up to rounding."""
    h *= size
    far = logistic_distance(z, 1.0 / (1.0 + math.exp(z)), h)
    with localcontext() as context:
        context.prec = 400
        growth = Decimal(z).exp()
        below, above = (Decimal(far) * (1 + Decimal(sign) * Decimal("1e-13")) for sign in (-1, 1))
        assert below + growth * (below.exp() - 1) <= Decimal(h) <= above + growth * (above.exp() - 1)
