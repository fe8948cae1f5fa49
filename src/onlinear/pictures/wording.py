"""The words in pictures: rules and classes by short names, and numbers."""

from __future__ import annotations

import math
from typing import Any

from onlinear.data.one_label import plain, show
from onlinear.display import printable, rounded_up
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
    clear = isinstance(label, str) and text.isprintable() and text.strip() == text != "" and not text[0].isdigit()
    return shorten_name(text if clear and text[0] not in "+-." else show(plain(label)))


def feature_names(state: State) -> list[str]:
    """Return the names of the features, or their numbers where they have none: of libsvm files, those in the file."""
    known, reading = state.names or (), state.reading or {}
    kind, first = "feature", 0
    if reading.get("format") == "libsvm":
        kind, first = "index", 0 if reading.get("zero_based") else 1
    return [
        shorten_name(known[j]) if j < len(known) and known[j] else f"{kind} {first + j}"
        for j in range(state.n_features)
    ]


def rounded(value: float) -> str:
    """Return a number with three digits, and thousands separators; a whole number exactly."""
    whole = abs(value) >= 1000.0 or float(value).is_integer()
    return (f"{value:,.0f}" if whole and abs(value) < 1e15 else f"{value:.3g}").replace("-", "−")


def limit_words(value: float) -> str:
    """Return an upper bound, rounded up, with thousands separators."""
    return f"{math.ceil(value):,}" if 1000.0 <= value < 1e15 else rounded_up(value)
