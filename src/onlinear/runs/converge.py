"""The halting loop: pick a misclassified example and learn from it, until none is left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import ParameterError
from onlinear.rules.rule import Rule, check_rule
from onlinear.runs.learner import Learner
from onlinear.runs.margin import margin_upper_bound, rounded_up
from onlinear.runs.online import read_arrays, resumed
from onlinear.runs.run import Run
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
        The first weights; or a run to go on from, counters included, also with new data.
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
    if getattr(rule, "inputs", "") == "advice":
        raise ParameterError(f"{type(rule).__name__} learns from every example; it never halts")
    source, labels = read_arrays(X, y)
    learner = ready(rule, source, labels, start, fit_intercept, normalize, classes)
    codes = learner.classes.encode(labels)
    if selection == "worst":
        return _worst(learner, source, codes, max_updates or _WORST_UPDATES)
    if selection not in {"cyclic", "random"}:
        raise ParameterError(f'selection is {selection!r}; it must be "cyclic", "random" or "worst"')
    last = None if max_updates is None else learner.updates + max_updates
    for number in range(max_passes):
        before = learner.updates
        for rows in _order(source, selection, seed, number):
            _step(learner, source, codes, rows, last)
            if learner.updates == last:
                return ended(learner, source, number + 1, f"gave up after {max_updates:,} updates")
        if learner.updates == before:
            return ended(learner, source, number + 1)
        out_of_reach = _out_of_reach(learner)
        if out_of_reach:
            return ended(learner, source, number + 1, out_of_reach)
    return ended(learner, source, max_passes, f"gave up after {max_passes:,} passes")


def check_limits(**limits: int | None) -> None:
    """Raise where a limit leaves no room to learn."""
    for name, limit in limits.items():
        if limit is not None and limit < 1:
            raise ParameterError(f"{name} is {limit}; it must be at least 1")


def ready(
    rule: Any, source: Source, labels: NDArray[Any], start: Any, fit_intercept: bool, normalize: bool, classes: Any
) -> Learner:
    """Return a learner with room for the source, from first weights or from where a run ended."""
    state = start.state if isinstance(start, Run) else start
    if isinstance(state, State):
        learner = resumed(rule, state, fit_intercept, normalize, None, classes)
        learner.make_room(source)
        return learner
    found = declared_classes(classes) if classes is not None else found_classes(distinct(labels, []))
    learner = Learner(rule, found, fit_intercept=fit_intercept, normalize=normalize)
    learner.begin(source.width, start)
    return learner


def ended(learner: Learner, source: Source, passes: int, gave_up: str = "") -> Convergence:
    """Return the outcome, with the reason in words."""
    outcome = Run(learner.rest())
    bound = outcome.margin_upper_bound
    reason = gave_up or f"nothing left to learn from {source.n:,} examples"
    if gave_up and bound is not None and bound < math.inf:
        reason += f"; no separator has a margin above {rounded_up(bound)}"
    return Convergence(outcome.state, None, not gave_up, passes, reason)


def _order(source: Source, selection: Selection, seed: int, number: int) -> Iterator[slice | NDArray[np.intp]]:
    """Yield the rows of one pass, in blocks."""
    if selection == "cyclic":
        yield from spans(source)
        return
    order = np.random.default_rng([seed, number]).permutation(source.n)
    for span in spans(source):
        yield order[span]


def _step(learner: Learner, source: Source, codes: Codes, rows: slice | NDArray[np.intp], last: int | None) -> None:
    """Learn from these rows, until there have been `last` updates."""
    y = codes[rows]
    limit = -1 if last is None else last - learner.updates
    end = learner.learn(source.block(rows, learner.bias, learner.normalize), y, limit=limit)
    if end < y.size and learner.updates != last:
        i = rows.start + end if isinstance(rows, slice) else int(rows[end])
        raise learner.refuse(source, i, i)


def _worst(learner: Learner, source: Source, codes: Codes, max_updates: int) -> Convergence:
    passes, last = 0, learner.updates + max_updates
    while learner.updates < last:
        worst = _most_wrong(learner, source, codes)
        passes += 1
        before = learner.updates
        _step(learner, source, codes, np.array([worst]), last)
        if learner.updates == before:
            return ended(learner, source, passes)
    return ended(learner, source, passes, f"gave up after {max_updates:,} updates")


def _most_wrong(learner: Learner, source: Source, codes: Codes) -> int:
    """Return the row with the smallest y⟨w,x⟩; of equals, one that is a mistake."""
    best, worst = (np.inf, True), 0
    for span in spans(source):
        y = codes[span]
        scores, signs, end = learner.score(source.block(span, learner.bias, learner.normalize), y.size, 0)
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


def _out_of_reach(learner: Learner) -> str:
    """Return why the rule can never halt, where that is already certain."""
    if not getattr(learner.rule, "normalized", False):
        return ""
    goal, (steps, reach) = learner.rule.margin, learner.sums
    w = weights_of(learner.arrays)
    if margin_upper_bound(w, learner.origin, learner.updates, float(steps), float(reach)) > goal:
        return ""
    return f"no separator has the margin {goal:g} that the rule asks for"
