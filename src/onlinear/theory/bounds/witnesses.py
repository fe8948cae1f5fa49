"""The vectors that a bound uses where the caller gives none: the only place in the bounds that asks the solvers."""

from __future__ import annotations

from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError
from onlinear.theory.check.interval import learned_kind
from onlinear.theory.examples import Examples
from onlinear.theory.search.comparator import best_comparator, scaled_comparator
from onlinear.theory.search.hard_margin import margin_interval


def find_separator(examples: Examples) -> Floats:
    """Return a separator with nearly the largest margin, the intercept first."""
    found = margin_interval(examples, learned_kind(examples), tol=1e-3, max_steps=1000)
    if found.weights is None:
        raise AssumptionError("no separator is known: none was found, and u is not given")
    return examples.vector("u", (found.weights, found.intercept) if examples.bias else found.weights)


def find_comparator(examples: Examples) -> Floats:
    """Return the vector that makes the hinge bound (P5) smallest, the intercept first."""
    return best_comparator(examples).whole


def find_scaled_comparator(examples: Examples, C: float, power: int) -> Floats:
    """Return the multiple of that vector that makes ‖u‖² + 2CΣℓ^power smallest, the intercept first."""
    return scaled_comparator(examples, find_comparator(examples), C, power)
