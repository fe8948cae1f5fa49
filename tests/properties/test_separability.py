"""Verdicts on separability, against exact brute force; above all where the examples are nearly degenerate."""

import dataclasses
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import onlinear
from exact_oracle import is_separable, signed_rows
from onlinear.errors import DataError, ParameterError, VerificationError
from onlinear.theory import Examples, Inseparable, Separable, Undecided
from onlinear.theory.check import exact
from onlinear.theory.check.verdict import show_share
from onlinear.theory.search import decide
from strategies import LAYOUTS, as_layout, in_blocks, labels, separable

TINY = [0.0, 2.0**-20, 2.0**-40, 2.0**-52, 2.0**-60, 2.0**-300]


@st.composite
def nearly_degenerate(draw):
    """Few rows of small whole numbers, each moved by next to nothing; often one that nearly cancels the others."""
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    whole = np.array(draw(st.lists(st.integers(-2, 2), min_size=n * d, max_size=n * d))).reshape(n, d)
    y = np.array(draw(labels(n)))
    X = whole.astype(float)
    if draw(st.booleans()):
        X[-1] = -y[-1] * (y[:-1, None] * X[:-1]).sum(axis=0)
    moves = st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from(TINY)).map(lambda pair: pair[0] * pair[1])
    X = X + np.array(draw(st.lists(moves, min_size=n * d, max_size=n * d))).reshape(n, d)
    scales = st.sampled_from([1.0, 1.0, 3.0, 2.0**-30, 2.0**40, 1e-150, 1e100])
    return X * np.array(draw(st.lists(scales, min_size=n, max_size=n)))[:, None], y


def check(verdict, X, y, *, intercept):
    """The verdict is the true one, and its witness says so without any help of the library's."""
    verdict.verify(X, y)
    z = signed_rows(X, y, intercept=intercept)
    if is_separable(X, y, intercept=intercept):
        assert isinstance(verdict, Separable)
        w = [Fraction(v) for v in [*verdict.weights, *([verdict.intercept] if intercept else [])]]
        assert all(sum(a * b for a, b in zip(row, w, strict=True)) > 0 for row in z)
    else:
        assert isinstance(verdict, Inseparable)
        assert sum(verdict.shares) == 1
        assert min(verdict.shares) > 0
        held = zip(verdict.rows, verdict.shares, strict=True)
        total = [sum(column) for column in zip(*([share * v for v in z[i]] for i, share in held), strict=True)]
        assert not any(total)
        assert len(verdict.rows) <= len(z[0]) + 1


@pytest.mark.slow
@settings(max_examples=400)
@given(data=nearly_degenerate(), intercept=st.booleans())
def test_no_verdict_is_wrong(data, intercept):
    X, y = data
    check(onlinear.separability(X, y, fit_intercept=intercept), X, y, intercept=intercept)


@given(data=nearly_degenerate(), intercept=st.booleans())
def test_exact_arithmetic_alone_decides_too(data, intercept):
    X, y = data
    examples = decide.Examples(X, y, fit_intercept=intercept)
    verdict = decide.exactly(examples, np.arange(1))
    check(verdict, X, y, intercept=intercept)


@given(data=separable(max_rows=20, max_width=6), layout=st.sampled_from(sorted(LAYOUTS)), size=st.sampled_from([1, 7]))
def test_layouts_and_blocks(data, layout, size):
    X, y, _ = data
    verdict = onlinear.separability(as_layout(X, layout), y)
    assert isinstance(verdict, Separable)
    verdict.verify(list(in_blocks(X, y, size)))


def test_exclusive_or():
    X, y = onlinear.datasets.xor()
    verdict = onlinear.separability(X, y, fit_intercept=True)
    assert isinstance(verdict, Inseparable)
    assert verdict.rows.tolist() == [0, 1, 2, 3]
    assert verdict.shares == (Fraction(1, 4),) * 4
    assert "row 0 (-1), row 1 (1), row 2 (1) and row 3 (-1)" in verdict.explain()
    assert "row 3    share 1/4, labelled -1" in repr(verdict)
    assert verdict._repr_html_().startswith("<table>")


@pytest.mark.parametrize("d", [2, 5, 20])
def test_a_margin_of_a_billionth_of_the_radius(d):
    rng = np.random.default_rng(d)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    y = rng.choice([-1, 1], 300)
    across = rng.standard_normal((300, d))
    across -= np.outer(across @ u, u)
    X = across / np.linalg.norm(across, axis=1, keepdims=True) + np.outer(y * 1e-9 * (1 + rng.random(300)), u)
    verdict = onlinear.separability(X, y)
    assert isinstance(verdict, Separable)
    verdict.verify(X, y)


def test_the_cheap_reasons_come_first():
    zero = onlinear.separability([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], [1, -1, 1])
    assert zero.explain() == "Every vector scores row 1 (-1) 0: it is all zeros."
    X = np.arange(12.0).reshape(6, 2) + 1
    X[4] = X[2]
    equal = onlinear.separability(X, [0, 1, 0, 1, 1, 0], fit_intercept=True)
    assert equal.explain() == "Equal examples have opposite labels: row 2 (0) and row 4 (1)."
    assert equal.explain({4: "Data.svm:5"}).endswith("row 2 (0) and Data.svm:5 (1).")
    capital = onlinear.separability([[1.0], [1.0]], ["Ham", "Spam"])
    assert capital.explain() == "Equal examples have opposite labels: row 0 ('Ham') and row 1 ('Spam')."
    assert equal.shares == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_the_scale_changes_nothing(scale):
    for data in (onlinear.datasets.separable(n=50, d=3), onlinear.datasets.noisy(n=50, d=3)):
        X, y = data
        verdict = onlinear.separability(X * scale, y)
        verdict.verify(X * scale, y)
        assert type(verdict) is type(onlinear.separability(X, y))


def test_one_class_alone_is_separable():
    X = [[1.0, 1.0], [2.0, -1.0], [-3.0, 0.5]]
    assert isinstance(onlinear.separability(X, [1, 1, 1], fit_intercept=True, classes=(0, 1)), Separable)
    assert isinstance(onlinear.separability([[1.0], [-1.0]], [1, 1], classes=(0, 1)), Inseparable)


def test_beyond_the_budget_is_undecided_and_says_what_is_known():
    X, y = onlinear.datasets.noisy(n=200, d=10, seed=1)
    verdict = onlinear.separability(X, y, seconds=1e-9)
    assert isinstance(verdict, Undecided)
    verdict.verify(X, y)
    assert 0.0 < verdict.margin.upper < 1.0
    with pytest.raises(ParameterError, match=r"seconds is 0\.0; it must be a number above 0"):
        onlinear.separability(X, y, seconds=0.0)
    assert "no separator has a margin above" in repr(verdict)


def test_false_witnesses_are_refused():
    X, y = onlinear.datasets.xor()
    true = onlinear.separability(X, y, fit_intercept=True)
    third = (Fraction(1, 3), Fraction(1, 6), Fraction(1, 4), Fraction(1, 4))
    for false, reason in [
        (dataclasses.replace(true, shares=third), "is not 0: the constant 1 comes to -0.166667|is not 0: feature"),
        (dataclasses.replace(true, shares=(Fraction(1, 2),) * 4), "their sum 1"),
        (dataclasses.replace(true, rows=true.rows[[0, 0, 1, 2]]), "one share for each"),
        (dataclasses.replace(true, rows=true.rows[:3], shares=(Fraction(1, 3),) * 3), "is not 0"),
    ]:
        with pytest.raises(VerificationError, match=reason):
            false.verify(X, y)
    with pytest.raises(DataError, match="row 9 is not among them"):
        dataclasses.replace(true, rows=np.array([0, 1, 2, 9])).verify(X, y)
    X, y = onlinear.datasets.separable(n=50, d=3)
    right = onlinear.separability(X, y)
    with pytest.raises(VerificationError, match="row 0 is misclassified"):
        dataclasses.replace(right, weights=-right.weights).verify(X, y)
    with pytest.raises(VerificationError, match="3 weights; there are 2 features"):
        right.verify(X[:, :2], y)


def test_a_witness_that_only_rounding_would_believe():
    # y⟨w,x⟩ is −2⁻⁶⁰ on the first row, and rounds to 0 or above in any order of summation.
    X, w = np.array([[1.0, 2.0**-60, -1.0], [1.0, 0.0, 0.0]]), np.array([1.0, -1.0, 1.0])
    false = Separable(w, 0.0, fit_intercept=False, classes=(-1, 1))
    with pytest.raises(VerificationError, match="row 0"):
        false.verify(X, [1, 1])
    Separable(-w * [-1, 1, -1], 0.0, fit_intercept=False, classes=(-1, 1)).verify(X, [1, 1])


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_a_witness_that_is_no_number(entry):
    with pytest.raises(VerificationError, match="not finite"):
        Separable(np.array([entry, -1.0]), 0.0, fit_intercept=False, classes=(-1, 1)).verify([[-1.0, 0.0]], [1])


def test_a_witness_so_short_that_its_norm_is_rounded():
    w = np.array([3643, 1043, 1319]) * 2.0**-1074
    x = ["0x1.8240bf9b831d0p+1009", "-0x1.4bf5330bf6f38p+1010", "-0x1.0ee8754c21d2cp+1010"]
    with pytest.raises(VerificationError, match="row 0"):
        Separable(w, 0.0, fit_intercept=False, classes=(-1, 1)).verify([[float.fromhex(v) for v in x]], [1])


def test_whole_weights_with_a_broken_intercept():
    witness = Separable(np.array([1]), -0.5, fit_intercept=True, classes=(-1, 1))
    witness.verify([[0.4], [1.0]], [-1, 1])
    with pytest.raises(VerificationError, match="row 0"):
        witness.verify([[0.4], [1.0]], [1, 1])


def test_blocks_that_can_be_read_once_are_refused():
    X, y = onlinear.datasets.xor()
    with pytest.raises(DataError, match="read only once"):
        onlinear.separability(iter([(X, y)]))


def test_a_negative_share_proves_nothing():
    # 2·1 − 1·2 = 0 and 2 − 1 = 1, although w = 1 separates these rows.
    X, y = [[1.0], [2.0], [-1.0]], [1, 1, -1]
    verdict = onlinear.separability([[1.0], [1.0], [1.0]], y)
    wrong = dataclasses.replace(verdict, rows=np.array([0, 1]), shares=(Fraction(2), Fraction(-1)))
    with pytest.raises(VerificationError, match="must be positive"):
        wrong.verify(X, y)


def test_a_witness_of_whole_numbers_is_rounded_where_it_still_separates():
    X, y = [[1.0, 0.5], [-0.75, 0.25]], [1, -1]
    assert "2 weights (floats)" in repr(Separable.by(Examples(X, y), np.array([3, 2], dtype=object)))
    # Rounded, the first weight would be 1: the last row has the score 0.
    near = [3**40 + 1, -(3**40)]
    exact = Separable.by(Examples([[1.0, 1.0], [-1.0, -1.0]], y), np.array(near, dtype=object))
    assert "2 weights (whole numbers)" in repr(exact)


@given(data=nearly_degenerate(), more=st.lists(st.fractions(max_denominator=50), min_size=7, max_size=7))
def test_columns_are_added_up_exactly(data, more):
    X, y = data
    rows, _ = Examples(X, y, classes=(-1, 1)).rows(np.arange(len(X)))
    columns = exact.combination(rows, *exact.over_one_denominator(more[: len(X)]))
    sums = [sum(share * Fraction(v) for share, v in zip(more, column.tolist(), strict=False)) for column in X.T]
    assert {j: whole * columns.unit for j, whole in columns.sums} == {j: one for j, one in enumerate(sums) if one}


def test_shares_of_many_digits_are_reduced_once(monkeypatch):
    """Not for each column: that would take hours where there are many."""
    X, D = np.arange(1.0, 2001.0).reshape(2, 1000), 2**4000 + 1
    claimed = Inseparable(np.array([0, 1]), (Fraction(1, D), Fraction(D - 1, D)), (1, 1), False, (-1, 1))
    made, in_unit = [], exact._in_unit
    monkeypatch.setattr(exact, "_in_unit", lambda *numbers: made.append(numbers) or in_unit(*numbers))
    with pytest.raises(VerificationError, match="the combination is not 0: feature 0 comes to 1001"):
        claimed.verify(X, [1, 1])
    assert len(made) == 1


def test_a_short_share_is_shown_in_full():
    assert [show_share(Fraction(1, n)) for n in (2, 2**20 - 1)] == ["1/2", "1/1048575"]
    assert show_share(Fraction(1, 2**20)) == "≈9.537e-07"
