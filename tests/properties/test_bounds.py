"""The bounds against the runs that they speak of, and against the formulas in exact arithmetic.

A bound may never be below the theorem's own number, nor a run above the bound. Roots are compared as
decimals of 60 digits, made of exact fractions.
"""

import inspect
import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings

import onlinear
from onlinear import Potentials, theory
from onlinear.errors import AssumptionError, DataError, ParameterError
from onlinear.rules import (
    FixedShare,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    RandomizedWeightedMajority,
    WeightedMajority,
    Winnow,
    add,
    index,
    rule,
    size,
    value,
)
from onlinear.theory import ClassPairs, Examples, bounds
from onlinear.theory.bounds.bound import EXACT
from onlinear.theory.search import comparator
from strategies import TIES, advice, as_layout, examples, in_blocks, real, separable

CLASSES = (-1, 1)
ties = st.sampled_from(TIES)


@st.composite
def comparable(draw, max_rows=20, max_width=6, *, intercept=None):
    """Examples that (u, c) separates, c = 0 unless an intercept is asked for: ordinary ones, and nearly degenerate."""
    near = [1.0, -1.0, 1 + 2.0**-40, -1 + 2.0**-40, 2.0**-30, -3 * 2.0**-30, 0.0]
    entries = draw(st.sampled_from([st.integers(-64, 64).map(lambda v: v / 16.0), st.sampled_from(near)]))
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, max_width))
    X = np.array(draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n)))
    u = np.array(draw(st.lists(st.sampled_from([-3.0, -1.0, 1.0, 2.0, 0.5]), min_size=d, max_size=d)))
    bias = draw(st.booleans()) if intercept is None else intercept
    c = draw(st.sampled_from([-1.0, 0.25, 2.0])) if bias else 0.0
    scores = [sum(Fraction(a) * Fraction(b) for a, b in zip(x, u, strict=True)) + Fraction(c) for x in X]
    decided = np.array([score != 0 for score in scores])
    assume(decided.any())
    y = np.array([1 if score > 0 else -1 for score in scores])
    return X[decided], y[decided], (u, c) if bias else u


class Exact(NamedTuple):
    """R², min y⟨u,x⟩ and ‖u‖² of augmented rows, as fractions, and the rows themselves."""

    R2: Fraction
    g: Fraction
    U2: Fraction
    agreements: list

    @property
    def difficulty(self):
        return self.R2 * self.U2 / self.g**2


def exact(X, y, u):
    u, c = u if isinstance(u, tuple) else (u, None)
    rows = [[Fraction(v) for v in x] + [Fraction(1)] * (c is not None) for x in np.asarray(X).tolist()]
    whole = [Fraction(v) for v in u] + ([Fraction(c)] if c is not None else [])
    agreements = [int(a) * sum(v * w for v, w in zip(x, whole, strict=True)) for x, a in zip(rows, y, strict=True)]
    return Exact(max(sum(v * v for v in x) for x in rows), min(agreements), sum(v * v for v in whole), agreements)


def decimals(*fractions):
    return [Decimal(f.numerator) / Decimal(f.denominator) for f in map(Fraction, fractions)]


def agrees(bound, truth, tolerance=1e-9):
    """Never below the truth, and next to it."""
    truth = Fraction(truth)
    got = Fraction(bound)
    return truth <= got <= truth * (1 + Fraction(tolerance)) + Fraction(1e-300)


def options(u):
    return {"fit_intercept": isinstance(u, tuple), "classes": CLASSES}


# The perceptron


@given(data=comparable(), tie=ties, passes=st.integers(1, 3))
def test_perceptron(data, tie, passes):
    X, y, u = data
    bound = bounds.perceptron(X, y, u, **options(u))
    run = onlinear.run(Perceptron(tie), [(X, y)] * passes, **options(u))
    assert run.mistakes <= bound.mistakes <= bound.value
    assert agrees(bound.value, exact(X, y, u).difficulty, 1e-15)
    assert bounds.mistake_lemma(X, y, u, **options(u)).value == bound.value
    assert bounds.growth(X, y, u, updates=3, **options(u)).value == bound.value
    assert bound.checked
    assert bound.declared


@given(data=comparable(intercept=False), tie=ties)
def test_perceptron_on_normalised_rows(data, tie):
    X, y, u = data
    bound = bounds.perceptron(X, y, u, normalize=True, classes=CLASSES)
    run = onlinear.run(Perceptron(tie), [(X, y)] * 2, normalize=True, classes=CLASSES)
    assert run.mistakes <= bound.mistakes
    squares = [sum(Fraction(v) ** 2 for v in x) for x in X]
    truth = exact(X, y, u)
    square = min(a**2 / s for a, s in zip(truth.agreements, squares, strict=True)) / truth.U2
    # A normalised row is known up to its roundings: where the margin is hardly more than they, that shows.
    assert agrees(bound.value, 1 / square, 1e-9 + 1e-12 / math.sqrt(square))


@given(data=comparable(intercept=True), tie=ties)
def test_perceptron_on_normalised_rows_with_an_intercept(data, tie):
    X, y, (u, c) = data
    lengths = np.linalg.norm(X, axis=1)
    scores = X @ u / np.where(lengths == 0.0, 1.0, lengths) + c  # zero rows stay as they are
    y, truth, radius = np.sign(scores), np.abs(scores).min(), 2.0 if lengths.any() else 1.0
    assume(truth > 1e-3)
    bound = bounds.perceptron(X, y, (u, c), normalize=True, fit_intercept=True, classes=CLASSES)
    run = onlinear.run(Perceptron(tie), [(X, y)] * 2, normalize=True, fit_intercept=True, classes=CLASSES)
    assert run.mistakes <= bound.mistakes
    assert bound.value == pytest.approx(radius * (u @ u + c * c) / truth**2, rel=1e-9)


@given(data=comparable(max_rows=8, max_width=2))
def test_perceptron_until_it_halts(data):
    X, y, u = data
    bound = bounds.perceptron(X, y, u, **options(u))
    assume(bound.value < 1000)
    done = onlinear.converge(Perceptron(), X, y, max_passes=10**4, **options(u))
    assert done.halted
    assert done.updates <= bound.mistakes


def test_perceptron_is_tight():
    n = 12
    data = (np.eye(n), np.ones(n))
    run = onlinear.run(Perceptron(), *data, classes=CLASSES)
    for u in (np.ones(n), np.full(n, 3.0)):
        assert bounds.perceptron(*data, u, classes=CLASSES).value == 12.0 == run.mistakes
        assert bounds.warm_start(*data, u, start=np.zeros(n), classes=CLASSES).value == 12.0
        assert bounds.hinge(*data, u / u[0], classes=CLASSES).mistakes == 12
        assert bounds.p_norm(*data, u, p=2, classes=CLASSES).value == 12.0
        assert bounds.passive_aggressive(*data, u, classes=CLASSES).value == 12.0


@given(data=separable(max_rows=10, max_width=3), bias=st.booleans(), normalize=st.booleans())
@settings(max_examples=15)
def test_a_separator_is_found_where_none_is_given(data, bias, normalize):
    X, y, u = data
    given_u = (u, 0.0) if bias else u
    how = {"fit_intercept": bias, "normalize": normalize}
    try:
        best = bounds.perceptron(X, y, **how)
    except AssumptionError as error:
        assert "no separator is known" in str(error)  # noqa: PT017
        assert bounds.perceptron(X, y, given_u, **how).value > 1e6
        return
    assert best.value <= bounds.perceptron(X, y, given_u, **how).value * 1.01
    assert onlinear.run(Perceptron(), [(X, y)] * 2, **how).mistakes <= best.mistakes


def test_no_separator_is_found_where_there_is_none():
    with pytest.raises(AssumptionError, match="no separator is known"):
        bounds.perceptron(*onlinear.datasets.xor(), fit_intercept=True)


@given(data=comparable(), start=st.lists(st.integers(-40, 40), min_size=6, max_size=6), tie=ties)
def test_warm_start(data, start, tie):
    X, y, u = data
    v = np.array(start[: X.shape[1]]) / 8.0
    pair = (v, start[-1] / 8.0) if isinstance(u, tuple) else v
    bound = bounds.warm_start(X, y, u, start=pair, **options(u))
    run = onlinear.run(Perceptron(tie), [(X, y)] * 3, start=pair, **options(u))
    assert run.mistakes <= bound.mistakes
    truth = exact(X, y, u)
    whole, comparator = (np.append(*pair), np.append(*u)) if isinstance(u, tuple) else (v, u)
    inner = sum(Fraction(a) * Fraction(b) for a, b in zip(whole, comparator, strict=True))
    with localcontext(prec=60):
        R2, g, U2, A, b2 = decimals(*truth[:3], inner, sum(Fraction(a) ** 2 for a in whole))
        gamma, a = g / U2.sqrt(), A / U2.sqrt()
        middle = R2 - 2 * a * gamma
        formula = (middle + (middle**2 + 4 * gamma**2 * max(b2 - a * a, Decimal(0))).sqrt()) / (2 * gamma**2)
        formula -= formula * Decimal("1e-25") + Decimal("1e-25")  # what 60 digits may lose here
    assert Fraction(formula) <= Fraction(bound.value)
    assert bound.value <= float(formula) * (1 + 1e-9) + 1e-9


@given(data=comparable(), tie=ties)
def test_growth(data, tie):
    X, y, u = data
    trace = onlinear.run(Perceptron(tie), X, y, trace=Potentials(u), **options(u)).trace
    norm = math.sqrt(float(exact(X, y, u).U2))
    for k, (inner, square) in enumerate(zip(*map(trace.potentials.get, ("inner", "squared_norm")), strict=True), 1):
        found = bounds.growth(X, y, u, updates=k, **options(u)).quantities
        assert inner / norm >= found["inner_at_least"] * (1 - 1e-12)
        assert math.sqrt(square) <= found["norm_at_most"] * (1 + 1e-12)
        assert inner / norm / math.sqrt(square) >= found["cosine_at_least"] * (1 - 1e-12)
    with localcontext(prec=60):
        R2, g, U2 = decimals(*exact(X, y, u)[:3])
        found = bounds.growth(X, y, u, updates=7, **options(u)).quantities
        assert agrees(found["norm_at_most"], (7 * R2).sqrt(), 1e-15)
        assert 0 <= 7 * g / U2.sqrt() - Decimal(found["inner_at_least"]) <= Decimal("1e-15") * g


@given(data=real(max_rows=20, max_width=5), u=st.lists(st.integers(-16, 16), min_size=6, max_size=6), tie=ties)
def test_hinge(data, u, tie):
    X, y = data
    comparator = np.array(u[: X.shape[1]]) / 16.0
    pair = (comparator, u[-1] / 16.0) if u[-1] > 0 else comparator
    bound = bounds.hinge(X, y, pair, **options(pair))
    assert onlinear.run(Perceptron(tie), X, y, **options(pair)).mistakes <= bound.mistakes
    truth = exact(X, y, pair)
    with localcontext(prec=60):
        a2, H = decimals(truth.R2 * truth.U2, sum(max(Fraction(0), 1 - a) for a in truth.agreements))
        formula = a2 / 2 + a2.sqrt() / 2 * (a2 + 4 * H).sqrt() + H
    assert agrees(bound.value, formula * (1 - Decimal("1e-50")))


@given(data=real(max_rows=20, max_width=5), normalize=st.booleans(), tie=ties)
def test_hinge_on_normalised_rows(data, normalize, tie):
    X, y = data
    u = np.ones(X.shape[1])
    bound = bounds.hinge(X, y, u, normalize=normalize)
    assert onlinear.run(Perceptron(tie), X, y, normalize=normalize).mistakes <= bound.mistakes


# Margins


@given(data=separable(max_rows=12, max_width=4))
def test_backward(data):
    X, y, u = data
    for rule_ in (Perceptron(), MarginPerceptron(0.5, normalized=True)):
        run = onlinear.run(rule_, X, y)
        bound = bounds.backward(run)
        truth = exact(X, y, u)
        assert bound.value == run.margin_upper_bound
        assert Fraction(bound.value) ** 2 * truth.U2 >= truth.g**2
    assert bounds.backward(onlinear.run(Perceptron(), X, y, start=1e6 * u)).value == math.inf


def test_backward_needs_an_additive_rule():
    run = onlinear.run(Winnow(), [[1, 0], [0, 1]], [1, 0])
    with pytest.raises(AssumptionError, match="Winnow is not additive"):
        bounds.backward(run)
    for other in (3, None, run.state):
        with pytest.raises(ParameterError, match="must be a Run"):
            bounds.backward(other)


@given(data=separable(max_rows=12, max_width=4), shares=st.lists(st.integers(1, 9), min_size=2, max_size=2))
def test_duality(data, shares):
    X, y, u = data
    bound = bounds.duality(X, y, rows=[0, 1], shares=shares)
    total = sum(shares)
    point = [
        sum(Fraction(s, total) * int(y[i]) * Fraction(X[i, j]) for i, s in enumerate(shares)) for j in range(len(u))
    ]
    square = sum(v * v for v in point)
    assert square <= Fraction(bound.value) ** 2 <= square * (1 + Fraction(1e-14))
    truth = exact(X, y, u)
    assert Fraction(bound.value) ** 2 * truth.U2 >= truth.g**2
    augmented = bounds.duality(X, y, rows=[0, 1], shares=shares, fit_intercept=True)
    assert augmented.value >= bound.value


@pytest.mark.parametrize(
    "shares", [[1, -1], [1, math.nan], [math.inf, 1], [1], [1, 1, 1], [[1, 1]], [0, 0], ["a", "b"]]
)
def test_duality_refuses_shares_of_no_convex_combination(shares):
    with pytest.raises(ParameterError, match="shares"):
        bounds.duality([[3.0, 0.0], [0.0, -4.0]], [1, -1], rows=[0, 1], shares=shares)


@pytest.mark.parametrize("rows", [[0.7], [1.0], [True], ["0"], 0, [[0]]])
def test_duality_refuses_rows_that_are_no_integers(rows):
    with pytest.raises(ParameterError, match="integers"):
        bounds.duality([[3.0, 0.0], [0.0, -4.0]], [1, -1], rows=rows, shares=[1])


def test_duality_takes_rows_of_any_integers():
    X, y = [[3.0, 0.0], [0.0, -4.0]], [1, -1]
    for kind in (np.int8, np.uint16, np.int64):
        assert bounds.duality(X, y, rows=np.array([0, 1], dtype=kind), shares=[1, 1]).value == 2.5
    with pytest.raises(DataError, match="2 rows"):
        bounds.duality(X, y, rows=[2], shares=[1])


@given(data=comparable(max_rows=8, max_width=2), b=st.sampled_from([0.0, 0.3, 10.0]))
def test_margin_perceptron(data, b):
    X, y, u = data
    bound = bounds.margin_perceptron(X, y, u, margin=b, **options(u))
    truth = exact(X, y, u)
    assert agrees(bound.value, (truth.R2 + 2 * Fraction(b)) * truth.U2 / truth.g**2, 1e-15)
    assume(bound.value < 1000)
    done = onlinear.converge(MarginPerceptron(b, normalized=False), X, y, max_passes=10**4, **options(u))
    assert done.halted
    assert done.updates <= bound.mistakes
    w = (done.weights, done.intercept) if isinstance(u, tuple) else done.weights
    reached = exact(X, y, w)
    if b:
        assert reached.g > 0
        assert reached.g**2 > Fraction(bound.quantities["margin_when_halted"]) ** 2 * reached.U2


@given(data=comparable(max_rows=8, max_width=2), share=st.sampled_from([0.0, 0.25, 0.5, 0.9]))
def test_normalized_margin_perceptron(data, share):
    X, y, u = data
    truth = exact(X, y, u)
    beta = share * math.sqrt(truth.g**2 / truth.U2)
    bound = bounds.normalized_margin_perceptron(X, y, u, margin=beta, **options(u))
    first, second = bound.quantities["first_form"], bound.quantities["second_form"]
    assert bound.value == min(first, second)
    with localcontext(prec=60):
        R2, g, U2, b = decimals(*truth[:3], beta)
        R, gamma = R2.sqrt(), g / U2.sqrt()
        assert agrees(first, (2 * R2 / (gamma - b) ** 2 + 2 * (R + b) / (gamma - b)) * (1 - Decimal("1e-50")))

        def slack(U):
            """Positive where U is too large to be a solution of the second form."""
            U = Decimal(U)
            return U * (gamma - b) - R - R2 / (2 * gamma) * (1 + U.ln())

        assert slack(second) >= 0
        assert slack(second * (1 - 1e-9)) < 0
        assert slack(second * 2) > 0
    assume(bound.value < 1000)
    done = onlinear.converge(MarginPerceptron(beta, normalized=True), X, y, max_passes=10**4, **options(u))
    assert done.halted
    assert done.updates <= bound.mistakes


# The batch perceptron


@given(data=comparable(max_rows=8, max_width=3), tie=ties)
def test_batch_perceptron(data, tie):
    X, y, u = data
    bound = bounds.batch_constant(X, y, u, **options(u))
    truth, n = exact(X, y, u), len(y)
    assert agrees(bound.value, Fraction((n + 1) ** 2, 4 * n) * truth.difficulty, 1e-15)
    assert agrees(bound.quantities["updates"], n * truth.difficulty, 1e-15)
    assume(bound.value < 1000)
    done = onlinear.batch_perceptron(X, y, tie=tie, max_passes=10**4, **options(u))
    assert done.halted
    assert len(done.batch_sizes) <= bound.mistakes
    assert done.updates <= bound.quantities["updates"]


@given(data=comparable(max_rows=5, max_width=2), power=st.sampled_from([0, 0.25, 0.5]))
def test_batch_schedule(data, power):
    X, y, u = data
    truth = exact(X, y, u)
    goal = len(y) ** 2 * truth.difficulty
    assume(goal < 60)

    def schedule(k):
        return float(k) ** -power

    bound = bounds.batch_schedule(X, y, u, schedule=schedule, **options(u))
    done = onlinear.batch_perceptron(X, y, schedule=schedule, max_passes=10**4, **options(u))
    assert done.halted
    assert len(done.batch_sizes) <= bound.mistakes == bound.value - 1
    K = int(bound.value)
    steps = [Fraction(schedule(k)) for k in range(1, K + 1)]
    assert sum(steps) ** 2 > goal * sum(s * s for s in steps)
    # Not one K sooner, unless by less than rounding.
    assert sum(steps[:-1]) ** 2 <= goal * (1 + Fraction(1e-12)) * sum(s * s for s in steps[:-1])
    if power == 0:
        assert bounds.batch_schedule(X, y, u, schedule="constant", **options(u)).value == bound.value


def first_beyond(goal, steps):
    """The first K by exact arithmetic, or None."""
    total = squares = Fraction(0)
    for k, step in enumerate(map(Fraction, steps), 1):
        total, squares = total + step, squares + step * step
        if total**2 > goal * squares:
            return k
    return None


@pytest.mark.parametrize("size", [1.5e-162, 3.7e-200, 5e-324, 1e-308, 1.0, 3.1e170, 1.7e308])
def test_batch_schedule_with_tiny_and_huge_steps(size):
    X, y, u = [[2.0, 1.0], [1.0, -3.0], [-1.0, -1.0]], [1, -1, -1], [1.0, 1.0]
    goal = 9 * exact(X, y, u).difficulty
    for schedule in (lambda k: size, lambda k: 0.0 if k < 4 else size):
        bound = bounds.batch_schedule(X, y, u, schedule=schedule)
        assert bound.value == first_beyond(goal, (schedule(k) for k in range(1, 1000)))
    if size < 1e300:
        done = onlinear.batch_perceptron(X, y, schedule=lambda k: size)
        assert done.halted
        assert len(done.batch_sizes) <= bounds.batch_schedule(X, y, u, schedule=lambda k: size).mistakes


def test_batch_schedule_is_not_below_the_steps_that_are_taken():
    X, y, u = [[4.0, 0.25], [-1.0, 0.25]], [1, 1], [0.0, 1.0]
    done = onlinear.batch_perceptron(X, y, schedule=lambda k: 1.5e-162, classes=CLASSES)
    bound = bounds.batch_schedule(X, y, u, schedule=lambda k: 1.5e-162, classes=CLASSES)
    assert done.halted
    assert 2 < len(done.batch_sizes) <= bound.mistakes
    assert bound.value == bounds.batch_schedule(X, y, u, schedule="constant", classes=CLASSES).value
    assert not bound.note


def test_batch_schedule_allows_for_every_rounding(monkeypatch):
    # With a coarse unit the allowance shows: k steps of size 1 make the quotient k·(1 − (2k + 8)u)/(1 + (k + 8)u).
    unit, X, y, u = 2.0**-16, [[4.0, 0.25], [-1.0, 0.25]], [1, 1], [0.0, 1.0]
    monkeypatch.setattr(bounds.batch, "UNIT", unit)
    bound = bounds.batch_schedule(X, y, u, schedule=lambda k: 1.0 + 0.0 * k, classes=CLASSES)
    enough = [
        k for k in range(1, 2000) if k * (1 - (2 * k + 8) * unit) > bound.quantities["goal"] * (1 + (k + 8) * unit)
    ]
    assert bound.value == enough[0] > bound.quantities["goal"] + 10


@pytest.mark.parametrize(("N", "k"), [(0, 1), (5, 0), (2.5, 1), (5, 6)])
def test_an_adversary_needs_whole_numbers(N, k):
    with pytest.raises(ParameterError):
        bounds.additive_adversary(N, k)


@given(steps=st.lists(st.sampled_from([0.0, 5e-324, 3e-310, 1e-200, 2.0**-40, 0.3, 1.0, 7e100, 1.7e308]), min_size=40))
def test_batch_schedule_with_steps_of_every_size(steps):
    X, y, u = [[1.0, 0.5]], [1], [1.0, 1.0]
    found = bounds.batch_schedule(
        X, y, u, schedule=lambda k: steps[k - 1], max_steps=np.int8(len(steps[:127])), classes=CLASSES
    )
    truth = first_beyond(exact(X, y, u).difficulty, steps[:127])
    assert found.value == (math.inf if truth is None else truth)


def test_batch_schedule_warns_of_harmonic_steps():
    X, y, u = [[1.0, 0.0], [0.0, -1.0]], [1, -1], [1.0, 1.0]
    short = bounds.batch_schedule(X, y, u, schedule="1/k")
    assert short.mistakes == 19
    assert "exponential" in short.note
    limited = bounds.batch_schedule(X, y, u, schedule="1/k", max_steps=19)
    assert limited.value == limited.mistakes == math.inf
    assert "no K up to 19" in limited.note
    with pytest.raises(ParameterError, match="schedule"):
        bounds.batch_schedule(X, y, u, schedule="k")


# Examples to come


@given(T=st.integers(1, 10**6), share=st.floats(0, 1), delta=st.floats(1e-12, 1 - 1e-12))
def test_risk(T, share, delta):
    M = int(share * T)
    bound = bounds.risk(M, T, delta=delta)
    with localcontext(prec=60):
        formula = Decimal(M) / T + (-Decimal(delta).ln() / (2 * T)).sqrt()
    assert agrees(bound.value, min(formula, 1))
    assert bound.value <= 1.0
    assert any("i.i.d." in words for words in bound.declared)
    assert bounds.risk(M, T, delta=delta, examples=T).checked == ("each example is seen once",)


def test_risk_refuses():
    with pytest.raises(AssumptionError, match="more than one pass"):
        bounds.risk(3, 20, examples=10)
    for arguments in ((3, 2), (-1, 2), (0, 0)):
        with pytest.raises(ParameterError):
            bounds.risk(*arguments)
    with pytest.raises(ParameterError, match="delta"):
        bounds.risk(1, 2, delta=1.0)
    with pytest.raises(AttributeError, match="risk"):
        _ = bounds.risk(1, 2).mistakes


@given(data=comparable())
def test_vc_dimension(data):
    X, y, u = data
    found = bounds.vc_dimension(X, y, u, **options(u)).value
    d = X.shape[1] + isinstance(u, tuple)
    assert found == min(d, math.ceil(exact(X, y, u).difficulty)) + 1


# Many classes


def naive_multiclass(X, codes, k, passes):
    """The perceptron with k vectors; a tie with the right class is a mistake. Returns W and the mistakes."""
    W, mistakes = np.zeros((k, X.shape[1])), 0
    for _ in range(passes):
        for x, c in zip(X, codes, strict=True):
            scores = W @ x
            wrong = max((r for r in range(k) if r != c), key=scores.__getitem__)
            if scores[c] <= scores[wrong]:
                W[c] += x
                W[wrong] -= x
                mistakes += 1
    return W, mistakes


@st.composite
def many_classes(draw):
    X, _ = draw(real(max_rows=15, max_width=4))
    k = draw(st.integers(2, 4))
    U = np.array(draw(st.lists(st.integers(-8, 8), min_size=k * X.shape[1], max_size=k * X.shape[1]))) * 1.0
    U = U.reshape(k, -1)
    ordered = np.sort(X @ U.T, axis=1)
    X = X[ordered[:, -1] > ordered[:, -2]]
    assume(len(X))
    return X, np.argmax(X @ U.T, axis=1), U


@given(data=many_classes())
def test_multiclass(data):
    X, codes, U = data
    k = len(U)
    labels = np.array(["a", "b", "c", "d"])[:k]
    bound = bounds.multiclass(X, labels[codes], U, classes=labels)
    W, mistakes = naive_multiclass(X, codes, k, 3)
    assert mistakes <= bound.mistakes
    scores = [[sum(Fraction(a) * Fraction(b) for a, b in zip(x, u, strict=True)) for u in U] for x in X]
    gamma = min(s[c] - max(s[:c] + s[c + 1 :]) for s, c in zip(scores, codes.tolist(), strict=True))
    R2 = max(sum(Fraction(v) ** 2 for v in x) for x in X)
    norm = sum(Fraction(v) ** 2 for v in U.ravel())
    assert agrees(bound.value, 2 * R2 * norm / gamma**2, 1e-15)
    assert bounds.multiclass(scipy.sparse.csr_matrix(X), labels[codes], U, classes=labels) == bound
    back = bounds.multiclass_backward(W, mistakes)
    assert Fraction(back.value) ** 2 * norm >= gamma**2
    assert agrees(Fraction(back.value) ** 2 * mistakes**2, sum(Fraction(v) ** 2 for v in W.ravel()), 1e-14)


def test_multiclass_finds_a_comparator_and_refuses_others():
    X, y = np.eye(3), ["a", "b", "c"]
    assert bounds.multiclass(X, y).value == pytest.approx(4.0, rel=1e-2)  # U = I − ⅓
    with pytest.raises(AssumptionError, match="row 1, of class 'b', against class 'c'"):
        bounds.multiclass(X, y, [[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    with pytest.raises(ParameterError, match="3 classes × 3 features"):
        bounds.multiclass(X, y, np.eye(2))
    with pytest.raises(DataError, match="row 2: label 'c'"):
        bounds.multiclass(X, y, classes=["a", "b"])
    with pytest.raises(DataError, match="row 1: inputs must be finite"):
        bounds.multiclass([[1.0], [math.nan]], [1, 2], [[1.0], [-1.0]])
    with pytest.raises(ParameterError, match="at least two"):
        bounds.multiclass([[1.0], [2.0]], [1, 1])
    assert bounds.multiclass_backward(np.zeros((2, 2)), 0).value == math.inf
    for W in ([[math.nan]], [[1.0, math.inf]], [1.0, 2.0], [["a"]], [[1.0], [1.0, 2.0]]):
        with pytest.raises(ParameterError, match="W must be a matrix of finite numbers"):
            bounds.multiclass_backward(W, 3)
        with pytest.raises(ParameterError, match="U must be a matrix of finite numbers"):
            bounds.multiclass(X, y, W)


# The wider family


@given(data=comparable(), tie=ties)
def test_passive_aggressive(data, tie):
    X, y, u = data
    bound = bounds.passive_aggressive(X, y, u, **options(u))
    assert agrees(bound.value, exact(X, y, u).difficulty, 1e-15)
    run = onlinear.run(PassiveAggressive(variant="PA", tie=tie), X, y, **options(u))
    assert run.mistakes <= bound.mistakes


@given(
    data=real(max_rows=20, max_width=4),
    C=st.sampled_from([0.01, 0.5, 3.0]),
    variant=st.sampled_from(["PA-I", "PA-II"]),
    tie=ties,
    scale=st.sampled_from([0.0, 0.125, 1.0]),
)
def test_passive_aggressive_where_nothing_separates(data, C, variant, tie, scale):
    X, y = data
    u = np.full(X.shape[1], scale)
    bound = bounds.passive_aggressive(X, y, u, C=C, variant=variant)
    truth, c = exact(X, y, u), Fraction(C)
    losses = [max(Fraction(0), 1 - a) for a in truth.agreements]
    if variant == "PA-I":
        formula = max(truth.R2, 1 / c) * (truth.U2 + 2 * c * sum(losses))
    else:
        formula = (truth.R2 + 1 / (2 * c)) * (truth.U2 + 2 * c * sum(loss**2 for loss in losses))
    assert agrees(bound.value, formula)
    assert onlinear.run(PassiveAggressive(C, variant, tie), X, y).mistakes <= bound.mistakes


@pytest.mark.parametrize("variant", ["PA-I", "PA-II"])
def test_passive_aggressive_needs_no_separator(variant, monkeypatch):
    X, y = onlinear.datasets.noisy(margin=0.3, n=300, d=4, flip=0.05, seed=0)
    bound = bounds.passive_aggressive(X, y, C=0.5, variant=variant)
    u = onlinear.best_comparator(X, y).weights
    scaled = [bounds.passive_aggressive(X, y, a * u, C=0.5, variant=variant).value for a in np.linspace(0.0, 3.0, 61)]
    assert bound.value <= min(scaled)
    assert onlinear.run(PassiveAggressive(0.5, variant), X, y).mistakes <= bound.mistakes
    with pytest.raises(AssumptionError, match="no separator is known"):
        bounds.passive_aggressive(X, y)
    # What cannot be is refused before anything is searched for.
    monkeypatch.setattr(comparator, "_cut", None)
    for C in (None, 0.0, -1.0, math.inf, math.nan, "1"):
        with pytest.raises(ParameterError, match="C is"):
            bounds.passive_aggressive(X, y, C=C, variant=variant)
    with pytest.raises(ParameterError, match="variant"):
        bounds.passive_aggressive(X, y, C=1.0, variant="PA-III")


@rule
class PNorm(NamedTuple):
    """The p-norm perceptron; the sum of the steps is θ, and the sign of Σ sign(θ)|θ|^(p−1)·x the prediction."""

    p: float
    tie: str = "mistake"

    def start(self, n):
        return np.zeros(n)

    def score(self, theta, x):
        score = 0.0
        for k in range(size(x)):
            t = theta[index(x, k)]
            score += math.copysign(abs(t) ** (self.p - 1.0), t) * value(x, k)
        return score

    def update(self, theta, x, y, score, mistake):
        if mistake:
            add(theta, y, x)
        return mistake


@given(data=comparable(), p=st.sampled_from([2.0, 2.5, 4.0, 7.3]), tie=ties, normalize=st.booleans())
def test_p_norm(data, p, tie, normalize):
    X, y, u = data
    assume(not (normalize and isinstance(u, tuple)))
    bound = bounds.p_norm(X, y, u, p=p, normalize=normalize, **options(u))
    run = onlinear.run(PNorm(p, tie), [(X, y)] * 2, normalize=normalize, **options(u))
    assert run.mistakes <= bound.mistakes
    if normalize:
        return
    with localcontext(prec=60):
        rows = np.hstack([X, np.ones((len(X), 1))]) if isinstance(u, tuple) else X
        power, q = Decimal(p), Decimal(p) / (Decimal(p) - 1)
        radius = max(sum(abs(Decimal(v)) ** power for v in x if v) ** (2 / power) for x in rows.tolist())
        comparator = np.append(*u) if isinstance(u, tuple) else u
        norm = sum(abs(Decimal(v)) ** q for v in comparator.tolist() if v) ** (2 / q)
        formula = (power - 1) * radius * norm / decimals(exact(X, y, u).g)[0] ** 2 * (1 - Decimal("1e-50"))
    assert agrees(bound.value, formula)


def test_p_norm_at_the_ends_of_the_range_of_floats():
    assert 2.0 <= bounds.p_norm([[1e-300] * 4], [1], [1e308] * 4, p=3.0, classes=CLASSES).value < 2.1
    assert bounds.p_norm([[5e-324] * 2], [1], [1.0] * 2, p=3.0, classes=CLASSES).value >= 2.0


def test_additive_adversary():
    for N, k in ((1, 1), (10, 3), (1000, 20)):
        bound = bounds.additive_adversary(N, k)
        assert (bound.value, bound.mistakes) == ((N + k - 1) / 2, math.ceil((N + k - 1) / 2))
        assert "at least" in repr(bound)
    with pytest.raises(ParameterError, match="4 variables"):
        bounds.additive_adversary(4, 5)


# Winnow


@st.composite
def disjunctions(draw):
    X, _ = draw(examples(st.integers(0, 1), max_rows=40, max_width=12))
    k = draw(st.integers(1, X.shape[1]))
    return X * 1.0, np.where(X[:, :k].any(axis=1), 1, -1), k


@given(
    data=disjunctions(),
    beta=st.sampled_from([0.1, 0.5, 1.0, 2.0]),
    threshold=st.sampled_from([None, 1.0, 0.3, 7.0, 4.0, 1.1**3, 1.1**7]),
)
def test_winnow(data, beta, threshold):
    X, y, k = data
    N, alpha = X.shape[1], Fraction(1.0 + beta)
    theta = Fraction(N if threshold is None else threshold)
    run = onlinear.run(Winnow(beta, threshold), [(X, y)] * 4, classes=CLASSES)
    powers = next(e for e in range(1000) if alpha**e * (1 - Fraction(2**-50)) > theta)
    for relevant in (range(k), None):
        bound = bounds.winnow(X, y, Winnow(beta, threshold), relevant=relevant, classes=CLASSES)
        assert bound.strict
        assert run.mistakes <= bound.mistakes < bound.value
        assert run.mistakes_positive <= bound.quantities["promotions"]
        found = bound.quantities["k"]
        assert agrees(bound.value, N * alpha / (theta * (alpha - 1)) + (1 + alpha) * found * powers, 1e-15)
    chosen = bounds.greedy_disjunction(X, y, classes=CLASSES)
    assert found == len(chosen)
    assert (X[:, list(chosen)].any(axis=1) == (y > 0)).all()


def test_winnow_with_tiny_steps_and_exact_powers():
    X, y = [[1, 0], [0, 1]], [1, 0]
    assert bounds.winnow(X, y, Winnow(1.0, 8.0)).quantities["promotions"] == 4
    assert bounds.winnow(X, y, Winnow(1.0, math.nextafter(8.0, 0.0))).quantities["promotions"] in {3, 4}
    assert bounds.winnow(X, y, Winnow(1.0, 7.99)).quantities["promotions"] == 3
    tiny = bounds.winnow(X, y, Winnow(1e-6, 1e6)).quantities["promotions"]
    assert tiny == math.floor(math.log(1e6) / math.log(1.0 + 1e-6)) + 1


def test_winnow_with_weights_that_are_rounded_down_to_the_threshold():
    weights = [1.0]
    while Fraction(weights[-1]) >= Fraction(1.1) ** (len(weights) - 1):
        weights.append(weights[-1] * 1.1)
    assert Fraction(weights[-2]) >= Fraction(1.1) ** (len(weights) - 2)
    learner = Winnow(0.1, weights[-1])
    run = onlinear.run(learner, [[1]] * 2 * len(weights), [1] * 2 * len(weights), classes=(0, 1))
    bound = bounds.winnow([[1]], [1], learner, classes=(0, 1))
    assert run.mistakes == len(weights) == bound.quantities["promotions"]


def test_winnow_takes_few_variables():
    X, y = onlinear.datasets.disjunction(k=5, N=60, n=800, seed=3)
    bound = bounds.winnow(X, y)
    assert bound.quantities["k"] == 5
    assert onlinear.run(Winnow(), X, y).mistakes <= bound.mistakes
    assert bounds.winnow(scipy.sparse.csr_matrix(X), y) == bound
    assert bounds.winnow(list(in_blocks(X, y, 77))) == bound


@pytest.mark.parametrize("blocks", [False, True])
def test_winnow_with_more_variables_than_the_data_show(blocks):
    X, y = scipy.sparse.csr_matrix([[1, 0, 0], [0, 1, 1], [0, 0, 1]] * 20), np.array([1, 0, 0] * 20)
    data = (list(in_blocks(X, y, 7)),) if blocks else (X, y)
    bound = bounds.winnow(*data, n_features=np.int64(4000))
    assert (bound.quantities["N"], bound.quantities["theta"], bound.quantities["promotions"]) == (4000, 4000.0, 12)
    run = onlinear.run(Winnow(), X, y, n_features=4000)
    assert bounds.winnow(*data).value < run.mistakes <= bound.mistakes
    assert bounds.winnow(*data, n_features=3) == bounds.winnow(*data)
    for wrong in (0, -1, 2.5, "3"):
        with pytest.raises(ParameterError, match="n_features"):
            bounds.winnow(*data, n_features=wrong)
    with pytest.raises(ParameterError, match="n_features is 2, but the examples have 3 features"):
        bounds.winnow(*data, n_features=2)


def test_winnow_refuses():
    X, y = [[1, 0, 0], [1, 1, 0], [0, 1, 1]], [0, 1, 1]
    assert bounds.greedy_disjunction(X, y) == (1,)
    with pytest.raises(AssumptionError, match="row 2 is positive, but every variable that is on in it is also on"):
        bounds.winnow([[1, 0, 0], [0, 1, 0], [1, 1, 0]], [0, 0, 1])
    with pytest.raises(AssumptionError, match="row 0 is negative, but a relevant variable is on in it"):
        bounds.winnow(X, y, relevant=[0, 1])
    with pytest.raises(AssumptionError, match="row 1 is positive, but no relevant variable is on in it"):
        bounds.winnow(X, y, relevant=[2])
    with pytest.raises(ParameterError, match="0 to 2"):
        bounds.winnow(X, y, relevant=[3])
    for relevant in ([0.9], [1.0], [True, False, False], ["1"]):
        with pytest.raises(ParameterError, match="integers"):
            bounds.winnow(X, y, relevant=relevant)
    assert bounds.winnow(X, y, relevant=np.array([1], dtype=np.int8)) == bounds.winnow(X, y)
    for other in (Perceptron(), Winnow, None):
        with pytest.raises(ParameterError, match="must be a Winnow rule"):
            bounds.winnow(X, y, other)
    with pytest.raises(AssumptionError, match=r"row 1, column 1: value 0\.5"):
        bounds.winnow([[1, 0], [0, 0.5]], [0, 1])


# Experts


@given(data=advice(max_rows=40, max_width=10), eta=st.sampled_from([0.05, 0.1, 0.5, 0.9]), tie=ties)
def test_weighted_majority(data, eta, tie):
    X, y = data
    bound = bounds.weighted_majority(X, y, eta)
    run = onlinear.run(WeightedMajority(eta, tie), X, y)
    N, m = X.shape[1], int(run.expert_mistakes.min())
    assert bound.quantities["best_mistakes"] == m
    assert run.mistakes <= bound.mistakes
    with localcontext(prec=60):
        e = Decimal(eta)
        formula = (Decimal(N).ln() - m * (1 - e).ln()) / -((2 - e) / 2).ln()
        assert agrees(bound.value, formula)
        if eta <= 0.5:
            assert agrees(bound.quantities["looser"], 2 * (1 + e) * m + 2 * Decimal(N).ln() / e)
            assert bound.quantities["looser"] >= bound.value
        else:
            assert "looser" not in bound.quantities


@given(
    data=advice(max_rows=40, max_width=10),
    eta=st.sampled_from([0.05, 0.1, 0.5, 0.9]),
    share=st.sampled_from([0.0, 1e-3, 0.1, 0.5]),
)
def test_fixed_share(data, eta, share):
    X, y = data
    bound = bounds.fixed_share(X, y, eta, share)
    run = onlinear.run(FixedShare(eta, share), X, y)
    N, m = X.shape[1], int(run.expert_mistakes.min())
    erring = int((y[:, None] != X).any(axis=1).sum())
    assert (bound.quantities["best_mistakes"], bound.quantities["erring_rounds"]) == (m, erring)
    assert run.updates == erring
    assert run.mistakes <= bound.mistakes
    with localcontext(prec=60):
        e, a = Decimal(eta), Decimal(share)
        formula = (Decimal(N).ln() - m * (1 - e).ln() - erring * (1 - a).ln()) / -((2 - e) / 2).ln()
        assert agrees(bound.value, formula)
    if share == 0.0:
        assert bound.value == bounds.weighted_majority(X, y, eta).value


@pytest.mark.parametrize("eta", [5e-324, 1e-323, 1.5e-323, 2.5e-323, 1e-315, 2.0**-1022, 1e-300])
def test_weighted_majority_with_the_smallest_eta(eta):
    X, y = [[1, 1, -1], [-1, 1, -1]], [-1, 1]
    bound = bounds.weighted_majority(X, y, eta)
    assert bound.value == math.inf if eta < 1e-308 else bound.value >= 2 * math.log(3) / eta
    assert "Weighted majority" in repr(bound)
    single = bounds.weighted_majority([[1], [-1], [1]], [-1, 1, 1], eta)  # ln N = 0, and 2m is the limit
    assert 4.0 <= single.value <= 40.0
    assert bounds.randomized_weighted_majority(X, y, eta).value >= math.log(3) / 1e-300


@given(data=advice(max_rows=40, max_width=10), tie=ties)
def test_halving(data, tie):
    X, y = data
    X = np.hstack([X, y[:, None]])
    bound = bounds.halving(X, y)
    assert onlinear.run(WeightedMajority(1.0, tie), X, y).mistakes <= bound.mistakes
    with localcontext(prec=60):
        assert agrees(bound.value, (Decimal(X.shape[1]).ln() / Decimal(2).ln()) * (1 - Decimal("1e-50")))


@given(data=advice(max_rows=40, max_width=10), eta=st.sampled_from([0.1, 0.5, 0.9]), seed=st.integers(0, 100))
def test_randomized_weighted_majority(data, eta, seed):
    X, y = data
    run = onlinear.run(RandomizedWeightedMajority(eta, seed), X, y)
    bound = bounds.randomized_weighted_majority(X, y, eta)
    N, m = X.shape[1], int(run.expert_mistakes.min())
    assert run.expected_mistakes <= bound.value * (1 + 1e-13)
    surely = bounds.randomized_weighted_majority(X, y, eta, delta=2.0**-30)
    assert run.mistakes <= surely.mistakes
    with localcontext(prec=60):
        e = Decimal(eta)
        formula = (Decimal(N).ln() - m * (1 - e).ln()) / e
        assert agrees(bound.value, formula)
        more = (-len(y) * Decimal(2**-30).ln() / 2).sqrt()
        assert agrees(surely.value, formula + more)


@given(data=advice(max_rows=40, max_width=10))
def test_anytime(data):
    X, y = data
    run = onlinear.run(RandomizedWeightedMajority("anytime"), X, y)
    bound = bounds.anytime(X, y)
    assert run.expected_mistakes <= bound.value * (1 + 1e-13)
    assert run.mistakes <= bounds.anytime(X, y, delta=1e-9).mistakes
    with localcontext(prec=60):
        log = Decimal(X.shape[1]).ln()
        formula = int(run.expert_mistakes.min()) + 2 * (len(y) * log / 2).sqrt() + (log / 8).sqrt()
        assert agrees(bound.value, formula)


def test_experts_refuse():
    X, y = [[1, 1, -1], [-1, 1, -1]], [-1, 1]
    with pytest.raises(AssumptionError, match="no expert is perfect: the best, number 1, errs 1 times"):
        bounds.halving(X, y)
    for bound in (bounds.weighted_majority, bounds.halving, bounds.randomized_weighted_majority, bounds.anytime):
        with pytest.raises(AssumptionError, match="row 1, column 0: value 0"):
            bound([[1, 1], [0, 1]], y)
    for eta in (0.0, 1.0, -1.0, "half"):
        with pytest.raises(ParameterError, match="eta"):
            bounds.weighted_majority(X, y, eta)
    with pytest.raises(ParameterError, match="delta"):
        bounds.anytime(X, y, delta=0.0)
    with pytest.raises(AttributeError, match="expected mistakes"):
        _ = bounds.anytime(X, y).mistakes


# All of them

SEPARATED = {
    "perceptron": bounds.perceptron,
    "mistake_lemma": bounds.mistake_lemma,
    "growth": lambda *a, **k: bounds.growth(*a, updates=3, **k),
    "warm_start": lambda X, y, u, **k: bounds.warm_start(X, y, u, start=np.ones(len(u)), **k),
    "margin_perceptron": lambda *a, **k: bounds.margin_perceptron(*a, margin=0.5, **k),
    "normalized_margin_perceptron": lambda *a, **k: bounds.normalized_margin_perceptron(*a, margin=0.0, **k),
    "batch_constant": bounds.batch_constant,
    "batch_schedule": lambda *a, **k: bounds.batch_schedule(*a, schedule="constant", **k),
    "vc_dimension": bounds.vc_dimension,
    "passive_aggressive": bounds.passive_aggressive,
    "p_norm": lambda *a, **k: bounds.p_norm(*a, p=3.0, **k),
}
ANY = {
    "hinge": bounds.hinge,
    "PA-I": lambda *a, **k: bounds.passive_aggressive(*a, C=1.0, variant="PA-I", **k),
    "PA-II": lambda *a, **k: bounds.passive_aggressive(*a, C=1.0, variant="PA-II", **k),
    "duality": lambda X, y, u, **k: bounds.duality(X, y, rows=[0, 1], shares=[1.0, 2.0], **k),
}


class Row(NamedTuple):
    """A bound in the table of all of them: how it is called, on which data, and what opens these once."""

    call: Callable
    data: str
    open: Callable = Examples


TABLE = {
    **{name: Row(call, "separated") for name, call in (SEPARATED | ANY).items()},
    "multiclass": Row(bounds.multiclass, "classes", ClassPairs),
    "winnow": Row(lambda X, y, u, **k: bounds.winnow(X, y, Winnow(), **k), "disjunction"),
    "winnow, relevant": Row(lambda X, y, u, **k: bounds.winnow(X, y, relevant=[0, 1], **k), "disjunction"),
    "greedy_disjunction": Row(lambda X, y, u, **k: bounds.greedy_disjunction(X, y, **k), "disjunction"),
    "weighted_majority": Row(lambda X, y, u, **k: bounds.weighted_majority(X, y, 0.25, **k), "advice"),
    "fixed_share": Row(lambda X, y, u, **k: bounds.fixed_share(X, y, 0.25, 0.1, **k), "advice"),
    "halving": Row(lambda X, y, u, **k: bounds.halving(X, y, **k), "advice"),
    "randomized": Row(lambda X, y, u, **k: bounds.randomized_weighted_majority(X, y, 0.25, delta=0.1, **k), "advice"),
    "anytime": Row(lambda X, y, u, **k: bounds.anytime(X, y, **k), "advice"),
}
NO_DATA = {"additive_adversary", "backward", "multiclass_backward", "risk"}


def table_data(kind, seed):
    """Return X, y, the vector or matrix to compare with, and the options of opening, drawn at random."""
    rng = np.random.default_rng(seed)
    bias, normalize = bool(rng.integers(2)), bool(rng.integers(2))
    if kind == "separated":
        X, y = onlinear.datasets.separable(margin=0.2, n=30, d=3, seed=seed)
        u = onlinear.max_margin(X, y).weights
        return X, y, u, {"fit_intercept": bias, "normalize": normalize, "classes": CLASSES}
    if kind == "classes":
        codes = rng.integers(3, size=20)
        X = rng.standard_normal((20, 3)) / 4 + 4 * np.eye(3)[codes]
        return X, codes, np.eye(3), {"fit_intercept": bias, "classes": range(3)}
    if kind == "disjunction":
        X, y = onlinear.datasets.disjunction(k=2, N=6, n=40, seed=seed)
        return X, y, None, {"classes": (0, 1)} if set(y) == {0, 1} else {}
    return *onlinear.datasets.experts(N=5, n=40, best=0.0, seed=seed), None, {}


def test_the_table_has_every_bound_on_data():
    named = "".join(inspect.getsource(row.call) for row in TABLE.values()) + " ".join(TABLE)
    functions = {name for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name))}
    assert {name for name in functions if name not in named} == NO_DATA


@pytest.mark.parametrize("name", TABLE)
@given(seed=st.integers(0, 1000))
@settings(max_examples=5)
def test_examples_give_the_same_bound_as_matrix_and_labels(name, seed):
    row = TABLE[name]
    X, y, u, how = table_data(row.data, seed)
    opened = row.open(X, y, **how)
    expected = row.call(X, y, u, **how)
    assert row.call(opened, None, u) == row.call(opened, None, u) == expected
    assert row.call(row.open(as_layout(X, "csr"), y, **how), None, u) == row.call(as_layout(X, "csr"), y, u, **how)


class Counted(list):
    """Blocks that count how often they are read."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        return super().__iter__()


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.open is Examples])
def test_examples_are_opened_once(name):
    row = TABLE[name]
    X, y, u, how = table_data(row.data, seed=0)
    blocks = Counted(in_blocks(X, y, 7))
    row.call(blocks, None, u, **how)
    with_opening = blocks.reads
    opened = Examples(blocks, **how)
    reads = []
    for _ in range(2):
        blocks.reads = 0
        row.call(opened, None, u)
        reads.append(blocks.reads)
    assert reads == [with_opening - 1] * 2


@pytest.mark.parametrize("name", TABLE)
def test_examples_have_their_own_options(name):
    row = TABLE[name]
    X, y, u, how = table_data(row.data, seed=0)
    opened = row.open(X, y, **how)
    with pytest.raises(ParameterError, match=r"^y is given, but these (Examples|ClassPairs) already have it"):
        row.call(opened, y, u)
    with pytest.raises(ParameterError, match=r"^classes is given, but these (Examples|ClassPairs) already"):
        row.call(opened, None, u, classes=(0, 1))
    if row.data == "separated":
        for option in ("fit_intercept", "normalize"):
            with pytest.raises(ParameterError, match=rf"^{option} is given, but these Examples"):
                row.call(opened, None, u, **{option: True})


def test_solvers_and_measures_take_examples():
    X, y = onlinear.datasets.separable(margin=0.2, n=60, d=3, seed=0)
    how = {"fit_intercept": True, "classes": CLASSES}
    opened = Examples(X, y, **how)
    assert onlinear.max_margin(opened).upper == onlinear.max_margin(X, y, **how).upper
    assert onlinear.best_comparator(opened).bound == onlinear.best_comparator(X, y, **how).bound
    assert onlinear.separability(opened).intercept == onlinear.separability(X, y, **how).intercept
    w = np.ones(3), 0.5
    assert theory.margin(w, opened) == theory.margin(w, X, y, classes=CLASSES)
    assert theory.hinge_loss(w, opened) == theory.hinge_loss(w, X, y, classes=CLASSES)
    assert theory.radius(opened) == theory.radius(X, fit_intercept=True)
    with pytest.raises(ParameterError, match="without normalize"):
        onlinear.separability(Examples(X, y, normalize=True))
    with pytest.warns(DeprecationWarning, match="hinge_loss"):
        assert theory.hinge is theory.hinge_loss


@pytest.mark.parametrize("name", [*SEPARATED, *ANY])
@given(data=separable(max_rows=12, max_width=5), bias=st.booleans(), normalize=st.booleans())
@settings(max_examples=8)
def test_layouts_and_blocks_agree(name, data, bias, normalize):
    X, y, u = data
    bound = (SEPARATED | ANY)[name]
    how = {"fit_intercept": bias, "normalize": normalize, "classes": CLASSES}
    dense = bound(X, y, u, **how)
    sparse = bound(as_layout(X, "csr"), y, u, **how)
    blocks = list(in_blocks(X, y, 5))
    sparse_blocks = [(as_layout(part, "csr"), labels) for part, labels in blocks]
    for other in (sparse, bound(blocks, None, u, **how), bound(sparse_blocks, None, u, **how)):
        assert other.value == pytest.approx(dense.value, rel=1e-9)
        assert (other.theorem, other.checked, other.declared) == (dense.theorem, dense.checked, dense.declared)
        assert other.quantities == pytest.approx(dense.quantities, rel=1e-9)


@pytest.mark.parametrize("name", SEPARATED)
def test_a_vector_that_does_not_separate_is_refused(name):
    X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1]
    with pytest.raises(AssumptionError, match=r"u does not separate the examples: y⟨u,x⟩ is -1 at row 1"):
        SEPARATED[name](X, y, [1.0, 1.0])
    with pytest.raises(AssumptionError, match=r"is 0 at row 2"):
        SEPARATED[name](X, y, [1.0, -1.0])
    with pytest.raises(AssumptionError, match=r"at row 2"):
        SEPARATED[name](X, y, [1.0, -1.0], normalize=True)


def test_arguments_are_checked():
    X, y, u = [[1.0, 0.0], [0.0, -1.0]], [1, -1], [1.0, 1.0]
    with pytest.raises(ParameterError, match="intercept"):
        bounds.perceptron(X, y, (u, 1.0))
    with pytest.raises(ParameterError, match="shape"):
        bounds.perceptron(X, y, [1.0])
    with pytest.raises(AssumptionError, match=r"not above the 0\.8 asked for"):
        bounds.normalized_margin_perceptron(X, y, u, margin=0.8)
    for bound in (bounds.margin_perceptron, bounds.normalized_margin_perceptron):
        with pytest.raises(ParameterError, match="margin"):
            bound(X, y, u, margin=-1.0)
    for C, variant in ((None, "PA-I"), (1.0, "PA"), (0.0, "PA-II"), (1.0, "PA-III")):
        with pytest.raises(ParameterError):
            bounds.passive_aggressive(X, y, u, C=C, variant=variant)
    with pytest.raises(ParameterError, match="at least 2"):
        bounds.p_norm(X, y, u, p=1.5)
    with pytest.raises(ParameterError, match="updates"):
        bounds.growth(X, y, u, updates=-1)


def test_a_bound_is_shown_with_what_it_rests_on():
    bound = bounds.perceptron([[1.0, 0.0], [0.0, -3.0]], [1, -1], [1.0, 1.0])
    shown = repr(bound)
    for words in (
        "Perceptron mistake bound (P1)",
        "mistakes",
        "at most 18",
        "u separates all 2 examples",
        "the first weights are 0",
    ):
        assert words in shown
        assert words in bound._repr_html_()
    assert "fewer than" in repr(bounds.winnow([[1, 0], [0, 1]], [1, 0]))


def test_vectors_of_any_size():
    tiny, wrong = 2.0**-500, ([[1.0], [2.0]], [-1, 1])
    for scale in (1e80, 1e150, tiny):
        X, y, u = [[scale], [-2 * scale]], [1, -1], [scale]
        assert bounds.warm_start(X, y, u, start=[0.0]).value == bounds.perceptron(X, y, u).value == 4.0
        assert bounds.warm_start(X, y, u, start=[-scale]).value == 6.0
        assert bounds.warm_start(X, y, u, start=[1e300 * min(scale, 1.0)]).value == 0.0
        assert bounds.normalized_margin_perceptron(X, y, u, margin=scale / 2).mistakes > 0
    assert bounds.warm_start([[1e80], [-2e80]], [1, -1], [1e80], start=[1.0]).value <= 4.0
    with pytest.raises(AssumptionError, match=r"y⟨u,x⟩ is -8e\+307 at row 0"):
        bounds.perceptron(*wrong, [8e307])
    for u in ([1e200], [8e307]):
        for bound in (
            bounds.hinge(*wrong, u),
            bounds.passive_aggressive(*wrong, u, C=1.0, variant="PA-I"),
            bounds.passive_aggressive(*wrong, u, C=1.0, variant="PA-II"),
        ):
            assert bound.value == bound.mistakes == math.inf
            assert "no limit is known" in repr(bound)


def test_sums_of_losses_that_overflow():
    X, y, u = [[1.0]] * 4, [-1, -1, -1, 1], [1e308]
    for bound in (
        bounds.hinge(X, y, u),
        bounds.passive_aggressive(X, y, u, C=1e-300, variant="PA-I"),
        bounds.passive_aggressive(X, y, u, C=1e-300, variant="PA-II"),
    ):
        assert bound.value == math.inf
        assert math.inf in bound.quantities.values()
        assert "inf" in repr(bound)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8])
def test_integers_of_numpy_are_integers(kind):
    X, y, u, hundred = [[1.0, 0.0], [0.0, -1.0]], [1, -1], [1.0, 1.0], kind(100)
    pairs = [
        (bounds.risk(kind(4), hundred, examples=hundred), bounds.risk(4, 100, examples=100)),
        (bounds.growth(X, y, u, updates=hundred), bounds.growth(X, y, u, updates=100)),
        (bounds.multiclass_backward(np.eye(2), hundred), bounds.multiclass_backward(np.eye(2), 100)),
        (bounds.additive_adversary(hundred, hundred), bounds.additive_adversary(100, 100)),
        (
            bounds.batch_schedule(X, y, u, schedule="1/k", max_steps=hundred),
            bounds.batch_schedule(X, y, u, schedule="1/k", max_steps=100),
        ),
    ]
    for found, same in pairs:
        assert found == same
        assert repr(found) == repr(same)


def test_exact_arithmetic_is_declared():
    X, y, u = [[1.0, 0.0], [0.0, -1.0]], [1, -1], np.ones(2)
    learners = [
        *(bound(X, y, u) for name, bound in (SEPARATED | ANY).items() if name not in {"vc_dimension", "duality"}),
        bounds.multiclass(np.eye(3), [1, 2, 3], np.eye(3)),
        bounds.winnow([[1, 0], [0, 1]], [1, 0]),
        *(
            bound([[1, 1], [1, -1]], [1, -1], **more)
            for bound in (bounds.halving, bounds.weighted_majority, bounds.randomized_weighted_majority, bounds.anytime)
            for more in ([{}, {"delta": 0.1}] if "delta" in bound.__kwdefaults__ else [{}])
        ),
    ]
    assert len(learners) == 21
    for bound in learners:
        assert bound.declared.count(EXACT) == 1, bound
        assert EXACT in repr(bound)
    others = (
        bounds.vc_dimension(X, y, u),
        bounds.duality(X, y, rows=[0], shares=[1.0]),
        bounds.backward(onlinear.run(Perceptron(), X, y)),
        bounds.risk(1, 2),
        bounds.additive_adversary(4, 2),
        bounds.multiclass_backward(np.eye(2), 2),
    )
    for bound in others:
        assert EXACT not in bound.declared


def test_rounding_may_decide_a_prediction():
    """The second score is 1000, but what is added to 2⁵⁴ one at a time is lost: so a float run errs twice."""
    a = 2.0**27
    X = scipy.sparse.csr_matrix(np.array([[a, *np.ones(1000), -a], [a, *np.ones(1000), a]]))
    y, u = np.ones(2), np.array([a, *np.ones(1000), 0.0])
    bound = bounds.perceptron(X, y, u, classes=CLASSES)
    assert bound.value < 2.0 == onlinear.run(Perceptron(), X, y, classes=CLASSES).mistakes
    assert EXACT in bound.declared
