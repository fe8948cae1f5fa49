"""Several rules side by side: mistakes over time, or error rates as bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from onlinear.display import confidence, counted
from onlinear.errors import ParameterError
from onlinear.pictures.mistakes import baseline_courses, curve_of, later_pass_notes, per_round, settled_top
from onlinear.pictures.picture import Axis, Layer, Picture
from onlinear.pictures.rows import row_bars, rows_axis
from onlinear.pictures.wording import rule_name
from onlinear.runs.comparison import Comparison
from onlinear.runs.curve import Curve
from onlinear.runs.evaluation import Evaluation
from onlinear.runs.outcome import Run

_MOST_LINES = 5
"""More lines cannot be told apart."""


def compare_picture(
    runs: Comparison | Sequence[Run],
    *,
    names: Sequence[str] | None = None,
    rate: bool = True,
    over_time: bool | None = None,
) -> Picture:
    """Return the mistakes of several rules, the best first, over time or as bars.

    Of more than five rules over time, the four best and the last are drawn. If the comparison was evaluated, the errors
    on the test examples stand before the bars, with their intervals.

    Parameters
    ----------
    runs : Comparison or sequence of Run
        The runs, over the same examples.
    names : sequence of str, optional
        A name for each run. Default: its rule.
    rate : bool
        Show mistakes per round over time, instead of their number.
    over_time : bool, optional
        Show mistakes over time, which needs traces, or bars. Default: over time if there are traces and no test.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.noisy(n=1000, seed=0)
    >>> rules = [onlinear.rules.Perceptron(), onlinear.rules.AROW()]
    >>> compare_picture(onlinear.compare(rules, X, y)).frame().to_pydict()["text"][:2]
    ['AROW', 'Perceptron']
    """
    if not isinstance(runs, Comparison):
        runs = list(runs) if isinstance(runs, Iterable) else []
    if not runs or not all(isinstance(run, Run) for run in runs):
        raise ParameterError("compare needs a Comparison, or a list with at least one Run")
    named = [rule_name(run.rule) for run in runs] if names is None else list(names)
    if len(named) != len(runs):
        raise ParameterError(f"there are {counted(len(named), 'name')} for {counted(len(runs), 'run')}")
    tests = runs.tests if isinstance(runs, Comparison) else ()
    notes = _notes(runs)
    if over_time is None:
        over_time = not tests and all(run.trace is not None for run in runs)
    if over_time:
        return _over_time([curve_of(run) for run in runs], named, notes, rate=rate)
    order = sorted(range(len(runs)), key=lambda i: tests[i].error if tests else runs[i].mistakes / runs[i].rounds)
    return _as_bars(runs, named, order, tests, notes)


def _over_time(curves: Sequence[Curve], named: Sequence[str], notes: list[str], *, rate: bool) -> Picture:
    # A run that was resumed has the curve of its last stretch only, whose rate counts here.
    rates = [float(curve.mistakes[-1] / (curve.rounds[-1] - curve.rounds[0])) for curve in curves]
    order = sorted(range(len(curves)), key=rates.__getitem__)
    begun = [int(curve.rounds[0]) for curve in curves]
    if any(begun):
        first = f"{min(begun) + 1:,} to {max(begun) + 1:,}" if min(begun) < max(begun) else f"{begun[0] + 1:,}"
        notes = [*notes, f"Counted from round {first} on, where these stretches began."]
    shown = list(order) if len(order) <= _MOST_LINES else [*order[: _MOST_LINES - 1], order[-1]]
    left = [named[i] for i in order if i not in shown]
    if left:
        notes = [*notes, f"In between, not drawn: {', '.join(left)}."]
    best = curves[order[0]]
    layers = [
        Layer.of(name, *per_round(best, made, rate=rate), role="baseline") for name, made in baseline_courses(best)
    ]
    for i in shown:
        end = f"{rates[i]:.2%}" if rate else f"{int(curves[i].mistakes[-1]):,}"
        layers.append(Layer.of(f"{named[i]}: {end}", *per_round(curves[i], curves[i].mistakes, rate=rate)))
    label = "mistakes per round" if rate else "mistakes"
    return Picture(
        "Mistakes of each rule",
        Axis("rounds", low=float(min(begun)), high=float(max(int(curve.rounds[-1]) for curve in curves))),
        Axis(label, percent=rate, low=0.0, high=settled_top(layers)),
        tuple(layers),
        tuple(notes),
    )


def _as_bars(
    runs: Sequence[Run], named: Sequence[str], order: Sequence[int], tests: Sequence[Evaluation], notes: list[str]
) -> Picture:
    rows, rates = [named[i] for i in order], [runs[i].mistakes / runs[i].rounds for i in order]
    # Beside the errors of a test, the mistakes are in the background.
    layers = [row_bars("mistakes while learning", rows, rates, role="baseline" if tests else "series")]
    baselines = runs[0].baselines
    if baselines is not None:
        trivial = {"majority so far": baselines.majority, "last label": baselines.last_label}
        shares = [made / baselines.rounds for made in trivial.values()]
        layers.append(row_bars("baseline", list(trivial), shares, first=len(rows), role="baseline"))
        rows = [*rows, *trivial]
    if tests:
        found = [tests[i] for i in order]
        layers.append(
            Layer.of("errors on the test examples", [test.error for test in found], np.arange(len(found)), "points")
        )
        ends = [(row, test.interval) for row, test in enumerate(found) if test.interval is not None]
        layers += [Layer.of("", [1.0 - upper, 1.0 - lower], [row, row]) for row, (lower, upper) in ends]
        if ends:
            notes = [*notes, f"Each interval holds with probability {confidence(tests[0].delta)} for its rule alone."]
        if found[0].interval is None:
            notes = [*notes, f"No intervals: {found[0].no_interval}."]
    axis = Axis("share of examples that were wrong", percent=True, low=0.0)
    return Picture("Error of each rule", axis, rows_axis(rows), tuple(layers), tuple(notes))


def _notes(runs: Sequence[Run]) -> list[str]:
    rounds = {run.rounds for run in runs}
    notes = [] if len(rounds) == 1 else ["The runs have seen different numbers of examples."]
    left = runs.left_out if isinstance(runs, Comparison) else {}
    notes += later_pass_notes(runs)
    return notes + [f"Left out: {', '.join(left)}."] * bool(left)
