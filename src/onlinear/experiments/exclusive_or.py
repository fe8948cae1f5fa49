"""Figure 1 of Kitani's notes: exclusive or, on which the halting perceptron never halts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinear import datasets
from onlinear.display import TextTable, counted
from onlinear.experiments.experiment import (
    Columns,
    Experiment,
    Observed,
    Work,
    as_columns,
    over_seeds,
    span,
    trace_of,
)
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import Perceptron
from onlinear.runs import Potentials, converge
from onlinear.theory import Inseparable, bounds, separability

_BEFORE_PICTURE = 20
"""How many passes the picture of mistakes shows: with the product the loop has halted by then."""


class Patience(NamedTuple):
    """The parameters of the experiment."""

    passes: int


class Attempt(NamedTuple):
    """A halting loop on the four points."""

    features: str
    seed: int
    halted: bool
    passes: int
    updates: int
    least_per_pass: int
    """The fewest updates in a pass, but for the last one of a loop that has halted."""
    bound: float


class PointLoop(NamedTuple):
    """An attempt, its updates after each pass, the bounds on the margin after each update, and its last weights."""

    attempt: Attempt
    updates: Any
    margins: Any
    weights: Any
    intercept: float


_PLAIN, _PRODUCT = "x₁, x₂", "x₁, x₂, x₁x₂"


def _conduct(scale: Patience, work: Work) -> Observed:
    X, y = datasets.xor()
    product = np.column_stack([X, X[:, 0] * X[:, 1]])
    verdict = separability(X, y, fit_intercept=True)
    bound = bounds.perceptron(product, y, fit_intercept=True)
    plain = work.each(lambda seed: _attempt(_PLAIN, X, y, seed, scale.passes, np.inf), work.seeds)
    widened = work.each(lambda seed: _attempt(_PRODUCT, product, y, seed, scale.passes, bound.mistakes), work.seeds)
    columns = as_columns(loop.attempt for loop in (*plain, *widened))
    halted, updates, least = columns["halted"], columns["updates"], columns["least_per_pass"]
    is_plain = columns["features"] == _PLAIN
    proven = isinstance(verdict, Inseparable)
    holds = bool(
        proven
        and not halted[is_plain].any()
        and (least[is_plain] >= 1).all()
        and halted[~is_plain].all()
        and (updates <= columns["bound"]).all()
    )
    why = verdict.explain() if isinstance(verdict, Inseparable) else "No witness was found."
    each = counted(int(least[is_plain].min()), "update")
    finding = (
        f"On exclusive or each of the first {scale.passes:,} passes makes at least {each}, in random orders from"
        f" {len(work.seeds)} seeds, and no later pass can do without. {why} With the feature x₁x₂ the loop halts after"
        f" {span(updates[~is_plain])} updates; the {bound.theorem} allows {bound.mistakes:,}."
    )
    pictures = _plane(X, y, widened[0]), _updates(plain, widened, bound.mistakes), _margins(plain[0], widened[0])
    return Observed(columns, pictures, _table(columns), finding, holds)


def _attempt(features: str, X: Any, y: Any, seed: int, passes: int, bound: float) -> PointLoop:
    done = converge(
        Perceptron(),
        X,
        y,
        fit_intercept=True,
        selection="random",
        seed=seed,
        max_passes=passes,
        trace=Potentials(),
    )
    trace = trace_of(done)
    # A pass is as many rounds as there are examples.
    per_pass = np.bincount(trace.updates // len(y), minlength=done.passes)
    learning = per_pass[: done.passes - done.halted]
    # w is the sum of k vectors y·x after k updates; every prefix bounds the margin, so the least bound counts.
    margins = np.sqrt(trace.potentials["squared_norm"]) / np.arange(1, done.updates + 1)
    attempt = Attempt(features, seed, done.halted, done.passes, done.updates, int(learning.min()), bound)
    return PointLoop(attempt, np.cumsum(per_pass), np.minimum.accumulate(margins), done.weights, done.intercept)


def _table(columns: Columns) -> TextTable:
    rows = []
    for features in (_PLAIN, _PRODUCT):
        chosen = columns["features"] == features
        passes, updates, least = (span(columns[name][chosen]) for name in ("passes", "updates", "least_per_pass"))
        bound = columns["bound"][chosen][0]
        halted = f"{columns['halted'][chosen].sum()} of {chosen.sum()}"
        rows.append([features, halted, passes, updates, least, "none" if np.isinf(bound) else f"{bound:,.0f}"])
    return TextTable(["features", "halted", "passes", "updates", "least per pass", "bound"], rows)


def _plane(X: Any, y: Any, loop: PointLoop) -> Picture:
    """Return the four points, and the curve on which the score with the product is 0."""
    first, second, both = loop.weights
    ends = np.linspace(-0.5, 1.5, 401)
    # Only with w₃ ≠ 0 can the score be right on all four points.
    with np.errstate(divide="ignore", invalid="ignore"):
        height = -(first * ends + loop.intercept) / (second + both * ends)
    branches = [ends < -second / both, ends > -second / both]
    shown = [branch & (height >= -0.5) & (height <= 1.5) for branch in branches]
    name = "score 0 with the feature x₁x₂"
    curves = [Layer.of(name, ends[branch], height[branch]) for branch in shown if branch.any()]
    points = [
        Layer.of(words, X[y == label, 0], X[y == label, 1], "points", "class")
        for words, label in (("negative", -1), ("positive", 1))
    ]
    return Picture(
        "Exclusive or: no line separates the classes, a curve does",
        Axis("x₁", low=-0.5, high=1.5),
        Axis("x₂", low=-0.5, high=1.5),
        (*curves, *points),
        square=True,
    )


def _updates(plain: list[PointLoop], widened: list[PointLoop], bound: float) -> Picture:
    passes = np.arange(_BEFORE_PICTURE + 1)
    layers = [Layer.level("Perceptron mistake bound (P1) with x₁x₂", bound)]
    for name, loops in (("x₁ and x₂", plain), ("x₁, x₂ and x₁x₂", widened)):
        # A loop that has halted makes no more updates.
        counts = [np.concatenate([[0], one.updates])[np.minimum(passes, one.updates.size)] for one in loops]
        layers += over_seeds(name, passes, counts)
    return Picture("The halting loop on exclusive or", Axis("passes"), Axis("updates so far", low=0.0), tuple(layers))


def _margins(plain: PointLoop, widened: PointLoop) -> Picture:
    shown = np.arange(1, widened.margins.size + 1)
    layers = [
        Layer.of(name, shown, one.margins[: shown.size])
        for name, one in (("x₁ and x₂", plain), ("x₁, x₂ and x₁x₂", widened))
    ]
    return Picture(
        "No separator has a larger margin: the bound from the weights (P6)",
        Axis("updates k"),
        Axis("least ‖w‖/k so far", low=0.0),
        tuple(layers),
        notes=("The loop without the product reaches w = 0: then the examples that it added up cancel.",),
    )


figure1 = Experiment(
    "figure1",
    "Figure 1: exclusive or",
    "Why does the halting perceptron never halt on exclusive or, and what helps?",
    _conduct,
    {"small": Patience(100), "full": Patience(10_000)},
    {"small": 3, "full": 10},
)
