"""The halting loop: pick a misclassified example and learn from it, until none is left."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.checks import check_integers
from onlinear.data.chunk import Chunk
from onlinear.data.labels import distinct, found_classes, named_classes
from onlinear.data.matrices import Rows
from onlinear.display import counted, rounded_up
from onlinear.engine.flat import Floats
from onlinear.engine.passes import STEPS
from onlinear.engine.rows import NO_WEIGHTS
from onlinear.errors import ParameterError
from onlinear.models.state import State, weights_of
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.beginning import as_state, open_arrays, resume
from onlinear.runs.learner import Learner
from onlinear.runs.margin import margin_upper_bound
from onlinear.runs.outcome import Run

Selection: TypeAlias = Literal["cyclic", "random", "worst"]
Codes: TypeAlias = NDArray[Any]
"""−1 and +1, or the numbers of the classes."""

_WORST_UPDATES = 100_000
"""The limit of updates for ``"worst"``, which reads all examples for each, where none is given."""


@dataclass(frozen=True, eq=False, repr=False)
class Convergence(Run):
    """A run of the halting loop.

    Attributes
    ----------
    halted : bool
        Whether the last pass over all examples found none to learn from.
    passes : int
        How often as many examples were read as there are.
    reason : str
        Why it ended, in a sentence.
    selection, seed, max_updates, max_passes
        As they were given.
    """

    halted: bool = False
    passes: int = 0
    reason: str = ""
    selection: str = "cyclic"
    seed: int = 0
    max_updates: int | None = None
    max_passes: int = 1000

    def _facts(self) -> list[tuple[str, str]]:
        return [("halted", f"{'yes' if self.halted else 'no'}: {self.reason}"), *super()._facts()]


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
) -> Convergence:
    """Run a rule over the examples again and again, until it has nothing left to learn from them.

    For the perceptron that is when it separates them. If no rule can, it gives up at a limit and
    says what is known: ``margin_upper_bound`` bounds the margin of every separator.

    Parameters
    ----------
    rule : a rule
        One that steps on some examples and not on others; experts learn from all and never halt.
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
    fit_intercept, normalize, classes
        As in `onlinear.run`.

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
    check_integers(1, max_passes=max_passes, max_updates=1 if max_updates is None else max_updates)
    check_integers(0, seed=seed)
    if selection not in ("cyclic", "random", "worst"):
        raise ParameterError(f'selection is {selection!r}; it must be "cyclic", "random" or "worst"')
    chunk = open_arrays(X, y)
    start, state = renamed_start(start, state)
    learner, beginning = begin_on(rule, chunk, start, state, fit_intercept, normalize, classes)
    if learner.rule.inputs == "advice":
        raise ParameterError(f"{type(rule).__name__} learns from every example; it never halts")
    loop = Loop(learner, chunk, learner.classes.encode(chunk.y), beginning)
    if selection == "worst":
        done = loop.worst(max_updates or _WORST_UPDATES)
    else:
        done = loop.passes(selection, seed, max_updates, max_passes)
    limit = None if max_updates is None else int(max_updates)
    return replace(done, selection=selection, seed=int(seed), max_updates=limit, max_passes=int(max_passes))


class Beginning(NamedTuple):
    """Where a call began: what has been learned since concerns its own examples alone."""

    weights: Floats | None
    updates: int
    steps: float

    def margin_upper_bound(self, learner: Learner) -> float:
        """Return a bound on the margin of every separator of the examples that this call has learned from."""
        # All of the reach, which is more than enough; a difference of two sums may have lost their last bits.
        steps, reach = map(float, learner.sums)
        since = steps - self.steps - 4.0 * learner.updates * 2.0**-53 * self.steps
        return margin_upper_bound(
            weights_of(learner.arrays), self.weights, learner.updates - self.updates, since, reach
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


def ended(learner: Learner, n: int, beginning: Beginning, passes: int, limit: str = "") -> Convergence:
    """Return the outcome, with the reason in words: it has halted, or has come to a limit."""
    reason = f"gave up after {limit}" if limit else f"nothing left to learn from {n:,} examples"
    if limit and learner.rule.additive:
        bound = beginning.margin_upper_bound(learner)
        if bound < math.inf:
            reason += f"; no separator of these examples has a margin above {rounded_up(bound)}"
    return Convergence(learner.rest(), None, not limit, passes, reason)


class Loop(NamedTuple):
    """A learner and the examples that it goes over until none is left to learn from."""

    learner: Learner
    chunk: Chunk
    codes: Codes
    beginning: Beginning

    def passes(self, selection: Selection, seed: int, max_updates: int | None, max_passes: int) -> Convergence:
        """Go over all examples, in order or in an order drawn for each pass."""
        learner = self.learner
        last = None if max_updates is None else learner.updates + max_updates
        # Passes are numbered over everything the learner has read: going on draws new orders.
        done = learner.rounds // self.chunk.n
        for number in range(max_passes):
            before = learner.updates
            for rows in self._order(selection, seed, done + number):
                self._learn(rows, last)
                if learner.updates == last:
                    return self._at_limit(number + 1, counted(max_updates, "update"))
            if learner.updates == before:
                return self._ended(number + 1)
            if self._out_of_reach():
                return self._given_up(number + 1)
        return self._at_limit(max_passes, counted(max_passes, "pass"))

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
                # The most wrong one is right enough for this rule; whichever is not comes next in order.
                for span in self.chunk.spans():
                    if learner.updates == before:
                        self._learn(span, before + 1)
            if learner.updates == before:
                return self._ended(passes)
        return self._at_limit(passes, counted(max_updates, "update"))

    def _ended(self, passes: int, limit: str = "") -> Convergence:
        return ended(self.learner, self.chunk.n, self.beginning, passes, limit)

    def _at_limit(self, passes: int, limit: str) -> Convergence:
        """Return the outcome at a limit, which may be where nothing was left to learn from, too."""
        return self._ended(passes, "" if settled(self.learner, self.chunk, self.codes) else limit)

    def _given_up(self, passes: int) -> Convergence:
        goal = self.learner.rule.goal_margin()
        reason = f"no separator has the margin {goal:g} that the rule asks for"
        return Convergence(self.learner.rest(), None, False, passes, reason)

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
        learn_until(self.learner, self.chunk, self.codes, rows, last)

    def _most_wrong(self) -> int:
        """Return the row with the smallest y⟨w,x⟩; of equals, one that is a mistake."""
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
        return goal is not None and self.beginning.margin_upper_bound(self.learner) <= goal


def _ahead(scores: Floats, y: Codes) -> Floats:
    """Return how far the score of the right class is ahead of the best of the others."""
    rows = np.arange(y.size)
    right = scores[rows, y]
    scores[rows, y] = -np.inf
    ahead: Floats = right - scores.max(axis=1)
    return ahead


def learn_until(
    learner: Learner,
    chunk: Chunk,
    codes: Codes,
    rows: Rows,
    last: int | None,
    weights: Floats = NO_WEIGHTS,
) -> None:
    """Learn from some rows of a chunk, until there have been `last` updates."""
    y = codes[rows]
    limit = -1 if last is None else last - learner.updates
    block = chunk.block(rows, learner.bias, learner.normalize)
    if weights.size:
        block = block._replace(weights=weights[rows])
    end = learner.learn(block, y, limit=limit)
    if end < y.size and learner.updates != last:
        raise learner.refuse(chunk, rows.start + end if isinstance(rows, slice) else int(rows[end]))


def settled(learner: Learner, chunk: Chunk, codes: Codes, weights: Floats = NO_WEIGHTS) -> bool:
    """Tell whether no example is left to learn from, by trying on a copy."""
    trial = learner.twin()
    for span in chunk.spans():
        learn_until(trial, chunk, codes, span, learner.updates + 1, weights)
        if trial.updates > learner.updates:
            return False
    return True
