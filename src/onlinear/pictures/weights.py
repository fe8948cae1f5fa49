"""The largest weights by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from onlinear.checks import check_integers
from onlinear.engine.flat import Floats
from onlinear.models.state import State
from onlinear.pictures.picture import Axis, Layer, Picture
from onlinear.pictures.rows import row_bars, rows_axis
from onlinear.pictures.wording import class_names, feature_names, label_name, rounded, rule_name, shorten_name
from onlinear.runs.outcome import Run
from onlinear.theory.check.verdict import Separable


def weights_picture(run: Run | State | Separable, *, top: int = 20) -> Picture:
    """Return the weights with the largest sizes, by the names of their features.

    With more than two classes a row is a feature and a class, and a positive weight speaks for that class. Of experts
    and of a majority it is the share of each in the vote.

    Parameters
    ----------
    run : Run, State or Separable
        What has weights.
    top : int
        The number of weights.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.disjunction(k=2, N=50, n=1000, seed=0)
    >>> run = onlinear.run(onlinear.rules.Winnow(), X, y)
    >>> weights_picture(run, top=2).frame().to_pydict()["text"]
    ['feature 0', 'feature 1']
    """
    check_integers(1, top=top)
    if isinstance(run, Separable):
        names = [f"feature {j}" for j in range(run.weights.size)]
        classes = [label_name(label) for label in run.classes]
        return _of_two(floats_of(run.weights), names, classes, top, "Weights of the separator", [])
    state = run.state if isinstance(run, Run) else run
    if state.members or state.rule.inputs == "advice":
        return _of_experts(state, top)
    weights, names, classes = state.matrix[:, int(state.fit_intercept) :], feature_names(state), class_names(state)
    title = f"Largest weights, {rule_name(state.rule)}"
    notes = ["A weight depends on the unit of its feature."]
    if state.per_class:
        return _of_many(weights, names, classes, top, title, notes)
    if state.fit_intercept:
        notes.append(f"The intercept is {rounded(float(state.matrix[0, 0]))}.")
    return _of_two(weights[0], names, classes, top, title, notes)


def floats_of(weights: Any) -> Floats:
    """Return weights as floats; whole numbers, which may be huge, scaled to a largest size of 1."""
    if weights.dtype != object:
        return np.asarray(weights, dtype=np.float64)
    largest = max((abs(int(value)) for value in weights), default=0) or 1
    return np.array([float(Fraction(int(value), largest)) for value in weights])


def largest(weights: Floats, top: int) -> Any:
    """Return the places of the weights with the largest sizes, those of 0 left out."""
    order = np.argsort(-np.abs(weights), kind="stable")[:top]
    return order[weights[order] != 0.0]


def _of_two(weights: Floats, names: list[str], classes: list[str], top: int, title: str, notes: list[str]) -> Picture:
    places = largest(weights, top)
    rows, shown = [names[j] for j in places], weights[places]
    layers = []
    for side, name in enumerate(classes):
        here = np.flatnonzero((shown > 0.0) == bool(side))
        if here.size:
            bars = tuple(rows[i] for i in here)
            layers.append(Layer.of(f"for {name}", shown[here], here, "bars", "class", texts=bars))
    return _listed(title, "weight", rows, layers, [*_left(weights, places), *notes])


def _of_many(weights: Floats, names: list[str], classes: list[str], top: int, title: str, notes: list[str]) -> Picture:
    places = largest(weights.ravel(), top)
    pairs = [divmod(int(place), weights.shape[1]) for place in places]
    rows = [f"{names[j]}, for {classes[r]}" for r, j in pairs]
    layers = [row_bars("", rows, weights.ravel()[places])]
    return _listed(title, "weight", rows, layers, [*_left(weights.ravel(), places), *notes])


def _of_experts(state: State, top: int) -> Picture:
    weights = state.matrix[0]
    shares = weights / weights.sum()
    known = [member.name for member in state.rule.members] if state.members else state.names or ()
    names = [known[n] if n < len(known) and known[n] else f"expert {n}" for n in range(shares.size)]
    places = largest(shares, top)
    rows = [shorten_name(names[n]) for n in places]
    layers = [row_bars("", rows, shares[places])]
    axis = Axis("share of the vote", percent=True, low=0.0, high=1.0)
    title = f"Weights of the {'members' if state.members else 'experts'}, {rule_name(state.rule)}"
    return Picture(title, axis, rows_axis(rows), tuple(layers), tuple(_left(shares, places)))


def _listed(title: str, label: str, rows: list[str], layers: list[Layer], notes: list[str]) -> Picture:
    return Picture(title, Axis(label), rows_axis(rows), tuple(layers), tuple(notes))


def _left(weights: Floats, shown: Any) -> list[str]:
    """Return a note on the weights that are not shown."""
    rest = int(np.count_nonzero(weights)) - shown.size
    if not shown.size:
        return ["All weights are 0."]
    return [f"{rest:,} more are not 0, none of them larger than {rounded(abs(float(weights[shown[-1]])))}."] * (
        rest > 0
    )
