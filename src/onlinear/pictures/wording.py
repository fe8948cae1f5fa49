"""The words in pictures: rules and classes by short names, and numbers."""

from __future__ import annotations

from typing import Any

from onlinear.data.one_label import show
from onlinear.display import printable
from onlinear.models.state import State
from onlinear.rules.majority import Majority, Member

_LONGEST = 48
"""Longer names are cut."""


def rule_name(rule: Any) -> str:
    """Return a rule with the parameters that are not the default ones."""
    if isinstance(rule, Majority):
        return "Majority"
    return shorten_name(Member(rule).name.removesuffix("()"))


def shorten_name(name: str) -> str:
    """Return a name in one line of bounded length."""
    name = printable(name)
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def class_names(state: State) -> list[str]:
    """Return the labels of the classes, as text."""
    return [label_name(label) for label in state.classes]


def label_name(label: Any) -> str:
    """Return a label as text; quotes only where it would look like a number without them."""
    text = str(label)
    plain = isinstance(label, str) and text.isprintable() and text.strip() == text != "" and not text[0].isdigit()
    return shorten_name(text if plain and text[0] not in "+-." else show(label))


def feature_names(state: State) -> list[str]:
    """Return the names of the features, or their numbers where they have none."""
    known = state.names or ()
    return [shorten_name(known[j]) if j < len(known) and known[j] else f"feature {j}" for j in range(state.n_features)]


def rounded(value: float) -> str:
    """Return a number with three digits, and thousands separators; a whole number exactly."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"
