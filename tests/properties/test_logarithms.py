"""Logarithms that are called proven, against the 60 digits of Python's decimals and against exact powers."""

import math
import threading
from decimal import Decimal, localcontext
from fractions import Fraction

import flint
import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from onlinear.theory.check import exact, logarithms

positive = st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)
shares = st.floats(min_value=0.0, max_value=1.0, exclude_min=True, exclude_max=True)


def ln(x):
    """ln x in 60 digits of decimals, for a fraction x; where x is near 1, to 60 digits of the logarithm itself."""
    x = Fraction(x)
    with localcontext(prec=1500):
        value = Decimal(x.numerator) / Decimal(x.denominator)
        near = Fraction(1, 10**20)
        if abs(x - 1) < near:
            step = value - 1  # ln(1 + s) = s − s²/2 + s³/3 − …, and the rest is below 10⁻⁶⁰ of it
            return Fraction(step - step**2 / 2 + step**3 / 3 - step**4 / 4)
    with localcontext(prec=120):
        return Fraction((+value).ln())


def is_next_to(found, truth, *, above):
    """On the right side of the truth, up to what the decimals leave open, and nearer than a float could show."""
    far = abs(truth) / 2**100
    return truth - far / 2**60 <= found <= truth + far if above else truth - far <= found <= truth + far / 2**60


@given(x=positive)
@example(x=5e-324)
@example(x=1.7976931348623157e308)
@example(x=math.nextafter(1.0, 2.0))
@example(x=math.nextafter(1.0, 0.0))
def test_logarithms_enclose_the_truth(x):
    truth = ln(x)
    assert is_next_to(logarithms.log_up(x), truth, above=True)
    assert is_next_to(logarithms.log_down(x), truth, above=False)
    assert is_next_to(logarithms.inverse_log_up(x), -truth, above=True)
    assert exact.float_down(logarithms.log_down(x)) <= math.log(x) + 4 * math.ulp(math.log(x))


@given(eta=shares)
@example(eta=5e-324)
@example(eta=2.0**-1022)
@example(eta=math.nextafter(1.0, 0.0))
def test_logarithms_of_what_is_kept(eta):
    assert is_next_to(logarithms.keeping_log_up(eta), -ln(1 - Fraction(eta)), above=True)
    assert is_next_to(logarithms.half_keeping_log_down(eta), -ln(1 - Fraction(eta) / 2), above=False)


@given(k=st.integers(1, 900), base=st.sampled_from([2, 3, 7, 10]))
def test_powers_of_integers(k, base):
    """k·ln b is ln bᵏ, so the two enclosures meet."""
    assert logarithms.log_down(base**k) <= k * logarithms.log_up(base)
    assert k * logarithms.log_down(base) <= logarithms.log_up(base**k)


@given(n=st.integers(1, 10**30))
def test_logarithms_to_the_base_two(n):
    """log₂ n ≤ p/q just where n^q ≤ 2^p."""
    found = logarithms.log2_up(n)
    whole, q = math.ceil(found * 1000), 1000
    assert n**q <= 2**whole
    assert found <= n.bit_length()
    assert found >= n.bit_length() - 1
    if n.bit_count() == 1:
        assert found == n.bit_length() - 1


def test_exact_cases():
    assert logarithms.log_up(1) == logarithms.log_down(1.0) == 0
    assert [logarithms.log2_up(n) for n in (1, 2, 8, 2**40)] == [0, 1, 3, 40]
    assert logarithms.log_down(8) <= 3 * logarithms.log_up(2)
    assert 3 * logarithms.log_down(2) <= logarithms.log_up(8)


@pytest.mark.parametrize("precision", [53, 2, 1000])
def test_the_precision_of_others_is_left_alone(precision):
    before = flint.ctx.prec
    try:
        flint.ctx.prec = precision
        expected = logarithms.log_up(3.0)
        found = []
        threads = [threading.Thread(target=lambda: found.append(logarithms.log_up(3.0))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 8
        assert flint.ctx.prec == precision
    finally:
        flint.ctx.prec = before
    assert logarithms.log_up(3.0) == expected
