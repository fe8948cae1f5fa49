"""A few passes of the perceptron, which separate the examples where the margin is wide."""

from __future__ import annotations

import numpy as np

from onlinear.engine.flat import Floats
from onlinear.errors import DataError
from onlinear.models.state import weights_of
from onlinear.rules.perceptron import Perceptron
from onlinear.theory.examples import Examples

_ENTRIES = 1_000_000_000
"""The most entries to read, about a second's work; but at least ten passes."""
_PASSES = (10, 1000)


def perceptron_separator(examples: Examples) -> Floats | None:
    """Return a vector that makes no mistake, as far as floating point can tell; None where none was found."""
    learner = examples.learner(Perceptron())
    for _ in range(int(np.clip(_ENTRIES // max(1, examples.entries), *_PASSES))):
        before = learner.updates
        try:
            examples.feed(learner)
        except DataError:
            # Rows that are not finite have been refused before, so this is an overflow.
            return None
        if learner.updates == before:
            w: Floats = weights_of(learner.arrays).copy()
            return w
    return None
