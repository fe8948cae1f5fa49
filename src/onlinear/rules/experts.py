"""Prediction with expert advice: weighted majority, deterministic and randomised.

An example is the experts' advice, one of ±1 from each. What is kept of expert n is m_n, the number of
its mistakes; the weights follow from it, up to a common factor: ``w_n = (1−η)^(m_n − min m)``. Between
refreshments they are multiplied in place; before their sum could underflow they are computed afresh
from the m_n. So an expert that was hopeless for a million rounds can still come back.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from onlinear.engine.algebra import dot, value
from onlinear.engine.draws import uniform
from onlinear.engine.flat import Floats
from onlinear.engine.rows import Row
from onlinear.errors import ParameterError
from onlinear.rules.compensated import accumulate
from onlinear.rules.rule import Tie, as_number, check_number, rule

_FADED = 2.0**-100
"""Where the weights' sum falls below this they are computed afresh."""


class Pool(NamedTuple):
    """The experts."""

    w: Floats
    m: Floats
    total: Floats
    """Φ, the sum of the weights."""
    expected: Floats
    """The expected number of mistakes so far, as a sum and its compensation."""
    t: Floats
    """The round to come."""


def new_pool(n: int) -> Pool:
    """Return n experts of weight 1."""
    return Pool(np.ones(n), np.zeros(n), np.array([float(n)]), np.zeros(2), np.ones(1))


def vote(pool: Pool, x: Row) -> float:
    """Return the weighted mean of the advice, in [−1, 1]."""
    return dot(pool.w, x) / float(pool.total[0])


def punish(pool: Pool, x: Row, y: float, keep: float) -> bool:
    """Count the experts that erred and multiply their weights by `keep`; tell whether any did."""
    erred = False
    total = 0.0
    for n in range(pool.w.size):
        if value(x, n) != y:
            pool.m[n] += 1.0
            pool.w[n] *= keep
            erred = True
        total += pool.w[n]
    pool.total[0] = total
    pool.t[0] += 1.0
    if total < _FADED:
        refresh(pool, keep)
    return erred


def refresh(pool: Pool, keep: float) -> None:
    """Compute w_n = keep^(m_n − min m): the best expert has weight 1 again."""
    fewest = math.inf
    for n in range(pool.m.size):
        fewest = min(fewest, float(pool.m[n]))
    total = 0.0
    for n in range(pool.w.size):
        pool.w[n] = keep ** float(pool.m[n] - fewest)
        total += pool.w[n]
    pool.total[0] = total


@rule(inputs="advice")
class WeightedMajority(NamedTuple):
    """Weighted majority: predict the sign of Σ w_n x_n; then ``w_n ← (1−η)·w_n`` where expert n erred.

    With N experts, of which expert n errs m_n times, it makes at most
    (ln N + m_n·ln(1/(1−η))) / ln(2/(2−η)) mistakes, for every n. η = 1 is Halving: at most log₂ N
    where some expert is perfect (where none is left, those with the fewest mistakes vote).

    Parameters
    ----------
    eta : float
        η, with 0 < η ≤ 1.
    tie : {"mistake", "negative", "positive"}
        What a drawn vote predicts.

    Examples
    --------
    >>> import onlinear
    >>> run = onlinear.run(onlinear.rules.WeightedMajority(), [[1, 1, -1], [-1, 1, -1]], [-1, 1])
    >>> run.mistakes, run.expert_mistakes.tolist(), run.regret
    (2, [2, 1, 1], 1)
    """

    eta: float = 0.5
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "eta", above=0.0, most=1.0)

    def start(self, n: int) -> Pool:
        return new_pool(n)

    def score(self, pool: Pool, x: Row) -> float:
        return vote(pool, x)

    def update(self, pool: Pool, x: Row, y: float, score: float, mistake: bool) -> bool:
        return punish(pool, x, y, 1.0 - self.eta)

    def potentials(self, pool: Pool) -> dict[str, Any]:
        """Return the experts' weights, up to a common factor (the largest is 1), and mistakes."""
        return expert_potentials(pool)


@rule(inputs="advice")
class RandomizedWeightedMajority(NamedTuple):
    """Randomised weighted majority: follow expert n with probability w_n/Φ; then ``w_n ← (1−η)·w_n`` where it erred.

    The expected number of mistakes is at most (m_n·ln(1/(1−η)) + ln N)/η, for every expert n. The
    expectation, given the data, is known exactly: a run reports it as ``expected_mistakes``.

    Parameters
    ----------
    eta : float or "anytime"
        η, with 0 < η < 1. ``"anytime"`` needs no horizon: ``w_n = exp(−η_t·m_n)`` with
        η_t = √(8 ln N/t), and then E[M] − m_n ≤ 2√(T ln N/2) + √(ln N/8) at every T.
    seed : int
        The draw of round t is a function of the seed and t alone.

    Examples
    --------
    >>> import onlinear
    >>> rule = onlinear.rules.RandomizedWeightedMajority(eta=0.5)
    >>> onlinear.run(rule, [[1, 1, -1, 1], [-1, 1, -1, 1]], [-1, 1]).expected_mistakes
    1.35
    """

    eta: float | str = 0.5
    seed: int = 0

    def check(self) -> None:
        if self.eta != "anytime":
            check_number(self, "eta", above=0.0, below=1.0)
        check_seed(self)

    def for_width(self, n: int) -> RandomizedWeightedMajority | AnytimeMajority:
        return AnytimeMajority(8.0 * math.log(n), self.seed) if self.eta == "anytime" else self

    def start(self, n: int) -> Pool:
        return new_pool(n)

    def score(self, pool: Pool, x: Row) -> float:
        return vote(pool, x)

    def predict(self, score: float, t: int) -> int:
        return follow(self.seed, t, score)

    def update(self, pool: Pool, x: Row, y: float, score: float, mistake: bool) -> bool:
        accumulate(pool.expected, 0.5 * (1.0 - y * score))
        return punish(pool, x, y, 1.0 - as_number(self.eta))

    def potentials(self, pool: Pool) -> dict[str, Any]:
        """Return the experts' weights, up to a common factor (the largest is 1), and mistakes."""
        return expert_potentials(pool)


@rule(inputs="advice")
class AnytimeMajority(NamedTuple):
    """What ``RandomizedWeightedMajority("anytime")`` runs once N is known: w_n = exp(−m_n·√(8 ln N/t))."""

    eight_log_n: float
    seed: int

    def start(self, n: int) -> Pool:
        return new_pool(n)

    def score(self, pool: Pool, x: Row) -> float:
        return vote(pool, x)

    def predict(self, score: float, t: int) -> int:
        return follow(self.seed, t, score)

    def update(self, pool: Pool, x: Row, y: float, score: float, mistake: bool) -> bool:
        accumulate(pool.expected, 0.5 * (1.0 - y * score))
        erred = punish(pool, x, y, 1.0)
        refresh(pool, math.exp(-math.sqrt(self.eight_log_n / float(pool.t[0]))))
        return erred

    def potentials(self, pool: Pool) -> dict[str, Any]:
        """Return the experts' weights, up to a common factor (the largest is 1), and mistakes."""
        return expert_potentials(pool)


@rule(inputs="advice")
class FixedShare(NamedTuple):
    """Fixed share: weighted majority in which each expert passes a share of its weight on to the others.

    In each round in which some expert errs, first ``w_n ← (1−η)·w_n`` where expert n erred; then, for all n,
    ``w_n ← (1−α)·w_n + α·(Σ_{m≠n} w_m)/(N−1)``. (The paper does the second also where none has erred.) No weight
    becomes so small that its expert could not come back soon: for streams in which the best expert changes. The theorem
    of the paper is about other predictions. For the weighted vote, with N experts of which expert n errs m_n times, and
    s rounds in which some expert errs: M ≤ (ln N + m_n·ln(1/(1−η)) + s·ln(1/(1−α))) / ln(2/(2−η)), for every n.

    Parameters
    ----------
    eta : float
        η, with 0 < η ≤ 1.
    share : float
        α, with 0 ≤ α < 1; with 0 it is `WeightedMajority`.
    tie : {"mistake", "negative", "positive"}
        What a drawn vote predicts.

    References
    ----------
    Herbster & Warmuth (1998), Tracking the best expert, Machine Learning 32.

    Examples
    --------
    >>> import onlinear
    >>> advice = [[1, -1]] * 40 + [[-1, 1]] * 40  # the first expert is right, then the second
    >>> rules = onlinear.rules.WeightedMajority(), onlinear.rules.FixedShare()
    >>> [onlinear.run(rule, advice, [1] * 80, classes=(-1, 1)).mistakes for rule in rules]
    [41, 7]
    """

    eta: float = 0.5
    share: float = 0.01
    tie: Tie = "mistake"

    def check(self) -> None:
        check_number(self, "eta", above=0.0, most=1.0)
        check_number(self, "share", least=0.0, below=1.0)

    def start(self, n: int) -> Pool:
        return new_pool(n)

    def score(self, pool: Pool, x: Row) -> float:
        return vote(pool, x)

    def update(self, pool: Pool, x: Row, y: float, score: float, mistake: bool) -> bool:
        erred = punish(pool, x, y, 1.0 - self.eta)
        if erred:
            pass_on(pool, self.share)
        return erred

    def potentials(self, pool: Pool) -> dict[str, Any]:
        """Return the experts' weights, up to a common factor (the largest is 1), and mistakes."""
        return expert_potentials(pool)


def pass_on(pool: Pool, share: float) -> None:
    """Let each expert pass a share of its weight on to the others; then divide all weights by their mean."""
    N = pool.w.size
    total = float(pool.total[0])
    for n in range(N):
        w = float(pool.w[n])
        if N > 1:
            w = (1.0 - share) * w + share * (total - w) / float(N - 1)
        pool.w[n] = w * float(N) / total
    total = 0.0
    for n in range(N):
        total += pool.w[n]
    pool.total[0] = total


def follow(seed: int, t: int, score: float) -> int:
    """Return +1 with probability (1 + score)/2, the weight of the experts that say so; otherwise −1."""
    return 2 * (uniform(seed, t) < 0.5 * (1.0 + score)) - 1


def expert_potentials(pool: Pool) -> dict[str, Any]:
    """Return the experts' weights as they are, divided by the largest, and their mistakes."""
    return {"weights": pool.w / pool.w.max(), "mistakes": pool.m.astype(np.int64)}


def check_seed(owner: Any) -> None:
    """Raise unless the seed is an integer of 63 bits."""
    if not isinstance(owner.seed, int) or not 0 <= owner.seed < 2**63:
        raise ParameterError(f"{type(owner).__name__}: seed is {owner.seed!r}; it must be an integer, 0 to 2**63 - 1")
