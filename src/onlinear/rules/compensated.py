"""Sums that keep what each addition rounds off."""

from __future__ import annotations

from onlinear.engine.flat import Floats


def accumulate(total: Floats, a: float) -> None:
    """Add a to ``total[0]`` and what the addition rounds off to ``total[1]`` (Neumaier)."""
    before = total[0]
    after = before + a
    if abs(before) >= abs(a):
        total[1] += (before - after) + a
    else:
        total[1] += (a - after) + before
    total[0] = after
