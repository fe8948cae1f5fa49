"""Arbitrary bytes as libsvm text, a bounded time long: what does the reader make of them, against the slow one?

``python fuzz/libsvm.py lines 60`` or ``numbers 60``, in seconds. Three readers must agree on each line: the
compiled kernel, the same kernel as plain Python (it is this one whose branches guide the search), and the oracle
of the tests. An input on which they differ is written to ``build/fuzz``, and the exit code is not 0.
"""

import importlib.util
import io
import sys
from pathlib import Path

import atheris
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import libsvm_oracle  # noqa: E402
from onlinear.streams import files  # noqa: E402
from onlinear.streams.files import Piece  # noqa: E402
from onlinear.streams.formats.libsvm import LibsvmReader  # noqa: E402
from onlinear.streams.formats.text import decimals, libsvm_lines  # noqa: E402

SLACK = files._SLACK
ANYWHERE = 1 << 30
"""The column of a fault that has not been looked for."""
NUMBER_BYTES = b"0123456789.eE+-0"
SEEDS = {
    "lines": [
        b"+1 1:0.5 3:1e-3 # comment\n-1 qid:7 2:1 4:0.25\r\n\n# none\n0\n",
        b"1 1:123456789.123456789012345678\t2:.5 3:5. 7:-0\n2 3:nan\nx\n1,2 3:4\n1 5:1 5:1\n1 4294967297:1",
        b"1 1:1.797693134862315807938e308 2:1.797693134862315807938e308\n1:2 3:4\n1 0:1\n1 00000000001:1\n",
    ],
    "numbers": [b"0.123456", b"9007199254740993", b"1.797693134862315807938e308", b"2.4703282292062328e-324", b"1e23"],
}
DICTIONARY = [b"qid:", b"1:", b" 2:", b"e-308", b"e+308", b"nan", b"inf", b"\n1 1:", b"0000000000", b"9999999999999999"]


def instrumented_kernel():
    """Return second copies of the kernel's modules, uncompiled, as one that reports to the fuzzer where it has been.

    numba cannot compile what Atheris has instrumented; so the library keeps its own.
    """
    numbers, lines = _copy(decimals), _copy(libsvm_lines)
    for module in (numbers, lines):
        module.address = lambda array: array
        # Plain integers, as in a bytearray: the search needs many tries per second.
        module.WHOLE_TENS, module.TENS = decimals.WHOLE_TENS.tolist(), decimals.TENS.tolist()
        for name, function in list(vars(module).items()):
            if getattr(function, "__module__", None) == module.__name__:
                setattr(module, name, atheris.instrument_func(function))
    for name in ("decimal", "digits", "digits_of"):
        setattr(lines, name, getattr(numbers, name))
    return lines


def _copy(module):
    spec = importlib.util.spec_from_file_location(f"uncompiled_{module.__name__.rpartition('.')[2]}", module.__file__)
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


KERNEL = instrumented_kernel()


def plainly(text, reader):
    """Return what the uncompiled kernel makes of each line: examples, and columns of faults."""
    n, colons = text.count(b"\n"), text.count(b":")
    labels, starts, lines, indptr = [0.0] * n, [0] * n, [0] * n, [0] * (n + 1)
    indices, values = [0] * colons, [0.0] * colons
    faults, hard = np.zeros((n, 5), dtype=int), np.zeros((n + colons, 3), dtype=int)
    totals = [0] * 6
    padded = bytearray(text + bytes(SLACK))
    words = [0] * ((len(text) >> 6) + 2)
    KERNEL.mark_separators(padded, len(text), words)
    KERNEL.parse_lines(
        padded,
        len(text),
        words,
        reader.lowest,
        reader.max_features,
        reader.labelled,
        labels,
        starts,
        lines,
        indptr,
        indices,
        values,
        faults,
        hard,
        totals,
    )
    for place, begin, end in hard[: totals[3]].tolist():
        (values if place >= 0 else labels)[place if place >= 0 else -1 - place] = float(padded[begin:end])
    found = [None] * n
    for row in range(totals[0]):
        part = slice(indptr[row], indptr[row + 1])
        numbers = [labels[row], *values[part]]
        # The reader sets these aside once it knows them, and says where; here it is enough that it does.
        finite = all(map(np.isfinite, numbers))
        found[lines[row]] = (indices[part], bits(numbers)) if finite else ANYWHERE
    for _, line, start, _, at in faults[: totals[2]].tolist():
        found[line] = at - start + 1
    return found


def compiled_lines(pieces, reader, n):
    """Return what the library's reader makes of each line of some pieces."""
    found = [None] * n
    first = 0
    for piece in pieces:
        chunk, lines = reader._parse(piece)
        X = chunk.matrix
        for row, line in enumerate(lines.lines.tolist()):
            part = slice(X.indptr[row], X.indptr[row + 1])
            found[first + line] = (X.indices[part].tolist(), bits([chunk.y[row], *X.data[part]]))
        for fault in lines.faults.tolist():
            _, line, start, _, at = fault
            if found[first + line] is not None:
                raise AssertionError(f"line {first + line} is told of twice")
            found[first + line] = at - start + 1
            reader._fault(lines, fault)
        first += lines.lines_read
    return found


def wanted_lines(text, reader):
    lines = libsvm_oracle.read(text, reader.lowest, reader.max_features, labelled=reader.labelled)
    found = []
    for line in lines:
        if isinstance(line, libsvm_oracle.Example):
            found.append((list(line.indices), bits([line.label, *line.values])))
        else:
            found.append(line)
    return found


def bits(numbers):
    return [float(number).hex() for number in numbers]


def try_lines(data):
    if not data:
        return
    choice, text = data[0], data[1:]
    text += b"\n" * (not text.endswith(b"\n"))
    reader = LibsvmReader(["x"], choice & 1, (1 << 27, 1 << 31, 3, 1)[choice >> 1 & 3], not choice & 8)
    wanted = wanted_lines(text, reader)
    whole = compiled_lines([Piece("x", 0, bytearray(text + bytes(SLACK)), len(text))], reader, len(wanted))
    compare(text, "compiled", whole, wanted)
    files._PIECE = 1 + (choice >> 4)
    compare(
        text,
        "in pieces",
        compiled_lines(files._cut(io.BufferedReader(Trickle(text)), "x"), reader, len(wanted)),
        wanted,
    )
    compare(text, "uncompiled", plainly(text, reader), wanted)


def try_numbers(data):
    number = bytes(NUMBER_BYTES[byte % 16] for byte in data)
    reader = LibsvmReader(["x"], 1, 1 << 27)
    text = b"1 1:" + number + b"\n" + number + b" 1:1\n"
    wanted = wanted_lines(text, reader)
    compare(
        text, "compiled", compiled_lines([Piece("x", 0, bytearray(text + bytes(SLACK)), len(text))], reader, 2), wanted
    )
    compare(text, "uncompiled", plainly(text, reader), wanted)


def compare(text, how, found, wanted):
    for one, other in zip(found, wanted, strict=True):
        fault = isinstance(one, int) and isinstance(other, libsvm_oracle.Fault)
        if not (libsvm_oracle.same_fault(one, other) if fault else one == other):
            raise AssertionError(f"{how}, of {text!r}: {found}, not {wanted}")


class Trickle(io.RawIOBase):
    """Bytes as a file that gives out a few at a time, as pipes do."""

    def __init__(self, data):
        super().__init__()
        self._data = data

    def readable(self):
        return True

    def readinto(self, buffer):
        n = min(len(buffer), len(self._data), 5)
        buffer[:n], self._data = self._data[:n], self._data[n:]
        return n


def main():
    kind, seconds = sys.argv[1], sys.argv[2]
    finds = ROOT / "build" / "fuzz"
    seeds = finds / kind  # what the search finds worth keeping is added here
    seeds.mkdir(parents=True, exist_ok=True)
    for k, seed in enumerate(SEEDS[kind]):
        (seeds / f"seed{k}").write_bytes(bytes([0]) + seed if kind == "lines" else bytes(map(NUMBER_BYTES.index, seed)))
    words = finds / "words.dict"
    words.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in DICTIONARY))
    options = [f"-max_total_time={seconds}", "-max_len=120", "-timeout=20", "-print_final_stats=1", "-verbosity=0"]
    options += [f"-artifact_prefix={finds}/{kind}-", *([f"-dict={words}"] if kind == "lines" else [])]
    atheris.Setup([sys.argv[0], *options, str(seeds)], {"lines": try_lines, "numbers": try_numbers}[kind])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
