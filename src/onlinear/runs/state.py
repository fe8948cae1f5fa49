"""A learner at rest: everything that is needed to go on with the same bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.rows import Floats
from onlinear.errors import RuleError


@dataclass(frozen=True, eq=False)
class State:
    """What a run ends with and another can go on from; its arrays are read-only.

    Per-feature arrays hold the intercept, where there is one, at index 0.
    """

    rule: Any
    fit_intercept: bool
    normalize: bool
    classes: NDArray[Any]
    n_features: int
    arrays: Any
    """The rule's own state: an array of weights, or a NamedTuple of arrays with the weights in `w`."""
    rounds: int
    mistakes_positive: int
    mistakes_negative: int
    updates: int
    steps: float
    """Σ λ over the updates."""
    reach: float
    """Σ λ‖x‖ over the updates."""
    origin: Floats | None
    """The weights before round one, where they were given."""
    names: tuple[str, ...] | None = None
    """The names of the features, where they have any."""
    reading: Mapping[str, Any] | None = None
    """How the columns of a stream became features (`onlinear.streams.Reading`), where it came from one."""
    fingerprint: str | None = None
    """A running checksum of the examples, in hexadecimal, where they came from a stream; going on continues it."""


def weights_of(arrays: Any) -> Floats:
    """Return the weights within a rule's state."""
    weights: Floats = arrays if isinstance(arrays, np.ndarray) else arrays.w
    return weights


def each_array(function: Callable[..., NDArray[Any]], arrays: Any, *others: Any) -> Any:
    """Apply a function to each array of a rule's state, and to those of others beside it."""
    if isinstance(arrays, np.ndarray):
        return function(arrays, *others)
    return type(arrays)(*map(function, arrays, *others))


def started(rule: Any, n: int) -> Any:
    """Return the rule's state for n per-feature entries, once it is known to be one."""
    arrays = rule.start(n)
    name = type(rule).__name__
    if not (isinstance(arrays, np.ndarray) or hasattr(arrays, "_fields")):
        raise RuleError(f"rule {name}: start() returned {type(arrays).__name__}, not an array or a NamedTuple")
    if not isinstance(arrays, np.ndarray) and not hasattr(arrays, "w"):
        raise RuleError(f"rule {name}: the NamedTuple from start() has no field w for the weights")
    for array in [arrays] if isinstance(arrays, np.ndarray) else arrays:
        if not (isinstance(array, np.ndarray) and array.dtype == np.float64 and array.flags.c_contiguous):
            raise RuleError(f"rule {name}: start() must return C-contiguous float64 arrays, not {array!r}")
        if not array.flags.writeable:
            raise RuleError(f"rule {name}: start() must return new arrays each time")
    if weights_of(arrays).shape != (n,):
        raise RuleError(f"rule {name}: start({n}) returned weights of shape {weights_of(arrays).shape}")
    return arrays


def widened(rule: Any, arrays: Any, n: int) -> Any:
    """Return a copy for n per-feature entries; the new ones are as the rule starts them."""

    def into_corner(fresh: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
        fresh[tuple(map(slice, old.shape))] = old
        return fresh

    return each_array(into_corner, started(rule, n), arrays)


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, read-only from now on."""
    array.flags.writeable = False
    return array
