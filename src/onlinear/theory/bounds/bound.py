"""What a theorem says about examples: a number, and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from onlinear.display import Facts, rounded_down, rounded_up

EXACT = "rounding decided no prediction"
"""What is declared wherever the mistakes or updates of a learner are bounded; see `Bound`."""

_COUNTS = ("mistakes", "updates", "steps")
_GIVEN = ("eta", "delta", "p", "C", "alpha", "theta")
"""Quantities that are no bounds themselves."""
_AT_LEAST = ("margin", "margin_when_halted", "inner_at_least", "cosine_at_least")
"""Quantities that are bounds from below; all others are bounds from above, or counts."""


@dataclass(frozen=True, repr=False)
class Bound(Facts):
    """A theorem's number for the examples at hand, rounded outward, with the assumptions that it rests on.

    Attributes
    ----------
    value : float
        The number; never below what the theorem says (of a bound from below, never above). Infinite where
        nothing is known.
    theorem : str
        Which theorem, in short.
    checked : tuple of str
        The assumptions that were checked on the examples.
    declared : tuple of str
        The assumptions that could not be: they are the caller's word. The theorems speak of exact
        arithmetic, so every bound on a learner's mistakes, updates or steps declares `EXACT`: in a run in
        floating point a score that is within rounding of 0 may fall on the other side, and the run go
        another way.
    quantities : dict
        What the number is made of.
    strict : bool
        Whether the theorem says "fewer than", not "at most".
    of : str
        What is bounded: "mistakes", "updates", "steps", "expected mistakes", "margin", "risk" or "dimension".
    lower : bool
        Whether it is bounded from below.
    note : str
        What else there is to know about it.
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
            raise AttributeError(f"{self.theorem} bounds no count, but: {self.of}")
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
