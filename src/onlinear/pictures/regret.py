"""Experts: their weights over time, and the learner's mistakes beyond those of the best."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from onlinear.display import counted
from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError
from onlinear.pictures.mistakes import IN_SIGHT
from onlinear.pictures.picture import Axis, Layer, Picture
from onlinear.pictures.rows import row_bars, rows_axis
from onlinear.pictures.weights import weights_picture
from onlinear.pictures.wording import rounded, rule_name
from onlinear.rules.experts import FixedShare, RandomizedWeightedMajority, WeightedMajority
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace
from onlinear.theory.bounds.experts import AdviceCounts, anytime_bound, fixed_share_bound, majority_bound

What: TypeAlias = Literal["regret", "weights"]
_MOST_EXPERTS = 5
"""More lines cannot be told apart."""
_MOST_BARS = 20


def regret_picture(run: Run, what: What = "regret") -> Picture:
    """Return how a learner of experts, or a majority, compares with the best of them.

    With ``trace=Potentials()``, experts are followed over time: the regret, that is the mistakes beyond those of the
    expert that is best so far, with what the theorem allows; or the weights. Without it, and for a `Majority`, the
    picture has the mistakes or the weights at the end.

    Parameters
    ----------
    run : Run
        Of a rule for experts, or of a `Majority`.
    what : {"regret", "weights"}
        What to show.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> advice, y = onlinear.datasets.experts(N=5, n=200, seed=0)
    >>> rule = onlinear.rules.WeightedMajority()
    >>> run = onlinear.run(rule, advice, y, trace=onlinear.Potentials())
    >>> picture = regret_picture(run)
    >>> run.regret, [float(layer.y[-1]) for layer in picture.layers if layer.role == "series"]
    (1, [1.0])
    """
    made = run.expert_mistakes
    if made is None:
        raise ParameterError(f"{run.rule!r} has no experts; regret is for rules of experts and for a Majority")
    if what not in ("regret", "weights"):
        raise ParameterError(f'what is {what!r}; it must be "regret" or "weights"')
    trace = run.trace
    if isinstance(trace, Trace) and trace.potentials and trace.updates.size:
        return _regret_over_time(run, trace) if what == "regret" else _weights_over_time(run, trace)
    return _mistakes_at_end(run, made) if what == "regret" else weights_picture(run)


def regrets(run: Run, trace: Trace) -> Floats:
    """Return after each update the mistakes of the learner minus those of the best expert so far."""
    own = np.searchsorted(trace.mistakes, trace.updates, side="right")
    before = run.mistakes - trace.mistakes.size  # those of an earlier stretch
    regret: Floats = (before + own - trace.potentials["mistakes"].min(axis=1)).astype(np.float64)
    return regret


def _regret_over_time(run: Run, trace: Trace) -> Picture:
    rounds, best = trace.updates + 1, trace.potentials["mistakes"].min(axis=1)
    layers, notes = [Layer.of("regret", rounds, regrets(run, trace))], []
    shares = _expected(trace)
    if shares is not None:
        layers.append(Layer.of("expected regret", rounds, shares[trace.updates - trace.first_round] - best))
    allowed = _theorem(run) if trace.first_round == 0 else None
    if allowed is not None:
        name, limit = allowed
        erring = np.arange(1, rounds.size + 1)
        counts = zip(rounds.tolist(), best.tolist(), erring.tolist(), strict=True)
        places = _spread(rounds.size)
        values = np.array([limit(AdviceCounts(run.n_features, T, 0, m, s)) - m for T, m, s in counts])[places]
        top = max(float(np.abs(layer.y).max()) for layer in layers)
        if values[-1] > IN_SIGHT * max(top, 1.0):
            notes.append(f"Above the picture: {name}, a regret of at most {rounded(float(values[-1]))} in the end.")
        else:
            layers.insert(0, Layer.of(name, rounds[places], values, role="bound"))
    end = float(trace.first_round + trace.rounds)
    axes = Axis("rounds", low=float(trace.first_round), high=end), Axis("mistakes beyond the best expert's")
    return Picture(f"Regret of {rule_name(run.rule)}", *axes, tuple(layers), tuple(notes))


def _expected(trace: Trace) -> Floats | None:
    """Return the expected mistakes so far after each round, of a rule that draws: the wrong experts' weight, summed."""
    if not hasattr(trace.rule, "seed") or trace.first_round:
        return None
    signs = 2.0 * trace.answers - 1.0
    return np.cumsum(0.5 * (1.0 - signs * trace.scores))


def _theorem(run: Run) -> tuple[str, Callable[[AdviceCounts], float]] | None:
    """Return the name of the theorem about a rule, and the mistakes that it allows, given those of the experts."""
    rule: Any = run.rule
    if not _started_equal(run):
        return None
    if isinstance(rule, WeightedMajority) and rule.eta < 1.0:
        return "Weighted majority mistake bound", lambda counts: majority_bound(counts, rule.eta, ()).value
    if isinstance(rule, FixedShare) and rule.eta < 1.0:
        return "Fixed share mistake bound", lambda counts: fixed_share_bound(counts, rule.eta, rule.share, ()).value
    if isinstance(rule, RandomizedWeightedMajority):
        if rule.eta == "anytime":
            return "Anytime bound on the expected mistakes", lambda counts: anytime_bound(counts, ()).value
        eta = float(rule.eta)
        log_n, keep = math.log(run.n_features), -math.log1p(-eta)
        return "Bound on the expected mistakes", lambda counts: (counts.m * keep + log_n) / eta
    return None


def _started_equal(run: Run) -> bool:
    """Tell whether all experts had the same weight in the beginning."""
    origin = run.state.origin
    return origin is not None and bool((origin == origin[0]).all())


def _weights_over_time(run: Run, trace: Trace) -> Picture:
    weights = trace.potentials["weights"]
    shares = weights / weights.sum(axis=1, keepdims=True)
    # Those that mattered most at some time.
    heaviest = np.argsort(-shares.max(axis=0), kind="stable")[:_MOST_EXPERTS]
    places = _spread(len(shares))
    rounds = trace.updates[places] + 1
    order = sorted(heaviest.tolist(), key=lambda n: -float(shares[-1, n]))
    layers = tuple(Layer.of(f"expert {n}", rounds, shares[places, n]) for n in order)
    left = shares.shape[1] - len(order)
    notes = (f"{counted(left, 'expert')} with less weight are not shown.",) * (left > 0)
    end = float(trace.first_round + trace.rounds)
    axes = (
        Axis("rounds", low=float(trace.first_round), high=end),
        Axis("share of the vote", percent=True, low=0.0, high=1.0),
    )
    return Picture(f"Weights of the experts, {rule_name(run.rule)}", *axes, layers, notes)


def _spread(n: int) -> Any:
    """Return numbers of updates, evenly spread and with the last."""
    return np.unique(np.linspace(0, n - 1, min(n, 1000)).round().astype(np.intp))


def _mistakes_at_end(run: Run, made: Any) -> Picture:
    members = bool(run.state.members)
    names = [member.name for member in run.rule.members] if members else [f"expert {n}" for n in range(made.size)]
    order = np.argsort(made, kind="stable")[:_MOST_BARS].tolist()
    own = [rule_name(run.rule)]
    layers = (
        row_bars("the learner", own, [run.mistakes]),
        row_bars("members" if members else "experts", [names[n] for n in order], made[order], first=1, role="baseline"),
    )
    rows = [*own, *(names[n] for n in order)]
    left = made.size - len(order)
    notes = [f"{counted(left, 'expert')} with more mistakes are not shown."] * (left > 0)
    title = f"Mistakes of {own[0]} and of its {'members' if members else 'experts'}"
    return Picture(title, Axis("mistakes", low=0.0), rows_axis(rows), layers, tuple(notes))
