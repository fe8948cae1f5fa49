"""The bound that a theorem gives for examples: a number, and its assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from onlinear.display import Facts, rounded_down, rounded_up

EXACT = "rounding decided no prediction"
"""Declared wherever the mistakes or updates of a learner are bounded; see `Bound`."""

_COUNTS = ("mistakes", "updates", "steps")
_GIVEN = ("eta", "delta", "p", "C", "alpha", "theta")
"""Quantities that are given, not bounds."""
_AT_LEAST = ("margin", "margin_when_halted", "inner_at_least", "cosine_at_least")
"""Quantities that are bounds from below; all others are bounds from above, or counts."""


@dataclass(frozen=True, repr=False)
class Bound(Facts):
    """The bound that a theorem gives for examples, rounded outward, with its assumptions.

    Attributes
    ----------
    value : float
        The number; never below the theorem's own (of a bound from below, never above). Infinite where
        nothing is known.
    theorem : str
        The name of the theorem.
    checked : tuple of str
        The assumptions that were checked on the examples.
    declared : tuple of str
        The assumptions that could not be checked, for which the caller vouches. The theorems assume exact
        arithmetic, so every bound on a learner's mistakes, updates or steps declares `EXACT`: in floating point a score
        that is within rounding of 0 may get the other sign, and the run may take another course.
    quantities : dict
        The quantities in the formula.
    strict : bool
        Whether the bound is "fewer than", not "at most".
    of : str
        What is bounded: "mistakes", "updates", "steps", "expected mistakes", "margin", "risk" or "dimension".
    lower : bool
        Whether it is bounded from below.
    note : str
        A remark, such as why the bound is infinite.
    """

    value: float
    theorem: str
    checked: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    quantities: dict[str, float] = field(default_factory=dict)
    strict: bool = False
    of: str = "mistakes"
    lower: bool = False
    note: str = ""

    @property
    def mistakes(self) -> float:
        """The largest whole number that the bound allows (of a bound from below, the smallest), or infinity."""
        if self.of not in _COUNTS:
            raise AttributeError(f"{self.theorem} bounds {self.of}, which is not a count")
        if math.isinf(self.value):
            return self.value
        if self.lower:
            return math.ceil(self.value)
        return math.ceil(self.value) - 1 if self.strict else math.floor(self.value)

    def _title(self) -> str:
        return f"Bound: {self.theorem}"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            (self.of, self._statement()),
            *((name.replace("_", " "), _shown(name, value)) for name, value in self.quantities.items()),
            *(("checked", words) for words in self.checked),
            *(("declared", words) for words in self.declared),
        ]
        return [*facts, ("note", self.note)] if self.note else facts

    def _statement(self) -> str:
        if self.lower:
            return f"at least {rounded_down(self.value)}"
        if math.isinf(self.value):
            return "no limit is known"
        return f"{'fewer than' if self.strict else 'at most'} {rounded_up(self.value)}"


def _shown(name: str, value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if name in _GIVEN:
        return f"{value:.6g}"
    return rounded_down(value) if name in _AT_LEAST else rounded_up(value)
