"""A few passes of the perceptron: where the margin is wide they separate the examples at once."""

from __future__ import annotations

import numpy as np

from onlinear.engine.flat import Floats
from onlinear.errors import DataError
from onlinear.models.state import weights_of
from onlinear.rules.perceptron import Perceptron
from onlinear.theory.examples import Examples

_ENTRIES = 1_000_000_000
"""How many entries may be read, about a second's work; but the examples ten times at least."""
_PASSES = (10, 1000)


def perceptron_separator(examples: Examples) -> Floats | None:
    """Return a vector that makes no mistake, as far as floating point can tell; None where none came up."""
    learner = examples.learner(Perceptron())
    for _ in range(int(np.clip(_ENTRIES // max(1, examples.entries), *_PASSES))):
        before = learner.updates
        try:
            examples.feed(learner)
        except DataError:
            # Rows that are not finite have been refused before it comes to this: what is left is an overflow.
            return None
        if learner.updates == before:
            w: Floats = weights_of(learner.arrays).copy()
            return w
    return None
