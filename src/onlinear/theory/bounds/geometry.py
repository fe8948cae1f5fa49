"""What nearly all bounds are made of: R, the margin of a comparator u, and ‖u‖, as exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError
from onlinear.theory.check.exact import float_down, float_up, root_down, root_up, squared
from onlinear.theory.check.interval import learned_kind
from onlinear.theory.check.measures import Extreme, least_agreement, squared_radius
from onlinear.theory.examples import Examples
from onlinear.theory.search.hard_margin import margin_interval

FROM_ZERO = "the first weights are 0"


class Geometry(NamedTuple):
    """R² = max‖x‖², the smallest y⟨u,x⟩ with its row, and ‖u‖².

    Where rows are normalised the first is a bound from above and the second one from below.
    """

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

    def quantities(self) -> dict[str, float]:
        """Return R, rounded up, γ(u), rounded down, and (R/γ(u))², rounded up."""
        return {
            "radius": root_up(self.squared_radius),
            "margin": root_down(self.squared_margin),
            "difficulty": float_up(self.difficulty),
        }


def opened(X: Any, y: Any, u: Any, *, fit_intercept: bool, normalize: bool, classes: Any) -> tuple[Examples, Floats]:
    """Return the examples and the comparator, with the intercept first; without one, the best that is found."""
    examples = Examples(X, y, fit_intercept=fit_intercept, normalize=normalize, classes=classes)
    return examples, separator(examples) if u is None else examples.vector("u", u)


def separator(examples: Examples) -> Floats:
    """Return a separator with nearly the largest margin, the intercept first."""
    found = margin_interval(examples, learned_kind(examples), tol=1e-3, max_steps=1000)
    if found.weights is None:
        raise AssumptionError("no separator is known: none was found, and u is not given")
    return np.concatenate([[found.intercept] * examples.bias, found.weights])


def measured(examples: Examples, u: Floats) -> Geometry:
    """Return the geometry of any u."""
    return Geometry(squared_radius(examples).value, least_agreement(examples, u), squared(u))


def separating(examples: Examples, u: Floats) -> Geometry:
    """Return the geometry of a u that separates the examples; raise where it does not."""
    geometry = measured(examples, u)
    least = geometry.least
    if least.value <= 0:
        at_least = float_down(least.value)
        found = f"is {at_least:g}" if least.exact else f"is not certainly above {at_least:g}"
        raise AssumptionError(f"u does not separate the examples: y⟨u,x⟩ {found} at row {least.row}")
    return geometry


def separates(examples: Examples) -> str:
    """Return in words what `separating` has checked."""
    return f"u separates all {examples.n:,} examples, and ‖x‖ ≤ R on them"
