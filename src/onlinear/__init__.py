"""Online linear classification: any rule at memory speed, and every result with its guarantee."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlinear import datasets, errors, estimators, experiments, plot, report, rules, streams, theory
    from onlinear.estimators import (
        AutoClassifier,
        BatchPerceptronClassifier,
        ExpertsClassifier,
        MarginPerceptronClassifier,
        OnlineClassifier,
        PerceptronClassifier,
        WinnowClassifier,
    )
    from onlinear.runs import (
        BatchRun,
        Comparison,
        Convergence,
        Curve,
        Evaluation,
        Potentials,
        Progress,
        Run,
        State,
        Trace,
        batch_perceptron,
        compare,
        converge,
        load,
        run,
        train,
    )
    from onlinear.streams import open_stream
    from onlinear.theory import best_comparator, certify, max_margin, separability, verify_lemmas

__version__ = "0.1.0"

__all__ = [
    "AutoClassifier",
    "BatchPerceptronClassifier",
    "BatchRun",
    "Comparison",
    "Convergence",
    "Curve",
    "Evaluation",
    "ExpertsClassifier",
    "MarginPerceptronClassifier",
    "OnlineClassifier",
    "PerceptronClassifier",
    "Potentials",
    "Progress",
    "Run",
    "State",
    "Trace",
    "WinnowClassifier",
    "__version__",
    "batch_perceptron",
    "best_comparator",
    "certify",
    "compare",
    "converge",
    "datasets",
    "errors",
    "estimators",
    "experiments",
    "load",
    "max_margin",
    "open_stream",
    "plot",
    "report",
    "rules",
    "run",
    "separability",
    "streams",
    "theory",
    "train",
    "verify_lemmas",
]

_MODULES = {"datasets", "errors", "estimators", "experiments", "plot", "report", "rules", "streams", "theory"}
_HOMES = {
    "open_stream": "onlinear.streams",
    **dict.fromkeys(("best_comparator", "certify", "max_margin", "separability", "verify_lemmas"), "onlinear.theory"),
    **{name: "onlinear.estimators" for name in __all__ if name.endswith("Classifier")},
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import onlinear`` itself loads nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'onlinear' has no attribute {name!r}")
    if name in _MODULES:
        return importlib.import_module(f"onlinear.{name}")
    return getattr(importlib.import_module(_HOMES.get(name, "onlinear.runs")), name)


def __dir__() -> list[str]:
    return __all__
