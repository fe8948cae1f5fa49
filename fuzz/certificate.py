"""Altered certificates, a bounded time long: each is refused with a typed error, or what it claims is true.

``python fuzz/certificate.py 60``, in seconds. The text of a certificate is altered, and its digest computed anew. It
may verify only if it still claims what was found for its examples. What does otherwise, takes seconds or takes much
memory is written to ``build/fuzz``, and the exit code is not 0.
"""

import hashlib
import json
import sys
import types
from pathlib import Path

import atheris
import numpy as np

import onlinear
from onlinear.errors import DataError, ParameterError, VerificationError
from onlinear.rules import MarginPerceptron, Perceptron, RandomizedWeightedMajority
from onlinear.theory import Certificate, Limits
from onlinear.theory.certificate import certificate as certificates
from onlinear.theory.certificate import limits, record, replay, structure

ROOT = Path(__file__).resolve().parents[1]
LIMITS = Limits(passes=200, numbers=10**5)
"""Smaller than usual: an altered run may take as long as they allow."""


def originals():
    """Return certificates of several kinds, with their examples."""
    X, y = onlinear.datasets.separable(margin=0.3, n=20, d=2, seed=0)
    X = np.round(X * 8) / 8
    three = np.eye(3)[np.arange(9) % 3]
    advice = onlinear.datasets.experts(3, 12, seed=0)
    runs = [
        (onlinear.run(Perceptron(), X, y, fit_intercept=True), X, y),
        (onlinear.converge(MarginPerceptron(0.1, normalized=True), X, y, selection="random"), X, y),
        (onlinear.run(Perceptron(), *onlinear.datasets.xor(), fit_intercept=True), *onlinear.datasets.xor()),
        (onlinear.run(Perceptron(), three, np.arange(9) % 3, classes=range(3)), three, np.arange(9) % 3),
        (onlinear.run(RandomizedWeightedMajority(0.25), *advice), *advice),
    ]
    return [(onlinear.certify(run, X, y), X, y) for run, X, y in runs]


ORIGINALS = originals()


def sealed(text):
    """Return a text with its digest computed anew, where it is JSON with a digest."""
    try:
        content = json.loads(text)
        del content["digest"]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    except (ValueError, TypeError, KeyError, RecursionError):
        return text
    return json.dumps({**content, "digest": digest})


def try_text(data):
    if not data:
        return
    original, X, y = ORIGINALS[data[0] % len(ORIGINALS)]
    try:
        found = Certificate.from_json(sealed(data[1:].decode("utf-8", "replace")))
        found.verify(X, y, limits=LIMITS)
    except (DataError, VerificationError):
        return
    except ParameterError:
        if found.record["rule"]["own"]:  # then its class must be given
            return
        raise
    if not found.holds or found.record["data"] != original.record["data"]:
        raise AssertionError("a false certificate was verified")
    if all(found.record[name] == original.record[name] for name in ("rule", "options")):
        check_claims(found.record, original.record)


def check_claims(its, mine):
    """Raise unless what a record claims agrees with what was found for the same run."""
    if its["outcome"] != mine["outcome"]:
        raise AssertionError("the outcome of another run was verified")
    for name, part in (its["margins"] or {}).items():
        if part is not None:
            proven = mine["margins"][name]
            if not (part["lower"] <= proven["upper"] and part["upper"] >= proven["lower"]):
                raise AssertionError("a false margin was verified")
    verdicts = {(one["separability"] or {}).get("verdict") for one in (its, mine)}
    if verdicts == {"separable", "inseparable"}:
        raise AssertionError("a false verdict was verified")


def instrument():
    """Let the reader of certificates tell the fuzzer where it has been; see fuzz/model_file.py."""
    for module in (certificates, limits, record, replay, structure):
        for function in vars(module).values():
            if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
                atheris.instrument_func(function)


def main():
    instrument()
    finds = ROOT / "build" / "fuzz"
    seeds = finds / "certificate"
    seeds.mkdir(parents=True, exist_ok=True)
    for k, (original, _, _) in enumerate(ORIGINALS):
        text = json.dumps(original.record, separators=(",", ":")).encode()
        (seeds / f"seed{k}").write_bytes(bytes([k]) + text)
    options = [f"-max_total_time={sys.argv[1]}", "-max_len=8192", "-timeout=60", "-rss_limit_mb=2048"]
    options += ["-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={finds}/certificate-"]
    atheris.Setup([sys.argv[0], *options, str(seeds)], try_text)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
