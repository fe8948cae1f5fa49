"""Training over a stream: several passes, shuffling, progress reports, and checkpoints to resume from after a crash."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from onlinear.atomic import check_replaceable
from onlinear.data.chunk import Chunk
from onlinear.data.label_record import NOTICED
from onlinear.errors import DataError, ParameterError
from onlinear.models.checkpoint import Checkpoint, describe_training
from onlinear.models.state import State
from onlinear.rules.majority import Majority
from onlinear.rules.rule import Rule
from onlinear.runs.beginning import Options, as_stream, begin
from onlinear.runs.course import Course
from onlinear.runs.learner import Learner
from onlinear.runs.learners import resume_learner
from onlinear.runs.online import feed
from onlinear.runs.outcome import Run
from onlinear.runs.recorder import Traced, check_trace, recorder_for
from onlinear.spelling import option


class Progress(NamedTuple):
    """The progress of training; mistakes are those of predictions made before the label was seen."""

    rounds: int
    mistakes: int
    recent_rounds: int
    recent_mistakes: int
    """Rounds and mistakes since the last report at a mark."""
    passes: int
    """Passes completed."""
    seconds: float
    mark: bool
    """Whether the number of rounds has doubled since the last such report; otherwise a block has ended."""
    classes: NDArray[Any]
    """The labels; of two, the negative one is first."""
    disorder: str | None = None
    """The place of the example at which the labels were found not to be in random order, in the report after it."""


Report: TypeAlias = Callable[[Progress], None]


def train(
    rule: Rule,
    X: Any = None,
    y: Any = None,
    *,
    passes: int = 1,
    shuffle: int = 0,
    seed: int = 0,
    fit_intercept: bool = False,
    normalize: bool = False,
    start: Any = None,
    state: State | Run | None = None,
    n_features: int | None = None,
    classes: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 30.0,
    output: str | os.PathLike[str] | None = None,
    progress: Report | None = None,
    new_classes: bool = False,
    best_member: bool = False,
    trace: Traced = False,
    stream: Any = None,
) -> Run:
    """Run a rule over examples, once or several times; after a crash, the same call resumes where it was.

    Parameters
    ----------
    rule, fit_intercept, normalize, start, state, n_features, new_classes
        As in `onlinear.run`.
    X, y, classes
        As in `onlinear.run`; a stream has its own classes. An iterator of blocks can be read only once.
    passes : int
        The number of passes over the data.
    shuffle : int
        The size of the window within which examples are shuffled, in an order that depends on `seed`; 0 keeps
        their order. A window is held in memory.
    seed : int
        For `shuffle`.
    checkpoint : path
        A file that keeps the state during training. If it exists, training resumes from it and ends with the same
        result as if it had never stopped. It is removed when training is done.
    every : float
        Seconds between checkpoints, at least.
    output : path
        Save the run to this file; the checkpoint is removed only afterwards.
    progress : callable
        Called with a `Progress` whenever the number of rounds has doubled, and at the end of each block.
    best_member : bool
        Of a `Majority`, save only the member with the fewest mistakes (`Run.best_member`) to `output`.
    trace : bool, "curve" or Potentials
        As in `onlinear.run`. A checkpoint does not keep what was recorded, so there can be only one of the two.
    stream : Stream
        The former name of X.

    Returns
    -------
    Run

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> onlinear.train(onlinear.rules.Perceptron(), X, y, passes=4).mistakes
    14
    """
    check_trace(trace)
    _check_places(rule, output, checkpoint, best_member=best_member, traced=trace is not False)
    course = Course(as_stream(X, y, classes, stream), passes, shuffle, seed, checkpoint=checkpoint is not None)
    options = Options(fit_intercept, normalize, start, state, n_features, None, new_classes)
    kept = Checkpoint(checkpoint, every, {} if checkpoint is None else _asked(rule, options, course))
    resumed = _resume(rule, course, kept, new_classes=new_classes)
    learner, chunks = resumed or begin(rule, course.stream, None, options, course.chunks())
    recorder = recorder_for(trace, learner)
    clock = Clock(learner, progress)
    for chunk in chunks:
        if course.begins:
            kept.begin_pass(course.number, course.contents, course.stream)
        first = kept.pass_over(chunk)
        for rows in clock.spans(chunk, course, first):
            feed(learner, chunk, rows, recorder, first_pass=course.number == 0)
        kept.keep(learner, course.stream, chunk, first)
    if course.read:
        learner.take_names(course.stream.names)
    elif not kept.finished:
        raise DataError("no examples")
    done = Run(learner.rest(), recorder.trace(learner) if recorder else None)
    kept.finish(done.state, course.contents)
    if output is not None:
        (done.best_member() if best_member else done).save(output)
    kept.remove()
    return done


def _check_places(rule: Any, output: Any, checkpoint: Any, *, best_member: bool, traced: bool) -> None:
    """Raise if a file cannot be written, or does not go with the rest."""
    if traced and checkpoint is not None:
        raise ParameterError(f"{option('checkpoint')} does not keep a trace; leave one of them out")
    for path in (output, checkpoint):
        if path is not None:
            check_replaceable(path)
    if best_member and (output is None or not isinstance(rule, Majority)):
        raise ParameterError(f"{option('best_member', True)} is for a majority that is saved to a file")


def _asked(rule: Any, options: Options, course: Course) -> dict[str, Any]:
    """Return the arguments of training, as a checkpoint stores them."""
    state = options.state.state if isinstance(options.state, Run) else options.state
    return describe_training(
        rule,
        state,
        options.start,
        fit_intercept=bool(options.fit_intercept),
        normalize=bool(options.normalize),
        passes=course.passes,
        shuffle=[course.window, course.seed] if course.window else None,
        n_features=options.n_features,
        reading=course.stream.reading.as_dict(),
        **({"new_classes": True} if options.new_classes else {}),
    )


def _resume(
    rule: Any, course: Course, kept: Checkpoint, *, new_classes: bool
) -> tuple[Learner, Iterator[Chunk]] | None:
    """Return the learner of a checkpoint and the examples of its pass, if there is a checkpoint."""
    state = kept.found(rule)
    if state is None or kept.reached is None:
        return None
    learner = resume_learner(rule, state)
    if new_classes:
        learner.accept_new_classes()
        course.stream.accept_any_label()
    course.stream.expect(learner.classes)
    course.contents = kept.contents
    if kept.finished:
        course.read_again()
    return learner, course.chunks(kept.reached.passes)


class Clock:
    """Reports progress."""

    def __init__(self, learner: Learner, report: Report | None) -> None:
        self._learner, self._report = learner, report
        self._start = time.monotonic()
        self._last = (learner.rounds, learner.mistakes)
        self._noticed = self._in_disorder()

    def spans(self, chunk: Chunk, course: Course, first: int = 0) -> Iterator[slice]:
        """Cut the rows of a chunk where the number of rounds doubles; report after each part."""
        while first < chunk.n:
            end = chunk.n
            if self._report is not None:
                rounds = self._learner.rounds
                end = min(chunk.n, first + (1 << rounds.bit_length()) - rounds)
            yield slice(first, end)
            self._tick(course.number, self._new_disorder(chunk, end, course))
            first = end

    def _tick(self, passes: int, disorder: str | None) -> None:
        if self._report is None:
            return
        rounds, mistakes = self._learner.rounds, self._learner.mistakes
        mark = rounds & (rounds - 1) == 0
        recent = (rounds - self._last[0], mistakes - self._last[1])
        seconds = time.monotonic() - self._start
        labels = self._learner.classes.labels
        self._report(Progress(rounds, mistakes, *recent, passes, seconds, mark, labels, disorder))
        if mark:
            self._last = (rounds, mistakes)

    def _in_disorder(self) -> bool:
        return bool(self._learner.labels.tallies[NOTICED])

    def _new_disorder(self, chunk: Chunk, end: int, course: Course) -> str | None:
        """Return where the labels were found not to be in random order, if that was in the rows before `end`."""
        if self._noticed or not self._in_disorder():
            return None
        self._noticed, labels = True, self._learner.labels
        noticed = int(labels.tallies[NOTICED])
        # In shuffled data the place of the example does not tell where in the data it was noticed.
        return f"round {noticed:,}" if course.window else chunk.place(end - 1 - labels.rounds + noticed)
