"""How the golden files were made. They are made once for each version of the format, and load forever."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import onlinear
from onlinear.rules import MarginPerceptron, Perceptron, RandomizedWeightedMajority, WeightedMajority, Winnow, add, dot

HERE = Path(__file__).parent

# Numbers from a formula: no generator of random ones is part of a promise.
N = np.arange(40)
REAL = np.stack([(N * k) % 17 - 8.0 + k / 4 for k in (3, 5, 7)], axis=1)
BINARY = np.stack([N // 2**k % 2 for k in range(4)], axis=1).astype(float)
ADVICE = 2.0 * BINARY - 1.0
SIGNS = np.where(REAL @ [1.0, -2.0, 0.5] > 0.25, 1, -1)
WORDS = np.where(BINARY[:, 0] + BINARY[:, 2] > 0, "ham", "Spam ☃")


class Weighted(NamedTuple):
    """The state of `Scaled`."""

    w: np.ndarray
    seen: np.ndarray


@onlinear.rules.rule
class Scaled(NamedTuple):
    """A rule that is not the library's: the perceptron with a rate that depends on how much it has seen."""

    rates: np.ndarray
    limit: float = np.inf

    def start(self, n):
        return Weighted(np.zeros(n), np.zeros(1))

    def score(self, state, x):
        return dot(state.w, x)

    def update(self, state, x, y, score, mistake):
        state.seen[0] += 1.0
        if mistake and state.seen[0] < self.limit:
            add(state.w, self.rates[int(state.seen[0]) % self.rates.size] * y, x)
        return mistake


def perceptron():
    run = onlinear.run(Perceptron("positive"), REAL, SIGNS, fit_intercept=True, normalize=True, start=[0.1, 0.2, -0.3])
    reading = {"label": "ziel", "drop": ["größe²"], "missing": "zero", "delimiter": ";", "format": "csv"}
    state = dataclasses.replace(run.state, names=("größe", "x", ""), reading=reading, checksum="00ff" * 8)
    return dataclasses.replace(run, state=state)


MODELS = {
    "perceptron": (perceptron, REAL),
    "margin": (
        lambda: onlinear.converge(MarginPerceptron(0.01, normalized=True), REAL, SIGNS * 0.5, max_updates=9),
        REAL,
    ),
    "batch": (lambda: onlinear.batch_perceptron(REAL, SIGNS > 0, schedule="1/k", max_passes=5), REAL),
    "winnow": (lambda: onlinear.run(Winnow(0.5), BINARY, WORDS), BINARY),
    "majority": (lambda: onlinear.run(WeightedMajority(1 / 3), ADVICE, SIGNS.astype(np.int8)), ADVICE),
    "anytime": (lambda: onlinear.run(RandomizedWeightedMajority("anytime", seed=7), ADVICE, SIGNS), ADVICE),
    "own": (lambda: onlinear.run(Scaled(np.array([1.0, 0.1], dtype=np.float32)), REAL, SIGNS), REAL),
}


def seen(run, X):
    """What a model must still say, to the last bit."""
    return {
        "kind": type(run).__name__,
        "rule": [type(run.rule).__name__, *(repr(np.asarray(value).tolist()) for value in run.rule)],
        "counters": [run.rounds, run.mistakes_positive, run.mistakes_negative, run.updates],
        "sums": [run.state.steps.hex(), run.state.reach.hex()],
        "weights": [run.intercept.hex(), *map(float.hex, run.weights.tolist())],
        "scores": [score.hex() for score in run.decision_function(X).tolist()],
        "predictions": run.predict(X).tolist(),
        "names": run.state.names and list(run.state.names),
        "reading": run.state.reading,
        "fingerprint": run.state.checksum,
    }


def main():
    said = {}
    for name, (make, X) in MODELS.items():
        path = HERE / f"v1-{name}.safetensors"
        if path.exists():
            sys.exit(f"{path.name} exists; a golden file is never made anew")
        run = make()
        run.save(path)
        said[name] = seen(run, X)
    (HERE / "v1.json").write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
