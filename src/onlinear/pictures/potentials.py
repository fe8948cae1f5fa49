"""The quantities of the proofs, update by update: how two curves close on each other until no mistake is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError
from onlinear.pictures.picture import Axis, Layer, Picture, Role
from onlinear.pictures.wording import rounded, rule_name
from onlinear.rounding import accurate_norm
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace

What: TypeAlias = Literal["growth", "cosine", "squared_norm", "total_weight"]
_RECORD = "record them with trace=onlinear.Potentials"


def potentials_picture(run: Run | Trace, what: What | None = None) -> Picture:
    """Return the potentials of a proof after each update, with what the theorems allow.

    For additive rules, ``w ← w + λ·y·x``, with a comparator u that has y⟨u,x⟩ ≥ γ‖u‖ on the examples updated on, and
    ‖x‖ ≤ R on them: ``kγ ≤ ⟨w,u⟩/‖u‖ ≤ ‖w‖ ≤ R√k`` after k mistakes. The lowest curve is a line, the highest a root;
    where they would cross, at k = (R/γ)², there can be no further mistake.

    Parameters
    ----------
    run : Run or Trace
        With ``trace=Potentials(comparator=u)``.
    what : {"growth", "cosine", "squared_norm", "total_weight"}, optional
        The four quantities above; the cosine of the angle between w and u, which is at least √k·γ/R; ‖w‖²; or Winnow's
        Φ, the sum of the weights. Default: Φ if it was recorded, otherwise the growth.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y, u = [[2.0, 0.0], [1.0, -1.0], [0.0, 1.0]], [+1, -1, +1], [1.0, 2.0]
    >>> run = onlinear.run(onlinear.rules.Perceptron(), X, y, trace=onlinear.Potentials(u))
    >>> [(layer.name, layer.y.round(2).tolist()) for layer in potentials_picture(run).layers]
    [('R√k', [0.0, 2.0, 2.83]), ('‖w‖', [0.0, 2.0, 1.41]), ('⟨w,u⟩/‖u‖', [0.0, 0.89, 1.34]), ('kγ', [0.0, 0.45, 0.89])]
    """
    trace = run.trace if isinstance(run, Run) else run
    if not isinstance(trace, Trace) or not trace.potentials:
        raise ParameterError(f"the trace holds no potentials; {_RECORD}(comparator=u)")
    if what is None:
        what = "total_weight" if "total_weight" in trace.potentials else "growth"
    pictures = {
        "growth": _growth,
        "cosine": _cosine,
        "squared_norm": _squared_norm,
        "total_weight": _total_weight,
    }
    if what not in pictures:
        raise ParameterError(f"what is {what!r}; it must be one of {', '.join(map(repr, pictures))}")
    return pictures[what](trace)


def potential(trace: Trace, name: str) -> Floats:
    """Return a potential before the first update and after each one."""
    if name not in trace.potentials:
        raise ParameterError(
            f"the trace has no {name}; {_RECORD}(comparator=u)"
            if name == "inner"
            else f"{name} is not a potential of {trace.rule!r}"
        )
    after, before = trace.potentials[name], trace.before[name]
    return np.concatenate([before[:1], after]).astype(np.float64)


class _GrowthLimits(NamedTuple):
    """What the growth of the weights (P4) allows after each update: kγ and R√k; with steps λ, γΣλ and R√(Σλ²)."""

    lower: Floats | None
    """Of ⟨w,u⟩/‖u‖."""
    upper: Floats | None
    """Of ‖w‖."""
    by_count: bool
    """Whether both depend on the number of updates alone."""
    notes: tuple[str, ...]


def _limits(trace: Trace) -> _GrowthLimits:
    if not (trace.rule.additive and 0 < trace.updates.size == trace.steps.size):
        return _GrowthLimits(None, None, by_count=False, notes=())
    begun, steps = potential(trace, "squared_norm")[0], np.concatenate([[0.0], trace.steps])
    radius = float(np.sqrt(trace.squared_lengths.max()))
    scores = trace.scores[trace.updates - trace.first_round]
    lower = upper = None
    notes = []
    if (trace.labels * scores <= 0.0).all():
        upper = np.sqrt(begun + radius**2 * np.cumsum(steps**2))
    else:
        notes.append("Some updates were not mistakes; ‖w‖ ≤ R√k holds for mistakes only.")
    by_count = begun == 0.0 and bool((trace.steps == 1.0).all())
    length = _length(trace)
    if length > 0.0:
        gamma = float(trace.agreements.min()) / length
        if gamma > 0.0:
            lower = potential(trace, "inner")[0] / length + gamma * np.cumsum(steps)
            if upper is not None and by_count:
                notes.append(
                    f"On the examples updated on, γ = {gamma:.3g} and R = {radius:.3g}: kγ and R√k meet at"
                    f" k = (R/γ)² = {rounded((radius / gamma) ** 2)}, the perceptron mistake bound (P1)."
                )
        else:
            notes.append("The comparator is wrong on some of the examples updated on, so there is no kγ.")
    return _GrowthLimits(lower, upper, by_count, tuple(notes))


def _growth(trace: Trace) -> Picture:
    limits, norms = _limits(trace), np.sqrt(potential(trace, "squared_norm"))
    notes = list(limits.notes)
    layers = [_curve("‖w‖", norms)]
    if limits.upper is not None:
        layers.insert(0, _curve("R√k" if limits.by_count else "most that ‖w‖ can be", limits.upper, "bound"))
    if trace.comparator is None:
        notes.append("With a comparator u, trace=Potentials(comparator=u), ⟨w,u⟩/‖u‖ and kγ are shown, too.")
    elif _length(trace) > 0.0:
        layers.append(_curve("⟨w,u⟩/‖u‖", potential(trace, "inner") / _length(trace)))
    if limits.lower is not None:
        layers.append(_curve("kγ" if limits.by_count else "least that ⟨w,u⟩/‖u‖ can be", limits.lower, "bound"))
    return _of_updates(trace, "Growth of the weights", "length", layers, notes)


def _cosine(trace: Trace) -> Picture:
    inner, norms = potential(trace, "inner"), np.sqrt(potential(trace, "squared_norm"))
    limits, length = _limits(trace), _length(trace)
    with np.errstate(invalid="ignore", divide="ignore"):
        layers = [_curve("⟨w,u⟩/(‖w‖‖u‖)", inner / norms / length)]
        if limits.lower is not None and limits.upper is not None:
            name = "√k·γ/R" if limits.by_count else "least that it can be"
            layers.insert(0, _curve(name, limits.lower / limits.upper, "bound"))
    return _of_updates(trace, "Angle between the weights w and u", "cosine", layers, limits.notes)


def _squared_norm(trace: Trace) -> Picture:
    limits = _limits(trace)
    layers = [_curve("‖w‖²", potential(trace, "squared_norm"))]
    if limits.upper is not None:
        layers.insert(0, _curve("kR²" if limits.by_count else "most that it can be", limits.upper**2, "bound"))
    return _of_updates(
        trace, "Squared length of the weights", "‖w‖²", layers, limits.notes[:1] * (limits.upper is None)
    )


def _total_weight(trace: Trace) -> Picture:
    total = potential(trace, "total_weight")
    layers, notes = [_curve("Φ, the sum of the weights", total)], []
    beta, theta = (getattr(trace.rule, name, None) for name in ("beta", "threshold"))
    if beta is not None and theta is not None:
        gains = np.where(trace.labels > 0, beta * theta, -theta * beta / (1.0 + beta))
        limit = total[0] + np.concatenate([[0.0], np.cumsum(gains)])
        layers.insert(0, _curve("Φ₀ + (α−1)θ·m₊ − (1−1/α)θ·m₋", limit, "bound"))
        notes.append(
            f"A missed positive (m₊) adds at most (α−1)θ = {rounded(beta * theta)}, a false positive (m₋) takes more"
            f" than (1−1/α)θ = {rounded(theta * beta / (1.0 + beta))}. Φ stays above 0, so there cannot be many more"
            " false positives than missed positives: the Winnow mistake bound."
        )
    return _of_updates(trace, "Total weight", "Φ", layers, notes)


def _length(trace: Trace) -> float:
    """Return ‖u‖ of the comparator; 0 without one."""
    return 0.0 if trace.comparator is None else accurate_norm(trace.comparator)


def _curve(name: str, values: Floats, role: Role = "series") -> Layer:
    """Return values before the first update and after each one, as a line."""
    return Layer.of(name, np.arange(values.size), values, role=role)


def _of_updates(trace: Trace, title: str, label: str, layers: Sequence[Layer], notes: Sequence[str]) -> Picture:
    name = "steps" if trace.steps.size < trace.updates.size else "updates"
    title = f"{title}, {rule_name(trace.rule)}"
    return Picture(title, Axis(name, low=0.0), Axis(label), tuple(layers), tuple(notes))
