"""How a learner begins: with its first weights or from a state, once the first examples have shown their labels."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.checksum import Checksum
from onlinear.data.chunk import Chunk
from onlinear.data.labels import Classes, ManyClasses, first_classes, found_classes, found_codes, named_classes
from onlinear.data.look_ahead import look_ahead
from onlinear.data.numbered import array_chunk, block_chunks
from onlinear.data.sample import HashSample
from onlinear.errors import DataError, ParameterError
from onlinear.models.state import State, rule_for_width
from onlinear.rules.majority import Majority
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.learner import Learner
from onlinear.runs.learners import new_learner, resume_learner
from onlinear.runs.outcome import Run
from onlinear.runs.probe import check_many_classes
from onlinear.spelling import option
from onlinear.streams.open import open_stream
from onlinear.streams.stream import Stream


class Options(NamedTuple):
    """What a learner begins with; see `onlinear.run`."""

    fit_intercept: bool
    normalize: bool
    start: Any
    state: State | Run | None
    n_features: int | None
    classes: Any
    new_classes: bool = False


def begin(
    rule: Rule, X: Any, y: Any, options: Options, chunks: Iterator[Chunk] | None = None
) -> tuple[Learner, Iterator[Chunk]]:
    """Return a learner before its first example, and the examples: those of X and y, unless others are given."""
    check_rule(rule)
    fit_intercept, normalize, start, state, n_features, classes, new_classes = options
    if n_features is not None and not (type(n_features) is int and n_features > 0):
        raise ParameterError(f"n_features is {n_features!r}; it must be a positive integer")
    stream = X if y is None and isinstance(X, Stream) else None
    if stream is not None:
        if classes is not None:
            stream.declare(classes)
        if new_classes:
            stream.accept_any_label()
    if state is not None:
        return _resume_with(rule, stream, options), chunks or open_chunks(X, y)
    if stream is not None and n_features is None:
        n_features = stream.scanned_width() if needs_width(rule) else stream.n_features
    found, first, chunks = _find_classes(chunks or open_chunks(X, y), stream, options, whole=y is not None)
    if isinstance(found, ManyClasses) and classes is None:
        _check_takes(rule, found)
    learner = new_learner(rule, found, fit_intercept=fit_intercept, normalize=normalize)
    if new_classes:
        learner.accept_new_classes()
    learner.begin(first.width if n_features is None else n_features, start)
    if stream is not None:
        learner.reading, learner.checksum, learner.sample = stream.reading.as_dict(), Checksum(), HashSample()
    return learner, itertools.chain([first], chunks)


def _find_classes(
    chunks: Iterator[Chunk], stream: Stream | None, options: Options, *, whole: bool
) -> tuple[Classes | ManyClasses, Chunk, Iterator[Chunk]]:
    """Return the classes, the first chunk and the rest; with `whole` the first chunk is all there is."""
    looks = stream is None and not whole and options.classes is None and not options.new_classes
    labels, chunks = look_ahead(chunks) if looks else ([], chunks)
    first = next(chunks, None)
    if first is None:
        raise DataError("no examples")
    if looks and len(labels) < 2:
        for _ in chunks:  # a later error may be the reason
            pass
    if stream is not None and stream.encoding is not None:
        return stream.encoding, first, chunks
    if options.new_classes:
        known = first_classes(options.classes if stream is None else stream.declared, first.y, first.place)
        return known if stream is None else known.like(first.y), first, chunks
    if options.classes is not None:
        return named_classes(options.classes), first, chunks
    if labels:
        return found_classes(labels), first, chunks
    found, signs = found_codes(first.y)
    return found, replace(first, signs=signs), chunks


def _check_takes(rule: Rule, classes: ManyClasses) -> None:
    """Raise if there are more classes than a rule can learn."""
    try:
        check_many_classes(rule)
    except ParameterError as error:
        remedy = f"declare the two to learn ({option('classes')})"
        raise DataError(f"the labels are {classes}; {error}; {remedy}") from error


def open_chunks(X: Any, y: Any = None) -> Iterator[Chunk]:
    """Return a matrix with its labels, a stream, or an iterable of blocks ``(X, y)`` as chunks."""
    if y is not None:
        return iter([open_arrays(X, y)])
    if isinstance(X, Stream):
        return X.chunks()
    _check_blocks(X)
    return block_chunks(X)


def as_stream(X: Any, y: Any = None, classes: Any = None, stream: Stream | None = None) -> Stream:
    """Return a stream as it is, and what else `onlinear.run` takes as a stream; `stream` is the former name of X."""
    if stream is not None:
        warnings.warn("stream= is deprecated; the argument is called X, as in onlinear.run", DeprecationWarning, 3)
        X = stream
    if y is None and isinstance(X, Stream):
        if classes is not None:
            raise ParameterError("classes= does not apply to a stream; give them to open_stream")
        return X
    if y is None:
        _check_blocks(X)
    return open_stream(X, y, classes=classes)


def _check_blocks(X: Any) -> None:
    if isinstance(X, str | np.ndarray | tuple) or hasattr(X, "shape") or not isinstance(X, Iterable):
        raise DataError("y is missing; without it X must be a stream or an iterable of blocks (X, y)")


def open_arrays(X: Any, y: Any) -> Chunk:
    """Return a matrix and its labels, of which there must be some, as a chunk."""
    chunk = array_chunk(X, y)
    if chunk.n == 0:
        raise DataError("no examples")
    return chunk


def needs_width(rule: Any) -> bool:
    """Tell whether a rule has to know the number of features before round one."""
    return rule_for_width(rule, 1) is not rule


def resume(rule: Any, state: State, fit_intercept: bool, normalize: bool, start: Any, classes: Any) -> Learner:
    """Return a learner that continues from a state, once the arguments are known to agree with it."""
    if not _same(rule, state.rule):
        raise ParameterError(f"the state belongs to {state.rule!r}, not to {rule!r}")
    if start is not None:
        raise ParameterError("start and state exclude each other: a state has its weights")
    if isinstance(rule, Majority):
        rule.check_options(fit_intercept=fit_intercept, normalize=normalize)
    elif fit_intercept > state.fit_intercept or normalize > state.normalize:
        option = "fit_intercept" if fit_intercept > state.fit_intercept else "normalize"
        raise ParameterError(f"{option} was False when the state began, and cannot change")
    if classes is not None and not np.array_equal(named_classes(classes).labels, state.classes):
        raise ParameterError(f"classes is {classes!r}, but the state has {state.classes.tolist()}")
    return resume_learner(rule, state)


def as_state(given: Any) -> State:
    """Return the state of a run, or a state itself."""
    state = given.state if isinstance(given, Run) else given
    if not isinstance(state, State):
        raise ParameterError(f"state is a {type(given).__name__}; it must be a Run or its state")
    return state


def _resume_with(rule: Rule, stream: Stream | None, options: Options) -> Learner:
    """Return a learner that continues from a state, with the examples of a stream or with others."""
    fit_intercept, normalize, start, given, n_features, classes, new_classes = options
    learner = resume(rule, as_state(given), fit_intercept, normalize, start, classes)
    if new_classes:
        learner.accept_new_classes()
    if n_features not in {None, learner.n_features}:
        raise ParameterError(f"n_features is {n_features}, but the state has {learner.n_features}")
    if stream is None:
        learner.checksum = learner.sample = None
        return learner
    stream.expect(learner.classes)
    stream.check_features(learner.names, learner.reading)
    return learner


def _same(rule: Any, other: Any) -> bool:
    """Tell whether two rules have the same name with the same hyper-parameters; their code may have changed."""
    names = [(type(one).__module__, type(one).__qualname__, one._fields) for one in (rule, other)]
    if names[0] != names[1]:
        return False
    if not isinstance(rule, Majority):
        return all(map(np.array_equal, rule, other))
    options = [[(member.fit_intercept, member.normalize) for member in one.members] for one in (rule, other)]
    parts = ([one.vote, *(member.rule for member in one.members)] for one in (rule, other))
    return options[0] == options[1] and all(map(_same, *parts))
