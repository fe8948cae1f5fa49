"""Tables: every form, encoding and size of piece against a slow, obvious reading of the same rows."""

import csv
import gzip
import hashlib
import io
import json
import re
import sys
import tracemalloc
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from pyarrow import feather, parquet

from onlinear.errors import DataError, ParameterError
from onlinear.streams.files import find_files
from onlinear.streams.formats.format import Request
from onlinear.streams.formats.registry import get_format
from onlinear.streams.formats.tables import batches, csv_files, csv_parse, csv_records, csv_text, numbering, open_frame
from onlinear.streams.formats.tables.csv_numbers import parse_numbers
from onlinear.streams.formats.tables.words import words as words_of
from onlinear.streams.reading import Reading

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-50, 50).map(float)
CATEGORIES = st.sampled_from(["red", "blue", "a b", 'x"y', "p,q", "two\nlines", "é", "=", "日本", " pad "])
TEXTS = st.lists(
    st.sampled_from(["Good", "good", "bad", "Ünder_score", "7", "-", "'s", "日本", ",", "\n", '"']), min_size=1
)
PIECES = [8, 40, 1 << 20]
WIDTHS = [1, csv_parse.WIDE]
"""From how many columns on all cells are parsed at once: always, or never in these small tables."""


# -- the oracle ---------------------------------------------------------------


def words(text):
    """Lower case character by character, as Arrow has it."""
    return re.findall(r"\w+", text.lower())


def cell_features(name, kind, cell, missing):
    """The features of one cell, in order."""
    if cell is None:
        return [(f"{name}?", 1.0)] if missing == "indicator" else []
    if kind == "number":
        return [(name, cell)]
    if kind == "category":
        return [(f"{name}={cell}", 1.0)]
    return [(f"{name}:{word}", 1.0) for word in words(cell)]


def oracle(rows, kinds, *, encode="names", hash_bits=20, missing="zero", names=(), labelled=True):
    """The names of all features, and a dict from number to value for each row."""
    numbers = {name: i for i, name in enumerate(names)}
    grows = labelled or not names
    if grows and encode == "names":
        for name, kind in kinds.items():
            if kind == "number":
                numbers.setdefault(name, len(numbers))
    found = []
    for row in rows:
        features = {}
        for (name, kind), cell in zip(kinds.items(), row, strict=True):
            for feature, value in cell_features(name, kind, cell, missing):
                if encode == "hash":
                    digest = hashlib.blake2b(feature.encode()).digest()
                    number = int.from_bytes(digest[:8], "little") % 2**hash_bits
                elif grows:
                    number = numbers.setdefault(feature, len(numbers))
                else:
                    number = numbers.get(feature)
                if number is not None:
                    features[number] = features.get(number, 0.0) + value
        found.append(features)
    return (None if encode == "hash" else tuple(numbers)), found


# -- tables in every form ---------------------------------------------------


@st.composite
def tables(draw, texts=True):
    """Kinds of columns, and rows of cells, None where a value is missing; the last cell is the label."""
    kinds = draw(
        st.lists(st.sampled_from(["number", "category"] + ["text"] * texts), min_size=1, max_size=4).map(
            lambda kinds: {f"{kind[0]}{i}": kind for i, kind in enumerate(kinds)}
        )
    )
    cells = {"number": NUMBERS, "category": CATEGORIES, "text": TEXTS.map(" ".join)}
    cell = [st.none() | cells[kind] if draw(st.booleans()) else cells[kind] for kind in kinds.values()]
    rows = draw(st.lists(st.tuples(*cell, st.sampled_from(["yes", "no"])), min_size=1, max_size=12))
    return kinds, rows


def as_csv(kinds, rows, **dialect):
    file = io.StringIO(newline="")
    writer = csv.writer(file, **dialect)
    writer.writerow([*kinds, "label"])
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return file.getvalue().encode()


def as_arrow(kinds, rows):
    types = [pa.float64() if kind == "number" else pa.string() for kind in kinds.values()]
    columns = zip(*rows, strict=True)
    return pa.table(
        [pa.array(cells, kind) for cells, kind in zip(columns, [*types, pa.string()], strict=True)], [*kinds, "label"]
    )


def csv_reader(files, reading, **options):
    return get_format("csv").open(files, Request(reading, **options))


def parquet_reader(files, reading, **options):
    return get_format("parquet").open(files, Request(reading, **options))


def arrow_reader(files, reading, **options):
    return get_format("arrow").open(files, Request(reading, **options))


def frame_reader(table, reading, **options):
    return open_frame(table, Request(reading, **options))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def opened(table, reading, form, folder, **options):
    """A reader of the same table in one of the formats."""
    options = {"max_features": 1 << 20, "labelled": True, "names": None, **options}
    path = folder / f"data.{form}"
    if form == "parquet":
        parquet.write_table(table, path, row_group_size=4)
        return parquet_reader([str(path)], reading, **options)
    if form == "feather":
        feather.write_feather(table, path, chunksize=5)
        return arrow_reader([str(path)], reading, **options)
    if form == "arrow":
        with pa.ipc.new_stream(str(path), table.schema) as file:
            file.write_table(table, 5)
        return arrow_reader([str(path)], reading, **options)
    return frame_reader(FRAMES[form](table), reading, **options)


def _dictionaries(table):
    for i, name in enumerate(table.column_names):
        if name[0] == "c":
            table = table.set_column(i, name, table.column(i).dictionary_encode())
    return table


FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.DataFrame,
    "table": lambda table: table,
    "dictionaries": _dictionaries,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "reader": lambda table: table.to_reader(),
    "stream": lambda table: SimpleNamespace(__arrow_c_stream__=table.__arrow_c_stream__),
    "polars stream": lambda table: SimpleNamespace(__arrow_c_stream__=pl.DataFrame(table).__arrow_c_stream__),
}
FORMATS = ["parquet", "feather", "arrow", *FRAMES]


@contextmanager
def pieces_of(size, rows=3, wide=csv_parse.WIDE):
    """Text is read in pieces of so many bytes, batches of so many rows."""
    with (
        mock.patch.object(csv_parse, "WIDE", wide),
        mock.patch.object(csv_records, "PIECE", size),
        mock.patch.object(csv_records, "_SLICE", size),
        mock.patch.object(batches, "ROWS", rows),
    ):
        yield


def csv_of(path, text, reading=None, *, kinds=None, **options):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    options = {"max_features": 1 << 20, "labelled": True, "names": None, **options}
    return csv_reader([str(path)], (reading or Reading()).but(kinds=kinds), **options)


def collected(reader):
    """All rows as dicts from number to value, labels, and faults with the number of good rows before."""
    rows, labels, faults = [], [], []
    for chunk in reader.chunks():
        faults += [(len(labels) + fault.before, fault.place, fault.reason, fault.written) for fault in chunk.faults]
        X = chunk.X
        assert X.dtype == np.float64
        assert X.shape[0] == chunk.y.size == chunk.n
        if hasattr(X, "indptr"):
            assert X.indices.dtype == X.indptr.dtype == np.int32
            assert X.has_canonical_format
            X.has_canonical_format = False
            X.sum_duplicates()  # if the claim was wrong, this shows it
            assert all(np.all(np.diff(X.indices[a:b]) > 0) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True))
            ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
            rows += [dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)) for a, b in ends]
        else:
            assert X.flags.c_contiguous
            rows += [dict(enumerate(row)) for row in X.tolist()]
        labels += chunk.y.tolist()
    return rows, labels, faults


def numeric(cell):
    """Whether a cell is a number or missing."""
    return not parse_numbers(pa.array([cell]))[1].size


def reason(fault):
    """What is wrong, without the remedy."""
    return fault[2].partition(" (")[0]


def nonzero(rows):
    return [{number: value for number, value in row.items() if value != 0.0} for row in rows]


def reading_of(kinds, **options):
    return Reading(text=tuple(name for name, kind in kinds.items() if kind == "text"), **options)


# -- properties ---------------------------------------------------------------


@given(
    tables(),
    st.sampled_from(PIECES),
    st.sampled_from(["names", "hash"]),
    st.sampled_from(["zero", "indicator"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(WIDTHS),
)
def test_csv_is_read_like_the_oracle_whatever_the_pieces(folder, table, size, encode, missing, end, quoting, wide):
    kinds, rows = table
    text = as_csv(kinds, rows, lineterminator=end, quoting=quoting)
    reading = reading_of(kinds, encode=encode, missing=missing, hash_bits=3)
    with pieces_of(size, wide=wide):
        reader = csv_of(folder / "data.csv", text, reading, kinds=kinds)
        first = collected(reader)
        names = reader.names
        again = collected(reader)
    expected, features = oracle([row[:-1] for row in rows], kinds, encode=encode, hash_bits=3, missing=missing)
    assert names == expected
    assert nonzero(first[0]) == nonzero(features) or encode == "hash"
    # Sums of several numbers in one place may be rounded in another order.
    for row, wanted in zip(first[0], features, strict=True):
        for number in {*row, *wanted}:
            assert row.get(number, 0.0) == pytest.approx(wanted.get(number, 0.0), rel=1e-9)
    assert first[1] == [row[-1] for row in rows]
    assert first[2] == []
    assert again == first
    assert reader.names == names


@given(tables(), st.sampled_from(FORMATS), st.sampled_from([1, 3, 1 << 16]), st.sampled_from(["zero", "indicator"]))
def test_every_format_gives_the_features_of_the_csv_file(folder, table, form, size, missing):
    kinds, rows = table
    reading = reading_of(kinds, missing=missing)
    text = csv_of(folder / "data.csv", as_csv(kinds, rows), reading, kinds=kinds)
    expected = collected(text)
    with pieces_of(1 << 20, size):
        reader = opened(as_arrow(kinds, rows), reading, form, folder)
        assert collected(reader) == expected
    assert reader.names == text.names
    assert reader.width == text.width


FAULTY = st.lists(st.none() | st.sampled_from(["missing", "infinite", "label"]), min_size=12, max_size=12)


@given(
    tables(),
    FAULTY,
    st.sampled_from(["csv", *FORMATS]),
    st.sampled_from([1, 2, 1 << 16]),
    st.sampled_from(PIECES),
    st.sampled_from(WIDTHS),
)
def test_faulty_rows_have_no_part_in_the_features(folder, table, faulty, form, size, piece, wide):
    kinds, rows = table
    spoiled, good = [], []
    for row, fault in zip(rows, faulty, strict=False):
        cells = list(row)
        if fault == "label":
            cells[-1] = None
        elif fault == "missing":
            cells[-2] = None
        elif fault == "infinite" and "number" in kinds.values():
            cells[list(kinds.values()).index("number")] = -np.inf
        spoiled.append(tuple(cells))
        if None not in cells and -np.inf not in cells:
            good.append(row)
    with pieces_of(piece, size, wide):
        if form == "csv":
            reader = csv_of(folder / "data.csv", as_csv(kinds, spoiled), reading_of(kinds), kinds=kinds)
        else:
            reader = opened(as_arrow(kinds, spoiled), reading_of(kinds), form, folder)
        found, labels, faults = collected(reader)
    names, features = oracle([row[:-1] for row in good], kinds)
    assert reader.names == names
    assert nonzero(found) == nonzero(features)
    assert (labels, len(faults)) == ([row[-1] for row in good], len(rows) - len(good))


@given(
    st.lists(st.tuples(st.sampled_from(["1", "2", "oops", "inf", ""]), TEXTS.map(" ".join), st.booleans()), min_size=1),
    st.sampled_from(PIECES),
    st.sampled_from(WIDTHS),
)
def test_lines_that_are_put_aside_do_not_number_their_words(folder, lines, size, wide):
    with pieces_of(size, wide=wide):
        text = as_csv({"n": 0, "t": 0}, [(n, t, "yes", *["more"] * odd) for n, t, odd in lines])
        reader = csv_of(folder / "data.csv", text, Reading(text=("t",)), kinds={"n": "number"})
        rows, _, faults = collected(reader)
    good = [(float(n), t) for n, t, odd in lines if n in {"1", "2"} and not odd]
    names, features = oracle(good, {"n": "number", "t": "text"})
    assert (reader.names, nonzero(rows)) == (names, nonzero(features))
    assert len(faults) == len(lines) - len(good)
    assert [fault[0] for fault in faults] == sorted(fault[0] for fault in faults)


@given(tables(), tables(), st.booleans())
def test_with_the_names_of_a_model_features_keep_their_numbers(folder, first, second, labelled):
    kinds = {name: kind for name, kind in first[0].items() if kind != "number"} or {"c0": "category"}
    kinds["n9"] = "number"
    names = ("n9", *(f"{name}{'=' if kind == 'category' else ':'}good" for name, kind in kinds.items() if name != "n9"))
    rows = []
    for _, drawn in (first, second):
        rows += [
            (*("good" if i % 2 else str(row[-1]) for i in range(len(kinds) - 1)), float(len(row)), row[-1])
            for row in drawn
        ]
    reading = reading_of(kinds)
    with pieces_of(30):
        reader = csv_of(folder / "data.csv", as_csv(kinds, rows), reading, names=names, labelled=labelled)
        found, labels, faults = collected(reader)
    expected, features = oracle([row[:-1] for row in rows], kinds, names=names, labelled=labelled)
    if not labelled:
        # New names are not kept; they stand after the known ones, so that it can be said that there are some.
        _, all_features = oracle([row[:-1] for row in rows], kinds, names=names)
        new = [sorted(value for number, value in row.items() if number >= len(names)) for row in all_features]
        assert [sorted(v for j, v in row.items() if j >= len(names)) for row in nonzero(found)] == new
        found = [{j: v for j, v in row.items() if j < len(names)} for row in found]
    assert (reader.names, nonzero(found), faults) == (expected, nonzero(features), [])
    assert labels == ([row[-1] for row in rows] if labelled else [0.0] * len(rows))
    assert reader.kinds == kinds


@given(
    st.lists(st.sampled_from([*'ab,"\n\r', "\r\n", "é", '""', '","', "x,y\n"]), max_size=40).map("".join),
    st.integers(4, 30),
    st.sampled_from(WIDTHS),
)
def test_records_are_those_of_the_csv_module(folder, text, size, wide):
    text = "a,b\n" + text
    reading = Reading(header=False, label=1, missing="indicator")
    with pieces_of(size, wide=wide):
        try:
            reader = csv_of(folder / "data.csv", text, reading, kinds={"0": "category"})
            rows, labels, faults = collected(reader)
        except DataError as error:
            assert "never closed" in str(error)  # noqa: PT017  # not every text is faulty
            assert _quote_is_open(text)
            return
    lines = csv.reader(io.StringIO(text, newline=""))
    good, bad, begin = [], [], 1
    for record in lines:
        if len(record) == 2 and record[1]:
            good.append(tuple(record))
        elif record:
            bad.append((len(good), f"{folder / 'data.csv'}:{begin}", len(record)))
        begin = lines.line_num + 1
    names = reader.names
    read = [names[next(iter(row))].removeprefix("0=") for row in rows]
    assert [("" if one == "0?" else one, label) for one, label in zip(read, labels, strict=True)] == good
    assert [fault[:2] for fault in faults] == [one[:2] for one in bad]
    assert all(
        f"{fields} field(s)" in fault[2] for fault, (_, _, fields) in zip(faults, bad, strict=True) if fields != 2
    )


def _quote_is_open(text):
    """Whether more text would still belong to the last field."""
    *_, last = csv.reader(io.StringIO(text + "\nmore", newline=""))
    return last != ["more"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30), st.sampled_from(WIDTHS))
def test_numbers_are_exactly_those_that_python_reads(folder, numbers, wide):
    written = [style % x if style else repr(x) for x in numbers for style in ("", "%.17g", "%.25e", " %r ")]
    text = "x,label\n" + "".join(f"{number},{i % 2}\n" for i, number in enumerate(written))
    with pieces_of(1 << 20, wide=wide):
        (rows, labels, _) = collected(csv_of(folder / "data.csv", text))
    assert [row[0] for row in rows] == [float(number) for number in written]
    assert labels == [i % 2 for i in range(len(written))]
    # A faulty value in the piece sends all others another way: to the same numbers.
    with pieces_of(1 << 20, wide=wide):
        rows, _, faults = collected(csv_of(folder / "data.csv", text + "oops,1\n", kinds={"x": "number"}))
    assert [row[0] for row in rows] == [float(number) for number in written]
    assert reason(faults[0]) == "column 'x': 'oops' is not a number"


@given(st.lists(st.text(st.sampled_from("0179.+-eEinfaNx (_"), max_size=7), min_size=1), st.sampled_from(WIDTHS))
def test_a_faulty_value_is_found_whatever_it_looks_like(folder, cells, wide):
    cells = [cell for cell in cells if cell.strip()] + ["oops"]
    text = "x,label\n" + "".join(f"{cell},1\n" for cell in cells)
    with pieces_of(1 << 20, wide=wide):
        _, labels, faults = collected(csv_of(folder / "data.csv", text, Reading(missing="zero"), kinds={"x": "number"}))
    shown = [repr(cell) for cell in cells if cell != "nan" and not numeric(cell)]
    assert [reason(fault) for fault in faults if "finite" not in fault[2]] == [
        f"column 'x': {cell} is not a number" for cell in shown
    ]
    assert len(labels) + len(faults) == len(cells)


@given(st.lists(st.text(st.sampled_from("aB _9éßΩ日٣²😀-.\n"), max_size=12), max_size=6), st.integers(0, 2))
def test_words_are_runs_of_letters_and_digits(texts, skipped):
    # A slice begins in the middle of Arrow's buffers.
    rows, found = words_of(pa.array(texts, pa.string()).slice(min(skipped, len(texts))))
    expected = [(row, word) for row, text in enumerate(texts[skipped:]) for word in words(text)]
    assert list(zip(rows.tolist(), found.to_pylist(), strict=True)) == expected


class Colliding(str):
    """A string whose hash is that of many others."""

    __slots__ = ()

    def __hash__(self):
        return len(self) - 2

    def __eq__(self, other):
        return str.__eq__(self, other)


@given(
    st.lists(st.lists(st.text("ab", max_size=4).map(Colliding) | st.text("cd", max_size=3), max_size=8)),
    st.integers(1, 9),
    st.integers(0, 9),
)
def test_names_are_numbered_like_a_dict_does_it(lists, recent, known):
    expected = {}
    for name in [name for names in lists for name in names][:known]:
        expected.setdefault(name, len(expected))
    with mock.patch.object(numbering, "_RECENT", recent):
        found = numbering.Numbering(list(expected))
        for names in lists:
            assert found.find(names).tolist() == [expected.get(name, -1) for name in names]
            for name in names:
                if name not in expected:
                    expected[name] = len(expected)
                    assert found.add(name) == expected[name]
            assert found.find(names).tolist() == [expected[name] for name in names]
    assert found.names == list(expected)


def test_many_names_take_little_memory():
    names = [f"user={i}" for i in range(400_000)]
    hashes = list(map(hash, names))  # computed once per string
    tracemalloc.start()
    found = numbering.Numbering(names)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 30 * len(hashes) + 100 * numbering._RECENT
    assert found.find(names[::1000]).tolist() == list(range(0, 400_000, 1000))
    assert found.find(["user", "user=400000"]).tolist() == [-1, -1]


# -- columns ------------------------------------------------------------------

SMALL = "id,Class,age,colour\n1,a,30,red\n2,b,40,blue\n"


@pytest.mark.parametrize(
    ("label", "expected"),
    [(None, "Class"), ("Class", "Class"), (1, "Class"), ("1", "Class"), ("colour", "colour"), (-1, "colour")],
)
def test_the_label_is_found_by_name_and_by_number(folder, label, expected):
    reader = csv_of(folder / "data.csv", SMALL, Reading(label=label))
    assert list(reader.kinds) == [name for name in ["id", "Class", "age", "colour"] if name != expected]
    assert collected(reader)[1] == (["a", "b"] if expected == "Class" else ["red", "blue"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "zzz"}, "no column 'zzz', named in label; the columns are 'id', 'Class', 'age', 'colour'"),
        ({"label": "Clas"}, r"no column 'Clas', named in label \(did you mean 'Class'\?\)"),
        ({"label": 4}, "no column '4', named in label"),
        ({"label": "age", "features": ("age", "id")}, "'age' is the label and cannot also be a feature"),
        (
            {"features": ("agee",)},
            r"no column 'agee', named in features \(did you mean 'age'\?\); the columns are 'id'",
        ),
        ({"drop": ("color",)}, r"no column 'color', named in drop \(did you mean 'colour'\?\)"),
        ({"text": ("words",)}, "no column 'words', named in text"),
        ({"drop": ("id", "age", "colour")}, "no column is left to learn from"),
    ],
)
def test_a_column_that_is_not_there_is_an_error_that_lists_those_that_are(folder, options, message):
    with pytest.raises(DataError, match=rf"^{folder / 'data.csv'}: .*{message}"):
        csv_of(folder / "data.csv", SMALL, Reading(**options))


def test_without_a_usual_name_the_label_must_be_named(folder):
    with pytest.raises(DataError, match=r"no column is called label, y, target or class; name it \(label\): 'a', 'b'"):
        csv_of(folder / "data.csv", "a,b\n1,2\n")
    with pytest.raises(DataError, match=r"'Y', 'target' could each be the label; name it \(label\)"):
        csv_of(folder / "data.csv", "Y,target,x\n1,2,3\n")


def test_features_and_drop_choose_columns_in_the_order_of_the_table(folder):
    reader = csv_of(folder / "data.csv", SMALL, Reading(features=("age", "id")))
    assert (reader.names, reader.width) == (("id", "age"), 2)
    assert collected(reader)[0] == [{0: 1.0, 1: 30.0}, {0: 2.0, 1: 40.0}]
    reader = csv_of(folder / "data.csv", SMALL, Reading(drop=("id", "colour")))
    assert reader.names == ("age",)


def test_to_predict_no_label_is_needed_and_one_that_is_there_is_left_out(folder):
    for text in (SMALL, "age,colour,id\n30,red,1\n40,blue,2\n"):
        reader = csv_of(folder / "data.csv", text, labelled=False, names=("id", "age", "colour=blue"))
        # The new colour stands after the known features, and is not kept.
        assert collected(reader) == ([{0: 1.0, 1: 30.0, 3: 1.0}, {0: 2.0, 1: 40.0, 2: 1.0}], [0.0, 0.0], [])
        assert (reader.names, reader.width) == (("id", "age", "colour=blue"), 3)


def test_dense_columns_stand_in_the_order_of_the_model_and_others_are_ignored(folder):
    text = "when,b,label,a\n2026-01-01,1,yes,2\n"
    reader = csv_of(folder / "data.csv", text, labelled=False, names=("a", "b"))
    assert collected(reader)[0] == [{0: 2.0, 1: 1.0}]
    assert reader.width == 2
    frame = pd.DataFrame({"when": pd.to_datetime(["2026-01-01"]), "b": [1], "a": [2]})
    reader = frame_reader(frame, Reading(), max_features=9, labelled=False, names=("a", "b"))
    assert collected(reader)[0] == [{0: 2.0, 1: 1.0}]


def test_a_feature_of_the_model_that_no_column_gives_is_an_error(folder):
    with pytest.raises(DataError, match=r"the feature 'height' of the model comes from none of the columns 'id', "):
        csv_of(folder / "data.csv", SMALL, labelled=False, names=("age", "height"))


def test_the_kinds_of_columns_are_those_of_the_model(folder):
    # By themselves the codes would be numbers.
    reader = csv_of(folder / "data.csv", "zip,y\n8001,0\n", names=("zip=8000",))
    assert collected(reader)[0] == [{1: 1.0}]
    assert reader.names == ("zip=8000", "zip=8001")
    for form in ("table", "parquet", "feather"):
        reader = opened(pa.table({"zip": [8000, 8001], "y": [0, 1]}), Reading(), form, folder, names=("zip=8000",))
        assert collected(reader)[0] == [{0: 1.0}, {1: 1.0}]
    _, _, faults = collected(csv_of(folder / "data.csv", "age,y\nold,0\n", names=("age",)))
    assert reason(faults[0]) == "column 'age': 'old' is not a number"
    with pytest.raises(DataError, match="the table: column 'age' has type string, but is read as numbers"):
        frame_reader(pa.table({"age": ["old"], "y": [1]}), Reading(), max_features=9, labelled=True, names=("age",))


def test_kinds_are_decided_by_the_first_piece_and_never_again(folder):
    text = "x,c,label\n" + "1,a,0\n" * 5 + "b,2,1\n" + "3,4,1\n"
    with pieces_of(20):
        reader = csv_of(folder / "data.csv", text)
        rows, _, faults = collected(reader)
    assert reader.names == ("x", "c=a", "c=4")
    (fault,) = faults
    assert (fault[:2], reason(fault), fault[3]) == (
        (5, f"{folder / 'data.csv'}:7"),
        "column 'x': 'b' is not a number",
        b"b,2,1",
    )
    assert rows[-1] == {0: 3.0, 2: 1.0}


@pytest.mark.parametrize("size", PIECES)
def test_kinds_follow_from_the_first_piece_that_has_rows(folder, size, monkeypatch):
    text = "x,c,label\n" + "broken\n" * 20 + "1,red,yes\n2,blue,no\n"
    with pieces_of(size):
        reader = csv_of(folder / "data.csv", text)
        assert (collected(reader)[0], reader.names) == ([{0: 1.0, 1: 1.0}, {0: 2.0, 2: 1.0}], ("x", "c=red", "c=blue"))
        assert csv_of(folder / "data.csv", "x,c,label\n" + "broken\n" * 20).kinds == {"x": "number", "c": "number"}
        # Through a pipe, nothing is lost that was looked through.
        stdin = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(text.encode())))
        monkeypatch.setattr(sys, "stdin", stdin)
        piped = csv_reader(find_files("-"), Reading(), max_features=9, labelled=True, names=None)
        _, labels, faults = collected(piped)
        assert (labels, len(faults)) == (["yes", "no"], 20)
    with pieces_of(8), mock.patch.object(csv_files, "_LOOKED_THROUGH", 40):
        assert csv_of(folder / "data.csv", text).kinds == {"x": "number", "c": "number"}


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"a": "category", "a=b": "category"}, {}),
        ({"a=b": "number", "a": "category"}, {}),
        ({"a=b": "number", "a": "category"}, {"encode": "hash"}),
        ({"a": "text", "a:b": "number"}, {}),
        ({"a": "category", "a=b:c?": "text"}, {}),
        ({"a": "number", "a?": "number"}, {"missing": "indicator"}),
    ],
)
def test_columns_whose_features_could_have_one_name_are_an_error(folder, columns, options):
    text = ",".join([*columns, "label"]) + "\n" + ",".join(["1"] * len(columns)) + ",yes\n"
    first, second = sorted(columns)
    with pytest.raises(DataError, match=f"the columns '{first}' and '{re.escape(second)}' can give features of the sa"):
        csv_of(folder / "data.csv", text, Reading(**options), kinds=columns)
    csv_of(folder / "data.csv", text, Reading(**options, drop=(first,)), kinds=columns)


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        ({"a": "number", "a=b": "category"}, "indicator"),
        ({"a": "text", "a:b": "category"}, "indicator"),
        ({"a": "text", "a:b c": "number"}, "indicator"),
        ({"a": "category", "a:b": "number"}, "indicator"),
        ({"a": "number", "a?": "number"}, "zero"),
    ],
)
def test_columns_with_marks_in_their_names_are_fine_where_their_features_differ(folder, columns, missing):
    text = ",".join([*columns, "label"]) + "\n" + ",".join(["1"] * len(columns)) + ",yes\n"
    reader = csv_of(folder / "data.csv", text, Reading(missing=missing), kinds=columns)
    assert len(collected(reader)[0][0]) == 2


def test_files_of_a_list_may_have_their_columns_in_another_order(folder):
    first, second, third = (folder / name for name in ("1.csv", "2.csv", "3.csv"))
    first.write_text("label,a,b\n")
    second.write_text("label,a,b\n1,2,x\n")
    third.write_text("b,label,a\ny,0,5\nz,,5\n")
    files = [str(first), str(second), str(third)]
    reader = csv_reader(files, Reading(), max_features=9, labelled=True, names=None)
    rows, labels, faults = collected(reader)
    assert reader.kinds == {"a": "number", "b": "category"}
    assert (rows, labels, reader.names) == ([{0: 2.0, 1: 1.0}, {0: 5.0, 2: 1.0}], [1.0, 0.0], ("a", "b=x", "b=y"))
    assert faults == [(2, f"{third}:3", "the label is missing (column 'label')", b"z,,5")]
    third.write_text("b,label\nx,0\n")
    with pytest.raises(DataError, match=rf"^{third}: there is no column 'a'; the columns are 'b', 'label'"):
        collected(csv_reader(files, Reading(), max_features=9, labelled=True, names=None))
    third.write_text("b,label,a,new\nx,0,1,1\n")
    with pytest.raises(
        DataError, match=rf"^{third}: the column 'new' is not in the first file; name the columns to read \(features\)"
    ):
        collected(csv_reader(files, Reading(), max_features=9, labelled=True, names=None))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.timestamp("us"), 0),
        (pa.date32(), 0),
        (pa.list_(pa.int64()), [1]),
        (pa.binary(), b"x"),
        (pa.duration("s"), 1),
    ],
)
def test_a_type_that_makes_no_features_is_an_error(folder, type_, value):
    table = pa.table({"a": [1.0], "when": pa.array([value], type_), "label": ["x"]})
    for form in ("parquet", "feather", "table"):
        if form == "parquet" and pa.types.is_duration(type_):
            continue
        with pytest.raises(
            DataError, match=r"column 'when' has type .*, which cannot be a feature; leave it out \(drop\)"
        ):
            opened(table, Reading(), form, folder)
        assert opened(table, Reading(drop=("when",)), form, folder).names == ("a",)
    with pytest.raises(DataError, match=r"the labels in column 'when' have type .*; they must be numbers or strings"):
        opened(table, Reading(label="when", features=("a",)), "table", folder)


def test_all_types_of_numbers_are_numbers():
    kinds = [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()]
    columns = {str(kind): pa.array([3, None, 5]).cast(kind) for kind in kinds}
    columns["decimal"] = pa.array(["3.00", None, "5.00"]).cast(pa.decimal128(9, 2))
    table = pa.table({**columns, "flag": [True, None, False], "none": pa.nulls(3), "y": [True, False, True]})
    reading = Reading(missing="zero")
    (chunk,) = frame_reader(table, reading, max_features=99, labelled=True, names=None).chunks()
    assert chunk.X.tolist() == [[3.0] * 8 + [1.0, 0.0], [0.0] * 10, [5.0] * 8 + [0.0, 0.0]]
    assert (chunk.y.dtype, list(chunk.faults)) == (np.dtype(bool), [])


@given(st.decimals(-(10**20), 10**20, places=9))
def test_decimals_are_rounded_once(number):
    table = pa.table({"x": pa.array([number], pa.decimal128(38, 9)), "y": [1]})
    (chunk,) = frame_reader(table, Reading(), max_features=9, labelled=True, names=None).chunks()
    assert chunk.X[0, 0] == float(number)


def test_pandas_columns_of_every_sort():
    frame = pd.DataFrame(
        {
            0: pd.Categorical(["u", None, "v"]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "late": [None, None, "x"],
            "label": pd.Categorical([2, 1, 2]),
        },
        index=[7, 8, 9],
    )
    reader = frame_reader(frame, Reading(missing="zero"), max_features=9, labelled=True, names=None)
    with pieces_of(1 << 20, 1):
        rows, labels, _ = collected(reader)
    assert reader.names == ("whole", "0=u", "0=v", "late=x")
    assert (rows, labels) == ([{0: 1.0, 1: 1.0}, {}, {0: 3.0, 2: 1.0, 3: 1.0}], [2, 1, 2])


def test_labels_keep_their_type(folder):
    def labels(table):
        (chunk,) = frame_reader(table, Reading(), max_features=9, labelled=True, names=None).chunks()
        return chunk.y

    assert labels(pa.table({"x": [1, 2], "y": [5, 7]})).dtype == np.int64
    assert labels(pa.table({"x": [1, 2], "y": ["a", "bc"]})).dtype == np.dtype("U2")
    long = labels(pa.table({"x": [1, 2], "y": ["a", "b" * 1000]}))
    assert (long == "a").tolist() == [True, False]
    assert labels(pl.DataFrame({"x": [1, 2], "y": ["a", "b"]})).tolist() == ["a", "b"]


def test_known_labels_say_what_the_column_of_labels_is(folder):
    text = "label,x\n1,1\nzz,3\n0,2\n1,5\n"
    path = folder / "data.csv"
    rows, labels, faults = collected(csv_of(path, text, label_kind="number"))
    assert (rows, labels) == ([{0: 1.0}, {0: 2.0}, {0: 5.0}], [1.0, 0.0, 1.0])
    assert faults == [(1, f"{path}:3", "label 'zz' is not a number", b"zz,3")]
    # Before what the caller says of the column; and that before what it looks like.
    assert collected(csv_of(path, text, label_kind="number", kinds={"label": "category"}))[1] == labels
    assert collected(csv_of(path, text))[1] == ["1", "zz", "0", "1"]
    numbers = "label,x\n01,1\n1,2\n"
    assert collected(csv_of(path, numbers))[1] == [1.0, 1.0]
    assert collected(csv_of(path, numbers, kinds={"label": "category"}))[1] == ["01", "1"]
    assert collected(csv_of(path, numbers, kinds={"label": "text"}))[1] == ["01", "1"]
    assert collected(csv_of(path, numbers, label_kind="category"))[1] == ["01", "1"]
    assert collected(csv_of(path, text, kinds={"label": "number"}))[2] == faults
    assert collected(csv_of(path, text, label_kind="number", labelled=False))[1] == [0.0] * 4


@pytest.mark.parametrize("form", ["parquet", "feather", "arrow", "table", "pandas", "polars"])
def test_numbers_are_no_labels_where_those_that_are_known_are_text(folder, form):
    where = "the table" if form in FRAMES else folder / f"data.{form}"
    for values in ([1, 0], [1.0, 0.0]):
        table = pa.table({"x": [1.0, 2.0], "label": values})
        with pytest.raises(DataError, match=f"^{where}: the labels in column 'label' have type .*, but the known"):
            opened(table, Reading(), form, folder, label_kind="category")
        assert collected(opened(table, Reading(), form, folder, label_kind="number"))[1] == values
        assert collected(opened(table, Reading(), form, folder, label_kind="category", labelled=False))[1] == [0.0] * 2
    for values in (["a", "b"], [True, False]):
        table = pa.table({"x": [1.0, 2.0], "label": values})
        assert collected(opened(table, Reading(), form, folder, label_kind="category"))[1] == values
        assert collected(opened(table, Reading(), form, folder, label_kind="number"))[1] == values


def test_frames_that_were_put_together_are_read():
    part = pd.DataFrame({"label": ["p", "q"], "x": [1.0, 2.0], "c": pd.Series(["a", "b"], dtype="string[pyarrow]")})
    frame = pd.concat([part, part, part])
    for rows in (1, 3, 1 << 16):
        with pieces_of(1 << 20, rows):
            reader = frame_reader(frame, Reading(), max_features=9, labelled=True, names=None)
            assert collected(reader)[:2] == ([{0: 1.0, 1: 1.0}, {0: 2.0, 2: 1.0}] * 3, ["p", "q"] * 3)


# -- missing values, and numbers that are none --------------------------------


@pytest.mark.parametrize("spelling", ["", "NA", "NaN", "null", "nan", "#N/A"])
def test_a_missing_number_is_a_fault_with_its_remedy(folder, spelling):
    text = f"x,c,label\n1,a,0\n{spelling},b,1\n3,,1\n4,NA,0\n"
    rows, _, faults = collected(csv_of(folder / "data.csv", text))
    path = folder / "data.csv"
    remedy = "the value is missing (allow it with missing='zero', or indicator)"
    assert faults == [
        (1, f"{path}:3", f"column 'x': {remedy}", f"{spelling},b,1".encode()),
        (1, f"{path}:4", f"column 'c': {remedy}", b"3,,1"),
    ]
    # Among categories only the empty one is missing; and what stands in a faulty row has no number.
    assert rows == [{0: 1.0, 1: 1.0}, {0: 4.0, 2: 1.0}]


def test_a_missing_number_is_zero_in_a_dense_row_or_has_a_feature(folder):
    text = "x,z,label\n1,2,0\n,NaN,1\n"
    zero = csv_of(folder / "data.csv", text, Reading(missing="zero"))
    assert (collected(zero)[0], zero.width) == ([{0: 1.0, 1: 2.0}, {0: 0.0, 1: 0.0}], 2)
    indicator = csv_of(folder / "data.csv", text, Reading(missing="indicator"))
    assert collected(indicator)[0] == [{0: 1.0, 1: 2.0}, {2: 1.0, 3: 1.0}]
    assert (indicator.names, indicator.width) == (("x", "z", "x?", "z?"), None)


@pytest.mark.parametrize("missing", ["error", "zero", "indicator"])
@pytest.mark.parametrize(("value", "shown"), [("inf", "inf"), ("-Infinity", "-inf"), ("1e999", "inf")])
def test_an_infinite_number_is_a_fault(folder, missing, value, shown):
    _, _, faults = collected(csv_of(folder / "data.csv", f"x,label\n1,0\n{value},1\n", Reading(missing=missing)))
    assert faults[0][1:3] == (f"{folder / 'data.csv'}:3", f"column 'x': value {shown} is not a finite number")


def test_faults_of_tables_have_their_row_and_are_written_as_json(folder):
    table = pa.table({"x": [1.0, None, 3.0, float("inf")], "c": ["é", "b", None, "d"], "y": ["p", "q", "p", "q"]})
    for form in ("parquet", "feather", "pandas", "polars", "table"):
        with pieces_of(1 << 20, 1):
            rows, labels, faults = collected(opened(table, Reading(), form, folder))
        assert (rows, labels) == ([{0: 1.0, 1: 1.0}], ["p"])
        name = f"{folder}/data.{form}:" if form in {"parquet", "feather"} else ""
        assert [fault[1] for fault in faults] == [f"{name}row {row}" for row in (1, 2, 3)]
        assert [fault[2].partition(" (")[0] for fault in faults] == [
            "column 'x': the value is missing",
            "column 'c': the value is missing",
            "column 'x': value inf is not a finite number",
        ]
        assert json.loads(faults[1][3]) == {"x": 3.0, "c": None, "y": "p"}


@pytest.mark.parametrize("label", ["", "NA", "inf"])
def test_a_missing_label_is_a_fault_whatever_is_allowed(folder, label):
    text = f"x,label\n1,0\n2,{label}\n3,1\n"
    rows, labels, faults = collected(csv_of(folder / "data.csv", text, Reading(missing="zero")))
    assert (rows, labels) == ([{0: 1.0}, {0: 3.0}], [0.0, 1.0])
    reason = "the label (column 'label') is infinite" if label == "inf" else "the label is missing (column 'label')"
    assert faults == [(1, f"{folder / 'data.csv'}:3", reason, f"2,{label}".encode())]


@pytest.mark.parametrize("wide", WIDTHS)
@pytest.mark.parametrize("size", PIECES)
def test_lines_are_counted_through_blank_ones_and_a_header_of_several(folder, size, wide):
    text = '\n\r\n"two\nlines",label\n\n1,0\n2,0\n,1\r\n3,0\rx\n'
    with pieces_of(size, wide=wide):
        reader = csv_of(folder / "data.csv", text)
        places = [chunk.place(i) for chunk in reader.chunks() for i in range(chunk.n)]
        faults = [fault[1] for fault in collected(reader)[2]]
    assert reader.names == ("two\nlines",)
    assert places == [f"{folder / 'data.csv'}:{line}" for line in (6, 7, 9)]
    assert faults == [f"{folder / 'data.csv'}:{line}" for line in (8, 10)]


def test_the_place_of_an_example_is_the_line_where_it_begins(folder):
    text = 'x,c,label\r\n1,"two\r\nlines",0\r\n\r\n2,b,1\r\n3\r\n4,d,1\r\n'
    reader = csv_of(folder / "data.csv", text)
    (chunk,) = reader.chunks()
    path = folder / "data.csv"
    assert [chunk.place(i) for i in range(3)] == [f"{path}:2", f"{path}:5", f"{path}:7"]
    assert [chunk.written(i) for i in range(3)] == [b'1,"two\r\nlines",0', b"2,b,1", b"4,d,1"]
    assert list(chunk.faults) == [(2, f"{path}:6", "1 field(s) instead of 3", b"3")]
    part = chunk.take(np.array([2]))
    assert part.place(0) == f"{path}:7"


# -- files that are not what they should be -----------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", ": the file is empty"),
        (b"\n\r\n", ": the file is empty"),
        (b"a,b,a,label\n1,2,3,4\n", ":1: two columns are called 'a'; column names must be unique"),
        (b"\xff\xfea\x00,\x00", ":1: byte 0xff is not valid UTF-8"),
        (b'x,label\n1,0\n2,1\n"3,0\n4,1\n', r':4: a quote \("\) is opened in this record but never closed'),
        (gzip.compress(b"x,label\n" + b"1,0\n" * 9, mtime=0)[:-9], ":[0-9]+: the compressed file "),
    ],
)
def test_a_csv_file_that_cannot_be_read_is_an_error_with_its_place(folder, text, message):
    with pytest.raises(DataError, match=rf"^{folder / 'data.csv'}{message}"):
        collected(csv_of(folder / "data.csv", text))


def test_a_record_without_an_end_is_an_error(folder):
    with (
        mock.patch.object(csv_records, "LONGEST_LINE", 1 << 20),
        pieces_of(1 << 10),
        pytest.raises(DataError, match=r":3: the record is longer than 1 MB; a quote may not be closed"),
    ):
        collected(csv_of(folder / "data.csv", b'x,label\n1,0\n"' + b"2,1\n" * (1 << 20)))


def test_a_long_record_is_read_nevertheless(folder):
    with pieces_of(16):
        rows, _, _ = collected(csv_of(folder / "data.csv", 'c,label\n"' + "2,1\n" * 5000 + '",1\na,0\n'))
    assert rows == [{0: 1.0}, {1: 1.0}]


@pytest.mark.parametrize("wide", WIDTHS)
@pytest.mark.parametrize("size", PIECES)
def test_what_is_not_utf8_is_a_fault_at_its_line(folder, size, wide):
    text = b"x,c,label\n1,a,0\n2,\xff,1\n3,b,1\n4\n\xe9,\xe9\n5,\xc3\xa9,0\n"
    with pieces_of(size, wide=wide):
        reader = csv_of(folder / "data.csv", text, kinds={"x": "number", "c": "category"})
        rows, _, faults = collected(reader)
    assert reader.names == ("x", "c=a", "c=b", "c=é")
    assert rows == [{0: 1.0, 1: 1.0}, {0: 3.0, 2: 1.0}, {0: 5.0, 3: 1.0}]
    assert [(before, place.rpartition(":")[2]) for before, place, _, _ in faults] == [(1, "3"), (2, "5"), (2, "6")]
    assert faults[0][2:] == ("byte 0xff is not valid UTF-8; save the file as UTF-8", b"2,\xff,1")


def test_a_byte_order_mark_tabs_and_compression_are_fine(folder):
    text = b'\xef\xbb\xbf"x"\tlabel\r\n1\t0\r\n2\t1'
    for name, data in [("data.tsv", text), ("data.tsv.gz", gzip.compress(text))]:
        reader = csv_of(folder / name, data)
        assert (collected(reader)[:2], reader.names) == (([{0: 1.0}, {0: 2.0}], [0.0, 1.0]), ("x",))
    reader = csv_of(folder / "data.csv", "1;0\n2;1\n", Reading(header=False, label=1, delimiter=";"))
    assert (collected(reader)[1], reader.names) == ([0.0, 1.0], ("0",))
    with pytest.raises(ParameterError, match="delimiter is 'é'"):
        csv_of(folder / "data.csv", "1;0\n", Reading(delimiter="é"))


def test_a_header_alone_is_a_table_without_examples(folder):
    assert collected(csv_of(folder / "data.csv", "x,label")) == ([], [], [])


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_damaged_file_is_an_error_in_one_line(folder, form):
    table = pa.table({"x": np.arange(1000.0), "c": [f"v{i % 7}" for i in range(1000)], "y": np.arange(1000) % 2})
    opened(table, Reading(), form, folder)
    path = folder / f"data.{form}"
    whole = path.read_bytes()
    read = parquet_reader if form == "parquet" else arrow_reader
    options = {"max_features": 1 << 20, "labelled": True, "names": None}
    for text in (
        b"",
        b"junk",
        b"x,y\n1,2\n",
        b"PAR1",
        b"ARROW1\0\0",
        b"FEA1xxxx",
        whole[: len(whole) // 2],
        whole[:-10],
    ):
        path.write_bytes(text)
        with pytest.raises(DataError) as caught:
            collected(read([str(path)], Reading(), **options))
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)
    rng = np.random.default_rng(0)
    for _ in range(60):
        broken = bytearray(whole)
        for place in rng.integers(0, len(whole), 20):
            broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        try:
            collected(read([str(path)], Reading(), **options))
        except DataError as error:
            assert str(error).startswith(str(path))  # noqa: PT017  # it may well be read: values were changed
    path.unlink()
    with pytest.raises(DataError, match=rf"^{path}: "):
        read([str(path)], Reading(), **options)


def test_no_damage_to_an_arrow_file_ends_the_process(folder):
    texts = pa.array([None if i % 5 == 0 else "x" * i for i in range(64)])
    table = pa.table({"c": texts.cast(pa.string_view()), "d": texts.dictionary_encode(), "t": texts, "y": texts})
    path = folder / "data.arrow"
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(150):
        broken = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        reading = Reading(text=("t",), missing="indicator")
        with suppress(DataError):
            collected(arrow_reader([str(path)], reading, max_features=1 << 20, labelled=True, names=None))


def test_a_file_that_vanishes_is_an_error(folder):
    table = pa.table({"x": [1.0], "y": [1]})
    for form in ("parquet", "feather"):
        reader = opened(table, Reading(), form, folder)
        (folder / f"data.{form}").unlink()
        with pytest.raises(DataError, match=rf"^{folder}/data.{form}: the file does not exist"):
            collected(reader)
    reader = csv_of(folder / "gone.csv", SMALL)
    (folder / "gone.csv").unlink()
    with pytest.raises(DataError, match=rf"^{folder}/gone.csv: No such file"):
        collected(reader)


def test_the_standard_input_is_read_once(monkeypatch):
    def stdin(data):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))

    options = {"max_features": 9, "labelled": True, "names": None}
    stdin(b"x,label\n" + b"1,0\n2,1\n" * 40)
    with pieces_of(16):
        reader = csv_reader(find_files("-"), Reading(), **options)
        rows, labels, _ = collected(reader)
        assert (len(rows), labels[:2]) == (80, [0.0, 1.0])
        with pytest.raises(DataError, match="<stdin> can be read only once"):
            collected(reader)
    sink = io.BytesIO()
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "b"]})
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    stdin(sink.getvalue())
    reader = arrow_reader(find_files("-"), Reading(), **options)
    assert collected(reader)[:2] == ([{0: 1.0}, {0: 2.0}], ["a", "b"])
    with pytest.raises(DataError, match="<stdin> can be read only once"):
        collected(reader)
    stdin(sink.getvalue()[:-30])
    with pytest.raises(DataError, match=r"^<stdin>: "):
        collected(arrow_reader(find_files("-"), Reading(), **options))
    with pytest.raises(DataError, match="parquet files cannot be read from the standard input"):
        parquet_reader(find_files("-"), Reading(), **options)


def test_objects_that_are_no_tables_are_refused():
    for table, message in [
        (pl.LazyFrame({"x": [1]}), r"LazyFrame has no rows yet; give its .collect\(\)"),
        (pd.Series([1]), "a pandas Series is not a table"),
        (pl.Series([1]), "a polars Series is not a table"),
        (object(), "object is not a table"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "a", "y"]), "two columns are called 'a'"),
        (pd.DataFrame({"a": [1, "x"], "y": [1, 2]}), "^the table: "),
        (pd.DataFrame({"a": [1, 1 << 70], "y": [1, 2]}), "^the table: "),
        (pd.DataFrame({"a": [{1: 2}], "y": [1]}), "^the table: "),
        (pa.table([[1], [2], [3]], ["a", "a", "y"]), "two columns are called 'a'"),
    ]:
        with pytest.raises(DataError, match=message):
            frame_reader(table, Reading(), max_features=9, labelled=True, names=None)
    reader = frame_reader(
        pa.table({"x": [1], "y": [2]}).to_reader(), Reading(), max_features=9, labelled=True, names=None
    )
    assert collected(reader)[0] == [{0: 1.0}]
    with pytest.raises(DataError, match="a RecordBatchReader can be read only once"):
        collected(reader)


def test_a_type_error_of_arrow_is_an_error_of_the_table():
    reader = frame_reader(pd.DataFrame({"x": [1.0], "y": [1]}), Reading(), max_features=9, labelled=True, names=None)
    raised = mock.Mock(side_effect=TypeError("no batch can be made of it"))
    with (
        mock.patch.object(pa, "Table", SimpleNamespace(from_pandas=raised)),
        pytest.raises(DataError, match=r"^the table: no batch can be made of it"),
    ):
        collected(reader)


# -- memory -------------------------------------------------------------------


@pytest.mark.parametrize("form", ["parquet", "feather", "table", "pandas", "polars"])
def test_a_batch_is_small_as_numbers_however_small_it_is_stored(folder, form):
    # Zeros: next to nothing in the file.
    table = pa.table({**{f"x{i}": np.zeros(9000) for i in range(300)}, "label": np.arange(9000) % 2})
    path = folder / f"data.{form}"
    options = {"max_features": 999, "labelled": True, "names": None}
    if form == "parquet":
        parquet.write_table(table, path)
        reader = parquet_reader([str(path)], Reading(), **options)
    elif form == "feather":
        feather.write_feather(table, path)
        reader = arrow_reader([str(path)], Reading(), **options)
    else:
        reader = frame_reader(FRAMES[form](table), Reading(), **options)
    sizes = [chunk.n for chunk in reader.chunks()]
    assert sum(sizes) == 9000
    assert max(sizes) <= batches._BYTES // (8 * 301)
    assert len(sizes) <= 24


def test_faults_are_made_when_they_are_drawn(folder):
    lines = b"1,0\n" + b"oops,1\n,1\nbroken\n\xff,1\ninf,1\n1,\n" * 3 + b"2,1\n"
    reader = csv_of(folder / "data.csv", b"x,label\n" + lines, kinds={"x": "number"}, label_kind="number")
    with mock.patch.object(csv_text.CsvOrigin, "place", return_value="here") as place:
        (chunk,) = reader.chunks()
        place.assert_not_called()
        drawn = iter(chunk.faults)
        assert next(drawn).reason.startswith("column 'x': 'oops' is not a number (")
        place.assert_called_once_with(1)
        assert len(list(drawn)) == 17


def test_faults_take_no_memory_before_they_are_drawn(folder):
    n = 100_000
    reader = csv_of(folder / "data.csv", b"x,label\n1,0\n" + b"z\n" * n)
    with pieces_of(1 << 20):
        tracemalloc.start()
        (chunk,) = reader.chunks()
        count = sum(1 for _ in chunk.faults)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert count == n
    assert peak < 200 * n  # made all at once, they take three times that


@given(
    st.lists(st.sampled_from(['"', '""', ",", "\n", "\r", "\r\n", "a"]), max_size=30).map("".join), st.integers(1, 9)
)
def test_records_do_not_depend_on_how_much_is_looked_through_at_a_time(text, size):
    data = bytearray(text.encode() + b"\n")
    whole = csv_records.Records(data, ",")
    with mock.patch.object(csv_records, "_SLICE", size):
        parts = csv_records.Records(data, ",")
    for name in ("starts", "stops", "lines"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()


def test_a_record_full_of_quotes_is_read(folder):
    text = 'c,label\na"b,1\n"' + '""x' * 5000 + '""' * 5000 + '",0\n'
    for size in PIECES:
        with pieces_of(size):
            reader = csv_of(folder / "data.csv", text)
            collected(reader)
        assert reader.names == ('c=a"b', "c=" + '"x' * 5000 + '"' * 5000)


# -- how many features --------------------------------------------------------


@pytest.mark.parametrize("size", PIECES)
def test_more_names_than_allowed_are_an_error_with_the_place(folder, size):
    text = "c,label\n" + "".join(f"v{i},{i % 2}\n" for i in range(9))
    with pieces_of(size):
        collected(csv_of(folder / "data.csv", text, max_features=9))
        message = rf"^{folder / 'data.csv'}:9: 'c=v7' would be feature 8; at most 7 \(max_features; or encode='hash'\)"
        with pytest.raises(DataError, match=message):
            collected(csv_of(folder / "data.csv", text, max_features=7))


def test_wide_tables_and_hashes_are_held_to_the_same_number(folder):
    with pytest.raises(DataError, match=rf"^{folder / 'data.csv'}: more than 2 features \(max_features\)"):
        csv_of(folder / "data.csv", "a,b,c,label\n1,2,3,4\n", max_features=2)
    with pytest.raises(ParameterError, match=r"hash_bits is 20, that is 1,048,576 features; at most 9 "):
        csv_of(folder / "data.csv", "a,label\n1,2\n", Reading(encode="hash"), max_features=9)


def test_hashed_features_have_a_width_and_no_names(folder):
    reader = csv_of(folder / "data.csv", SMALL, Reading(encode="hash", hash_bits=4))
    assert (reader.width, reader.names) == (16, None)
    assert sum(collected(reader)[0][0].values()) == 32.0
