"""Streams: what is opened as what, and what a model remembers of how it was read."""

import bz2
import dataclasses
import gzip
import importlib
import json
import lzma
import os
import runpy
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import onlinear
from onlinear.cli.options import format_options
from onlinear.errors import DataError, DataWarning, EmptyFileError, ParameterError
from onlinear.rules import Perceptron, RandomizedWeightedMajority, Winnow
from onlinear.streams import Reading
from onlinear.streams.formats.registry import FORMATS, all_formats

X = np.array([[1.0, 0.5], [0.0, -2.0], [3.0, 0.25], [-1.0, 0.0]])
Y = np.array([1, -1, 1, -1])
SVM = "+1 1:1 2:0.5\n-1 2:-2\n+1 1:3 2:0.25\n-1 1:-1\n"
CSV = "a,b,label\n1,0.5,1\n0,-2,-1\n3,0.25,1\n-1,0,-1\n"


ROOT = Path(__file__).parents[1]


def read(stream):
    blocks = [(part.toarray() if scipy.sparse.issparse(part) else part, y) for part, y in stream]
    return np.concatenate([part for part, _ in blocks]), np.concatenate([y for _, y in blocks])


def files(folder):
    """The same four examples in every format."""
    (folder / "data.svm").write_text(SVM)
    (folder / "data").write_text("# no ending says what this is\n" + SVM)
    (folder / "data.csv").write_text(CSV)
    (folder / "data.tsv.gz").write_bytes(gzip.compress(CSV.replace(",", "\t").encode()))
    (folder / "misnamed.csv.xz").write_bytes(gzip.compress(CSV.encode()))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": Y})
    pa.parquet.write_table(table, folder / "data.parquet")
    pa.feather.write_feather(table, str(folder / "data.feather"))
    with pa.ipc.new_file(str(folder / "data.arrow"), table.schema) as writer:
        writer.write_table(table)
    np.savez(folder / "data.npz", X=X, y=Y)
    scipy.sparse.save_npz(folder / "sparse.npz", scipy.sparse.csr_array(X))
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", Y)
    onlinear.streams.convert(onlinear.open_stream(folder / "data.svm"), folder / "packed.arrow")
    onlinear.streams.convert(onlinear.open_stream(folder / "data.csv"), folder / "packed.parquet")
    with_labels = {"sparse.npz", "X.npy"}
    for path in sorted(folder.iterdir()):
        if path.name != "y.npy":
            yield path, folder / "y.npy" if path.name in with_labels else None


def test_every_format_is_recognised_and_gives_the_same_run(tmp_path):
    import pyarrow.feather
    import pyarrow.parquet  # noqa: F401

    whole = onlinear.run(Perceptron(), scipy.sparse.csr_array(X), Y)
    prints = set()
    for path, y in files(tmp_path):
        stream = onlinear.open_stream(path, y)
        seen, labels = read(stream)
        assert seen.tolist() == X.tolist(), path
        assert labels.tolist() == Y.tolist(), path
        run = onlinear.run(Perceptron(), stream)
        assert run.weights.tolist() == whole.weights.tolist()
        prints.add(run.state.checksum)
    assert len(prints) == 1


@pytest.mark.parametrize(
    "data",
    [
        lambda table: table,
        lambda table: table.to_pandas(),
        pl.from_arrow,
        lambda table: [(X[:3], Y[:3]), (X[3:], Y[3:])],
        lambda table: iter([(X[:3].tolist(), Y[:3].tolist()), (scipy.sparse.coo_array(X[3:]), Y[3:])]),
    ],
    ids=["arrow", "pandas", "polars", "blocks", "iterator"],
)
def test_objects(data):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": Y})
    run = onlinear.run(Perceptron(), onlinear.open_stream(data(table)))
    assert run.weights.tolist() == onlinear.run(Perceptron(), X, Y).weights.tolist()
    assert onlinear.open_stream(X, Y).n_features == 2


def test_a_table_that_gives_its_batches_once_is_read_once():
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": Y})
    stream = onlinear.open_stream(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    assert read(stream)[0].tolist() == X.tolist()
    with pytest.raises(DataError, match="this table can be read only once"):
        read(stream)
    again = onlinear.open_stream(table)
    assert read(again)[0].tolist() == read(again)[0].tolist()
    with pytest.raises((DataError, ParameterError), match="collect"):
        onlinear.open_stream(pl.from_arrow(table).lazy())


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ("gone.svm", {}, "gone.svm: the file does not exist"),
        ("empty", {}, "empty: the file is empty"),
        ("words", {}, "words: the first line does not show which format it is; name it with format"),
        ("data.svm", {"format": "xls"}, "format is 'xls'; it must be one of"),
        ("data.svm", {"max_features": 0}, "max_features is 0; it must be an integer from 1 to 2"),
        ("data.svm", {"on_error": "ignore"}, 'on_error is \'ignore\'; it must be "raise" or "skip"'),
        ("data.svm", {"quarantine": "q"}, "quarantine needs on_error='skip'"),
        (
            "data.svm",
            {"features": ["a"]},
            "features does not apply to libsvm files; it applies to csv, parquet, arrow, tables in memory",
        ),
        ("data.svm", {"colour": 1}, "unknown reading option 'colour'"),
        ("data.csv", {"features": "a"}, "features is 'a'; it must be a list of column names"),
        ("data.csv", {"encode": "onehot"}, "encode is 'onehot'; it must be one of"),
        ("data.csv", {"hash_bits": 40}, "hash_bits is 40; it must be an integer from 1 to 30"),
        ("data.csv", {"delimiter": ", "}, "delimiter is ', '; it must be one ASCII character"),
        ("data.csv", {"kinds": {"a": "date"}}, "kinds: 'a' is 'date'; it must be one of"),
        ("data.csv", {"max_features": 1}, "more than 1 features (max_features)"),
        ("data.csv", {"y": [1]}, "separate labels (y) do not apply to csv files"),
        ("folder", {}, "folder: the folder has no files"),
        ([], {}, "no examples"),
        (7, {}, "int is neither a path, a table, a matrix nor an iterable"),
        ({"a": 1}, {}, "dict is neither a path"),
    ],
)
def test_what_cannot_be_opened(arguments, options, message, tmp_path):
    (tmp_path / "data.svm").write_text(SVM)
    (tmp_path / "data.csv").write_text(CSV)
    (tmp_path / "empty").touch()
    (tmp_path / "words").write_text("some words\n")
    (tmp_path / "folder").mkdir()
    data = str(tmp_path / arguments) if isinstance(arguments, str) else arguments
    with pytest.raises((DataError, ParameterError)) as caught:
        onlinear.run(Perceptron(), onlinear.open_stream(data, **options))
    assert message in str(caught.value)


def test_width_is_scanned_for_a_rule_that_must_know_it(tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n1 1:1 5:1\n")
    run = onlinear.run(Winnow(), onlinear.open_stream(tmp_path / "data.svm"))
    assert run.n_features == 5
    assert onlinear.run(Winnow(), onlinear.open_stream(tmp_path / "data.svm", n_features=9)).n_features == 9
    # A row that is put aside does not count.
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n3 1:1 5:1\n")
    stream = onlinear.open_stream(tmp_path / "data.svm", classes=(-1, 1), on_error="skip")
    assert onlinear.run(Winnow(), stream).n_features == 2


def test_what_only_the_rule_refuses_has_its_place(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1\n\n-1 2:0.5\n")
    with pytest.raises(DataError, match=r"data\.svm:3, index 2: value 0\.5; inputs must be 0 or 1"):
        onlinear.run(Winnow(), onlinear.open_stream(path))


@pytest.mark.parametrize("encode", ["names", "hash"])
def test_like_reads_other_data_as_the_first(encode, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("id,size,town,kind,note\n1,2,Ulm,yes,good good\n2,3,Bonn,no,bad\n3,1,Ulm,no,\n")
    # Here the towns look like numbers, and the columns are in another order.
    second.write_text("town,size,kind,note,id\n12,5,yes,good,4\n7,1,no,bad news,5\n")
    options = {"label": "kind", "drop": ["id"], "text": ["note"], "missing": "indicator", "encode": encode}
    both = onlinear.run(Perceptron(), onlinear.open_stream([first, second], **options), fit_intercept=True)
    begun = onlinear.run(Perceptron(), onlinear.open_stream(first, **options), fit_intercept=True)
    begun.save(tmp_path / "model")
    loaded = onlinear.load(tmp_path / "model")
    ended = onlinear.run(Perceptron(), onlinear.open_stream(second, like=loaded), state=loaded)
    both.save(tmp_path / "both")
    ended.save(tmp_path / "ended")
    assert (tmp_path / "both").read_bytes() == (tmp_path / "ended").read_bytes()
    if encode == "names":
        expected = ["size", "town=Ulm", "note:good", "town=Bonn", "note:bad", "note?", "town=12", "town=7", "note:news"]
        assert list(ended.state.names) == expected
    # To predict, neither labels nor the columns that were dropped are needed.
    third = tmp_path / "third.csv"
    third.write_text("note,size,town\ngood,2,Mars\n")
    stream = onlinear.open_stream(third, like=ended, labelled=False)
    new = pytest.warns(DataWarning, match=r"third.csv:2, feature 'town=Mars'") if encode == "names" else nullcontext()
    with new:
        ((labels, scores),) = ended.predictions(stream)
    assert labels.tolist() == ["yes" if scores[0] > 0 else "no"]
    if encode == "names":
        w = dict(zip(ended.state.names, ended.weights, strict=True))
        assert scores.tolist() == [2 * w["size"] + w["note:good"] + ended.intercept]
        with pytest.raises(DataError, match="are not those of the model"):
            onlinear.run(Perceptron(), onlinear.open_stream(second, **options), state=loaded)
    (tmp_path / "data.svm").write_text(SVM)
    with pytest.raises(DataError, match=r"are not those of the model|libsvm files have no names"):
        next(ended.predictions(onlinear.open_stream(tmp_path / "data.svm", like=ended, labelled=False)))


def test_predictions_do_not_depend_on_blocks():
    rng = np.random.default_rng(0)
    advice, y = rng.choice([-1.0, 1.0], (300, 6)), rng.choice([-1, 1], 300)
    run = onlinear.run(RandomizedWeightedMajority(0.3, seed=4), advice, y)
    for size in (1, 7, 300):
        blocks = [(advice[i : i + size], None) for i in range(0, 300, size)]
        blocks = [(part, np.zeros(len(part))) for part, _ in blocks]
        parts = list(run.predictions(onlinear.open_stream(blocks)))
        assert np.concatenate([labels for labels, _ in parts]).tolist() == run.predict(advice).tolist()
        assert np.concatenate([scores for _, scores in parts]).tolist() == run.decision_function(advice).tolist()


def test_blocks_that_are_held_back_are_copied():
    def reused():
        block, y = np.zeros((1, 2)), np.zeros(1, dtype=int)
        for row, label in zip([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 1, 0], strict=True):
            block[0], y[0] = row, label
            yield block, y

    class Refilled(list):
        def __iter__(self):
            return reused()

    class Lazy:
        """A matrix that is filled in when it is asked for."""

        memory = np.zeros((1, 2))

        def __init__(self, row):
            self.row = row

        def __array__(self, dtype=None, copy=None):
            self.memory[0] = self.row
            return self.memory

    lazy = [(Lazy([1.0, 2.0]), [1]), (Lazy([3.0, 4.0]), [1]), (Lazy([5.0, 6.0]), [0])]
    for blocks in (reused(), Refilled(), lazy):
        seen = [(part.tolist(), y.tolist()) for part, y in onlinear.open_stream(blocks)]
        assert seen == [([[1.0, 2.0]], [1]), ([[3.0, 4.0]], [1]), ([[5.0, 6.0]], [0])]


def test_labels(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1.5 1:1\n-1 1:2\n")
    assert onlinear.run(Perceptron(), onlinear.open_stream(path)).classes.tolist() == [-1.0, 1.5]
    path.write_text("1.0 1:1\n-1 1:2\n+1 1:1\n")
    run = onlinear.run(Perceptron(), onlinear.open_stream(path))
    assert run.classes.dtype == np.int64
    assert run.classes.tolist() == [-1, 1]
    # Declared the other way round, and as a command line has them.
    for classes in ((1, -1), ("1", "-1"), (1.0, -1.0)):
        run = onlinear.run(Perceptron(), onlinear.open_stream(path, classes=classes))
        assert run.classes.tolist() == [1, -1]
    with pytest.raises(ParameterError, match=r"classes are 'spam' and 'ham', but the labels are numbers, such as 1\.0"):
        onlinear.run(Perceptron(), onlinear.open_stream(path, classes=("spam", "ham")))
    with pytest.raises(DataError, match=r"data\.svm:2: label -1; the labels are 0 \(negative\) and 1 \(positive\)"):
        onlinear.run(Perceptron(), onlinear.open_stream(path, classes=(0, 1)))
    table = tmp_path / "data.csv"
    table.write_text("x,y\n1,spam\n2,ham\n3,eggs\n")
    with pytest.raises(DataError, match=r"data\.csv:4: label 'eggs'; the labels are 'ham' \(negative\) and 'spam'"):
        onlinear.run(Perceptron(), onlinear.open_stream(table, classes=("ham", "spam")))


def test_a_certificate_is_for_the_examples_that_were_read(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text(SVM)
    run = onlinear.train(Perceptron(), onlinear.open_stream(path), passes=2)
    assert onlinear.certify(run, onlinear.open_stream(path)).mistakes == run.mistakes
    other = tmp_path / "other.svm"
    # It makes no difference to the perceptron, which has nothing left to learn there.
    other.write_text(SVM.replace("1:3 2:0.25", "1:4 2:0.25"))
    again = onlinear.train(Perceptron(), onlinear.open_stream(other), passes=2)
    assert again.weights.tolist() == run.weights.tolist()
    with pytest.raises(DataError, match="these are not the examples of the run"):
        onlinear.certify(run, onlinear.open_stream(other))
    for verdict in (onlinear.separability(onlinear.open_stream(path)), onlinear.separability(X, Y)):
        assert type(verdict).__name__ == "Separable"


def test_a_reading_says_what_is_not_as_usual():
    reading = Reading(label="spam", drop=["id"], encode="hash")
    assert json.loads(json.dumps(reading.as_dict())) == {"label": "spam", "drop": ["id"], "encode": "hash"}
    assert Reading(**reading.as_dict()) == reading
    assert reading.but(label=None, missing="zero") == Reading("spam", None, ("id",), encode="hash", missing="zero")


def test_frames_with_missing_values_and_categories():
    frame = pd.DataFrame({"a": [1.0, np.nan, 2.0], "c": ["u", "v", "u"], "target": [True, False, True]})
    with pytest.raises(DataError, match=r"row 1: column 'a': the value is missing"):
        onlinear.run(Perceptron(), onlinear.open_stream(frame))
    run = onlinear.run(Perceptron(), onlinear.open_stream(frame, missing="zero"))
    assert run.state.names == ("a", "c=u", "c=v")
    assert run.classes.tolist() == [False, True]


def test_a_run_goes_on_only_with_features_of_its_kind(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("size,town,label\n1,Ulm,yes\n2,Bonn,no\n")
    second.write_text("size,town,label\n3,Ulm,yes\n,Kiel,no\n")
    named = onlinear.run(Perceptron(), onlinear.open_stream(first))
    for options, message in (
        ({"missing": "indicator"}, "missing is 'indicator', not 'none'"),
        ({"text": ["town"]}, r"text is \['town'\], not \[\]"),
    ):
        with pytest.raises(DataError, match=message):
            onlinear.run(Perceptron(), onlinear.open_stream(second, like=named, **options), state=named)
    hashed = onlinear.run(Perceptron(), onlinear.open_stream(first, encode="hash", hash_bits=10))
    other = onlinear.open_stream(second, like=hashed, hash_bits=12, missing="zero")
    with pytest.raises(DataError, match="hash_bits is 12, not 10"):
        onlinear.run(Perceptron(), other, state=hashed)
    # What has been converted knows how, and is not taken for something else.
    packed = tmp_path / "packed.arrow"
    onlinear.streams.convert(onlinear.open_stream(second, encode="hash", hash_bits=8, missing="zero"), packed)
    with pytest.raises(DataError, match="hash_bits is 8, not 10"):
        next(hashed.predictions(onlinear.open_stream(packed, like=hashed, labelled=False)))
    numbered = onlinear.run(Perceptron(), onlinear.open_stream(X, Y))
    with pytest.raises(DataError, match="encode is 'hash', not 'names'"):
        next(numbered.predictions(onlinear.open_stream(packed, like=numbered, labelled=False)))
    with pytest.raises(
        ParameterError,
        match=r"label does not apply to converted files; it applies to csv, parquet, arrow, npy",
    ):
        onlinear.open_stream(packed, label="town")


def test_features_may_be_declared_beyond_those_that_have_names(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("town,label\nUlm,yes\nBonn,no\n")
    run = onlinear.run(Winnow(), onlinear.open_stream(path), n_features=4)
    assert run.state.names == ("town=Ulm", "town=Bonn", "", "")
    run.save(tmp_path / "model")
    loaded = onlinear.load(tmp_path / "model")
    path.write_text("town,label\nKiel,yes\nUlm,no\n")
    further = onlinear.run(Winnow(), onlinear.open_stream(path, like=loaded), state=loaded)
    assert further.state.names == ("town=Ulm", "town=Bonn", "town=Kiel", "")
    ((labels, _),) = further.predictions(onlinear.open_stream(path, like=further, labelled=False))
    assert labels.size == 2


def test_classes_are_those_of_the_run(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text(SVM)
    run = onlinear.run(Perceptron(), onlinear.open_stream(path))
    with pytest.raises(ParameterError, match="classes are 1 and -1, but the run has -1 and 1, in this order"):
        onlinear.run(Perceptron(), onlinear.open_stream(path, classes=("1", "-1")), state=run)
    # One label is enough where two are known.
    path.write_text("+1 1:1\n")
    assert onlinear.run(Perceptron(), onlinear.open_stream(path), state=run).rounds == 5


def test_lines_are_put_aside_in_their_order(tmp_path):
    path, aside = tmp_path / "data.svm", tmp_path / "aside"
    path.write_text("1 1:1\n-1 1:2\n7 1:1\n1 0:1\n8 1:1\n-1 x\n1 2:1\n")
    stream = onlinear.open_stream(path, classes=(-1, 1), on_error="skip", quarantine=aside)
    assert onlinear.run(Perceptron(), stream).rounds == 3
    assert [line for line in aside.read_text().splitlines() if line[0] != "#"] == ["7 1:1", "1 0:1", "8 1:1", "-1 x"]
    with pytest.raises(DataError, match=r"data\.svm:3: label 7"):
        onlinear.run(Perceptron(), onlinear.open_stream(path, classes=(-1, 1)))


def test_what_is_not_finite_is_put_aside_from_arrays_too(tmp_path):
    bad = np.vstack([X, [[np.nan, 1.0]], [[1.0, np.inf]]])
    labels = np.array([*Y, 1, -1])
    for data in (
        [(bad, labels)],
        [(scipy.sparse.csr_array(bad), labels)],
        [(bad[i : i + 1], labels[i : i + 1]) for i in range(6)],
    ):
        stream = onlinear.open_stream(data, on_error="skip", quarantine=tmp_path / "aside")
        assert onlinear.run(Perceptron(), stream).weights.tolist() == onlinear.run(Perceptron(), X, Y).weights.tolist()
        assert stream.skipped == 2
        assert "# row 4: a value is not a finite number" in (tmp_path / "aside").read_text()
        with pytest.raises(DataError, match="row 4, column 0: value nan"):
            onlinear.run(Perceptron(), onlinear.open_stream(data))


def test_the_width_of_blocks_is_theirs_whatever_is_put_aside():
    wide = scipy.sparse.csr_array(([1.0, 1.0, 1.0], [0, 5, 2], [0, 1, 2, 3]), shape=(3, 100))
    labels = np.array([1, -1, 3])
    for size in (1, 2, 3):
        blocks = [(wide[i : i + size], labels[i : i + size]) for i in range(0, 3, size)]
        assert onlinear.run(Perceptron(), onlinear.open_stream(blocks, on_error="skip")).n_features == 100


def test_max_features_is_for_everything():
    wide = scipy.sparse.csr_array(([1.0, 1.0], [0, 2 * 10**8], [0, 1, 2]), shape=(2, 2 * 10**8 + 1))
    for make in (lambda: onlinear.open_stream([(wide, [0, 1])]), lambda: onlinear.open_stream(wide, [0, 1])):
        with pytest.raises(DataError, match=r"there are 200,000,001 features.* at most 134,217,728"):
            onlinear.run(Perceptron(), make())
    with pytest.raises(ParameterError, match="n_features is 200,000,000; at most 134,217,728"):
        onlinear.open_stream([(X, Y)], n_features=2 * 10**8)


def test_a_byte_order_mark_is_no_label(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"\xef\xbb\xbf" + SVM.encode())
    assert read(onlinear.open_stream(path))[0].tolist() == X.tolist()


@pytest.mark.parametrize("compress", ["gzip", "bz2", "lzma", "zstd", "none"])
def test_pipes_are_decompressed_and_recognised(compress, tmp_path):
    text = SVM.encode() * 3000
    if compress == "zstd":
        with pa.output_stream(str(tmp_path / "zstd"), compression="zstd") as file:
            file.write(text)
        text = (tmp_path / "zstd").read_bytes()
    elif compress != "none":
        text = importlib.import_module(compress).compress(text)
    script = "import onlinear; print(onlinear.run(onlinear.rules.Perceptron(), onlinear.open_stream('-')).rounds)"
    done = subprocess.run([sys.executable, "-c", script], input=text, capture_output=True, check=True, timeout=120)
    assert done.stdout == b"12000\n"


def test_a_quarantine_is_never_one_of_the_files(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text(SVM)
    for data in (path, tmp_path, [path]):
        with pytest.raises(ParameterError, match=r"the quarantine .*data\.svm is one of the files to read"):
            onlinear.open_stream(data, on_error="skip", quarantine=tmp_path / "." / "data.svm")
    assert path.read_text() == SVM


def test_a_format_is_a_module_and_a_line(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, "toy", "toy_format")
    text = "TOY!\n1 2\n-1 -3\n"
    for name in ("magic", "ending.toy", "line"):
        path = tmp_path / name
        path.write_text(
            {"magic": text, "ending.toy": text.replace("TOY!", "?")}.get(name, text.replace("TOY!", "toy:"))
        )
        assert [part.tolist() for part in read(onlinear.open_stream(path))] == [[[2.0], [-3.0]], [1, -1]]
        stream = onlinear.open_stream(path, format="toy", header=False, classes=(-3, 2))
        assert [part.tolist() for part in read(stream)] == [[[1.0], [-1.0]], [2, -3]]
        assert (stream.reading.format, stream.n_features, stream.names) == ("toy", 1, ("toy",))
    for option, value, others in (("label", 0, "csv, parquet, arrow, npy"), ("zero_based", True, "libsvm")):
        with pytest.raises(ParameterError) as caught:
            onlinear.open_stream(path, **{option: value})
        assert f"{option} does not apply to toy files; it applies to {others}" in str(caught.value)
    with pytest.raises(ParameterError, match=r"it applies to csv, toy$"):
        onlinear.open_stream(X, Y, header=False)
    with pytest.raises(ParameterError, match=r"kinds does not apply to toy files; it applies to csv, parquet"):
        onlinear.open_stream(path, kinds={"a": "number"})
    with pytest.raises(ParameterError, match=r"separate labels \(y\) do not apply to toy files"):
        onlinear.open_stream(path, y=Y)
    with pytest.raises(DataError, match="the model's features are hashed names, and toy files have no names"):
        onlinear.open_stream(path, like=onlinear.run(Perceptron(), hashed_stream()).state)
    script = (
        "import onlinear, onlinear.streams.formats.registry as r; r.FORMATS['toy'] = 'toy_format';"
        "onlinear.open_stream('-')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=text.encode(),
        capture_output=True,
        check=False,
        timeout=120,
        cwd=ROOT / "tests",
    )
    assert b"toy files cannot be read from the standard input; give a file name" in done.stderr


def hashed_stream():
    frame = pd.DataFrame({"town": ["Ulm", "Bonn"], "label": [1, 0]})
    return onlinear.open_stream(frame, encode="hash", hash_bits=4)


def test_the_registry_is_what_command_line_and_docs_say():
    options = {field.name for field in dataclasses.fields(Reading)} - {"format"}
    for name, entry in zip(FORMATS, all_formats(), strict=True):
        assert entry.name == name
        assert entry.options <= options
    assert set().union(*(entry.options for entry in all_formats())) == options

    def command():
        pass

    (choice,) = [one.type for one in format_options(command).__click_params__ if one.name == "format"]
    assert list(choice.choices) == list(FORMATS)
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    page = (ROOT / "docs" / "streams.md").read_text(encoding="utf-8")
    assert page == build["with_formats"](page), "run `make docs`"
    assert all(f"| `{name}` |" in page for name in FORMATS)


def test_a_converted_file_can_be_named_as_what_it_is_and_as_what_holds_it(tmp_path):
    path = tmp_path / "packed.arrow"
    onlinear.streams.convert(onlinear.open_stream(X, Y), path)
    for name in (None, "arrow", "converted"):
        assert read(onlinear.open_stream(path, format=name))[0].tolist() == X.tolist()
    plain = tmp_path / "plain.arrow"
    table = pa.table({"a": X[:, 0], "label": Y})
    with pa.ipc.new_file(str(plain), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(DataError, match=r"plain\.arrow: not a converted file"):
        onlinear.open_stream(plain, format="converted")


LIBSVM = b"+1 1:0.5 3:1\n-1 2:1 3:0.25\n"
TABLE = b"x,label\n1,0\n2,1\n"


@pytest.mark.parametrize(
    ("written", "n"),
    [
        (b"# data\n" + LIBSVM, 7),
        (b"\n" + LIBSVM, 1),
        (b"\n# data\n\n" + LIBSVM, 9),
        (LIBSVM, 0),
        (LIBSVM, 1),
        (LIBSVM, 5),
        (TABLE, 3),
        *((form, n) for form in (gzip, bz2, lzma) for n in (1, 2, 9)),
    ],
)
def test_a_pipe_is_recognised_however_slowly_it_comes(tmp_path, written, n):
    # Compressed here, not in the table: gzip stores the time, and the names of tests must not depend on it.
    data = written if isinstance(written, bytes) else written.compress(LIBSVM)
    first, rest = data[:n], data[n:]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with pipe.open("wb", buffering=0) as file:
            file.write(first)
            time.sleep(0.1)  # in the meantime the reader has nothing more to look at
            file.write(rest)

    writer = threading.Thread(target=write)
    writer.start()
    stream = onlinear.open_stream(pipe)
    assert sum(len(y) for _, y in stream) == 2
    writer.join()


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n  \n"])
def test_an_empty_pipe(tmp_path, content):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    with pytest.raises(EmptyFileError, match="the file is empty"):
        onlinear.open_stream(pipe)
    writer.join()


def test_an_arrow_file_cannot_come_through_a_pipe(tmp_path):
    table = pa.table({"a": X[:, 0], "label": Y})
    script = "import onlinear, sys; print(len(list(onlinear.open_stream('-', format=sys.argv[1] or None))))"
    for new, name, message in (
        (pa.ipc.new_file, "", b"an Arrow file cannot be read from the standard input; give a file name"),
        (pa.ipc.new_file, "arrow", b"an Arrow file cannot be read from the standard input; give a file name"),
        (pa.ipc.new_stream, "arrow", b""),
    ):
        sink = pa.BufferOutputStream()
        with new(sink, table.schema) as writer:
            writer.write_table(table)
        done = subprocess.run(
            [sys.executable, "-c", script, name],
            input=sink.getvalue().to_pybytes(),
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert (message in done.stderr) if message else done.stdout == b"1\n"


def test_what_reads_a_stream_leaves_it_as_it_was(tmp_path):
    (tmp_path / "mail.csv").write_text("a,b,label\n1,red,0\n2,blue,1\n-1,red,0\n")
    stream = onlinear.open_stream(tmp_path / "mail.csv")
    before = (stream.classes, stream.names, stream.n_features)
    onlinear.separability(stream)
    run = onlinear.run(Perceptron(), stream)
    onlinear.certify(run, stream).verify(stream)
    onlinear.theory.Examples(stream)
    assert (stream.classes, stream.names, stream.n_features) == before
