"""Mistakes over time, beside what the theorems allow and what is known without learning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from onlinear.display import counted
from onlinear.errors import ParameterError
from onlinear.pictures.bounds import chance_words
from onlinear.pictures.picture import Axis, Floats, Layer, Picture
from onlinear.pictures.wording import limit_words, rule_name
from onlinear.runs.curve import Curve
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.certificate.certificate import Certificate

POINTS = 8192
"""The most points of a line that is made from the trace of every round."""
IN_SIGHT = 10.0
"""What is further above the curve in the end than this factor is named, not drawn: it would flatten the curve."""

Allowed: TypeAlias = Certificate | Sequence[Bound]


def mistakes_picture(
    run: Run | Trace | Curve, *, bounds: Allowed | None = None, baselines: bool = True, rate: bool = False
) -> Picture:
    """Return the mistakes of a run over its rounds, with bounds and baselines.

    What is more than ten times the mistakes in the end, a bound or a baseline, is named in a note and not drawn: it
    would flatten the curve.

    Parameters
    ----------
    run : Run, Trace or Curve
        A run with a trace: made with ``trace=True``, ``trace="curve"`` or ``trace=Potentials(...)``.
    bounds : Certificate or sequence of Bound, optional
        What the theorems allow. Bounds on anything but mistakes are left out, and a note says so.
    baselines : bool
        Show the mistakes of answering the most frequent label so far, and of repeating the last label.
    rate : bool
        Show mistakes per round, instead of their number.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> run = onlinear.run(onlinear.rules.Perceptron(), X, y, trace="curve")
    >>> picture = mistakes_picture(run, bounds=onlinear.certify(run, X, y))
    >>> [layer.name for layer in picture.layers]
    ['Perceptron hinge bound (P5): 62.4...', 'Perceptron']
    >>> picture.notes[0]
    'Above the picture, in mistakes at the end: majority so far 467, last label ...'
    """
    curve = curve_of(run)
    name = rule_name(run.rule) if isinstance(run, Run) else "mistakes"
    own = Layer.of(name, *per_round(curve, curve.mistakes, rate=rate))
    reach = IN_SIGHT * max(int(curve.mistakes[-1]), 1)
    known, above = [], []
    for baseline, made in baseline_courses(curve) if baselines else ():
        if made[-1] <= reach:
            known.append(Layer.of(baseline, *per_round(curve, made, rate=rate), role="baseline"))
        else:
            above.append(f"{baseline} {int(made[-1]):,}")
    drawn, notes = [], []
    for bound in bounds_on(run, bounds):
        if bound.of != "mistakes" or bound.lower:
            notes.append(f"Not shown: {bound.theorem} bounds the {bound.of}.")
        elif not math.isfinite(bound.value):
            notes.append(f"{bound.theorem}: no limit is known.")
        elif bound.value > reach:
            above.append(f"{bound.theorem} {limit_words(bound.value)}{chance_words(bound)}")
        else:
            drawn.append(_bound_layer(bound, curve, rate=rate))
    if above:
        notes.insert(0, f"Above the picture, in mistakes at the end: {', '.join(above)}.")
    first = int(curve.rounds[0])
    notes += later_pass_notes([run] if isinstance(run, Run) else [])
    if first:
        notes.append(f"Counted from round {first + 1:,} on, where this stretch began.")
    top = settled_top([*known, own], [float(layer.y[-1]) for layer in drawn])
    return Picture(
        title=f"Mistakes of {name}" if isinstance(run, Run) else "Mistakes over time",
        x=Axis("rounds", low=float(first), high=float(curve.rounds[-1])),
        y=Axis("mistakes per round" if rate else "mistakes", percent=rate, low=0.0, high=top),
        layers=(*known, *drawn, own),
        notes=tuple(notes),
    )


def baseline_courses(curve: Curve) -> list[tuple[str, Any]]:
    """Return the names and the mistakes of the baselines."""
    return [("majority so far", curve.majority), ("last label", curve.last_label)]


def later_pass_notes(runs: Sequence[Run]) -> list[str]:
    """Return a note if mistakes were counted on examples that had been learned from before."""
    firsts = {run.baselines.rounds for run in runs if run.baselines is not None and run.baselines.rounds < run.rounds}
    return [f"After round {first:,} come further passes: these examples had been learned from." for first in firsts]


def settled_top(layers: Sequence[Layer], levels: Sequence[float] = ()) -> float:
    """Return the upper end of an axis: the first rounds, in which a rate may be anything, do not decide it."""
    settled = [layer.y[layer.x >= layer.x[0] + 0.02 * (layer.x[-1] - layer.x[0])] for layer in layers if layer.x.size]
    return 1.05 * max([*levels, *(float(part.max()) for part in settled)], default=1.0) or 1.0


def curve_of(run: Any) -> Curve:
    """Return the mistakes over time of a run, or of its trace."""
    trace = run.trace if isinstance(run, Run) else run
    if isinstance(trace, Trace):
        return trace.curve(None if trace.rounds < POINTS else POINTS)
    if not isinstance(trace, Curve):
        raise ParameterError('the run has no trace, so its course is unknown; learn with trace="curve"')
    return trace


def per_round(curve: Curve, made: Any, *, rate: bool) -> tuple[Floats, Floats]:
    """Return the rounds, and the mistakes made up to each of them or their share."""
    rounds, made = curve.rounds.astype(np.float64), np.asarray(made, dtype=np.float64)
    return (rounds[1:], made[1:] / (rounds[1:] - rounds[0])) if rate else (rounds, made)


def bounds_on(run: Any, allowed: Allowed | None) -> list[Bound]:
    """Return the bounds of a certificate, which must be that of the run, or those that were given."""
    if not isinstance(allowed, Certificate):
        found = list(allowed or ())
        if not all(isinstance(bound, Bound) for bound in found):
            raise ParameterError("bounds must be a Certificate, or a list of Bound as onlinear.theory.bounds returns")
        return found
    if isinstance(run, Run):
        counts = {name: allowed.record["outcome"][name] for name in ("rounds", "mistakes")}
        if counts != {"rounds": run.rounds, "mistakes": run.mistakes}:
            raise ParameterError(
                f"the certificate is for {counted(counts['mistakes'], 'mistake')} in {counts['rounds']:,} rounds;"
                f" this run has {counted(run.mistakes, 'mistake')} in {run.rounds:,}"
            )
    return allowed.bounds


def _bound_layer(bound: Bound, curve: Curve, *, rate: bool) -> Layer:
    if not rate:
        return Layer.level(f"{bound.theorem}: {limit_words(bound.value)}{chance_words(bound)}", bound.value)
    rounds = (curve.rounds[1:] - curve.rounds[0]).astype(np.float64)
    return Layer.of(
        f"{bound.theorem}{chance_words(bound)}", rounds + curve.rounds[0], bound.value / rounds, role="bound"
    )
