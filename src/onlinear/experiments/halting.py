"""The updates of the halting perceptron: the Perceptron mistake bound (P1), and what n, d and the start change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from onlinear.display import TextTable
from onlinear.experiments.experiment import Columns, Experiment, Observed, Work, as_columns, over_seeds, span
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import Perceptron
from onlinear.runs import converge
from onlinear.theory import bounds

_ENOUGH = 10**9
"""More passes than the theorem allows updates in any case here."""
_SHARE = 1 / 10
"""The part of (R/γ)² that mirrored examples need at least."""
_FEW = 100, 60
"""How many examples and features there are where the margin varies: few, as 10⁸ updates take a while."""
_MIRRORED, _COINS, _EVERYWHERE = "mirrored", "coins", "everywhere"
_ACROSS, _ALONG, _AGAINST = "across u", "along u", "against u"


class Ranges(NamedTuple):
    """The parameters of the experiment."""

    margins: tuple[float, ...]
    dimensions: tuple[int, ...]
    sizes: tuple[int, ...]
    starts: tuple[float, ...]
    margin: float
    """Of mirrored examples, where something else varies."""
    n: int
    d: int


class HaltingCase(NamedTuple):
    """What is run: a kind of examples, or of start, with the value that varies."""

    study: str
    kind: str
    value: float
    seed: int


class Halted(NamedTuple):
    """The updates of a halting loop, and the most that are possible."""

    study: str
    kind: str
    value: float
    seed: int
    updates: int
    bound: float


def _conduct(scale: Ranges, work: Work) -> Observed:
    columns = as_columns(work.each(lambda case: _run(case, scale), list(_cases(scale, work))))
    pictures = tuple(_picture(study, columns) for study in _STUDIES)
    return Observed(columns, pictures, _table(columns), *_judge(scale, columns))


def _cases(scale: Ranges, work: Work) -> Iterator[HaltingCase]:
    values: dict[str, tuple[float, ...]] = {
        "margin": scale.margins,
        "dimension": scale.dimensions,
        "examples": scale.sizes,
        "start": scale.starts,
    }
    for study, shown in _STUDIES.items():
        for case in itertools.product((study,), shown.kinds, values[study], work.seeds):
            yield HaltingCase(*case)


def _run(case: HaltingCase, scale: Ranges) -> Halted:
    study, kind, value, seed = case
    margin = value if study == "margin" else scale.margin
    n, d = _FEW if study == "margin" else (scale.n, scale.d)
    n = int(value) if study == "examples" else n
    d = int(value) if study == "dimension" else d
    if kind == _COINS:
        X, y, u = _coins(n, d, seed)
    elif kind == _EVERYWHERE:
        X, y, u = _everywhere(n, d, seed)
    else:
        X, y, u = _mirrored(margin, n, d, seed)
    start = None
    if study == "start":
        along, across = np.eye(d)[:2]
        start = value * {_ACROSS: across, _ALONG: along, _AGAINST: -along}[kind]
    done = converge(Perceptron(), X, y, start=start, max_passes=_ENOUGH)
    # Without u, of examples everywhere, it is the separator with nearly the largest margin.
    bound = bounds.perceptron(X, y, u) if start is None else bounds.warm_start(X, y, u, start=start)
    return Halted(*case, done.updates, float(bound.mistakes))


def _mirrored(margin: float, n: int, d: int, seed: int) -> tuple[Any, Any, Any]:
    """Return examples of length 1 at distance `margin` from the hyperplane ⟨u,x⟩ = 0, in mirrored pairs.

    The mean of y·x over a pair is γu, so no separator has a larger margin than u (P7).
    """
    rng = np.random.default_rng(seed)
    across = rng.standard_normal((n // 2, d - 1))
    across *= np.sqrt(1.0 - margin**2) / np.linalg.norm(across, axis=1, keepdims=True)
    signed = np.column_stack([np.full(2 * len(across), margin), np.concatenate([across, -across])])
    y = rng.choice(np.array([-1, 1]), len(signed))
    return signed * y[:, None], y, np.eye(d)[0]


def _coins(n: int, d: int, seed: int) -> tuple[Any, Any, Any]:
    """Return examples of which the first feature is the label, and all others are coins: R² = d, and γ(u) = 1."""
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array([-1.0, 1.0]), (n, d))
    y = rng.choice(np.array([-1, 1]), n)
    X[:, 0] = y
    return X, y, np.eye(d)[0]


def _everywhere(n: int, d: int, seed: int) -> tuple[Any, Any, None]:
    """Return examples of length 1 in all directions, labelled by the sign of the first feature."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(X[:, 0] > 0.0, 1, -1), None


class Study(NamedTuple):
    """What varies, and on which examples or from which starts."""

    title: str
    axis: str
    kinds: dict[str, str]
    """Names for the legend."""


_STUDIES = {
    "margin": Study(
        "Updates and (R/γ)²: mirrored examples, R = 1", "largest margin γ", {_MIRRORED: "mirrored examples"}
    ),
    "dimension": Study(
        "Updates and the number of features",
        "features d",
        {_MIRRORED: "R = 1 and the same γ", _COINS: "γ = 1, and a coin for each feature"},
    ),
    "examples": Study(
        "Updates and the number of examples",
        "examples n",
        {_MIRRORED: "the same γ", _EVERYWHERE: "examples in all directions"},
    ),
    "start": Study(
        "Updates and the first weights v",
        "length of v",
        {_ACROSS: "v orthogonal to the separator", _ALONG: "v along the separator", _AGAINST: "v opposite to it"},
    ),
}


def _of(columns: Columns, study: str, kind: str, name: str = "updates") -> tuple[Any, Any]:
    """Return the values, and a column with a row per seed."""
    chosen = (columns["study"] == study) & (columns["kind"] == kind)
    seeds = np.unique(columns["seed"]).size
    return columns["value"][chosen][::seeds], columns[name][chosen].reshape(-1, seeds).T


def _judge(scale: Ranges, columns: Columns) -> tuple[str, bool]:
    margins, updates = _of(columns, "margin", _MIRRORED)
    shares = updates * margins**2
    fixed, coins, kept, everywhere = (
        _of(columns, *of)[1]
        for of in (("dimension", _MIRRORED), ("dimension", _COINS), ("examples", _MIRRORED), ("examples", _EVERYWHERE))
    )
    starts = [_of(columns, "start", kind)[1] for kind in _STUDIES["start"].kinds]
    holds = bool(
        (columns["updates"] <= columns["bound"]).all()
        and (shares >= _SHARE).all()
        and fixed.max() <= 2 * fixed.min()
        and kept.max() <= 2 * kept.min()
        and (coins[:, -1] > 2 * coins[:, 0]).all()
        and (everywhere[:, -1] > 2 * everywhere[:, 0]).all()
    )
    finding = (
        f"With largest margins from {margins.max():g} to {margins.min():g} and R = 1 the updates are"
        f" {span(shares, '.0%')} of (R/γ)², the Perceptron mistake bound (P1). With (R/γ)² = {scale.margin**-2:,.0f}"
        f" they are {span(fixed)} for {span(scale.dimensions)} features, and {span(kept)} for {span(scale.sizes)}"
        " examples: n and d count only through R and γ. A coin for each feature makes R² = d"
        f" ({span(coins[:, 0])} → {span(coins[:, -1])} updates); examples in all directions leave no margin"
        f" ({span(everywhere[:, 0])} → {span(everywhere[:, -1])}). From first weights across, along and against the"
        f" separator, up to {scale.starts[-1]:g} long, it halts after at most {max(made.max() for made in starts):,}"
        " updates, within the Perceptron warm-start bound (P2)."
    )
    return finding, holds


def _table(columns: Columns) -> TextTable:
    rows = []
    for study, shown in _STUDIES.items():
        for kind, words in shown.kinds.items():
            values, updates = _of(columns, study, kind)
            _, bound = _of(columns, study, kind, "bound")
            rows += [
                [f"{shown.axis}, {words}", f"{value:,g}", span(made), f"{least:,.0f}"]
                for value, made, least in zip(values, updates.T, bound.min(axis=0), strict=True)
            ]
    return TextTable(["what varies", "", "updates", "bound (least)"], rows)


def _picture(study: str, columns: Columns) -> Picture:
    shown = _STUDIES[study]
    layers: list[Layer] = []
    notes: list[str] = []
    theorem = "Perceptron warm-start bound (P2)" if study == "start" else "Perceptron mistake bound (P1)"
    for kind, words in shown.kinds.items():
        values, updates = _of(columns, study, kind)
        if not updates.any():  # a logarithmic axis has no 0
            notes.append(f"With {words} there is no update at all.")
            continue
        bound = _of(columns, study, kind, "bound")[1].min(axis=0)
        layers.append(Layer.of(f"{theorem}, {words}", values, bound, role="bound"))
        layers += over_seeds(words, values, updates)
    axes = Axis(shown.axis, log=True), Axis("updates until it halts", log=True)
    return Picture(shown.title, *axes, tuple(layers), tuple(notes))


convergence = Experiment(
    "convergence",
    "Convergence: updates against (R/γ)²",
    "How close do the updates come to the theorem's (R/γ)², and what do n, d and the start change?",
    _conduct,
    {
        "small": Ranges((1.0, 0.3, 0.1, 0.03), (10, 30, 100), (100, 300, 1_000), (0.1, 1.0, 10.0), 0.1, 1_000, 30),
        "full": Ranges(
            tuple(10.0 ** (-k / 2) for k in range(9)),
            (10, 30, 100, 300, 1_000),
            (100, 300, 1_000, 3_000, 10_000),
            (0.1, 1.0, 10.0, 100.0, 1_000.0),
            0.03,
            1_000,
            30,
        ),
    },
    {"small": 3, "full": 5},
)
