"""The perceptron's result is not unique: it depends on the order of the examples."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from onlinear import datasets
from onlinear.display import TextTable
from onlinear.experiments.experiment import Columns, Experiment, Observed, Work, as_columns, separator_of, span
from onlinear.pictures import Axis, Layer, Picture
from onlinear.pictures.picture import Role
from onlinear.rules import Perceptron
from onlinear.runs import converge
from onlinear.theory import bounds, margin, max_margin

_DRAWN = 8
"""How many boundaries are in the picture of the plane."""
_POINTS = 200
"""How many orders per seed are in the picture of the margins."""


class Shuffles(NamedTuple):
    """The parameters of the experiment."""

    orders: int
    n: int
    margin: float


class OrderedResult(NamedTuple):
    """What the perceptron found in one order of the examples."""

    seed: int
    order: int
    updates: int
    degrees: float
    """The angle between w and the separator with the largest margin, with its sign."""
    share: float
    """The margin of w, as a part of the largest."""
    largest_margin: float
    widest: float
    """How many degrees the separators of these examples are apart at most."""
    bound: float


def _conduct(scale: Shuffles, work: Work) -> Observed:
    per_seed = work.each(lambda seed: _separators(scale, seed), work.seeds)
    columns = as_columns(itertools.chain.from_iterable(per_seed))
    finding, holds = _judge(scale, columns)
    return Observed(columns, (_plane(scale, columns), _margins(columns)), _table(columns), finding, holds)


def _separators(scale: Shuffles, seed: int) -> list[OrderedResult]:
    X, y = datasets.separable(scale.margin, scale.n, 2, seed=seed)
    best = max_margin(X, y)
    bound = bounds.perceptron(X, y, separator_of(best)).mistakes
    toward = _angle(separator_of(best))
    # The angles of y·x with the best separator; a separator is less than 90° from all of them.
    angles = [_turn(_angle(z) - toward) for z in X * y[:, None]]
    widest = 180.0 - (max(angles) - min(angles))
    found = []
    for order in range(scale.orders):
        rows = np.random.default_rng([seed, order]).permutation(len(y))
        done = converge(Perceptron(), X[rows], y[rows])
        degrees = _turn(_angle(done.weights) - toward)
        share = margin(done.weights, X, y).geometric / best.upper
        found.append(OrderedResult(seed, order, done.updates, degrees, share, best.lower, widest, float(bound)))
    return found


def _angle(w: Any) -> float:
    return float(np.arctan2(w[1], w[0]))


def _turn(angle: Any) -> float:
    """Return an angle in degrees, from −180 to 180."""
    return float((np.degrees(angle) + 180.0) % 360.0 - 180.0)


def _of(columns: Columns, name: str) -> Any:
    """Return a column with a row per seed, and a column per order."""
    return columns[name].reshape(np.unique(columns["seed"]).size, -1)


def _judge(scale: Shuffles, columns: Columns) -> tuple[str, bool]:
    degrees, share, updates, bound = (_of(columns, name) for name in ("degrees", "share", "updates", "bound"))
    widest = _of(columns, "widest")[:, 0]
    different, apart = _different(degrees), np.ptp(degrees, axis=1)
    holds = bool(
        (different > 1).all() and (apart > widest / 2).all() and (share > 0.0).all() and (updates <= bound).all()
    )
    finding = (
        f"{scale.orders:,} orders of the same {scale.n} examples give {span(different)} different separators, up to"
        f" {span(apart, '.0f')}° apart, of the {span(widest, '.0f')}° that are possible. All separate the examples, but"
        f" with {span(share, '.1%')} of the largest margin, after {span(updates)} updates; the Perceptron mistake bound"
        f" (P1), {span(bound)}, holds in every order."
    )
    return finding, holds


def _different(degrees: Any) -> Any:
    """Return how many different angles there are, for each seed; rounding makes no difference."""
    return np.array([np.unique(np.round(each, 9)).size for each in degrees])


def _table(columns: Columns) -> TextTable:
    degrees, share, updates, bound, widest = (
        _of(columns, name) for name in ("degrees", "share", "updates", "bound", "widest")
    )
    rows = []
    for i, seed in enumerate(np.unique(columns["seed"])):
        apart = f"{np.ptp(degrees[i]):.1f}°"
        rows.append([f"{seed}", f"{_different(degrees)[i]:,}", apart, f"{widest[i, 0]:.1f}°"])
        rows[i] += [span(share[i], ".1%"), span(updates[i]), f"{bound[i, 0]:,.0f}"]
    head = ["seed", "separators", "apart", "possible", "of the largest margin", "updates", "bound"]
    return TextTable(head, rows)


def _plane(scale: Shuffles, columns: Columns) -> Picture:
    """Return the examples of the first seed, with the boundaries that were found in some orders."""
    seed = int(columns["seed"][0])
    X, y = datasets.separable(scale.margin, scale.n, 2, seed=seed)
    toward = _angle(separator_of(max_margin(X, y)))
    found = np.sort(_of(columns, "degrees")[0])
    shown = found[np.unique(np.linspace(0, len(found) - 1, _DRAWN).astype(int))]
    layers = [
        _boundary(f"{_DRAWN} of {scale.orders:,} orders" if i == len(shown) - 1 else "", toward + np.radians(degrees))
        for i, degrees in enumerate(shown)
    ]
    layers.append(_boundary("largest margin", toward, "baseline"))
    for name, label in (("negative", -1), ("positive", 1)):
        layers.append(Layer.of(name, X[y == label, 0], X[y == label, 1], "points", "class"))
    axes = Axis("x₁", low=-1.0, high=1.0), Axis("x₂", low=-1.0, high=1.0)
    return Picture("One set of examples, several orders: the boundaries", *axes, tuple(layers), square=True)


def _boundary(name: str, angle: float, role: Role = "series") -> Layer:
    """Return the line through the origin on which the score is 0, for weights at this angle."""
    ends = np.array([-1.0, 1.0])
    return Layer.of(name, -np.sin(angle) * ends, np.cos(angle) * ends, role=role)


def _margins(columns: Columns) -> Picture:
    layers = [
        Layer.of(f"seed {seed}", degrees[:_POINTS], share[:_POINTS], "points")
        for seed, degrees, share in zip(
            np.unique(columns["seed"]), _of(columns, "degrees"), _of(columns, "share"), strict=True
        )
    ]
    return Picture(
        "The separators found, and their margins",
        Axis("degrees from the separator with the largest margin"),
        Axis("part of the largest margin", percent=True, low=0.0),
        tuple(layers),
    )


order = Experiment(
    "order",
    "Order: the result is not unique",
    "How different are the separators that the perceptron finds in different orders of the same examples?",
    _conduct,
    {"small": Shuffles(100, 100, 0.1), "full": Shuffles(2_000, 100, 0.1)},
    {"small": 3, "full": 5},
)
