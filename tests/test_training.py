"""Training over streams: passes, order, checkpoints, and several rules at once."""

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear.errors import DataError, ModelError, ParameterError
from onlinear.models import file as model_file
from onlinear.models.checkpoint import Checkpoint
from onlinear.rules import MarginPerceptron, Perceptron, RandomizedWeightedMajority, WeightedMajority, Winnow
from onlinear.rules.registry import ONLINE

RULES = [Perceptron(), MarginPerceptron(0.2, normalized=True), Winnow(), RandomizedWeightedMajority(0.2, seed=3)]


def data(rule, n=400, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)) * 1.0
    if rule.inputs == "advice":
        X = 2.0 * X - 1.0
    if rule.inputs == "real":
        X *= rng.standard_normal((n, d))
    return X, np.where(rng.random(n) < 0.9, np.sign(X[:, 0] - 0.01), 1.0).astype(int)


def write_libsvm(path, X, y):
    lines = (
        f"{label:+d} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)
        for row, label in zip(X.tolist(), y, strict=True)
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def blocks(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def saved(run, path):
    run.save(path)
    return path.read_bytes()


class CrashError(Exception):
    """Stands for the power going off."""


def crash_after(rounds):
    def report(progress):
        if progress.rounds >= rounds:
            raise CrashError

    return report


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("shuffle", [0, 70])
def test_blocks_do_not_show(rule, shuffle, tmp_path):
    X, y = data(rule)
    X = X if rule.inputs == "advice" else scipy.sparse.csr_array(X)
    files = []
    for size in (400, 33, 7):
        stream = onlinear.open_stream(blocks(X, y, size))
        run = onlinear.train(rule, stream, passes=3, shuffle=shuffle, seed=5, n_features=12)
        files.append(saved(run, tmp_path / "model"))
    assert files[0] == files[1] == files[2]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("shuffle", [0, 70])
def test_after_a_crash_the_same_call_ends_with_the_same_bits(rule, shuffle, tmp_path):
    X, y = data(rule)
    stream = blocks(X, y, 30)
    options = {"passes": 3, "shuffle": shuffle, "seed": 5, "n_features": 12}
    whole = saved(onlinear.train(rule, onlinear.open_stream(stream), **options), tmp_path / "whole")
    for rounds in (1, 31, 200, 399, 400, 401, 815, 1199, 1200):
        checkpoint, output = tmp_path / "checkpoint", tmp_path / f"{rounds}"
        options |= {"checkpoint": checkpoint, "every": 0.0}
        with pytest.raises(CrashError):
            onlinear.train(rule, onlinear.open_stream(stream), progress=crash_after(rounds), **options)
        reached = model_file.peek(checkpoint)["notes"] if checkpoint.exists() else {"passes": 0, "rows": 0}
        assert rounds - 101 <= 400 * reached["passes"] + reached["rows"] <= rounds
        with pytest.raises(CrashError):
            onlinear.train(rule, onlinear.open_stream(stream), progress=crash_after(min(rounds + 100, 1200)), **options)
        onlinear.train(rule, onlinear.open_stream(stream), output=output, **options)
        assert output.read_bytes() == whole
        assert not checkpoint.exists()


def test_what_a_checkpoint_is_not_good_for(tmp_path):
    X, y = data(Perceptron())
    checkpoint = tmp_path / "checkpoint"
    options = {"checkpoint": checkpoint, "every": 0.0}

    def train(rule=None, X=X, y=y, **more):
        stream = onlinear.open_stream(blocks(X, y, 30))
        return onlinear.train(rule or Perceptron(), stream, **(options | more))

    with pytest.raises(CrashError):
        train(progress=crash_after(200))
    kept = checkpoint.read_bytes()
    with pytest.raises(ModelError, match="made with passes = 1, not 2; remove that file to start again"):
        train(passes=2)
    with pytest.raises(ModelError, match="made with fit_intercept = False, not True"):
        train(fit_intercept=True)
    with pytest.raises(ModelError, match="made with rule = "):
        train(Perceptron(tie="positive"))
    with pytest.raises(DataError, match="the first 180 examples differ from those of"):
        train(X=np.where(np.arange(400)[:, None] == 150, 2.0, X))
    with pytest.raises(DataError, match="was made after 180 examples; there are only 100"):
        train(X=X[:100], y=y[:100])
    onlinear.run(Perceptron(), X, y).save(tmp_path / "model")
    with pytest.raises(ModelError, match="this is a model, not a checkpoint"):
        train(checkpoint=tmp_path / "model")
    with pytest.raises(ModelError, match="made with start = None, not"):
        train(start=np.ones(12))
    with pytest.raises(ModelError, match="made with n_features = None, not 12"):
        train(n_features=12)
    with pytest.raises(ParameterError, match="classes are 1 and -1, but the run has -1 and 1, in this order"):
        onlinear.train(Perceptron(), onlinear.open_stream(blocks(X, y, 30), classes=(1, -1)), **options)
    with pytest.raises(DataError, match="no examples"):
        train(X=X[:0], y=y[:0])
    # None of these has touched it.
    assert checkpoint.read_bytes() == kept
    with pytest.raises(ParameterError, match="every is -1; it must be a number of seconds, at least 0"):
        train(every=-1)


CHANGES = {
    "a value": lambda X, y: (np.where(np.arange(400)[:, None] == 150, 2.0, X), y),
    "a label": lambda X, y: (X, np.where(np.arange(400) == 390, -y, y)),
    "the order": lambda X, y: (X[::-1], y[::-1]),
    "shorter": lambda X, y: (X[:399], y[:399]),
    "longer": lambda X, y: (np.vstack([X, X[:1]]), np.append(y, y[0])),
}


@pytest.mark.parametrize("shuffle", [0, 70])
@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_checkpoint_is_not_resumed_with_other_data(tmp_path, monkeypatch, change, passes, shuffle):
    """Wherever training stopped after the first pass, or when only the result was left to save."""
    X, y = data(Perceptron())
    options = {"passes": passes, "shuffle": shuffle, "checkpoint": tmp_path / "checkpoint", "every": 0.0}
    whole = saved(
        onlinear.train(Perceptron(), onlinear.open_stream(X, y), passes=passes, shuffle=shuffle), tmp_path / "m"
    )

    def no_space(self, path):
        raise CrashError

    def stop(after):
        stream = onlinear.open_stream(blocks(X, y, 30))
        if after is None:
            with monkeypatch.context() as patch:
                patch.setattr(onlinear.runs.Run, "save", no_space)
                with pytest.raises(CrashError):
                    onlinear.train(Perceptron(), stream, output=tmp_path / "lost", **options)
        else:
            with pytest.raises(CrashError):
                onlinear.train(Perceptron(), stream, progress=crash_after(after), **options)

    for after in [None, *(400 * k + 200 for k in range(1, passes)), *(400 * k for k in range(2, passes))]:
        stop(after)
        with pytest.raises(
            DataError, match=r"the data have changed since the first pass|differ from those|there are only"
        ):
            onlinear.train(Perceptron(), onlinear.open_stream(blocks(*change(X, y), 30)), **options)
        (tmp_path / "checkpoint").unlink()
        stop(after)
        done = onlinear.train(Perceptron(), onlinear.open_stream(blocks(X, y, 7)), **options)
        assert saved(done, tmp_path / "m") == whole
        assert not (tmp_path / "checkpoint").exists()


@pytest.mark.parametrize(
    "learn", [onlinear.train, lambda rule, stream, **more: onlinear.compare([rule], stream, **more)]
)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_data_that_change_between_two_passes(tmp_path, learn, change):
    X, y = data(Perceptron())
    path = write_libsvm(tmp_path / "data.svm", X, y)

    def alter(progress):
        if progress.rounds == 400:
            write_libsvm(path, *change(X, y))

    with pytest.raises(DataError, match="the data have changed since the first pass"):
        learn(Perceptron(), onlinear.open_stream(path), passes=2, progress=alter)


def test_a_finished_checkpoint_that_does_not_know_its_data(tmp_path):
    X, y = data(Perceptron())
    run = onlinear.run(Perceptron(), onlinear.open_stream(X, y))
    options = {"checkpoint": tmp_path / "checkpoint", "every": 0.0}
    with pytest.raises(CrashError):
        onlinear.train(Perceptron(), onlinear.open_stream(blocks(X, y, 30)), progress=crash_after(200), **options)
    notes = model_file.peek(tmp_path / "checkpoint")["notes"]
    model_file.write(tmp_path / "checkpoint", run.state, notes=notes | {"passes": 1, "rows": 0})
    with pytest.raises(
        ModelError, match="it does not say which data it was made from; remove that file to start again"
    ):
        onlinear.train(Perceptron(), onlinear.open_stream(X, y), **options)


def test_going_on_equals_never_having_stopped(tmp_path):
    for rule in (Perceptron(), MarginPerceptron(0.2, normalized=True), Winnow(threshold=4.0)):
        X, y = data(rule)
        a, b = write_libsvm(tmp_path / "a.svm", X[:150], y[:150]), write_libsvm(tmp_path / "b.svm", X[150:], y[150:])
        both = onlinear.run(rule, onlinear.open_stream([a, b]))
        onlinear.run(rule, onlinear.open_stream(a)).save(tmp_path / "first")
        first = onlinear.load(tmp_path / "first")
        second = onlinear.train(rule, onlinear.open_stream(b, like=first), state=first)
        assert saved(second, tmp_path / "second") == saved(both, tmp_path / "both")
        assert both.state.checksum is not None


def test_a_crash_before_the_checkpoint_is_removed_does_nothing_twice(tmp_path, monkeypatch):
    X, y = data(Perceptron())
    model, checkpoint = tmp_path / "model", tmp_path / "checkpoint"
    onlinear.run(Perceptron(), onlinear.open_stream(X, y)).save(model)

    def go_on():
        begun = onlinear.load(model)
        stream = onlinear.open_stream(blocks(X, y, 30), like=begun)
        onlinear.train(Perceptron(), stream, state=begun, checkpoint=checkpoint, every=0.0, output=model)

    def crash(self):
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", crash)
        with pytest.raises(CrashError):
            go_on()
    ended = model.read_bytes()
    go_on()
    assert model.read_bytes() == ended
    assert onlinear.load(model).rounds == 800
    assert not checkpoint.exists()
    go_on()
    assert onlinear.load(model).rounds == 1200


def test_a_finished_checkpoint_of_another_beginning_is_refused(tmp_path, monkeypatch):
    X, y = data(Perceptron())
    one, other = (onlinear.run(Perceptron(), onlinear.open_stream(X[:n], y[:n])) for n in (100, 200))

    def go_on(begun):
        stream = onlinear.open_stream(blocks(X, y, 30), like=begun)
        onlinear.train(Perceptron(), stream, state=begun, checkpoint=tmp_path / "checkpoint", every=0.0)

    def crash(self):
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", crash)
        with pytest.raises(CrashError):
            go_on(one)
    with pytest.raises(ModelError, match="this checkpoint was made with begun from = "):
        go_on(other)


def test_going_on_with_nothing_is_an_error(tmp_path):
    X, y = data(Perceptron())
    begun = onlinear.run(Perceptron(), onlinear.open_stream(X, y))
    (tmp_path / "empty.svm").write_text("# nothing\n")
    for go_on in (onlinear.run, onlinear.train):
        with pytest.raises(DataError, match="no examples"):
            go_on(Perceptron(), onlinear.open_stream(tmp_path / "empty.svm", format="libsvm"), state=begun)


def test_blocks_whose_memory_is_used_again_can_be_shuffled():
    X, y = data(Perceptron(), n=64)

    def reused(size):
        block, labels = np.empty((size, 12)), np.empty(size, dtype=int)
        for first in range(0, 64, size):
            block[:], labels[:] = X[first : first + size], y[first : first + size]
            yield block, labels

    prints = {
        onlinear.train(Perceptron(), onlinear.open_stream(reused(size)), shuffle=32, n_features=12).state.checksum
        for size in (64, 8, 1)
    }
    assert prints == {onlinear.train(Perceptron(), onlinear.open_stream(X, y), shuffle=32).state.checksum}
    mixed = [(X[:1], y[:1]), (scipy.sparse.csr_array(X[1:]), y[1:])]
    with pytest.raises(DataError, match="from row 0 on, the blocks of one window are both sparse and dense"):
        onlinear.train(Perceptron(), onlinear.open_stream(mixed), shuffle=50)


def test_the_order_of_a_shuffle(tmp_path):
    path = write_libsvm(tmp_path / "data.svm", np.arange(1.0, 26.0)[:, None], np.tile([1, -1, 1, -1, 1], 5))
    seen = []

    def order(seed, window):
        from onlinear.streams.shuffle import shuffled

        chunks = list(shuffled(onlinear.open_stream(path).chunks(), window, seed, 0))
        places = [chunk.place(i) for chunk in chunks for i in range(chunk.n)]
        rows = [int(v) for chunk in chunks for v in chunk.X.toarray()[:, 0]]
        assert places == [f"{path}:{row}" for row in rows]
        assert [chunk.written(0).split(b":")[1] for chunk in chunks] == [
            f"{chunk.X[0, 0]}".encode() for chunk in chunks
        ]
        return rows

    for seed in range(3):
        rows = order(seed, 10)
        assert [sorted(rows[i : i + 10]) for i in (0, 10, 20)] == [list(range(i, min(i + 10, 26))) for i in (1, 11, 21)]
        seen.append(rows)
    assert seen[0] != seen[1] != seen[2]
    assert order(0, 1) == list(range(1, 26))


def test_every_place_of_a_window_is_equally_likely():
    from onlinear.streams.shuffle import _keys

    firsts = [int(np.argmin(_keys(seed, 0, 0, 5))) for seed in range(2000)]
    counts = np.bincount(firsts, minlength=5)
    # 400 each are expected; 5 standard deviations are 90.
    assert (np.abs(counts - 400) < 90).all()


def test_progress_is_told_at_doubling_counts():
    X, y = data(Perceptron())
    told = []
    run = onlinear.train(Perceptron(), onlinear.open_stream(blocks(X, y, 30)), passes=2, progress=told.append)
    marks = [one for one in told if one.mark]
    trace = onlinear.run(Perceptron(), [(X, y), (X, y)], trace=True).trace
    assert [one.rounds for one in marks] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    for one in told:
        assert one.mistakes == np.count_nonzero(trace.mistakes < one.rounds)
    for before, after in pairwise(marks):
        assert after.recent_rounds == after.rounds - before.rounds
        assert after.recent_mistakes == after.mistakes - before.mistakes
    assert told[-1].rounds == run.rounds == 800
    assert told[-1].passes == 1


def test_compare_reads_once_and_changes_nothing():
    X, y = data(Winnow())
    read = 0

    def once():
        nonlocal read
        for block in blocks(X, y, 50):
            read += 1
            yield block

    rules = [Perceptron(), Winnow(), MarginPerceptron(0.1, normalized=True), Perceptron(tie="positive")]
    together = onlinear.compare(rules, onlinear.open_stream(once()), fit_intercept=True, n_features=12)
    assert read == 8
    for rule, run in zip(rules, together, strict=True):
        alone = onlinear.run(rule, X, y, fit_intercept=rule.inputs == "real")
        assert run.mistakes == alone.mistakes
        assert run.weights.tobytes() == alone.weights.tobytes()
        assert run.intercept == alone.intercept
    with pytest.raises(ParameterError, match="no rules to compare"):
        onlinear.compare([], onlinear.open_stream(X, y))
    with pytest.raises(DataError, match="must be known in advance, and an iterator can be read only once"):
        onlinear.compare(rules, onlinear.open_stream(once()))


def test_train_and_compare_take_what_run_takes():
    X, y = data(Perceptron())
    names = np.array(["no", "yes"])[(y > 0).astype(int)]
    stream = onlinear.train(Perceptron(), onlinear.open_stream(X, names), passes=2)
    for given in ((X, names), (X.tolist(), names.tolist()), (scipy.sparse.csr_array(X), names)):
        assert onlinear.train(Perceptron(), *given, passes=2).weights.tobytes() == stream.weights.tobytes()
    assert onlinear.train(Perceptron(), list(blocks(X, names, 7)), passes=2).mistakes == stream.mistakes
    with pytest.raises(DataError, match="an iterator can be read only once, but 2 passes were requested"):
        onlinear.train(Perceptron(), iter(blocks(X, names, 7)), passes=2)
    [one] = onlinear.compare([Perceptron()], X, names, classes=("yes", "no"))
    assert one.classes.tolist() == ["yes", "no"]
    [one] = onlinear.compare([Perceptron()], blocks(X, names, 7))
    assert one.mistakes == onlinear.run(Perceptron(), X, names).mistakes
    for learn in (onlinear.train, lambda rule, *given, **more: onlinear.compare([rule], *given, **more)):
        for given in ((X,), (X.tolist(),), ("file",), (None,)):
            with pytest.raises(DataError, match=r"y is missing|pair \(X, y\)"):
                learn(Perceptron(), *given)
        with pytest.raises(ParameterError, match="classes= does not apply to a stream"):
            learn(Perceptron(), onlinear.open_stream(X, y), classes=(-1, 1))
        with pytest.warns(DeprecationWarning, match="stream= is deprecated"):
            learn(Perceptron(), stream=onlinear.open_stream(X, y))


def test_a_comparison_is_a_list_and_a_table():
    X, y = onlinear.datasets.disjunction(k=5, N=40, n=600, seed=0)
    rules = [Perceptron(), Winnow()]
    compared = onlinear.compare(rules, X[:400], y[:400])
    assert [type(run.rule) for run in compared] == [Perceptron, Winnow]
    assert compared[1].mistakes < compared[0].mistakes
    assert compared.ranking() == [1, 0]
    assert len(compared.seconds) == 2
    assert min(compared.seconds) > 0.0
    assert [line.split()[0] for line in repr(compared).splitlines()] == [
        "rule",
        "Winnow(beta=1.0,",
        "Perceptron(tie='mistake')",
        "baselines:",
    ]
    tested = compared.evaluate(X[400:], y[400:])
    assert compared.tests == ()
    assert list(tested) == list(compared)
    for run, test in zip(compared, tested.tests, strict=True):
        assert test.as_dict() == run.evaluate(X[400:], y[400:]).as_dict()
    order = tested.ranking()
    assert tested.tests[order[0]].accuracy >= tested.tests[order[1]].accuracy
    assert "test: 200 examples; always -1 would be right on" in repr(tested)
    assert "<table>" in tested._repr_html_()
    again = compared.evaluate(X, y)
    assert "no intervals: the model was trained on about 66% of these examples" in repr(again)


def test_a_comparison_of_several_classes():
    X, y = data(Perceptron())
    state = [
        onlinear.run(rule, X, np.arange(len(y)) % 3, classes=[0, 1, 2])
        for rule in (Perceptron(), MarginPerceptron(1.0, normalized=True))
    ]
    compared = onlinear.Comparison(state, [0.0, 0.0])
    assert "m+" not in repr(compared)
    assert compared.evaluate(X, np.arange(len(y)) % 3).tests[0].confusion.shape == (3, 3)


def test_all_rules_that_fit():
    X, y = onlinear.datasets.experts(N=5, n=100, seed=0)
    compared = onlinear.compare("all", X, y, seed=7, fit_intercept=True)
    real = [name for name, cls in ONLINE.items() if cls.inputs == "real" and cls is not MarginPerceptron]
    experts = ["FixedShare", "RandomizedWeightedMajority", "WeightedMajority"]
    names = ["Majority", *sorted([*real, *experts], key=[*ONLINE].index)]
    assert [type(run.rule).__name__ for run in compared] == names
    real.insert(0, "Majority")
    assert {run.rule.seed for run in compared if hasattr(run.rule, "seed")} == {7}
    assert sorted(compared.left_out) == ["MarginPerceptron", "Winnow"]
    X[-1, 2] = 0.5
    compared = onlinear.compare([WeightedMajority(eta=0.1), "all"], X[:-1], y[:-1])
    assert type(compared[0].rule).__name__ == "WeightedMajority"
    assert {type(run.rule).__name__ for run in compared[1:]} == {*real, *experts} - {"WeightedMajority"}
    with pytest.raises(DataError, match=r"row 99, column 2: value 0.5; advice must be"):
        onlinear.compare([WeightedMajority(eta=0.1), "all"], X, y)
    assert compared.left_out.keys() == {"MarginPerceptron", "Winnow"}
    late = onlinear.compare("all", X, y)
    assert [type(run.rule).__name__ for run in late] == real
    assert late[real.index("Perceptron")].mistakes == onlinear.run(Perceptron(), X, y).mistakes


def test_what_train_refuses():
    X, y = data(Perceptron())
    stream = onlinear.open_stream(X, y)
    with pytest.raises(ParameterError, match="passes is 0; it must be an integer, at least 1"):
        onlinear.train(Perceptron(), stream, passes=0)
    with pytest.raises(ParameterError, match="shuffle is -1"):
        onlinear.train(Perceptron(), stream, shuffle=-1)
    with pytest.raises(DataError, match="y is missing; without it X must be a stream"):
        onlinear.train(Perceptron(), X)
    with pytest.raises(DataError, match="an iterator can be read only once"):
        onlinear.train(Perceptron(), onlinear.open_stream(iter([(X, y)])), passes=2)
    with pytest.raises(DataError, match="no examples"):
        onlinear.train(Perceptron(), onlinear.open_stream([]), n_features=2)


def test_a_stream_that_shows_new_features_grows_the_state(tmp_path):
    # Every row shows one more; the weights are as if they had been there from the beginning.
    n = 200
    lines = [f"{(-1) ** i:+d} " + " ".join(f"{j}:{(i * j) % 7 + 1}" for j in range(1, i + 2, 3)) for i in range(n)]
    path = tmp_path / "data.svm"
    path.write_text("\n".join(lines))
    X = scipy.sparse.vstack([chunk.X for chunk in onlinear.open_stream(path).chunks()])
    narrow = [(scipy.sparse.csr_array(X[[i], : int(X[[i]].indices.max()) + 1]), [(-1) ** i]) for i in range(n)]
    for rule in (Perceptron(), MarginPerceptron(0.2, normalized=True), Winnow(threshold=1e9)):
        if rule.inputs == "binary":
            narrow = [((part != 0).astype(float), label) for part, label in narrow]
            X = (X != 0).astype(float)
        whole = onlinear.run(rule, X, [(-1) ** i for i in range(n)], n_features=X.shape[1])
        grown = onlinear.run(rule, narrow)
        assert grown.weights.tobytes() == whole.weights.tobytes()
        assert grown.mistakes == whole.mistakes


def test_training_leaves_the_stream_as_it_was(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("colour,x,label\nred,1,no\nblue,2,yes\ngreen,3,no\n")
    stream = onlinear.open_stream(path)

    def seen():
        return stream.classes, stream.n_features, stream.names

    before = seen()
    run = onlinear.train(Perceptron(), stream, passes=2)
    onlinear.run(Perceptron(), stream)
    onlinear.compare([Perceptron()], stream)
    onlinear.run(Perceptron(), stream, state=run)
    assert seen() == before
    assert onlinear.train(Perceptron(), stream, passes=2).weights.tobytes() == run.weights.tobytes()
    assert run.state.names == ("x", "colour=red", "colour=blue", "colour=green")


@pytest.mark.parametrize("argument", ["output", "checkpoint"])
def test_a_place_that_cannot_be_written_is_refused_before_training(tmp_path, argument):
    X, y = data(Perceptron())
    (tmp_path / "folder").mkdir()
    read = []

    def watched():
        for block in blocks(X, y, 30):
            read.append(block)
            yield block

    for place in (tmp_path / "folder", tmp_path / "none" / "model", Path(os.devnull)):
        with pytest.raises(OSError, match=place.name):
            onlinear.train(Perceptron(), onlinear.open_stream(watched()), **{argument: place})
    assert not read
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]
