"""The library's rules by name: for the command line, model files and certificates."""

from __future__ import annotations

from typing import Any, Final

from onlinear.rules.batch import BatchPerceptron
from onlinear.rules.experts import RandomizedWeightedMajority, WeightedMajority
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.winnow import Winnow

BUILT_IN: Final[dict[str, Any]] = {
    cls.__name__: cls
    for cls in (
        BatchPerceptron,
        MarginPerceptron,
        Perceptron,
        RandomizedWeightedMajority,
        WeightedMajority,
        Winnow,
    )
}
"""A name in a file is looked up here and nowhere else."""

ONLINE: Final[dict[str, Any]] = {name: cls for name, cls in BUILT_IN.items() if cls is not BatchPerceptron}
"""The rules that learn from one example after the other: the batch perceptron takes its steps after whole passes."""
