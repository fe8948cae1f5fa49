"""Which rule when: five kinds of stream, on each of which another rule does well."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np

from onlinear import datasets
from onlinear.display import TextTable
from onlinear.experiments.experiment import Columns, Experiment, Observed, Work, as_columns, span
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import (
    AROW,
    AveragedPerceptron,
    FixedShare,
    NormalizedAdaGrad,
    OnlineGradient,
    PassiveAggressive,
    Perceptron,
    Winnow,
)
from onlinear.runs import run
from onlinear.theory import bounds

_K = 3
"""The relevant variables of the first stream."""
_EXPERTS = 20
_NEAR, _FAR = 1.25, 3.0
"""The rule that suits a stream makes at most 1.25 times the least mistakes, and each rule 3 times on some stream."""

RULES: Final[dict[str, Any]] = {
    "Perceptron": Perceptron(),
    "AveragedPerceptron": AveragedPerceptron(),
    "PassiveAggressive": PassiveAggressive(),
    "AROW": AROW(),
    "NormalizedAdaGrad": NormalizedAdaGrad(),
    "OnlineGradient": OnlineGradient(),
    "Winnow": Winnow(),
    "FixedShare": FixedShare(),
}


class StreamLength(NamedTuple):
    """The parameters of the experiment."""

    rounds: int


class StreamKind(NamedTuple):
    """A kind of stream, and the rule that suits it."""

    draw: Callable[[int, int], Iterable[Any]]
    """Returns examples and labels, for a number of rounds and a seed."""
    suits: str
    intercept: bool = False


class RuleCount(NamedTuple):
    """The mistakes of a rule on one stream."""

    stream: str
    rule: str
    seed: int
    mistakes: int
    theorem: str
    """Empty for the rules that the notes have no theorem on."""
    bound: float


def _in_other_units(rounds: int, seed: int) -> tuple[Any, Any]:
    """Return separable examples with columns multiplied by factors from 0.01 to 100."""
    X, y = datasets.separable(0.05, rounds, 20, seed=seed)
    return X * 10.0 ** np.random.default_rng([seed, 1]).uniform(-2.0, 2.0, X.shape[1]), y


def _changing_advice(rounds: int, seed: int) -> tuple[Any, Any]:
    """Return advice of which another expert is the best in each quarter."""
    parts = [datasets.experts(_EXPERTS, rounds // 4, best=0.1, rest=0.5, seed=4 * seed + i) for i in range(4)]
    X = np.vstack([np.roll(part.X, 5 * i, axis=1) for i, part in enumerate(parts)])
    return X, np.concatenate([part.y for part in parts])


STREAMS: Final = {
    f"{_K} of 1,000 variables": StreamKind(
        lambda n, seed: datasets.disjunction(_K, 1_000, n, seed=seed),
        "Winnow",
        intercept=True,
    ),
    "columns in different units": StreamKind(_in_other_units, "NormalizedAdaGrad"),
    "20 % of labels flipped": StreamKind(
        lambda n, seed: datasets.noisy(0.1, n, 20, flip=0.2, seed=seed),
        "OnlineGradient",
    ),
    "10 different separators": StreamKind(
        lambda n, seed: datasets.drift(0.1, n, 20, pieces=10, seed=seed),
        "Perceptron",
    ),
    "advice, 4 best experts": StreamKind(_changing_advice, "FixedShare"),
}


def _conduct(scale: StreamLength, work: Work) -> Observed:
    cases = list(itertools.product(STREAMS, work.seeds))
    counts = work.each(lambda case: _count(scale, *case), cases)
    columns = as_columns(itertools.chain.from_iterable(counts))
    return Observed(columns, (_matrix(scale, columns),), _table(columns), *_judge(columns))


def _count(scale: StreamLength, stream: str, seed: int) -> list[RuleCount]:
    kind = STREAMS[stream]
    X, y = kind.draw(scale.rounds, seed)
    counts = []
    for name, rule in RULES.items():
        fits = {"Winnow": _is_binary(X), "FixedShare": kind.suits == "FixedShare"}
        if fits.get(name, True):
            intercept = kind.intercept and name != "Winnow"
            made = run(rule, X, y, fit_intercept=intercept).mistakes
            counts.append(RuleCount(stream, name, seed, made, *_bound(name, X, y, intercept=intercept)))
    return counts


def _is_binary(X: Any) -> bool:
    return bool(np.isin(X, (0.0, 1.0)).all())


def _bound(name: str, X: Any, y: Any, *, intercept: bool) -> tuple[str, float]:
    """Return the name of a theorem and the most mistakes that it allows."""
    if name == "Winnow":
        bound = bounds.winnow(X, y, relevant=range(_K))
    elif name == "FixedShare":
        bound = bounds.fixed_share(X, y, *RULES[name][:2])
    elif name == "Perceptron":
        bound = bounds.hinge(X, y, fit_intercept=intercept)
    else:
        return "", np.nan
    return bound.theorem, float(bound.mistakes)


def _of(columns: Columns, stream: str, rule: str, name: str = "mistakes") -> Any:
    """Return a column of a stream and a rule, with an entry per seed; empty if the rule does not fit."""
    return columns[name][(columns["stream"] == stream) & (columns["rule"] == rule)]


def _judge(columns: Columns) -> tuple[str, bool]:
    excess: dict[str, list[Any]] = {rule: [] for rule in RULES}
    suited, parts = [], []
    for stream, kind in STREAMS.items():
        made = {rule: counts for rule in RULES if (counts := _of(columns, stream, rule)).size}
        least = np.min(list(made.values()), axis=0)
        for rule, counts in made.items():
            excess[rule].append(counts / np.maximum(least, 1))
        suited.append(excess[kind.suits][-1])
        others = {rule: np.median(counts) for rule, counts in made.items() if rule != kind.suits}
        closest = min(others, key=lambda rule: others[rule])
        parts.append(f"{stream}: {kind.suits} {span(made[kind.suits])} ({closest} {span(made[closest])})")
    worst = np.concatenate([np.max(times, axis=0) for times in excess.values() if len(times) == len(STREAMS)])
    holds = bool(
        not (columns["mistakes"] > columns["bound"]).any()
        and (np.array(suited) <= _NEAR).all()
        and (worst >= _FAR).all()
    )
    finding = (
        "No rule suits all streams: each one that takes them all makes, on one of them, at least"
        f" {worst.min():.1f} times the mistakes of the best. What suits, with the closest other rule:"
        f" {'; '.join(parts)}."
    )
    return finding, holds


def _table(columns: Columns) -> TextTable:
    rows = []
    for stream, rule in itertools.product(STREAMS, RULES):
        made, bound = _of(columns, stream, rule), _of(columns, stream, rule, "bound")
        if made.size:
            theorem = str(_of(columns, stream, rule, "theorem")[0]) or "none"
            rows.append([stream, rule, span(made), "" if theorem == "none" else span(bound), theorem])
    return TextTable(["stream", "rule", "mistakes", "bound", "theorem"], rows)


def _matrix(scale: StreamLength, columns: Columns) -> Picture:
    shade, texts = [], []
    for stream, rule in itertools.product(STREAMS, RULES):
        made = _of(columns, stream, rule)
        shade.append(np.median(made) / scale.rounds if made.size else 0.0)
        texts.append(f"{np.median(made) / scale.rounds:.1%}" if made.size else "")
    row, column = (axis.ravel() for axis in np.indices((len(STREAMS), len(RULES))))
    layer = Layer.of("mistakes per round", column, row, "cells", low=np.array(shade) / max(shade), texts=texts)
    return Picture(
        "Mistakes per round: five kinds of stream",
        Axis("rule", names=tuple(RULES)),
        Axis("stream", names=tuple(STREAMS)),
        (layer,),
        notes=(
            f"Medians over the seeds, in {scale.rounds:,} rounds. Winnow takes 0 and 1 only, and FixedShare advice.",
        ),
    )


rules = Experiment(
    "rules",
    "Rules: which one when",
    "Which rule errs least on each of five kinds of stream?",
    _conduct,
    {"small": StreamLength(2_000), "full": StreamLength(20_000)},
    {"small": 3, "full": 5},
)
