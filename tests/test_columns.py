"""What the columns of a CSV file are: their names, their kinds, and the label; nothing is guessed without a word."""

import json
import subprocess
import sys

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

import onlinear
from command_line import lines_of, run
from onlinear.errors import DataError, ParameterError
from onlinear.rules import Perceptron
from onlinear.streams.reading import Reading

NUMBERS = st.integers(-99, 99).map(str) | st.floats(-1e9, 1e9).map(repr) | st.sampled_from(["1e5", "+3", ".5", " 7 "])
MISSING = st.sampled_from(["", "NA", "nan", "?", "None", "<NA>", "null"])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("columns")


def written(path, text):
    path.write_text(text)
    return path


def read(path, **options):
    """The names of the features, the rows, and the labels."""
    stream = onlinear.open_stream(path, **options)
    blocks = [(np.asarray(X.todense() if hasattr(X, "todense") else X), y) for X, y in stream]
    width = len(stream.names)
    rows = [[*row, *[0.0] * (width - len(row))] for X, _ in blocks for row in X.tolist()]
    return stream.names, rows, [label for _, y in blocks for label in y.tolist()]


# -- the first row -----------------------------------------------------------


@given(st.lists(st.tuples(NUMBERS | MISSING, NUMBERS, st.sampled_from("01")), min_size=2), st.booleans())
def test_a_first_row_of_numbers_is_data(folder, rows, quoted):
    cells = [[f'"{cell}"' if quoted else cell for cell in row] for row in [*rows, ("1", "2", "0"), ("2", "1", "1")]]
    path = written(folder / "data.csv", "".join(",".join(row) + "\n" for row in cells))
    found = read(path, label=2, missing="zero")
    assert found[0] == ("0", "1")
    assert len(found[1]) == len(cells)
    assert found == read(path, label=2, missing="zero", header=False)


@given(st.lists(NUMBERS | MISSING | st.sampled_from(["x", "1 2", "1_000", "0x1", "1,5", "é"]), min_size=2, max_size=5))
def test_anything_else_names_the_columns(folder, fields):
    names = [f'"{field}"' for field in fields]
    path = written(folder / "data.csv", ",".join(names) + "\n" + ",".join("1" for _ in fields) + "\n")
    numbers = [field for field in fields if _is_float(field)]
    other = [
        field
        for field in fields
        if not _is_float(field) and field not in {"", "NA", "nan", "?", "None", "<NA>", "null"}
    ]
    if len({field.strip() for field in fields}) < len(fields) and (other or not numbers):
        with pytest.raises(DataError, match="two columns are called"):
            onlinear.open_stream(path, label=-1)
        return
    stream = onlinear.open_stream(path, label=-1)
    assert (stream.reading.header, list(stream.columns)) == (
        (False, [str(i) for i in range(len(fields))])
        if numbers and not other
        else (True, [field.strip() for field in fields])
    )


def _is_float(field):
    try:
        return "_" not in field and np.isfinite(float(field))
    except ValueError:
        return False


def test_a_header_of_numbers_must_be_asked_for(folder):
    path = written(folder / "data.csv", "10,20,30\n1,2,0\n3,4,1\n")
    assert read(path, label="30", header=True) == (("10", "20"), [[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0])
    with pytest.raises(
        DataError, match=r"no column '30', named in label .*; the columns are '0', '1', '2' \(the first row h"
    ):
        onlinear.open_stream(path, label="30")
    with pytest.raises(DataError, match=r"no column is called label.* use header=True if it"):
        onlinear.open_stream(path)
    with pytest.raises(DataError, match=r"'0', '1', '2'$"):
        onlinear.open_stream(path, header=False)


def test_the_first_file_decides_for_all(folder):
    first = written(folder / "a.csv", "1,0\n2,1\n")
    second = written(folder / "b.csv", "x,label\n3,0\n")
    with pytest.raises(DataError, match=r"b.csv:1: label 'label' is not a number"):
        read([first, second], label=1)
    with pytest.raises(DataError, match=r"a.csv: there is no column 'label'"):
        read([second, first])
    assert read([first, first], label=1)[2] == [0.0, 1.0, 0.0, 1.0]


def test_blanks_around_names_do_not_matter(folder):
    path = written(folder / "data.csv", 'age , "town" ,\tlabel \n1,a,0\n2,b,1\n')
    assert list(onlinear.open_stream(path).columns) == ["age", '"town"', "label"]
    path = written(folder / "data.csv", '" age ",town , label\n1,a,0\n2,b,1\n')
    assert read(path)[0] == ("age", "town=a", "town=b")
    with pytest.raises(DataError, match="two columns are called 'a'"):
        onlinear.open_stream(written(folder / "data.csv", "a, a,label\n1,2,3\n"))


# -- the label ---------------------------------------------------------------


@given(st.permutations(["0", "1", "2", "x", "-1"]), st.sampled_from([0, 1, 2, 3, 4, -1, -2, "x"]), st.booleans())
def test_a_label_that_could_be_two_columns_is_an_error(folder, names, label, as_text):
    path = written(folder / "data.csv", ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    by_name = [str(label)] if str(label) in names else []
    by_number = [] if label == "x" else [names[label]]
    found = list(dict.fromkeys(by_name + by_number))
    for data in (path, pd.read_csv(path, dtype=float)):
        options = {"header": True} if data is path else {}
        word = str(label) if as_text else label
        if len(found) == 1:
            stream = onlinear.open_stream(data, label=word, **options)
            assert [name for name, kind in stream.columns.items() if kind == "label"] == found
        else:
            message = f"label {label} could be the column named {found[0]!r}, or column number {label} .*{found[1]!r}"
            with pytest.raises(DataError, match=message):
                onlinear.open_stream(data, label=word, **options)


def test_both_readings_of_a_label_can_be_asked_for(folder):
    path = written(folder / "data.csv", "1,2,0\n5,6,7\n8,9,0\n")
    with pytest.raises(DataError, match=r"-2 for the first, -1 for the second"):
        onlinear.open_stream(path, label="2", header=True)
    assert read(path, label="-2", header=True)[2] == [6.0, 9.0]
    assert read(path, label="-1", header=True)[2] == [7.0, 0.0]
    assert read(path, label="2")[2] == [0.0, 7.0, 0.0]


def test_a_model_remembers_the_name_of_its_label(folder):
    path = written(folder / "data.csv", "a,b,c\n1,2,0\n3,1,1\n")
    first = onlinear.run(Perceptron(), onlinear.open_stream(path, label=2))
    assert first.state.reading == {"label": "c", "format": "csv"}
    moved = written(folder / "moved.csv", "c,a,b\n0,1,2\n1,3,1\n")
    stream = onlinear.open_stream(moved, like=first)
    assert stream.columns == {"a": "number", "b": "number", "c": "label"}
    # Unless the name could be a number: then the place is remembered.
    path = written(folder / "data.csv", "1,2,0\n5,6,0\n8,9,1\n")
    stream = onlinear.open_stream(path, label=-1, header=True)
    assert stream.reading.as_dict() == {"label": -1, "format": "csv"}


# -- what a model remembers --------------------------------------------------


def test_a_model_remembers_that_there_was_no_header(folder):
    path = written(folder / "data.csv", "1,2,0\n3,1,1\n")
    model = onlinear.run(Perceptron(), onlinear.open_stream(path, label=2))
    assert model.state.reading == {"label": "2", "header": False, "format": "csv"}
    model.save(folder / "model")
    again = onlinear.load(folder / "model")
    new = written(folder / "new.csv", "4,5\n6,7\n")
    assert onlinear.open_stream(new, like=again, labelled=False).reading.header is False
    (labels, _), *_ = again.predictions(onlinear.open_stream(new, like=again, labelled=False))
    assert labels.size == 2


def test_a_model_that_says_nothing_about_the_header_had_one(folder):
    assert Reading.remembered(None).header is Reading.remembered({"format": "csv"}).header is True
    assert Reading.remembered({}).as_dict() == Reading().as_dict() == Reading(header=True).as_dict() == {}
    assert Reading.remembered(Reading(header=False).as_dict()).header is False
    path = written(folder / "data.csv", "10,20,label\n1,2,0\n3,1,1\n")
    model = onlinear.run(Perceptron(), onlinear.open_stream(path))
    assert model.state.reading == {"format": "csv"}
    new = written(folder / "new.csv", "10,20\n4,5\n")
    assert [y.size for _, y in onlinear.open_stream(new, like=model, labelled=False)] == [1]


# -- kinds -------------------------------------------------------------------


@given(
    st.lists(NUMBERS, max_size=6),
    st.lists(st.sampled_from(["oops", "1 2", "12a", "-", "unknown"]), max_size=6),
    st.lists(MISSING, max_size=3),
    st.randoms(),
)
def test_a_column_is_one_of_numbers_if_most_of_its_values_are(folder, numbers, words, missing, random):
    cells = [*numbers, *words, *missing]
    random.shuffle(cells)
    path = written(folder / "data.csv", "x,label\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells)))
    stream = onlinear.open_stream(path, missing="zero", on_error="skip", classes=(0, 1))
    kind = "number" if not words or len(numbers) > len(words) else "category"
    assert stream.columns == {"x": kind, "label": "label"}
    assert sum(y.size for _, y in stream) == len(cells) - (len(words) if kind == "number" else 0)
    assert stream.skipped == (len(words) if kind == "number" else 0)


def test_one_odd_value_is_an_error_with_its_place_and_remedies(folder):
    lines = [f"{i},{i % 2}" for i in range(100)]
    lines[56] = "n.a.,1"
    path = written(folder / "data.csv", "\n".join(["age,label", *lines]) + "\n")
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:58: column 'age': 'n.a.' is not a number (")
    for remedy in ("kinds={'age': 'category'}", "with missing", "on_error='skip'"):
        assert remedy in str(caught.value)
    assert len(read(path, kinds={"age": "category"})[0]) == 100
    assert len(read(path, on_error="skip")[1]) == 99


@pytest.mark.parametrize("word", ["?", "NA", "nan", "None", "<NA>", ""])
def test_what_stands_for_a_missing_number_is_one(folder, word):
    path = written(folder / "data.csv", f"age,label\n30,0\n{word},1\n{word},0\n")
    with pytest.raises(
        DataError, match=r":3: column 'age': the value is missing \(allow it with missing=.zero., or ind"
    ):
        read(path)
    assert read(path, missing="zero")[1] == [[30.0], [0.0], [0.0]]
    assert read(path, missing="indicator")[0] == ("age", "age?")


def test_kinds_can_be_given(folder):
    path = written(folder / "data.csv", "zip,age,label\n8000,1,0\n8001,2,1\n")
    assert read(path, kinds={"zip": "category"})[0] == ("age", "zip=8000", "zip=8001")
    assert read(path, kinds={"zip": "text"})[0] == ("age", "zip:8000", "zip:8001")
    for form in (pd.read_csv(path), pa.table({"zip": [8000, 8001], "age": [1, 2], "label": [0, 1]})):
        assert read(form, kinds={"zip": "category"})[0] == ("age", "zip=8000", "zip=8001")
    with pytest.raises(DataError, match=r"no column 'zap', named in kinds \(did you mean 'zip'\?\)"):
        onlinear.open_stream(path, kinds={"zap": "category"}, encode="hash")
    with pytest.raises(ParameterError, match=r"'zip' is among the columns of text .* and has another kind"):
        onlinear.open_stream(path, text=["zip"], kinds={"zip": "number"})


def test_kinds_cannot_contradict_a_model(folder):
    path = written(folder / "data.csv", "zip,age,label\n8000,1,0\n8001,2,1\n")
    model = onlinear.run(Perceptron(), onlinear.open_stream(path, kinds={"zip": "category"}))
    assert onlinear.open_stream(path, like=model).columns["zip"] == "category"
    with pytest.raises(DataError, match="column 'zip' is a category in the model and cannot become a number"):
        onlinear.open_stream(path, like=model, kinds={"zip": "number"})
    with pytest.raises(DataError, match="column 'age' is a number in the model and cannot become a category"):
        onlinear.open_stream(path, like=model, kinds={"age": "category", "zip": "category"})


# -- the command line --------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def first_lines(*arguments):
    return run(*arguments).stderr.splitlines()


def test_columns_are_shown_at_the_start(here):
    written(here / "data.csv", "zip,age,town,label\n8000,1,a,0\n8001,2,b,1\n")
    for command in (
        ["train", "--rule", "perceptron"],
        ["compare", "--rules", "perceptron"],
        ["certify"],
        ["convert", "-o", "data.arrow"],
    ):
        first, second, *_ = first_lines(*command, "data.csv", "--kind", "zip=category")
        assert first == "columns: 2 categories (zip, town), 1 number (age), label label"
        assert second == "labels: 0 → negative, 1 → positive"
        start, *_ = lines_of(*command, "data.csv")
        assert start["columns"] == {"zip": "number", "age": "number", "town": "category", "label": "label"}
        assert "columns" not in run(*command, "data.csv", "-q").stderr
    (start, *_) = lines_of("train", "data.arrow")
    assert start["columns"] is None


def test_many_columns_are_shown_in_one_line(here):
    names = [f"x{i}" for i in range(1000)]
    written(here / "data.csv", ",".join([*names, "label"]) + "\n" + ",".join(["1"] * 1001) + "\n" + "0," * 1000 + "0\n")
    first, *_ = first_lines("train", "--rule", "perceptron", "data.csv")
    assert first == f"columns: 1,000 numbers ({', '.join(names[:10])} and 990 more), label label"


def test_what_the_first_row_was_taken_for_is_said_where_it_could_be_wrong(here):
    written(here / "data.csv", "1,2,0\n3,1,1\n")
    assert (
        "it is data, and columns are numbered from 0 (--header"
        in first_lines("train", "--rule", "perceptron", "data.csv", "--label", 2)[1]
    )
    assert first_lines("train", "--rule", "perceptron", "data.csv", "--label", 2, "--no-header")[1].startswith(
        "labels: "
    )
    written(here / "iris.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n")
    assert (
        "names of the columns (--no-header if it is data)"
        in first_lines("train", "--rule", "perceptron", "iris.csv", "--label", 2)[1]
    )
    first, second, *_ = first_lines("train", "--rule", "perceptron", "iris.csv", "--label", 2, "--no-header")
    assert first == "columns: 2 numbers (0, 1), label 2"
    assert second.startswith("labels: ")


@pytest.mark.parametrize("kind", ["age", "age=", "=number", "age=integer", "age=number,age=category"])
def test_a_kind_must_be_known(here, kind):
    written(here / "data.csv", "age,label\n1,0\n2,1\n")
    assert "Invalid value for '--kind': " in run("train", "data.csv", "--kind", kind, code=2).stderr


def test_kinds_apply_to_tables_only(here):
    written(here / "data.svm", "1 1:1\n-1 1:2\n")
    failed = run("train", "data.svm", "--kind", "a=number", code=2)
    assert "--kind does not apply to libsvm files; it applies to csv, " in failed.stderr


# -- many columns ------------------------------------------------------------

PEAK = """
import json, resource, sys
import onlinear
from onlinear.rules import Perceptron
for path in sys.argv[1:]:  # what the first one needs is needed for any file
    run = onlinear.run(Perceptron(), onlinear.open_stream(path))
    print(json.dumps([run.rounds, run.n_features, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("town", [False, True])
def test_many_columns_take_little_memory(folder, town):
    rows, found = 30, []
    for columns, path in ((2, folder / "narrow.csv"), (50_000, folder / "wide.csv")):
        line = ",".join(["0.25", "-1.5"] * (columns // 2))
        with path.open("w") as file:
            file.write(",".join([*(f"x{i}" for i in range(columns)), *["town"] * town, "label"]) + "\n")
            file.writelines(f"{line}{',Ulm' * town},{i % 2}\n" for i in range(rows))
        found.append(path)
    done = subprocess.run([sys.executable, "-c", PEAK, *found], capture_output=True, text=True, check=True, timeout=120)
    (_, _, before), (n, d, peak) = map(json.loads, done.stdout.splitlines())
    assert (n, d) == (rows, 50_000 + town)
    assert peak - before < 130 * 1024
