"""The largest margin as an interval with two witnesses, and the checker of both.

A vector w shows that some separator has at least its margin; a convex combination λ of the vectors y·x
shows that none has more than the combination's length: ⟨u, Σ λ y x⟩ = Σ λ y⟨u,x⟩ ≥ γ(u)‖u‖ for every u.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.display import Pictured, counted, rounded_down, rounded_up
from onlinear.engine.flat import Floats
from onlinear.errors import VerificationError
from onlinear.rounding import UNIT
from onlinear.theory.check.exact import combination, float_up, over_one_denominator, root_up, squared
from onlinear.theory.check.extremes import divide_by_root, least_agreement, squared_radius
from onlinear.theory.examples import Examples, opened_as

MarginKind: TypeAlias = Literal["through the origin", "affine", "augmented"]


def learned_kind(examples: Examples) -> MarginKind:
    """Return the kind of margin in the theorems: that of the rows as a learner sees them."""
    return "augmented" if examples.bias else "through the origin"


class Step(NamedTuple):
    """The progress of a solver: its working set, and its bounds so far, in floating point."""

    number: int
    working_set: int
    lower: float
    upper: float


OnStep: TypeAlias = Callable[[Step], None]
"""What a solver calls after each of its steps, to show its progress."""


@dataclass(frozen=True, eq=False, repr=False)
class MarginInterval(Pictured):
    """The largest margin lies between `lower` and `upper`; both are proven, and rounded outward.

    Attributes
    ----------
    lower : float
        The margin of the separator (`weights`, `intercept`); 0 where none was found.
    upper : float
        No separator has more: the length of the combination Σ λ y x with λ = `shares` on the rows `support`.
    kind : {"through the origin", "affine", "augmented"}
        Which margin: min y⟨u,x⟩/‖u‖; with an intercept min y(⟨u,x⟩ + c)/‖u‖, the distance to the
        hyperplane; or the same over √(‖u‖² + c²), which is the margin in the theorems.
    radius : float
        R of the rows that the margin belongs to, rounded up (of the features alone, where affine).
    augmented : MarginInterval or None
        Beside an affine interval, the augmented one.
    steps : tuple of Step
        The progress of the solver.
    """

    lower: float
    upper: float
    weights: Floats | None
    intercept: float
    support: NDArray[np.intp]
    shares: Floats
    kind: MarginKind
    radius: float
    normalize: bool = False
    classes: tuple[Any, Any] = (-1, 1)
    augmented: MarginInterval | None = None
    steps: tuple[Step, ...] = ()

    @property
    def separable(self) -> bool:
        """Whether a separator is known; False does not prove that there is none (see `onlinear.separability`)."""
        return self.lower > 0.0

    @property
    def gap(self) -> float:
        """The length of the interval, relative to the upper end."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else 0.0

    @property
    def difficulty(self) -> float:
        """(R/γ)² with the proven margin, rounded up: the perceptron's bound; infinite without a separator."""
        if self.lower <= 0.0:
            return math.inf
        return float_up(Fraction(self.radius) ** 2 / Fraction(self.lower) ** 2)

    def verify(self, X: Any, y: Any = None) -> None:
        """Recompute both ends from their witnesses; raise a `VerificationError` where one proves less than claimed."""
        examples = opened_as(
            X, y, fit_intercept=self.kind != "through the origin", normalize=self.normalize, classes=self.classes
        )
        check_interval(self, examples)
        if self.augmented is not None:
            check_interval(self.augmented, examples)

    def _facts(self, noun: str = "row") -> list[tuple[str, str]]:
        intercept = "" if self.kind == "through the origin" else " and an intercept"
        separator = "none found" if self.weights is None else f"{counted(self.weights.size, 'weight')}{intercept}"
        facts = [
            ("at least", f"{rounded_down(self.lower)} ({separator})"),
            ("at most", f"{rounded_up(self.upper)} (a combination of {counted(self.support.size, noun)})"),
            ("gap", f"{100.0 * self.gap:.3g}% of the upper end"),
            ("radius", rounded_up(self.radius)),
        ]
        if self.separable:
            facts.append(("difficulty", f"(R/γ)² ≤ {rounded_up(self.difficulty)}"))
        if self.augmented is not None:
            facts.append(("augmented", f"{rounded_down(self.augmented.lower)} to {rounded_up(self.augmented.upper)}"))
        return facts

    def _title(self) -> str:
        return f"Largest margin, {self.kind}"


def radius_of(examples: Examples, kind: MarginKind) -> float:
    """Return R of the rows that a kind of margin belongs to, rounded up: for the affine one, of the features alone."""
    square = squared_radius(examples).value
    return root_up(max(square - 1, 0 * square) if kind == "affine" else square)


def proven_lower(examples: Examples, w: Floats, kind: MarginKind) -> float:
    """Return the margin of w on all examples, rounded down; w has the intercept first, if there is one."""
    counted = w[1:] if kind == "affine" else w
    return divide_by_root(least_agreement(examples, w).value, squared(counted))


def proven_upper(examples: Examples, support: NDArray[np.intp], shares: Floats, kind: MarginKind) -> float:
    """Return the length of the convex combination with these shares, rounded up.

    The affine margin is bounded by half the distance between a point of each class's hull: there the
    shares of each class count for one half.
    """
    rows, y = examples.rows(support)
    if shares.size != support.size or not (np.isfinite(shares) & (shares >= 0.0)).all():
        raise VerificationError("the shares of a convex combination must be numbers, at least 0, one for each row")
    weights = [Fraction(float(share)) for share in shares]
    halves = {code: sum((w for w, c in zip(weights, y, strict=True) if c == code), Fraction(0)) for code in (-1, 1)}
    whole = sum(halves.values())
    if whole == 0 or (kind == "affine" and not all(halves.values())):
        return math.inf
    scale = {code: 1 / (2 * half) if kind == "affine" else 1 / whole for code, half in halves.items() if half}
    signed = [int(c) * w * scale[int(c)] if w else w for w, c in zip(weights, y, strict=True)]
    columns = combination(rows, *over_one_denominator(signed))
    # The affine margin does not count the constant 1: its column is 1·½ − 1·½ = 0, and so is not among these.
    length = root_up(sum(whole * whole for _, whole in columns.sums) * columns.unit**2)
    if examples.normalize and rows.nnz:
        # Each row was rounded where it was divided by its length.
        length = math.nextafter(length + (examples.width + 16.0) * UNIT * 2.0, math.inf)
    return length


def check_interval(interval: MarginInterval, examples: Examples) -> None:
    """Recompute both ends of an interval."""
    upper = proven_upper(examples, interval.support, interval.shares, interval.kind)
    if not interval.upper >= upper:
        raise VerificationError(f"the combination proves a margin of at most {upper!r}, not {interval.upper!r}")
    radius = radius_of(examples, interval.kind)
    if not interval.radius >= radius:
        raise VerificationError(f"the radius is {radius!r}, not {interval.radius!r}")
    if interval.weights is None:
        if not interval.lower <= 0.0:
            raise VerificationError(f"a margin of at least {interval.lower!r} is claimed without a separator")
        return
    w = examples.vector("weights", (interval.weights, interval.intercept) if examples.bias else interval.weights)
    lower = proven_lower(examples, w, interval.kind)
    if not interval.lower <= max(0.0, lower):
        raise VerificationError(f"the separator has a margin of {lower!r}, not {interval.lower!r}")
