"""Losses of a score: how wrong it is for a label ±1, and how fast that changes with the score."""

from __future__ import annotations

import math
from typing import Any, Final, Literal, TypeAlias

from onlinear.errors import ParameterError

Loss: TypeAlias = Literal["hinge", "logistic"]
LOSSES: Final = ("hinge", "logistic")


def slope(logistic: bool, y: float, score: float) -> float:
    """Return dℓ/ds: of the logistic loss ln(1 + e^(−ys)), or of the hinge loss max(0, 1 − ys)."""
    if logistic:
        return -y / (1.0 + math.exp(y * score))
    return -y if y * score < 1.0 else 0.0


def check_loss(owner: Any) -> None:
    """Raise a `ParameterError` unless the loss of a rule is one of these."""
    if owner.loss not in LOSSES:
        raise ParameterError(f"{type(owner).__name__}: loss is {owner.loss!r}; it must be one of {list(LOSSES)}")
