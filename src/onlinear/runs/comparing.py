"""Several rules over one stream, which is read once for all of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from onlinear.errors import DataError, ParameterError
from onlinear.rules.rule import check_rule
from onlinear.runs.beginning import Options, begin, needs_width
from onlinear.runs.course import Course
from onlinear.runs.online import feed
from onlinear.runs.outcome import Run
from onlinear.runs.training import Clock, Report
from onlinear.streams.stream import Stream


def compare(
    rules: Sequence[Any],
    stream: Stream,
    *,
    passes: int = 1,
    shuffle: int = 0,
    seed: int = 0,
    fit_intercept: bool = False,
    normalize: bool = False,
    n_features: int | None = None,
    progress: Report | None = None,
) -> list[Run]:
    """Run several rules over a stream, which is read once for all of them.

    The result of each rule is the same as if it had run alone.

    Parameters
    ----------
    rules : sequence of rules
        The rules to compare.
    stream : Stream
        From `onlinear.open_stream`.
    passes, shuffle, seed, n_features
        As in `onlinear.train`.
    fit_intercept, normalize : bool
        As in `onlinear.run`, for the rules that take real numbers; the others ignore them.
    progress : callable
        As in `onlinear.train`; it reports on the first rule.

    Returns
    -------
    list of Run

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.disjunction(k=5, N=100, n=2000, seed=0)
    >>> both = [onlinear.rules.Winnow(), onlinear.rules.Perceptron()]
    >>> [run.mistakes for run in onlinear.compare(both, onlinear.open_stream(X, y), fit_intercept=True)]
    [35, 166]
    """
    rules = list(rules)
    if not rules:
        raise ParameterError("no rules to compare")
    for rule in rules:
        check_rule(rule)
    course = Course(stream, passes, shuffle, seed)
    if n_features is None and any(map(needs_width, rules)):
        n_features = course.stream.scanned_width()
    chunks = course.chunks()
    first = next(chunks, None)
    if first is None:
        raise DataError("no examples")
    learners = []
    for rule in rules:
        real = rule.inputs == "real"
        options = Options(fit_intercept and real, normalize and real, None, None, n_features, None)
        learners.append(begin(rule, course.stream, None, options, iter([first]))[0])
    clock = Clock(learners[0], progress)
    for chunk in itertools.chain([first], chunks):
        for rows in clock.spans(chunk.n, course):
            for learner in learners:
                feed(learner, chunk, rows)
    for learner in learners:
        learner.take_names(course.stream.names)
    return [Run(learner.rest()) for learner in learners]
