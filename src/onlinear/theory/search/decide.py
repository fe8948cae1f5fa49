"""Whether some vector separates the examples: a verdict with a witness, which no rounding error can falsify."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.flat import TINY, Floats
from onlinear.errors import ParameterError
from onlinear.theory.check.interval import OnStep, Step, learned_kind
from onlinear.theory.check.verdict import Inseparable, Separable, Undecided, Verdict, unseparated
from onlinear.theory.examples import Examples, examples_of
from onlinear.theory.search.effort import Effort, check_seconds
from onlinear.theory.search.gordan import Combination, Separator, alternative, null_combination
from onlinear.theory.search.hard_margin import Problem, margin_interval
from onlinear.theory.search.trial import perceptron_separator

_PAIRS = 100
"""The most pairs of rows with equal scores that are compared."""
_FRESH = 50
"""How many rows join the exact problem at a time."""


def separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = False,
    classes: Any = None,
    seconds: float = 60.0,
    progress: OnStep | None = None,
) -> Verdict:
    """Return whether some vector has y⟨w,x⟩ > 0 on all examples, with a witness that can be checked.

    By Gordan's theorem exactly one of two things exists: such a w, or a convex combination Σ λ y x that
    is 0. Cheap paths come first: a zero row, equal rows with opposite labels, a few passes of the
    perceptron. Then the maximum-margin solver; exact arithmetic decides on what it suggests.

    Parameters
    ----------
    X, y : matrix and labels, or Examples
        As in `onlinear.run`; without y, blocks ``(X, y)`` that can be iterated again and again.
    fit_intercept : bool
        Allow an intercept: y(⟨w,x⟩ + c) > 0.
    classes : pair
        The labels (negative, positive). Default: the two labels in the data, in their order.
    seconds : float
        The budget of the search in floating point, and then of exact arithmetic: counted by their size, not clocked.
    progress : callable, optional
        Called with a `Step` after each step of the solver.

    Returns
    -------
    Separable, Inseparable or Undecided
        Each has ``verify(X, y)``. The verdict is `Undecided` where exact arithmetic would take too long; it still
        proves that no separator has a margin above some ε.

    Examples
    --------
    >>> import onlinear
    >>> onlinear.separability(*onlinear.datasets.xor(), fit_intercept=True)
    Inseparable, with an intercept
      because  the 4 rows below, with these shares, cancel exactly: Σ λ·y·(x, 1) = 0
      row 0    share 1/4, labelled -1
      row 1    share 1/4, labelled 1
      row 2    share 1/4, labelled 1
      row 3    share 1/4, labelled -1
    """
    examples = examples_of(X, y, fit_intercept=fit_intercept, classes=classes)
    if examples.normalize:
        raise ParameterError("the verdict is about rows as they are; open the examples without normalize")
    check_seconds(seconds)
    verdict = contradiction(examples) or _perceptron(examples)
    if verdict is not None:
        return verdict
    problem = Problem(examples, learned_kind(examples))
    suspects = problem.nothing()
    for number, found in enumerate(problem.improve(1000, Effort(seconds)), start=1):
        if progress is not None:
            progress(Step(number, found.working_set, max(0.0, found.lower), found.upper))
        suspects = found
        if found.lower > 0.0 and unseparated(examples, found.w) is None:
            return Separable.by(examples, found.w)
    order = np.argsort(-suspects.shares, kind="stable")
    return exactly(examples, suspects.rows[order], seconds)


def contradiction(examples: Examples) -> Inseparable | None:
    """Return why nothing separates the examples, if it can be seen from one row, or from two."""
    return _zero_row(examples) or _equal_rows(examples)


def _zero_row(examples: Examples) -> Inseparable | None:
    """Look for a row that is 0: no vector gives it a positive score."""
    for first, lengths, _ in examples.lengths():
        zeros = np.flatnonzero(lengths == 0.0)
        if zeros.size:
            return Inseparable.by(examples, first + zeros[:1], [Fraction(1)])
    return None


def _equal_rows(examples: Examples) -> Inseparable | None:
    """Look for equal rows with opposite labels: a random vector gives them the same score."""
    random = np.random.default_rng(0).standard_normal(examples.width + examples.bias)
    parts = list(examples.prices(random))
    scores = np.concatenate([part for _, _, part in parts])
    y = np.concatenate([codes for _, codes, _ in parts])
    order = np.lexsort((y, scores))
    suspicious = np.flatnonzero((np.diff(scores[order]) == 0.0) & (np.diff(y[order]) != 0))
    pairs = np.sort(np.stack([order[suspicious], order[suspicious + 1]], axis=1), axis=1)
    for pair in pairs[np.argsort(pairs[:, 1])][:_PAIRS]:
        rows, _ = examples.rows(pair)
        if (rows[[0]] != rows[[1]]).nnz == 0:
            return Inseparable.by(examples, pair, [Fraction(1, 2)] * 2)
    return None


def _perceptron(examples: Examples) -> Separable | None:
    """Let the perceptron try."""
    w = perceptron_separator(examples)
    return Separable.by(examples, w) if w is not None and unseparated(examples, w) is None else None


def exactly(examples: Examples, rows: NDArray[np.intp], seconds: float = 60.0) -> Verdict:
    """Decide by exact arithmetic on a growing set of rows, likely members of a combination first."""
    effort = Effort(seconds)
    if not rows.size:
        rows = np.arange(min(examples.n, _FRESH))
    while True:
        matrix, y = examples.rows(rows)
        Z = matrix.multiply(y[:, None].astype(np.float64)).tocsr()
        shares = _vertex(Z)
        order = np.argsort(-shares, kind="stable")
        rows, Z, shares = rows[order], Z[order], shares[order]
        carriers = int(np.count_nonzero(shares))
        found: Combination | Separator | None = null_combination(Z[:carriers], effort) if carriers else None
        found = found or alternative(Z, effort)
        if isinstance(found, Combination):
            held = [k for k, share in enumerate(found.shares) if share]
            return Inseparable.by(examples, rows[held], [found.shares[k] for k in held])
        if found is None:
            return Undecided(margin_interval(examples, learned_kind(examples), 1e-3, seconds=seconds))
        missed = unseparated(examples, found.w, _FRESH)
        if missed is None:
            return Separable.by(examples, found.w)
        rows = np.concatenate([rows, missed])


def _vertex(Z: Any) -> Floats:
    """Return shares λ ≥ 0 with Σ λᵢzᵢ = 0, in floating point, that few rows carry; zeros where there are none."""
    import scipy.sparse
    from scipy.optimize import linprog

    # Neither the verdict nor the rows of a combination depend on the scale of rows and features.
    Z = _with_unit_rows(_with_unit_rows(Z).T).T.tocsr()
    m, d = Z.shape
    equations: Any = scipy.sparse.vstack([Z.T, scipy.sparse.csr_array(np.ones((1, m)))], format="csc")
    # Their sum is d + 1, so that a share is of size 1: the solver's tolerance is absolute.
    values = np.append(np.zeros(d), d + 1.0)
    result = linprog(np.zeros(m), A_eq=equations, b_eq=values, method="highs-ds")
    return np.zeros(m) if result.x is None else np.asarray(result.x)


def _with_unit_rows(Z: Any) -> Any:
    """Return the rows scaled so that the largest entry of each is 1."""
    import scipy.sparse

    largest = abs(Z).max(axis=1).toarray().reshape(-1)
    # The inverse of a subnormal number may overflow.
    boost = np.where(largest < TINY, 2.0**200, 1.0)
    unit = 1.0 / np.where(largest > 0.0, largest * boost, 1.0)
    return scipy.sparse.diags_array(unit) @ (scipy.sparse.diags_array(boost) @ Z)
