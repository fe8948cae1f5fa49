"""Winnow's mistakes on disjunctions, and the disjunction itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.engine.rows import Block, SparseBlock
from onlinear.errors import AssumptionError, ParameterError
from onlinear.rounding import UNIT
from onlinear.rules.winnow import Winnow
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.check.exact import float_up
from onlinear.theory.check.logarithms import log_down, log_up
from onlinear.theory.examples import Examples, examples_of

FROM_ONE = "the first weights are 1"
_EXACT_POWER = 4096
"""Up to here a floor of a logarithm is decided by the power itself; beyond, it may be one too large."""


def winnow(
    X: Any,
    y: Any = None,
    rule: Winnow = Winnow(),  # noqa: B008 (a rule cannot change)
    *,
    relevant: Sequence[int] | None = None,
    classes: Any = None,
    n_features: int | None = None,
) -> Bound:
    """Return the bound on Winnow's mistakes where a disjunction of k of the N variables labels the examples.

    M < Nα/(θ(α−1)) + (1+α)·k·max(0, ⌊log_α θ⌋ + 1) with α = 1 + β and the threshold θ, in any order and
    over any number of passes. ``promotions`` bounds the mistakes on positive examples alone:
    m₊ ≤ k·max(0, ⌊log_α θ⌋ + 1).

    Parameters
    ----------
    X, y : matrix and labels, or Examples
        As in `onlinear.run`, with inputs 0 and 1; without y, blocks that can be iterated again and again.
    rule : Winnow
        β, and θ; θ = N by default.
    relevant : sequence of int, optional
        The variables of the disjunction, if they are known. Default: `greedy_disjunction`, whose k may
        not be the smallest.
    classes
        As in `onlinear.run`.
    n_features : int, optional
        N of the run, where the data do not show it: a sparse matrix may have fewer columns. Default: theirs.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bound = bounds.winnow([[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0]], [1, 0, 0])
    >>> bound.value, bound.mistakes, bound.quantities["k"]
    (11.0, 10, 1)
    """
    check_integers(1, n_features=1 if n_features is None else n_features)
    examples = examples_of(X, y, classes=classes, n_features=0 if n_features is None else int(n_features))
    if n_features is not None and examples.width > n_features:
        raise ParameterError(f"n_features is {n_features}, but the examples have {examples.width} features")
    if not isinstance(rule, Winnow):
        raise ParameterError(f"rule is {rule!r}; it must be a Winnow rule, as in onlinear.rules.Winnow()")
    once = examples.once
    variables = greedy_disjunction(once) if relevant is None else _check_relevant(once, relevant)
    k, N = len(variables), examples.width
    alpha = Fraction(1.0 + rule.beta)
    theta = Fraction(N if rule.threshold is None else rule.threshold)
    promotions = k * _promotions(alpha, theta)
    return Bound(
        float_up(N * alpha / (theta * (alpha - 1)) + (1 + alpha) * promotions),
        "Winnow mistake bound",
        checked=(
            "inputs are 0 or 1",
            f"a disjunction of {k} of the {N} variables labels all {examples.n:,} examples",
        ),
        declared=(FROM_ONE, EXACT),
        quantities={"k": k, "N": N, "alpha": float(alpha), "theta": float(theta), "promotions": promotions},
        strict=True,
    )


def greedy_disjunction(X: Any, y: Any = None, *, classes: Any = None) -> tuple[int, ...]:
    """Return the variables of a disjunction that labels the examples, not always the fewest.

    A variable may take part if it is off in all negative examples; of those the one that is on in most
    of the positive examples that are left is taken, until none is left.

    Parameters
    ----------
    X, y, classes
        As in `winnow`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bounds.greedy_disjunction([[1, 0, 1], [0, 1, 1], [0, 0, 1]], [1, 1, 0])
    (0, 1)
    """
    examples = examples_of(X, y, classes=classes)
    allowed, width = np.ones(examples.width, dtype=bool), 0
    for part in _on(examples):
        allowed[part.columns[part.y[part.rows] < 0]] = False
        width = max(width, 1 + int(part.columns.max(initial=-1)))  # variables beyond are on nowhere, and may be many
    chosen: list[int] = []
    left = np.ones(examples.n, dtype=bool)
    while True:
        # One pass per variable: it strikes out what the last one explains, and counts what the next one would.
        gains = np.zeros(width, dtype=np.int64)
        for part in _on(examples):
            here = left[part.first : part.first + part.y.size]
            here[part.y < 0] = False
            if chosen:
                here[part.rows[part.columns == chosen[-1]]] = False
            counted = here[part.rows] & allowed[part.columns]
            gains += np.bincount(part.columns[counted], minlength=width)
            explained = np.zeros(part.y.size, dtype=bool)
            explained[part.rows[counted]] = True
            _raise_at(
                here & ~explained,
                part.first,
                "is positive, but every variable that is on in it is also on in a negative example:"
                " no disjunction of variables labels these examples",
            )
        if not gains.any():
            return tuple(sorted(chosen))
        chosen.append(int(np.argmax(gains)))


class OnVariables(NamedTuple):
    """Which variables are on in a block from row `first` on: pairs of a row of the block and a column."""

    first: int
    y: NDArray[np.int8]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]


def _on(examples: Examples) -> Iterator[OnVariables]:
    for first, block, y, _ in examples.score_with(Winnow()):
        yield OnVariables(first, y, *_entries(block))


def _entries(block: Block) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if not isinstance(block, SparseBlock):
        rows, columns = np.nonzero(block.values)
        return rows, columns
    stored = slice(int(block.indptr[0]), int(block.indptr[-1]))
    lines = np.repeat(np.arange(block.indptr.size - 1), np.diff(block.indptr))
    on = block.values[stored] != 0
    return lines[on], block.indices[stored][on].astype(np.intp)


def _check_relevant(examples: Examples, relevant: Sequence[int]) -> tuple[int, ...]:
    """Return the given variables; raise unless they label the examples."""
    if not all(isinstance(j, int | np.integer) and not isinstance(j, bool) for j in relevant):
        raise ParameterError(f"relevant is {list(relevant)}; it must be the numbers of variables, which are integers")
    variables = sorted({int(j) for j in relevant})
    if variables and not 0 <= variables[0] <= variables[-1] < examples.width:
        raise ParameterError(f"relevant is {list(relevant)}; the variables are 0 to {examples.width - 1}")
    member = np.zeros(examples.width, dtype=bool)
    member[variables] = True
    for part in _on(examples):
        positive = np.zeros(part.y.size, dtype=bool)
        positive[part.rows[member[part.columns]]] = True
        _raise_at(positive & (part.y < 0), part.first, "is negative, but a relevant variable is on in it")
        _raise_at(~positive & (part.y > 0), part.first, "is positive, but no relevant variable is on in it")
    return tuple(variables)


def _raise_at(bad: NDArray[np.bool_], first: int, what: str) -> None:
    if bad.any():
        raise AssumptionError(f"row {first + int(np.argmax(bad))} {what}")


def _promotions(alpha: Fraction, theta: Fraction) -> int:
    """Return how often a relevant weight is promoted: from 1, by α each time, while it is at most θ.

    That is max(0, ⌊log_α θ⌋ + 1). As the weights are rounded when they are multiplied, each factor may be
    α(1 − 2⁻⁵³): that makes a difference only where a power of α is slightly above θ.
    """
    if theta < 1:
        return 0
    unit = Fraction(UNIT)
    # −ln(1 − 2⁻⁵³) is a little more than 2⁻⁵³.
    exponent = math.floor(log_up(float(theta)) / (log_down(float(alpha)) - unit * (1 + 2 * unit)))
    while exponent <= _EXACT_POWER and (alpha * (1 - unit)) ** exponent > theta:
        exponent -= 1
    return exponent + 1
