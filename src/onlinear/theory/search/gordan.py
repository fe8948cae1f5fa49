"""Gordan's alternative in whole numbers: a vector that separates, or a combination that is exactly 0."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from onlinear.theory.check.exact import Integers, Scaled, to_integers
from onlinear.theory.search.effort import Effort


class Combination(NamedTuple):
    """Shares λ ≥ 0, of sum 1, with Σ λᵢzᵢ = 0."""

    shares: list[Fraction]


class Separator(NamedTuple):
    """A vector w of whole numbers with ⟨w,zᵢ⟩ > 0 for every row."""

    w: Integers


def null_combination(Z: Any, effort: Effort) -> Combination | None:
    """Return the combination of all rows that is 0, where there is just one and no share in it is negative.

    Rows that carry a vertex of the linear program Σ λᵢzᵢ = 0, λ ≥ 0, have such a combination. Exact linear
    algebra finds it, at a fraction of what the simplex method costs.
    """
    import flint

    rows, integers = _whole(Z)
    m, d = rows.shape
    bits = max((int(v).bit_length() for v in rows.flat), default=0)
    if not effort.spend(4e-10 * max(m, d) ** 3 * (bits + 10.0)):
        return None
    basis, nullity = flint.fmpz_mat(d, m, [int(v) for v in rows.T.flat]).nullspace()
    if nullity != 1:
        return None
    relation = [int(basis[i, 0]) for i in range(m)]
    sign = 1 if max(relation) > 0 else -1
    return _combination([Fraction(sign * share) for share in relation], integers)


def alternative(Z: Any, effort: Effort) -> Combination | Separator | None:
    """Decide by the simplex method, in whole numbers, which of the two there is; None where effort runs out.

    Phase one for Σ λᵢzᵢ = 0, Σ λᵢ = 1, λ ≥ 0: it ends with such a λ, or with multipliers that are a
    separator. Rows that are likely to be part of a combination should stand first: by Bland's rule,
    which never cycles, the first row that helps is taken.

    Parameters
    ----------
    Z : CSR matrix
        The vectors y·x.
    effort : Effort
        The budget.
    """
    rows, integers = _whole(Z)
    m, d = rows.shape
    T = np.zeros((d + 2, m + d + 2), dtype=object)
    T[:d, :m] = rows.T
    T[d, :m] = 1
    T[: d + 1, m : m + d + 1] = np.eye(d + 1, dtype=np.int64)
    T[d, -1] = 1
    # The last row: what one more of each λ adds to the sum of the artificial variables, m to m + d.
    T[d + 1, :] = -T[: d + 1, :].sum(axis=0)
    T[d + 1, m : m + d + 1] = 0
    basis = np.arange(m, m + d + 1)
    denominator = 1
    while True:
        improving = np.flatnonzero(T[d + 1, :m] < 0)
        if not improving.size:
            break
        digits = int(denominator).bit_length() / 30.0
        if not effort.spend(T.size * (1e-7 + 1.5e-9 * digits * digits)):
            return None
        j = int(improving[0])
        i = _leaving(T[: d + 1, j], T[: d + 1, -1], basis, m)
        pivot = T[i, j]
        # The integer pivot: every entry is a determinant, and the division is exact.
        row, column = T[i].copy(), T[:, j].copy()
        T = (T * pivot - np.multiply.outer(column, row)) // denominator
        T[i] = row
        basis[i], denominator = j, pivot
    if T[d + 1, -1] == 0:
        shares = [Fraction(0)] * m
        for j, share in zip(basis, T[: d + 1, -1], strict=True):
            if j < m:
                shares[j] = Fraction(share)
        return _combination(shares, integers)
    w = np.zeros(Z.shape[1], dtype=object)
    w[_used(Z)] = T[d + 1, m : m + d] - denominator
    return Separator(w)


def _used(Z: Any) -> Any:
    """Return the features that are not 0 in all rows; the others take no part."""
    return np.unique(Z.indices[Z.data != 0.0])


def _whole(Z: Any) -> tuple[Integers, list[Scaled]]:
    """Return the rows as whole numbers, each scaled by its own power of two."""
    rows = Z[:, _used(Z)].toarray()
    integers = [to_integers(row) for row in rows]
    return np.array([row.integers for row in integers], dtype=object).reshape(rows.shape), integers


def _combination(shares: list[Fraction], integers: list[Scaled]) -> Combination | None:
    """Return shares of the scaled rows as shares of the rows, of sum 1; None where one is negative."""
    if min(shares) < 0:
        return None
    unscaled = [share / Fraction(2) ** row.exponent for share, row in zip(shares, integers, strict=True)]
    whole = sum(unscaled)
    return Combination([share / whole for share in unscaled])


def _leaving(column: Integers, values: Integers, basis: Any, m: int) -> int:
    """Return the row whose variable is the first to reach 0; on ties, an artificial variable, then the first."""
    order = np.where(basis < m, basis + m, basis - m)  # artificial ones leave for good, and go first
    best = -1
    for i in np.flatnonzero(column > 0):
        if best < 0:
            best = int(i)
            continue
        # values[i]/column[i] against values[best]/column[best]
        left, right = values[i] * column[best], values[best] * column[i]
        if left < right or (left == right and order[i] < order[best]):
            best = int(i)
    return best
