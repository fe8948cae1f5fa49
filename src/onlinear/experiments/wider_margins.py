"""What β and b buy: margin perceptrons, their updates (P8, P9), and the margins that they reach."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from onlinear import datasets
from onlinear.display import TextTable
from onlinear.experiments.experiment import Columns, Experiment, Observed, Work, as_columns, over_seeds, span
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import MarginPerceptron
from onlinear.runs import converge
from onlinear.theory import bounds, max_margin
from onlinear.theory import margin as margin_of

_ENOUGH = 10**7
"""More passes than any bound here allows updates."""
_FIXED, _RELATIVE = "b", "β"
_THEOREMS = {
    _FIXED: "Margin perceptron update bound (P8)",
    _RELATIVE: "Normalised margin perceptron update bound (P9)",
}


class Demands(NamedTuple):
    """The parameters of the experiment."""

    n: int
    d: int
    margin: float
    fixed: tuple[float, ...]
    """b, as multiples of R²."""
    relative: tuple[float, ...]
    """β, as parts of the largest margin."""


class Price(NamedTuple):
    """What a margin perceptron reached, and what it cost."""

    kind: str
    value: float
    seed: int
    updates: int
    bound: float
    share: float
    """The margin that was reached, as a part of the largest."""
    promised: float
    """The part that the theorem promises."""


def _conduct(scale: Demands, work: Work) -> Observed:
    cases = [
        (kind, value, seed)
        for kind, values in ((_FIXED, scale.fixed), (_RELATIVE, scale.relative))
        for value, seed in itertools.product(values, work.seeds)
    ]
    columns = as_columns(work.each(lambda case: _price(scale, *case), cases))
    return Observed(columns, (_shares(columns), _updates(columns)), _table(columns), *_judge(columns))


def _price(scale: Demands, kind: str, value: float, seed: int) -> Price:
    X, y = datasets.separable(scale.margin, scale.n, scale.d, seed=seed)
    best = max_margin(X, y)
    if kind == _FIXED:
        b = value * best.radius**2
        rule = MarginPerceptron(b)
        bound = bounds.margin_perceptron(X, y, best.weights, margin=b)
        promised = bound.quantities["margin_when_halted"]
    else:
        promised = value * best.lower
        rule = MarginPerceptron(promised, normalized=True)
        bound = bounds.normalized_margin_perceptron(X, y, best.weights, margin=promised)
    done = converge(rule, X, y, max_passes=_ENOUGH)
    reached = margin_of(done.weights, X, y).geometric
    return Price(kind, value, seed, done.updates, float(bound.mistakes), reached / best.upper, promised / best.upper)


def _of(columns: Columns, kind: str, name: str) -> Any:
    """Return a column with a row per seed, and a column per demand."""
    return columns[name][columns["kind"] == kind].reshape(-1, np.unique(columns["seed"]).size).T


def _judge(columns: Columns) -> tuple[str, bool]:
    share, promised, updates, bound = (columns[name] for name in ("share", "promised", "updates", "bound"))
    plain = _of(columns, _FIXED, "share")[:, 0]
    most = {kind: _of(columns, kind, "share")[:, -1] for kind in _THEOREMS}
    holds = bool(
        (updates <= bound).all() and (share >= promised).all() and all((each > plain).all() for each in most.values())
    )
    b, beta = (columns["value"][columns["kind"] == kind][-1] for kind in _THEOREMS)

    def cost(kind: str) -> str:
        made, allowed, sure = (_of(columns, kind, name)[:, -1] for name in ("updates", "bound", "promised"))
        return (
            f"buys {span(most[kind], '.0%')} of it (promised: {span(sure, '.0%')}) for {span(made)} updates"
            f" ({span(allowed)} allowed by the {_THEOREMS[kind]})"
        )

    finding = (
        f"The perceptron ends with {span(plain, '.0%')} of the largest margin after"
        f" {span(_of(columns, _FIXED, 'updates')[:, 0])} updates. b = {b:g}R² {cost(_FIXED)}. β = {beta:g}γ*"
        f" {cost(_RELATIVE)}, a theorem that the notes leave open."
    )
    return finding, holds


def _table(columns: Columns) -> TextTable:
    rows = []
    for kind, unit in ((_FIXED, "R²"), (_RELATIVE, "γ*")):
        values = columns["value"][columns["kind"] == kind][:: np.unique(columns["seed"]).size]
        for j, value in enumerate(values):
            share, promised, updates, bound = (
                _of(columns, kind, name)[:, j] for name in ("share", "promised", "updates", "bound")
            )
            shown = [span(share, ".1%"), span(promised, ".1%"), span(updates), f"{bound.min():,.0f}"]
            rows.append([f"{kind} = {value:g}{unit}", *shown])
    return TextTable(["demand", "of the largest margin", "promised", "updates", "bound (least)"], rows)


def _shares(columns: Columns) -> Picture:
    """Return the margins that were reached, and those that were promised, over the updates."""
    layers = [Layer.level("largest margin", 1.0, "baseline")]
    for kind, words in ((_FIXED, "update while y⟨w,x⟩ ≤ b"), (_RELATIVE, "update while y⟨w,x⟩ ≤ β‖w‖")):
        updates = np.median(_of(columns, kind, "updates"), axis=0)
        layers.append(
            Layer.of(f"promised with {kind}", updates, _of(columns, kind, "promised").min(axis=0), role="bound")
        )
        layers += over_seeds(words, updates, _of(columns, kind, "share"))
    return Picture(
        "What margin perceptrons buy",
        Axis("updates until it halts (median)", log=True),
        Axis("part of the largest margin", percent=True, low=0.0, high=1.05),
        tuple(layers),
    )


def _updates(columns: Columns) -> Picture:
    layers: list[Layer] = []
    for kind, theorem in _THEOREMS.items():
        promised = np.median(_of(columns, kind, "promised"), axis=0)
        layers.append(Layer.of(theorem, promised, _of(columns, kind, "bound").min(axis=0), role="bound"))
        layers += over_seeds(f"updates with {kind}", promised, _of(columns, kind, "updates"))
    return Picture(
        "What a promised margin costs",
        Axis("promised part of the largest margin", percent=True, low=0.0, high=1.0),
        Axis("updates", log=True),
        tuple(layers),
    )


margin = Experiment(
    "margin",
    "Margin: what β and b buy",
    "Which margin do margin perceptrons reach, for how many updates?",
    _conduct,
    {
        "small": Demands(300, 20, 0.05, (0.0, 0.1, 1.0, 10.0), (0.0, 0.25, 0.5, 0.75, 0.9)),
        "full": Demands(
            1_000, 20, 0.05, (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1_000.0), (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
        ),
    },
    {"small": 3, "full": 5},
)
