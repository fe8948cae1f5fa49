"""The halting loop: learn from misclassified examples until none is left."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from onlinear.checks import check_integers
from onlinear.data.chunk import Chunk
from onlinear.data.labels import distinct, found_classes, named_classes
from onlinear.data.matrices import Rows
from onlinear.display import counted, rounded_up
from onlinear.engine.flat import Floats
from onlinear.engine.passes import STEPS
from onlinear.errors import ParameterError
from onlinear.models.state import State, weights_of
from onlinear.rules.majority import Majority
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.beginning import as_state, open_arrays, resume
from onlinear.runs.columns import name_features
from onlinear.runs.convergence import WORST_UPDATES, Convergence, Outcome, PassCounts, Stop
from onlinear.runs.learner import Learner
from onlinear.runs.margin import margin_upper_bound
from onlinear.runs.online import as_weights
from onlinear.runs.outcome import Run
from onlinear.runs.recorder import AnyRecorder, Traced, check_trace, recorder_for
from onlinear.runs.rounds import Codes, learn_until, settled

Selection: TypeAlias = Literal["cyclic", "random", "worst"]

_LIMITED = {Outcome.UPDATE_LIMIT: "update", Outcome.PASS_LIMIT: "pass"}
"""What each limit counts."""


def converge(
    rule: Rule,
    X: Any,
    y: Any,
    *,
    selection: Selection = "cyclic",
    start: Any = None,
    state: State | Run | None = None,
    max_updates: int | None = None,
    max_passes: int = 1000,
    seed: int = 0,
    fit_intercept: bool = False,
    normalize: bool = False,
    classes: Any = None,
    sample_weight: Any = None,
    stop: Stop | None = None,
    trace: Traced = False,
) -> Convergence:
    """Run a rule over the examples repeatedly, until it has nothing left to learn from them.

    For the perceptron that is when it separates them. Otherwise it gives up at a limit, and
    ``margin_upper_bound`` bounds the margin of every separator.

    Parameters
    ----------
    rule : a rule
        One that does not step on every example; experts do, and never halt.
    X, y : matrix and labels
        An array or anything like it, or a SciPy sparse matrix.
    selection : {"cyclic", "random", "worst"}
        Which misclassified example is taken next: the next one in order; the next one in an order
        drawn anew for each pass; or the one with the smallest y⟨w,x⟩ of all.
    start : array, or pair (array, float)
        The first weights, and with an intercept the first intercept, instead of the rule's own.
    state : State or Run
        Continue from where a run ended, counters included, also with new data. A new pass begins.
    max_updates : int, optional
        Give up after this many updates in this call. Default: no limit; 100,000 for ``"worst"``.
    max_passes : int
        Give up after this many passes; a pass is as many examples read as there are. ``"worst"``
        reads that many for each update, and is limited by updates alone.
    seed : int
        For ``"random"``.
    fit_intercept, normalize, classes, sample_weight
        As in `onlinear.run`. A weight multiplies the step, and an example of weight 0 needs none.
    stop : callable, optional
        Called after each pass with a list of what happened in each pass so far (`PassCounts`: mistakes, updates and
        steps). If it returns True, the loop gives up, as if `max_passes` were the passes so far. Not for ``"worst"``.
    trace : bool, "curve" or Potentials
        As in `onlinear.run`. ``"worst"`` records only the rounds with an example that it has chosen.

    Returns
    -------
    Convergence

    Examples
    --------
    >>> import onlinear
    >>> X, y = onlinear.datasets.separable(margin=0.1, n=1000, d=20, seed=0)
    >>> done = onlinear.converge(onlinear.rules.Perceptron(), X, y)
    >>> done.halted, bool((done.predict(X) == y).all())
    (True, True)
    """
    check_rule(rule)
    check_trace(trace)
    check_integers(1, max_passes=max_passes, max_updates=1 if max_updates is None else max_updates)
    check_integers(0, seed=seed)
    if selection not in ("cyclic", "random", "worst"):
        raise ParameterError(f'selection is {selection!r}; it must be "cyclic", "random" or "worst"')
    if isinstance(rule, Majority):
        raise ParameterError("a Majority learns online, with run or train; converge takes a single rule")
    if selection == "worst" and stop is not None:
        raise ParameterError('stop does not apply to selection="worst", which makes a pass for each update')
    chunk = open_arrays(X, y)
    start, state = renamed_start(start, state)
    learner, beginning = begin_on(rule, chunk, start, state, fit_intercept, normalize, classes)
    name_features(learner, X)
    if learner.rule.inputs == "advice":
        raise ParameterError(f"{type(rule).__name__} learns from every example, so it never halts")
    weights = as_weights(learner.rule, sample_weight, chunk.n)
    recorder = recorder_for(trace, learner)
    loop = Loop(learner, chunk, learner.classes.encode(chunk.y), weights, beginning, recorder)
    if selection == "worst":
        done = loop.worst(max_updates or WORST_UPDATES)
    else:
        done, max_passes = loop.passes(selection, seed, max_updates, max_passes, stop)
    limit = None if max_updates is None else int(max_updates)
    done = replace(done, selection=selection, seed=int(seed), max_updates=limit, max_passes=int(max_passes))
    return replace(done, trace=recorder.trace(learner)) if recorder else done


class Beginning(NamedTuple):
    """Where a call began: what was learned later comes from its own examples."""

    weights: Floats | None
    updates: int
    steps: float

    def margin_upper_bound(self, state: State) -> float:
        """Return a bound on the margin of every separator of the examples that were learned from since then."""
        if not state.rule.additive:
            return math.inf
        # All of the reach, which is more than enough; a difference of two sums may have lost their last bits.
        since = state.steps - self.steps - 4.0 * state.updates * 2.0**-53 * self.steps
        return margin_upper_bound(
            weights_of(state.arrays), self.weights, state.updates - self.updates, since, state.reach
        )


def renamed_start(start: Any, state: State | Run | None) -> tuple[Any, State | Run | None]:
    """Take a run that was given as `start`, as it was called before."""
    if state is None and isinstance(start, Run | State):
        warnings.warn("start=run is deprecated; use state=run to continue from a run", DeprecationWarning, stacklevel=3)
        return None, start
    return start, state


def begin_on(
    rule: Any,
    chunk: Chunk,
    start: Any,
    state: State | Run | None,
    fit_intercept: bool,
    normalize: bool,
    classes: Any,
) -> tuple[Learner, Beginning]:
    """Return a learner with room for the examples, from first weights or from where a run ended."""
    if state is not None:
        learner = resume(rule, as_state(state), fit_intercept, normalize, start, classes)
        learner.make_room(chunk)
        steps = float(learner.sums[STEPS])
        return learner, Beginning(weights_of(learner.arrays).copy(), learner.updates, steps)
    found = named_classes(classes) if classes is not None else found_classes(distinct(chunk.y, []))
    learner = Learner(rule, found, fit_intercept=fit_intercept, normalize=normalize)
    learner.begin(chunk.width, start)
    return learner, Beginning(learner.origin, 0, 0.0)


def ended(
    learner: Learner, n: int, beginning: Beginning, passes: int, outcome: Outcome = Outcome.HALTED, limit: int = 0
) -> Convergence:
    """Return a loop that has halted, or has reached a limit."""
    if outcome is Outcome.HALTED:
        reason = f"nothing left to learn from {n:,} examples"
        return Convergence(learner.rest(), None, True, passes, reason)
    state = learner.rest()
    reason = reason_at_limit(outcome, limit, beginning.margin_upper_bound(state))
    return Convergence(state, None, False, passes, reason, outcome=outcome)


def reason_at_limit(outcome: Outcome, limit: int, margin_bound: float) -> str:
    """Return why a loop has given up, in a sentence."""
    reason = f"gave up after {counted(limit, _LIMITED[outcome])}"
    if margin_bound < math.inf:
        reason += f"; no separator of these examples has a margin above {rounded_up(margin_bound)}"
    return reason


class Loop(NamedTuple):
    """A learner and the examples that it goes over until none is left to learn from."""

    learner: Learner
    chunk: Chunk
    codes: Codes
    weights: Floats
    beginning: Beginning
    recorder: AnyRecorder | None

    def passes(
        self, selection: Selection, seed: int, max_updates: int | None, max_passes: int, stop: Stop | None
    ) -> tuple[Convergence, int]:
        """Go over all examples, in order or in an order drawn for each pass; return the limit of passes, too.

        If the loop was stopped, the limit is the passes so far: with that limit, it would have ended alike.
        """
        learner, counts = self.learner, list[PassCounts]()
        last = None if max_updates is None else learner.updates + max_updates
        # Passes are numbered over everything the learner has read, so a resumed run draws new orders.
        done = learner.rounds // self.chunk.n
        for number in range(max_passes):
            before = self._totals()
            for rows in self._order(selection, seed, done + number):
                self._learn(rows, last)
                if max_updates is not None and learner.updates == last:
                    return self._at_limit(number + 1, Outcome.UPDATE_LIMIT, max_updates), max_passes
            if learner.updates == before.updates:
                return self._ended(number + 1, Outcome.HALTED), max_passes
            if self._out_of_reach():
                return self._given_up(number + 1), max_passes
            if stop is not None:
                counts.append(PassCounts(*map(operator.sub, self._totals(), before)))
                if stop(counts):
                    max_passes = number + 1
                    break
        return self._at_limit(max_passes, Outcome.PASS_LIMIT, max_passes), max_passes

    def worst(self, max_updates: int) -> Convergence:
        """Learn from the most wrong example of all, again and again."""
        learner, passes = self.learner, 0
        last = learner.updates + max_updates
        while learner.updates < last:
            if self._out_of_reach():
                return self._given_up(passes)
            before = learner.updates
            self._learn(np.array([self._most_wrong()]), last)
            passes += 1
            if learner.updates == before:
                # The worst example needs no update; the next one that does is taken.
                for span in self.chunk.spans():
                    if learner.updates == before:
                        self._learn(span, before + 1)
            if learner.updates == before:
                return self._ended(passes, Outcome.HALTED)
        return self._at_limit(passes, Outcome.UPDATE_LIMIT, max_updates)

    def _totals(self) -> PassCounts:
        """Return the counts of all passes so far."""
        mistakes, updates = self.learner.mistakes, self.learner.updates
        return PassCounts(mistakes, updates, float(self.learner.sums[STEPS] if self.learner.rule.additive else updates))

    def _ended(self, passes: int, outcome: Outcome, limit: int = 0) -> Convergence:
        return ended(self.learner, self.chunk.n, self.beginning, passes, outcome, limit)

    def _at_limit(self, passes: int, outcome: Outcome, limit: int) -> Convergence:
        """Return the run at a limit; its last step may have made it halt."""
        done = settled(self.learner, self.chunk, self.codes, self.weights)
        return self._ended(passes, Outcome.HALTED if done else outcome, limit)

    def _given_up(self, passes: int) -> Convergence:
        goal = self.learner.rule.goal_margin()
        reason = f"no separator has the margin {goal:g} that the rule asks for"
        return Convergence(self.learner.rest(), None, False, passes, reason, outcome=Outcome.OUT_OF_REACH)

    def _order(self, selection: Selection, seed: int, number: int) -> Iterator[Rows]:
        """Yield the rows of one pass, in blocks."""
        if selection == "cyclic":
            yield from self.chunk.spans()
            return
        order = np.random.default_rng([seed, number]).permutation(self.chunk.n)
        step = self.chunk.matrix.gathered_rows
        for first in range(0, self.chunk.n, step):
            yield order[first : first + step]

    def _learn(self, rows: Rows, last: int | None) -> None:
        """Learn from these rows, until there have been `last` updates."""
        learn_until(self.learner, self.chunk, self.codes, rows, last, self.weights, self.recorder)

    def _most_wrong(self) -> int:
        """Return the row with the smallest y⟨w,x⟩; among ties, a mistake."""
        learner, chunk = self.learner, self.chunk
        best, worst = (np.inf, True), 0
        for span in chunk.spans():
            y = self.codes[span]
            block = chunk.block(span, learner.bias, learner.normalize)
            scores, codes, end = learner.score(block, y.size, learner.rounds)
            if end < y.size:
                raise learner.refuse(chunk, span.start + end)
            agreement = _ahead(scores, y) if learner.multiclass else y * scores
            least = agreement.min()
            lowest = np.flatnonzero(agreement == least)
            right = agreement[lowest] > 0.0 if learner.multiclass else codes[lowest] == y[lowest]
            candidate = (float(least), bool(right.all()))
            if candidate < best:
                best, worst = candidate, span.start + int(lowest[np.argmin(right)])
        return worst

    def _out_of_reach(self) -> bool:
        """Tell whether it is already certain that the rule can never halt."""
        rule = self.learner.rule
        goal = rule.goal_margin() if hasattr(rule, "goal_margin") else None
        return goal is not None and self.beginning.margin_upper_bound(self.learner.glance()) <= goal


def _ahead(scores: Floats, y: Codes) -> Floats:
    """Return how far the score of the right class is ahead of the best of the others."""
    rows = np.arange(y.size)
    right = scores[rows, y]
    scores[rows, y] = -np.inf
    ahead: Floats = right - scores.max(axis=1)
    return ahead
