"""The state of a learner: everything needed to resume as if it had never stopped."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.data.label_record import LabelRecord
from onlinear.display import Pictured, counted
from onlinear.engine.explain import RULE_FAULTS, place_in_rule
from onlinear.engine.flat import Floats
from onlinear.errors import OnlinearError, RuleError


@dataclass(frozen=True, eq=False, repr=False)
class State(Pictured):
    """The state at the end of a run, from which another can resume; its arrays are read-only.

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
    mistakes_by_class: tuple[int, ...]
    """In the order of the classes."""
    updates: int
    steps: float
    """Σ λ over the updates."""
    reach: float
    """Σ λ‖x‖ over the updates."""
    origin: Floats | None
    """The weights before round one, if they were not 0."""
    names: tuple[str, ...] | None = None
    """The names of the features, if they have any."""
    reading: Mapping[str, Any] | None = None
    """How the columns of a stream became features (`onlinear.streams.Reading`), where it came from one."""
    checksum: str | None = None
    """A running checksum of the examples, in hexadecimal, if they came from a stream. Resuming continues it."""
    multiclass: bool = False
    """Whether there may be any number of classes; each has a weight vector then, unless the weights are experts'.

    Feature j of class r is at index j·k + r of k classes.
    """

    labels: LabelRecord | None = None
    """A record of the labels of the first pass, for the baselines and the check of their order."""
    sample: NDArray[np.uint64] | None = None
    """The smallest hashes of the examples, by which they are recognised, if they came from a stream."""
    members: tuple[State, ...] = ()
    """The states of a majority's members; `arrays` is then that of the rule which votes."""
    follower: State | None = None
    """Of a majority, the state of the rule that follows a member at random."""

    @property
    def fingerprint(self) -> str | None:
        """The former name of `checksum`."""
        warnings.warn("State.fingerprint is deprecated; use State.checksum", DeprecationWarning, stacklevel=2)
        return self.checksum

    @property
    def per_class(self) -> bool:
        """Whether each class has a weight vector; experts have one weight each, whatever they name."""
        return self.multiclass and self.rule.inputs != "advice" and not self.members

    @property
    def vectors(self) -> int:
        """The number of weight vectors: one, or one per class."""
        return self.classes.size if self.per_class else 1

    @property
    def final(self) -> Any:
        """The rule's state to predict with: `arrays`, with the weights that the rule's `final` returns, if it has one.

        Everything that shows weights or predicts takes them from here; everything that learns resumes from `arrays`.
        """
        return final_state(self.rule, self.n_features, self.arrays)

    @property
    def matrix(self) -> Floats:
        """The final weights with a row per weight vector, and the intercept, if there is one, in column 0."""
        return weights_of(self.final).reshape(-1, self.vectors).T

    def _title(self) -> str:
        return f"State of {self.rule!r}"

    def _facts(self) -> list[tuple[str, str]]:
        named = self.arrays._asdict() if hasattr(self.arrays, "_asdict") else {"weights": self.arrays}
        shapes = (f"{name} ({' × '.join(map(str, array.shape))})" for name, array in named.items())
        options = [name for name in ("fit_intercept", "normalize") if getattr(self, name)]
        facts = [
            ("rounds", f"{self.rounds:,} with {counted(self.n_features, 'feature')}"),
            ("mistakes", f"{sum(self.mistakes_by_class):,}"),
            ("updates", f"{self.updates:,}"),
            ("classes", f"{self.classes.size:,}"),
            ("arrays", ", ".join(shapes)),
        ]
        facts += [("options", ", ".join(options))] if options else []
        return facts + [("members", counted(len(self.members), "state"))] * bool(self.members)


def weights_of(arrays: Any) -> Floats:
    """Return the weights within a rule's state."""
    weights: Floats = arrays if isinstance(arrays, np.ndarray) else arrays.w
    return weights


def each_array(function: Callable[..., NDArray[Any]], arrays: Any, *others: Any) -> Any:
    """Apply a function to each array of a rule's state, and to those of others beside it."""
    if isinstance(arrays, np.ndarray):
        return function(arrays, *others)
    return type(arrays)(*map(function, arrays, *others))


def final_state(rule: Any, n: int, arrays: Any) -> Any:
    """Return a rule's state, for n features, with the weights to show and to predict with."""
    rule = rule if hasattr(rule, "final") else rule_for_width(rule, n)
    if not hasattr(rule, "final"):
        return arrays
    name, w = type(rule).__name__, weights_of(arrays)
    try:
        final = rule.final(each_array(lambda array: sealed(array.view()), arrays))
    except RULE_FAULTS as error:
        raise RuleError(
            f"rule {name}: final() failed: {type(error).__name__}: {error}{place_in_rule(error)}"
        ) from error
    state = final if hasattr(final, "_fields") and type(final) is type(arrays) else None
    final = final if state is None else state.w
    if not (isinstance(final, np.ndarray) and final.dtype == np.float64 and final.shape == w.shape):
        shown = f"shape {final.shape} of {final.dtype}" if isinstance(final, np.ndarray) else type(final).__name__
        raise RuleError(f"rule {name}: final() returned {shown}; it must return a float64 array of shape {w.shape}")
    if not is_finite(final):
        raise RuleError(f"rule {name}: final() returned weights that are not finite")
    if state is None:
        state = final if isinstance(arrays, np.ndarray) else arrays._replace(w=final)
    return each_array(lambda array: sealed(np.array(array, order="C")), state)


def rule_for_width(rule: Any, n: int) -> Any:
    """Return the rule for n features."""
    try:
        return rule.for_width(n)
    except OnlinearError:
        raise
    except RULE_FAULTS as error:
        raise RuleError(
            f"rule {rule!r}: for_width({n}) failed: {type(error).__name__}: {error}{place_in_rule(error)}"
        ) from error


def new_state(rule: Any, n: int) -> Any:
    """Return the state that the rule's `start` gives n per-feature entries; raise where it is not one."""
    name = type(rule).__name__
    try:
        arrays = rule.start(n)
    except RULE_FAULTS as error:
        raise RuleError(
            f"rule {name}: start({n}) failed: {type(error).__name__}: {error}{place_in_rule(error)}"
        ) from error
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
    if not (is_zero(weights_of(arrays)) or is_finite(weights_of(arrays))):
        raise RuleError(f"rule {name}: start({n}) returned weights that are not finite")
    return arrays


def is_zero(array: Floats) -> bool:
    """Tell whether all entries are 0 and none is −0."""
    # As integers they are compared in half the time.
    return array.size == 0 or int(array.view(np.uint64).max()) == 0


def is_finite(array: Floats) -> bool:
    """Tell whether no entry is NaN or infinite."""
    # Finite squares mean finite entries, and their sum takes a third of the time.
    return math.isfinite(np.vdot(array, array)) or bool(np.isfinite(array).all())


def rearranged(rule: Any, arrays: Any, n: int, places: NDArray[np.intp], classes: int) -> Any:
    """Return the state for more classes: what belongs to the old ones is at their places, the rest as the rule starts.

    Parameters
    ----------
    rule, arrays
        The rule and its state, for n per-feature entries of each class.
    n : int
        Per-feature entries, the intercept included.
    places : array
        The number of each old class among the new ones.
    classes : int
        How many classes there will be.
    """
    fresh = new_state(rule, n * classes)
    for new, old in zip(_listed(fresh), _listed(arrays), strict=True):
        if old.shape == (n * places.size,) and new.shape == (n * classes,):
            move_columns(new.reshape(n, classes), old.reshape(n, places.size), places)
        elif old.shape == new.shape:
            new[...] = old
        else:
            raise RuleError(f"rule {type(rule).__name__}: its state cannot take new classes; name all at the start")
    return fresh


def move_columns(new: NDArray[Any], old: NDArray[Any], places: NDArray[np.intp]) -> None:
    """Copy columns to their places; neighbours are copied together, which is much faster than one by one."""
    edges = np.flatnonzero(np.diff(places) != 1) + 1
    for first, end in itertools.pairwise([0, *edges.tolist(), places.size]):
        new[:, places[first] : places[first] + end - first] = old[:, first:end]


class Room:
    """A rule's state with room for more features than there are.

    A stream that shows a few new features in each block would otherwise have its weights copied each time. The room
    does not show: the arrays that are given out are as long as there are features.
    """

    def __init__(self, rule: Any, arrays: Any, n: int) -> None:
        """Make room for n per-feature entries, and half as many again; the new ones are as the rule starts them."""
        self.size = n + n // 2
        fresh, before = new_state(rule, self.size), weights_of(arrays).shape
        if any(
            new.shape != old.shape and (old.shape != before or new.shape != (self.size,))
            for new, old in zip(_listed(fresh), _listed(arrays), strict=True)
        ):
            # Matrices, and arrays of another length than the weights, cannot be cut in place.
            self.size, fresh = n, new_state(rule, n)
        for new, old in zip(_listed(fresh), _listed(arrays), strict=True):
            new[tuple(map(slice, old.shape))] = old
        self._arrays = fresh
        self._per_feature = {
            id(new)
            for new, old in zip(_listed(fresh), _listed(arrays), strict=True)
            if new.shape != old.shape and new.shape == (self.size,) and old.shape == before
        }

    def cut(self, n: int) -> Any:
        """Return the arrays for n per-feature entries; they share the memory."""
        return each_array(lambda array: array[:n] if id(array) in self._per_feature else array, self._arrays)


def _listed(arrays: Any) -> list[NDArray[Any]]:
    return [arrays] if isinstance(arrays, np.ndarray) else list(arrays)


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, read-only from now on."""
    array.flags.writeable = False
    return array
