"""Arrays as streams: NumPy and SciPy files, matrices in memory, iterables of blocks."""

import bz2
import gzip
import io
import json
import sys
import tracemalloc
import zipfile
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given

from onlinear import run
from onlinear.errors import DataError, ParameterError
from onlinear.rules import Perceptron
from onlinear.streams.files import find_files
from onlinear.streams.formats.arrays import BlocksReader, MatrixReader, npy_array
from onlinear.streams.formats.arrays import matrix as stored
from onlinear.streams.formats.format import Request
from onlinear.streams.formats.registry import get_format
from onlinear.streams.reading import Reading
from strategies import LAYOUTS, as_layout, examples

DTYPES = ["f8", "f4", ">f8", "f2", "i8", "i1", ">u2", "bool"]
SIZES = [1, 100, 1 << 22]


def npy_reader(files, y, reading, *, labelled):
    return get_format("npy").open(files, Request(reading, 1 << 20, y, labelled))


def npz_reader(files, y, reading, *, labelled):
    return get_format("npz").open(files, Request(reading, 1 << 20, y, labelled))


def chunks(reader):
    return list(reader.chunks())


def rows_of(reader):
    """All examples, as one dense matrix and their labels; the same twice."""
    twice = []
    for _ in range(2):
        parts = chunks(reader)
        X = [part.X.toarray() if scipy.sparse.issparse(part.X) else part.X for part in parts]
        twice.append((np.concatenate(X), np.concatenate([part.y for part in parts])))
    assert np.array_equal(twice[0][0], twice[1][0])
    return twice[0]


def readable(part):
    if scipy.sparse.issparse(part.X):
        return part.X.format == "csr" and part.X.data.dtype in ("f8", "f4")
    return part.X.flags.c_contiguous and part.X.dtype in (np.float64, np.float32)


@pytest.fixture
def files(tmp_path):
    """A matrix and its labels, in files of every kind."""
    X, y = np.arange(60.0).reshape(20, 3), np.array(["a", "b"] * 10)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "Xy.npz", X=X, y=y)
    scipy.sparse.save_npz(tmp_path / "csr.npz", scipy.sparse.csr_array(X))
    return SimpleNamespace(X=X, y=y, at=lambda name: str(tmp_path / name))


@given(
    data=examples(st.integers(0, 1)),
    dtype=st.sampled_from(DTYPES),
    size=st.sampled_from(SIZES),
    kind=st.sampled_from(["npy", "npy.gz", "npy.bz2", "npz", "npz, one array", "npz, deflated", "label"]),
    negative=st.booleans(),
)
def test_files_of_any_type(tmp_path_factory, data, dtype, size, kind, negative):
    X, y = data[0].astype(dtype), data[1]
    folder = tmp_path_factory.mktemp("arrays")
    path = str(folder / f"X.{kind.partition(',')[0]}")
    reading, given_y, make = Reading(), y, npy_reader
    if kind == "label":
        column = X.shape[1] // 2
        X = X.astype("f8") if X.dtype.kind != "f" else X
        np.save(path + ".npy", np.insert(X, column, y, axis=1))
        path += ".npy"
        reading, given_y = Reading(label=str(column - X.shape[1] - 1) if negative else column), None
    elif kind.startswith("npy"):
        text = io.BytesIO()
        np.save(text, X)
        write = {"npy": bytes, "npy.gz": gzip.compress, "npy.bz2": bz2.compress}[kind]
        (folder / f"X.{kind}").write_bytes(write(text.getvalue()))
    else:
        make = npz_reader
        save = np.savez_compressed if "deflated" in kind else np.savez
        save(path, X) if "one" in kind else save(path, X=X, y=y)
        given_y = y if "one" in kind else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "BYTES", size)
        reader = make([path], given_y, reading, labelled=True)
        assert (reader.width, reader.names) == (X.shape[1], None)
        got_X, got_y = rows_of(reader)
        assert all(map(readable, chunks(reader)))
    assert np.array_equal(got_X, X.astype("f8"))
    assert got_X.dtype == (np.float32 if dtype == "f4" else np.float64)
    assert np.array_equal(got_y, y)


@given(data=examples(), dtype=st.sampled_from(["f8", "f4", "i4"]), size=st.sampled_from(SIZES), wide=st.booleans())
def test_sparse_files(tmp_path_factory, data, dtype, size, wide):
    X = scipy.sparse.csr_array(data[0].astype(dtype))
    if wide:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    path = str(tmp_path_factory.mktemp("arrays") / "X.npz")
    scipy.sparse.save_npz(path, X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "BYTES", size)
        patch.setattr(stored, "ROWS", 7)
        reader = npz_reader([path], data[1], Reading(), labelled=True)
        parts = chunks(reader)
        got_X, got_y = rows_of(reader)
    assert all(map(readable, parts))
    assert np.array_equal(got_X, X.toarray())
    assert np.array_equal(got_y, data[1])
    assert np.concatenate([part.X.indices for part in parts]).tolist() == X.indices.tolist()


@given(data=examples(), layout=st.sampled_from(sorted(LAYOUTS)), size=st.sampled_from(SIZES), block=st.integers(1, 40))
def test_objects_of_any_layout(data, layout, size, block):
    X, y = data[0] / 16.0, data[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "BYTES", size)
        reader = MatrixReader(as_layout(X, layout), y, labelled=True)
        assert reader.width == X.shape[1]
        assert all(map(readable, chunks(reader)))
        got = rows_of(reader)
        blocks = [(as_layout(X[i : i + block], layout), y[i : i + block]) for i in range(0, y.size, block)]
        in_blocks = BlocksReader(blocks)
        got_blocks = rows_of(in_blocks)
    for got_X, got_y in (got, got_blocks):
        assert np.array_equal(got_X, X)
        assert np.array_equal(got_y, y)
    places = [part.place(i) for part in chunks(in_blocks) for i in range(part.n)]
    assert places == [f"row {i}" for i in range(y.size)]


def test_nothing_is_copied_that_can_be_read_in_place(monkeypatch):
    monkeypatch.setattr(stored, "BYTES", 160)
    X, y = np.arange(600.0).reshape(200, 3), np.arange(200) % 2
    for matrix in (X, X.astype(np.float32), np.ascontiguousarray(X)):
        assert all(np.shares_memory(part.X, matrix) for part in chunks(MatrixReader(matrix, y, labelled=True)))
    S = scipy.sparse.csr_array(X)
    assert S.has_canonical_format
    parts = chunks(MatrixReader(S, y, labelled=True))
    assert len(parts) > 10
    for part in parts:
        assert part.X.has_canonical_format
        assert np.shares_memory(part.X.data, S.data)
        assert np.shares_memory(part.X.indices, S.indices)


def test_places_and_what_was_written(files, monkeypatch):
    monkeypatch.setattr(stored, "BYTES", 100)
    dense = chunks(npy_reader([files.at("X.npy")] * 2, np.tile(files.y, 2), Reading(), labelled=True))
    assert dense[1].place(0) == f"{files.at('X.npy')}:row {dense[0].n}"
    assert dense[-1].place(dense[-1].n - 1) == f"{files.at('X.npy')}:row 19"
    assert json.loads(dense[0].written(1)) == {"label": "b", "values": [3.0, 4.0, 5.0]}
    sparse = chunks(npz_reader([files.at("csr.npz")], files.y, Reading(), labelled=True))
    assert sparse[1].place(0) == f"{files.at('csr.npz')}:row {sparse[0].n}"
    assert json.loads(sparse[0].written(0)) == {"label": "a", "indices": [1, 2], "values": [1.0, 2.0]}


@pytest.mark.parametrize("y", [np.array([0, np.nan, 1, np.inf]), np.array(["a", None, "b", np.nan], dtype=object)])
def test_missing_labels_are_faults(y):
    (chunk,) = MatrixReader(np.arange(8.0).reshape(4, 2), y, labelled=True).chunks()
    assert chunk.X.tolist() == [[0.0, 1.0], [4.0, 5.0]]
    assert [chunk.place(i) for i in range(2)] == ["row 0", "row 2"]
    assert [(fault.before, fault.place) for fault in chunk.faults] == [(1, "row 1"), (2, "row 3")]
    assert json.loads(chunk.faults[0].written)["values"] == [2.0, 3.0]


def test_labels_by_path_and_none_at_all(files):
    for reader in (
        npy_reader([files.at("X.npy")], files.at("y.npy"), Reading(), labelled=True),
        npz_reader([files.at("csr.npz")], files.at("y.npy"), Reading(), labelled=True),
        npz_reader([files.at("Xy.npz")], files.at("y.npy"), Reading(), labelled=True),
        MatrixReader(files.X, files.at("y.npy"), labelled=True),
    ):
        got_X, got_y = rows_of(reader)
        assert np.array_equal(got_X, files.X)
        assert np.array_equal(got_y, files.y)
    for reader in (
        npy_reader([files.at("X.npy")], None, Reading(), labelled=False),
        MatrixReader(files.X, None, labelled=False),
    ):
        assert not rows_of(reader)[1].any()


def test_a_pipe(files, monkeypatch):
    for y, message in (
        (files.y, None),
        (files.y[:5], "<stdin>:row 5: the label is missing"),
        (np.tile(files.y, 2), "20 more label"),
    ):
        raw = io.BytesIO()
        np.save(raw, files.X)
        raw.seek(0)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(raw)))
        reader = npy_reader(find_files("-"), y, Reading(), labelled=True)
        assert reader.width is None
        if message is None:
            assert np.array_equal(np.concatenate([part.X for part in chunks(reader)]), files.X)
        else:
            with pytest.raises(DataError, match=message):
                chunks(reader)


def test_frames_have_names():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    reader = MatrixReader(frame, ["x", "y"], labelled=True)
    assert reader.names == ("a", "b")
    assert rows_of(reader)[0].tolist() == [[1.0, 0.5], [2.0, 1.5]]
    assert MatrixReader(pd.DataFrame([[1, 2]]), ["x"], labelled=True).names is None


def saved(tmp_path, array, **options):
    np.save(tmp_path / "X.npy", array, **options)
    return [str(tmp_path / "X.npy")]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.asfortranarray(np.eye(3)), r"X\.npy: the array is in Fortran order.*ascontiguousarray"),
        (np.array([[None, 1]]), r"X\.npy: the array holds Python objects, which are never unpickled"),
        (np.zeros(3), r"X\.npy: the array has 1 dimension\(s\); a matrix of numbers needs 2"),
        (np.array([["a"]]), r"X\.npy: the array holds <U1, not a matrix of numbers"),
        (np.zeros((2, 2), dtype=complex), "holds complex128"),
        (np.zeros((3, 0)), "the array has no columns"),
        (np.eye(4), r"X has 4 row\(s\) and y has 3 label\(s\)"),
    ],
)
def test_arrays_that_are_no_matrices(tmp_path, array, message):
    names = saved(tmp_path, array, allow_pickle=True)
    with pytest.raises(DataError, match=message):
        npy_reader(names, [0, 1, 0], Reading(), labelled=True)


def test_labels_that_do_not_fit(tmp_path, files):
    name = [files.at("X.npy")]
    with pytest.raises(DataError, match=r"X\.npy: there are no labels; give them with y; or, .*, name it with label"):
        npy_reader(name, None, Reading(), labelled=True)
    with pytest.raises(DataError, match="there is no column 3 for the labels; there are 3"):
        npy_reader(name, None, Reading(label=3), labelled=True)
    with pytest.raises(ParameterError, match="label is 'price'"):
        npy_reader(name, None, Reading(label="price"), labelled=True)
    with pytest.raises(ParameterError, match="drop applies to tables"):
        npy_reader(name, None, Reading(label=0, drop=("a",)), labelled=True)
    with pytest.raises(ParameterError, match="give only one of them"):
        npy_reader(name, files.y, Reading(label=0), labelled=True)
    with pytest.raises(DataError, match=r"X\.npy: the array has 2 dimension"):
        npy_reader(name, name[0], Reading(), labelled=True)
    with pytest.raises(DataError, match="there is no column besides the labels"):
        npy_reader(saved(tmp_path, np.zeros((3, 1))), None, Reading(label=0), labelled=True)
    with pytest.raises(DataError, match="a sparse matrix cannot have a column of labels"):
        chunks(npz_reader([files.at("csr.npz")], None, Reading(label=0), labelled=True))
    with pytest.raises(DataError, match="X has no labels"):
        MatrixReader(files.X, None, labelled=True)


def test_files_of_several_widths(tmp_path, files):
    np.save(tmp_path / "wide.npy", np.zeros((2, 4)))
    with pytest.raises(DataError, match=r"wide\.npy: 4 columns; .*X\.npy has 3"):
        npy_reader([files.at("X.npy"), files.at("wide.npy")], np.zeros(22), Reading(), labelled=True)


def test_files_that_are_cut_off(tmp_path, files):
    whole = (tmp_path / "X.npy").read_bytes()
    path = tmp_path / "cut.npy"
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        with pytest.raises(DataError, match=r"cut\.npy"):
            chunks(npy_reader([str(path)], files.y, Reading(), labelled=True))
    path.write_bytes(whole[:-100])
    with pytest.raises(DataError, match=r"cut\.npy:row 15: the file is truncated: it should have 20 row\(s\)"):
        chunks(npy_reader([str(path)], files.y, Reading(), labelled=True))
    path.write_bytes(gzip.compress(whole)[:-30])
    with pytest.raises(DataError, match=r"cut\.npy: the compressed file is truncated"):
        chunks(npy_reader([str(path)], files.y, Reading(), labelled=True))
    path.write_bytes(whole + b"x")
    with pytest.raises(DataError, match=r"cut\.npy: the file has data after the 20 row\(s\)"):
        chunks(npy_reader([str(path)], files.y, Reading(), labelled=True))
    path.write_bytes(whole)
    reader = npy_reader([str(path)], files.y, Reading(), labelled=True)
    path.unlink()
    with pytest.raises(DataError, match=r"cut\.npy: No such file"):
        chunks(reader)


@pytest.mark.parametrize("name", ["Xy.npz", "csr.npz"])
def test_damaged_archives(tmp_path, files, name):
    """Zip has checksums: whatever is flipped is an error, or did not matter."""
    whole = (tmp_path / name).read_bytes()
    y = None if name == "Xy.npz" else files.y
    path = tmp_path / "damaged.npz"
    dice = np.random.default_rng(0)
    cases = [whole[:n] for n in range(0, len(whole), 29)]
    for _ in range(500):
        damaged = bytearray(whole)
        damaged[dice.integers(len(whole))] ^= 1 << int(dice.integers(8))
        cases.append(bytes(damaged))
    refused = 0
    for case in cases:
        path.write_bytes(case)
        try:
            got_X, got_y = rows_of(npz_reader([str(path)], y, Reading(), labelled=True))
        except DataError:
            refused += 1
        else:
            assert np.array_equal(got_X, files.X)
            assert np.array_equal(got_y, files.y)
    assert refused > len(cases) / 2


def test_headers_that_promise_too_much(tmp_path):
    text = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (2, 1 << 50)}
    np.lib.format.write_array_header_1_0(text, header)
    (tmp_path / "X.npy").write_bytes(text.getvalue() + bytes(800))
    with pytest.raises(DataError, match="the file is truncated"):
        chunks(npy_reader([str(tmp_path / "X.npy")], [0, 1], Reading(), labelled=True))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\x93NUMPX\x01\x00", "not a .npy file"),
        (b"\x93NUMPY\x03\x00", r"version 3\.0 of the \.npy format"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "the header has 4294967295 bytes"),
        (b"\x93NUMPY\x01\x00\x04\x00{(1:", "the header is damaged"),
        (b"\x93NUMPY\x01\x00\x3b\x00{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2)}\n", "its shape is"),
    ],
)
def test_headers_that_are_none(tmp_path, header, message):
    (tmp_path / "X.npy").write_bytes(header + b" " * 100)
    with pytest.raises(DataError, match=message):
        npy_reader([str(tmp_path / "X.npy")], [0, 1], Reading(), labelled=True)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a": np.eye(2), "b": np.eye(2)}, r"bad\.npz: the arrays are a, b; X and y are needed"),
        ({"y": np.zeros(2)}, r"bad\.npz: the arrays are y; X and y are needed"),
        ({"X": np.eye(2)}, r"bad\.npz: there are no labels"),
        ({"X": np.eye(2), "y": np.zeros(3)}, r"bad\.npz: X has 2 row\(s\) and y has 3 label\(s\)"),
        ({"X": np.eye(2), "y": np.array([None, 1])}, r"bad\.npz:y: the array holds Python objects"),
    ],
)
def test_archives_that_do_not_fit(tmp_path, members, message):
    np.savez(tmp_path / "bad.npz", **members, allow_pickle=True)
    with pytest.raises(DataError, match=message):
        npz_reader([str(tmp_path / "bad.npz")], None, Reading(), labelled=True)


CSR = {
    "format": np.array(b"csr"),
    "shape": np.array([3, 4]),
    "data": np.array([1.0, 2.0, 3.0]),
    "indices": np.array([0, 3, 1]),
    "indptr": np.array([0, 2, 2, 3]),
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": np.array(b"csc")}, r"in the format 'csc', not CSR; save X\.tocsr\(\)"),
        ({"format": np.array([1, 2])}, "the array does not name a format"),
        ({"shape": np.array([3, 4, 5])}, r"the matrix has 3 dimension\(s\)"),
        ({"shape": np.array([3, 0])}, r"the matrix has the shape \(3, 0\)"),
        ({"shape": np.array([2, 4])}, r"indptr has 4 entries for 2 row\(s\)"),
        ({"indices": np.array([0, 3])}, "2 indices for 3 values"),
        ({"indptr": np.array([0, 2, 1, 3])}, r"bad\.npz:row 1: indptr goes from 2 to 1, of 3 entries"),
        ({"indptr": np.array([0, 2, 2, 9])}, r"bad\.npz:row 2: indptr goes from 2 to 9"),
        ({"indptr": np.array([1, 2, 2, 3])}, "indptr starts with 1"),
        ({"indptr": np.array([0, 2, 2, 2])}, "1 entries follow the last row"),
        ({"indices": np.array([0, 4, 1])}, r"bad\.npz:row 0: index 4; the matrix has 4 columns, from 0 to 3"),
        ({"indices": np.array([0, 3, -1])}, r"bad\.npz:row 2: index -1"),
        ({"indices": np.array([0, 3, 1], dtype=np.int8)}, "indices must be int32 or int64"),
        ({"data": np.array([1.0, 2.0, 3.0j])}, "holds complex128"),
    ],
)
@pytest.mark.parametrize("size", SIZES)
def test_sparse_archives_that_lead_outside(tmp_path, monkeypatch, changes, message, size):
    monkeypatch.setattr(stored, "BYTES", size)
    np.savez(tmp_path / "bad.npz", **(CSR | changes))
    with pytest.raises(DataError, match=message):
        chunks(npz_reader([str(tmp_path / "bad.npz")], [0, 1, 0], Reading(), labelled=True))


def test_unsorted_sparse_archives(tmp_path):
    np.savez(tmp_path / "X.npz", **(CSR | {"indices": np.array([3, 0, 1])}), y=np.array([0, 1, 0]))
    got_X, got_y = rows_of(npz_reader([str(tmp_path / "X.npz")], None, Reading(), labelled=True))
    assert got_X.tolist() == [[2.0, 0.0, 0.0, 1.0], [0.0] * 4, [0.0, 3.0, 0.0, 0.0]]
    assert got_y.tolist() == [0, 1, 0]


def test_no_archive_at_all(tmp_path):
    (tmp_path / "X.npz").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(DataError, match=r"X\.npz: not a \.npz file, or a damaged one"):
        npz_reader([str(tmp_path / "X.npz")], None, Reading(), labelled=True)
    with zipfile.ZipFile(tmp_path / "X.npz", "w") as archive:
        archive.writestr("X.npy", "text")
    with pytest.raises(DataError, match=r"X\.npz:X: the file is truncated: it ends within its header"):
        npz_reader([str(tmp_path / "X.npz")], None, Reading(), labelled=True)


@pytest.mark.parametrize(
    ("indices", "indptr", "message"),
    [
        ([0, 1], [0, 2, 1], "indptr goes from 2 to 1"),
        ([0, 1], [0, 1, 5], "indptr goes from 1 to 5"),
        ([0, 7], [0, 1, 2], "index 7; the matrix has 2 columns"),
        ([0, -1], [0, 1, 2], "index -1"),
    ],
)
def test_matrices_that_lead_outside(indices, indptr, message):
    X = scipy.sparse.csr_array((2, 2))
    X.data, X.indices, X.indptr = np.ones(2), np.array(indices, np.int32), np.array(indptr, np.int32)
    with pytest.raises(DataError, match=f"row 1: {message}"):
        chunks(MatrixReader(X, [0, 1], labelled=True))
    with pytest.raises(DataError, match=f"(block 1: row 1|row 3): {message}"):
        chunks(BlocksReader([(np.eye(2), [0, 1]), (X, [0, 1])]))


@pytest.mark.parametrize("pointer", [-1, 5])
def test_a_matrix_without_rows_leads_nowhere(pointer):
    X = scipy.sparse.csr_array((0, 3))
    X.indptr = np.array([pointer], np.int32)
    with pytest.raises(DataError, match="no examples"):
        run(Perceptron(), X, [])


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (np.eye(3), "block 1 is a ndarray, not a pair"),
        ((np.eye(2), None), "block 1 has no labels"),
        ((np.eye(2), [1]), r"block 1: X has 2 row\(s\) and y has 1 label"),
        ((np.zeros(2), [1, 1]), r"block 1: X has 1 dimension"),
        (([[1, "a"]], [1]), "block 1: X holds <U21, not numbers"),
        ((np.array([[1], ["a"]], dtype=object), [1, 0]), "row 3, column 0: 'a' is not a number"),
    ],
)
def test_blocks_that_are_none(block, message):
    with pytest.raises(DataError, match=message):
        chunks(BlocksReader([(np.eye(2), [0, 1]), block]))


def test_memory_does_not_grow_with_the_file(tmp_path):
    n, d = 400_000, 20
    X, y = np.ones((n, d)), np.arange(n) % 2
    np.save(tmp_path / "X.npy", X)
    np.savez(tmp_path / "X.npz", X=X, y=y)
    del X
    for make, name, labels in ((npy_reader, "X.npy", y), (npz_reader, "X.npz", None)):
        tracemalloc.start()
        try:
            reader = make([str(tmp_path / name)], labels, Reading(), labelled=True)
            assert sum(chunk.n for chunk in reader.chunks()) == n
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 12 * stored.BYTES


def test_long_rows_are_read_in_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(npy_array, "_STEP", 64)
    monkeypatch.setattr(stored, "BYTES", 8)
    X = np.arange(100.0).reshape(2, 50)
    assert np.array_equal(rows_of(npy_reader(saved(tmp_path, X), [0, 1], Reading(), labelled=True))[0], X)
