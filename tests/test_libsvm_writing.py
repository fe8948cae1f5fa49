"""Streams written as libsvm text: what is read again has the same bits."""

import gzip

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis.extra.numpy import arrays

import onlinear
from command_line import lines_of, run
from onlinear.data.checksum import Checksum
from onlinear.errors import DataError, ParameterError
from onlinear.streams import convert
from strategies import labels

FLOATS = st.one_of(st.just(0.0), st.floats(allow_nan=False, allow_infinity=False), st.integers(-9, 9).map(float))
LABELS = {
    "integers": np.array([-1, 1]),
    "bytes": np.array([0, 7], dtype=np.uint8),
    "floats": np.array([-0.1, 1e-300]),
    "float32": np.array([0.1, 0.3], dtype=np.float32),
    "truth": np.array([False, True]),
    "large": np.array([-(2**53), 2**53]),
    "three": np.array([0, 1, 2]),
}


def checksum_of(stream):
    """A checksum of the examples with the numbers of their classes."""
    found = Checksum()
    for chunk in stream.chunks():
        for span in chunk.spans():
            found.add(chunk.row_sums(span), np.searchsorted(stream.classes, chunk.y[span]).astype(np.int8))
    return str(found)


def read_all(stream):
    blocks = list(stream)
    rows = [X.toarray() if scipy.sparse.issparse(X) else X for X, _ in blocks]
    width = max(X.shape[1] for X in rows)
    X = np.vstack([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X in rows])
    return X, np.concatenate([y for _, y in blocks])


@given(data=st.data(), kind=st.sampled_from(sorted(LABELS)), dtype=st.sampled_from([np.float64, np.float32]))
def test_round_trip(tmp_path_factory, data, kind, dtype):
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 6))
    with np.errstate(over="ignore"):
        X = data.draw(arrays(np.float64, (n, d), elements=FLOATS)).astype(dtype)
    X[~np.isfinite(X)] = 1.0  # too large for float32
    number = np.array(data.draw(labels(n))) > 0  # both labels occur
    if kind == "three":
        number = number + number * np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    y = LABELS[kind][number.astype(int)]
    path = tmp_path_factory.mktemp("text") / data.draw(st.sampled_from(["a.svm", "a.LIBSVM", "a.svmlight.gz", "a.txt"]))
    size = data.draw(st.integers(1, n))
    texts = set()
    for form in (np.asarray, scipy.sparse.csr_array):
        original = onlinear.open_stream(form(X), y)
        told = []
        assert convert(original, path, progress=told.append) == n
        assert told[-1] == n
        again = onlinear.open_stream(path, format="libsvm")
        X_again, y_again = read_all(again)
        assert X_again.shape == X.shape
        assert (X_again + 0.0).tobytes() == (X.astype(np.float64) + 0.0).tobytes()  # 0.0 has either sign
        assert np.array_equal(y_again, y)
        assert np.array_equal(again.classes, original.classes)
        assert checksum_of(again) == checksum_of(original)
        texts.add(path.read_bytes())
        blocks = [(form(X[i : i + size]), y[i : i + size]) for i in range(0, n, size)]
        convert(onlinear.open_stream(blocks, classes=original.classes, n_features=d), path)
        texts.add(path.read_bytes())
    assert len(texts) == 1  # whatever the layout and the blocks


@given(value=st.floats(allow_nan=False, allow_infinity=False).filter(bool))
def test_numbers_have_no_more_digits_than_they_need(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("text") / "a.svm"
    convert(onlinear.open_stream([[value], [1.0]], [1, -1]), path)
    written = path.read_text().split()[1].removeprefix("1:")
    assert float(written) == value

    def digits(text):
        return len(text.lower().partition("e")[0].replace(".", "").strip("-0"))

    assert digits(written) <= digits(repr(value))


def test_the_text(tmp_path):
    X = scipy.sparse.csr_array(([0.5, -1.0, 0.0, 1e22], [0, 2, 1, 2], [0, 2, 2, 4]), shape=(3, 5))
    convert(onlinear.open_stream(X, [1, -1, 1]), tmp_path / "a.svm")
    # Zeros that are stored stay; the last line keeps the number of features.
    assert (tmp_path / "a.svm").read_bytes() == b"1 1:0.5 3:-1\n-1\n1 2:0 3:1e+22 5:0\n"
    again = onlinear.open_stream(tmp_path / "a.svm")
    convert(again, tmp_path / "b.svm")
    assert (tmp_path / "b.svm").read_bytes() == (tmp_path / "a.svm").read_bytes()


def test_indices_start_where_those_of_the_stream_do(tmp_path):
    (tmp_path / "a.svm").write_text("1 0:1 2:3\n-1 1:2\n")
    convert(onlinear.open_stream(tmp_path / "a.svm", zero_based=True), tmp_path / "b.svm")
    assert (tmp_path / "b.svm").read_text() == "1 0:1 2:3\n-1 1:2\n"


def test_compressed_text_depends_on_the_examples_only(tmp_path):
    for name in ("a.svm", "a.svm.gz", "b.txt.gz"):
        convert(onlinear.open_stream(np.eye(4), [1, 0, 1, 0]), tmp_path / name)
    one, other = ((tmp_path / name).read_bytes() for name in ("a.svm.gz", "b.txt.gz"))
    assert one == other
    assert gzip.decompress(one) == (tmp_path / "a.svm").read_bytes()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.eye(2), ["no", "yes"], r"row 0: label 'no'; the labels of libsvm text are numbers .*FILE\.arrow"),
        (np.eye(2), [0, 2**53 + 1], r"row 1: label 9007199254740993; those of libsvm text are at most 2\^53"),
        ([[1.0, 2.0], [1.0, np.inf]], [0, 1], "row 1: column 1 is inf, not a finite number"),
        (scipy.sparse.csr_array([[0.0, 2.0], [1.0, np.nan]]), [0, 1], "row 1: column 1 is nan, not a finite number"),
    ],
)
def test_what_cannot_be_written_leaves_the_file_alone(tmp_path, X, y, message):
    path = tmp_path / "a.svm"
    path.write_text("as before")
    with pytest.raises(DataError, match=message):
        convert(onlinear.open_stream(X, y), path)
    assert path.read_text() == "as before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_ending_is_the_format(tmp_path):
    stream = onlinear.open_stream(np.eye(2), [0, 1])
    for name in ("a.csv", "a", "a.gz", "a.arrow.gz", "svm"):
        with pytest.raises(ParameterError, match=r"must end with \.arrow, \.parquet, or for libsvm text with \.svm"):
            convert(stream, tmp_path / name)
    with pytest.warns(DeprecationWarning, match="is now convert"):
        assert onlinear.streams.pack is convert


def test_the_command(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("age,town,class\n31,Ulm,1\n45.5,Bonn,0\n28,Ulm,0\n")
    result = run("convert", table, "-o", tmp_path / "people.svm")
    assert "libsvm text has no names of features; FILE.arrow and FILE.parquet keep them" in result.stderr
    assert (tmp_path / "people.svm").read_text() == "1 1:31 2:1\n0 1:45.5 3:1\n0 1:28 2:1\n"
    (tmp_path / "people.txt").touch()
    assert "no names" not in run("convert", tmp_path / "people.svm", "-o", tmp_path / "people.txt").stderr
    facts = lines_of("convert", table, "-o", tmp_path / "people.svm.gz")[-1]
    assert (facts["examples"], facts["bytes"]) == (3, (tmp_path / "people.svm.gz").stat().st_size)
    for name in ("people.svm", "people.txt", "people.svm.gz"):
        assert lines_of("train", tmp_path / name)[-1]["features"] == 3
    table.write_text("age,class\n31,yes\n45.5,no\n")
    assert (
        "label 'yes'; the labels of libsvm text are numbers"
        in run("convert", table, "-o", tmp_path / "b.svm", code=1).stderr
    )
