"""Whether labels come in random order: the order check (P18), which is valid at every moment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from onlinear.display import Facts, rounded_down

ALPHA = 0.001
"""The probability with which labels in random order are ever found not to be."""

MOST_CLASSES = 64
"""With more classes there is no check: it counts the pairs of neighbouring labels."""

_THRESHOLD = math.log(1.0 / ALPHA)
_ERROR = 2.0**-48
"""How far a logarithm of the gamma function may be off, relative to itself, or to 1 where it is smaller."""


@dataclass(frozen=True, repr=False)
class OrderCheck(Facts):
    """Whether labels come in random order.

    Attributes
    ----------
    rounds : int
        The number of labels.
    log_evidence : float
        ln E, the evidence against a random order, rounded down. It is at most ln(1/α) at all times, with probability
        1 − α, if the order is random; α = 0.001.
    noticed : int or None
        The round in which E was first found to be at least 1/α. It is looked at when the number of rounds is a power
        of two, from 64 on, and at the end.
    """

    rounds: int
    log_evidence: float
    noticed: int | None

    def _facts(self) -> list[tuple[str, str]]:
        found = "nothing against it" if self.noticed is None else f"refuted, as noticed in round {self.noticed:,}"
        return [
            ("random order", found),
            ("ln E", f"at least {rounded_down(self.log_evidence)} after {self.rounds:,} rounds"),
            ("refuted from", f"{rounded_down(_THRESHOLD)} on"),
        ]


def refutes_random_order(log_evidence: float) -> bool:
    """Tell whether the evidence against a random order suffices."""
    return log_evidence >= _THRESHOLD


def log_order_evidence(
    counts: Sequence[int], pairs: Sequence[Sequence[int]], recent: Sequence[int], past: float
) -> float:
    """Return ln E of labels, rounded down, where E = ½·max(Q₁, Q₂)·t!/(c₁! ⋯ c_k!) with Q₁ and Q₂ of y₁ … y_t.

    Q₁ is the Krichevsky–Trofimov mixture over Markov chains that start in the first class:
    Q₁ = Π_a Γ(k/2)/Γ(n_a + k/2) · Π_b Γ(n_ab + ½)/Γ(½). Q₂ is a product of such mixtures over independent labels, a
    new one for each stretch of rounds (`log_rates`). Under an exchangeable law a sequence has at most the probability
    c₁! ⋯ c_k!/t!, since its rearrangements are equally likely. So E is at most a likelihood ratio, that of ½(Q₁ + Q₂),
    and by Ville's inequality P(E ≥ 1/α at any time) ≤ α.

    Parameters
    ----------
    counts : sequence of int
        c_b, how often each of the k classes occurred.
    pairs : sequence of sequences of int
        n_ab, how often class b followed class a; the first label follows the first class.
    recent : sequence of int
        How often each class occurred in the current stretch.
    past : float
        ln Q₂ of the stretches before it, rounded down.
    """
    lgamma = math.lgamma
    orders = _log_gamma_ratio([sum(counts) + 1.0], [c + 1.0 for c in counts if c > 1])
    followed = [n + 0.5 for n in itertools.chain.from_iterable(pairs) if n]
    preceded = [n + len(counts) / 2 for n in map(sum, pairs) if n]
    chain = _log_gamma_ratio(followed, preceded, len(preceded) * lgamma(len(counts) / 2), len(followed) * lgamma(0.5))
    rates = past + log_rates(recent)
    return max(orders + chain, orders + rates) - math.log(2.0) - _ERROR * (orders - chain - rates)


def log_rates(counts: Sequence[int]) -> float:
    """Return ln of the probability, rounded down, that independent labels of unknown rates come in the order they have.

    It is the mixture of Krichevsky and Trofimov over the rates, Γ(k/2)/Γ(n + k/2) · Π_b Γ(c_b + ½)/Γ(½).
    """
    k = len(counts)
    occurred = [c + 0.5 for c in counts if c]
    return _log_gamma_ratio(occurred, [sum(counts) + k / 2], math.lgamma(k / 2), len(occurred) * math.lgamma(0.5))


def _log_gamma_ratio(above: list[float], below: list[float], more: float = 0.0, less: float = 0.0) -> float:
    """Return Σ ln Γ over `above` less that over `below`, with what else is to be added and subtracted, rounded down."""
    gain, loss = (math.fsum([one, *map(math.lgamma, group)]) for one, group in ((more, above), (less, below)))
    # No logarithm here is below −1/8, so these are at least the sums of their sizes, and of 1 for each.
    return gain - loss - _ERROR * (gain + loss + 2.0 * (2 + len(above) + len(below)))
