"""The converted form: what is packed is read again to the last bit, and what is damaged is refused."""

import json
import os
import random
import zlib

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from hypothesis import given

from onlinear.data.checksum import RowSums, sparse_sums
from onlinear.errors import DataError, ParameterError
from onlinear.streams.formats import packed
from onlinear.streams.formats.arrays import BlocksReader, MatrixReader
from onlinear.streams.formats.libsvm import LibsvmReader
from onlinear.streams.formats.packed import packing, reader
from onlinear.streams.formats.packed.form import END, MARK, End, batch_sum, schema
from onlinear.streams.quarantine import Quarantine
from onlinear.streams.reader import Reader
from onlinear.streams.reading import Reading
from onlinear.streams.stream import Stream
from strategies import examples

ENDINGS = [".arrow", ".parquet"]
LABELS = {
    "int": np.array([-1, 1]),
    "uint8": np.array([0, 1], dtype=np.uint8),
    "float": np.array([0.5, 2.25]),
    "float32": np.array([0.1, 0.3], dtype=np.float32),
    "bool": np.array([False, True]),
    "str": np.array(["nein", "já"]),
}


class Named(Reader):
    """A reader whose features have names."""

    names = width = None

    def __init__(self, reader, names):
        self.names, self.width, self.chunks = names, len(names), reader.chunks

    def chunks(self):
        raise NotImplementedError


def stream(reader, names=None, reading=None, **options):
    if names is not None:
        reader = Named(reader, names)
    return Stream(reader, reading or Reading(), Quarantine("raise"), **options)


def of_matrix(X, y, **options):
    return stream(MatrixReader(X, y, labelled=True), **options)


def reading(path, max_features=1 << 20):
    return packed.PackedReader([str(path)], max_features)


def read(path, max_features=1 << 20):
    """Everything that a converted file holds."""
    reader = reading(path, max_features)
    chunks = list(reader.chunks())
    y = np.concatenate([chunk.y for chunk in chunks])
    if scipy.sparse.issparse(chunks[0].X):
        X = scipy.sparse.vstack([chunk.X for chunk in chunks], format="csr")
        parts = [np.diff(X.indptr), X.indices, X.data]
    else:
        parts = [np.concatenate([chunk.X for chunk in chunks])]
    return [y, *parts, reader.names, reader.width, reader.classes]


def same(one, other):
    return len(one) == len(other) and all(map(np.array_equal, one, other))


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(packing, "BATCH_BYTES", 200)


@pytest.mark.parametrize("ending", ENDINGS)
@given(
    data=examples(),
    layout=st.sampled_from([np.asarray, scipy.sparse.csr_array]),
    dtype=st.sampled_from([np.float64, np.float32]),
    kind=st.sampled_from(sorted(LABELS)),
    size=st.sampled_from([1, 200, 1 << 22]),
)
def test_round_trip(tmp_path_factory, ending, data, layout, dtype, kind, size):
    X, signs = data
    X = layout((X / 7.0).astype(dtype))
    y = LABELS[kind][(signs > 0).astype(int)]
    path = tmp_path_factory.mktemp("packed") / f"data{ending}"
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BATCH_BYTES", size)
        original = of_matrix(X, y)
        assert packed.pack(original, path, progress=told.append) == y.size
    assert told[-1] == y.size
    assert packed.is_packed(str(path))
    got = read(path)
    assert np.array_equal(got[0], y)
    if scipy.sparse.issparse(X):
        assert np.array_equal(got[1], np.diff(X.indptr))
        assert np.array_equal(got[2], X.indices)
        assert got[3].tobytes() == X.data.tobytes()
        assert got[3].dtype == dtype
    else:
        assert got[1].tobytes() == X.tobytes()
        assert got[1].dtype == dtype
    assert got[-2] == X.shape[1]
    assert got[-1].tolist() == original.classes.tolist()
    again = stream(reading(path))
    assert [label for _, labels in again for label in labels] == y.tolist()
    assert np.array_equal(again.classes, np.sort(LABELS[kind]))


@given(data=examples(), first=st.integers(1, 9), second=st.integers(1, 9))
def test_the_file_does_not_depend_on_the_blocks(tmp_path_factory, data, first, second):
    X, y = scipy.sparse.csr_array(data[0] / 16.0), data[1]
    folder = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BATCH_BYTES", 100)
        for size in (first, second):
            blocks = [(X[i : i + size], y[i : i + size]) for i in range(0, y.size, size)]
            packed.pack(stream(BlocksReader(blocks)), folder / f"{size}.arrow")
    assert (folder / f"{first}.arrow").read_bytes() == (folder / f"{second}.arrow").read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_the_end_tells(tmp_path, ending, small):
    text = tmp_path / "data.svm"
    text.write_text("".join(f"{(-1) ** i} {i + 1}:0.{i} {i + 2}:1e-{i}\n" for i in range(1, 60)))
    original = stream(LibsvmReader([str(text)], 1, 1 << 20), reading=Reading(zero_based=True), classes=(1, -1))
    path = tmp_path / f"data{ending}"
    assert packed.pack(original, path) == 59
    reader = reading(path)
    assert (reader.width, reader.names, reader.n) == (61, None, 59)
    assert reader.reading == {"zero_based": True}
    assert reader.classes.tolist() == [1, -1]
    chunks = list(reader.chunks())
    assert len(chunks) > 3
    assert chunks[1].place(1) == f"{path}:row {chunks[0].n + 1}"
    assert json.loads(chunks[0].written(0)) == {"label": -1, "indices": [1, 2], "values": [0.1, 0.1]}
    assert all(chunk.X.has_canonical_format for chunk in chunks)
    mark = pa.ipc.open_file(path).schema if ending == ".arrow" else pq.read_schema(path)
    assert json.loads(mark.metadata[MARK]) == {"packed": 1, "classes": [1, -1], "reading": {"zero_based": True}}


@pytest.mark.parametrize("ending", ENDINGS)
def test_names_are_kept(tmp_path, ending):
    path = tmp_path / f"data{ending}"
    names = ("a", "b=ü", "")
    packed.pack(of_matrix(np.eye(3), np.array([0, 1, 0]), names=names), path)
    assert reading(path).names == names


def test_rows_are_made_canonical(tmp_path):
    X = scipy.sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3))
    path = tmp_path / "data.arrow"
    packed.pack(of_matrix(X, ["a", "b"]), path)
    y, counts, indices, values, *_ = read(path)
    assert (y.tolist(), counts.tolist(), indices.tolist(), values.tolist()) == (["a", "b"], [2, 0], [0, 2], [2.0, 5.0])
    assert X.indices.tolist() == [2, 0, 2]


def test_wide_indices_and_a_declared_width(tmp_path):
    X = scipy.sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    packed.pack(of_matrix(X, [0, 1, 1], n_features=9), tmp_path / "data.arrow")
    assert reading(tmp_path / "data.arrow").width == 9


def test_blocks_whose_memory_is_used_again(tmp_path):
    def blocks():
        X = np.zeros((1, 2))
        for i in range(9):
            X[0] = i, -i
            yield X, [i % 2]

    packed.pack(stream(BlocksReader(blocks()), classes=(0, 1)), tmp_path / "data.arrow")
    assert read(tmp_path / "data.arrow")[1].tolist() == [[i, -i] for i in range(9)]


def test_examples_larger_than_a_batch(tmp_path, small):
    X = np.zeros((5, 60))
    X[:, 0] = range(5)
    for matrix in (X, scipy.sparse.csr_array(X + 1)):
        packed.pack(of_matrix(matrix, [0, 1, 0, 1, 0]), tmp_path / "data.arrow")
        parts = [chunk.X for chunk in reading(tmp_path / "data.arrow").chunks()]
        assert [part.shape for part in parts] == [(1, 60)] * 5


def test_several_files(tmp_path):
    for k in range(2):
        packed.pack(of_matrix(scipy.sparse.csr_array(np.eye(2 + k)), [0, 1, 1][: 2 + k]), tmp_path / f"{k}.arrow")
    reader = packed.PackedReader([str(tmp_path / f"{k}.arrow") for k in range(2)], 9)
    chunks = list(reader.chunks())
    assert [chunk.X.shape for chunk in chunks] == [(2, 3), (3, 3)]
    assert chunks[1].place(2) == f"{tmp_path / '1.arrow'}:row 2"
    packed.pack(of_matrix(scipy.sparse.csr_array(np.eye(2)), [0, 2]), tmp_path / "2.arrow")
    with pytest.raises(DataError, match=r"2\.arrow: the labels are 0 and 2; .*0\.arrow has 0 and 1"):
        packed.PackedReader([str(tmp_path / f"{k}.arrow") for k in (0, 2)], 9)
    packed.pack(of_matrix(scipy.sparse.csr_array(np.eye(2)), [0, 1], names=("a", "b")), tmp_path / "3.arrow")
    with pytest.raises(DataError, match="the names of its features differ"):
        packed.PackedReader([str(tmp_path / f"{k}.arrow") for k in (0, 3)], 9)


def test_files_of_dense_examples_have_one_width(tmp_path):
    for k in (2, 3):
        packed.pack(of_matrix(np.eye(k), [0, 1, 1][:k]), tmp_path / f"{k}.arrow")
    packed.pack(of_matrix(scipy.sparse.csr_array(np.eye(2)), [0, 1]), tmp_path / "sparse.arrow")
    with pytest.raises(DataError, match="has sparse examples, the other dense"):
        packed.PackedReader([str(tmp_path / "2.arrow"), str(tmp_path / "sparse.arrow")], 9)
    with pytest.raises(DataError, match=r"3\.arrow: 3 features; .*2\.arrow has 2"):
        packed.PackedReader([str(tmp_path / f"{k}.arrow") for k in (2, 3)], 9)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "there are no examples to convert"),
        (
            [(np.eye(2), [0, 1]), (scipy.sparse.eye_array(2).tocsr(), [0, 1])],
            "row 2: a converted file is sparse, or dense",
        ),
        ([(np.eye(2), [0, 1]), (np.eye(3), [0, 1, 0])], "row 2: a converted file is sparse, or dense"),
        ([(np.eye(2, dtype=np.float32), [0, 1]), (np.eye(2), [0, 1])], "row 2: float64 after float32"),
        ([(np.eye(2), [0, 1]), (np.array([[1.0, np.nan]]), [0])], "row 2: column 1 is nan, not a finite number"),
        ([(np.eye(2), [b"a", b"b"])], "the labels are |S1; a converted file has numbers, booleans or strings"),
        ([(np.eye(2), ["a", "\ud800"])], "are not valid Unicode"),
        ([(np.eye(2), np.array([0, 2**63], dtype=np.uint64))], "label 9223372036854775808; .* below 2.63"),
    ],
)
def test_what_cannot_be_packed(tmp_path, ending, blocks, message):
    path = tmp_path / f"data{ending}"
    path.write_bytes(b"as before")
    with pytest.raises(DataError, match=message):
        packed.pack(stream(BlocksReader(blocks)), path)
    assert path.read_bytes() == b"as before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_value_that_is_not_finite_in_a_sparse_row(tmp_path):
    X = scipy.sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0], [2.0, np.inf]]))
    with pytest.raises(DataError, match="row 2: column 1 is inf"):
        packed.pack(of_matrix(X, [0, 1, 1]), tmp_path / "data.arrow")


def test_where_nothing_can_be_packed(tmp_path):
    with pytest.raises(ParameterError, match=r"data\.csv: .* must end with \.arrow or \.parquet"):
        packed.pack(of_matrix(np.eye(2), [0, 1]), tmp_path / "data.csv")
    (tmp_path / "folder.arrow").mkdir()
    with pytest.raises(IsADirectoryError):
        packed.pack(of_matrix(np.eye(2), [0, 1]), tmp_path / "folder.arrow")


def test_what_is_not_packed(tmp_path):
    table = pa.table({"label": [1], "x": [2.0]})
    pq.write_table(table, tmp_path / "table.parquet")
    with pa.ipc.new_file(str(tmp_path / "table.arrow"), table.schema) as writer:
        writer.write_table(table)
    (tmp_path / "text.svm").write_text("1 1:1\n")
    for name in ("table.parquet", "table.arrow", "text.svm", "nowhere.arrow"):
        assert not packed.is_packed(str(tmp_path / name))
        with pytest.raises(DataError, match=f"{name}: (not a converted file|No such file)"):
            reading(tmp_path / name)
    assert not packed.is_packed("-")


@pytest.mark.parametrize("ending", ENDINGS)
def test_too_many_features(tmp_path, ending):
    packed.pack(of_matrix(np.eye(5), [0, 1, 0, 1, 1]), tmp_path / f"data{ending}")
    with pytest.raises(DataError, match="5 features; at most 4"):
        reading(tmp_path / f"data{ending}", max_features=4)


def test_a_file_that_vanishes_or_shrinks(tmp_path, small):
    path = tmp_path / "data.arrow"
    packed.pack(of_matrix(np.eye(50), np.arange(50) % 2), path)
    reader = reading(path)
    chunks = reader.chunks()
    next(chunks)
    path.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(DataError, match=r"data\.arrow"):
        list(reader.chunks())
    path.unlink()
    with pytest.raises(DataError, match=r"data\.arrow: No such file"):
        list(reader.chunks())


def crafted(path, indices, values, indptr, width, **changes):
    """Write a file with valid checksums, as somebody might who means harm."""
    arrays = (np.array(indptr, np.int32), np.array(indices, np.int32), np.array(values))
    positive = np.zeros(len(indptr) - 1, dtype=np.uint8)
    fits = np.all(np.diff(arrays[0]) >= 0) and arrays[0][0] >= 0 and arrays[0][-1] <= len(indices)
    rows = np.zeros(positive.size, np.uint64)
    row_sums = sparse_sums(arrays[2], arrays[1], arrays[0])[0] if fits else RowSums(rows, rows)
    sums = [batch_sum(row_sums, positive.astype(np.int8) * 2 - 1)]
    told = {"sums": sums, "n_examples": positive.size} | changes
    end = End(np.array([0, 1]), {}, None, width, **told)
    types = schema(end, sparse=True, values=np.dtype(float), width=0)
    pair = types.field("features").type.value_type
    pairs = pa.StructArray.from_arrays(list(arrays[1:]), fields=[pair.field(0), pair.field(1)])
    # Arrow does not write what is out of order: it is put into the file afterwards.
    fine = np.minimum(np.arange(len(indptr)), len(indices)).astype(np.int32)
    fine[-1] = len(indices)
    lists = pa.ListArray.from_arrays(pa.array(fine), pairs, type=types.field("features").type)
    with pa.ipc.new_file(str(path), types) as writer:
        writer.write_batch(
            pa.RecordBatch.from_arrays(
                [pa.array(positive.astype(np.int64)), lists, *map(pa.array, row_sums)], schema=types
            )
        )
        writer.write_batch(pa.RecordBatch.from_pylist([], schema=types), custom_metadata={END: end.text()})
    text = path.read_bytes()
    assert text.count(fine.tobytes()) == 1
    path.write_bytes(text.replace(fine.tobytes(), arrays[0].tobytes()))


@pytest.mark.parametrize(
    ("indices", "indptr", "good"),
    [
        ([0, 2, 1], [0, 2, 3], True),
        ([0, 2, 2], [0, 2, 3], True),
        ([0, 2, 2], [0, 2, 2, 3], True),
        ([0, 2, 2], [0, 0, 3], False),
        ([2, 0, 1], [0, 2, 3], False),
        ([0, 3, 1], [0, 2, 3], False),
        ([0, 2, -1], [0, 2, 3], False),
        ([0, 2, 1], [0, 3, 2], False),
        ([0, 2, 1], [0, 2, 4], False),
        ([0, 2, 1], [1, 2, 3], False),
        ([0, 2, 1], [-1, 2, 3], False),
    ],
)
def test_rows_that_nobody_packed(tmp_path, indices, indptr, good):
    path = tmp_path / "data.arrow"
    crafted(path, indices, [1.0, 2.0, 3.0], indptr, 3)
    if good:
        assert read(path)[2].tolist() == indices
    else:
        with pytest.raises(DataError, match=r"data\.arrow.* is damaged"):
            read(path)


@pytest.mark.parametrize("changes", [{"n_examples": 3}, {"sums": ["0" * 32]}, {"sums": ["0" * 32] * 2}])
def test_ends_that_do_not_fit(tmp_path, changes):
    crafted(tmp_path / "data.arrow", [0, 2, 1], [1.0, 2.0, 3.0], [0, 2, 3], 3, **changes)
    with pytest.raises(DataError, match="damaged"):
        read(tmp_path / "data.arrow")


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"packed": 2}, "version 2 is not supported, only 1"),
        ({"classes": [1]}, "damaged"),
        ({"classes": [1, 1]}, "damaged"),
        ({"classes": [[1], 2]}, "damaged"),
        ({"names": [1, 2]}, "damaged"),
        ({"names": ["a"] * 9}, "damaged"),
        ({"n_features": -1}, "damaged"),
        ({"n_features": 1.5}, "damaged"),
        ({"sums": "!"}, "damaged"),
        ({"reading": 3}, "damaged"),
    ],
)
def test_ends_that_say_something_else(told, message):
    good = End(np.array([0, 1]), {}, None, 3, 2, ["0" * 32]).text()
    text = json.dumps(json.loads(good[8:]) | told).encode()
    with pytest.raises(DataError, match=message):
        End.of(f"{zlib.crc32(text):08x}".encode() + text, "data.arrow")
    with pytest.raises(DataError, match="damaged"):
        End.of(good[:-1] + b" ", "data.arrow")
    with pytest.raises(DataError, match="the end record is missing"):
        End.of(None, "data.arrow")


RNG = np.random.default_rng(0)
DAMAGED = {
    "sparse": (scipy.sparse.random_array((20, 6), density=0.4, format="csr", rng=RNG), np.array(["no", "yes"] * 10)),
    "dense": (RNG.random((12, 3)), np.array([1, -1] * 6)),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", sorted(DAMAGED))
def test_damaged_files(tmp_path, ending, kind, small):
    """Whatever is cut off or flipped: an error, or the very same examples."""
    X, y = DAMAGED[kind]
    path = tmp_path / f"data{ending}"
    packed.pack(of_matrix(X, y, names=("a", "b", "c", "d", "e", "f")[: X.shape[1]]), path)
    whole, expected = path.read_bytes(), read(path)
    dice = random.Random(0)  # noqa: S311  # nothing is secret here
    cases = [whole[:n] for n in range(len(whole))]
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(dice.choice([1, 1, 1, 2, 8])):
            damaged[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        cases.append(bytes(damaged))
    refused = agreed = 0
    for case in cases:
        path.write_bytes(case)
        packed.is_packed(str(path))
        try:
            got = read(path)
        except DataError as error:
            refused += path.name in str(error)
        else:
            assert same(got, expected)
            agreed += 1
    assert refused + agreed == len(cases)
    assert refused > agreed


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_file_is_summed_up_once_while_it_is_unchanged(tmp_path, kind, monkeypatch):
    path = tmp_path / "data.arrow"
    X, y = DAMAGED[kind]
    packed.pack(of_matrix(X, y), path)

    def no_more(*_):
        raise AssertionError("summed up again")

    def of_age(seconds):
        then = path.stat().st_mtime - seconds
        os.utime(path, (then, then))

    first = read(path)
    # A file that has only just been written is not trusted.
    with monkeypatch.context() as patch:
        patch.setattr(reader, f"{kind}_sums", no_more)
        with pytest.raises(AssertionError, match="summed up again"):
            read(path)
    of_age(60)
    read(path)
    with monkeypatch.context() as patch:
        patch.setattr(reader, f"{kind}_sums", no_more)
        again = read(path)
    assert str(again) == str(first)
    # What is changed in place is seen, although size and time are as they were.
    about, text = path.stat(), bytearray(path.read_bytes())
    values = np.ascontiguousarray(X.data if kind == "sparse" else X, dtype=float).tobytes()
    text[text.index(values) + 3] ^= 1
    with path.open("r+b") as file:
        file.write(text)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    with pytest.raises(DataError, match="damaged"):
        read(path)
