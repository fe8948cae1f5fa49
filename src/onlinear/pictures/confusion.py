"""How often examples of each class were taken for each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.display import counted
from onlinear.errors import ParameterError
from onlinear.pictures.mistakes import curve_of
from onlinear.pictures.picture import Axis, Layer, Picture
from onlinear.pictures.wording import class_names, label_name
from onlinear.runs.curve import Curve
from onlinear.runs.evaluation import Evaluation
from onlinear.runs.outcome import Run

_MOST = 30
"""The most classes in a picture."""


def confusion_picture(result: Evaluation | Run | Curve) -> Picture:
    """Return how many examples of each class (row) were predicted to be of each class (column).

    The shade of a cell is its share of the row. Of more than 30 classes, those with the most errors are shown.

    Parameters
    ----------
    result : Evaluation, Run or Curve
        Of a run with a trace, or of its curve, the predictions are those before each example was learned from.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.noisy(n=1000, seed=0)
    >>> run = onlinear.run(onlinear.rules.AROW(), X, y)
    >>> confusion_picture(run.evaluate(X, y)).frame().to_pydict()["text"]
    ['414', '60', '49', '477']
    """
    if isinstance(result, Evaluation):
        names, counts = [label_name(label) for label in result.classes], result.confusion
        if counts is None:
            raise ParameterError(f"there are {counted(len(names), 'class')}, too many for a confusion matrix")
        title = f"Confusions in {counted(result.examples, 'example')}"
    else:
        counts = curve_of(result).confusion
        known = isinstance(result, Run)
        names = class_names(result.state) if isinstance(result, Run) else [f"class {r}" for r in range(len(counts))]
        title = "Confusions while learning" if known else "Confusions"
    return _matrix(title, np.asarray(counts), names)


def _matrix(title: str, counts: Any, names: list[str]) -> Picture:
    notes = []
    if len(names) > _MOST:
        wrong = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
        kept = np.sort(np.argsort(-wrong, kind="stable")[:_MOST])
        notes.append(f"The {_MOST} classes with the most errors, of {len(names):,}.")
        counts, names = counts[np.ix_(kept, kept)], [names[r] for r in kept]
    rows, columns = (axis.ravel() for axis in np.indices(counts.shape))
    sums = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)
    texts = [f"{count:,}" if count else "" for count in counts.ravel().tolist()]
    layer = Layer.of("examples", columns, rows, "cells", low=shares.ravel(), texts=texts)
    axes = Axis("predicted", names=tuple(names)), Axis("label", names=tuple(names))
    return Picture(title, *axes, (layer,), tuple(notes))
