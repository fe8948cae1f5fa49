"""Mistakes over time, beside what the theorems allow and what is known without learning."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from onlinear.display import counted, rounded_up
from onlinear.errors import ParameterError
from onlinear.pictures.picture import Axis, Floats, Layer, Picture
from onlinear.pictures.wording import rule_name
from onlinear.runs.curve import Curve
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.certificate.certificate import Certificate

POINTS = 8192
"""The most points of a line that is made from the trace of every round."""
IN_SIGHT = 3.0
"""A bound further above the data than this factor is named, not drawn: it would flatten the curve."""

Allowed: TypeAlias = Certificate | Sequence[Bound]


def mistakes_picture(
    run: Run | Trace | Curve, *, bounds: Allowed | None = None, baselines: bool = True, rate: bool = False
) -> Picture:
    """Return the mistakes of a run over its rounds, with bounds and baselines.

    A bound on the mistakes that is more than three times as high as the curves is named in a note instead of drawn.

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
    >>> [layer.name for layer in picture.layers if layer.role != "bound"]
    ['majority so far', 'last label', 'Perceptron']
    """
    curve = curve_of(run)
    name = rule_name(run.rule) if isinstance(run, Run) else "mistakes"
    layers = [] if not baselines else [_line(curve, "majority so far", curve.majority, rate=rate, role="baseline")]
    layers += [] if not baselines else [_line(curve, "last label", curve.last_label, rate=rate, role="baseline")]
    layers.append(_line(curve, name, curve.mistakes, rate=rate))
    top = max((float(layer.y.max()) for layer in layers if layer.y.size), default=0.0)
    drawn, notes = _bound_layers(bounds_on(run, bounds), curve, top, rate=rate)
    first = int(curve.rounds[0])
    if first:
        notes.append(f"Counted from round {first + 1:,} on, where this stretch began.")
    return Picture(
        title=f"Mistakes of {name}" if isinstance(run, Run) else "Mistakes over time",
        x=Axis("rounds", low=float(first), high=float(curve.rounds[-1])),
        y=Axis("mistakes per round" if rate else "mistakes", percent=rate, low=0.0, high=_height(top, drawn)),
        layers=(*layers[:-1], *drawn, layers[-1]),
        notes=tuple(notes),
    )


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


def _line(curve: Curve, name: str, made: Any, *, rate: bool, role: Any = "series") -> Layer:
    return Layer.of(name, *per_round(curve, made, rate=rate), role=role)


def _bound_layers(found: Iterable[Bound], curve: Curve, top: float, *, rate: bool) -> tuple[list[Layer], list[str]]:
    """Return the bounds in sight as layers, and notes about the others."""
    layers, notes = [], []
    for bound in found:
        relation = "fewer than" if bound.strict else "at most"
        if bound.of != "mistakes" or bound.lower:
            notes.append(f"Not shown: {bound.theorem} bounds the {bound.of}.")
        elif not math.isfinite(bound.value):
            notes.append(f"{bound.theorem}: no limit is known.")
        elif (bound.value / curve.rounds[-1] if rate else bound.value) > IN_SIGHT * top:
            notes.append(f"Above the picture: {bound.theorem}, {relation} {rounded_up(bound.value)} mistakes.")
        elif rate:
            rounds = curve.rounds[1:].astype(np.float64)
            layers.append(Layer.of(bound.theorem, rounds, bound.value / rounds, role="bound"))
        else:
            layers.append(Layer.level(f"{bound.theorem}: {rounded_up(bound.value)}", bound.value))
    return layers, notes


def _height(top: float, bounds: Sequence[Layer]) -> float:
    """Return the upper end of the axis: what is measured, and the bounds at the end, fit in."""
    return 1.05 * max([top, *(float(layer.y[-1]) for layer in bounds)]) or 1.0
