"""Whether the rule, with its round and line, or the example has caused a failure."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.engine.algebra import size, squared_norm, value
from onlinear.engine.explain import RULE_FAULTS, place_in_rule
from onlinear.engine.passes import REACH, STEPS
from onlinear.engine.rows import Block, SingleRow, open_rows, row
from onlinear.errors import DataError, RuleError
from onlinear.models.state import is_finite, new_state, weights_of

_LARGE = 1e150
"""Squares of larger numbers overflow."""


def rule_failure(rule: Any, when: str, error: Exception, again: Callable[[], Any]) -> RuleError:
    """Return the error for a rule that has raised one; `again` does the same in plain Python, to find the line."""
    place = place_in_rule(error)
    if not place:
        try:
            again()
        except RULE_FAULTS as repeated:
            place = place_in_rule(repeated)
    return RuleError(f"rule {rule!r} failed {when}: {error}{place}")


def rule_fault(learner: Any, block: Block, where: str) -> RuleError | None:
    """Return the error of a rule whose score of a finite example is not finite; None if the examples are to blame.

    They are if this one is too large, or if earlier ones have made the weights of an additive rule large.
    """
    rule, arrays, rounds = learner.rule, learner.arrays, learner.rounds
    fault = state_fault(learner)
    if fault is not None:
        return fault if isinstance(fault, RuleError) else None
    x = row(open_rows(block), 0, rounds)
    # Where the scores of all classes are finite, update() refuses the example.
    refused = learner.multiclass and learner.score(block, 1, rounds)[2]
    if refused or _is_too_large(x) or _moved_by_large_examples(learner):
        return None
    failed = f"rule {rule!r} failed in round {rounds + 1} ({where}): "
    largest = float(np.max(np.abs(weights_of(arrays)), initial=0.0))
    if learner.multiclass or largest > _LARGE:
        return RuleError(f"{failed}the score overflows, since its weights are as large as {largest:.3g}")
    try:
        with np.errstate(divide="raise", over="ignore", invalid="ignore"):
            found = float(learner.engine_rule.score(arrays, x))
    except RULE_FAULTS as error:
        return RuleError(f"{failed}{error}{place_in_rule(error)}")
    if math.isfinite(found):  # update() refuses the example
        return None
    return RuleError(f"{failed}score() returned {found}, although its weights and the example are finite")


def state_fault(learner: Any) -> RuleError | DataError | None:
    """Return the error for a state that is not finite any more; the examples are to blame where they are too large."""
    rule, arrays = learner.rule, learner.arrays
    if all(is_finite(array) for array in _fields_of(arrays).values()):
        return None
    bad = _not_finite(arrays, new_state(learner.engine_rule, weights_of(arrays).size))
    if bad is None:
        return None
    if _moved_by_large_examples(learner):
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


def _moved_by_large_examples(learner: Any) -> bool:
    """Tell whether an additive rule has taken steps of ordinary size by examples that are too large."""
    sums = learner.sums
    return bool(learner.rule.additive and sums[STEPS] < _LARGE and not sums[REACH] < _LARGE)


def _is_too_large(x: SingleRow) -> bool:
    """Tell whether the square of an entry overflows, or the scale of a row to be normalized."""
    if not (math.isfinite(x.scale) and math.isfinite(squared_norm(x))):
        return True
    with np.errstate(over="ignore"):
        # Before the row is scaled, too: that is done after the sum.
        return any(abs(value(x, k)) > _LARGE * min(1.0, x.scale) for k in range(size(x)))
