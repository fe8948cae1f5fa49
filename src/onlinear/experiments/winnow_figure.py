"""Figure 2 of Kitani's notes: the perceptron against Winnow, where few of many variables are relevant."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from onlinear import datasets
from onlinear.display import TextTable
from onlinear.experiments.experiment import Columns, Experiment, Observed, Work, as_columns, over_seeds, span
from onlinear.pictures import Axis, Layer, Picture
from onlinear.rules import Perceptron, Winnow
from onlinear.runs import run
from onlinear.theory import Examples, bounds

_K = 20
"""The relevant variables."""
_ROWS = 1000
"""How many examples are drawn at a time: a matrix of all would not fit in memory as it is drawn."""
_WIDEST = 1_600
"""The most variables with r > 1: then more variables are on, and wider examples would take most of the time."""
_POINTS = 200
"""The most points of a curve in the picture."""


class Widths(NamedTuple):
    """The parameters of the experiment."""

    rounds: int
    widths: tuple[int, ...]
    thresholds: tuple[int, ...]
    """r of r-of-k: an example is positive if at least r relevant variables are on; 1 is a disjunction."""
    winnow_grows: float
    """Less than this times, from the smallest to the largest width."""
    perceptron_grows: float
    """More than this times."""


class Count(NamedTuple):
    """The mistakes of a rule on one stream."""

    r: int
    N: int
    seed: int
    rule: str
    rounds: int
    mistakes: int
    positive: int
    negative: int
    bound: float
    """The most mistakes by the theorem; NaN where the notes have none."""


class FewRelevant(NamedTuple):
    """What is drawn for one case."""

    r: int
    N: int
    seed: int


class Curves(NamedTuple):
    """What happened on one stream: the counts, and the mistakes over time, of the perceptron and of Winnow."""

    counts: tuple[Count, Count]
    times: Any
    mistakes: tuple[Any, Any]


def _conduct(scale: Widths, work: Work) -> Observed:
    streams = [
        FewRelevant(r, N, seed)
        for r in scale.thresholds
        for N, seed in itertools.product(_widths(scale, r), work.seeds)
    ]
    runs = work.each(lambda stream: _run_both(stream, scale.rounds), streams)
    columns = as_columns(count for one in runs for count in one.counts)
    by_stream = dict(zip(streams, runs, strict=True))
    pictures = [_over_time(scale, work, by_stream)]
    pictures += [_over_widths(scale, columns, r) for r in scale.thresholds]
    return Observed(columns, tuple(pictures), _table(scale, columns), *_judge(scale, work, columns))


def _run_both(stream: FewRelevant, rounds: int) -> Curves:
    X, y, u = _draw(stream, rounds)
    # A promotion by 1 + 1/(2r) is Littlestone's choice for r of k: several variables share each promotion.
    winnow_rule = Winnow(beta=1.0 if stream.r == 1 else 0.5 / stream.r)
    perceptron = run(Perceptron(), X, y, fit_intercept=True, trace="curve")
    winnow = run(winnow_rule, X, y, trace="curve")
    most = bounds.perceptron(Examples(X, y, fit_intercept=True), u=u).mistakes
    winnow_most = bounds.winnow(X, y, winnow_rule, relevant=range(_K)).mistakes if stream.r == 1 else np.nan
    counts = [
        Count(*stream, name, rounds, one.mistakes, one.mistakes_positive, one.mistakes_negative, float(bound))
        for name, one, bound in (("Perceptron", perceptron, most), ("Winnow", winnow, winnow_most))
    ]
    curves: list[Any] = [perceptron.trace, winnow.trace]
    shown = np.unique(np.linspace(0, curves[0].rounds.size - 1, _POINTS).astype(int))
    return Curves(
        (counts[0], counts[1]), curves[0].rounds[shown], (curves[0].mistakes[shown], curves[1].mistakes[shown])
    )


def _draw(stream: FewRelevant, rounds: int) -> tuple[Any, Any, Any]:
    """Return a sparse matrix, labels, and the vector and intercept that separate them."""
    from scipy import sparse

    parts, labels = [], []
    for first in range(0, rounds, _ROWS):
        n = min(_ROWS, rounds - first)
        part = datasets.r_of_k(stream.r, _K, stream.N, n, seed=stream.seed * rounds + first)
        parts.append(sparse.csr_matrix(part.X, dtype=np.float32))
        labels.append(part.y)
    return sparse.vstack(parts, format="csr"), np.concatenate(labels), (part.comparator, part.intercept)


def _widths(scale: Widths, r: int) -> list[int]:
    return [N for N in scale.widths if r == 1 or N <= _WIDEST]


def _of(columns: Columns, r: int, rule: str, name: str = "mistakes") -> Any:
    """Return a column for a kind of stream and a rule, with a row per seed and a column per width."""
    chosen = (columns["r"] == r) & (columns["rule"] == rule)
    return columns[name][chosen].reshape(-1, np.unique(columns["seed"]).size).T


def _judge(scale: Widths, work: Work, columns: Columns) -> tuple[str, bool]:
    ends = f"from N = {scale.widths[0]:,} to {scale.widths[-1]:,}"
    perceptron, winnow = (_of(columns, 1, rule) for rule in ("Perceptron", "Winnow"))
    grown = [made[:, -1] / made[:, 0] for made in (perceptron, winnow)]
    holds = bool(
        (grown[1] < scale.winnow_grows).all()
        and (grown[0] > scale.perceptron_grows).all()
        and not (columns["mistakes"] > columns["bound"]).any()
    )
    finding = (
        f"On disjunctions of {_K} variables, over {scale.rounds:,} rounds, Winnow's mistakes grow"
        f" {span(grown[1], '.1f')} times {ends} ({_ends(winnow)}; less than {scale.winnow_grows:g} times for every"
        f" seed), the perceptron's {span(grown[0], '.1f')} times ({_ends(perceptron)}; more than"
        f" {scale.perceptron_grows:g} times)"
    )
    for r in scale.thresholds[1:]:
        fewer = _of(columns, r, "Perceptron") / _of(columns, r, "Winnow")
        holds = holds and bool((fewer > 1.0).all())
        finding += (
            f"; on {r} of {_K}, the perceptron makes {span(fewer[:, 0], '.1f')} times Winnow's mistakes at N ="
            f" {scale.widths[0]:,} and {span(fewer[:, -1], '.1f')} times at {_widths(scale, r)[-1]:,}"
        )
    return finding + "; no run exceeds its bound.", holds


def _ends(made: Any) -> str:
    return f"{span(made[:, 0])} → {span(made[:, -1])}"


def _table(scale: Widths, columns: Columns) -> TextTable:
    rows = []
    places = [(r, j, N) for r in scale.thresholds for j, N in enumerate(_widths(scale, r))]
    for (r, j, N), rule in itertools.product(places, ("Winnow", "Perceptron")):
        made, bound, positive, negative = (
            _of(columns, r, rule, name)[:, j] for name in ("mistakes", "bound", "positive", "negative")
        )
        known = not np.isnan(bound).any()
        # Every seed has its own bound; the least of them is the sharpest comparison.
        allowed, used = (f"{bound.min():,.0f}", f"{(made / bound).max():.0%}") if known else ("none", "")
        shown = [span(each) for each in (made, positive, negative)]
        rows.append([_kind(r), f"{N:,}", rule, f"{scale.rounds:,}", *shown, allowed, used])
    names = ["examples", "N", "rule", "rounds", "mistakes", "m+", "m-", "bound (least)", "used (most)"]
    return TextTable(names, rows)


def _kind(r: int) -> str:
    return f"disjunction of {_K}" if r == 1 else f"{r} of {_K}"


def _over_time(scale: Widths, work: Work, runs: dict[FewRelevant, Curves]) -> Picture:
    """Return the picture of the notes: mistakes over trials, on disjunctions, for the ends of the range of N."""
    layers = []
    for (place, rule), N in itertools.product(enumerate(("Perceptron", "Winnow")), (scale.widths[-1], scale.widths[0])):
        curves = [runs[FewRelevant(1, N, seed)] for seed in work.seeds]
        layers += over_seeds(f"{rule}, N = {N:,}", curves[0].times, [one.mistakes[place] for one in curves])
    return Picture(
        f"Mistakes on a disjunction of {_K} of N variables",
        Axis("rounds"),
        Axis("mistakes so far", low=0.0),
        tuple(layers),
        notes=(_bands(work),),
    )


def _over_widths(scale: Widths, columns: Columns, r: int) -> Picture:
    layers = []
    for rule, theorem in (("Perceptron", "Perceptron mistake bound (P1)"), ("Winnow", "Winnow mistake bound")):
        bound = _of(columns, r, rule, "bound")
        if not np.isnan(bound).any():
            layers.append(Layer.of(theorem, _widths(scale, r), bound.min(axis=0), role="bound"))
        layers += over_seeds(rule, _widths(scale, r), _of(columns, r, rule))
    unbounded = () if r == 1 else ("The notes have no bound for Winnow on these examples.",)
    return Picture(
        f"Mistakes and bounds, {_kind(r)}",
        Axis("variables N", log=True),
        Axis(f"mistakes in {scale.rounds:,} rounds", log=True),
        tuple(layers),
        notes=unbounded,
    )


def _bands(work: Work) -> str:
    return f"Lines are medians over {len(work.seeds)} seeds; bands reach from the smallest count to the largest."


figure2 = Experiment(
    "figure2",
    "Figure 2: the perceptron against Winnow",
    "How do the mistakes of the perceptron and of Winnow grow with the number of irrelevant variables?",
    _conduct,
    {
        "small": Widths(4_000, (200, 400, 800), (1, 5), 2.0, 2.0),
        "full": Widths(40_000, (200, 400, 800, 1_600, 3_200, 6_400), (1, 5), 3.0, 10.0),
    },
    {"small": 3, "full": 5},
)
