"""Any number of classes from every source: declared, found by a look at the first examples, or added on the way."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onlinear
from command_line import lines_of, run
from onlinear.data import look_ahead
from onlinear.data.labels import MOST_FOUND, ManyClasses, cut_at_new_labels, found_codes
from onlinear.data.signs import signs_of, write_signs
from onlinear.errors import DataError, ModelError, ParameterError
from onlinear.rules import MarginPerceptron, Perceptron, Winnow
from onlinear.streams import convert
from onlinear.theory import ClassPairs

N, D = 120, 4


def examples(k, seed=0):
    """Return examples whose sums are exact, with labels 0, …, k − 1, each of which occurs."""
    rng = np.random.default_rng(seed)
    return rng.integers(-16, 17, (N, D)) / 16, rng.permutation(np.arange(N) % k)


def blocks(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def bits(run):
    state = run.state
    counts = (state.rounds, state.mistakes_by_class, state.updates, state.steps, state.reach)
    return run.classes.tolist(), state.matrix.tobytes(), *counts


# --- Formats -------------------------------------------------------------------------------------


def as_libsvm(path, X, y):
    lines = [
        f"{b} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) for x, b in zip(X.tolist(), y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


def as_csv(path, X, y):
    lines = [",".join(map(str, [*x, b])) for x, b in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join([",".join([*(f"x{j}" for j in range(D)), "label"]), *lines]) + "\n")


def as_table(X, y):
    return pa.table({**{f"x{j}": X[:, j] for j in range(D)}, "label": pa.array(y.tolist())})


def opened(kind, folder, X, y, like=None):
    """Return a stream over a file of some format."""
    path = folder / f"data.{kind.removesuffix('.gz').split()[-1]}"
    match kind:
        case "svm" | "svm.gz":
            as_libsvm(path, X, y)
        case "csv" | "converted arrow" | "converted parquet":
            path = folder / "data.csv"
            as_csv(path, X, y)
        case "parquet":
            pq.write_table(as_table(X, y), path, row_group_size=50)
        case "arrow":
            with pa.ipc.new_file(path, as_table(X, y).schema) as writer:
                writer.write_table(as_table(X, y))
        case "npy":
            np.save(path, X)
            np.save(folder / "labels.npy", y)
            return onlinear.open_stream(path, folder / "labels.npy", like=like)
        case "npz":
            np.savez(path, X=X, y=y)
    if kind.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    if kind.startswith("converted"):
        packed = folder / f"packed.{kind.split()[-1]}"
        convert(onlinear.open_stream(path), packed)
        return onlinear.open_stream(packed, like=like)
    return onlinear.open_stream(path, like=like)


FORMATS = ["svm", "svm.gz", "csv", "parquet", "arrow", "npy", "npz", "converted arrow", "converted parquet"]
LABELS = {
    "integers": lambda y: y - 1,
    "fractions": lambda y: y / 2,
    "strings": lambda y: np.array([f"{'long ' * (b % 3)}label {chr(97 + b)}" for b in y.tolist()]),
    "booleans": lambda y: y > 0,
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("labels", list(LABELS))
def test_every_format_gives_the_weights_of_arrays(kind, labels, tmp_path):
    if kind.startswith("svm") and labels in ("strings", "booleans"):
        labels = "integers"  # libsvm text has numbers
    for k in (2, 3, 26) if labels != "booleans" else (2,):
        X, y = examples(k)
        y = LABELS[labels](y)
        plain = onlinear.run(Perceptron(), X, y, fit_intercept=True)
        done = onlinear.run(Perceptron(), opened(kind, tmp_path, X, y), fit_intercept=True)
        assert done.state.multiclass == (k > 2)
        assert [str(one) for one in done.classes.tolist()] == [str(one) for one in plain.classes.tolist()]
        assert bits(done)[1:] == bits(plain)[1:]
        path = tmp_path / "model"
        done.save(path)
        again = onlinear.load(path)
        stream = opened(kind, tmp_path, X, y)
        assert np.concatenate([labels for labels, _ in again.predictions(stream)]).tolist() == done.predict(X).tolist()
        more = onlinear.run(Perceptron(), opened(kind, tmp_path, X, y, like=again), state=again)
        assert bits(more)[1:] == bits(onlinear.run(Perceptron(), X, y, state=plain))[1:]


# --- The look at the first examples ----------------------------------------------------------------


def labelled(y, size):
    y = np.array(y)
    return blocks(np.linspace(-1.0, 1.0, y.size)[:, None], y, size)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 12), st.integers(1, 31))
def test_the_classes_are_the_labels_of_the_first_examples(y, look, size):
    wanted = set(y[:look])
    if len(wanted) == 1:
        wanted |= set([b for b in y if b not in wanted][:1])
    strange = next((i for i, b in enumerate(y) if b not in wanted), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look_ahead, "LOOK", look)
        for data in (iter(labelled(y, size)), onlinear.open_stream(labelled(y, size))):
            if len(wanted) == 1:
                with pytest.raises(DataError, match="only one label"):
                    onlinear.run(Perceptron(), data)
            elif strange is not None:
                remedy = "declare all labels .*, or accept new ones"
                with pytest.raises(DataError, match=rf"row {strange}: label {y[strange]}; the labels are .*; {remedy}"):
                    onlinear.run(Perceptron(), data)
            else:
                assert onlinear.run(Perceptron(), data).classes.tolist() == sorted(wanted)


def test_it_is_4096_examples_long():
    for row, size in ((4095, 4096), (4095, 1000), (4095, 4097), (4096, 4096), (4096, 1000), (4096, 9000)):
        y = np.arange(5000) % 2
        y[row] = 7
        stream = onlinear.open_stream(labelled(y, size))
        if row < 4096:
            assert onlinear.run(Perceptron(), stream).classes.tolist() == [0, 1, 7]
        else:
            with pytest.raises(DataError, match=r"row 4096: label 7; the labels are 0 \(negative\) and 1"):
                onlinear.run(Perceptron(), stream)
            skipping = onlinear.open_stream(labelled(y, size), on_error="skip")
            assert onlinear.run(Perceptron(), skipping).rounds == 4999
            assert skipping.skipped == 1
        # In memory all labels can be seen; and declared ones need no look.
        assert onlinear.train(Perceptron(), *labelled(y, 5000)[0]).classes.tolist() == [0, 1, 7]
        declared = onlinear.open_stream(labelled(y, size), classes=[7, 1, 0])
        assert onlinear.run(Perceptron(), declared).classes.tolist() == [7, 1, 0]


def test_wide_examples_end_the_look(monkeypatch):
    monkeypatch.setattr(look_ahead, "_MOST_ENTRIES", 100)
    X, y = np.ones((40, 10)), np.arange(40) % 2
    for row, classes in ((9, [0, 1, 5]), (10, None)):
        y[:] = np.arange(40) % 2
        y[row] = 5
        for size in (1, 7, 40):
            if classes is None:
                with pytest.raises(DataError, match="row 10: label 5"):
                    onlinear.run(Perceptron(), blocks(X, y, size))
            else:
                assert onlinear.run(Perceptron(), blocks(X, y, size)).classes.tolist() == classes


def test_labels_that_look_like_numbers_to_predict_are_not_taken_for_classes():
    y = np.arange(3000.0) / 7
    for data in (iter(labelled(y, 100)), onlinear.open_stream(labelled(y, 100))):
        with pytest.raises(DataError, match=rf"row {MOST_FOUND}: more than 1,000 labels; are these classes"):
            onlinear.run(Perceptron(), data)
    assert onlinear.run(Perceptron(), *labelled(y, 3000)[0], classes=y).classes.size == 3000


def test_a_rule_for_two_classes_says_so():
    X, y = examples(3)
    with pytest.raises(DataError, match=r"the labels are 3: 0, 1, 2; Winnow .* declare the two to learn"):
        onlinear.run(Winnow(), onlinear.open_stream((X > 0).astype(float), y))


# --- New classes -----------------------------------------------------------------------------------

kinds = st.sampled_from(sorted(LABELS))
RULE = MarginPerceptron(0.25, normalized=True)
OPTIONS = {"fit_intercept": True, "new_classes": True}


def by_hand(X, y):
    """Run with new classes, row by row: where a label is new, the state is extended before."""
    state = onlinear.runs.state_before(RULE, y[:1], D, fit_intercept=True, multiclass=True)
    for i in range(len(y)):
        if y[i] not in state.classes:
            state = onlinear.runs.with_classes(state, np.unique(np.append(state.classes, y[i])))
        state = onlinear.run(RULE, X[i : i + 1], y[i : i + 1], state=state).state
    return onlinear.runs.Run(state)


@settings(max_examples=15)
@given(st.integers(1, 9), st.integers(0, 99), kinds, st.integers(1, 121), st.integers(0, 120))
def test_a_class_is_added_in_the_round_of_its_first_example(k, seed, kind, size, cut):
    X, y = examples(k, seed)
    y = LABELS[kind](y)
    wanted = bits(by_hand(X, y))
    assert bits(onlinear.run(RULE, X, y, **OPTIONS)) == wanted
    assert bits(onlinear.run(RULE, iter(blocks(X, y, size)), **OPTIONS)) == wanted
    for done in (
        onlinear.run(RULE, onlinear.open_stream(blocks(X, y, size)), **OPTIONS),
        onlinear.train(RULE, X, y, **OPTIONS),
        *onlinear.compare([RULE], blocks(X, y, size), **OPTIONS),
    ):
        assert bits(done) == wanted
    if 0 < cut < N:
        half = onlinear.run(RULE, X[:cut], y[:cut], **OPTIONS)
        assert bits(onlinear.run(RULE, X[cut:], y[cut:], state=half, new_classes=True)) == wanted


class CrashError(Exception):
    pass


@settings(max_examples=8)
@given(st.integers(2, 9), st.integers(0, 99), st.integers(1, 60), st.integers(1, 60), st.integers(0, 50))
def test_checkpoints_and_shuffling_do_not_change_it(tmp_path_factory, k, seed, size, other, window):
    X, y = examples(k, seed)
    options = {**OPTIONS, "passes": 2, "shuffle": window, "seed": seed}
    wanted = onlinear.train(RULE, blocks(X, y, size), **options)
    kept = tmp_path_factory.mktemp("kept") / "checkpoint"
    after = 0
    while True:
        after += 50

        def report(progress, limit=after):
            if progress.rounds >= limit:
                raise CrashError

        try:
            stream = blocks(X, y, other)
            done = onlinear.train(RULE, stream, checkpoint=kept, every=0.0, progress=report, **options)
            break
        except CrashError:
            continue
    assert bits(done) == bits(wanted)
    assert done.state.checksum == wanted.state.checksum


def test_a_checkpoint_knows_whether_new_classes_were_accepted(tmp_path):
    def crash(_):
        raise CrashError

    X, y = examples(3)
    kept = {"checkpoint": tmp_path / "checkpoint", "every": 0.0}
    for first in (True, False):
        with pytest.raises(CrashError):
            onlinear.train(RULE, blocks(X, y, 30), new_classes=first, passes=2, progress=later(crash, 60), **kept)
        made, asked = (True, None) if first else (None, True)
        with pytest.raises(ModelError, match=f"made with new_classes = {made}, not {asked}"):
            onlinear.train(RULE, blocks(X, y, 30), new_classes=not first, passes=2, **kept)
        kept["checkpoint"].unlink()


@pytest.mark.parametrize("rounds", [60, 130])
def test_a_checkpoint_with_new_classes_knows_its_labels(tmp_path, rounds):
    """Other labels in the same order of their first examples are other data, in the first pass and in the second."""

    def crash(_):
        raise CrashError

    X, y = examples(3)
    kept = {"checkpoint": tmp_path / "checkpoint", "every": 0.0, "new_classes": True, "passes": 2}
    with pytest.raises(CrashError):
        onlinear.train(RULE, blocks(X, y, 30), progress=later(crash, rounds), **kept)
    with pytest.raises(DataError, match=r"differ from those of .*checkpoint|the data have changed"):
        onlinear.train(RULE, blocks(X, (y + 1) % 3, 30), **kept)
    done = onlinear.train(RULE, blocks(X, y, 30), **kept)
    assert bits(done) == bits(onlinear.train(RULE, blocks(X, y, 30), new_classes=True, passes=2))


def later(report, rounds):
    return lambda progress: report(progress) if progress.rounds > rounds else None


def test_what_cannot_become_a_class():
    X, y = examples(3)
    two = onlinear.run(RULE, X, y > 0)
    with pytest.raises(ParameterError, match=r"two classes share one weight vector; .*new_classes=True"):
        onlinear.run(RULE, X, y, state=two, new_classes=True)
    with pytest.raises(ParameterError, match="Winnow takes binary inputs"):
        onlinear.run(Winnow(), X > 0, y, new_classes=True, classes=[0, 1])
    for odd, message in (
        ("a", "row 30: label 'a', after labels such as 0; labels must be of one type"),
        (np.nan, "NaN"),
    ):
        parts = [(X[:30], y[:30]), (X[30:31], np.array([odd]))]
        with pytest.raises(DataError, match=message):
            onlinear.run(RULE, parts, new_classes=True)


# --- The command line ------------------------------------------------------------------------------


def test_the_commands_take_any_number_of_classes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = examples(12)
    as_libsvm(tmp_path / "data.svm", X, y)
    start, *_, end = lines_of("train", "--rule", "perceptron", "data.svm", "-o", "model")
    plain = onlinear.run(Perceptron(), onlinear.open_stream("data.svm"))
    assert (start["labels"], end["mistakes_by_class"]) == (list(range(12)), list(plain.mistakes_by_class))
    assert "labels: 12: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …\n" in run("train", "data.svm").stderr
    run("convert", "data.svm", "-o", "data.arrow")
    run("train", "--rule", "perceptron", "data.arrow", "-o", "converted")
    assert onlinear.load("converted").weights.tolist() == plain.weights.tolist()
    [compared] = [one for one in lines_of("compare", "data.svm", "--rules", "perceptron") if one["event"] == "end"]
    assert compared["mistakes"] == plain.mistakes
    declared = ",".join(map(str, reversed(range(12))))
    assert lines_of("train", "data.svm", "--classes", declared)[0]["labels"] == list(reversed(range(12)))
    failed = run("train", "data.svm", "--classes", "0,1,2", code=1)
    assert "the labels are 3: 0, 1, 2; declare all labels" in failed.stderr
    assert "'1,2,1' has a label twice" in run("train", "data.svm", "--classes", "1,2,1", code=2).stderr
    added = onlinear.run(Perceptron(), onlinear.open_stream("data.svm"), new_classes=True)
    for command in (["train", "--rule", "perceptron"], ["compare", "--rules", "perceptron"]):
        *_, end = lines_of(*command, "data.svm", "--new-classes")
        assert (end["labels"], end["mistakes_by_class"]) == (list(range(12)), list(added.mistakes_by_class))


def test_predict_takes_any_word_for_the_label(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = examples(3)
    as_libsvm(tmp_path / "data.svm", X, y)
    as_csv(tmp_path / "data.csv", X, y)
    run("train", "data.svm", "-o", "lines")
    run("train", "data.csv", "-o", "table")
    wanted = run("predict", "lines", "data.svm").stdout
    assert wanted == run("predict", "table", "data.csv").stdout
    for words in (["?"] * N, ["cat", "1,2", "nan", "-", "5"] * (N // 5)):
        as_libsvm(tmp_path / "new.svm", X, words)
        assert run("predict", "lines", "new.svm").stdout == wanted
    as_libsvm(tmp_path / "new.svm", X, [""] * N)
    assert run("predict", "lines", "new.svm", "--format", "libsvm").stdout == wanted
    for words in (["?"] * N, ["cat", "?", "", "-", "5"] * (N // 5)):
        as_csv(tmp_path / "new.csv", X, words)
        assert run("predict", "table", "new.csv").stdout == wanted


def test_certificates_of_several_classes_from_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.vstack([np.eye(3), 2 * np.eye(3)])
    y = np.array([1, 2, 3, 1, 2, 3])
    lines = [f"{b} {b}:{x.max():g}" for x, b in zip(X, y, strict=True)]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    run("train", "data.svm", "-o", "model")
    done, stream = onlinear.load("model"), onlinear.open_stream("data.svm")
    certificate = onlinear.certify(done, stream)
    certificate.verify(stream)
    [end] = [one for one in lines_of("certify", "--model", "model", "data.svm") if one["event"] == "end"]
    assert end["certificate"] == certificate.record
    start, end = lines_of("certify", "data.svm")
    margin = onlinear.max_margin(ClassPairs(X, y).seen)
    assert (start["labels"], end["verdict"]) == ([1, 2, 3], {"verdict": "separable"})
    assert end["margin"]["lower"] == margin.lower
    (tmp_path / "data.svm").write_text("\n".join([*lines, "2 1:1"]) + "\n")
    shown = run("certify", "data.svm").stdout
    assert ", of class 1, against class 2" in shown
    assert "data.svm:7, of class 2, against class 1" in shown
    assert "--normalize" in run("certify", "data.svm", "--normalize", code=2).stderr
    run("train", "data.svm", "--new-classes", "-o", "model")
    failed = run("certify", "--model", "model", "data.svm", code=1)
    assert "no certificate if classes were added" in failed.stderr


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_new_labels_of_unsigned_integers_stay_what_they_are(size, tmp_path):
    X, y = np.eye(6), np.array([3, 2**53, 2**53 + 1, 7, 2**63 + 5, 2**53 + 1], dtype=np.uint64)
    blocks = [(X[i : i + size], y[i : i + size]) for i in range(0, 6, size)]
    run = onlinear.run(Perceptron(), blocks, new_classes=True)
    assert run.classes.dtype == np.uint64
    assert run.classes.tolist() == sorted(set(y.tolist()))
    run.save(tmp_path / "model")
    assert onlinear.load(tmp_path / "model").classes.tolist() == run.classes.tolist()


def test_what_is_found_in_arrays_is_not_declared():
    X, y = np.eye(4), np.array([-1, 1, -1, 1])
    first = onlinear.train(Perceptron(), X, y, classes=[1, -1])
    assert onlinear.train(Perceptron(), X, y, state=first).rounds == 8
    three = onlinear.run(Perceptron(), np.eye(3), [-1, 0, 1])
    assert onlinear.train(Perceptron(), X[:, :3], y, state=three).rounds == 7
    assert three.evaluate(onlinear.open_stream(X[:, :3], y)).examples == 4


@pytest.mark.parametrize("passes", [1, 2])
def test_labels_that_cannot_be_ordered_are_refused(passes):
    labels = np.array(["a", 1, "b", 2.5], dtype=object)
    with pytest.raises(DataError, match=r"the labels cannot be (compared|ordered)"):
        onlinear.train(Perceptron(), np.eye(4), labels, new_classes=True, passes=passes)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.sets(st.integers(0, 5), min_size=1))
def test_labels_are_cut_before_each_new_one(labels, known):
    y, seen = np.array(labels), set(known)
    parts = list(cut_at_new_labels(y, ManyClasses(np.array(sorted(known)))))
    assert [i for rows, _ in parts for i in range(rows.start, rows.stop)] == list(range(y.size))
    for k, (rows, new) in enumerate(parts):
        assert rows.start < rows.stop
        assert new.tolist() == [label for label in labels[rows.start : rows.start + 1] if label not in seen]
        assert k == 0 or new.size == 1
        seen |= {*new.tolist()}
        assert seen.issuperset(labels[rows])


def test_new_labels_must_not_be_merged_by_rounding():
    large = 2**53
    with pytest.raises(DataError, match="labels must be of one type"):
        onlinear.run(Perceptron(), [([[1.0]], [large + 1]), ([[2.0]], [0.5])], new_classes=True)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.int8, np.uint64, np.float32, ">i8", object])
@pytest.mark.parametrize("step", [1, 2])
def test_labels_become_signs_whatever_their_type(kind, step):
    y = np.array([3, 5, 5, 3, 4, 3, 0, 5], dtype=kind)[::step]
    negative, positive = y.dtype.type(3) if kind is not object else 3, y.dtype.type(5) if kind is not object else 5
    expected = [-1 if label == 3 else int(label == 5) for label in y.tolist()]
    signs, complete = signs_of(y, negative, positive)
    assert (signs.tolist(), signs.dtype, complete) == (expected, np.int8, False)
    known = y[np.array(expected) != 0]
    assert signs_of(known, negative, positive)[1]
    for labels, whole in ((y, False), (known, True)):  # the loop that is compiled for the usual types
        written = np.empty(labels.size, dtype=np.int8)
        if y.dtype.isnative and kind is not object:
            assert write_signs(np.ascontiguousarray(labels), negative, positive, written) == whole
            assert np.array_equal(written, signs_of(labels, negative, positive)[0])


@pytest.mark.parametrize("missing", [np.nan, np.inf])
def test_a_missing_label_has_no_sign(missing):
    signs, complete = signs_of(np.array([1.0, missing, 2.0]), np.float64(1.0), np.float64(2.0))
    assert (signs.tolist(), complete) == ([-1, 0, 1], False)


@pytest.mark.parametrize("late", [[], [7]])
def test_labels_are_found_beyond_the_first_ones(late):
    # A third label far behind the first two, which are found in the first part of the labels.
    y = np.array([1, -1] * 40_000 + late)
    classes, signs = found_codes(y)
    assert classes.labels.tolist() == [-1, 1, *late]
    assert (signs is None) == bool(late)
    assert late or np.array_equal(signs, y)
