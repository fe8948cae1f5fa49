"""Tables with what cannot be read: each is an error that names the column, the place and the remedy."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import onlinear
from onlinear.errors import DataError
from onlinear.rules import Perceptron

Y = [0, 1, 0]
NO_TEXT = pa.Array.from_buffers(
    pa.string(), 3, [None, pa.py_buffer(np.array([0, 1, 3, 4], dtype=np.int32)), pa.py_buffer(b"a\xc3\xffb")]
)
CODED = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), NO_TEXT)


def learn(table, **options):
    return onlinear.run(Perceptron(), onlinear.open_stream(table, **options))


def in_every_form(table, folder):
    """The table itself, and in files that can hold it."""
    yield table
    parquet.write_table(table, folder / "data.parquet")
    yield folder / "data.parquet"
    with pa.ipc.new_file(str(folder / "data.arrow"), table.schema) as file:
        file.write_table(table)
    yield folder / "data.arrow"


@pytest.mark.parametrize(
    "values", [NO_TEXT, CODED, NO_TEXT.view(pa.string()).cast(pa.large_binary()).view(pa.large_string())]
)
def test_strings_that_are_not_utf8_have_their_row(tmp_path, values):
    table = pa.table({"x": [1.0, 2.0, 3.0], "c": values, "label": Y})
    for form in in_every_form(table, tmp_path):
        with pytest.raises(DataError, match=r"row 1: column 'c': byte 0xc3 is not valid UTF-8; write .* \(drop\)"):
            learn(form)
        with pytest.raises(DataError, match=r"row 1: column 'c': byte 0xc3 is not valid UTF-8; write .* \(drop\)"):
            learn(form, text=["c"])
        assert learn(form, drop=["c"]).rounds == 3


def test_labels_that_are_not_utf8_have_their_row(tmp_path):
    for form in in_every_form(pa.table({"x": [1.0, 2.0, 3.0], "label": NO_TEXT}), tmp_path):
        with pytest.raises(DataError, match=r"row 1: column 'label': byte 0xc3 is not valid UTF-8"):
            learn(form)


def test_a_name_that_is_not_utf8_is_shown(tmp_path):
    schema = pa.schema([pa.field(b"a\xff", pa.float64()), pa.field("label", pa.int64())])
    for form in in_every_form(pa.Table.from_arrays([pa.array([1.0, 2.0, 3.0]), pa.array(Y)], schema=schema), tmp_path):
        with pytest.raises(DataError, match=r"the name of a column is b'a\\xff', where byte 0xff is not valid UTF-8"):
            learn(form)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, 2, 3], dtype=pl.Int128),
        pl.Series([[1], [2], [3]]),
        pl.Series([{"a": 1}] * 3),
        pl.Series([b"a"] * 3),
        pl.Series([object()] * 3, dtype=pl.Object),
        pd.Series([1, "a", 2], dtype=object),
        pd.Series([2**70, 1, 2], dtype=object),
        pd.Series([1j, 2j, 3j]),
        pd.Series(pd.arrays.SparseArray([0, 1, 0])),
        pd.Series(np.ones(3, dtype=np.longdouble)),
        pd.Series([decimal.Decimal("1e400")] * 3),
        pd.Series(pd.to_timedelta([1, 2, 3], unit="s")),
        pd.Series(pd.period_range("2020", periods=3, freq="D")),
    ],
)
def test_a_type_that_cannot_be_read_is_an_error_that_names_the_column(column):
    frame = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    with pytest.raises(DataError, match=r"^the table: column 'odd' .*; (make it numbers or strings|leave it out)"):
        learn(frame({"x": [1.0, 2.0, 3.0], "odd": column, "label": Y}))
    with pytest.raises(DataError, match=r"^the table: .*column 'odd' .*numbers or strings"):
        learn(frame({"x": [1.0, 2.0, 3.0], "odd": column}), label="odd")


TOWNS = {"age": [1.0, 2.0, 3.0], "town": ["Ulm", None, "Bonn"]}
FRAMES = {
    "pandas": pd.DataFrame(TOWNS),
    "categories": pd.DataFrame(TOWNS).astype({"town": "category"}),
    "pandas of Arrow": pd.DataFrame(TOWNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(TOWNS),
    "polars categories": pl.DataFrame(TOWNS, schema_overrides={"town": pl.Categorical}),
    "arrow": pa.table(TOWNS),
}
ENTRANCES = {
    "run": lambda X: onlinear.run(Perceptron(), X, Y),
    "blocks": lambda X: onlinear.run(Perceptron(), [(X, Y)]),
    "open_stream": lambda X: onlinear.open_stream(X, Y),
    "converge": lambda X: onlinear.converge(Perceptron(), X, Y),
    "theory": lambda X: onlinear.separability(X, Y),
    "predict": lambda X: onlinear.run(Perceptron(), np.eye(3)[:, :2], Y).predict(X),
    "fit": lambda X: onlinear.PerceptronClassifier().fit(X, Y),
    "experts": lambda X: onlinear.ExpertsClassifier().fit(X, Y),
}


@pytest.mark.parametrize("enter", ENTRANCES.values(), ids=ENTRANCES)
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_text_in_a_frame_is_an_error_that_says_who_reads_it(enter, frame):
    with pytest.raises(DataError, match=r"row 0, column 'town': 'Ulm' is not a number; open_stream\(table, label="):
        enter(frame)


def test_open_stream_reads_what_the_error_says():
    run = learn(pd.DataFrame(TOWNS).assign(label=Y), missing="zero")
    assert run.state.names == ("age", "town=Ulm", "town=Bonn")


def test_frames_of_numbers_are_matrices_whatever_holds_them():
    expected = onlinear.run(Perceptron(), [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], Y).weights
    numbers = {"a": [1, 2, 3], "b": [False, True, False]}
    frame = pd.DataFrame(numbers)
    for one in (frame, frame.astype(object), frame.convert_dtypes(), pl.DataFrame(numbers), pa.table(numbers)):
        assert onlinear.run(Perceptron(), one, Y).weights.tolist() == expected.tolist()


def test_kinds_are_guessed_from_the_first_file_that_has_rows_whatever_its_order(tmp_path):
    (tmp_path / "a.csv").write_text("town,age,label\n")
    (tmp_path / "b.csv").write_text("age,town,label\n1,Ulm,0\n2,Bonn,1\n")
    run = learn([tmp_path / "a.csv", tmp_path / "b.csv"], label="label")
    assert sorted(run.state.names) == ["age", "town=Bonn", "town=Ulm"]


def test_a_category_beyond_max_features_is_named_with_its_place():
    table = pd.DataFrame({"town": ["Ulm", "Bonn", "Kiel"], "label": Y})
    with pytest.raises(DataError, match=r"row 2: 'town=Kiel' would be feature 3; at most 2 \(max_features"):
        learn(table, max_features=2)
