"""The functions of `math` as compiled code has them: infinity or NaN where plain Python raises an error."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from onlinear.engine.fingerprint import fingerprint
from onlinear.engine.snapshot import Snapshot


def with_compiled_math(rule: Any) -> Any:
    """Return the same rule with methods in which, say, ``math.exp(1000.0)`` is infinite."""
    cls = type(rule)
    known = _classes.get(cls)
    code = fingerprint(cls)
    if known is None or known[0] != code:
        copied = _MathSnapshot(cls)
        # The same fields; the methods are copies, with the functions that they call.
        other = type(cls.__name__, (cls,), {"__slots__": (), **copied.methods}) if copied.has_replaced else cls
        known = _classes[cls] = (code, other)
    return rule if known[1] is cls else tuple.__new__(known[1], rule)


_classes: WeakKeyDictionary[type, tuple[str, type]] = WeakKeyDictionary()
"""For each class of rules, its fingerprint and the class that runs in its place."""


class _MathSnapshot(Snapshot):
    """A copy of a rule's code in which the functions of `math` raise no errors."""

    has_replaced = False

    def _copy(self, value: Any) -> Any:
        if isinstance(value, types.BuiltinFunctionType) and value in _FUNCTIONS:
            self.has_replaced = True
            return _FUNCTIONS[value]
        # Plain code may write to a list; it stays the same.
        return value if isinstance(value, list | tuple) else super()._copy(value)


def _without_errors(function: Callable[..., float], limit: Callable[..., Any]) -> Callable[..., float]:
    def compiled(*args: float) -> float:
        try:
            return function(*args)
        except (OverflowError, ValueError):
            with np.errstate(all="ignore"):
                return float(limit(*map(np.float64, args)))

    return compiled


_FUNCTIONS: dict[Any, Callable[..., float]] = {
    function: _without_errors(function, limit)
    for function, limit in (
        (math.acos, np.arccos),
        (math.acosh, np.arccosh),
        (math.asin, np.arcsin),
        (math.atanh, np.arctanh),
        (math.cosh, np.cosh),
        (math.exp, np.exp),
        (math.expm1, np.expm1),
        (math.log, np.log),
        (math.log1p, np.log1p),
        (math.log2, np.log2),
        (math.log10, np.log10),
        (math.pow, np.power),
        (math.sinh, np.sinh),
        (math.sqrt, np.sqrt),
    )
}
