"""Synthetic data sets, generated from a seed, that meet the assumptions of the theorems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.display import Pictured, counted
from onlinear.errors import ParameterError

__all__ = ["Dataset", "disjunction", "drift", "experts", "noisy", "r_of_k", "separable", "xor"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Pictured):
    """Examples and labels; unpacks as ``X, y = dataset``.

    ``comparator`` is a vector that separates the examples (before any noise), with ``intercept`` as its
    intercept; None if there is none.
    """

    X: Floats
    y: NDArray[np.int64]
    comparator: Floats | None = None
    intercept: float = 0.0

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield X, then y."""
        yield self.X
        yield self.y

    def _facts(self) -> list[tuple[str, str]]:
        n, d = self.X.shape
        labels, counts = np.unique(self.y, return_counts=True)
        shown = ", ".join(f"{label}: {count:,}" for label, count in zip(labels.tolist(), counts.tolist(), strict=True))
        separator = "none is known"
        if self.comparator is not None:
            agreement = self.y * (self.X @ self.comparator + self.intercept)
            right = int((agreement > 0.0).sum())
            separator = f"comparator, right on {right:,} of {counted(n, 'example')}"
        return [("examples", f"{n:,} with {counted(d, 'feature')}"), ("labels", shown), ("separator", separator)]


def disjunction(k: int, N: int, n: int = 10_000, *, seed: int = 0) -> Dataset:
    """Return a monotone disjunction: positive if one of the first k of N variables is 1.

    Each variable is 1 with probability 1 − 2^(−1/k), so that half of the examples are positive. The
    comparator is 2 on the relevant variables with intercept −1: y(⟨u,x⟩ − 1) ≥ 1 on every example.

    Examples
    --------
    >>> X, y = disjunction(2, 10, n=1000)
    >>> bool(((X[:, :2].sum(axis=1) > 0) == (y > 0)).all())
    True
    """
    return r_of_k(1, k, N, n, seed=seed)


def r_of_k(r: int, k: int, N: int, n: int = 10_000, *, seed: int = 0) -> Dataset:
    """Return an r-of-k threshold: positive if at least r of the first k of N variables are 1.

    Each variable is 1 with the probability that makes half of the examples positive. The comparator
    is 2 on the relevant variables with intercept 1 − 2r.
    """
    _require(1 <= r <= k <= N, f"1 <= r <= k <= N, not r={r}, k={k}, N={N}")
    _require(n >= 1, f"n >= 1, not {n}")
    rng = np.random.default_rng(seed)
    X = (rng.random((n, N)) < _balanced(r, k)).astype(np.float64)
    y = np.where(X[:, :k].sum(axis=1) >= r, 1, -1)
    u = np.zeros(N)
    u[:k] = 2.0
    return Dataset(X, y, u, 1.0 - 2.0 * r)


def separable(margin: float = 0.1, n: int = 1000, d: int = 20, *, seed: int = 0) -> Dataset:
    """Return examples of norm at most 1 that a unit vector, the comparator, separates with this margin.

    Examples
    --------
    >>> data = separable(margin=0.25, n=100, d=5)
    >>> bool((data.y * (data.X @ data.comparator)).min() >= 0.25)
    True
    """
    _require(0.0 < margin <= 0.99, f"0 < margin <= 0.99, not {margin}")
    _require(n >= 1, f"n >= 1, not {n}")
    _require(d >= 2, f"d >= 2, not {d}")
    rng = np.random.default_rng(seed)
    u = _unit(rng.standard_normal((1, d)))[0]
    y = rng.choice(np.array([-1, 1]), n)
    # Along u, a distance strictly between the margin and 1; across it, a random part of the remaining length.
    along = margin + (1.0 - margin) * (1e-9 + (1.0 - 2e-9) * rng.random(n))
    across = rng.standard_normal((n, d))
    across = _unit(across - np.outer(across @ u, u)) * (np.sqrt(1.0 - along**2) * rng.random(n))[:, None]
    return Dataset(np.outer(y * along, u) + across, y, u)


def noisy(margin: float = 0.1, n: int = 1000, d: int = 20, *, flip: float = 0.1, seed: int = 0) -> Dataset:
    """Return `separable` examples with labels flipped at random, each with probability `flip`."""
    _require(0.0 <= flip <= 1.0, f"0 <= flip <= 1, not {flip}")
    clean = separable(margin, n, d, seed=seed)
    flipped = np.random.default_rng([seed, 1]).random(n) < flip
    return Dataset(clean.X, np.where(flipped, -clean.y, clean.y), clean.comparator)


def drift(margin: float = 0.1, n: int = 1000, d: int = 20, *, pieces: int = 2, seed: int = 0) -> Dataset:
    """Return several `separable` pieces in sequence, each with a different separator."""
    _require(1 <= pieces <= n, f"1 <= pieces <= n, not {pieces}")
    sizes = [len(part) for part in np.array_split(np.arange(n), pieces)]
    parts = [separable(margin, size, d, seed=seed + 1000 * i) for i, size in enumerate(sizes)]
    return Dataset(np.vstack([part.X for part in parts]), np.concatenate([part.y for part in parts]))


def experts(N: int, n: int = 1000, *, best: float = 0.1, rest: float = 0.5, seed: int = 0) -> Dataset:
    """Return the advice (±1) of N experts: the first is wrong with probability `best`, the others with `rest`."""
    _require(N >= 1 and n >= 1, f"N >= 1 and n >= 1, not {N} and {n}")
    _require(0.0 <= best <= 1.0 and 0.0 <= rest <= 1.0, f"probabilities, not {best} and {rest}")
    rng = np.random.default_rng(seed)
    y = rng.choice(np.array([-1, 1]), n)
    errs = rng.random((n, N)) < np.where(np.arange(N) == 0, best, rest)
    return Dataset(np.where(errs, -y[:, None], y[:, None]).astype(np.float64), y)


def xor() -> Dataset:
    """Return the four points of exclusive or, which are not separable, with or without an intercept."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return Dataset(X, np.array([-1, 1, 1, -1]))


def _unit(rows: Floats) -> Floats:
    """Return the rows scaled to norm 1."""
    unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _balanced(r: int, k: int) -> float:
    """Return the probability p for which P(at least r of k are 1) = ½."""
    if r == 1:
        return float(1.0 - 2.0 ** (-1.0 / k))
    from scipy.stats import beta

    # P(Binomial(k, p) ≥ r) is the distribution function of Beta(r, k − r + 1) at p.
    return float(beta.ppf(0.5, r, k - r + 1))


def _require(holds: bool, wanted: str) -> None:
    if not holds:
        raise ParameterError(f"the data set needs {wanted}")
