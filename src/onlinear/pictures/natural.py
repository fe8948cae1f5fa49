"""The picture that comes to mind for a result, by its type."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.datasets import Dataset
from onlinear.models.state import State
from onlinear.pictures.boundary import boundary_picture, class_layers
from onlinear.pictures.bounds import bounds_picture
from onlinear.pictures.compare import compare_picture
from onlinear.pictures.confusion import confusion_picture
from onlinear.pictures.margin import margin_picture
from onlinear.pictures.mistakes import mistakes_picture
from onlinear.pictures.picture import Axis, Picture
from onlinear.pictures.potentials import potentials_picture
from onlinear.pictures.regret import regret_picture
from onlinear.pictures.rows import row_bars, rows_axis
from onlinear.pictures.weights import weights_picture
from onlinear.pictures.wording import label_name
from onlinear.runs.comparison import Comparison
from onlinear.runs.curve import Curve
from onlinear.runs.evaluation import Evaluation
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Trace
from onlinear.theory.certificate.certificate import Certificate
from onlinear.theory.check.interval import MarginInterval
from onlinear.theory.check.verdict import Inseparable, Separable, Undecided


def natural_picture(result: Any, **options: Any) -> Picture | None:
    """Return the natural picture of a result, or None where there is none.

    A run with a trace: its mistakes, or the regret if experts were followed. One without: the weights, or the mistakes
    of experts and members. A comparison: the rules side by side. A trace: the potentials if it has any, otherwise the
    mistakes. An evaluation: the confusions. A certificate: the shares of the bounds. A margin or a verdict: what it
    rests on. A data set: its points.

    Parameters
    ----------
    result : any result
        For example a run.
    **options
        Those of the function that makes the picture.

    Examples
    --------
    >>> import onlinear
    >>> natural_picture(onlinear.datasets.xor()).title
    'Data set of 4 examples'
    >>> natural_picture(12) is None
    True
    """
    for kind, picture in _NATURAL.items():
        if isinstance(result, kind):
            made: Picture | None = picture(result, **options)
            return made
    return None


def _of_run(run: Run, **options: Any) -> Picture:
    followed = isinstance(run.trace, Trace) and "mistakes" in run.trace.potentials
    if run.expert_mistakes is not None and (run.trace is None or followed):
        return regret_picture(run, **options)
    return weights_picture(run, **options) if run.trace is None else mistakes_picture(run, **options)


def _of_trace(trace: Trace, **options: Any) -> Picture:
    followed = {"squared_norm", "total_weight"} & set(trace.potentials)
    return potentials_picture(trace, **options) if followed else mistakes_picture(trace, **options)


def _of_undecided(verdict: Undecided, **options: Any) -> Picture:
    return margin_picture(verdict.margin, **options)


def _of_inseparable(verdict: Inseparable) -> Picture:
    rows = [f"row {row} (label {label_name(label)})" for row, label in zip(verdict.rows, verdict.labels, strict=True)]
    order = sorted(range(len(rows)), key=lambda i: -verdict.shares[i])[:_MOST_ROWS]
    shares, names = [float(verdict.shares[i]) for i in order], [rows[i] for i in order]
    notes = [verdict.explain()]
    notes += [f"{len(rows) - len(order):,} more rows with smaller shares take part."] * (len(rows) > len(order))
    axis = Axis("share", percent=True, low=0.0)
    return Picture("Why no vector separates", axis, rows_axis(names), (row_bars("", names, shares),), tuple(notes))


_MOST_ROWS = 20


def _of_data(data: Dataset, **options: Any) -> Picture | None:
    n, d = data.X.shape
    title = f"Data set of {n:,} examples"
    if d == 2 or options:
        weights = None if data.comparator is None else (data.comparator, data.intercept)
        made = boundary_picture(weights, data.X, data.y, **options)
        return Picture(title, made.x, made.y, made.layers, made.notes, square=True)
    if d < 2:
        return None
    centred = data.X - data.X.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    points, variance = left[:, :2] * sizes[:2], sizes**2 / max(float((sizes**2).sum()), 1e-300)
    layers, notes = class_layers(points, data.y, np.unique(data.y).tolist())
    note = f"The two directions of largest variance, of {d}: they have {variance[:2].sum():.0%} of it."
    x, y = (Axis(f"principal direction {k + 1} ({variance[k]:.0%} of the variance)") for k in range(2))
    return Picture(title, x, y, tuple(layers), (note, *notes), square=True)


_NATURAL: dict[Any, Any] = {
    Picture: lambda picture: picture,
    Run: _of_run,
    Comparison: compare_picture,
    Trace: _of_trace,
    Curve: mistakes_picture,
    Evaluation: confusion_picture,
    Certificate: bounds_picture,
    MarginInterval: margin_picture,
    Separable: weights_picture,
    Inseparable: _of_inseparable,
    Undecided: _of_undecided,
    Dataset: _of_data,
    State: weights_picture,
}
