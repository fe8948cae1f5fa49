"""Labels that are flipped: the perceptron's mistakes beside the hinge bound (P5), as the noise grows."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from onlinear import datasets
from onlinear.display import TextTable
from onlinear.experiments.experiment import Columns, Experiment, Observed, Work, as_columns, over_seeds, span
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import Perceptron
from onlinear.runs import run
from onlinear.theory import Examples, bounds

_MOST = 4.0
"""The bound is less than this times the mistakes, wherever labels are flipped."""


class Flips(NamedTuple):
    """The parameters of the experiment."""

    rounds: int
    d: int
    margin: float
    shares: tuple[float, ...]
    """With which probability a label is flipped; 0 first."""


class NoisyRun(NamedTuple):
    """One pass of the perceptron over labels that were flipped."""

    flip: float
    seed: int
    flipped: int
    """How many labels are wrong: the mistakes of the vector that made the labels."""
    mistakes: int
    bound: float
    """The hinge bound, for the best comparator."""
    planted_bound: float
    """The same for the vector that made the labels, y⟨u,x⟩ ≥ 1 on all but the flipped ones."""
    separable_bound: float
    """The perceptron mistake bound (P1), if no label is flipped; otherwise it does not apply."""


def _conduct(scale: Flips, work: Work) -> Observed:
    cases = list(itertools.product(scale.shares, work.seeds))
    columns = as_columns(work.each(lambda case: _run(scale, *case), cases))
    return Observed(columns, (_mistakes(scale, columns),), _table(scale, columns), *_judge(scale, columns))


def _run(scale: Flips, flip: float, seed: int) -> NoisyRun:
    clean = datasets.separable(scale.margin, scale.rounds, scale.d, seed=seed)
    X, y = datasets.noisy(scale.margin, scale.rounds, scale.d, flip=flip, seed=seed)
    u = clean.comparator
    examples = Examples(X, y)
    flipped = int((y != clean.y).sum())
    separable = bounds.perceptron(examples, u=u).value if flipped == 0 else np.nan
    planted = bounds.hinge(examples, u=None if u is None else u / scale.margin).value
    mistakes = run(Perceptron(), X, y).mistakes
    return NoisyRun(flip, seed, flipped, mistakes, bounds.hinge(examples).value, planted, separable)


def _of(columns: Columns, name: str) -> Any:
    """Return a column with a row per seed, and a column per share of flipped labels."""
    return columns[name].reshape(-1, np.unique(columns["seed"]).size).T


def _judge(scale: Flips, columns: Columns) -> tuple[str, bool]:
    mistakes, bound, flipped = (_of(columns, name) for name in ("mistakes", "bound", "flipped"))
    times = (bound / np.maximum(mistakes, 1))[:, 1:]
    clean = _of(columns, "separable_bound")[:, 0]
    holds = bool(
        (mistakes <= bound).all()
        and (mistakes[:, 0] <= clean).all()
        and (times < _MOST).all()
        and (np.diff(mistakes, axis=1) > 0).all()
        and (mistakes[:, -1] < scale.rounds / 2).all()
    )
    worst = f"{scale.shares[-1]:.0%}"
    finding = (
        f"Without noise the perceptron errs {span(mistakes[:, 0])} times in {scale.rounds:,} rounds, within the"
        f" Perceptron mistake bound (P1); with {worst} of the labels flipped {span(mistakes[:, -1])} times, for"
        f" {span(flipped[:, -1])} flips, which is still better than guessing. The Perceptron hinge bound (P5) holds"
        f" throughout, and is {span(times, '.1f')} times the truth wherever labels are flipped: at {worst} it allows"
        f" {span(bound[:, -1] / scale.rounds, '.0%')} of the rounds."
    )
    return finding, holds


def _table(scale: Flips, columns: Columns) -> TextTable:
    rows = []
    for j, share in enumerate(scale.shares):
        flipped, mistakes, bound, planted = (
            _of(columns, name)[:, j] for name in ("flipped", "mistakes", "bound", "planted_bound")
        )
        times = span(bound / mistakes, ".1f") if mistakes.all() else ""
        rows.append(
            [f"{share:.0%}", span(flipped), span(mistakes), f"{bound.min():,.0f}", times, f"{planted.min():,.0f}"]
        )
    names = ["flipped", "labels", "mistakes", "hinge bound (least)", "times the truth", "with the planted vector"]
    return TextTable(names, rows)


def _mistakes(scale: Flips, columns: Columns) -> Picture:
    shares = np.array(scale.shares)
    layers = [
        Layer.level("guessing", scale.rounds / 2, "baseline"),
        Layer.of("labels flipped", shares, np.median(_of(columns, "flipped"), axis=0), role="baseline"),
        Layer.of(
            "Perceptron hinge bound (P5), best comparator", shares, _of(columns, "bound").min(axis=0), role="bound"
        ),
        *over_seeds("mistakes of the perceptron", shares, _of(columns, "mistakes")),
    ]
    return Picture(
        "Mistakes and the hinge bound as noise grows",
        Axis("probability that a label is flipped", percent=True, low=0.0),
        Axis(f"mistakes in {scale.rounds:,} rounds", low=0.0),
        tuple(layers),
        notes=("The vector that made the labels errs on the flipped ones only.",),
    )


noise = Experiment(
    "noise",
    "Noise: the hinge bound and the truth",
    "How far is the hinge bound (P5) from the perceptron's mistakes as labels are flipped?",
    _conduct,
    {
        "small": Flips(2_000, 20, 0.1, (0.0, 0.05, 0.2)),
        "full": Flips(20_000, 20, 0.1, (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)),
    },
    {"small": 3, "full": 5},
)
