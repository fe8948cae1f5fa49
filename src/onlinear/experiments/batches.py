"""The batch perceptron: what step sizes cost (P10, P11), and how much smoother its way is."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from onlinear.display import TextTable, counted
from onlinear.experiments.experiment import (
    Columns,
    Experiment,
    Observed,
    Work,
    as_columns,
    separator_of,
    span,
    trace_of,
)
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import Perceptron
from onlinear.runs import Potentials, batch_perceptron, converge
from onlinear.theory import bounds, max_margin

_ONE_BY_ONE = "one by one"
_SCHEDULES: dict[str, Any] = {"η = 1": "constant", "η = 1/√k": lambda k: 1.0 / math.sqrt(k), "η = 1/k": "1/k"}
_THEOREMS = {
    _ONE_BY_ONE: "Perceptron mistake bound (P1)",
    "η = 1": "Batch perceptron step bound (P10)",
    "η = 1/√k": "Batch perceptron step bound with a schedule (P11)",
    "η = 1/k": "Batch perceptron step bound with a schedule (P11)",
}


_UNITS = "A step of the batch perceptron reads all examples; one by one, a step is an update on one of them."
_PASSES = 1_000_000
"""After this many a loop gives up."""
_FEW = 0.2
"""The part of the examples on one side, of `_lopsided` examples."""


class Batches(NamedTuple):
    """The parameters of the experiment."""

    n: int
    d: int
    margins: tuple[float, ...]


class Steps(NamedTuple):
    """A loop until it halts."""

    way: str
    margin: float
    seed: int
    halted: bool
    steps: int
    bound: float
    """The most steps by the theorem; infinite where it allows more than a million."""
    examples: int
    """The examples that took part in steps, Σ|I_k|."""
    examples_bound: float
    turned: float
    """All the degrees by which w turned on its way."""


class Way(NamedTuple):
    """A loop, and its course."""

    steps: Steps
    angles: Any
    """The degrees between w and the best separator, after each step."""


def _conduct(scale: Batches, work: Work) -> Observed:
    cases = list(itertools.product(_THEOREMS, scale.margins, work.seeds))
    ways = work.each(lambda case: _walk(scale, *case), cases)
    columns = as_columns(way.steps for way in ways)
    drawn = {
        case[0]: way for case, way in zip(cases, ways, strict=True) if case[1:] == (scale.margins[-1], work.seeds[0])
    }
    pictures = _angles(drawn), _costs(scale, columns)
    return Observed(columns, pictures, _table(scale, columns), *_judge(columns))


def _lopsided(n: int, d: int, margin: float, seed: int) -> tuple[Any, Any]:
    """Return examples at distance `margin` from the hyperplane ⟨u,x⟩ = 0, u = (1, 0, …), most of them on one side of u.

    So the sum of all y·x, which is the first batch, does not separate them.
    """
    rng = np.random.default_rng(seed)
    across = rng.standard_normal((n, d - 1))
    across *= (math.sqrt(1.0 - margin**2) * rng.uniform(0.2, 1.0, n) / np.linalg.norm(across, axis=1))[:, None]
    across[:, 0] = np.abs(across[:, 0])
    across[: round(_FEW * n)] *= -1.0
    signed = np.column_stack([np.full(n, margin), across])[rng.permutation(n)]
    y = rng.choice(np.array([-1, 1]), n)
    return signed * y[:, None], y


def _walk(scale: Batches, way: str, margin: float, seed: int) -> Way:
    X, y = _lopsided(scale.n, scale.d, margin, seed)
    u = separator_of(max_margin(X, y))
    wanted = Potentials(comparator=u, weights=True)
    if way == _ONE_BY_ONE:
        done = converge(Perceptron(), X, y, max_passes=_PASSES, trace=wanted)
        bound = examples_bound = float(bounds.perceptron(X, y, u).mistakes)
        steps = done.updates
    else:
        schedule = _SCHEDULES[way]
        batch = batch_perceptron(X, y, schedule=schedule, max_passes=_PASSES, trace=wanted)
        done, steps = batch, len(batch.batch_sizes)
        constant = bounds.batch_constant(X, y, u)
        allowed = constant if schedule == "constant" else bounds.batch_schedule(X, y, u, schedule=schedule)
        bound = float(allowed.mistakes)
        examples_bound = constant.quantities["updates"] if schedule == "constant" else np.inf
    potentials = trace_of(done).potentials
    weights = potentials["weights"]
    unit = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    turns = np.degrees(np.arccos(np.clip((unit[1:] * unit[:-1]).sum(axis=1), -1.0, 1.0)))
    cosines = potentials["inner"] / (np.linalg.norm(weights, axis=1) * np.linalg.norm(u))
    angles = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))
    counts = done.halted, steps, bound, done.updates, examples_bound
    return Way(Steps(way, margin, seed, *counts, float(turns.sum())), angles)


def _of(columns: Columns, way: str, name: str) -> Any:
    """Return a column with a row per seed, and a column per margin."""
    return columns[name][columns["way"] == way].reshape(-1, np.unique(columns["seed"]).size).T


def _judge(columns: Columns) -> tuple[str, bool]:
    alone, together = (_of(columns, way, "turned") for way in (_ONE_BY_ONE, "η = 1"))
    harmonic = columns["way"] == "η = 1/k"
    holds = bool(
        columns["halted"][~harmonic].all()
        and (columns["steps"] <= columns["bound"]).all()
        and (columns["examples"] <= columns["examples_bound"]).all()
        and (together < alone)[:, -1].all()
        and np.isinf(columns["bound"][harmonic]).all()
    )
    margin = columns["margin"].min()
    steps = {way: span(_of(columns, way, "steps")[:, -1]) for way in _THEOREMS}
    allowed = span(_of(columns, "η = 1", "bound")[:, -1])
    given_up = int((~_of(columns, "η = 1/k", "halted")[:, -1]).sum())
    unless = f" (of which {counted(given_up, 'loop')} had not halted by then)" * (given_up > 0)
    finding = (
        f"At a margin of {margin:g} the batch perceptron halts after {steps['η = 1']} steps with η = 1"
        f" ({allowed} allowed by the {_THEOREMS['η = 1']}), {steps['η = 1/√k']} with η = 1/√k, and"
        f" {steps['η = 1/k']} with η = 1/k{unless}, the example of the notes, for which the {_THEOREMS['η = 1/k']}"
        f" allows more than a million. Its way is smoother: until it halts, w turns by {span(together[:, -1])}° in all"
        f" with η = 1, and by {span(alone[:, -1])}° one by one."
    )
    return finding, holds


def _table(scale: Batches, columns: Columns) -> TextTable:
    rows = []
    for (j, margin), way in itertools.product(enumerate(scale.margins), _THEOREMS):
        steps, bound, examples, turned, halted = (
            _of(columns, way, name)[:, j] for name in ("steps", "bound", "examples", "turned", "halted")
        )
        least = "over a million" if np.isinf(bound).all() else f"{bound.min():,.0f}"
        rows.append([f"{margin:g}", way, f"{halted.sum()} of {halted.size}", span(steps), least, span(examples)])
        rows[-1].append(f"{span(turned)}°")
    return TextTable(["margin", "steps", "halted", "steps taken", "bound (least)", "Σ|I|", "turned"], rows)


def _angles(drawn: dict[str, Way]) -> Picture:
    """Return the angle to the best separator after each step."""
    layers = [Layer.of(way, np.arange(1, one.angles.size + 1), one.angles) for way, one in drawn.items()]
    return Picture(
        "On the way to a separator: one by one, and in batches",
        Axis("steps", log=True),
        Axis("degrees to the best separator", low=0.0),
        tuple(layers),
        notes=(f"Margin {drawn[_ONE_BY_ONE].steps.margin:g}, seed {drawn[_ONE_BY_ONE].steps.seed}.", _UNITS),
    )


def _costs(scale: Batches, columns: Columns) -> Picture:
    layers: list[Layer] = []
    for way, theorem in _THEOREMS.items():
        bound = _of(columns, way, "bound").min(axis=0)
        known = np.isfinite(bound)
        if known.any() and way != _ONE_BY_ONE:
            layers.append(Layer.of(f"{theorem}, {way}", np.array(scale.margins)[known], bound[known], role="bound"))
        layers.append(Layer.of(way, scale.margins, np.median(_of(columns, way, "steps"), axis=0)))
    return Picture(
        "Steps until it halts",
        Axis("margin γ", log=True),
        Axis("steps", log=True),
        tuple(layers),
        notes=(
            _UNITS,
            "Medians over the seeds; with η = 1/k some take hundreds of times as many.",
            "Bounds above a million steps are not drawn; with η = 1/k all of them are.",
        ),
    )


batch = Experiment(
    "batch",
    "Batch: step sizes, and a smoother way",
    "What do the batch perceptron's step sizes cost, and how much smoother is its way?",
    _conduct,
    {"small": Batches(40, 5, (0.2, 0.1)), "full": Batches(40, 5, (0.3, 0.2, 0.1, 0.05, 0.03))},
    {"small": 3, "full": 10},
)
