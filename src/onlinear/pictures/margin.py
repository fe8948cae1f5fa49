"""The largest margin, closed in from both sides: while a rule learns, or while a solver searches."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.display import rounded_down, rounded_up
from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError
from onlinear.pictures.picture import Axis, Kind, Layer, Picture
from onlinear.pictures.potentials import potential
from onlinear.pictures.wording import rule_name
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace
from onlinear.theory.check.interval import MarginInterval
from onlinear.theory.check.measures import margin
from onlinear.theory.examples import Examples

_MEASURED = 128
"""The most weights of a run whose margin is measured: each is compared with every example."""
_LEGIBLE = 500
"""A bound that goes up and down more often would fill the picture."""
_THEOREM = "margin bound from the weights (P6)"
_LONG = 50
"""From this many updates on they stand on a logarithmic axis."""


def margin_picture(
    run: Run | MarginInterval, X: Any = None, y: Any = None, *, interval: MarginInterval | None = None
) -> Picture:
    """Return how the largest margin is closed in.

    For a run of an additive rule, ``w ← w + λ·y·x`` from w = v: above, the margin bound from the weights (P6), which no
    separator of the examples seen so far exceeds, and the least of these bounds so far; below, the margin of the best
    separator of all examples among the weights so far. For a `MarginInterval`: both bounds after each step of the
    solver.

    Parameters
    ----------
    run : Run or MarginInterval
        A run with ``trace=Potentials(weights=True)``, or the result of `onlinear.max_margin`.
    X, y : matrix and labels
        The examples of the run, for the lower curve.
    interval : MarginInterval, optional
        For a run, the interval to draw beside it, of the same examples with the same ``fit_intercept`` and
        ``normalize``. With an intercept, that of the augmented margin is drawn, which the bound is about.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.2, n=100, d=5, seed=0)
    >>> rule, trace = onlinear.rules.Perceptron(), onlinear.Potentials(weights=True)
    >>> run = onlinear.converge(rule, X, y, trace=trace)
    >>> picture = margin_picture(run, X, y, interval=onlinear.max_margin(X, y))
    >>> [layer.name for layer in picture.layers][:2]
    ['margin bound from the weights (P6)', 'best separator so far']
    """
    if isinstance(run, MarginInterval):
        return _of_solver(run)
    trace = run.trace
    if not isinstance(trace, Trace) or "squared_norm" not in trace.potentials:
        raise ParameterError("the run has no potentials; record them with trace=onlinear.Potentials(weights=True)")
    if not run.rule.additive:
        raise ParameterError(f"{run.rule!r} is not additive; its weights do not bound the margin")
    k = np.arange(1.0, trace.updates.size + 1.0)
    layers, notes = _upper_layers(k, upper_bounds(trace)), []
    if X is None or "weights" not in trace.potentials:
        missing = "X and y" if X is None else "trace=onlinear.Potentials(weights=True)"
        notes.append(f"With {missing}, the margin of the best separator so far is shown, too.")
    else:
        at, best = best_margins(run, trace, X, y)
        found = best > 0.0
        kind: Kind = "line" if found.sum() > 2 else "points"
        if found.any():
            layers.append(Layer.of("best separator so far", 1.0 + at[found], best[found], kind))
        else:
            measured = " that were measured" * (at.size < k.size)
            notes.append(f"None of the weights{measured} separates the examples.")
        if at.size < k.size:
            notes.append(f"Margins were measured at {at.size:,} of {k.size:,} updates.")
    if interval is not None:
        layers += _levels(_comparable(interval, run, trace))
    positive = np.concatenate([layer.y[layer.y > 0.0] for layer in layers])
    spread = positive.size > 0 and positive.max() > 20.0 * positive.min()
    return Picture(
        f"Bounds on the margin, {rule_name(run.rule)}",
        Axis("updates", log=k.size >= _LONG, low=1.0, high=1.05 * max(2, k.size)),
        Axis(_label(trace), log=spread, low=None if spread else 0.0),
        tuple(layers),
        tuple(notes),
    )


def _upper_layers(k: Floats, bounds: Floats) -> list[Layer]:
    """Return the least upper bound so far; and the bounds themselves, if they are others and can be told apart."""
    least = np.minimum.accumulate(bounds)
    if (bounds == least).all():
        return [Layer.of(_THEOREM, k, bounds, role="bound")]
    layers = [Layer.of(f"{_THEOREM}, least so far", k, least, role="bound")]
    return layers + [Layer.of(_THEOREM, k, bounds, role="bound")] * (k.size <= _LEGIBLE)


def upper_bounds(trace: Trace) -> Floats:
    """Return ‖w − v‖/Σλ after each update, from the start v: no separator of what was seen has a larger margin."""
    if trace.steps.size != trace.updates.size:
        raise ParameterError("the batch perceptron takes a step for many examples at once; use run.margin_upper_bound")
    if not trace.steps.size:
        raise ParameterError("there was no update, so the weights do not bound the margin")
    if "weights" in trace.potentials:
        moved = trace.potentials["weights"] - trace.before["weights"][0]
        lengths = np.linalg.norm(moved, axis=1)
        if trace.fit_intercept:
            lengths = np.hypot(lengths, trace.potentials["intercept"] - trace.before["intercept"][0])
    elif potential(trace, "squared_norm")[0] == 0.0:
        lengths = np.sqrt(trace.potentials["squared_norm"])
    else:
        raise ParameterError("the run did not start from 0; record it with trace=onlinear.Potentials(weights=True)")
    bounds: Floats = lengths / np.cumsum(trace.steps)
    return bounds


def best_margins(run: Run, trace: Trace, X: Any, y: Any) -> tuple[Any, Floats]:
    """Return numbers of updates, and the largest margin of the weights up to each; 0 where none separates."""
    weights, n = trace.potentials["weights"], trace.updates.size
    intercepts = trace.potentials.get("intercept")
    at = np.unique(np.linspace(0, n - 1, min(n, _MEASURED)).round().astype(np.intp))
    opened = Examples(
        X, y, fit_intercept=trace.fit_intercept, normalize=run.state.normalize, classes=run.classes.tolist()
    )
    margins = [
        margin(weights[i] if intercepts is None else (weights[i], float(intercepts[i])), opened).augmented for i in at
    ]
    return at, np.maximum.accumulate(np.maximum(margins, 0.0))


def _comparable(interval: MarginInterval, run: Run, trace: Trace) -> MarginInterval:
    """Return the interval of the margin that the bound from the weights is about, or raise if that is another one."""
    options = {"fit_intercept": (interval.kind != "through the origin", trace.fit_intercept)}
    options["normalize"] = (interval.normalize, run.state.normalize)
    for name, (of_interval, of_run) in options.items():
        if of_interval != of_run:
            raise ParameterError(f"the interval is of examples with {name}={of_interval}, the run has {name}={of_run}")
    return interval.augmented or interval


def _label(trace: Trace) -> str:
    return "margin, with a 1 appended to x" if trace.fit_intercept else "margin"


def _levels(interval: MarginInterval) -> list[Layer]:
    lower, upper = rounded_down(interval.lower), rounded_up(interval.upper)
    layers = [Layer.level(f"no separator has more than {upper}", interval.upper, "baseline")]
    if interval.separable:
        layers.append(Layer.level(f"a separator has at least {lower}", interval.lower, "baseline"))
    return layers


def _of_solver(interval: MarginInterval) -> Picture:
    y = Axis(f"margin, {interval.kind}", low=0.0)
    if not interval.steps:
        return Picture("Largest margin", Axis("", low=0.0, high=1.0), y, tuple(_levels(interval)))
    numbers = [step.number for step in interval.steps]
    # One side may get worse for a moment; what was known stays known.
    lower = np.maximum.accumulate([step.lower for step in interval.steps])
    upper = np.minimum.accumulate([step.upper for step in interval.steps])
    layers = (
        Layer.of("upper bound so far", numbers, upper, role="bound"),
        Layer.of("margin of the best separator so far", numbers, lower),
    )
    note = f"Proven: at least {rounded_down(interval.lower)}, at most {rounded_up(interval.upper)}."
    if not interval.separable:
        note = f"Proven: at most {rounded_up(interval.upper)}. No separator was found, but there may be one."
    steps = Axis("steps of the solver", low=1.0, high=float(max(2, numbers[-1])))
    return Picture("Largest margin, step by step", steps, y, layers, (note,))
