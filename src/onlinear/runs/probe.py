"""Checks of a rule's score when the rule is first used: that it leaves the state unchanged, and that it is linear."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from onlinear.engine.algebra import dot
from onlinear.engine.explain import RULE_FAULTS, place_in_rule
from onlinear.engine.flat import address
from onlinear.engine.rows import DenseRow, SingleRow, SparseRow
from onlinear.errors import ParameterError, RuleError
from onlinear.models.state import each_array, final_state, new_state, sealed, weights_of
from onlinear.rules.rule import predicts_by_sign

_SCALES = [2.0**k for k in (-300, -200, -100, -40, -20, -8, -4, -1, 0, 1, 4, 8, 20, 40, 100, 200, 300)]
"""The sizes of the weights at which a score is tried."""
_ENTRIES = (7, 1, 64, 7)
"""The most entries of the rows with which it is tried, in turn."""
_STATES = 8
"""How many random states a score is tried with, to see whether it writes to them."""

_read_only: WeakSet[type] = WeakSet()
"""The rules whose score has been found to leave the state unchanged."""

_linear: WeakKeyDictionary[type, set[tuple[Any, ...]]] = WeakKeyDictionary()
"""The rules whose score has been found to be linear: by class, number of entries and parameters."""


def check_read_only(rule: Any, arrays: Any) -> None:
    """Raise a `RuleError` if the score of a rule writes to its state, directly or in a function that it calls."""
    if type(rule) in _read_only:
        return
    if not weights_of(arrays).size:  # no feature is known yet
        arrays = new_state(rule, 1)
    n = weights_of(arrays).size
    entries = n if rule.inputs == "advice" else 1
    x = SparseRow(np.ones(entries), address(np.arange(entries)), 0, entries, n, 0, 1.0, 1.0, 1)
    rng = np.random.default_rng(0)
    for k in range(1 + _STATES):
        # After the rule's own start, states as they may become: a score may write only where a weight is positive.
        state = each_array(lambda array: array + rng.integers(-64, 65, array.shape) / 16.0, arrays) if k else arrays
        _check_writes(rule, state, x)
    _read_only.add(type(rule))


def _check_writes(rule: Any, arrays: Any, x: SingleRow) -> None:
    """Raise a `RuleError` if the score of an example writes to this state."""
    try:
        rule.score(each_array(np.copy, arrays), x)
    except RULE_FAULTS:
        return  # if it happens in a round, the round will show why
    try:
        rule.score(each_array(lambda array: sealed(array.view()), arrays), x)
    except RULE_FAULTS as error:
        name = type(rule).__name__
        raise RuleError(
            f"rule {name}: score() writes to the state; only update() may write{place_in_rule(error)}"
        ) from error


def check_linear(rule: Any, n: int) -> None:
    """Raise a `RuleError` unless the score of a rule is ⟨w,x⟩ at random points, and its sign the prediction.

    The rule is the one for its number of features, and its state has n per-feature entries. Where the rule has final
    weights, its score is tried with these.
    """
    passed = _linear.setdefault(type(rule), set())
    key = (n, *(field.tobytes() if isinstance(field, np.ndarray) else repr(field) for field in rule))
    if key in passed:
        return
    name = type(rule).__name__
    if not predicts_by_sign(rule):
        raise RuleError(f"rule {name} promises linear=True, but defines predict(); a linear rule predicts by the sign")
    rng = np.random.default_rng(0)
    state = new_state(rule, n)
    w = weights_of(state)
    for k, scale in enumerate(_SCALES):
        # Whatever else is in the state must not matter; a score of ⟨w,x⟩ does not read it.
        for array in [state] if isinstance(state, np.ndarray) else state:
            array[...] = rng.integers(1, 65, array.shape) / 16.0
        x = _random_row(rng, n, k)
        # Multiples of a power of two: ⟨w,x⟩ is exact whatever the order of the sum.
        w[:] = rng.integers(-64, 65, n) * scale
        tried = final_state(rule, n, state) if hasattr(rule, "final") else state
        expected = dot(weights_of(tried), x)
        try:
            found = float(rule.score(tried, x))
        except RULE_FAULTS as error:
            raise RuleError(f"rule {name}: score() failed at a random point: {error}{place_in_rule(error)}") from error
        if found != expected:
            raise RuleError(
                f"rule {name} promises linear=True, but its score is not ⟨w,x⟩: at a random point it is {found:g},"
                f" and dot(w, x) is {expected:g}"
            )
    passed.add(key)


def _random_row(rng: np.random.Generator, n: int, k: int) -> SingleRow:
    """Return a dense or, where there are many features, a sparse row; its weight and its round vary with k."""
    weight, trial = (0.0, 0.25, 1.0, 3.0)[k % 4], (1, 2, 100, 10**9)[k // 4 % 4]
    size = min(n, _ENTRIES[k % len(_ENTRIES)])
    values = rng.integers(-64, 65, size) / 16.0
    if n == size and k % 2:
        return DenseRow(values, 0, n, n, 0, 1.0, weight, trial)
    indices = np.sort(rng.choice(n, size, replace=False))
    return SparseRow(values, address(indices), 0, size, n, 0, 1.0, weight, trial)


def check_many_classes(rule: Any) -> None:
    """Raise unless a rule can learn more than two classes: with a weight vector for each, or by a vote of experts."""
    for member in getattr(rule, "members", ()):
        check_many_classes(member.rule)
    name = type(rule).__name__
    if rule.inputs == "binary":
        raise ParameterError(f"{name} takes binary inputs and supports only two classes")
    if rule.tie != "mistake":
        raise ParameterError(f"{name}: tie is {rule.tie!r}; among more than two classes a tie is a mistake")
    if not (rule.linear or rule.inputs == "advice"):
        raise ParameterError(
            f"{name} supports only two classes; if its score is ⟨w,x⟩, declare that: @rule(linear=True)"
        )
