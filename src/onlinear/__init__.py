"""Online linear classification: any rule at memory speed, and every number with what it is worth."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlinear import datasets, errors, rules, theory
    from onlinear.runs import (
        BatchRun,
        Convergence,
        Potentials,
        Run,
        State,
        Trace,
        batch_perceptron,
        converge,
        run,
    )
    from onlinear.theory import best_comparator, certify, max_margin, separability, verify_lemmas

__version__ = "0.1.0"

__all__ = [
    "BatchRun",
    "Convergence",
    "Potentials",
    "Run",
    "State",
    "Trace",
    "__version__",
    "batch_perceptron",
    "best_comparator",
    "certify",
    "converge",
    "datasets",
    "errors",
    "max_margin",
    "rules",
    "run",
    "separability",
    "theory",
    "verify_lemmas",
]

_MODULES = {"datasets", "errors", "rules", "theory"}
_THEORY = {"best_comparator", "certify", "max_margin", "separability", "verify_lemmas"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import onlinear`` itself loads nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'onlinear' has no attribute {name!r}")
    if name in _MODULES:
        return importlib.import_module(f"onlinear.{name}")
    return getattr(importlib.import_module("onlinear.theory" if name in _THEORY else "onlinear.runs"), name)


def __dir__() -> list[str]:
    return __all__
