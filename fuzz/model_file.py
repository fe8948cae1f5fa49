"""Damaged and forged model files, a bounded time long: each is a typed error, or a model.

``python fuzz/model_file.py 60``, in seconds. A file that was only damaged must be refused, or be the model that it
was; one whose checksum was made to fit again may be another model, which then can be saved and loaded like any.
What does otherwise is written to ``build/fuzz``, and the exit code is not 0.
"""

import contextlib
import hashlib
import re
import sys
import tempfile
import types
from pathlib import Path

import atheris
import numpy as np

import onlinear
from onlinear.errors import OnlinearError
from onlinear.models import file as model_file
from onlinear.models import rule as model_rule
from onlinear.models import tensors as tensor_file
from onlinear.rules import MarginPerceptron, Perceptron, RandomizedWeightedMajority, Winnow
from onlinear.runs import saved

ROOT = Path(__file__).resolve().parents[1]
DIGEST = re.compile(rb'\\"sha256\\":\\"([0-9a-f]{64})\\"')
SCRATCH = tempfile.NamedTemporaryFile(prefix="onlinear-fuzz-")  # noqa: SIM115  # for as long as the process lasts
PATH = Path(SCRATCH.name).with_suffix(".safetensors")


def models():
    """Return small model files of several kinds."""
    X, y = onlinear.datasets.separable(margin=0.1, n=40, d=3, seed=0)
    runs = [
        onlinear.run(Perceptron(), X, y),
        onlinear.run(
            MarginPerceptron(0.1, normalized=True),
            X,
            np.where(y > 0, "yes", "no"),
            fit_intercept=True,
            start=np.ones(3),
        ),
        onlinear.run(Winnow(), (X > 0) * 1.0, y),
        onlinear.run(RandomizedWeightedMajority("anytime"), np.where(X > 0, 1.0, -1.0), y > 0),
    ]
    return [bytes_of(run) for run in runs]


def bytes_of(run):
    run.save(PATH)
    return PATH.read_bytes()


def loaded(data):
    """Return the model in these bytes, or None where they are refused as they should be."""
    PATH.write_bytes(data)
    with contextlib.suppress(OnlinearError, OSError):
        return saved.load(PATH)
    return None


def forged(data):
    """Return a file with the length of its header, where that can be guessed, and its checksum set right."""
    end = data.find(b"}}", 8)
    end = data.find(b"}}", end + 2) if end >= 0 and data.startswith(b'{"__metadata__"', 8) else -1
    if end > 0 and int.from_bytes(data[:8], "little") > len(data):
        data = (end + 2 - 8).to_bytes(8, "little") + data[8:]
    found = DIGEST.search(data)
    if found is None:
        return data
    digest = hashlib.sha256(data[: found.start(1)] + b"0" * 64 + data[found.end(1) :])
    return data[: found.start(1)] + digest.hexdigest().encode() + data[found.end(1) :]


ORIGINALS = models()


def try_file(data):
    if not data:
        return
    forge, data = data[0] & 1, data[1:]
    run = loaded(forged(data) if forge else data)
    if run is None:
        return
    again = bytes_of(run)
    if not forge and again not in ORIGINALS:
        raise AssertionError("a damaged file was taken for a model")
    if bytes_of(saved.load(PATH)) != again:
        raise AssertionError("a model was saved, and another one loaded")


def instrument():
    """Let the reader of model files tell the fuzzer where it has been.

    These functions only: numba could not compile what Atheris has been at.
    """
    for module in (model_file, model_rule, saved, tensor_file):
        for function in vars(module).values():
            if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
                atheris.instrument_func(function)


def main():
    instrument()
    finds = ROOT / "build" / "fuzz"
    seeds = finds / "model_file"  # what the search finds worth keeping is added here
    seeds.mkdir(parents=True, exist_ok=True)
    for k, data in enumerate(ORIGINALS):
        for forge in (0, 1):
            (seeds / f"seed{k}-{forge}").write_bytes(bytes([forge]) + data)
    options = [f"-max_total_time={sys.argv[1]}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=2048"]
    options += ["-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={finds}/model_file-"]
    atheris.Setup([sys.argv[0], *options, str(seeds)], try_file)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
