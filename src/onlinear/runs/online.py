"""One online pass over arrays or over a stream of blocks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import DataError, ParameterError
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.learner import Learner
from onlinear.runs.outcome import Run
from onlinear.runs.state import State
from onlinear.runs.trace import Potentials, Recorder, potentials
from onlinear.streams.labels import Classes, as_labels, declared_classes, distinct, found_classes, show
from onlinear.streams.sources import Source, open_source, spans

Pair: TypeAlias = tuple[Source, NDArray[Any]]

_LOOK_AHEAD = 1 << 26
"""How many bytes of a stream are held back, at most, until both labels have been seen."""


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
    trace: bool | Potentials = False,
) -> Run:
    """Run a rule once over examples in their order: predict, be told the answer, learn.

    Parameters
    ----------
    rule : a rule
        Such as ``onlinear.rules.Perceptron()``, or one of your own.
    X, y : matrix and labels
        An array or anything like it, or a SciPy sparse matrix, with a label for each row. Without y,
        X is an iterable of blocks ``(X, y)``; the size of the blocks changes nothing.
    fit_intercept : bool
        Learn an intercept, as if every example had a further feature 1.
    normalize : bool
        Learn from x/‖x‖; zero rows stay as they are.
    start : array, or pair (array, float)
        The first weights, and with an intercept the first intercept, instead of the rule's own.
    state : State or Run
        Go on from where a run ended: options, counters and weights are taken from there.
    n_features : int
        The number of features, where the data may not show it.
    classes : pair
        The labels (negative, positive). Default: the two labels in the data, in their order.
    trace : bool or Potentials
        Keep the rounds of mistakes and updates and the scores; with `Potentials`, also what the
        proofs look at, after each update.

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
    check_rule(rule)
    if n_features is not None and not (type(n_features) is int and n_features > 0):
        raise ParameterError(f"n_features is {n_features!r}; it must be a positive integer")
    if not isinstance(trace, bool | Potentials):
        raise ParameterError(f"trace is {trace!r}; it must be True, False or Potentials(...)")
    pairs = open_blocks(X) if y is None else iter([read_arrays(X, y)])
    if state is not None:
        state = state.state if isinstance(state, Run) else state
        if not isinstance(state, State):
            raise ParameterError(f"state is {type(state).__name__}, not a Run or its state")
        learner = resumed(rule, state, fit_intercept, normalize, start, classes)
        if n_features not in {None, learner.n_features}:
            raise ParameterError(f"n_features is {n_features}, but the state has {learner.n_features}")
    else:
        if classes is not None:
            found = declared_classes(classes)
        else:
            found, pairs = _look_ahead(pairs, only_one=y is not None)
        first = next(pairs, None)
        if first is None:
            raise DataError("no examples")
        pairs = itertools.chain([first], pairs)
        learner = Learner(rule, found, fit_intercept=fit_intercept, normalize=normalize)
        learner.begin(first[0].width if n_features is None else n_features, start)
    recorder = _recorder(trace, learner)
    row = 0
    for source, labels in pairs:
        row = _feed(learner, source, labels, row, recorder)
    if row == 0:
        raise DataError("no examples")
    return Run(learner.rest(), recorder.trace(learner) if recorder else None)


def _feed(learner: Learner, source: Source, labels: NDArray[Any], row: int, recorder: Recorder | None) -> int:
    """Learn from one matrix, whose first row is row `row` of the stream; return the row after its last."""
    learner.make_room(source)
    for span in spans(source):
        codes = learner.classes.encode(labels[span], row + span.start)
        block = source.block(span, learner.bias, learner.normalize)
        end = recorder.learn(learner, block, codes) if recorder else learner.learn(block, codes)
        if end < codes.size:
            i = span.start + end
            raise learner.refuse(source, i, row + i)
    return row + source.n


def read_arrays(X: Any, y: Any) -> Pair:
    """Return a matrix as a source, and its labels."""
    source = open_source(X)
    labels = as_labels(y, source.n)
    if source.n == 0:
        raise DataError("no examples")
    return source, labels


def open_blocks(X: Any) -> Iterator[Pair]:
    """Return an iterable of blocks as sources with their labels; empty blocks are passed over."""
    if isinstance(X, np.ndarray | tuple) or hasattr(X, "shape") or not isinstance(X, Iterable):
        raise DataError("y is missing; without it X must be an iterable of blocks (X, y)")
    return _opened(X)


def _opened(blocks: Iterable[Any]) -> Iterator[Pair]:
    for number, block in enumerate(blocks):
        if not (isinstance(block, tuple | list) and len(block) == 2):
            kind = type(block).__name__
            raise DataError(f"block {number} is not a pair (X, y) but {kind}; X and y are two arguments")
        try:
            source = open_source(block[0])
            labels = as_labels(block[1], source.n)
        except DataError as error:
            hint = "; is y missing?" if number == 0 else ""
            raise DataError(f"block {number}: {error}{hint}") from error
        if source.n:
            yield source, labels


def _look_ahead(pairs: Iterator[Pair], *, only_one: bool) -> tuple[Classes, Iterator[Pair]]:
    """Read until both labels have been seen; return them and the whole stream again."""
    held: list[Pair] = []
    size = row = 0
    labels: list[Any] = []
    for source, y in pairs:
        labels = distinct(y, labels, row)
        row += y.size
        if len(labels) == 2 or only_one:
            return found_classes(labels), itertools.chain(held, [(source, y)], pairs)
        # A copy: whoever makes the blocks may reuse their memory.
        held.append((source.copied(), y.copy()))
        size += source.nbytes
        if size > _LOOK_AHEAD:
            raise DataError(
                f"only one label ({show(labels[0])}) in the first {size >> 20} MB;"
                " name both with classes=(negative, positive)"
            )
    if not held:
        raise DataError("no examples")
    return found_classes(labels), iter(held)


def resumed(rule: Any, state: State, fit_intercept: bool, normalize: bool, start: Any, classes: Any) -> Learner:
    """Return a learner that goes on from a state, once the arguments are known to agree with it."""
    if not _same(rule, state.rule):
        raise ParameterError(f"the state is of {state.rule!r}, not of {rule!r}")
    if start is not None:
        raise ParameterError("start and state exclude each other: a state has its weights")
    if fit_intercept > state.fit_intercept or normalize > state.normalize:
        option = "fit_intercept" if fit_intercept > state.fit_intercept else "normalize"
        raise ParameterError(f"{option} was False when the state began, and cannot change")
    if classes is not None and not np.array_equal(declared_classes(classes).labels, state.classes):
        raise ParameterError(f"classes is {classes!r}, but the state has {state.classes.tolist()}")
    return Learner.resume(rule, state)


def _same(rule: Any, other: Any) -> bool:
    """Tell whether two rules go by the same name with the same hyper-parameters; their code may have changed."""
    names = [(type(one).__module__, type(one).__qualname__, one._fields) for one in (rule, other)]
    return names[0] == names[1] and all(map(np.array_equal, rule, other))


def _recorder(trace: bool | Potentials, learner: Learner) -> Recorder | None:
    if isinstance(trace, Potentials):
        potentials(learner, trace.comparator)  # a comparator that does not fit is refused before round one
        return Recorder(trace, learner.rounds)
    return Recorder(None, learner.rounds) if trace else None
