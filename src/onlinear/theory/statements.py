"""Which theorems speak of an outcome, and what they allow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from onlinear.engine.flat import Floats
from onlinear.errors import AssumptionError
from onlinear.rules.experts import RandomizedWeightedMajority, WeightedMajority
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.rule import as_number
from onlinear.rules.winnow import Winnow
from onlinear.runs.batch import BatchRun
from onlinear.runs.outcome import Run
from onlinear.theory.bounds.additive import NO_OTHER_ROUNDS, hinge_of, perceptron_of, warm_start_of
from onlinear.theory.bounds.batch import batch_perceptron_of, batch_schedule_of
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.bounds.experts import (
    EQUAL,
    anytime_of,
    halving_of,
    randomized_weighted_majority_of,
    weighted_majority_of,
)
from onlinear.theory.bounds.generalization import risk
from onlinear.theory.bounds.geometry import FROM_ZERO
from onlinear.theory.bounds.margins import margin_perceptron_of, normalized_margin_perceptron_of
from onlinear.theory.bounds.multiclass import ALL_FROM_ZERO, ClassPairs, multiclass_of
from onlinear.theory.bounds.winnow import FROM_ONE, winnow_of
from onlinear.theory.examples import Examples


class Case(NamedTuple):
    """An outcome, the examples it came from, and the vectors that theorems may be applied with."""

    outcome: Run
    examples: Examples
    """What the proofs speak of: with more than two classes, the pairs of an example's class and another."""
    n: int
    """How many examples were given."""
    pairs: ClassPairs | None
    passes: int | None
    """How often the examples were read in their order; None for a halting loop."""
    start: Floats | None
    separator: Floats | None
    comparator: Floats | None
    delta: float


class Statement(NamedTuple):
    """A theorem's bound and what it bounds: the number that came out."""

    bound: Bound
    actual: float


class Excluded(NamedTuple):
    """A theorem that says nothing here, and why."""

    theorem: str
    reason: str


REPLAYED = frozenset({FROM_ZERO, ALL_FROM_ZERO, FROM_ONE, EQUAL, NO_OTHER_ROUNDS})
"""What a bound, which sees no run, can only declare, and bringing the outcome about again has checked."""

_SHORT = 2.0**-480
"""Squares of rows at least this long are far above what floats can hold."""
_NO_SEPARATOR = "no vector is known that separates the examples"
_STARTED = "it did not start from the rule's own first weights"


def statements(case: Case) -> Iterator[Statement | Excluded]:
    """Yield what each theorem about the rule says of the outcome."""
    outcome = case.outcome
    rule = outcome.rule
    if rule.inputs == "real" and _underflows(case.examples):
        yield Excluded("P1 to P12", "scores of rows this short underflow; scale the inputs")
        return
    if isinstance(outcome, BatchRun):
        yield from _batch(case, outcome)
    elif isinstance(rule, Perceptron):
        yield from _perceptron(case) if case.pairs is None else _multiclass(case, case.pairs)
    elif isinstance(rule, MarginPerceptron):
        yield from _margin_perceptron(case, rule)
    elif isinstance(rule, Winnow):
        whole = case.examples.repeated(case.passes or 1)
        yield _unless(_started(case), "Winnow", lambda: winnow_of(whole, rule), outcome.mistakes)
    elif isinstance(rule, WeightedMajority | RandomizedWeightedMajority):
        yield from _experts(case, rule)
    if case.start is not None:
        yield Excluded("P12 progressive validation", "the first weights may have been learned from these examples")
    elif case.passes == 1:
        yield Statement(
            risk(outcome.mistakes, outcome.rounds, delta=case.delta, examples=case.n),
            outcome.mistakes / outcome.rounds,
        )
    else:
        yield Excluded("P12 progressive validation", "it is made for one pass over the examples")


def _underflows(examples: Examples) -> bool:
    """Tell whether some row's own square loses digits to underflow: then a learner's scores may, too."""
    lengths = (lengths for _, lengths, _ in examples.lengths())
    return any(((some > 0.0) & (some < _SHORT)).any() for some in lengths)


def _perceptron(case: Case) -> Iterator[Statement | Excluded]:
    mistakes, u, v = case.outcome.mistakes, case.separator, case.start
    if v is not None:
        yield _with(u, "P2 perceptron, warm start", lambda u: warm_start_of(case.examples, u, v), mistakes)
        return
    yield _with(u, "P1 perceptron", lambda u: perceptron_of(case.examples, u), mistakes)
    if case.comparator is not None and case.passes is not None:
        whole, comparator = case.examples.repeated(case.passes), case.comparator
        yield Statement(hinge_of(whole, comparator), mistakes)
    else:
        yield Excluded("P5 perceptron, not separable", "it is made for rounds in the order of the examples")


def _multiclass(case: Case, pairs: ClassPairs) -> Iterator[Statement | Excluded]:
    theorem, reason = "P13 multiclass perceptron", _started(case)
    if reason:
        yield Excluded(theorem, reason)
    else:
        yield _with(case.separator, theorem, lambda u: multiclass_of(pairs, u), case.outcome.mistakes)


def _margin_perceptron(case: Case, rule: MarginPerceptron) -> Iterator[Statement | Excluded]:
    theorem = "P9 margin perceptron, normalised" if rule.normalized else "P8 margin perceptron"
    bound = normalized_margin_perceptron_of if rule.normalized else margin_perceptron_of
    reason = _started(case)
    if reason:
        yield Excluded(theorem, reason)
    else:
        yield _with(case.separator, theorem, lambda u: bound(case.examples, u, rule.margin), case.outcome.updates)


def _batch(case: Case, outcome: BatchRun) -> Iterator[Statement | Excluded]:
    constant = outcome.schedule == "constant"
    theorem = "P10 batch perceptron" if constant else "P11 batch perceptron, schedule"
    reason = _started(case)

    def bound(u: Floats) -> Bound:
        if constant:
            return batch_perceptron_of(case.examples, u, case.n)
        return batch_schedule_of(case.examples, u, outcome.schedule, n=case.n)

    if reason:
        yield Excluded(theorem, reason)
    else:
        yield _with(case.separator, theorem, bound, len(outcome.batch_sizes))


def _experts(case: Case, rule: WeightedMajority | RandomizedWeightedMajority) -> Iterator[Statement | Excluded]:
    whole, outcome = case.examples.repeated(case.passes or 1), case.outcome
    if isinstance(rule, WeightedMajority):
        if rule.eta == 1.0:
            yield _unless("", "halving", lambda: halving_of(whole), outcome.mistakes)
        else:
            yield Statement(weighted_majority_of(whole, rule.eta), outcome.mistakes)
        return
    expected = outcome.expected_mistakes or 0.0
    for delta, actual in ((None, expected), (case.delta, outcome.mistakes)):
        if rule.eta == "anytime":
            yield Statement(anytime_of(whole, delta), actual)
        else:
            yield Statement(randomized_weighted_majority_of(whole, as_number(rule.eta), delta), actual)


def _started(case: Case) -> str:
    return "" if case.start is None else _STARTED


def _with(u: Floats | None, theorem: str, bound: Callable[[Floats], Bound], actual: float) -> Statement | Excluded:
    if u is None:
        return Excluded(theorem, _NO_SEPARATOR)
    return _unless("", theorem, lambda: bound(u), actual)


def _unless(reason: str, theorem: str, bound: Callable[[], Bound], actual: float) -> Statement | Excluded:
    """Return the theorem's statement, or why it makes none."""
    if reason:
        return Excluded(theorem, reason)
    try:
        statement = Statement(bound(), actual)
    except AssumptionError as error:
        return Excluded(theorem, str(error))
    return statement if math.isfinite(statement.bound.value) else Excluded(theorem, statement.bound.note)
