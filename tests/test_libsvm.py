"""libsvm files: compressed or not, whole or damaged; a bad line is an error with its place, and nothing is learned."""

import bz2
import contextlib
import gzip
import lzma
import os
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

import onlinear
from onlinear.errors import DataError, OnlinearError
from onlinear.rules import Perceptron
from onlinear.streams import files

TEXT = b"+1 1:0.5 3:1\n-1 2:1 3:0.25\n"
MANY = b"".join(b"%d 1:%d 2:0.5 %d:1.25\n" % (k % 2 * 2 - 1, k % 7, 3 + k % 50) for k in range(30_000))

# Does not compress to nothing.
NOISE = b"".join(b"%d 1:%.6f\n" % (k % 2, x) for k, x in enumerate(np.random.default_rng(0).random(150_000).tolist()))


def written(folder, text, name="data.svm"):
    path = folder / name
    path.write_bytes(text)
    return path


def contents(stream):
    """Return the rows that a stream gives, as (label, columns, values)."""
    rows = []
    for X, y in stream:
        for i in range(X.shape[0]):
            part = slice(X.indptr[i], X.indptr[i + 1])
            rows.append((y[i].item(), X.indices[part].tolist(), X.data[part].tolist()))
    return rows


def bits(run):
    return run.weights.tobytes(), run.rounds, run.mistakes_positive, run.mistakes_negative, run.updates


def read_until_error(stream):
    """Return the rows before an error, and what it says."""
    rows, blocks = [], iter(stream)
    while True:
        try:
            block = next(blocks)
        except DataError as error:
            return rows, str(error)
        except StopIteration:
            pytest.fail(f"no error in {len(rows)} rows")
        rows += contents([block])


@pytest.fixture
def no_threads_left():
    """Nothing that keeps a process from ending may outlast its reader."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 10
    while left := [one for one in threading.enumerate() if one not in before]:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


# --- What is in a file ----------------------------------------------------------------------------


def test_rows_and_labels(tmp_path):
    stream = onlinear.open_stream(written(tmp_path, TEXT))
    assert contents(stream) == [(1, [0, 2], [0.5, 1.0]), (-1, [1, 2], [1.0, 0.25])]
    assert contents(stream) == contents(onlinear.open_stream(tmp_path / "data.svm"))  # again from the beginning
    assert stream.classes.tolist() == [-1, 1]


def test_labels_are_integers_where_all_are_whole(tmp_path):
    run = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, b"+1.0 1:1\n-1 2:1\n1e0 3:1\n")))
    assert run.classes.tolist() == [-1, 1]
    assert run.classes.dtype.kind == "i"
    halves = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, b"0.5 1:1\n1 2:1\n")))
    assert halves.classes.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(TEXT.rstrip(), id="no end of the last line"),
        pytest.param(b"# a comment\n\n  \t\n" + TEXT.replace(b"\n", b" # 4:1 qid:3\n") + b"#", id="comments"),
        pytest.param(TEXT.replace(b"3:1\n", b"3:1#4:1\n"), id="a comment right after a number"),
        pytest.param(TEXT.replace(b" ", b" \t  "), id="white space"),
        pytest.param(b" " + TEXT, id="white space first"),
        pytest.param(TEXT.replace(b"1 ", b"1 qid:7 ", 2), id="query ids"),
    ],
)
def test_other_ways_to_write_it(tmp_path, text):
    plain = contents(onlinear.open_stream(written(tmp_path, TEXT)))
    assert contents(onlinear.open_stream(written(tmp_path, text, "other.svm"))) == plain


def test_an_example_may_have_no_features(tmp_path):
    run = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, b"1\n-1\n1\n")))
    assert (run.rounds, run.mistakes) == (3, 3)
    rows = contents(onlinear.open_stream(written(tmp_path, b"1\n-1 2:1\n1 # none\n")))
    assert rows == [(1, [], []), (-1, [1], [1.0]), (1, [], [])]


def test_zero_based(tmp_path):
    path = written(tmp_path, b"1 0:1 2:3\n-1 1:1\n")
    assert contents(onlinear.open_stream(path, zero_based=True)) == [(1, [0, 2], [1.0, 3.0]), (-1, [1], [1.0])]


def test_new_features_may_appear_late(tmp_path):
    run = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, MANY + b"1 1000:1\n")))
    assert run.state.n_features == 1000


def test_without_labels(tmp_path):
    stream = onlinear.open_stream(written(tmp_path, b"1:1 2:3\n5 2:1\n\n"), labelled=False)
    rows = [row for chunk in stream.unlabelled() for row in contents([(chunk.X, chunk.y)])]
    assert [row[1:] for row in rows] == [([0, 1], [1.0, 3.0]), ([1], [1.0])]


# --- Files ----------------------------------------------------------------------------------------


def zstd(text):
    return pa.Codec("zstd").compress(text, asbytes=True)


COMPRESSED = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


@pytest.mark.parametrize("how", COMPRESSED)
@pytest.mark.parametrize("name", ["data.svm", "data.svm.gz", "data"])
def test_compressed_files_are_known_by_their_content(tmp_path, how, name):
    path = written(tmp_path, COMPRESSED[how](MANY), name)
    plain = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, MANY, "plain.svm")))
    assert bits(onlinear.run(Perceptron(), onlinear.open_stream(path))) == bits(plain)


@pytest.mark.parametrize("how", ["gzip", "bz2", "xz"])
def test_several_members_are_one_file(tmp_path, how):
    half = len(MANY) // 2
    path = written(tmp_path, COMPRESSED[how](MANY[:half]) + COMPRESSED[how](MANY[half:]))
    assert sum(len(y) for _, y in onlinear.open_stream(path)) == 30_000


# Without "middle" for zstd: Arrow writes it without checksums.
@pytest.mark.parametrize(
    ("how", "harm"),
    [(how, harm) for how in COMPRESSED for harm in ("first byte", "magic", "cut off", "junk")]
    + [(how, "middle") for how in COMPRESSED if how != "zstd"],
)
def test_damage_in_a_later_member_is_an_error(tmp_path, how, harm, piped):
    """The first member is whole; what follows it is not, and must not pass for the end of the file."""
    first, second = COMPRESSED[how](NOISE[:1500]), bytearray(COMPRESSED[how](NOISE[1500:60_000]))
    if harm == "first byte":
        second[0] ^= 0x01
    elif harm == "magic":
        second[:4] = bytes(byte ^ 0xA5 for byte in second[:4])
    elif harm == "middle":
        middle = len(second) // 2
        second[middle : middle + 8] = bytes(byte ^ 0xA5 for byte in second[middle : middle + 8])
    elif harm == "cut off":
        del second[-len(second) // 3 :]
    else:
        second = bytearray(b"junk")
    rows, message = read_until_error(piped(tmp_path, first + bytes(second)))
    assert f":{len(rows) + 1}:" in message
    if (how, harm) != ("gzip", "middle"):  # whose checksum comes last: damaged lines are met before it
        lines = NOISE.split(b"\n")
        assert rows == [(int(line[:1]), [0], [float(line[4:])]) for line in lines[: len(rows)]]


@pytest.fixture(params=["file", "pipe"])
def piped(request):
    """Write bytes, and open them as a stream: a file, or a named pipe that another thread writes to."""

    def opened(folder, content):
        if request.param == "file":
            return onlinear.open_stream(written(folder, content), format="libsvm")
        pipe = folder / "pipe"
        os.mkfifo(pipe)

        def write():
            with contextlib.suppress(BrokenPipeError):  # the reader stops at the damage
                pipe.write_bytes(content)

        threading.Thread(target=write).start()
        return onlinear.open_stream(pipe, format="libsvm")

    return opened


@pytest.mark.parametrize("how", ["gzip", "bz2", "xz"])
@pytest.mark.parametrize("zeros", [4, 1 << 17])
def test_zeros_may_follow_a_member(tmp_path, how, zeros):
    half = len(MANY) // 2
    parts = [COMPRESSED[how](MANY[:half]), COMPRESSED[how](MANY[half:])]
    path = written(tmp_path, b"".join(part + bytes(zeros) for part in parts))
    assert sum(len(y) for _, y in onlinear.open_stream(path)) == 30_000


@pytest.mark.parametrize("how", COMPRESSED)
def test_a_file_that_was_cut_off(tmp_path, how, no_threads_left):
    whole = COMPRESSED[how](NOISE)
    path = written(tmp_path, whole[: len(whole) // 2])
    rows, message = read_until_error(onlinear.open_stream(path))
    lines = NOISE.split(b"\n")
    # Whatever came is right, and the place is the line after it.
    assert rows == [(int(line[:1]), [0], [float(line[4:])]) for line in lines[: len(rows)]]
    assert message.startswith(f"{path}:{len(rows) + 1}: ")
    if how in {"gzip", "xz"}:  # the other two give out whole blocks only
        assert len(rows) > 20_000


@pytest.mark.parametrize("how", COMPRESSED)
@pytest.mark.parametrize("where", [0.01, 0.5, 0.99])
def test_a_damaged_file_is_an_error_and_not_a_crash(tmp_path, how, where):
    data = bytearray(COMPRESSED[how](NOISE))
    for k in range(8):
        data[int(len(data) * where) + k] ^= 0xA5
    path = written(tmp_path, bytes(data))
    with pytest.raises(DataError) as caught:
        contents(onlinear.open_stream(path))
    assert str(path) in str(caught.value)


def test_no_file_a_vanished_one_and_an_empty_one(tmp_path):
    with pytest.raises(DataError, match="the file does not exist"):
        onlinear.open_stream(tmp_path / "none.svm")
    path = written(tmp_path, TEXT)
    stream = onlinear.open_stream(path)
    path.unlink()
    with pytest.raises((DataError, OSError), match=r"data\.svm"):
        list(stream)
    for text in (b"", b"\n\n# nothing\n"):
        with pytest.raises(DataError):
            onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, text)))
    with pytest.raises(DataError, match="no files"):
        onlinear.open_stream(make_folder(tmp_path / "folder"))


def make_folder(path):
    path.mkdir()
    return path


def test_a_file_that_vanishes_on_the_way(tmp_path):
    paths = [written(tmp_path, MANY, "a.svm"), written(tmp_path, TEXT, "b.svm")]
    stream = onlinear.open_stream(paths)
    paths[1].unlink()
    rows, message = read_until_error(stream)
    assert len(rows) == 30_000
    assert "b.svm" in message


@pytest.mark.parametrize("seed", range(4))
def test_binary_junk(tmp_path, seed, no_threads_left):
    junk = np.random.default_rng(seed).bytes(300_000)
    path = written(tmp_path, junk)
    with pytest.raises(DataError, match=r"data\.svm:1:1: "):
        list(onlinear.open_stream(path, format="libsvm"))
    stream = onlinear.open_stream(path, format="libsvm", on_error="skip", classes=(0, 1))
    assert contents(stream) == []
    # An empty line is nothing at all, and so is one that is a comment.
    assert stream.skipped == sum(
        bool(line.strip(b" \t\r")) and line.lstrip(b" \t\r")[:1] != b"#" for line in junk.split(b"\n")
    )


def test_folders_and_lists(tmp_path):
    inside = make_folder(tmp_path / "folder")
    make_folder(inside / "sub")
    for name, label in (("b.svm", 2), ("a.svm", 1), ("sub/c.svm", 1), (".hidden", 9), ("_SUCCESS", 9)):
        written(inside, b"%d 1:%d\n" % (label, ord(name[0])), name)
    assert [row[2] for row in contents(onlinear.open_stream(inside))] == [[97.0], [98.0], [115.0]]
    both = [inside / "b.svm", inside / "a.svm"]
    assert [row[2] for row in contents(onlinear.open_stream(both))] == [[98.0], [97.0]]


def test_lines_are_counted_in_each_file(tmp_path):
    paths = [written(tmp_path, TEXT + b"\n" + TEXT.rstrip(), "a.svm"), written(tmp_path, TEXT + b"1 x\n", "b.svm")]
    rows, message = read_until_error(onlinear.open_stream(paths))
    assert len(rows) == 6  # a file's last line is whole where the next file begins
    assert message.startswith(f"{paths[1]}:3:3: ")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd])
def test_standard_input(compress):
    script = "import onlinear; print(onlinear.run(onlinear.rules.Perceptron(), onlinear.open_stream('-')).rounds)"
    done = subprocess.run([sys.executable, "-c", script], input=compress(MANY), capture_output=True, check=True)
    assert done.stdout.strip() == b"30000"


@pytest.mark.parametrize("kind", ["libsvm", None])
def test_a_pipe_that_has_a_name(kind):
    # What can be read only once must not be opened twice: what a first look takes is lost to the second.
    script = f"""
import onlinear
stream = onlinear.open_stream("/dev/stdin", format={kind!r})
try:
    print(onlinear.run(onlinear.rules.Perceptron(), stream).rounds)
except onlinear.errors.DataError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], input=MANY, capture_output=True, check=True, timeout=60)
    # All of it, or an error that says that it cannot be done; but not a part.
    assert done.stdout.strip() == b"30000" or b"only once" in done.stdout


def test_an_error_on_standard_input_and_a_second_reading():
    script = """
import onlinear
stream = onlinear.open_stream("-", format="libsvm")
for _ in range(2):
    try:
        list(stream)
    except onlinear.errors.DataError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], input=TEXT + b"1 0:1", capture_output=True, check=True)
    first, second = done.stdout.decode().splitlines()
    assert first.startswith("<stdin>:3:3: index 0")
    assert second == "the standard input can be read only once"


# --- Lines of which no example can be made --------------------------------------------------------

BAD = {
    "index 0": (b"1 0:1", 3, "index 0; libsvm indices start at 1"),
    "negative index": (b"1 -1:1", 3, "'-1:1' is not index:value"),
    "twice": (b"1 4:1 4:1", 7, "index 4 is not larger than the one before"),
    "unsorted": (b"1 4:1 3:1", 7, "index 3 is not larger than the one before"),
    "beyond max_features": (b"1 101:1", 3, "index 101;"),
    "beyond 31 bits": (b"1 2147483649:1", 3, "index 2147483649;"),
    "beyond 32 bits": (b"1 4294967297:1", 3, "index 4294967297;"),
    "beyond 64 bits": (b"1 18446744073709551617:1", 3, "index 18446744073709551617;"),
    "many digits": (b"1 " + b"1" * 10_000 + b":1", 3, "index 1111111111"),
    "NaN": (b"1 1:nan", 5, "value 'nan' is not a finite number"),
    "infinity": (b"1 1:-inf", 5, "value '-inf' is not a finite number"),
    "too large": (b"1 2:1 3:1e999", 9, "value '1e999' is not a finite number"),
    "too large by a hair": (
        b"1 3:1.797693134862315807938e308",
        5,
        "value '1.797693134862315807938e308' is not a finite",
    ),
    "no value": (b"1 3: 4:1", 5, "value '' is not a finite number"),
    "two points": (b"1 3:1.2.3", 5, "value '1.2.3' is not a finite number"),
    "underscore": (b"1 3:1_0", 5, "value '1_0' is not a finite number"),
    "hexadecimal": (b"1 3:0x10", 5, "value '0x10' is not a finite number"),
    "no index": (b"1 :1", 3, "':1' is not index:value"),
    "no colon": (b"1 3", 3, "'3' is not index:value"),
    "a word": (b"1 3:1 word", 7, "'word' is not index:value"),
    "a word like a query id": (b"1 quux 3:1", 3, "'quux' is not index:value"),
    "a query id later": (b"1 3:1 qid:3", 7, "'qid:3' is not index:value"),
    "a word for a label": (b"spam 1:1", 1, "label 'spam' is not a finite number"),
    "NaN for a label": (b"nan 1:1", 1, "label 'nan' is not a finite number"),
    "infinity for a label": (b"1e999 1:1", 1, "label '1e999' is not a finite number"),
    "no label": (b"\t1:1 2:1", 2, "'1:1' where the label should be"),
    "several labels": (b"1,-1 1:1", 1, "label '1,-1'; an example has only one label"),
    "zero byte": (b"1 1:1\x00", 5, "is not a finite number"),
    "form feed": (b"1 1:1\x0c2:1", 5, "is not a finite number"),
    "a byte order mark": (b"\xef\xbb\xbf1 1:1", 1, "is not a finite number"),
}


@pytest.mark.parametrize("case", BAD)
def test_the_place_of_a_bad_line(tmp_path, case, no_threads_left):
    line, column, reason = BAD[case]
    path = written(tmp_path, TEXT + b"\n" + line + b"\n" + TEXT)
    rows, message = read_until_error(onlinear.open_stream(path, max_features=100))
    assert len(rows) == 2
    assert message.startswith(f"{path}:4:{column}: ")
    assert reason in message
    assert len(message) < 300


@pytest.mark.parametrize("case", BAD)
def test_bad_lines_can_be_skipped_and_kept(tmp_path, case):
    line, column, _ = BAD[case]
    path = written(tmp_path, TEXT + line + b"\r\n" + TEXT + line)
    aside = tmp_path / "aside.svm"
    stream = onlinear.open_stream(path, max_features=100, on_error="skip", quarantine=aside)
    plain = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, TEXT + TEXT, "plain.svm")))
    assert bits(onlinear.run(Perceptron(), stream)) == bits(plain)
    assert stream.skipped == 2
    kept = aside.read_bytes().split(b"\n")
    assert kept[0].startswith(f"# {path}:3:{column}: ".encode())
    assert kept[2].startswith(f"# {path}:6:{column}: ".encode())
    assert [kept[1], *kept[3:]] == [line + b"\r", line, b""]
    list(stream)  # a second reading counts anew
    assert stream.skipped == 2
    assert aside.read_bytes().split(b"\n") == kept


def test_a_large_index_allocates_nothing(tmp_path):
    path = written(tmp_path, b"-1 1:1\n1 2000000000:1\n")
    list(onlinear.open_stream(written(tmp_path, TEXT, "warm.svm")))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"data\.svm:2:3: index 2000000000"):
            onlinear.run(Perceptron(), onlinear.open_stream(path, max_features=2**27))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * 2**20


def test_the_longest_index(tmp_path):
    path = written(tmp_path, b"1 1:1\n-1 2147483648:1\n")
    assert contents(onlinear.open_stream(path, max_features=2**31))[1] == (-1, [2**31 - 1], [1.0])
    path = written(tmp_path, b"1 1:1\n-1 2147483649:1\n")
    with pytest.raises(DataError, match=r":2:4: index 2147483649"):
        list(onlinear.open_stream(path, max_features=2**31))


def test_errors_come_in_the_order_of_the_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PIECE", 64)
    good = b"1 1:1\n-1 1:1\n" * 20
    bad = b"1 x\n3 1:1\n1 0:1\n"
    path = written(tmp_path, good + bad + good + bad)
    rows, message = read_until_error(onlinear.open_stream(path))
    assert len(rows) == 40
    assert message.startswith(f"{path}:41:3: ")
    aside = tmp_path / "aside"
    stream = onlinear.open_stream(path, classes=(-1, 1), on_error="skip", quarantine=aside)
    assert len(contents(stream)) == 80
    assert stream.skipped == 6
    kept = [line for line in aside.read_bytes().split(b"\n") if line and not line.startswith(b"#")]
    assert sorted(kept) == sorted(bad.split(b"\n")[:3] * 2)


# --- Lines that are too long ----------------------------------------------------------------------


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_line_of_40_megabytes(tmp_path, compress):
    long = b"1 1:" + b"1" * 40_000_000
    path = written(tmp_path, compress(TEXT + long + b"\n" + TEXT))
    del long
    tracemalloc.start()
    try:
        rows, message = read_until_error(onlinear.open_stream(path))
        stream = onlinear.open_stream(path, on_error="skip", quarantine=tmp_path / "aside")
        assert len(contents(stream)) == 4
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(rows) == 2
    assert message.startswith(f"{path}:3:1: ")
    assert stream.skipped == 1
    assert peak < 200 * 2**20
    assert (tmp_path / "aside").stat().st_size < 1000


def test_a_line_below_the_limit(tmp_path):
    text = b"1 " + b" ".join(b"%d:1" % k for k in range(1, 800_000)) + b"\n-1 1:1\n"
    assert len(text) > 3 * files._PIECE
    rows = contents(onlinear.open_stream(written(tmp_path, text)))
    assert [len(row[1]) for row in rows] == [799_999, 1]


def test_cut_off_in_a_line_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PIECE", 1 << 10)
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 12)
    noise = np.random.default_rng(0).integers(0, 10, 100_000, dtype=np.uint8) + ord("0")
    whole = gzip.compress(TEXT + b"1 1:" + noise.tobytes() + b"\n" + TEXT)
    path = written(tmp_path, whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"data\.svm"):
        list(onlinear.open_stream(path))
    with pytest.raises(DataError, match=r"data\.svm"):
        list(onlinear.open_stream(path, on_error="skip"))


# --- Labels ---------------------------------------------------------------------------------------


def test_a_third_label(tmp_path):
    path = written(tmp_path, MANY + b"3 1:1\n" + MANY)
    stream = onlinear.open_stream(path)
    plain = onlinear.open_stream(written(tmp_path, MANY, "plain.svm"))
    rows, message = read_until_error(stream)
    remedy = "declare all labels (classes), or accept new ones (new_classes=True)"
    assert message == f"{path}:30001: label 3; the labels are -1 (negative) and 1 (positive); {remedy}"
    # All before it are there, in order, and nothing of it.
    assert rows == contents(plain)


def test_a_third_label_can_be_skipped(tmp_path):
    path = written(tmp_path, TEXT + b"3 1:1 # why\n" + TEXT)
    stream = onlinear.open_stream(path, classes=(-1, 1), on_error="skip", quarantine=tmp_path / "aside")
    assert onlinear.run(Perceptron(), stream).rounds == 4
    note, line = (tmp_path / "aside").read_text().splitlines()
    assert note.startswith(f"# {path}:3: label 3; the labels are -1 (negative) and 1 (positive); ")
    assert line == "3 1:1 # why"


def test_what_was_learned_before_an_error(tmp_path):
    # `train` keeps nothing of a run that failed; but what it was given until then must be what stood before.
    path = written(tmp_path, TEXT * 500 + b"9 1:1\n" + TEXT)
    seen = []
    with pytest.raises(DataError, match=r"data\.svm:1001: label 9"):
        onlinear.train(
            Perceptron(),
            onlinear.open_stream(path, classes=(-1, 1)),
            progress=lambda p: seen.append((p.rounds, p.mistakes)),
        )
    plain = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, TEXT * 500, "plain.svm")))
    assert seen[-1] == (1000, plain.mistakes)


@pytest.mark.parametrize("classes", [(1, -1), ("1", "-1"), (1.0, -1.0)])
def test_declared_classes(tmp_path, classes):
    path = written(tmp_path, TEXT)
    run = onlinear.run(Perceptron(), onlinear.open_stream(path, classes=classes))
    assert run.classes.tolist() == [1, -1]
    usual = onlinear.run(Perceptron(), onlinear.open_stream(path))
    assert (run.weights == -usual.weights).all()


def test_one_label_only(tmp_path):
    path = written(tmp_path, b"1 1:1\n1 2:1\n")
    with pytest.raises(DataError, match="only one label"):
        onlinear.run(Perceptron(), onlinear.open_stream(path))
    run = onlinear.run(Perceptron(), onlinear.open_stream(path, classes=(-1, 1)))
    assert (run.rounds, run.mistakes) == (2, 2)


def test_the_second_label_may_come_late(tmp_path):
    text = b"1 1:1 2:0.5\n" * 400_000 + b"-1 1:1\n"
    run = onlinear.run(Perceptron(), onlinear.open_stream(written(tmp_path, text)))
    assert (run.rounds, run.classes.tolist()) == (400_001, [-1, 1])


# --- Threads --------------------------------------------------------------------------------------


def test_threads_end_when_the_reader_stops_early(tmp_path, no_threads_left):
    path = written(tmp_path, MANY * 20)
    blocks = iter(onlinear.open_stream(path))
    next(blocks)
    blocks.close()


def test_threads_end_when_nobody_is_left_to_read(tmp_path, no_threads_left):
    blocks = iter(onlinear.open_stream(written(tmp_path, MANY * 20)))
    next(blocks)
    del blocks


@pytest.mark.parametrize("more", [b"", b"1 x\n"], ids=["enough was read", "a bad line"])
def test_a_process_ends_although_its_pipe_does_not(more):
    script = """
import onlinear
blocks = iter(onlinear.open_stream("-", format="libsvm", classes=(-1, 1)))
try:
    next(blocks)
except onlinear.errors.DataError:
    pass
print("done", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            with contextlib.suppress(BrokenPipeError):  # it may have ended before it was given all
                process.stdin.write(more + MANY * 8)
            process.stdin.flush()
            assert process.stdout.readline() == b"done\n"
            assert process.wait(timeout=60) == 0  # the pipe is still open
        finally:
            process.kill()


def test_errors_are_of_one_family(tmp_path):
    with pytest.raises(OnlinearError):
        list(onlinear.open_stream(written(tmp_path, b"1 0:1\n")))
