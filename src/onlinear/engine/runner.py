"""Which way code runs: compiled, or as plain Python where numba is not available. The results are the same."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from onlinear.engine.compiled_math import with_compiled_math

if TYPE_CHECKING:
    from onlinear.engine.compile import Runner

    AnyRunner: TypeAlias = "PlainRunner | Runner"


class PlainRunner:
    """Runs passes with a rule as plain Python, in which functions of `math` give what compiled code gets."""

    def __init__(self, rule: Any) -> None:
        self.rule = with_compiled_math(rule)

    def __call__(self, function: Callable[..., Any], state: Any, *args: Any) -> Any:
        # As in compiled code: a division by zero is an error, and the pass sees what is not finite.
        with np.errstate(divide="raise", over="ignore", invalid="ignore"):
            return function(self.rule, state, *args)


def can_compile() -> bool:
    """Tell whether code is compiled: numba can be imported, and ``NUMBA_DISABLE_JIT`` is not set."""
    compiler = _compiler()
    return compiler is not None and compiler.jit_enabled()


def runner_for(rule: Any) -> AnyRunner:
    """Return what runs passes with a rule."""
    if not can_compile():
        return PlainRunner(rule)
    from onlinear.engine.compile import Runner

    return Runner(rule)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays and numbers, compiled where possible."""
    compiler = _compiler()
    if compiler is None or not compiler.jit_enabled():
        return function
    compiled: Callable[..., Any] = compiler.dispatcher(function)
    return compiled


@functools.cache
def _compiler() -> Any:
    """Return the module that compiles, or None where numba cannot be imported."""
    try:
        # The module that imports numba and little else.
        importlib.import_module("onlinear.engine.vectors")
    except ImportError as error:
        warnings.warn(
            f"numba cannot be imported ({error}); rules run as plain Python: the results are the same, but it takes"
            " about a hundred times as long",
            RuntimeWarning,
            stacklevel=5,
        )
        return None
    return importlib.import_module("onlinear.engine.compile")
