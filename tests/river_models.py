"""One table of models that every test of River's conventions runs over, and how they are compared."""

from typing import NamedTuple

import numpy as np

from onlinear.models.state import weights_of
from onlinear.river import (
    AutoClassifier,
    MarginPerceptronClassifier,
    OnlineClassifier,
    PerceptronClassifier,
    WinnowClassifier,
)
from onlinear.rules import MarginPerceptron, Member, add, dot, rule, squared_norm


@rule(additive=True, linear=True)
class Relaxation(NamedTuple):
    factor: float = 1.0

    def start(self, n):
        return np.zeros(n)

    def score(self, w, x):
        return dot(w, x)

    def update(self, w, x, y, score, mistake):
        loss = 1.0 - y * score
        if loss <= 0.0 or squared_norm(x) == 0.0:
            return 0.0
        step = self.factor * loss / squared_norm(x)
        add(w, step * y, x)
        return step


MODELS = {
    "perceptron": PerceptronClassifier(),
    "perceptron, no intercept": PerceptronClassifier(fit_intercept=False),
    "perceptron, ties positive": PerceptronClassifier(tie="positive"),
    "margin": MarginPerceptronClassifier(),
    "margin, normalised": MarginPerceptronClassifier(margin=0.1, normalized=True, fit_intercept=False),
    "winnow": WinnowClassifier(threshold=10.0),
    "winnow, other": WinnowClassifier(threshold=2.5, beta=0.5, binarize=0.25),
    "any rule": OnlineClassifier(),
    "a rule of ours": OnlineClassifier(MarginPerceptron(margin=0.5, normalized=True), fit_intercept=False),
    "a rule of the user's": OnlineClassifier(Relaxation(factor=0.5)),
    "majority": AutoClassifier(),
    "majority of two": AutoClassifier([Member(MarginPerceptron(margin=0.5), normalize=True), Relaxation()]),
}
MANY_CLASSES = {name: model for name, model in MODELS.items() if model._multiclass}


def bits(model):
    """Everything that a model has learned, to the last bit."""
    if not model.classes:
        return None
    state = model.as_run().state
    arrays = [state.arrays] if isinstance(state.arrays, np.ndarray) else list(state.arrays)
    counts = (state.rounds, state.updates, state.mistakes_by_class)
    sums = (state.steps.hex(), state.reach.hex())
    members = [[weights_of(part.arrays).tobytes(), part.updates] for part in state.members]
    return model.classes, state.names, [array.tobytes() for array in arrays], counts, sums, members
