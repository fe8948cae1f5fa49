"""Who is to blame where a round fails: the rule, with its round and line, or the example."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.engine.algebra import dot, index, size, squared_norm, value
from onlinear.engine.explain import place_in_rule
from onlinear.engine.flat import Floats
from onlinear.engine.passes import REACH, STEPS
from onlinear.engine.rows import Block, SingleRow, open_rows, row
from onlinear.errors import DataError, RuleError
from onlinear.models.state import new_state, weights_of

FAULTS = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""What the code of a rule may raise."""

_LARGE = 1e150
"""Squares of larger numbers overflow."""


def rule_failure(rule: Any, when: str, error: Exception, again: Callable[[], Any]) -> RuleError:
    """Return the error for a rule that has raised one; `again` does the same in plain Python, to find the line."""
    place = place_in_rule(error)
    if not place:
        try:
            again()
        except FAULTS as repeated:
            place = place_in_rule(repeated)
    return RuleError(f"rule {rule!r} failed {when}: {error}{place}")


def rule_fault(learner: Any, block: Block, where: str) -> RuleError | None:
    """Return the error of a rule whose score of a finite example is not finite; None where the example is to blame.

    That is so where ⟨w,x⟩ or ‖x‖² overflows, or where the examples so far were so large that the weights did.
    """
    rule, arrays, rounds = learner.rule, learner.arrays, learner.rounds
    fault = state_fault(learner)
    if fault is not None:
        return fault if isinstance(fault, RuleError) else None
    x = row(open_rows(block), 0, rounds)
    if learner.multiclass or _is_too_large(weights_of(arrays), x):
        return None
    try:
        with np.errstate(divide="raise", over="ignore", invalid="ignore"):
            found = float(learner.engine_rule.score(arrays, x))
    except FAULTS as error:
        return RuleError(f"rule {rule!r} failed in round {rounds + 1} ({where}): {error}{place_in_rule(error)}")
    return RuleError(
        f"rule {rule!r} failed in round {rounds + 1} ({where}): score() returned {found}, although its state and the"
        " example are finite"
    )


def state_fault(learner: Any) -> RuleError | DataError | None:
    """Return the error for a state that is not finite any more; the examples are to blame where they are too large."""
    rule, arrays, sums = learner.rule, learner.arrays, learner.sums
    if all(np.isfinite(array).all() for array in _fields_of(arrays).values()):
        return None
    bad = _not_finite(arrays, new_state(learner.engine_rule, weights_of(arrays).size))
    if bad is None:
        return None
    if rule.additive and sums[STEPS] < _LARGE and not sums[REACH] < _LARGE:
        return DataError(f"in or before round {learner.rounds} an example is too large: {bad}; scale the inputs")
    return RuleError(f"rule {rule!r} failed in or before round {learner.rounds}: {bad} in its state")


def _fields_of(arrays: Any) -> dict[str, Any]:
    return {"w": arrays} if isinstance(arrays, np.ndarray) else arrays._asdict()


def _not_finite(arrays: Any, start: Any) -> str | None:
    """Return the first entry of a rule's state that is not finite, though it was at the start, in words."""
    starts = _fields_of(start)
    for name, array in _fields_of(arrays).items():
        bad = np.flatnonzero(~np.isfinite(array) & np.isfinite(starts[name]))
        if bad.size:
            return f"{name}[{int(bad[0])}] is {array.reshape(-1)[bad[0]]}"
    return None


def _is_too_large(w: Floats, x: SingleRow) -> bool:
    """Tell whether ⟨w,x⟩ or ‖x‖² overflows, or the scale of a row to be normalized."""
    if not (math.isfinite(x.scale) and math.isfinite(squared_norm(x))):
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        # As a rule computes it, where a row is scaled after the sum; and without what cancels.
        total = sum(abs(float(w[index(x, k)]) * value(x, k)) for k in range(size(x)))
        return not (math.isfinite(dot(w, x)) and math.isfinite(total))
