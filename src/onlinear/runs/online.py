"""One online pass over arrays or over a stream of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from onlinear.checks import check_unmasked
from onlinear.data.chunk import Chunk
from onlinear.data.label_record import MISTAKES, add_labels
from onlinear.data.labels import Classes, cut_at_new_labels
from onlinear.engine.flat import Floats
from onlinear.engine.rows import NO_WEIGHTS
from onlinear.errors import DataError, ParameterError
from onlinear.models.state import State
from onlinear.rules.rule import Rule
from onlinear.runs.beginning import Options, begin
from onlinear.runs.columns import name_features
from onlinear.runs.learner import Learner
from onlinear.runs.outcome import Run
from onlinear.runs.recorder import AnyRecorder, Traced, check_trace, recorder_for
from onlinear.streams.stream import Stream


def run(
    rule: Rule,
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = False,
    normalize: bool = False,
    start: Any = None,
    state: State | Run | None = None,
    n_features: int | None = None,
    classes: Any = None,
    sample_weight: Any = None,
    trace: Traced = False,
    new_classes: bool = False,
) -> Run:
    """Run a rule once over examples in order: predict, see the label, learn.

    Parameters
    ----------
    rule : a rule
        For example ``onlinear.rules.Perceptron()``, or one of your own.
    X, y : matrix and labels
        An array or anything like it, or a SciPy sparse matrix, with a label for each row; the columns of a frame name
        the features. Without y, X is a stream (`onlinear.open_stream`) or any iterable of blocks ``(X, y)``; the size
        of the blocks does not affect the result.
    fit_intercept : bool
        Learn an intercept, as if every example had an additional feature 1.
    normalize : bool
        Learn from x/‖x‖; zero rows stay as they are.
    start : array, or pair (array, float)
        The first weights, and with an intercept the first intercept, instead of the rule's own.
    state : State or Run
        Resume from where a run ended: options, counters and weights are taken from it.
    n_features : int
        The number of features, if the data may not show it.
    classes : sequence
        All labels; of two, the negative one first. Default: the labels in y, sorted; of a stream or of blocks, those of
        the first 4,096 examples. With three or more, each has its own weight vector; the rule must be linear.
    sample_weight : array
        The weights of the examples in X, at least 0: they multiply the steps. Only for rules that support them.
    trace : bool, "curve" or Potentials
        Record the scores and the rounds of mistakes and updates, in ``run.trace``; with `Potentials`, also the
        quantities that the proofs follow, after each update. "curve" records the mistakes over time in bounded memory
        (`Curve`), for runs of any length.
    new_classes : bool
        Add a class when its first example comes; the result is the same for blocks of any size. Each class has its own
        weight vector then, even if there are only two.

    Returns
    -------
    Run

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> run = onlinear.run(onlinear.rules.Perceptron(), X, y)
    >>> run.mistakes <= 1 / 0.1**2
    True
    """
    check_trace(trace)
    if sample_weight is not None and y is None:
        raise ParameterError("sample_weight needs X and y; it does not apply to a stream of blocks")
    stream = X.independent() if y is None and isinstance(X, Stream) else None
    options = Options(fit_intercept, normalize, start, state, n_features, classes, new_classes)
    learner, chunks = begin(rule, X if stream is None else stream, y, options)
    if y is not None:
        name_features(learner, X)
    recorder = recorder_for(trace, learner)
    n = 0
    for chunk in chunks:
        weights = as_weights(rule, sample_weight, chunk.n)
        feed(learner, chunk, recorder=recorder, weights=weights)
        n += chunk.n
    if n == 0:
        raise DataError("no examples")
    if stream is not None:
        learner.take_names(stream.names)
    return Run(learner.rest(), recorder.trace(learner) if recorder else None)


def feed(
    learner: Learner,
    chunk: Chunk,
    rows: slice | None = None,
    recorder: AnyRecorder | None = None,
    weights: Floats = NO_WEIGHTS,
    *,
    first_pass: bool = True,
) -> None:
    """Learn from a chunk, or from some of its rows; a new class is added before its first example, if it may be.

    The labels of the first pass are recorded.
    """
    learner.make_room(chunk)
    before = learner.mistakes
    for span in _spans(learner, chunk, rows or slice(0, chunk.n)):
        codes = chunk.codes(learner.classes, span)
        block = chunk.block(span, learner.bias, learner.normalize)
        if weights.size:
            block = block._replace(weights=weights[span])
        end = recorder.learn(learner, block, codes) if recorder else learner.learn(block, codes)
        if end < codes.size:
            raise learner.refuse(chunk, span.start + end)
        if learner.checksum is not None:
            sums = chunk.row_sums(span, block)
            learner.checksum.add(sums, codes)
            if learner.sample is not None and first_pass:
                learner.sample.add(sums)
        if first_pass:
            add_labels(learner.labels, codes)
    if first_pass:
        learner.labels.tallies[MISTAKES] += learner.mistakes - before


def _spans(learner: Learner, chunk: Chunk, rows: slice) -> Iterator[slice]:
    """Cut rows into blocks, and where a class is new: the learner takes it when the rows before it have been read."""
    classes = learner.classes
    if not learner.new_classes or isinstance(classes, Classes):
        yield from chunk.spans(rows)
        return
    for part, new in cut_at_new_labels(chunk.y[rows], classes):
        first, end = rows.start + part.start, rows.start + part.stop
        for label in new:
            learner.add_class(label, chunk.place(first))
        yield from chunk.spans(slice(first, end))


def as_weights(rule: Any, given: Any, n: int) -> Floats:
    """Return the weights of n examples, or none; not every rule supports them."""
    if given is None:
        return NO_WEIGHTS
    name = type(rule).__name__
    if not rule.weighted:
        raise ParameterError(f"{name} does not support sample_weight: its guarantees assume equal steps")
    check_unmasked("sample_weight", given)
    try:
        given = np.asarray(given)
        weights = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"sample_weight is not an array of numbers: {error}") from error
    if given.dtype.kind in "US":
        raise ParameterError("sample_weight holds text; it must hold numbers")
    if weights.shape != (n,):
        raise ParameterError(f"sample_weight has shape {weights.shape}; there are {n} examples")
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        i = int(np.argmin(np.isfinite(weights) & (weights >= 0.0)))
        raise ParameterError(f"row {i}: sample_weight {weights[i]}; weights must be finite and at least 0")
    return weights
