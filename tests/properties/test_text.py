"""libsvm text: every number to the bit as Python's `float` has it, every line as the slow reader has it."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

import libsvm_oracle
from libsvm_oracle import Example, Fault
from onlinear.streams import files
from onlinear.streams.formats.libsvm import LibsvmReader

DIGITS = st.text("0123456789", max_size=30)
SIGNS = st.sampled_from(["", "", "-", "+"])
FINITE = {"allow_nan": False, "allow_infinity": False}
LEAST_NORMAL = 2.0**-1022
LARGEST = float(np.finfo(np.float64).max)
ALPHABET = list(b"0123456789+-.eE:# \t\r\nqid,x\0\xff")


@st.composite
def digit_strings(draw):
    """Any decimal, of any length, with or without its parts."""
    before, after = draw(DIGITS), draw(DIGITS)
    exponent = draw(st.none() | st.integers(-400, 400) | st.integers(-10_000, 10_000))
    tail = "" if exponent is None else draw(st.sampled_from(["e", "E", "e+"]))
    tail += "" if exponent is None else str(abs(exponent) if tail == "e+" else exponent)
    point = "." if after or draw(st.booleans()) else ""
    return draw(SIGNS) + draw(st.sampled_from(["", "", "0", "000000000000000000000"])) + before + point + after + tail


@st.composite
def written_floats(draw):
    """A float with as many digits as it needs, or fewer, or more."""
    x = draw(
        st.floats(**FINITE)
        | st.floats(-LEAST_NORMAL, LEAST_NORMAL)
        | st.floats(LARGEST / 4, LARGEST)
        | st.floats(-1e6, 1e6)
    )
    style = draw(st.sampled_from(["r", "e", "f", "g"]))
    if style == "r":
        return repr(x)
    return f"{x:.{draw(st.integers(0, 25))}{style}}"


@st.composite
def halfway_cases(draw):
    """A decimal in the very middle between two floats, or next to it, or cut off after some digits."""
    x = draw(st.floats(min_value=0.0, **FINITE) | st.floats(0.0, LEAST_NORMAL) | st.floats(1.0, 2.0**60))
    above = math.nextafter(x, math.inf)
    # Beyond the largest float there is none; what would be the next one decides what rounds to infinity.
    end = Fraction(2**1024) if above == np.inf else Fraction(above)
    middle = (Fraction(x) + end) / 2
    exact = Context(prec=1200)
    digits = exact.divide(Decimal(middle.numerator), Decimal(middle.denominator))
    if draw(st.booleans()):
        digits = Context(prec=draw(st.integers(1, 40))).plus(digits)
    text = f"{digits:e}"
    mantissa, _, exponent = text.partition("e")
    nudge = draw(st.sampled_from(["", "", "0", "1", "000000000000000000000001"]))
    mantissa += nudge if "." in mantissa else f".{nudge}"
    return f"{mantissa}e{exponent}"


NUMBERS = digit_strings() | written_floats() | halfway_cases()
VALUES = NUMBERS | st.sampled_from(["", "1", "0.5", "-0", "nan", "inf", "1_0", "1e", "0x1p3", "1e999", "1:2"])
INDICES = st.integers(0, 40).map(str) | st.sampled_from(["", "007", "-1", "+2", "1.0", "4294967297", "9" * 40, "2 "])
WORDS = (
    st.tuples(INDICES, VALUES).map(":".join)
    | st.integers(0, 200).map(lambda index: f"{index}:1")
    | st.sampled_from(["qid:3", "qid:", "Qid:3", "3", "x", "#", "# 1:2", "1:2#", ",", "\0", "é"])
)
LABELS = st.sampled_from(["1", "+1", "-1", "0", "2.5", "1e999", "1,2", "a", "", "3:1", "#", "-0"]) | VALUES


@st.composite
def lines(draw):
    """A line as it may stand in a file, with whatever goes wrong in one."""
    if draw(st.booleans()):
        # Nothing wrong so far: only these reach what comes after.
        indices = sorted(draw(st.sets(st.integers(1, 60), max_size=8)))
        words = ["1", *(f"{index}:{draw(st.integers(-9, 9))}" for index in indices)]
    else:
        words = [draw(LABELS)]
    words += draw(st.lists(WORDS, max_size=4))
    spaces = st.sampled_from([" ", " ", " ", "  ", "\t", "\r"])
    text = draw(st.sampled_from(["", "", "", " ", "\t"]))
    text += "".join(word + draw(spaces) for word in words)
    return text.encode()


TEXTS = st.tuples(
    st.lists(lines(), max_size=8).map(b"\n".join) | st.lists(st.sampled_from(ALPHABET), max_size=60).map(bytes),
    st.sampled_from([b"", b"\n", b"\r\n", b"\n\n"]),
).map(b"".join)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("text") / "data.svm"


def bits(one):
    """Return a line such that it equals another only where all bits do: −0 is not 0."""
    if isinstance(one, Example):
        return one.label.hex(), one.indices, tuple(value.hex() for value in one.values)
    return one


def read(path, text, lowest=1, max_features=1 << 27, *, labelled=True):
    """Return what the library makes of each line, as the oracle would say it."""
    path.write_bytes(text)
    found = {}
    for chunk in LibsvmReader([str(path)], lowest, max_features, labelled).chunks():
        X = chunk.X
        here = []
        for i in range(chunk.n):
            line = int(chunk.place(i).rpartition(":")[2])
            row = slice(X.indptr[i], X.indptr[i + 1])
            assert line not in found
            found[line] = Example(float(chunk.y[i]), tuple(X.indices[row].tolist()), tuple(X.data[row].tolist()))
            assert chunk.written(i) == text.split(b"\n")[line - 1]
            assert max(found[line].indices, default=0) < X.shape[1] <= max_features
            here.append(line)
        for fault in chunk.faults:
            _, line, column = fault.place.rsplit(":", 2)
            assert int(line) not in found
            found[int(line)] = Fault(int(column))
            assert fault.before == sum(one < int(line) for one in here)
            assert fault.written == text.split(b"\n")[int(line) - 1]
        assert here == sorted(here)
    n = text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
    return [found.pop(line, None) for line in range(1, n + 1)], found


def check(path, text, **options):
    wanted = libsvm_oracle.read(text, **options)
    got, others = read(path, text, **options)
    assert not others
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        if isinstance(one, Fault) and isinstance(other, Fault):
            assert libsvm_oracle.same_fault(one.column, other)
        else:
            assert bits(one) == bits(other)


@settings(max_examples=150)
@given(st.lists(NUMBERS, min_size=1, max_size=20))
@example(["0.1", ".5", "5.", "-0", "0.1234567", "0.12345678", "0.123456789012345", "0.1234567890123456"])
@example(["1234567.12345678901", "12345678.5", "1234567.1234567812345678", "123456789012345678", "9" * 19, "9" * 400])
@example(["9007199254740993", "9007199254740992.999", "9007199254740993.0000000000000000000000000000001"])
@example(["1e22", "1e23", "8.5e22", "4.4501477170144023e-308", "2.2250738585072011e-308", "2.2250738585072014e-308"])
@example(["5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "0e99999", "0." + "0" * 400 + "1"])
@example(["1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "1.797693134862315807938e308"])
@example(["1" + "0" * 308, "1" + "0" * 309, "0" * 50 + "1", "1e0000000000000000000000005", "1e-00000000000000000005"])
@example(["1e18446744073709551617", "1e-18446744073709551617", "1e4294967297", "0." + "0" * 30 + "1e31"])
def test_numbers_are_those_of_python(path, numbers):
    check(path, "".join(f"1 1:{number}\n{number} 1:1\n" for number in numbers).encode())


@settings(max_examples=150)
@given(TEXTS, st.sampled_from([0, 1]), st.sampled_from([1, 30, 1 << 27]), st.booleans())
@example(b"+1 1:1 # qid\n-1 qid:3 1:1\n1 qid:3#\n\n\n1", 1, 30, True)
@example(b"1 quux 1:1\n1 2q:3 5:1\n1 qid:1 qid:2 3:1\n", 1, 30, True)
@example(b"1:2 3:4\n1 1:2\nqid:3 1:2\n-1:2\n1.0:2\n", 1, 30, False)
@example(b"1 1:1.797693134862315807938e308 2:1.797693134862315807938e308\n1 1:1\n", 1, 30, True)
def test_lines_are_those_of_the_oracle(path, text, lowest, max_features, labelled):
    check(path, text, lowest=lowest, max_features=max_features, labelled=labelled)


@given(TEXTS, st.sampled_from([1, 2, 7, 64]))
def test_where_a_file_is_cut_never_shows(path, text, size):
    whole = read(path, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_PIECE", size)
        got, others = read(path, text)
    assert (list(map(bits, got)), others) == (list(map(bits, whole[0])), whole[1])


@given(st.lists(st.sampled_from([b"1 1:1", b"-1 2:1", b"", b"1 3:x", b"1 " + b" " * 90]), max_size=12), st.booleans())
def test_a_line_that_is_too_long_takes_no_other_with_it(path, rows, ended):
    text = b"\n".join(rows) + b"\n" * ended
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_PIECE", 8)
        patch.setattr(files, "LONGEST_LINE", 40)
        path.write_bytes(text)
        places, faults = [], []
        for chunk in LibsvmReader([str(path)], 1, 30).chunks():
            places += [int(chunk.place(i).rpartition(":")[2]) for i in range(chunk.n)]
            faults += [int(fault.place.rsplit(":", 2)[1]) for fault in chunk.faults]
    assert places == [k for k, row in enumerate(rows, 1) if row and len(row) < 20 and b"x" not in row]
    assert faults == [k for k, row in enumerate(rows, 1) if len(row) > 20 or b"x" in row]
