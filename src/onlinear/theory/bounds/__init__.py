"""What the theorems allow, as numbers for given examples: one function per theorem.

Every bound is rounded outward, lists the assumptions that were checked on the examples, and raises an
`AssumptionError` where one of them fails. Each takes a matrix and labels, or `onlinear.theory.Examples`, which several
bounds can share.
"""

import warnings
from typing import Any

from onlinear.theory.bounds.additive import growth, hinge, mistake_lemma, perceptron, warm_start
from onlinear.theory.bounds.batch import batch_constant, batch_schedule
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.bounds.experts import (
    anytime,
    fixed_share,
    halving,
    randomized_weighted_majority,
    weighted_majority,
)
from onlinear.theory.bounds.generalization import risk, vc_dimension
from onlinear.theory.bounds.margins import backward, duality, margin_perceptron, normalized_margin_perceptron
from onlinear.theory.bounds.multiclass import multiclass, multiclass_backward
from onlinear.theory.bounds.wider import additive_adversary, p_norm, passive_aggressive
from onlinear.theory.bounds.winnow import greedy_disjunction, winnow

__all__ = [
    "Bound",
    "additive_adversary",
    "anytime",
    "backward",
    "batch_constant",
    "batch_schedule",
    "duality",
    "fixed_share",
    "greedy_disjunction",
    "growth",
    "halving",
    "hinge",
    "margin_perceptron",
    "mistake_lemma",
    "multiclass",
    "multiclass_backward",
    "normalized_margin_perceptron",
    "p_norm",
    "passive_aggressive",
    "perceptron",
    "randomized_weighted_majority",
    "risk",
    "vc_dimension",
    "warm_start",
    "weighted_majority",
    "winnow",
]


def __getattr__(name: str) -> Any:
    if name == "batch_perceptron":
        warnings.warn("onlinear.theory.bounds.batch_perceptron is now batch_constant", DeprecationWarning, stacklevel=2)
        return batch_constant
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
