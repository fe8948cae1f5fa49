"""The maximum-margin separator: a small quadratic program, priced over all the data, until the gap closes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import Floats
from onlinear.errors import DataError, ParameterError
from onlinear.rounding import accurate_norm
from onlinear.theory.check.interval import (
    MarginInterval,
    MarginKind,
    OnStep,
    Step,
    proven_lower,
    proven_upper,
    radius_of,
)
from onlinear.theory.examples import Examples, examples_of
from onlinear.theory.search.effort import Effort, check_seconds
from onlinear.theory.search.trial import perceptron_separator

_SOLVER_TOLERANCE = 1e-12
_FLOORS = (1e-4, 1.0, 0.0, 1e-8)
_CLOSED = 1e-9
"""Where the two ends of a program are this close, other units cannot improve it."""
_COST = 1.5e-8
"""About how many seconds a program takes per row and entry."""
_SHARES = (1e-4, 1e-6, 1e-8, 1e-10, 0.0)
"""Shares below one of these times the largest are left out, where that hardly lengthens the combination."""


def max_margin(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = False,
    tol: float = 1e-6,
    normalize: bool = False,
    classes: Any = None,
    max_steps: int = 1000,
    seconds: float = 60.0,
    progress: OnStep | None = None,
) -> MarginInterval:
    """Return the largest margin of any separator, as an interval with a witness at each end.

    The hard-margin problem, min ½‖w‖² with y⟨w,x⟩ ≥ 1, and its dual, γ* = min ‖Σ λ y x‖ over convex
    combinations, are solved on a working set; a compiled pass over all examples then finds those that
    w misses, and they join the set, until the two ends meet within `tol`. Both ends are then recomputed
    from their witnesses by an independent checker, and rounded outward.

    Where no vector separates the examples, `lower` is 0 and `upper` the smallest length that was found. Where
    thousands of examples decide the margin, as in data with more features than examples, the search may end at a limit;
    `gap` then shows how far the ends are apart.

    Parameters
    ----------
    X, y : matrix and labels, or Examples
        As in `onlinear.run`; without y, blocks ``(X, y)`` that can be iterated again and again.
    fit_intercept : bool
        Ask for the affine margin, min y(⟨w,x⟩ + c)/‖w‖; the augmented one stands beside it.
    tol : float
        The gap to reach, relative to the upper end.
    normalize, classes
        As in `onlinear.run`.
    max_steps : int
        Give up after this many quadratic programs, with whatever gap is left.
    seconds : float
        Give up after quadratic programs that take about as long as this; counted by their size, not clocked.
    progress : callable, optional
        Called with a `Step` after each.

    Returns
    -------
    MarginInterval

    Examples
    --------
    >>> import onlinear
    >>> found = onlinear.max_margin([[10.0], [12.0]], [-1, 1], fit_intercept=True)
    >>> round(found.lower, 5), round(found.upper, 5), round(found.augmented.upper, 2)
    (1.0, 1.0, 0.09)
    """
    check_solver(tol, max_steps)
    check_seconds(seconds)
    examples = examples_of(X, y, fit_intercept=fit_intercept, normalize=normalize, classes=classes)

    def interval(kind: MarginKind) -> MarginInterval:
        return margin_interval(examples, kind, tol, max_steps, seconds, progress)

    if not examples.bias:
        return interval("through the origin")
    augmented = interval("augmented")
    return replace(interval("affine"), augmented=augmented)


def check_solver(tol: float, max_steps: int) -> None:
    """Raise where a solver's limits make no sense."""
    if not (isinstance(tol, int | float) and 0.0 < tol < 1.0):
        raise ParameterError(f"tol is {tol!r}; it must be a number with 0 < tol < 1")
    if not (isinstance(max_steps, int) and max_steps >= 1):
        raise ParameterError(f"max_steps is {max_steps!r}; it must be a positive integer")


def margin_interval(
    examples: Examples,
    kind: MarginKind,
    tol: float,
    max_steps: int = 1000,
    seconds: float = 60.0,
    progress: OnStep | None = None,
) -> MarginInterval:
    """Return the interval of one kind of margin, proven."""
    problem = Problem(examples, kind)
    found = problem.nothing()
    steps: list[Step] = []
    for found in problem.improve(max_steps, Effort(seconds)):
        steps.append(Step(len(steps) + 1, found.working_set, max(0.0, found.lower), found.upper))
        if progress is not None:
            progress(steps[-1])
        if found.upper - found.lower <= 0.99 * tol * found.upper:
            break
    support, shares = problem.few_shares(found, tol) if found.rows.size else problem.one_of_each()
    upper = proven_upper(examples, support, shares, kind)
    w = found.w if found.lower > 0.0 else perceptron_separator(examples)
    lower = 0.0 if w is None else proven_lower(examples, w, kind)
    w = w if lower > 0.0 else None
    return MarginInterval(
        lower=max(0.0, lower),
        upper=upper,
        weights=None if w is None else w[examples.bias :].copy(),
        intercept=float(w[0]) if w is not None and examples.bias else 0.0,
        support=support,
        shares=shares,
        kind=kind,
        radius=problem.radius,
        normalize=examples.normalize,
        classes=examples.labels,
        steps=tuple(steps),
    )


class Found(NamedTuple):
    """The best of both sides so far, in floating point."""

    w: Floats
    lower: float
    rows: NDArray[np.intp]
    shares: Floats
    upper: float
    working_set: int


class Problem:
    """The search for the largest margin of one kind."""

    def __init__(self, examples: Examples, kind: MarginKind) -> None:
        self.examples = examples
        self.kind = kind
        self.radius = radius_of(examples, kind)
        self.counted = slice(1, None) if kind == "affine" else slice(None)
        self.batch = int(np.clip(examples.width, 50, 1000))

    def nothing(self) -> Found:
        """Return where the search begins: no separator, no combination."""
        none = np.empty(0, dtype=np.intp)
        return Found(np.zeros(self.examples.width + self.examples.bias), -math.inf, none, np.empty(0), math.inf, 0)

    def improve(self, max_steps: int, effort: Effort) -> Iterator[Found]:
        """Yield better and better bounds, until they stop improving or the effort is spent."""
        found = self.nothing()
        w, working = found.w, found.rows
        for _ in range(max_steps):
            lower, worst = self.price(w)
            if lower > found.lower:
                found = found._replace(w=w, lower=lower)
            if found.upper < math.inf:
                yield found
            fresh = np.setdiff1d(worst, working)
            if not fresh.size:
                return
            working = np.concatenate([working, fresh])
            rows, y = self.examples.rows(working)
            Z = rows.multiply(y[:, None].astype(np.float64)).tocsr()
            if not effort.spend(_COST * working.size * Z.nnz):
                return
            solution = solve(Z, y, self.kind)
            if solution.upper < found.upper:
                found = found._replace(rows=working, shares=solution.shares, upper=solution.upper)
            found = found._replace(working_set=working.size)
            if solution.lower <= 0.0:
                # No separator was found even for these few.
                yield found
                return
            w = solution.w
            # Rows far from the smallest margin leave the working set; pricing brings them back if necessary.
            agreement = Z @ w
            near = (solution.shares > 1e-12 * solution.shares.max()) | (agreement < 2.0 * agreement.min())
            working = working[near]
        yield found

    def one_of_each(self) -> tuple[NDArray[np.intp], Floats]:
        """Return a combination that takes no search: the first row of each class."""
        first: dict[int, int] = {}
        for rows in self.examples.blocks():
            for code in np.unique(rows.y).tolist():
                first.setdefault(code, rows.first + int(np.argmax(rows.y == code)))
        return np.array(list(first.values()), dtype=np.intp), np.full(len(first), 1.0 / len(first))

    def price(self, w: Floats) -> tuple[float, NDArray[np.intp]]:
        """Return the margin of w over all examples, and the rows, some of each class, where it is smallest."""
        rows: dict[int, NDArray[np.intp]] = {-1: np.empty(0, dtype=np.intp), 1: np.empty(0, dtype=np.intp)}
        least: dict[int, Floats] = {-1: np.empty(0), 1: np.empty(0)}
        half = max(1, self.batch // 2)
        for first, y, scores in self.examples.prices(w):
            for code in (-1, 1):
                here = np.flatnonzero(y == code)
                values = np.concatenate([least[code], code * scores[here]])
                numbers = np.concatenate([rows[code], first + here])
                if values.size > half:
                    lowest = np.argpartition(values, half - 1)[:half]
                    values, numbers = values[lowest], numbers[lowest]
                rows[code], least[code] = numbers, values
        size = accurate_norm(w[self.counted])
        every = np.concatenate([least[-1], least[1]])
        if self.kind == "affine" and not (rows[-1].size and rows[1].size):
            raise DataError("all examples are of one class: with an intercept the margin has no upper limit")
        lower = float(every.min()) / size if size > 0.0 else -math.inf
        # The working set's own examples have y⟨w,x⟩ ≥ 1: the others matter where they fall short of that.
        short = every < 1.0 - 1e-9
        return lower, np.concatenate([rows[-1], rows[1]])[short]

    def few_shares(self, found: Found, tol: float) -> tuple[NDArray[np.intp], Floats]:
        """Return the combination with as few rows as keep its length."""
        rows, y = self.examples.rows(found.rows)
        Z = rows.multiply(y[:, None].astype(np.float64)).tocsr()
        for share in _SHARES:
            kept = found.shares > share * found.shares.max(initial=0.0)
            if length_of(Z[kept], y[kept], found.shares[kept], self.kind == "affine") <= found.upper * (
                1.0 + 1e-3 * tol
            ):
                break
        return found.rows[kept], found.shares[kept] / found.shares[kept].sum()


class Solution(NamedTuple):
    """The solution of a quadratic program on the working set: w and its margin there, λ and its length."""

    w: Floats
    lower: float
    shares: Floats
    upper: float


def solve(Z: Any, y: NDArray[np.int8], kind: MarginKind) -> Solution:
    """Solve min ½‖w‖² with Zw ≥ 1, in units that make the two ends meet."""
    # Where features differ by powers of ten a solver needs them in units of their own, or calls feasible problems
    # infeasible; but tiny features must not be scaled up. The gap shows which units work.
    used = np.unique(Z.indices)
    affine = kind == "affine"
    part = Z[:, used]
    best = Solution(np.zeros(Z.shape[1]), -math.inf, np.zeros(Z.shape[0]), math.inf)
    for floor in _FLOORS:
        w, shares = _solve(part, affine, floor)
        lower, upper = margin_on(part, w, affine), length_of(part, y, shares, affine)
        if lower > best.lower:
            whole = np.zeros(Z.shape[1])
            whole[used] = w
            best = best._replace(w=whole, lower=lower)
        if upper < best.upper:
            best = best._replace(shares=shares, upper=upper)
        if best.upper - best.lower <= _CLOSED * best.upper < math.inf:
            break
    return best


def _solve(Z: Any, affine: bool, floor: float) -> tuple[Floats, Floats]:
    """Solve with each feature in units of its largest value, but not less than `floor` of the largest of all."""
    import clarabel
    import scipy.sparse

    m, d = Z.shape
    largest = abs(Z).max(axis=0).toarray().reshape(-1)
    counted = slice(1, None) if affine else slice(None)
    least = max(floor * float(largest[counted].max(initial=0.0)), 2.0**-1000)
    unit = 1.0 / np.maximum(largest, least)
    square = (unit / unit[counted].max(initial=0.0)) ** 2 if d > int(affine) else np.zeros(d)
    if affine:
        square[0] = 0.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _SOLVER_TOLERANCE
    settings.tol_infeas_abs = settings.tol_infeas_rel = _SOLVER_TOLERANCE
    solver = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(scipy.sparse.diags_array(square)),
        np.zeros(d),
        scipy.sparse.csc_matrix(-(Z @ scipy.sparse.diags_array(unit))),
        -np.ones(m),
        [clarabel.NonnegativeConeT(m)],
        settings,
    )
    solution = solver.solve()
    with np.errstate(over="ignore"):
        w, shares = np.array(solution.x) * unit, np.maximum(np.array(solution.z), 0.0)
    finite = np.isfinite(w).all() and np.isfinite(shares).all()
    return (w, shares) if finite else (np.zeros(d), np.zeros(m))


def margin_on(Z: Any, w: Floats, affine: bool) -> float:
    """Return min y⟨w,x⟩/‖w‖ over the rows of Z."""
    size = accurate_norm(w[1:] if affine else w)
    return float((Z @ w).min()) / size if size > 0.0 else -math.inf


def length_of(Z: Any, y: NDArray[np.int8], shares: Floats, affine: bool) -> float:
    """Return ‖Σ λ y x‖ for shares that are not yet normalised."""
    if affine:
        halves = {code: float(shares[y == code].sum()) for code in (-1, 1)}
        if not all(half > 0.0 for half in halves.values()):
            return math.inf
        shares = shares / np.where(y > 0, 2.0 * halves[1], 2.0 * halves[-1])
    elif not float(shares.sum()) > 0.0:
        return math.inf
    else:
        shares = shares / shares.sum()
    return accurate_norm((Z.T @ shares)[1:] if affine else Z.T @ shares)
