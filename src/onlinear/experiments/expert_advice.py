"""WMA against RWMA: when following an expert at random halves the mistakes, and what becomes of the regret."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from onlinear import datasets
from onlinear.display import TextTable
from onlinear.experiments.experiment import Columns, Experiment, Observed, Work, as_columns, over_seeds, span
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import RandomizedWeightedMajority, WeightedMajority
from onlinear.runs import Run, run
from onlinear.theory import bounds

_ADVERSARY, _CHANCE = "adversary", "chance"
_STREAMS = {_ADVERSARY: "labels against the vote", _CHANCE: "independent experts"}
_VOTE, _DRAW = "WMA", "RWMA"
_THEOREMS = {_VOTE: "Weighted majority mistake bound", _DRAW: "Randomised weighted majority mistake bound"}
_HALF = 0.55
"""What is called half, with the theorem's allowance for the rounds in which the weights are learned."""


class Advisers(NamedTuple):
    """The parameters of the experiment."""

    N: int
    rounds: int
    etas: tuple[float, ...]
    """Beside √(ln N/T)."""
    moments: int
    """At how many moments the regret over time is taken."""


class Followed(NamedTuple):
    """The mistakes of a rule on one stream: of RWMA the expected ones, given the stream."""

    stream: str
    eta: float
    seed: int
    rule: str
    mistakes: float
    best: int
    """The mistakes of the best expert."""
    bound: float


class AverageRegret(NamedTuple):
    """Mistakes per round in excess of the best expert's, at some moments: of WMA, of RWMA, and by the theorem."""

    moments: Any
    vote: Any
    anytime: Any
    bound: Any


def _conduct(scale: Advisers, work: Work) -> Observed:
    tuned = math.sqrt(math.log(scale.N) / scale.rounds)
    etas = sorted((tuned, *scale.etas))
    cases = list(itertools.product(_STREAMS, etas, work.seeds))
    both = work.each(lambda case: _follow(scale, *case), cases)
    courses = work.each(lambda seed: _course(scale, tuned, seed), work.seeds)
    columns = as_columns(itertools.chain.from_iterable(both))
    pictures = _regret(courses), *(_sweep(columns, stream) for stream in _STREAMS)
    return Observed(columns, pictures, _table(columns), *_judge(scale, tuned, columns))


def _draw(scale: Advisers, stream: str, eta: float, seed: int) -> tuple[Any, Any]:
    if stream == _CHANCE:
        X, y = datasets.experts(scale.N, scale.rounds, best=0.2, rest=0.4, seed=seed)
        return X, y
    # Every expert has one who always says the opposite, so in each round half of them are right, and the best expert
    # errs in at most half of the rounds.
    half = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (scale.rounds, scale.N // 2))
    X = np.hstack([half, -half])
    return X, _labels_against(X, eta)


def _labels_against(X: Any, eta: float) -> Any:
    """Return in each round the label that the weighted majority does not predict; a tie is a mistake anyway."""
    weights, y = np.ones(X.shape[1]), np.empty(len(X), dtype=np.int64)
    for t, advice in enumerate(X):
        y[t] = -1 if weights @ advice > 0.0 else 1
        weights[advice != y[t]] *= 1.0 - eta
        weights /= weights.max()
    return y


def _follow(scale: Advisers, stream: str, eta: float, seed: int) -> list[Followed]:
    X, y = _draw(scale, stream, eta, seed)
    vote, draw = run(WeightedMajority(eta), X, y), run(RandomizedWeightedMajority(eta), X, y)
    allowed = bounds.weighted_majority(X, y, eta), bounds.randomized_weighted_majority(X, y, eta)
    best = int(_mistakes_of_best(vote))
    made = float(vote.mistakes), _expected(draw)
    return [
        Followed(stream, eta, seed, rule, mistakes, best, bound.value)
        for rule, mistakes, bound in zip(_THEOREMS, made, allowed, strict=True)
    ]


def _course(scale: Advisers, eta: float, seed: int) -> AverageRegret:
    """Return the regret per round over time, against the adversary."""
    X, y = _draw(scale, _ADVERSARY, eta, seed)
    moments = np.unique(np.geomspace(10, scale.rounds, scale.moments).astype(int))
    regrets = []
    vote = anytime = None
    for first, end in itertools.pairwise([0, *moments.tolist()]):
        part = X[first:end], y[first:end]
        vote = run(WeightedMajority(eta), *part, state=vote, classes=None if vote else (-1, 1))
        anytime = run(RandomizedWeightedMajority("anytime"), *part, state=anytime, classes=None if anytime else (-1, 1))
        best = _mistakes_of_best(vote)
        bound = bounds.anytime(X[:end], y[:end], classes=(-1, 1)).value
        regrets.append([vote.mistakes - best, _expected(anytime) - best, bound - best])
    return AverageRegret(moments, *(np.array(regrets).T / moments))


def _mistakes_of_best(done: Run) -> float:
    made = done.expert_mistakes
    return math.nan if made is None else float(made.min())


def _expected(done: Run) -> float:
    return math.nan if done.expected_mistakes is None else done.expected_mistakes


def _of(columns: Columns, stream: str, rule: str, name: str = "mistakes") -> Any:
    """Return a column with a row per seed, and a column per η."""
    chosen = (columns["stream"] == stream) & (columns["rule"] == rule)
    return columns[name][chosen].reshape(-1, np.unique(columns["seed"]).size).T


def _judge(scale: Advisers, tuned: float, columns: Columns) -> tuple[str, bool]:
    j = int(np.searchsorted(np.unique(columns["eta"]), tuned))
    share = {stream: _of(columns, stream, _DRAW)[:, j] / _of(columns, stream, _VOTE)[:, j] for stream in _STREAMS}
    every = np.concatenate([(_of(columns, stream, _DRAW) / _of(columns, stream, _VOTE)).ravel() for stream in _STREAMS])
    holds = bool(
        (columns["mistakes"] <= columns["bound"]).all()
        and (share[_ADVERSARY] <= _HALF).all()
        and (share[_CHANCE] > 1.0).all()
        # Where the vote errs, at least half of the weight is on experts that err.
        and (every >= 0.5 - 1e-9).all()
    )
    vote, draw = (span(_of(columns, _ADVERSARY, rule)[:, j]) for rule in _THEOREMS)
    halved = span(share[_ADVERSARY], ".1%")
    finding = (
        f"Against labels chosen to contradict the vote, WMA errs in {vote} of {scale.rounds:,} rounds (in the others"
        f" the vote is a tie, but for rounding), and RWMA in {draw} (expected): {halved} as many. So the mistakes are"
        " halved, as the notes say, in this worst case: with independent experts RWMA makes"
        f" {span(share[_CHANCE], '.0%')} of WMA's mistakes, and on no stream fewer than half (here at least"
        f" {every.min():.1%}). No run exceeds the {_THEOREMS[_VOTE]} or the {_THEOREMS[_DRAW]}."
    )
    return finding, holds


def _table(columns: Columns) -> TextTable:
    rows = []
    for stream, (j, eta) in itertools.product(_STREAMS, enumerate(np.unique(columns["eta"]))):
        cells = [span(_of(columns, stream, _VOTE, "best")[:, j])]
        for rule in _THEOREMS:
            cells += [span(_of(columns, stream, rule, name)[:, j]) for name in ("mistakes", "bound")]
        rows.append([_STREAMS[stream], f"{eta:.3g}", *cells])
    names = ["stream", "η", "best expert", "WMA", "bound", "RWMA (expected)", "bound"]
    return TextTable(names, rows)


def _regret(courses: list[AverageRegret]) -> Picture:
    moments = courses[0].moments
    bound = np.min([one.bound for one in courses], axis=0)
    layers = [
        Layer.of("Anytime randomised weighted majority mistake bound", moments, bound, role="bound"),
        *over_seeds("WMA", moments, [one.vote for one in courses]),
        *over_seeds("RWMA, anytime (expected)", moments, [one.anytime for one in courses]),
    ]
    return Picture(
        "Mistakes beyond the best expert's, labels against the vote",
        Axis("rounds", log=True),
        Axis("regret per round", low=0.0, high=1.0),
        tuple(layers),
    )


def _sweep(columns: Columns, stream: str) -> Picture:
    """Return the mistakes for each η, with the bounds."""
    etas = np.unique(columns["eta"])
    layers = [Layer.of("best expert", etas, np.median(_of(columns, stream, _VOTE, "best"), axis=0), role="baseline")]
    for rule, theorem in _THEOREMS.items():
        layers.append(Layer.of(theorem, etas, np.median(_of(columns, stream, rule, "bound"), axis=0), role="bound"))
        layers += over_seeds(rule if rule == _VOTE else f"{rule} (expected)", etas, _of(columns, stream, rule))
    return Picture(f"Mistakes and η, {_STREAMS[stream]}", Axis("η", log=True), Axis("mistakes", low=0.0), tuple(layers))


experts = Experiment(
    "experts",
    "Experts: WMA against RWMA",
    "When does following an expert at random halve the mistakes of the weighted majority?",
    _conduct,
    {
        "small": Advisers(10, 2_000, (0.01, 0.1, 0.5), 12),
        "full": Advisers(10, 40_000, (0.001, 0.003, 0.03, 0.1, 0.3, 0.5), 40),
    },
    {"small": 3, "full": 5},
)
