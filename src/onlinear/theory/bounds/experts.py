"""Bounds for prediction with expert advice, from the best expert's mistakes on the data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.rows import SparseBlock
from onlinear.errors import AssumptionError
from onlinear.rules.experts import WeightedMajority
from onlinear.theory.bounds.arguments import check_share
from onlinear.theory.bounds.bound import EXACT, Bound
from onlinear.theory.check.exact import float_up, root_above
from onlinear.theory.check.logarithms import (
    half_keeping_log_down,
    inverse_log_up,
    keeping_log_up,
    log2_up,
    log_up,
)
from onlinear.theory.examples import Examples, examples_of

_ADVICE = "advice is −1 or +1 in every column"
EQUAL = "the experts start with equal weights"


class AdviceCounts(NamedTuple):
    """The number of experts N and of rounds T, the best expert and its mistakes m, as counted on the data."""

    N: int
    T: int
    best: int
    m: int
    erring: int
    """The rounds in which some expert errs."""

    def quantities(self) -> dict[str, float]:
        """Return the numbers by their names."""
        return {"N": self.N, "T": self.T, "best_expert": self.best, "best_mistakes": self.m}


def best_expert(examples: Examples) -> AdviceCounts:
    """Count what the bounds need; raise where the examples are not advice."""
    made, erring = np.zeros(examples.width, dtype=np.int64), 0
    for _, block, y, _ in examples.once.score_with(WeightedMajority()):
        values: NDArray[Any] = block.values
        if isinstance(block, SparseBlock):
            # Every row has all its entries, in order.
            values = values[block.indptr[0] : block.indptr[-1]].reshape(y.size, -1)
        if values.shape[1] != examples.width:
            raise AssumptionError(f"a block has {values.shape[1]} experts, another {examples.width}")
        wrong = values != y[:, None]
        made += wrong.sum(axis=0)
        erring += int(wrong.any(axis=1).sum())
    best = int(np.argmin(made))
    once = int(made[best]), erring
    return AdviceCounts(examples.width, examples.n, best, *(examples.passes * count for count in once))


def weighted_majority(X: Any, y: Any = None, eta: float = 0.5, *, classes: Any = None) -> Bound:
    """Return the bound on the mistakes of ``WeightedMajority(eta)``.

    M ≤ (ln N + m·ln(1/(1−η))) / ln(2/(2−η)) with N experts, of which the best errs m times. For η ≤ ½ the
    quantity ``looser`` is 2(1+η)m + 2 ln N/η, which is never smaller.

    Parameters
    ----------
    X, y : advice and labels, or Examples
        As in `onlinear.run`, ±1 from each expert; without y, blocks that can be iterated again and again.
    eta : float
        η, with 0 < η < 1; η = 1 is `halving`.
    classes
        As in `onlinear.run`.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bound = bounds.weighted_majority([[1, 1, -1], [-1, 1, -1]], [-1, 1])
    >>> bound.mistakes, bound.quantities["best_mistakes"]
    (6, 1)
    """
    check_share(eta=eta)
    return majority_bound(best_expert(examples_of(X, y, classes=classes)), eta, (_ADVICE,))


def majority_bound(advice: AdviceCounts, eta: float, checked: tuple[str, ...]) -> Bound:
    """Return the bound of `weighted_majority` for experts whose mistakes are known.

    It also holds for a majority of rules (P19), which is the weighted plurality of several classes: where that errs,
    the experts that name the right class have at most half of the weight.
    """
    log_n = log_up(advice.N)
    quantities = {**advice.quantities(), "eta": eta}
    if eta <= 0.5:
        quantities["looser"] = float_up(2 * (1 + Fraction(eta)) * advice.m + 2 * log_n / Fraction(eta))
    return Bound(
        float_up((log_n + advice.m * keeping_log_up(eta)) / half_keeping_log_down(eta)),
        "Weighted majority mistake bound",
        checked=checked,
        declared=(EQUAL, EXACT),
        quantities=quantities,
    )


def fixed_share(X: Any, y: Any = None, eta: float = 0.5, share: float = 0.01, *, classes: Any = None) -> Bound:
    """Return the bound on the mistakes of ``FixedShare(eta, share)``.

    M ≤ (ln N + m·ln(1/(1−η)) + s·ln(1/(1−α))) / ln(2/(2−η)) with N experts, of which the best errs m times, and s
    rounds in which some expert errs. Where the vote errs, at least half of the weight is multiplied by 1 − η, and
    passing on shares keeps the sum, so the sum is at most N·(1−η/2)^M. The best expert's weight is multiplied by at
    least 1 − η in the rounds in which it errs, and by at least 1 − α in those in which shares are passed on.

    Parameters
    ----------
    X, y, eta, classes
        As in `weighted_majority`.
    share : float
        α, with 0 ≤ α < 1; with 0 it is the bound of `weighted_majority`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bounds.fixed_share([[1, 1, -1], [-1, 1, -1]], [-1, 1], 0.5, 0.01).mistakes
    6
    """
    check_share(eta=eta)
    return fixed_share_bound(best_expert(examples_of(X, y, classes=classes)), eta, share, (_ADVICE,))


def fixed_share_bound(advice: AdviceCounts, eta: float, share: float, checked: tuple[str, ...]) -> Bound:
    """Return the bound of `fixed_share` for known mistakes; with several classes it holds as `majority_bound`."""
    if share:
        check_share(share=share)
    lost = advice.m * keeping_log_up(eta) + (advice.erring * keeping_log_up(share) if share else 0)
    return Bound(
        float_up((log_up(advice.N) + lost) / half_keeping_log_down(eta)),
        "Fixed share mistake bound",
        checked=checked,
        declared=(EQUAL, EXACT),
        quantities={**advice.quantities(), "erring_rounds": advice.erring, "eta": eta, "share": share},
    )


def halving(X: Any, y: Any = None, *, classes: Any = None) -> Bound:
    """Return the bound on the mistakes of Halving, ``WeightedMajority(eta=1)``, where some expert is perfect.

    M ≤ log₂ N with N experts.

    Parameters
    ----------
    X, y, classes
        As in `weighted_majority`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> bounds.halving([[1, 1, -1, 1], [-1, 1, -1, -1]], [1, -1]).value
    2.0
    """
    advice = best_expert(examples_of(X, y, classes=classes))
    if advice.m:
        raise AssumptionError(f"no expert is perfect: the best, number {advice.best}, errs {advice.m} times")
    return Bound(
        float_up(log2_up(advice.N)),
        "Halving mistake bound",
        checked=(_ADVICE, f"expert {advice.best} is perfect"),
        declared=(EQUAL, EXACT),
        quantities=advice.quantities(),
    )


def randomized_weighted_majority(
    X: Any, y: Any = None, eta: float = 0.5, *, delta: float | None = None, classes: Any = None
) -> Bound:
    """Return the bound on the expected mistakes of ``RandomizedWeightedMajority(eta)``.

    E[M] ≤ (m·ln(1/(1−η)) + ln N)/η with N experts, of which the best errs m times. With δ, a bound on
    the mistakes of a run that holds with probability 1 − δ: √(T ln(1/δ)/2) more.

    Parameters
    ----------
    X, y, eta, classes
        As in `weighted_majority`.
    delta : float, optional
        δ, with 0 < δ < 1.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> X, y = [[1, 1, -1, 1], [-1, 1, -1, 1]], [-1, 1]
    >>> round(bounds.randomized_weighted_majority(X, y, 0.5).value, 4)
    4.1589
    """
    check_share(eta=eta)
    advice = best_expert(examples_of(X, y, classes=classes))
    expected = (advice.m * keeping_log_up(eta) + log_up(advice.N)) / Fraction(eta)
    return _bound_draws(expected, "Randomised weighted majority mistake bound", advice, {"eta": eta}, delta)


def anytime(X: Any, y: Any = None, *, delta: float | None = None, classes: Any = None) -> Bound:
    """Return the bound on the expected mistakes of ``RandomizedWeightedMajority("anytime")``.

    E[M] ≤ m + 2√(T ln N/2) + √(ln N/8) with N experts, of which the best errs m times in T rounds. With
    δ, a bound on the mistakes of a run that holds with probability 1 − δ: √(T ln(1/δ)/2) more.

    Parameters
    ----------
    X, y, delta, classes
        As in `randomized_weighted_majority`.

    Examples
    --------
    >>> from onlinear.theory import bounds
    >>> round(bounds.anytime([[1, 1, -1, 1], [-1, 1, -1, 1]], [-1, 1]).value, 4)
    3.7711
    """
    advice = best_expert(examples_of(X, y, classes=classes))
    return anytime_bound(advice, (_ADVICE,), delta)


def anytime_bound(advice: AdviceCounts, checked: tuple[str, ...], delta: float | None = None) -> Bound:
    """Return the bound of `anytime` for experts whose mistakes are known."""
    log_n = log_up(advice.N)
    regret = 2 * root_above(advice.T * log_n / 2) + root_above(log_n / 8)
    theorem = "Anytime randomised weighted majority mistake bound"
    return _bound_draws(advice.m + regret, theorem, advice, {}, delta, checked)


def _bound_draws(
    expected: Fraction,
    theorem: str,
    advice: AdviceCounts,
    more: dict[str, float],
    delta: float | None,
    checked: tuple[str, ...] = (_ADVICE,),
) -> Bound:
    """Return a bound on the expected mistakes, or with δ one on those of a run."""
    quantities = {**advice.quantities(), **more}
    if delta is None:
        return Bound(float_up(expected), theorem, checked, (EQUAL, EXACT), quantities, of="expected mistakes")
    check_share(delta=delta)
    deviation = root_above(advice.T * inverse_log_up(delta) / 2)
    return Bound(
        float_up(expected + deviation),
        theorem,
        checked=checked,
        declared=(EQUAL, EXACT, f"the draws are random: this holds with probability 1 − {delta:g}"),
        quantities={**quantities, "expected_mistakes": float_up(expected), "delta": delta},
    )
