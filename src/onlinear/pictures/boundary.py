"""Examples in the plane with their separator: points, margin strip, updates in order, the way of the weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.data.labels import as_labels, distinct
from onlinear.data.matrices import as_matrix, column_names
from onlinear.engine.flat import Floats
from onlinear.errors import ParameterError
from onlinear.pictures.picture import Axis, Layer, Picture
from onlinear.pictures.plane import Box, Scores, zero_line
from onlinear.pictures.ringed import ringed_updates, way_of_weights
from onlinear.pictures.weights import floats_of
from onlinear.pictures.wording import label_name, rounded, rule_name, shorten_name
from onlinear.runs.outcome import Run

_MOST_POINTS = 2000
"""More points are thinned evenly."""
_MOST_UNEQUAL = 4.0
"""If one column spreads further than the other by more than this factor, the axes have different units."""


class Linear(NamedTuple):
    """A linear classifier: a row of weights per score, and an intercept for each."""

    weights: Floats
    intercepts: Floats


def boundary_picture(
    run: Any, X: Any, y: Any, *, columns: Sequence[int | str] = (0, 1), updates: bool = True
) -> Picture:
    """Return examples with two features, the line that separates their classes, and how it was learned.

    If a separator is right on all examples, the margin strip, which holds none of them, is drawn beside it. If the run
    has a trace, the latest updates are numbered, where it can be told which examples they were; with
    ``trace=Potentials(weights=True)`` an arrow follows the weights. With more than two classes, the lines are where the
    best two scores are equal.

    Parameters
    ----------
    run : Run, Separable, array, pair (array, float), or None
        What separates: a run of a rule with a linear score, a verdict, or weights, with an intercept if there is one.
    X, y : matrix and labels
        The examples.
    columns : pair of int or str
        The two columns to show, by number or by name, if there are more than two. The line is then a section: the
        other features have their mean.
    updates : bool
        Show the updates and the way of the weights.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import onlinear
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [0, 1, 1]
    >>> run = onlinear.converge(onlinear.rules.Perceptron(), X, y, fit_intercept=True)
    >>> [layer.name for layer in boundary_picture(run, X, y).layers]
    ['0', '1', 'separator', 'margin strip, 1.41 wide', '']
    """
    table = _read(X, y, normalize=isinstance(run, Run) and run.state.normalize)
    i, j = _chosen(columns, table.names)
    shown = table.columns([i, j])
    square = _same_scale(shown)
    box = Box.around(shown, square=square)
    classes = list(run.classes) if isinstance(run, Run) else sorted(distinct(table.labels, []))
    layers, notes = class_layers(shown, table.labels, classes)
    if isinstance(run, Run) and run.state.normalize:
        notes.append("Examples are shown as they were learned from, at length 1.")
    linear = linear_of(run, table.width)
    if linear is not None:
        drawn = _borders(_section(linear, table, i, j), box)
        layers += drawn
        if table.width > 2:
            notes.append(
                f"A section through {table.width:,} features: the line holds for examples whose other features have"
                " their mean, so points may seem to be on the wrong side."
            )
        elif len(linear.weights) == 1 and len(classes) == 2:
            signs = np.where(table.labels == classes[1], 1.0, -1.0)
            layers += _strip(_section(linear, table, i, j)[0], shown, signs, box)
        if not drawn:
            notes.append("The line is outside the picture.")
    if isinstance(run, Run) and updates:
        rings, said = ringed_updates(run, table.labels, table.squared_lengths())
        notes += said
        if rings.texts:
            ringed = shown[rings.rows]
            layers.append(Layer.of("updates, in order", ringed[:, 0], ringed[:, 1], "points", texts=rings.texts))
        layers += way_of_weights(run, box) if table.width == 2 else []
    return Picture(
        f"{rule_name(run.rule)} on {len(shown):,} examples" if isinstance(run, Run) else "Examples",
        Axis(table.names[i], low=box.left, high=box.right),
        Axis(table.names[j], low=box.bottom, high=box.top),
        tuple(layers),
        tuple(notes),
        square=square,
    )


def class_layers(points: Floats, labels: NDArray[Any], classes: Sequence[Any]) -> tuple[list[Layer], list[str]]:
    """Return the points of each class as a layer, thinned if there are many, and a note if they were."""
    notes = []
    if len(points) > _MOST_POINTS:
        kept = np.linspace(0, len(points) - 1, _MOST_POINTS).astype(np.intp)
        notes.append(f"{_MOST_POINTS:,} of the {len(points):,} examples are shown, at equal distances in their order.")
        points, labels = points[kept], labels[kept]
    layers = []
    for label in classes:
        x, y = points[labels == label].T
        layers.append(Layer.of(label_name(label), x, y, "points", "class"))
    return layers, notes


def linear_of(run: Any, width: int) -> Linear | None:
    """Return the linear classifier that something is; None for None."""
    if run is None:
        return None
    if isinstance(run, Run):
        found = _linear_of_run(run)
    else:
        held = getattr(run, "weights", None)
        given, intercept = (held, run.intercept) if held is not None else run if isinstance(run, tuple) else (run, 0.0)
        values = np.asarray(given)
        whole = np.append(values, intercept) if values.dtype == object else values
        weights = floats_of(whole)
        if values.dtype == object:
            weights, intercept = weights[:-1], weights[-1]
        found = Linear(np.atleast_2d(weights), np.array([float(intercept)]))
    if found.weights.shape[1] != width:
        raise ParameterError(f"there are {found.weights.shape[1]} weights, but X has {width} columns")
    return found


def _linear_of_run(run: Run) -> Linear:
    rule = run.rule.for_width(run.n_features) if hasattr(run.rule, "for_width") else run.rule
    if run.state.members:
        raise ParameterError("a majority has no line of its own; take run.best_member()")
    threshold = getattr(rule, "threshold", None)
    if not rule.linear and threshold is None:
        raise ParameterError(f"the score of {run.rule!r} is not known to be linear; write its rule with linear=True")
    weights = np.atleast_2d(run.weights)
    return Linear(weights, np.atleast_1d(run.intercept) - float(0.0 if rule.linear else threshold or 0.0))


class _ShownExamples(NamedTuple):
    """Examples as they are shown: a dense or a sparse matrix, and a factor for each row."""

    matrix: Any
    factors: Floats
    labels: NDArray[Any]
    names: list[str]

    @property
    def width(self) -> int:
        """The number of features."""
        return int(self.matrix.shape[1])

    def columns(self, numbers: list[int]) -> Floats:
        """Return some columns."""
        some = self.matrix[:, numbers]
        dense = np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)
        return dense * self.factors[:, None]

    def means(self) -> Floats:
        """Return the mean of each column."""
        return np.ravel(self.matrix.T @ self.factors) / self.factors.size

    def squared_lengths(self) -> Floats:
        """Return ‖x‖² of each row."""
        return _squared_lengths(self.matrix) * self.factors**2


def _read(X: Any, y: Any, *, normalize: bool) -> _ShownExamples:
    """Return examples, which are scaled to length 1 if they are to be normalised."""
    matrix = as_matrix(X).native()
    n, width = matrix.shape
    if width < 2:
        raise ParameterError("a boundary needs at least two features")
    factors = np.ones(n)
    if normalize:
        lengths = np.sqrt(_squared_lengths(matrix))
        factors = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    names = column_names(X) or tuple(f"feature {j}" for j in range(width))
    return _ShownExamples(matrix, factors, as_labels(y, n), [shorten_name(name) for name in names])


def _squared_lengths(matrix: Any) -> Floats:
    squares = matrix.multiply(matrix) if hasattr(matrix, "multiply") else np.square(matrix, dtype=np.float64)
    return np.ravel(np.asarray(squares.sum(axis=1), dtype=np.float64))


def _same_scale(points: Floats) -> bool:
    """Tell whether both columns spread about equally far, so that a unit can have the same length on both axes."""
    spreads = np.ptp(points, axis=0)
    return bool(spreads.max() <= _MOST_UNEQUAL * spreads.min())


def _section(linear: Linear, table: _ShownExamples, i: int, j: int) -> list[Scores]:
    """Return the scores of two columns, with the others at their mean."""
    others = table.means()
    others[[i, j]] = 0.0
    rest = linear.intercepts + linear.weights @ others
    return [Scores(float(w[i]), float(w[j]), float(c)) for w, c in zip(linear.weights, rest, strict=True)]


def _chosen(columns: Sequence[int | str], names: list[str]) -> tuple[int, int]:
    """Return the numbers of two columns."""
    places = []
    for column in columns:
        if isinstance(column, str) and column not in names:
            raise ParameterError(f"there is no column {column!r}")
        place = names.index(column) if isinstance(column, str) else int(column)
        if not 0 <= place < len(names):
            raise ParameterError(f"there is no column {place}; they are 0 to {len(names) - 1}")
        places.append(place)
    if len(set(places)) != 2:
        raise ParameterError(f"columns is {tuple(columns)!r}; it must be two different columns")
    return places[0], places[1]


def _borders(scores: Sequence[Scores], box: Box) -> list[Layer]:
    """Return where the best two scores are equal; of one score, where it is 0."""
    if len(scores) == 1:
        line = zero_line(scores[0], box)
        return [] if line is None else [Layer.of("separator", *line.T)]
    layers = []
    for r, s in combinations(range(len(scores)), 2):
        others = [scores[r].minus(other) for t, other in enumerate(scores) if t not in (r, s)]
        line = zero_line(scores[r].minus(scores[s]), box, others)
        if line is not None:
            layers.append(Layer.of("border", *line.T))
    return layers


def _strip(scores: Scores, points: Floats, signs: Floats, box: Box) -> list[Layer]:
    """Return both edges of the margin strip, if all points are on their side."""
    size = float(np.hypot(scores.a, scores.b))
    least = float((signs * scores.of(points)).min()) if size else 0.0
    if least <= 0.0:
        return []
    lines = [zero_line(scores._replace(c=scores.c + shift), box) for shift in (least, -least)]
    names = (f"margin strip, {rounded(2.0 * least / size)} wide", "")
    found = [(name, line) for name, line in zip(names, lines, strict=True) if line is not None]
    return [Layer.of(name, line[:, 0], line[:, 1], role="bound") for name, line in found]
