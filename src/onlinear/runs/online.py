"""One online pass over arrays or over a stream of blocks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.data.checksum import Checksum
from onlinear.data.chunk import Chunk
from onlinear.data.labels import (
    Classes,
    ManyClasses,
    as_labels,
    declared_classes,
    distinct,
    found_classes,
    named_classes,
    show,
)
from onlinear.data.matrices import Source, open_source, spans, sums_of
from onlinear.engine.flat import Floats
from onlinear.engine.rows import NO_WEIGHTS
from onlinear.errors import DataError, ParameterError
from onlinear.models.state import State
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.learner import Learner
from onlinear.runs.outcome import Run
from onlinear.runs.trace import Potentials, Recorder, potentials
from onlinear.streams.stream import Stream

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
    sample_weight: Any = None,
    trace: bool | Potentials = False,
) -> Run:
    """Run a rule once over examples in their order: predict, be told the answer, learn.

    Parameters
    ----------
    rule : a rule
        Such as ``onlinear.rules.Perceptron()``, or one of your own.
    X, y : matrix and labels
        An array or anything like it, or a SciPy sparse matrix, with a label for each row. Without y,
        X is a stream (`onlinear.open_stream`) or any iterable of blocks ``(X, y)``; the size of the blocks
        changes nothing.
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
    classes : sequence
        The labels (negative, positive). Default: the two labels in the data, in their order. Three or more: each gets
        a weight vector of its own; the rule's score must be ⟨w,x⟩, and X and y are arrays or blocks.
    sample_weight : array
        The weights of the examples in X, at least 0: they multiply the steps. For rules that know of them.
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
    if not isinstance(trace, bool | Potentials):
        raise ParameterError(f"trace is {trace!r}; it must be True, False or Potentials(...)")
    options = Options(fit_intercept, normalize, start, state, n_features, classes)
    learner, pairs = begun(rule, X, y, options)
    if sample_weight is not None and y is None:
        raise ParameterError("sample_weight goes with X and y, not with a stream of blocks")
    recorder = _recorder(trace, learner)
    row = 0
    for source, labels in pairs:
        weights = as_weights(rule, sample_weight, source.n)
        feed(learner, source, labels, slice(0, source.n), row, recorder, weights)
        row += source.n
    if row == 0:
        raise DataError("no examples")
    if isinstance(X, Stream):
        learner.take_names(X.names)
    return Run(learner.rest(), recorder.trace(learner) if recorder else None)


class Options(NamedTuple):
    """What a learner begins with; see `run`."""

    fit_intercept: bool
    normalize: bool
    start: Any
    state: State | Run | None
    n_features: int | None
    classes: Any


def begun(
    rule: Rule, X: Any, y: Any, options: Options, pairs: Iterator[Pair] | None = None
) -> tuple[Learner, Iterator[Pair]]:
    """Return a learner before its first example, and the examples: those of X and y, unless others are given."""
    check_rule(rule)
    fit_intercept, normalize, start, state, n_features, classes = options
    if n_features is not None and not (type(n_features) is int and n_features > 0):
        raise ParameterError(f"n_features is {n_features!r}; it must be a positive integer")
    stream = X if y is None and isinstance(X, Stream) else None
    if state is not None:
        return _gone_on(rule, stream, options), pairs or _pairs(X, y)
    if stream is not None and n_features is None:
        n_features = stream.scanned_width() if needs_width(rule) else stream.n_features
    pairs = pairs or _pairs(X, y)
    found: Classes | ManyClasses
    if classes is not None:
        found = named_classes(classes) if stream is None else declared_classes(classes)
    elif stream is None:
        found, pairs = _look_ahead(pairs, only_one=y is not None)
    first = next(pairs, None)
    if first is None:
        raise DataError("no examples")
    if stream is not None and classes is None and stream.classes is not None:
        found = Classes(stream.classes)
    learner = Learner(rule, found, fit_intercept=fit_intercept, normalize=normalize)
    learner.begin(first[0].width if n_features is None else n_features, start)
    if stream is not None:
        learner.reading, learner.checksum = stream.reading.as_dict(), Checksum()
    return learner, itertools.chain([first], pairs)


def _gone_on(rule: Rule, stream: Stream | None, options: Options) -> Learner:
    """Return a learner that goes on from a state, with the examples of a stream or with others."""
    fit_intercept, normalize, start, given, n_features, classes = options
    state = given.state if isinstance(given, Run) else given
    if not isinstance(state, State):
        raise ParameterError(f"state is {type(state).__name__}, not a Run or its state")
    learner = resumed(rule, state, fit_intercept, normalize, start, classes)
    if n_features not in {None, learner.n_features}:
        raise ParameterError(f"n_features is {n_features}, but the state has {learner.n_features}")
    if stream is None:
        learner.checksum = None
        return learner
    if isinstance(learner.classes, ManyClasses):
        raise ParameterError(
            "the state has a weight vector for each class, and a stream two labels; go on in Python, from X and y or"
            " blocks (X, y)"
        )
    stream.expect(learner.classes)
    stream.check_features(learner.names, learner.reading)
    return learner


def feed(
    learner: Learner,
    source: Source,
    labels: NDArray[Any],
    rows: slice,
    row: int = 0,
    recorder: Recorder | None = None,
    weights: Floats = NO_WEIGHTS,
) -> None:
    """Learn from some rows of a matrix, whose first row is row `row` to the caller."""
    learner.make_room(source)
    for span in spans(source, rows):
        codes: NDArray[Any] = learner.classes.encode(labels[span], row + span.start)
        block = source.block(span, learner.bias, learner.normalize)._replace(weights=weights[span])
        end = recorder.learn(learner, block, codes) if recorder else learner.learn(block, codes)
        if end < codes.size:
            i = span.start + end
            raise learner.refuse(source, i, row + i)
        if learner.checksum is not None:
            learner.checksum.add(sums_of(source, span, block), codes)


def _pairs(X: Any, y: Any) -> Iterator[Pair]:
    return open_blocks(X) if y is None else iter([read_arrays(X, y)])


def needs_width(rule: Any) -> bool:
    """Tell whether a rule has to know the number of features before round one."""
    return rule.for_width(1) is not rule


def read_arrays(X: Any, y: Any) -> Pair:
    """Return a matrix as a source, and its labels."""
    source = open_source(X)
    labels = as_labels(y, source.n)
    if source.n == 0:
        raise DataError("no examples")
    return source, labels


def as_weights(rule: Any, given: Any, n: int) -> Floats:
    """Return the weights of n examples, none where none are given; not every rule knows what to do with them."""
    if given is None:
        return NO_WEIGHTS
    name = type(rule).__name__
    if not rule.weighted:
        raise ParameterError(f"{name} takes no sample_weight: its steps have one size, and what is proven needs that")
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


def open_blocks(X: Any) -> Iterator[Pair]:
    """Return an iterable of blocks as sources with their labels; empty blocks are passed over."""
    if isinstance(X, np.ndarray | tuple) or hasattr(X, "shape") or not isinstance(X, Iterable):
        raise DataError("y is missing; without it X must be an iterable of blocks (X, y)")
    return _opened(X)


def _opened(blocks: Iterable[Any]) -> Iterator[Pair]:
    if isinstance(blocks, Stream):
        yield from map(chunk_pair, blocks.chunks())
        return
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


def chunk_pair(chunk: Chunk) -> Pair:
    """Return some examples of a stream as a source that knows where they stand, and their labels."""
    source = open_source(chunk.matrix)
    source.origin = chunk
    return source, chunk.y


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
                " name both with --classes, classes=(negative, positive)"
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
    if classes is not None and not np.array_equal(named_classes(classes).labels, state.classes):
        raise ParameterError(f"classes is {classes!r}, but the state has {state.classes.tolist()}")
    return Learner.resume(rule, state)


def _same(rule: Any, other: Any) -> bool:
    """Tell whether two rules go by the same name with the same hyper-parameters; their code may have changed."""
    names = [(type(one).__module__, type(one).__qualname__, one._fields) for one in (rule, other)]
    return names[0] == names[1] and all(map(np.array_equal, rule, other))


def _recorder(trace: bool | Potentials, learner: Learner) -> Recorder | None:
    if isinstance(trace, Potentials):
        if learner.multiclass:
            raise ParameterError("the potentials are those of one weight vector: for two classes, not for more")
        potentials(learner, trace.comparator)  # a comparator that does not fit is refused before round one
        return Recorder(trace, learner.rounds)
    return Recorder(None, learner.rounds) if trace else None
