"""The result of a halting loop, and how it ended."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

from onlinear.runs.outcome import Run

WORST_UPDATES = 100_000
"""The default limit of updates for ``"worst"``, which reads all examples for each update."""


class PassCounts(NamedTuple):
    """What happened in one pass."""

    mistakes: int
    """Wrong predictions, each made before the label was known."""
    updates: int
    """Rounds with a step."""
    steps: float
    """The sum of the sizes of the steps, if the rule is additive, otherwise the updates; of a batch, of its weights."""


Stop: TypeAlias = Callable[[Sequence[PassCounts]], bool]
"""Tells from what happened in each pass whether a loop should end."""


class Outcome(enum.Enum):
    """How a halting loop ended."""

    HALTED = enum.auto()
    UPDATE_LIMIT = enum.auto()
    PASS_LIMIT = enum.auto()
    OUT_OF_REACH = enum.auto()
    """It is proven that the rule can never halt on these examples."""


@dataclass(frozen=True, eq=False, repr=False)
class Convergence(Run):
    """A run of the halting loop.

    Attributes
    ----------
    halted : bool
        Whether the last pass over all examples found none to learn from.
    passes : int
        Passes over the examples; a pass is as many examples read as there are.
    reason : str
        Why it ended, in a sentence.
    selection, seed, max_updates, max_passes
        As they were given.
    outcome : Outcome
        Why it ended.
    """

    KIND: ClassVar[str] = "Convergence"

    halted: bool = False
    passes: int = 0
    reason: str = ""
    selection: str = "cyclic"
    seed: int = 0
    max_updates: int | None = None
    max_passes: int = 1000
    outcome: Outcome = Outcome.HALTED

    def _saved(self) -> dict[str, Any]:
        facts = super()._saved()
        return facts if self.outcome is derived_outcome(self, **facts) else facts | {"ended": self.outcome.name}

    def _facts(self) -> list[tuple[str, str]]:
        return [("halted", f"{'yes' if self.halted else 'no'}: {self.reason}"), *super()._facts()]


def derived_outcome(run: Run, **facts: Any) -> Outcome:
    """Return how a loop ended, from its limits; for a run that was resumed, the first reason that fits.

    A model file holds the outcome only if it differs from this.
    """
    if facts["halted"]:
        return Outcome.HALTED
    goal = run.rule.goal_margin() if hasattr(run.rule, "goal_margin") else None
    bound = run.margin_upper_bound
    if goal is not None and bound is not None and bound <= goal:
        return Outcome.OUT_OF_REACH
    worst = facts["selection"] == "worst"
    at_pass_limit = not worst and facts["passes"] == facts["max_passes"]
    limit = facts["max_updates"] or (WORST_UPDATES if worst else None)
    if limit is not None and (run.updates == limit or (run.updates > limit and not at_pass_limit)):
        return Outcome.UPDATE_LIMIT
    return Outcome.PASS_LIMIT if at_pass_limit or goal is None else Outcome.OUT_OF_REACH
