"""Verdicts on separability, each with a witness, and the checker of the witnesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.data.one_label import show
from onlinear.display import Pictured, counted, rounded_up, shortened
from onlinear.engine.flat import Floats
from onlinear.errors import VerificationError
from onlinear.theory.check.exact import combination, over_one_denominator, products
from onlinear.theory.check.interval import MarginInterval
from onlinear.theory.examples import Examples, opened_as

_SHOWN = 12
"""How many rows are listed before the rest are only counted."""
_EXACT_AT_A_TIME = 4096


@dataclass(frozen=True, eq=False, repr=False)
class Separable(Pictured):
    """Some vector separates the examples: this one, y(⟨w,x⟩ + c) > 0 on all of them.

    Attributes
    ----------
    weights : array
        w: floats, or whole numbers of any size where no vector of floats was found.
    intercept : float or int
        c; 0 without `fit_intercept`.
    """

    weights: NDArray[Any]
    intercept: Any
    fit_intercept: bool
    classes: tuple[Any, Any]

    @classmethod
    def by(cls, examples: Examples, w: NDArray[Any]) -> Separable:
        """Return the verdict with the witness w, which has the intercept first, if there is one."""
        if w.dtype == object:
            rounded = _rounded(w)
            w = rounded if unseparated(examples, rounded) is None else w
        intercept = w[0] if examples.bias else 0.0
        held = w[examples.bias :].copy()
        return cls(held, intercept if w.dtype == object else float(intercept), bool(examples.bias), examples.labels)

    def verify(self, X: Any, y: Any = None) -> None:
        """Check the sign of y(⟨w,x⟩ + c) on every example, exactly where floating point cannot tell."""
        examples = opened_as(X, y, fit_intercept=self.fit_intercept, classes=self.classes)
        exact = np.asarray(self.weights).dtype == object
        weights = np.asarray(self.weights, dtype=None if exact else np.float64)
        if not exact and not np.isfinite([*weights.ravel(), self.intercept]).all():
            raise VerificationError("the separator has an entry that is not finite")
        if weights.shape != (examples.width,):
            raise VerificationError(f"the separator has {weights.size} weights; there are {examples.width} features")
        whole = np.concatenate([np.array([self.intercept] * examples.bias, dtype=weights.dtype), weights])
        missed = unseparated(examples, whole)
        if missed is not None:
            raise VerificationError(f"row {int(missed[0])} is misclassified: y⟨w,x⟩ is not above 0")

    def _title(self) -> str:
        return f"Separable{_with_intercept(self.fit_intercept)}"

    def _facts(self) -> list[tuple[str, str]]:
        kind = "whole numbers" if self.weights.dtype == object else "floats"
        intercept, score = (" and an intercept", "(⟨w,x⟩ + c)") if self.fit_intercept else ("", "⟨w,x⟩")
        return [
            ("witness", f"{counted(self.weights.size, 'weight')}{intercept} ({kind}) with y{score} > 0 on every row")
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Inseparable(Pictured):
    """No vector separates the examples: these rows, with these shares, cancel exactly, Σ λ y x = 0.

    A vector with y⟨w,x⟩ > 0 on all of them would have Σ λ y⟨w,x⟩ > 0; but that is ⟨w,0⟩.

    Attributes
    ----------
    rows : int array
        The numbers of the rows.
    shares : tuple of Fraction
        λ, positive, of sum 1.
    labels : tuple
        The rows' labels.
    """

    rows: NDArray[np.intp]
    shares: tuple[Fraction, ...]
    labels: tuple[Any, ...]
    fit_intercept: bool
    classes: tuple[Any, Any]

    @classmethod
    def by(cls, examples: Examples, rows: NDArray[np.intp], shares: list[Fraction]) -> Inseparable:
        """Return the verdict with this combination as its witness."""
        rows = np.asarray(rows, dtype=np.intp)
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        _, y = examples.rows(rows)
        named = tuple(examples.labels[int(code > 0)] for code in y)
        held = tuple(shares[int(k)] for k in order)
        verdict = cls(rows, held, named, bool(examples.bias), examples.labels)
        _check_combination(verdict, examples)
        return verdict

    def verify(self, X: Any, y: Any = None) -> None:
        """Add the combination up in fractions; raise a `VerificationError` unless it is 0."""
        _check_combination(self, opened_as(X, y, fit_intercept=self.fit_intercept, classes=self.classes))

    def explain(self, places: Mapping[int, str] | None = None) -> str:
        """Return a sentence that says which examples to look at, and why no vector separates them.

        Parameters
        ----------
        places : mapping, optional
            What to call rows, by their numbers; the others are called row 0, row 1, ….
        """
        names = [(places or {}).get(row, f"row {row}") for row in self.rows.tolist()]
        rows = [f"{name} ({show(label)})" for name, label in zip(names, self.labels, strict=True)]
        if len(rows) == 1:
            return f"Every vector scores {rows[0]} 0: it is all zeros."
        shares = list(map(show_share, self.shares))
        if len(rows) > _SHOWN:
            more = f"{len(rows) - _SHOWN + 1:,} more"
            rows, shares = [*rows[: _SHOWN - 1], more], [*shares[: _SHOWN - 1], "…"]
        listed = f"{', '.join(rows[:-1])} and {rows[-1]}"
        if self._contradicts:
            return f"Equal examples have opposite labels: {listed}."
        return (
            f"No vector is right on all of {listed}: with the shares {', '.join(shares)}, and times their labels ±1,"
            " they add up to exactly 0."
        )

    @property
    def _contradicts(self) -> bool:
        return self.shares == (Fraction(1, 2),) * 2 and self.labels[0] != self.labels[1]

    def _title(self) -> str:
        return f"Inseparable{_with_intercept(self.fit_intercept)}"

    def _facts(self) -> list[tuple[str, str]]:
        x = "(x, 1)" if self.fit_intercept else "x"
        reason = f"the {len(self.rows)} rows below, with these shares, cancel exactly: Σ λ·y·{x} = 0"
        if self._contradicts:
            reason = "the two rows below are equal, with opposite labels"
        if len(self.rows) == 1:
            reason = "the row below is all zeros: every vector scores it 0"
        listed = [
            (f"row {int(row)}", f"share {show_share(share)}, labelled {show(label)}")
            for row, share, label in zip(self.rows, self.shares, self.labels, strict=True)
        ]
        return [("because", reason), *shortened(listed, _SHOWN)]


@dataclass(frozen=True, eq=False, repr=False)
class Undecided(Pictured):
    """Neither verdict was proven; but no separator has a margin above `margin.upper`.

    Attributes
    ----------
    margin : MarginInterval
        What is known, with its witness.
    """

    margin: MarginInterval

    def verify(self, X: Any, y: Any = None) -> None:
        """Recompute the bound on the margin."""
        self.margin.verify(X, y)

    def _title(self) -> str:
        return f"Undecided{_with_intercept(self.margin.kind == 'augmented')}"

    def _facts(self) -> list[tuple[str, str]]:
        return [("known", f"no separator has a margin above {rounded_up(self.margin.upper)}")]


Verdict: TypeAlias = Separable | Inseparable | Undecided


def unseparated(examples: Examples, w: NDArray[Any], most: int = 1) -> NDArray[np.intp] | None:
    """Return the first rows, up to `most`, on which y⟨w,x⟩ > 0 does not hold; None where it holds on all.

    Floating point with a bound on its error decides most rows; those within the error are decided exactly.
    """
    rounded = _rounded(w) if w.dtype == object else w
    if not np.isfinite(rounded).all() or not rounded.any():
        rounded = np.zeros(w.size)  # then nothing is decided in floating point
    # A rounded vector is within 2⁻⁵³ of itself in every entry, which the error of a score must cover.
    inexact = 2.0 if w.dtype == object else 1.0
    missed: list[NDArray[np.intp]] = []
    for part in examples.scores(rounded):
        agreement = part.y * part.scores
        wrong = agreement < -inexact * part.errors
        open_ = ~wrong & (agreement <= inexact * part.errors)
        for some in np.array_split(np.flatnonzero(open_), max(1, -(-int(open_.sum()) // _EXACT_AT_A_TIME))):
            rows, y = examples.rows(part.first + some)
            exact = products(rows, w)
            wrong[some] = [int(code) * value <= 0 for code, value in zip(y, exact, strict=True)]
            if wrong.sum() >= most:
                break
        if wrong.any():
            missed.append(part.first + np.flatnonzero(wrong))
            if sum(len(rows) for rows in missed) >= most:
                break
    return np.concatenate(missed)[:most] if missed else None


def _check_combination(verdict: Inseparable, examples: Examples) -> None:
    rows, y = examples.rows(verdict.rows)
    if len(verdict.shares) != len(verdict.rows) or len(set(verdict.rows.tolist())) != len(verdict.rows):
        raise VerificationError("the combination must have one share for each of its rows")
    numerators, denominator = over_one_denominator(verdict.shares)
    if not numerators or min(numerators) <= 0 or sum(numerators) != denominator:
        raise VerificationError("the shares of a convex combination must be positive, and their sum 1")
    columns = combination(rows, [int(code) * share for code, share in zip(y, numerators, strict=True)], denominator)
    for column, whole in columns.sums:
        name = "the constant 1" if examples.bias and column == 0 else f"feature {column - examples.bias}"
        raise VerificationError(f"the combination is not 0: {name} comes to {float(whole * columns.unit):g}")


def _rounded(w: NDArray[Any]) -> Floats:
    """Return a vector of whole numbers, scaled to entries of size 1, in floats."""
    largest = max((abs(v) for v in w), default=0)
    if largest == 0:
        return np.zeros(w.size)
    return np.array([float(Fraction(v) / Fraction(largest)) for v in w])


def _with_intercept(fit_intercept: bool) -> str:
    return ", with an intercept" if fit_intercept else ""


def show_share(share: Fraction) -> str:
    """Return a share as a fraction if it is short, otherwise rounded."""
    # Not str() first: Python refuses to write out numbers of thousands of digits.
    return str(share) if share.denominator.bit_length() <= 20 else f"≈{float(share):.4g}"
