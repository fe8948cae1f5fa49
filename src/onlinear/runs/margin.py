"""The perceptron's proof read backwards: an upper bound on every separator's margin, from the weights alone."""

from __future__ import annotations

import math

from onlinear.engine.flat import Floats
from onlinear.rounding import LEAST, UNIT, accurate_norm


def margin_upper_bound(w: Floats, v: Floats | None, updates: int, steps: float, reach: float) -> float:
    """Return a bound on the margin of every separator of the examples that an additive rule has seen.

    From the start v (None: 0) the steps have led to w = v + Σ λ y x, so (w − v)/Σλ is in the convex
    hull of the vectors y·x, and γ* ≤ ‖w − v‖/Σλ. The bound is rounded outward, since w has rounding errors.

    Parameters
    ----------
    w, v : arrays
        The weights now and at the start.
    updates, steps, reach
        The number of updates, Σ λ and Σ λ‖x‖ over them.
    """
    if steps <= 0.0:
        return math.inf
    moved, begun = w, 0.0
    if v is not None:
        moved = w.copy()
        moved[: v.size] -= v
        begun = accurate_norm(v)
    # Each update rounds w, whose norm is at most ‖v‖ + reach, a few times; where x is normalised, its
    # norm was rounded once per entry.
    slack = UNIT * (4.0 * updates * (begun + reach) + (w.size + 8.0) * reach)
    # An entry of x, and one of λ·x, may have underflowed.
    slack += 2.0 * LEAST * (updates + steps) * math.sqrt(w.size)
    outward = 1.0 + UNIT * (2.0 * updates + 16.0)
    return math.nextafter((accurate_norm(moved) + slack) / steps * outward, math.inf)
