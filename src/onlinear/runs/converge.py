"""The halting loop: pick a misclassified example and learn from it, until none is left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.rows import Floats
from onlinear.errors import ParameterError
from onlinear.rules.experts import Pool
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.learner import Learner
from onlinear.runs.margin import margin_upper_bound, rounded_up
from onlinear.runs.online import read_arrays, resumed
from onlinear.runs.outcome import Run
from onlinear.runs.state import State, weights_of
from onlinear.streams.labels import declared_classes, distinct, found_classes
from onlinear.streams.sources import Source, spans

Selection: TypeAlias = Literal["cyclic", "random", "worst"]
Codes: TypeAlias = NDArray[np.int8]

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
    """

    halted: bool = False
    passes: int = 0
    reason: str = ""

    def _facts(self) -> list[tuple[str, str]]:
        return [("halted", f"{'yes' if self.halted else 'no'}: {self.reason}"), *super()._facts()]


def converge(
    rule: Rule,
    X: Any,
    y: Any,
    *,
    selection: Selection = "cyclic",
    start: Any = None,
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
    start : array, pair (array, float), Run or State
        The first weights; or a run to go on from, counters included, also with new data. Going on
        begins a new pass.
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
    check_limits(max_updates=max_updates, max_passes=max_passes)
    if selection not in {"cyclic", "random", "worst"}:
        raise ParameterError(f'selection is {selection!r}; it must be "cyclic", "random" or "worst"')
    if seed < 0:
        raise ParameterError(f"seed is {seed}; it must be at least 0")
    source, labels = read_arrays(X, y)
    learner, begun = ready(rule, source, labels, start, fit_intercept, normalize, classes)
    if isinstance(learner.arrays, Pool):
        raise ParameterError(f"{type(rule).__name__} learns from every example; it never halts")
    loop = Loop(learner, source, learner.classes.encode(labels), begun)
    if selection == "worst":
        return loop.worst(max_updates or _WORST_UPDATES)
    return loop.passes(selection, seed, max_updates, max_passes)


def check_limits(**limits: int | None) -> None:
    """Raise where a limit leaves no room to learn."""
    for name, limit in limits.items():
        if limit is not None and limit < 1:
            raise ParameterError(f"{name} is {limit}; it must be at least 1")


class Begun(NamedTuple):
    """Where a call began: what has been learned since then speaks of its own examples alone."""

    weights: Floats | None
    updates: int
    steps: float
    reach: float

    def margin_upper_bound(self, learner: Learner) -> float:
        """Return a bound on the margin of every separator of the examples that this call has learned from."""
        steps, reach = map(float, learner.sums)
        # A difference of two sums may have lost the last bits of either.
        since = steps - self.steps - 4.0 * learner.updates * 2.0**-53 * self.steps
        return margin_upper_bound(
            weights_of(learner.arrays), self.weights, learner.updates - self.updates, since, reach
        )


def ready(
    rule: Any, source: Source, labels: NDArray[Any], start: Any, fit_intercept: bool, normalize: bool, classes: Any
) -> tuple[Learner, Begun]:
    """Return a learner with room for the source, from first weights or from where a run ended."""
    state = start.state if isinstance(start, Run) else start
    if isinstance(state, State):
        learner = resumed(rule, state, fit_intercept, normalize, None, classes)
        learner.make_room(source)
        return learner, Begun(weights_of(learner.arrays).copy(), learner.updates, *map(float, learner.sums))
    found = declared_classes(classes) if classes is not None else found_classes(distinct(labels, []))
    learner = Learner(rule, found, fit_intercept=fit_intercept, normalize=normalize)
    learner.begin(source.width, start)
    return learner, Begun(learner.origin, 0, 0.0, 0.0)


def ended(learner: Learner, source: Source, begun: Begun, passes: int, gave_up: str = "") -> Convergence:
    """Return the outcome, with the reason in words."""
    reason = gave_up or f"nothing left to learn from {source.n:,} examples"
    if gave_up and learner.rule.additive:
        bound = begun.margin_upper_bound(learner)
        if bound < math.inf:
            reason += f"; no separator of these examples has a margin above {rounded_up(bound)}"
    return Convergence(learner.rest(), None, not gave_up, passes, reason)


class Loop(NamedTuple):
    """A learner and the examples that it goes over until none is left to learn from."""

    learner: Learner
    source: Source
    codes: Codes
    begun: Begun

    def passes(self, selection: Selection, seed: int, max_updates: int | None, max_passes: int) -> Convergence:
        """Go over all examples, in order or in an order drawn for each pass."""
        learner = self.learner
        last = None if max_updates is None else learner.updates + max_updates
        # Passes are numbered over everything the learner has read: going on draws new orders.
        done = learner.rounds // self.source.n
        for number in range(max_passes):
            before = learner.updates
            for rows in self._order(selection, seed, done + number):
                self._learn(rows, last)
                if learner.updates == last and not self._settled():
                    return self._ended(number + 1, f"gave up after {max_updates:,} updates")
            if learner.updates in {before, last}:
                return self._ended(number + 1)
            if self._out_of_reach():
                return self._ended(number + 1, self._out_of_reach())
        return self._ended(max_passes, f"gave up after {max_passes:,} passes")

    def worst(self, max_updates: int) -> Convergence:
        """Learn from the most wrong example of all, again and again."""
        learner, passes = self.learner, 0
        last = learner.updates + max_updates
        while not self._settled():
            if learner.updates == last:
                return self._ended(passes, f"gave up after {max_updates:,} updates")
            if self._out_of_reach():
                return self._ended(passes, self._out_of_reach())
            before = learner.updates
            self._learn(np.array([self._most_wrong()]), last)
            passes += 1
            if learner.updates == before:
                # The most wrong one is right enough for this rule; whichever is not comes next in order.
                self._learn(slice(0, self.source.n), before + 1)
        return self._ended(passes + 1)

    def _ended(self, passes: int, gave_up: str = "") -> Convergence:
        return ended(self.learner, self.source, self.begun, passes, gave_up)

    def _order(self, selection: Selection, seed: int, number: int) -> Iterator[slice | NDArray[np.intp]]:
        """Yield the rows of one pass, in blocks."""
        if selection == "cyclic":
            yield from spans(self.source)
            return
        order = np.random.default_rng([seed, number]).permutation(self.source.n)
        for span in spans(self.source):
            yield order[span]

    def _learn(self, rows: slice | NDArray[np.intp], last: int | None) -> None:
        """Learn from these rows, until there have been `last` updates."""
        learner, y = self.learner, self.codes[rows]
        limit = -1 if last is None else last - learner.updates
        end = learner.learn(self.source.block(rows, learner.bias, learner.normalize), y, limit=limit)
        if end < y.size and learner.updates != last:
            i = rows.start + end if isinstance(rows, slice) else int(rows[end])
            raise learner.refuse(self.source, i, i)

    def _settled(self) -> bool:
        """Tell whether no example is left to learn from, by trying on a copy."""
        trial = self._replace(learner=self.learner.twin())
        before = trial.learner.updates
        for span in spans(self.source):
            trial._learn(span, before + 1)
            if trial.learner.updates > before:
                return False
        return True

    def _most_wrong(self) -> int:
        """Return the row with the smallest y⟨w,x⟩; of equals, one that is a mistake."""
        learner, source = self.learner, self.source
        best, worst = (np.inf, True), 0
        for span in spans(source):
            y = self.codes[span]
            block = source.block(span, learner.bias, learner.normalize)
            scores, signs, end = learner.score(block, y.size, learner.rounds)
            if end < y.size:
                raise learner.refuse(source, span.start + end, span.start + end)
            agreement = y * scores
            least = agreement.min()
            lowest = np.flatnonzero(agreement == least)
            right = signs[lowest] == y[lowest]
            candidate = (float(least), bool(right.all()))
            if candidate < best:
                best, worst = candidate, span.start + int(lowest[np.argmin(right)])
        return worst

    def _out_of_reach(self) -> str:
        """Return why the rule can never halt, where that is already certain."""
        rule = self.learner.rule
        goal = rule.goal_margin() if hasattr(rule, "goal_margin") else None
        if goal is None or self.begun.margin_upper_bound(self.learner) > goal:
            return ""
        return f"no separator has the margin {goal:g} that the rule asks for"
