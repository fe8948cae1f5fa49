"""The lemmas behind the mistake bounds, checked at every update of a trace.

A mistake bound is proven by lemmas about single updates: each changes a potential by a limited amount. A correct
learner obeys every lemma, on any examples. A faulty one breaks a lemma long before it exceeds a bound, and the first
update that does shows the fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from onlinear.display import counted
from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError
from onlinear.rounding import UNIT, accurate_norm
from onlinear.runs.trace import Trace
from onlinear.theory.lemmas.claims import Claim, LemmaReport

_ROUNDINGS: Final = 256.0
"""How many roundings are tolerated besides those of a sum over x.

A potential is summed pairwise (fewer than 50), the weights under it were rounded when they were last
written, and a few operations put the two sides of a lemma together: 256 is more than all of them."""
_LEAST: Final = 2.0**-1022
"""The most that the products in a sum can lose to underflow together: each loses at most 2⁻¹⁰⁷⁵.

Also the smallest weight of Winnow."""
_LOST: Final = 2.0**-1074
"""More than one product can lose to underflow: for sums that are multiplied afterwards, and the loss with them."""


def verify_lemmas(trace: Trace, u: Any = None) -> LemmaReport:
    """Check the lemmas of the mistake bounds at every update of a trace; report the first that breaks.

    An additive rule, ``w ← w + λ·y·x``, whose score is ⟨w,x⟩:

    ``step``
        ‖w‖² changes by 2λ·y·score + λ²‖x‖², and ⟨w,u⟩ by λ·y⟨u,x⟩.
    ``growth (P4)``
        On a mistake with λ = 1, ‖w‖² grows by at most ‖x‖². Where u separates the examples updated on,
        ⟨w,u⟩ grows by at least λ·min y⟨u,x⟩, which is λγ‖u‖; and on every mistake.
    ``mistake lemma (P3)``
        On a mistake, ‖w−u‖² changes by at most λ²‖x‖² − 2λ·y⟨u,x⟩. Where u separates, a mistake with λ = 1
        lowers ‖w−cu‖² by at least R², with c = R²/min y⟨u,x⟩.
    ``alignment``
        From w = 0: Σ λ·y⟨u,x⟩ ≤ ⟨w,u⟩ ≤ ‖w‖‖u‖; and ‖w‖ ≤ R√k after k updates, all on mistakes with λ = 1.

    Winnow, and any rule with fields ``beta`` and ``threshold`` and the potential ``total_weight``, Φ = Σ w,
    where α = 1 + β:

    ``Winnow``
        A missed positive adds at most (α−1)θ to Φ, a false positive takes more than (1−1/α)θ from it, and Φ > 0. Where
        the inputs are 0 or 1, and so the score is ⟨w,x⟩ − θ, a mistake changes Φ by exactly (α^y−1)(score+θ).

    Experts: any rule with the potentials ``weights`` and ``mistakes``, m_n. Where it has a number ``eta``,
    Φ = Σ (1−η)^m_n:

    ``experts``
        m_n grows by 0 or 1 in a round. The weights are as (1−η)^m_n, so that Φ ≥ (1−η)^m_n for every n. Φ never
        grows. A rule without a ``seed`` predicts by majority: each of its mistakes leaves at most (1−η/2)Φ. A rule
        with one draws: the experts that erred have the share F = (1−y·score)/2 of the weight, so that (1−ηF)Φ are left.

    Each lemma tolerates rounding, a few hundred times 2⁻⁵³ (and 2·2⁻⁵³ per entry of x) of the magnitudes that it
    compares, and underflow; what overflows is not checked. A mistake that is not followed by an update also breaks a
    lemma, where one requires an update.

    Parameters
    ----------
    trace : Trace
        Of a run with ``trace=onlinear.Potentials(u)``; without a comparator, the lemmas that need none are checked.
    u : array, or pair (array, float), optional
        The comparator. Default: the one that the trace was recorded with; it cannot be another.

    Returns
    -------
    LemmaReport

    Examples
    --------
    >>> import onlinear
    >>> X, y, u = [[2.0, 0.0], [1.0, -1.0], [0.0, 1.0]], [+1, -1, +1], [1.0, 2.0]
    >>> run = onlinear.run(onlinear.rules.Perceptron(), X, y, trace=onlinear.Potentials(u))
    >>> onlinear.verify_lemmas(run.trace, u)
    LemmaReport: every lemma holds
      step: norm                          checked at 2 updates
      growth (P4): norm                   checked at 2 updates
      alignment: norm                     checked at 2 updates
      step: inner product                 checked at 2 updates
      growth (P4): inner product          checked at 2 updates
      mistake lemma (P3): distance        checked at 2 updates
      mistake lemma (P3): distance to cu  checked at 2 updates
      alignment: sum                      checked at 2 updates
      alignment: cosine                   checked at 2 updates
    """
    _check_recorded(trace, u)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        claims = [claim for claim in _claims(trace) if claim.rounds.size]
        broken = [found for claim in claims if (found := claim.first_broken()) is not None]
    if not claims:
        raise ParameterError(
            f"nothing to check: the trace has {counted(trace.updates.size, 'update')}, and no lemma applies to them,"
            f" or their potentials have overflowed (rule {trace.rule!r})"
        )
    return LemmaReport(
        {claim.lemma: claim.rounds.size for claim in claims},
        min(broken, key=lambda one: one.round, default=None),
    )


def _check_recorded(trace: Any, u: Any) -> None:
    if not isinstance(trace, Trace) or trace.rule is None:
        raise ParameterError("the trace holds no potentials; record it with trace=onlinear.Potentials(u)")
    if trace.rule.inputs == "real" and trace.steps.size != trace.updates.size:
        raise ParameterError("the lemmas follow single updates; the batch perceptron takes a step for many at once")
    if u is None:
        return
    if trace.rule.inputs == "advice":
        raise ParameterError("experts are compared with each other: leave u out")
    pair = isinstance(u, tuple) and len(u) == 2 and trace.fit_intercept
    weights, intercept = u if pair else (u, 0.0)
    same = not isinstance(u, tuple) or pair
    whole = [*[intercept] * trace.fit_intercept, *np.ravel(weights)] if same else []
    if trace.comparator is None or not np.array_equal(whole, trace.comparator):
        raise ParameterError("u is not the comparator of this trace; record it with trace=onlinear.Potentials(u)")


def _claims(trace: Trace) -> Iterator[Claim]:
    """Yield the lemmas that apply, by what the trace holds."""
    rule, known = trace.rule, trace.potentials
    if not trace.updates.size:
        return
    if rule.additive and "squared_norm" in known:
        yield from _additive(trace)
        if trace.comparator is not None:
            yield from _with_comparator(trace, trace.comparator)
    if "total_weight" in known and _is_number(rule, "beta") and _is_number(rule, "threshold"):
        yield from _winnow(trace)
    if {"weights", "mistakes"} <= set(known) and known["mistakes"].ndim == 2:
        yield from _experts(trace)


def _additive(trace: Trace) -> Iterator[Claim]:
    """Yield the lemmas of additive rules that need no comparator."""
    step, square = trace.steps, trace.squared_lengths
    before, after = trace.before["squared_norm"], trace.potentials["squared_norm"]
    grown, slack = after - before, _norm_slack(trace)
    plain = _on_mistake(trace) & (step == 1.0)
    # Not λ² first: where ‖x‖ is huge it may underflow.
    expected = 2.0 * step * trace.labels * _scores(trace) + step * (step * square)
    yield _claim(trace, "step: norm", grown, expected, slack)
    yield _claim(trace, "growth (P4): norm", grown, square, slack, plain)
    if before[0] == 0.0:
        k, so_far = np.arange(1.0, step.size + 1.0), np.logical_and.accumulate(plain)
        yield _claim(trace, "alignment: norm", after, k * np.maximum.accumulate(square), np.cumsum(slack), so_far)


def _with_comparator(trace: Trace, u: Floats) -> Iterator[Claim]:
    """Yield the lemmas of additive rules that need a comparator u."""
    step, square, agreement = trace.steps, trace.squared_lengths, trace.agreements
    n = step.size
    mistake, separates = _on_mistake(trace), np.full(n, bool((agreement > 0.0).all()))
    R2, least = float(square.max()), float(agreement.min())
    error, size, length = _errors(trace), _size(trace), accurate_norm(u)

    inner = trace.potentials["inner"]
    grown = inner - trace.before["inner"]
    # y⟨u,x⟩ is a sum whose products may underflow before λ multiplies it.
    slack = error * (length * size) + length * _strayed(trace) + step * trace.entries * _LOST + _LEAST
    yield _claim(trace, "step: inner product", grown, step * agreement, slack)
    pulled = _claim(trace, "growth (P4): inner product", grown, step * least, slack, separates)
    yield _and_unlearned(pulled, _unlearned(trace), found=0.0, limit=least) if least > 0.0 else pulled

    before, after = trace.before["squared_distance"], trace.potentials["squared_distance"]
    distance_slack = _square_slack(trace, np.sqrt(before) + np.sqrt(after) + size)
    limit = step * (step * square) - 2.0 * step * agreement
    yield _claim(trace, "mistake lemma (P3): distance", after - before, limit, distance_slack, mistake)

    # ‖w−cu‖² = ‖w‖² − 2c⟨w,u⟩ + c²‖u‖², of which the last does not change.
    # Not c first: where u is long, or x short, it may underflow.
    norm_grown, pull = trace.potentials["squared_norm"] - trace.before["squared_norm"], 2.0 * R2 * (grown / least)
    changed = norm_grown - pull
    scaled_slack = _norm_slack(trace) + 2.0 * R2 * (slack / least) + error * (np.abs(norm_grown) + np.abs(pull))
    plain = mistake & (step == 1.0)
    yield _claim(trace, "mistake lemma (P3): distance to cu", changed, np.full(n, -R2), scaled_slack, plain & separates)

    if trace.before["squared_norm"][0] == 0.0:
        # A start whose squares underflow need not be 0 to u.
        begun = abs(trace.before["inner"][0])
        yield _claim(trace, "alignment: sum", inner, np.cumsum(step * agreement), np.cumsum(slack) + begun)
        # ‖u‖ of a subnormal u is off by as much as the least float, which is then no small part of it.
        cosine = np.sqrt(trace.potentials["squared_norm"] + _LEAST) * (length + 4.0 * _LOST)
        yield _claim(trace, "alignment: cosine", inner, cosine, slack)


def _winnow(trace: Trace) -> Iterator[Claim]:
    """Yield the lemmas of Winnow's potential Φ = Σ w."""
    alpha, theta = 1.0 + float(trace.rule.beta), float(trace.rule.threshold)
    most, least = (alpha - 1.0) * theta, (1.0 - 1.0 / alpha) * theta
    before, after = trace.before["total_weight"], trace.potentials["total_weight"]
    # Weights are positive, so Φ bounds ⟨w,x⟩ and all that is rounded; a demoted weight may stop at the least.
    slack = _errors(trace) * (before + after + theta) + trace.entries * _LEAST
    mistake, positive, zero = _on_mistake(trace), trace.labels > 0, np.zeros(after.size)
    yield _claim(trace, "Winnow: promotion", after - before, zero + most, slack, mistake & positive)
    demotion = _claim(trace, "Winnow: demotion", before - after, zero + least, slack, mistake & ~positive)
    # A mistake at a score above 0 is a false positive.
    skipped = _unlearned(trace)
    scores = trace.scores[skipped - trace.first_round]
    yield _and_unlearned(demotion, skipped[scores > 0.0], found=0.0, limit=least)
    if trace.rule.inputs == "binary":
        # ⟨w,x⟩ = score + θ is known up to roundings of θ, too, which the factor then multiplies.
        factor = np.where(positive, alpha - 1.0, 1.0 / alpha - 1.0)
        slack = slack + _errors(trace) * np.abs(factor) * theta
        step = _claim(trace, "Winnow: step", after - before, factor * (_scores(trace) + theta), slack, mistake)
        missed = np.where(scores > 0.0, 1.0 / alpha - 1.0, alpha - 1.0)
        rounded = _ROUNDINGS * UNIT * np.abs(missed) * (np.abs(scores) + theta) + _LEAST
        yield _and_unlearned(step, skipped, found=0.0, limit=missed * (scores + theta), slack=rounded)
    yield _claim(trace, "Winnow: total", after, zero, zero)


def _experts(trace: Trace) -> Iterator[Claim]:
    """Yield the lemmas of experts."""
    m, m_after = trace.before["mistakes"], trace.potentials["mistakes"]
    worst = np.array([_farthest(after - before) for before, after in zip(m, m_after, strict=True)])
    yield _claim(trace, "experts: counts", worst, worst.clip(0.0, 1.0), np.zeros(worst.size))
    # A weight is a product of as many factors as its expert made mistakes; then the weights are summed.
    slack = (_ROUNDINGS + trace.entries + m_after.max(axis=1)) * 2.0 * UNIT
    fixed = _is_number(trace.rule, "eta")
    if fixed:
        yield from _fixed_rate(trace, 1.0 - float(trace.rule.eta), slack)
    if hasattr(trace.rule, "seed"):
        columns = trace.before["weights"], m, m_after
        share = np.array([w[after > before].sum() / w.sum() for w, before, after in zip(*columns, strict=True)])
        # A rate that falls with the rounds makes the recorded weights outdated while no expert errs.
        latest = np.concatenate([[trace.first_round - 1], trace.updates[:-1]])
        fresh = fixed | (trace.updates == latest + 1)
        yield _claim(trace, "experts: share", share, 0.5 * (1.0 - trace.labels * _scores(trace)), slack, fresh)


def _fixed_rate(trace: Trace, keep: float, slack: Floats) -> Iterator[Claim]:
    """Yield the lemmas of Φ = Σ keep^m, where keep = 1−η."""
    left, weight, implied = np.empty((3, trace.updates.size))
    columns = trace.before["mistakes"], trace.potentials["mistakes"], trace.potentials["weights"]
    for k, (m, m_after, weights) in enumerate(zip(*columns, strict=True)):
        # Relative to the best expert: nothing underflows, and with η = 1 those are counted that are as good.
        left[k] = (keep ** (m_after - m.min())).sum() / (keep ** (m - m.min())).sum()
        expected, found = keep ** (m_after - m_after.min()), weights / weights.max()
        n = np.argmax(np.abs(found - expected))
        weight[k], implied[k] = found[n], expected[n]
    one = np.ones(left.size)
    yield _claim(trace, "experts: weights", weight, implied, slack)
    yield _claim(trace, "experts: total", left, one, slack)
    if not hasattr(trace.rule, "seed"):
        limit = 0.5 * (1.0 + keep)
        majority = _claim(trace, "experts: majority", left, limit * one, slack, _on_mistake(trace))
        yield _and_unlearned(majority, _unlearned(trace), found=1.0, limit=limit)


def _claim(
    trace: Trace, lemma: str, found: Floats, limit: Floats, slack: Floats, where: NDArray[np.bool_] | None = None
) -> Claim:
    """Return a claim about the updates that it applies to; what has overflowed cannot be checked."""
    known = np.isfinite(found) & np.isfinite(limit) & np.isfinite(slack)
    at = np.flatnonzero(known if where is None else known & where)
    return Claim(lemma, found[at], limit[at], slack[at], trace.updates[at], at)


def _unlearned(trace: Trace) -> NDArray[np.int64]:
    """Return the rounds with a mistake that no update followed."""
    return np.setdiff1d(trace.mistakes, trace.updates)


def _and_unlearned(
    claim: Claim, rounds: NDArray[np.int64], *, found: float, limit: float | Floats, slack: float | Floats = 0.0
) -> Claim:
    """Return a claim about mistakes with rounds added in which one was made and no update followed."""
    n = rounds.size
    more = Claim(claim.lemma, np.full(n, found), np.full(n, limit), np.full(n, slack), rounds, np.full(n, -1))
    return Claim(claim.lemma, *(np.append(old, new) for old, new in zip(claim[1:], more[1:], strict=True)))


def _errors(trace: Trace) -> Floats:
    """Return the relative error tolerated at each update; normalising x takes as many roundings as summing over it."""
    return np.asarray((_ROUNDINGS + 2.0 * trace.entries) * UNIT, dtype=np.float64)


def _size(trace: Trace) -> Floats:
    """Return how long the vectors are, at most, that an additive update puts together."""
    before, after, square = trace.before["squared_norm"], trace.potentials["squared_norm"], trace.squared_lengths
    size: Floats = np.sqrt(before + _LEAST) + np.sqrt(after + _LEAST) + trace.steps * np.sqrt(square + _LEAST)
    return size


def _norm_slack(trace: Trace) -> Floats:
    """Return how wrong the change of ‖w‖² may be."""
    return _square_slack(trace, _size(trace))


def _square_slack(trace: Trace, size: Floats) -> Floats:
    """Return how wrong the change of a square may be: each term of it is at most the square of all lengths together.

    The score is a sum over the unscaled x, in which terms may underflow before its scale and 2λ multiply it.
    """
    lost = 2.0 * trace.steps * trace.entries * (trace.scales * _LOST)
    slack: Floats = _errors(trace) * size**2 + lost + 2.0 * size * _strayed(trace) + _LEAST
    return slack


def _strayed(trace: Trace) -> Floats:
    """Return how far an update may miss, where the product of λ and the scale of x underflows."""
    missed: Floats = _LOST / trace.scales
    return missed


def _scores(trace: Trace) -> Floats:
    """Return the scores of the rounds with an update."""
    return trace.scores[trace.updates - trace.first_round]


def _on_mistake(trace: Trace) -> NDArray[np.bool_]:
    """Tell which updates were made on a mistake."""
    return np.isin(trace.updates, trace.mistakes)


def _farthest(growth: NDArray[np.int64]) -> float:
    """Return the growth of an expert's count that is farthest from 0 or 1."""
    return float(growth[np.argmax(np.abs(2 * growth - 1))])


def _is_number(rule: Any, name: str) -> bool:
    return isinstance(getattr(rule, name, None), int | float)
