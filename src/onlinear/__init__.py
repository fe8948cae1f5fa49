"""Online linear classification: any rule at memory speed, and every number with what it is worth."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlinear import datasets, errors, rules
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
    "converge",
    "datasets",
    "errors",
    "rules",
    "run",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import onlinear`` itself loads nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'onlinear' has no attribute {name!r}")
    if name in {"datasets", "errors", "rules"}:
        return importlib.import_module(f"onlinear.{name}")
    return getattr(importlib.import_module("onlinear.runs"), name)


def __dir__() -> list[str]:
    return __all__
