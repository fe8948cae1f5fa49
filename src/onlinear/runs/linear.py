"""Check the promise of a rule that its score is ⟨w,x⟩."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from onlinear.engine.algebra import dot
from onlinear.engine.flat import address
from onlinear.engine.rows import DenseRow, SingleRow, SparseRow
from onlinear.errors import RuleError
from onlinear.models.state import new_state, weights_of
from onlinear.rules.rule import predicts_by_sign

_POINTS = 16
_WIDTH = 7

_checked: WeakKeyDictionary[type, set[str]] = WeakKeyDictionary()
"""The rules that have passed, by class and parameters."""


def check_linear(rule: Any) -> None:
    """Raise a `RuleError` unless the score of a rule is ⟨w,x⟩ at random points, and its sign the prediction."""
    passed = _checked.setdefault(type(rule), set())
    if repr(rule) in passed:
        return
    name = type(rule).__name__
    if not predicts_by_sign(rule):
        raise RuleError(f"rule {name} promises linear=True, but has a predict() of its own; only the sign may decide")
    engine_rule = rule.for_width(_WIDTH)
    rng = np.random.default_rng(0)
    for k in range(_POINTS):
        state = new_state(engine_rule, _WIDTH)
        w, x = weights_of(state), _random_row(rng, k)
        # Multiples of a power of two: ⟨w,x⟩ is exact whatever the order of the sum. Small ones and large ones.
        w[:] = rng.integers(-64, 65, _WIDTH) * 2.0 ** (k - 8)
        expected = dot(w, x)
        found = float(engine_rule.score(state, x))
        if found != expected:
            raise RuleError(
                f"rule {name} promises linear=True, but its score is not ⟨w,x⟩: at a random point it is {found:g},"
                f" and dot(w, x) is {expected:g}"
            )
    passed.add(repr(rule))


def _random_row(rng: np.random.Generator, k: int) -> SingleRow:
    """Return a dense or a sparse row, of some weight and in some round."""
    weight, trial = float(1 + k % 3), 1 + k**2
    size = _WIDTH if k % 2 else 4
    values = rng.integers(-64, 65, size) / 16.0
    if k % 2:
        return DenseRow(values, 0, size, _WIDTH, 0, 1.0, weight, trial)
    indices = np.sort(rng.choice(_WIDTH, size, replace=False))
    return SparseRow(values, address(indices), 0, size, _WIDTH, 0, 1.0, weight, trial)
