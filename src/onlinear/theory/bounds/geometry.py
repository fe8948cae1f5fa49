"""What nearly all bounds are made of: R, the margin of a comparator u, and ‖u‖, as exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError
from onlinear.theory.bounds.witnesses import find_separator
from onlinear.theory.check.exact import float_down, float_up, root_down, root_up, squared
from onlinear.theory.check.extremes import Extreme, least_agreement, squared_radius
from onlinear.theory.examples import Examples

FROM_ZERO = "the first weights are 0"


class Geometry(NamedTuple):
    """R² = max‖x‖², the smallest y⟨u,x⟩ with its row, and ‖u‖², for n examples and u with the intercept first.

    Where rows are normalised the first is a bound from above and the second one from below.
    """

    n: int
    u: Floats
    squared_radius: Fraction
    least: Extreme
    squared_norm: Fraction

    @property
    def squared_margin(self) -> Fraction:
        """γ(u)² = (min y⟨u,x⟩)²/‖u‖²."""
        return self.least.value**2 / self.squared_norm

    @property
    def difficulty(self) -> Fraction:
        """(R/γ(u))²."""
        return self.squared_radius / self.squared_margin

    @property
    def checked(self) -> str:
        """What `separating_geometry` has checked, in words."""
        return f"u separates all {self.n:,} examples, and ‖x‖ ≤ R on them"

    def quantities(self) -> dict[str, float]:
        """Return R, rounded up, γ(u), rounded down, and (R/γ(u))², rounded up."""
        return {
            "radius": root_up(self.squared_radius),
            "margin": root_down(self.squared_margin),
            "difficulty": float_up(self.difficulty),
        }


def geometry_of(examples: Examples, u: Floats) -> Geometry:
    """Return the geometry of any u with the intercept first."""
    return Geometry(examples.n, u, squared_radius(examples).value, least_agreement(examples, u), squared(u))


def separating_geometry(examples: Examples, u: Any) -> Geometry:
    """Return the geometry of a u that separates the examples, by default one that is searched for; raise otherwise."""
    geometry = geometry_of(examples, find_separator(examples) if u is None else examples.vector("u", u))
    least = geometry.least
    if least.value <= 0:
        at_least = float_down(least.value)
        found = f"is {at_least:g}" if least.exact else f"is not certainly above {at_least:g}"
        raise AssumptionError(f"u does not separate the examples: y⟨u,x⟩ {found} at row {least.row}")
    return geometry
