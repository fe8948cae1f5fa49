"""Margins, radius, hinge sums and the maximum margin, against exact fractions."""

import dataclasses
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

import onlinear
from exact_oracle import signed_rows, squared_affine_margin, squared_largest_margin
from onlinear import theory
from onlinear.errors import AssumptionError, DataError, ParameterError, VerificationError
from onlinear.theory.check import exact, extremes
from onlinear.theory.examples import Examples
from strategies import LAYOUTS, as_layout, in_blocks, real, separable

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(values=st.lists(finite, min_size=1, max_size=8))
def test_scaled_numbers_are_the_numbers(values):
    whole, exponent = exact.to_integers(np.array(values))
    assert [int(v) * Fraction(2) ** exponent for v in whole] == [Fraction(v) for v in values]


@given(p=st.integers(0, 10**40), q=st.integers(1, 10**40))
def test_roots_and_floats_are_rounded_outward(p, q):
    value = Fraction(p, q)
    low, high = exact.root_down(value), exact.root_up(value)
    assert Fraction(low) ** 2 <= value <= Fraction(high) ** 2
    assert high <= math.nextafter(low, math.inf)
    down, up = exact.float_down(value), exact.float_up(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert up <= math.nextafter(down, math.inf)


def test_extremes_of_rounding():
    assert exact.float_down(Fraction(10) ** 400) == 1.7976931348623157e308
    assert exact.float_up(Fraction(10) ** 400) == math.inf
    assert exact.root_up(Fraction(0)) == 0.0
    assert math.copysign(1.0, exact.float_up(Fraction(0))) == 1.0
    assert exact.root_up(Fraction(144)) == exact.root_down(Fraction(144)) == 12.0


@given(
    data=real(max_width=5),
    w=st.lists(st.integers(-1000, 1000).map(lambda k: k / 7), min_size=6, max_size=6),
    layout=st.sampled_from(sorted(LAYOUTS)),
    size=st.sampled_from([1, 7, 100]),
    intercept=st.booleans(),
)
def test_measures_of_any_vector(data, w, layout, size, intercept):
    X, y = data
    w, b = np.array(w[: X.shape[1]]), w[5]
    assume(w.any())
    given_ = (w, b) if intercept else w
    z = signed_rows(X, y, intercept=intercept)
    whole = [Fraction(v) for v in [*w, *([b] if intercept else [])]]
    agreements = [sum(a * c for a, c in zip(row, whole, strict=True)) for row in z]
    norm = math.sqrt(sum(Fraction(v) ** 2 for v in w))
    found = theory.margin(given_, as_layout(X, layout), y)
    assert Fraction(found.functional) <= min(agreements) <= Fraction(math.nextafter(found.functional, math.inf))
    assert agreements[found.row] == min(agreements)
    assert math.isclose(found.geometric, float(min(agreements)) / norm, rel_tol=1e-12, abs_tol=1e-300)
    assert found == theory.margin(given_, list(in_blocks(X, y, size)))
    assert np.allclose(theory.distances(given_, as_layout(X, layout), y), np.array(agreements, dtype=float) / norm)
    losses = sum(max(Fraction(0), 1 - value) for value in agreements)
    hinge = theory.hinge_loss(given_, as_layout(X, layout), y)
    assert losses <= Fraction(hinge) <= losses + Fraction(1e-9) * (1 + abs(losses))
    square = max(sum(v * v for v in row) for row in z)
    radius = theory.radius(as_layout(X, layout), fit_intercept=intercept)
    assert radius == exact.root_up(square) == theory.radius(list(in_blocks(X, y, size)), fit_intercept=intercept)


@given(data=separable(max_width=5))
def test_rescaling_makes_the_functional_margin_one(data):
    X, y, u = data
    scaled = theory.rescale(u, X, y)
    assert math.isclose(theory.margin(scaled, X, y).functional, 1.0, rel_tol=1e-12)
    assert math.isclose(theory.strip_width(u, X, y), 2.0 * theory.margin(u, X, y).geometric)
    assert theory.strip_width(-u, X, y) == 0.0
    with pytest.raises(AssumptionError, match="does not separate"):
        theory.rescale(-u, X, y)


def test_measures_of_normalized_rows():
    X, y = np.array([[3.0, 4.0], [-5.0, 12.0]]), [1, 1]
    assert theory.radius(X, normalize=True) == pytest.approx(1.0)
    found = theory.margin([1.0, 1.0], X, y, normalize=True, classes=(-1, 1))
    assert 7 / 13 - 1e-14 < found.functional <= 7 / 13
    assert theory.hinge_loss([1.0, 1.0], X, y, normalize=True, classes=(-1, 1)) == pytest.approx(6 / 13)
    assert theory.hinge_loss([1.0, 1.0], X, y, normalize=True, classes=(-1, 1)) >= 6 / 13


@given(
    x=st.lists(st.integers(-1000, 1000), min_size=3, max_size=3).filter(any),
    w=st.lists(st.integers(-1000, 1000), min_size=3, max_size=3).filter(any),
    size=st.sampled_from([2.0**-1023, 2.0**-1000, 2.0**-660, 2.0**-300, 1.0, 2.0**300]),
    length=st.sampled_from([2.0**-400, 2.0**-100, 1.0, 2.0**200]),
)
def test_normalized_margins_are_never_above_the_truth(x, w, size, length):
    X, w = np.array([x]) * size, np.array(w) * length
    found = theory.margin(w, X, [1], normalize=True, classes=(-1, 1)).geometric
    inner = sum(Fraction(a) * Fraction(b) for a, b in zip(X[0], w, strict=True))
    square = inner**2 / sum(Fraction(a) ** 2 for a in X[0]) / sum(Fraction(a) ** 2 for a in w)
    assert (found <= 0 or Fraction(found) ** 2 <= square) if inner > 0 else (found < 0 or not inner)
    assert inner >= 0 or Fraction(found) ** 2 >= square


def test_vectors_without_limit():
    assert theory.hinge_loss([1e308], [[1.0]] * 3, [-1] * 3, classes=(-1, 1)) == math.inf
    with pytest.raises(ParameterError, match="overflows"):
        theory.rescale([1e-200], [[1e-200]], [1], classes=(-1, 1))


def test_hinge_of_nothing_is_the_number_of_examples():
    X, y = onlinear.datasets.noisy(n=569, d=3)
    assert theory.hinge_loss(np.zeros(3), X, y) == 569.0


def test_no_hyperplane():
    with pytest.raises(ParameterError, match="w is zero"):
        theory.distances([0.0], [[1.0], [2.0]], [0, 1])


@given(data=separable(max_rows=12, max_width=2))
def test_the_largest_margin_in_the_plane(data):
    X, y, _ = data
    assume(X.shape[1] == 2)
    found = onlinear.max_margin(X, y)
    square = squared_largest_margin(X, y)
    assert Fraction(found.lower) ** 2 <= square <= Fraction(found.upper) ** 2
    assert found.gap <= 1e-6
    found.verify(X, y)


@given(data=separable(max_rows=10, max_width=2), shift=st.integers(-3, 3))
def test_the_affine_margin_in_the_plane(data, shift):
    X, y, _ = data
    assume(X.shape[1] == 2)
    X = X + shift
    found = onlinear.max_margin(X, y, fit_intercept=True)
    square = squared_affine_margin(X, y)
    assert Fraction(found.lower) ** 2 <= square <= Fraction(found.upper) ** 2
    assert found.gap <= 1e-6
    assert found.augmented.upper <= found.upper * (1 + 1e-9)
    found.verify(X, y)


@given(data=real(max_rows=12, max_width=4), intercept=st.booleans(), normalize=st.booleans())
def test_no_interval_is_wrong_on_any_data(data, intercept, normalize):
    X, y = data
    found = onlinear.max_margin(X, y, fit_intercept=intercept, normalize=normalize, tol=1e-3)
    found.verify(X, y)
    assert 0.0 <= found.lower <= found.upper
    if not normalize:
        verdict = onlinear.separability(X, y, fit_intercept=intercept)
        assert not (found.separable and isinstance(verdict, theory.Inseparable))
        if isinstance(verdict, theory.Separable):
            assert found.gap <= 1e-3


@given(data=separable(max_rows=15, max_width=5), layout=st.sampled_from(sorted(LAYOUTS)))
def test_the_interval_in_every_layout(data, layout):
    X, y, u = data
    found = onlinear.max_margin(as_layout(X, layout), y)
    assert theory.margin(u, X, y).geometric <= found.upper
    assert found.gap <= 1e-6
    found.verify(list(in_blocks(X, y, 4)))


def test_an_intercept_changes_what_margin_means():
    found = onlinear.max_margin([[10.0], [12.0]], [-1, 1], fit_intercept=True)
    assert found.lower <= 1.0 <= found.upper
    assert found.gap < 1e-9
    # u = 2, c = −22: the augmented margin is 1/√(½² + 5.5²)… at its best 0.0905.
    assert 0.09 < found.augmented.lower <= found.augmented.upper < 0.091
    assert found.radius == 12.0
    with pytest.raises(DataError, match="one class"):
        onlinear.max_margin([[1.0], [2.0]], [1, 1], classes=(0, 1), fit_intercept=True)


@pytest.mark.parametrize("size", [1e-30, 1e-8, 1e-6, 1e-4, 1e4, 1e8, 1e10])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_feature_in_another_unit(size, intercept):
    X, y = onlinear.datasets.separable(margin=0.1, n=300, d=6, seed=0)
    extra = np.random.default_rng(0).standard_normal((300, 1)) * size
    found = onlinear.max_margin(np.hstack([X, extra]), y, fit_intercept=intercept)
    assert found.gap <= 2e-6


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[-1.0, -10.0], [3.0, 40.0], [2.0, -10.0]], [1, -1, 1]),
        ([[-4.0, 30.0], [4.0, 20.0], [-4.0, 50.0], [0.0, 30.0], [2.0, -20.0]], [-1, -1, -1, -1, 1]),
    ],
)
def test_where_a_unit_for_each_feature_is_the_wrong_one(X, y):
    assert onlinear.max_margin(X, y).gap <= 1e-6


def test_one_row():
    found = onlinear.max_margin([[1e-6, -1.0, 3.0]], [-1], classes=(-1, 1))
    assert found.gap <= 1e-6


def test_the_search_ends_when_its_effort_is_spent():
    X, y = onlinear.datasets.separable(margin=0.01, n=5000, d=50, seed=0)
    found = onlinear.max_margin(X, y, seconds=1e-3)
    assert found.gap > 1e-6
    found.verify(X, y)


def test_the_same_at_every_scale():
    X, y = onlinear.datasets.separable(margin=0.2, n=60, d=4, seed=3)
    plain = onlinear.max_margin(X, y)
    for scale in (2.0**-400, 2.0**400):
        scaled = onlinear.max_margin(X * scale, y)
        assert scaled.gap <= 1e-6
        assert scaled.upper == pytest.approx(plain.upper * scale)


def test_false_ends_are_refused():
    X, y = onlinear.datasets.separable(margin=0.2, n=60, d=4, seed=3)
    found = onlinear.max_margin(X, y)
    for false, reason in [
        (dataclasses.replace(found, lower=found.lower * (1 + 1e-9)), "the separator has a margin of"),
        (dataclasses.replace(found, upper=found.upper * (1 - 1e-9)), "at most"),
        (dataclasses.replace(found, weights=None), "without a separator"),
        (dataclasses.replace(found, weights=None, lower=math.nan), "without a separator"),
        (dataclasses.replace(found, upper=math.nan), "at most"),
        (dataclasses.replace(found, radius=found.radius * (1 - 1e-9)), "the radius is"),
        (dataclasses.replace(found, shares=-found.shares), "at least 0"),
        (dataclasses.replace(found, weights=-found.weights), "the separator has a margin of -"),
    ]:
        with pytest.raises(VerificationError, match=reason):
            false.verify(X, y)


def test_progress_is_seen():
    X, y = onlinear.datasets.separable(margin=0.05, n=2000, d=10, seed=0)
    seen = []
    found = onlinear.max_margin(X, y, progress=seen.append)
    assert tuple(seen) == found.steps
    uppers = [step.upper for step in seen]
    assert uppers == sorted(uppers, reverse=True)
    assert len(onlinear.max_margin(X, y, max_steps=2).steps) == 2
    assert "Largest margin, through the origin" in repr(found)


@pytest.mark.parametrize("options", [{"tol": 0.0}, {"tol": "x"}, {"max_steps": 0}, {"seconds": 0}])
def test_limits_must_make_sense(options):
    with pytest.raises(ParameterError, match="must be"):
        onlinear.max_margin([[1.0], [2.0]], [0, 1], **options)


def test_the_radius_is_exact_or_no_smaller(monkeypatch):
    X, y = [[3.0, 4.0], [-0.5, 0.25]], [1, -1]
    assert extremes.squared_radius(Examples(X, y, normalize=True, fit_intercept=True)).value == 2
    assert extremes.squared_radius(Examples(X, y)) == (25, 0, True)
    monkeypatch.setattr(extremes, "_EXACT_ENTRIES", 0)
    value, row, is_exact = extremes.squared_radius(Examples(X, y))
    assert (row, is_exact) == (0, False)
    assert 25 <= value <= 25 * (1 + 1e-12)
