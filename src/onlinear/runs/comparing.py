"""Several rules over one stream, which is read once for all of them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

from onlinear.data.checksum import Checksum
from onlinear.data.chunk import Chunk
from onlinear.data.label_record import add_labels, new_record
from onlinear.engine.rows import open_rows, row
from onlinear.errors import DataError, ParameterError
from onlinear.rules.majority import Majority
from onlinear.rules.registry import ONLINE
from onlinear.rules.rule import INPUTS, check_rule
from onlinear.runs.beginning import Options, as_stream, begin, needs_width
from onlinear.runs.comparison import Comparison
from onlinear.runs.course import Course
from onlinear.runs.learner import Learner
from onlinear.runs.online import feed
from onlinear.runs.outcome import Run
from onlinear.runs.recorder import AnyRecorder, Traced, check_trace, recorder_for
from onlinear.runs.training import Clock, Report
from onlinear.spelling import option
from onlinear.streams.stream import Stream

ALL = "all"
"""Stands for every built-in rule that fits the data."""


def compare(
    rules: Sequence[Any] | str,
    X: Any = None,
    y: Any = None,
    *,
    passes: int = 1,
    shuffle: int = 0,
    seed: int = 0,
    fit_intercept: bool = False,
    normalize: bool = False,
    n_features: int | None = None,
    classes: Any = None,
    progress: Report | None = None,
    new_classes: bool = False,
    trace: Traced = False,
    stream: Any = None,
) -> Comparison:
    """Run several rules over examples, which are read once for all of them.

    The result of each rule is the same as if it had run alone.

    Parameters
    ----------
    rules : sequence of rules, or "all"
        The rules to compare. ``"all"``, alone or in a list, stands for every built-in rule that fits the data, with its
        default parameters, and for the `Majority`; `Comparison.left_out` says which do not fit.
    X, y, passes, shuffle, seed, n_features, classes, new_classes
        As in `onlinear.train`. The built-in rules that draw take the seed, too.
    fit_intercept, normalize : bool
        As in `onlinear.run`, for the rules that take real numbers. The others ignore them, and so does a `Majority`,
        whose members have their own options.
    progress : callable
        As in `onlinear.train`; it reports on the first rule.
    trace : bool, "curve" or Potentials
        As in `onlinear.run`, for each rule.
    stream : Stream
        The former name of X.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.disjunction(k=5, N=100, n=2000, seed=0)
    >>> both = [onlinear.rules.Winnow(), onlinear.rules.Perceptron()]
    >>> [run.mistakes for run in onlinear.compare(both, X, y, fit_intercept=True)]
    [35, 166]
    """
    check_trace(trace)
    field = _Field([rules] if isinstance(rules, str) else rules, seed)
    course = Course(as_stream(X, y, classes, stream), passes, shuffle, seed)
    if new_classes:
        course.stream.accept_any_label()
    field.look_at(course.stream, n_features)
    if n_features is None and any(needs_width(entrant.rule) for entrant in field.entrants):
        n_features = course.stream.scanned_width()
    chunks = course.chunks()
    first = next(chunks, None)
    if first is None:
        raise DataError("no examples")
    field.begin(course.stream, first, Options(fit_intercept, normalize, None, None, n_features, None, new_classes))
    field.record(trace)
    clock = Clock(field.leader(), progress)
    for chunk in itertools.chain([first], chunks):
        for rows in clock.spans(chunk, course):
            field.learn(chunk, rows, first_pass=course.number == 0)
    for entrant in field.entrants:
        entrant.learner.take_names(course.stream.names)
    runs = [entrant.run() for entrant in field.entrants]
    return Comparison(runs, [entrant.seconds for entrant in field.entrants], field.left_out)


class _Entrant:
    """A rule that takes part in a comparison; one that need not fit the data may be left out."""

    learner: Learner
    recorder: AnyRecorder | None = None

    def __init__(self, rule: Any, *, must_fit: bool) -> None:
        check_rule(rule)
        self.rule = rule
        self.must_fit = must_fit
        self.seconds = 0.0

    def begin(self, stream: Stream, first: Chunk, options: Options) -> None:
        """Make the learner, and compile all that it needs: that is not counted among its seconds."""
        real = self.rule.inputs == "real" and not isinstance(self.rule, Majority)
        options = options._replace(fit_intercept=options.fit_intercept and real, normalize=options.normalize and real)
        self.learner = begin(self.rule, stream, None, options, iter([first]))[0]
        nothing = slice(0, 0)
        codes = first.codes(self.learner.classes, nothing)
        self.learner.learn(first.block(nothing, self.learner.bias, self.learner.normalize), codes)
        Checksum().add(first.row_sums(nothing), codes)
        add_labels(new_record(self.learner.classes.labels.size), first.codes(self.learner.classes, slice(0, 1)))

    def learn(self, chunk: Chunk, rows: slice, *, first_pass: bool) -> None:
        """Learn from some rows of a chunk, and take the time."""
        start = time.perf_counter()
        feed(self.learner, chunk, rows, self.recorder, first_pass=first_pass)
        self.seconds += time.perf_counter() - start

    def run(self) -> Run:
        """Return the result."""
        return Run(self.learner.rest(), self.recorder.trace(self.learner) if self.recorder else None)


class _Field:
    """The rules of a comparison, and those that were left out."""

    def __init__(self, rules: Sequence[Any], seed: int) -> None:
        self.left_out: dict[str, str] = {}
        named = [rule for rule in rules if rule != ALL]
        self.entrants = [_Entrant(rule, must_fit=True) for rule in named]
        if len(named) < len(rules):
            self._enter_all({type(rule) for rule in named}, seed)
        if not self.entrants:
            raise ParameterError("no rules to compare")

    def _enter_all(self, taken: set[type], seed: int) -> None:
        if Majority not in taken:
            self.entrants.append(_Entrant(Majority(), must_fit=True))
        for name, cls in ONLINE.items():
            if cls in taken:
                continue
            needed = [field for field in cls._fields if field not in cls._field_defaults]
            if needed:
                self.left_out[name] = f"{needed[0]} has no default; name it: {name}({needed[0]}=…)"
                continue
            rule = cls(seed=seed) if "seed" in cls._fields else cls()
            self.entrants.append(_Entrant(rule, must_fit=rule.inputs == "real"))

    def look_at(self, stream: Stream, n_features: int | None) -> None:
        """Leave out what does not fit the first example, or needs a number of features that is not known in advance.

        Otherwise the data would be read to find their width, and rules compiled, for nothing.
        """
        if all(entrant.must_fit for entrant in self.entrants):
            return
        known = n_features is not None or stream.n_features is not None
        first = None if stream.once else next(stream.independent().chunks(), None)
        for entrant in self._optional():
            if first is None and not known and needs_width(entrant.rule):
                self._leave_out(entrant, f"it needs the number of features in advance ({option('n_features')})")
            elif first is not None and not entrant.rule.accepts(row(open_rows(first.block(slice(0, 1))), 0, 0)):
                self._leave_out(entrant, f"{first.place(0)}: {INPUTS[entrant.rule.inputs].demand}")

    def begin(self, stream: Stream, first: Chunk, options: Options) -> None:
        """Make the learners."""
        for entrant in list(self.entrants):
            try:
                entrant.begin(stream, first, options)
            except (DataError, ParameterError) as error:
                if entrant.must_fit:
                    raise
                self._leave_out(entrant, str(error))

    def record(self, trace: Traced) -> None:
        """Record what was asked for of each rule."""
        for entrant in self.entrants:
            entrant.recorder = recorder_for(trace, entrant.learner)

    def leader(self) -> Learner:
        """Return the first learner that will not be left out."""
        return next(entrant.learner for entrant in self.entrants if entrant.must_fit)

    def learn(self, chunk: Chunk, rows: slice, *, first_pass: bool) -> None:
        """Learn from some rows of a chunk."""
        for entrant in list(self.entrants):
            try:
                entrant.learn(chunk, rows, first_pass=first_pass)
            except DataError as error:
                if entrant.must_fit:
                    raise
                self._leave_out(entrant, str(error))

    def _optional(self) -> list[_Entrant]:
        return [entrant for entrant in self.entrants if not entrant.must_fit]

    def _leave_out(self, entrant: _Entrant, reason: str) -> None:
        self.entrants.remove(entrant)
        self.left_out[type(entrant.rule).__name__] = reason
