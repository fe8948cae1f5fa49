"""The library's rules by name: for the command line, model files and certificates."""

from __future__ import annotations

from typing import Any, Final

from onlinear.rules.averaged import AveragedPerceptron
from onlinear.rules.batch import BatchPerceptron
from onlinear.rules.confidence import AROW, SCW
from onlinear.rules.experts import FixedShare, RandomizedWeightedMajority, WeightedMajority
from onlinear.rules.ftrl import FTRL
from onlinear.rules.gradient import AdaGrad, OnlineGradient
from onlinear.rules.normalized import NormalizedAdaGrad
from onlinear.rules.passive_aggressive import PassiveAggressive
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.winnow import Winnow

BUILT_IN: Final[dict[str, Any]] = {
    cls.__name__: cls
    for cls in (
        AROW,
        AdaGrad,
        AveragedPerceptron,
        BatchPerceptron,
        FTRL,
        FixedShare,
        MarginPerceptron,
        NormalizedAdaGrad,
        OnlineGradient,
        PassiveAggressive,
        Perceptron,
        RandomizedWeightedMajority,
        SCW,
        WeightedMajority,
        Winnow,
    )
}
"""A name in a file is looked up here and nowhere else."""

ONLINE: Final[dict[str, Any]] = {name: cls for name, cls in BUILT_IN.items() if cls is not BatchPerceptron}
"""The rules that learn from one example after the other: the batch perceptron takes its steps after whole passes."""
