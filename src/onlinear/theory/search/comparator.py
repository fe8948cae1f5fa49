"""The comparator that makes the perceptron's hinge bound (P5) as small as possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from onlinear.display import Facts, counted, rounded_down, rounded_up
from onlinear.engine.algebra import add, dot, trial
from onlinear.engine.flat import SUMMED_ROWS, Floats
from onlinear.engine.rows import Row
from onlinear.rounding import UNIT, accurate_norm
from onlinear.rules.rule import rule
from onlinear.runs.learner import Learner
from onlinear.theory.check.exact import root_up, squared
from onlinear.theory.check.extremes import squared_radius
from onlinear.theory.check.hinge import hinge_bound, hinge_sum
from onlinear.theory.check.interval import OnStep, Step
from onlinear.theory.examples import Examples, examples_of
from onlinear.theory.search.hard_margin import check_solver

_SOLVER_TOLERANCE = 1e-10
_DAMPING = 0.3
_PATIENCE = 10
"""A cut is dropped after this many steps without use."""
_USED = 1e-7
_READINGS, _TRIED = 6, 33
"""How often the examples are read for the best multiple of a comparator, and how many multiples are tried each time."""
_FEW = 1e-13
"""More than what a few hundred roundings cost, relative to their result."""


class Shortfall(NamedTuple):
    """A vector u; Σ y·x over the examples with y⟨u,x⟩ < 1, and how many they are and H(u), by blocks of rows."""

    w: Floats
    direction: Floats
    """Σ y·x in the current block."""
    sums: Floats
    """How many they are in the current block, and its part of H(u)."""
    whole_direction: Floats
    whole_sums: Floats
    """The same in all blocks before."""
    end: Floats
    """The number of the last row of the current block."""


@rule
class Slope(NamedTuple):
    """Measures the hinge sum of u and its slope in one pass; it learns nothing."""

    block_rows: int

    def start(self, n: int) -> Shortfall:
        end = np.array([float(self.block_rows)])
        return Shortfall(np.zeros(n), np.zeros(n), np.zeros(2), np.zeros(n), np.zeros(2), end)

    def score(self, state: Shortfall, x: Row) -> float:
        return dot(state.w, x)

    def update(self, state: Shortfall, x: Row, y: float, score: float, mistake: bool) -> bool:
        loss = 1.0 - y * score
        if loss > 0.0:
            add(state.direction, y, x)
            state.sums[0] += 1.0
            state.sums[1] += loss
        if trial(x) == state.end[0]:
            for j in range(state.direction.size):
                state.whole_direction[j] += state.direction[j]
                state.direction[j] = 0.0
            for j in range(2):
                state.whole_sums[j] += state.sums[j]
                state.sums[j] = 0.0
            state.end[0] += self.block_rows
        return False


class Cut(NamedTuple):
    """H(u) ≥ members − ⟨slope,u⟩ for every u: the sum over a set of examples of 1 − y⟨u,x⟩."""

    slope: Floats
    members: float
    unused: int = 0
    """For how many steps its multiplier has been 0."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparator(Facts):
    """A vector u and its hinge bound (P5): at most `bound` mistakes in one pass, in any order.

    Attributes
    ----------
    weights, intercept
        u; the intercept is None without `fit_intercept`. The bound holds for any vector; a better one makes it tighter.
    bound : float
        a²/2 + (a/2)√(a² + 4H) + H with a = R‖u‖, rounded up.
    least_bound : float
        No vector makes the bound smaller than this.
    hinge_sum, radius : float
        H(u) over all rounds, and R, rounded up.
    steps : tuple of Step
        How the solver got there; ``lower`` and ``upper`` enclose the smallest bound.
    """

    weights: Floats
    intercept: float | None
    bound: float
    least_bound: float
    hinge_sum: float
    radius: float
    steps: tuple[Step, ...] = ()

    @property
    def whole(self) -> Floats:
        """The comparator as one vector: with an intercept, (intercept, weights)."""
        return self.weights if self.intercept is None else np.append(self.intercept, self.weights)

    @property
    def gap(self) -> float:
        """By how much, relative to the bound, a better vector could lower it."""
        return (self.bound - self.least_bound) / self.bound if self.bound > 0.0 else 0.0

    def _title(self) -> str:
        return "Comparator for the perceptron hinge bound (P5)"

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("bound", f"at most {rounded_up(self.bound)} mistakes in one pass, in any order"),
            ("at best", f"no vector brings the bound below {rounded_down(self.least_bound)} (gap {self.gap:.2g})"),
            ("hinge sum", f"H(u) ≤ {rounded_up(self.hinge_sum)}"),
            ("‖u‖", f"{accurate_norm(self.whole):.6g} ({counted(self.weights.size, 'weight')})"),
            ("radius", rounded_up(self.radius)),
        ]


def best_comparator(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = False,
    normalize: bool = False,
    classes: Any = None,
    tol: float = 1e-3,
    max_steps: int = 1000,
    progress: OnStep | None = None,
) -> Comparator:
    """Return the vector u that makes the perceptron's hinge bound (P5) as small as possible.

    For every u, with a = R‖u‖ and H = Σ max(0, 1 − y⟨u,x⟩) over all rounds, the perceptron makes at most
    s² mistakes in one pass, where s² = a·s + H. The smallest s solves s² = min_u (sR‖u‖ + H(u)). H is
    bounded from below by its slopes at the vectors tried so far; a small cone program over these cuts
    gives the next vector, a compiled pass over all examples its cut, until the gap closes. The cuts'
    multipliers α ∈ [0, 1] prove how far any vector can get: with A = Σα and V = ‖Σ α y x‖, no u
    has a bound below min(A, (AR/V)²).

    Parameters
    ----------
    X, y : matrix and labels, or Examples
        As in `onlinear.run`; without y, blocks ``(X, y)`` that can be iterated again and again.
    fit_intercept, normalize, classes
        As in `onlinear.run`.
    tol : float
        The gap to reach, relative to the bound.
    max_steps : int
        Give up after this many cuts, with whatever gap is left.
    progress : callable, optional
        Called with a `Step` after each.

    Returns
    -------
    Comparator

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.noisy(margin=0.3, n=1000, d=5, flip=0.02, seed=0)
    >>> found = onlinear.best_comparator(X, y)
    >>> onlinear.run(onlinear.rules.Perceptron(), X, y).mistakes <= found.bound, found.gap <= 1e-3
    (True, True)
    """
    check_solver(tol, max_steps)
    examples = examples_of(X, y, fit_intercept=fit_intercept, normalize=normalize, classes=classes)
    square = squared_radius(examples).value
    R = root_up(square)
    u = best = np.zeros(examples.width + examples.bias)
    cuts: list[Cut] = []
    lower, upper = 0.0, math.inf
    steps: list[Step] = []
    learner = examples.learner(Slope(SUMMED_ROWS))
    for number in range(1, max_steps + 1):
        cut, H = _cut(examples, learner, u)
        cuts.append(cut)
        a = R * accurate_norm(u)
        before = lower, upper
        bound = (0.5 * (a + math.sqrt(a * a + 4.0 * H))) ** 2
        if bound < upper:
            best, upper = u, bound
        if R == 0.0:  # every u scores 0
            lower = float(examples.n)
            break
        # The solution of the smallest or largest numbers may overflow; then it is no better than what is known.
        with np.errstate(over="ignore", invalid="ignore"):
            target, alpha = _master(cuts, math.sqrt(upper) * R)
        lower = max(lower, _least(alpha, cuts, R))
        steps.append(Step(number, len(cuts), lower, upper))
        if progress is not None:
            progress(steps[-1])
        if upper - lower <= 0.99 * tol * upper or not np.isfinite(target).all():
            break
        cuts = [
            cut._replace(unused=0 if share > _USED else cut.unused + 1)
            for cut, share in zip(cuts, alpha, strict=True)
            if share > _USED or cut.unused < _PATIENCE
        ]
        # Part of the way from the best vector to the cuts' own optimum, which overshoots; all of it after a step that
        # has not improved anything.
        u = best + (_DAMPING if (lower, upper) != before else 1.0) * (target - best)
    H = hinge_sum(examples, best)
    return Comparator(
        weights=best[examples.bias :].copy(),
        intercept=float(best[0]) if examples.bias else None,
        bound=hinge_bound(square, squared(best), Fraction(H)),
        least_bound=lower,
        hinge_sum=H,
        radius=R,
        steps=tuple(steps),
    )


def scaled_comparator(examples: Examples, u: Floats, C: float, power: int) -> Floats:
    """Return the multiple of u, from 0 on, that makes ‖u‖² + 2CΣ max(0, 1 − y⟨u,x⟩)^power nearly as small as possible.

    The sum is convex in the multiple: each reading of the examples tries several, and the best of them has the minimum
    between its neighbours.
    """
    norm, factor = accurate_norm(u), 2.0 * C * examples.passes
    # At the minimum ‖u‖² is not above the sum at 0.
    low, high = 0.0, math.sqrt(factor * examples.once.n) / norm if norm > 0.0 else 0.0
    if not 0.0 < high < math.inf:
        return u
    for _ in range(_READINGS):
        scales = np.linspace(low, high, _TRIED)
        with np.errstate(over="ignore"):
            sums = [
                (np.maximum(0.0, 1.0 - np.outer(part.y * part.scores, scales)) ** power).sum(axis=0)
                for part in examples.once.scores(u)
            ]
            costs = (scales * norm) ** 2 + factor * np.sum(sums, axis=0)
        k = int(np.argmin(costs))
        low, high = scales[max(0, k - 1)], scales[min(k + 1, _TRIED - 1)]
    return u * float(scales[k])


def _cut(examples: Examples, learner: Learner, u: Floats) -> tuple[Cut, float]:
    """Return the cut at u, and H(u); a learner with the rule `Slope` starts again."""
    learner.counts[:] = 0
    for array, first in zip(learner.arrays, learner.rule.start(u.size), strict=True):
        array[:] = first
    learner.arrays.w[:] = u
    examples.feed(learner)
    state = learner.arrays
    count, H = map(float, state.whole_sums + state.sums)
    return Cut(state.whole_direction + state.direction, count), H


def _least(alpha: Floats, cuts: list[Cut], R: float) -> float:
    """Return what no comparator's bound falls below, by the multipliers of the cuts; rounded down.

    A cut is a set of examples, so the cuts' multipliers, whose sum is at most 1, give each example its α.
    """
    slopes, counts = np.array([cut.slope for cut in cuts]), np.array([cut.members for cut in cuts])
    A = float(alpha @ counts) * (1.0 - _FEW)
    # A slope is a sum of `counts` vectors, none longer than R: each is scaled, added to its block's sum, and with that
    # to the whole, which rounds three times at most.
    slack = UNIT * R * float(alpha @ (counts * (3.0 * counts + slopes.shape[1] + 32.0)))
    V = accurate_norm(alpha @ slopes) * (1.0 + _FEW) + slack
    return min(A, (A * R * (1.0 - _FEW) / V) ** 2 * (1.0 - _FEW)) if V > 0.0 else A


def _master(cuts: list[Cut], c: float) -> tuple[Floats, Floats]:
    """Minimise c‖u‖ + h with h ≥ 0 and h ≥ members − ⟨slope,u⟩ for every cut; return u and the multipliers."""
    import clarabel
    import scipy.sparse

    slopes, counts = np.array([cut.slope for cut in cuts]), np.array([cut.members for cut in cuts])
    k, d = slopes.shape
    # Variables u, τ ≥ ‖u‖ and h, in units that make the numbers of size 1.
    scale = counts.max()
    unit = scale / c
    cutting: Any = scipy.sparse.csr_array(np.hstack([-slopes * unit / scale, np.zeros((k, 1)), np.full((k, 1), -1.0)]))
    # h ≥ 0, then τ ≥ ‖u‖.
    signs: Any = -scipy.sparse.eye_array(d + 2, format="csr")[[d + 1, d, *range(d)]]
    A: Any = scipy.sparse.vstack([cutting, signs])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _SOLVER_TOLERANCE
    solver = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix((d + 2, d + 2)),
        np.concatenate([np.zeros(d), [1.0, 1.0]]),
        scipy.sparse.csc_matrix(A),
        np.concatenate([-counts / scale, np.zeros(d + 2)]),
        [clarabel.NonnegativeConeT(k + 1), clarabel.SecondOrderConeT(d + 1)],
        settings,
    )
    solution = solver.solve()
    alpha = np.maximum(np.array(solution.z)[:k], 0.0)
    return np.array(solution.x)[:d] * unit, alpha / max(1.0, float(alpha.sum()))
