"""Which theorems apply to a run, and what they allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from onlinear.errors import AssumptionError, ParameterError, RuleError
from onlinear.rules.averaged import AveragedPerceptron
from onlinear.rules.batch import BatchPerceptron
from onlinear.rules.experts import FixedShare, RandomizedWeightedMajority, WeightedMajority
from onlinear.rules.majority import Majority
from onlinear.rules.passive_aggressive import PassiveAggressive
from onlinear.rules.perceptron import MarginPerceptron, Perceptron
from onlinear.rules.rule import as_number
from onlinear.rules.winnow import Winnow
from onlinear.runs.batch import BatchRun
from onlinear.runs.outcome import Run
from onlinear.theory.bounds.additive import NO_OTHER_ROUNDS, hinge, perceptron, warm_start
from onlinear.theory.bounds.batch import batch_constant, batch_schedule
from onlinear.theory.bounds.bound import Bound
from onlinear.theory.bounds.experts import (
    EQUAL,
    AdviceCounts,
    anytime,
    anytime_bound,
    fixed_share,
    fixed_share_bound,
    halving,
    majority_bound,
    randomized_weighted_majority,
    weighted_majority,
)
from onlinear.theory.bounds.generalization import risk
from onlinear.theory.bounds.geometry import FROM_ZERO
from onlinear.theory.bounds.margins import margin_perceptron, normalized_margin_perceptron
from onlinear.theory.bounds.multiclass import ALL_FROM_ZERO, multiclass
from onlinear.theory.bounds.wider import passive_aggressive
from onlinear.theory.bounds.winnow import FROM_ONE, winnow
from onlinear.theory.check.order import order_of
from onlinear.theory.examples import Examples
from onlinear.theory.pairs import ClassPairs


class Case(NamedTuple):
    """A run, its examples, and the vectors that theorems may be applied with: weights, or pairs with an intercept."""

    outcome: Run
    examples: Examples
    """The examples that the proofs are about: with several classes, the pairs of an example's class and another."""
    n: int
    """How many examples were given."""
    pairs: ClassPairs | None
    passes: int | None
    """How often the examples were read in their order; None for a halting loop."""
    start: Any
    separator: Any
    comparator: Any
    delta: float


class Statement(NamedTuple):
    """A theorem's bound, and the number in the run that it bounds."""

    bound: Bound
    actual: float


class Excluded(NamedTuple):
    """A theorem that does not apply, and why."""

    theorem: str
    reason: str


REPLAYED = frozenset({FROM_ZERO, ALL_FROM_ZERO, FROM_ONE, EQUAL, NO_OTHER_ROUNDS})
"""What a bound, which sees no run, can only declare; repeating the run has checked it."""

PROGRESSIVE = "Progressive validation (P12)"

EQUAL_STEPS = (Perceptron, MarginPerceptron, AveragedPerceptron, BatchPerceptron)
"""Rules whose steps add up rows: the size of each is the weight of the example."""

_SHORT = 2.0**-480
"""Squares of rows at least this long are far above the smallest floats."""
NO_SEPARATOR = "no vector is known that separates the examples"
_DISORDER = "their labels are not in random order"
_TOO_LARGE = "a number in it is too large for a float"
_STARTED = "it did not start from the rule's own first weights"
_UNDERFLOW = "scores of rows this short underflow; scale the inputs"
_ORDER = "it applies to rounds in the order of the examples"


def uses_comparator(rule: Any) -> bool:
    """Tell whether a theorem about the rule holds for every vector, separator or not."""
    if isinstance(rule, PassiveAggressive):
        return rule.variant != "PA"
    return isinstance(rule, Perceptron) or (isinstance(rule, AveragedPerceptron) and rule.margin == 0.0)


def statements(case: Case) -> Iterator[Statement | Excluded]:
    """Yield what each theorem about the rule says about the run."""
    outcome = case.outcome
    rule = outcome.rule
    if isinstance(rule, Majority):
        yield from _majority(case, rule)
        yield _progressive_validation(case)
        return
    if isinstance(rule, EQUAL_STEPS) and _underflows(case.examples):
        yield Excluded("Perceptron theorems (P1 to P12)", _UNDERFLOW)
        return
    if isinstance(outcome, BatchRun):
        yield from _batch(case, outcome)
    elif isinstance(rule, Perceptron):
        yield from _perceptron(case)
    elif isinstance(rule, AveragedPerceptron):
        yield from _averaged(case, rule)
    elif isinstance(rule, PassiveAggressive):
        yield _passive_aggressive(case, rule)
    elif isinstance(rule, MarginPerceptron):
        yield from _margin_perceptron(case, rule)
    elif isinstance(rule, Winnow):
        whole = case.examples.repeated(case.passes or 1)
        yield _unless(_started(case), "Winnow mistake bound", lambda: winnow(whole, rule=rule), outcome.mistakes)
    elif isinstance(rule, WeightedMajority | RandomizedWeightedMajority | FixedShare):
        yield from _experts(case, rule)
    yield _progressive_validation(case)


def not_progressive(start: Any, passes: int | None) -> str:
    """Return why progressive validation does not apply, where the first weights and the passes tell."""
    if start is not None:
        return "the first weights may have been learned from these examples"
    return "" if passes == 1 else "it applies to one pass over the examples"


def _progressive_validation(case: Case) -> Statement | Excluded:
    reason = not_progressive(case.start, case.passes)
    if reason:
        return Excluded(PROGRESSIVE, reason)
    outcome, data = case.outcome, case.examples if case.pairs is None else case.pairs
    order = order_of((rows.y for rows in data.blocks()), outcome.classes.size)
    if order is not None and order.noticed is not None:
        where = f"noticed at round {order.noticed:,}"
        return Excluded(PROGRESSIVE, f"the examples are not i.i.d.: {_DISORDER} ({where})")
    bound = risk(outcome.mistakes, outcome.rounds, delta=case.delta, examples=case.n)
    return Statement(bound, outcome.mistakes / outcome.rounds)


def _underflows(examples: Examples) -> bool:
    """Tell whether some row's own square loses digits to underflow: then a learner's scores may, too."""
    lengths = (lengths for _, lengths, _ in examples.lengths())
    return any(((some > 0.0) & (some < _SHORT)).any() for some in lengths)


def _perceptron(case: Case) -> Iterator[Statement | Excluded]:
    if case.pairs is not None:
        yield _multiclass(case, case.pairs)
        return
    mistakes, u, v = case.outcome.mistakes, case.separator, case.start
    if v is not None:
        yield _with(u, "Perceptron warm-start bound (P2)", lambda u: warm_start(case.examples, u=u, start=v), mistakes)
        return
    yield _with(u, "Perceptron mistake bound (P1)", lambda u: perceptron(case.examples, u=u), mistakes)
    theorem = "Perceptron hinge bound (P5)"
    if case.comparator is not None and case.passes is not None:
        whole = case.examples.repeated(case.passes)
        yield _comparing(theorem, lambda: hinge(whole, u=case.comparator), mistakes)
    else:
        yield Excluded(theorem, _ORDER)


def _multiclass(case: Case, pairs: ClassPairs) -> Statement | Excluded:
    theorem, reason = "Multiclass perceptron mistake bound (P13)", _started(case)
    if reason:
        return Excluded(theorem, reason)
    return _with(case.separator, theorem, lambda u: multiclass(pairs, U=pairs.split(u)), case.outcome.mistakes)


def _as_updates(outcome: Run, said: Iterable[Statement | Excluded]) -> Iterator[Statement | Excluded]:
    """Yield what is said about the perceptron's mistakes of a rule that learns like it but predicts otherwise."""
    for one in said:
        yield Statement(replace(one.bound, of="updates"), outcome.updates) if isinstance(one, Statement) else one


def _passive_aggressive(case: Case, rule: PassiveAggressive) -> Statement | Excluded:
    theorem, mistakes = f"Passive-aggressive mistake bound ({rule.variant})", case.outcome.mistakes
    reason = _started(case) or (_UNDERFLOW if _underflows(case.examples) else "")
    if reason:
        return Excluded(theorem, reason)
    if rule.variant == "PA":
        return _with(
            case.separator, theorem, lambda u: _of_pairs(case, passive_aggressive(case.examples, u=u)), mistakes
        )
    if case.pairs is not None:
        return Excluded(theorem, "it is about two classes")
    if case.comparator is None or case.passes is None:
        return Excluded(theorem, _ORDER)
    whole, u, C = case.examples.repeated(case.passes), case.comparator, float(rule.C)
    return _comparing(theorem, lambda: passive_aggressive(whole, u=u, C=C, variant=rule.variant), mistakes)


def _of_pairs(case: Case, bound: Bound) -> Bound:
    """Return a bound in whose words the pairs of an example's class and another are no examples."""
    if case.pairs is None:
        return bound
    pairs = "pairs of an example's class and another"
    return replace(bound, checked=tuple(words.replace("examples", pairs) for words in bound.checked))


def _averaged(case: Case, rule: AveragedPerceptron) -> Iterator[Statement | Excluded]:
    """Yield the bounds on the updates, which are those of the perceptron or of the margin perceptron."""
    if rule.margin == 0.0:
        yield from _as_updates(case.outcome, _perceptron(case))
    else:
        yield from _margin_perceptron(case, MarginPerceptron(rule.margin, normalized=False))


def _margin_perceptron(case: Case, rule: MarginPerceptron) -> Iterator[Statement | Excluded]:
    theorem, bound = "Margin perceptron update bound (P8)", margin_perceptron
    if rule.normalized:
        theorem, bound = "Normalised margin perceptron update bound (P9)", normalized_margin_perceptron
    reason = _started(case)
    if reason:
        yield Excluded(theorem, reason)
    else:
        updates = case.outcome.updates
        yield _with(case.separator, theorem, lambda u: bound(case.examples, u=u, margin=rule.margin), updates)


def _batch(case: Case, outcome: BatchRun) -> Iterator[Statement | Excluded]:
    constant = outcome.schedule == "constant"
    theorem = "Batch perceptron step bound (P10)" if constant else "Batch perceptron step bound with a schedule (P11)"
    reason = _started(case)

    def bound(u: Any) -> Bound:
        if constant:
            return batch_constant(case.examples, u=u, n=case.n)
        return batch_schedule(case.examples, u=u, schedule=outcome.schedule, n=case.n)

    if reason:
        yield Excluded(theorem, reason)
    else:
        yield _with(case.separator, theorem, bound, len(outcome.batch_sizes))


def _majority(case: Case, rule: Majority) -> Iterator[Statement | Excluded]:
    """Yield what is known about the vote of a majority, and about following a member at random."""
    advice = _repeated_advice(case.outcome)
    yield _vote(case.outcome, rule.vote, advice)
    yield Statement(anytime_bound(advice, (_REPEATED,)), case.outcome.expected_mistakes or 0.0)


def _vote(outcome: Run, rule: Any, advice: AdviceCounts) -> Statement | Excluded:
    """Return what is known about a deterministic vote, from the mistakes of the experts in the repeated run."""
    if not isinstance(rule, WeightedMajority | FixedShare):
        return Excluded("Weighted majority mistake bound", f"none is known for the vote of {type(rule).__name__}")
    eta = float(rule.eta)
    if eta == 1.0:
        return Excluded("Weighted majority mistake bound", "eta is 1: an expert that has erred has no weight left")
    if isinstance(rule, FixedShare):
        return Statement(fixed_share_bound(advice, eta, float(rule.share), (_REPEATED,)), outcome.mistakes)
    return Statement(majority_bound(advice, eta, (_REPEATED,)), outcome.mistakes)


_REPEATED = "every member's advice was repeated"


def _repeated_advice(outcome: Run) -> AdviceCounts:
    """Return the counts of a run that has been repeated: the number of experts, and the mistakes of the best."""
    made = outcome.expert_mistakes
    assert made is not None  # noqa: S101  # the run has experts
    # An expert rule of the library takes a step in every round in which an expert errs.
    return AdviceCounts(made.size, outcome.rounds, int(made.argmin()), int(made.min()), outcome.updates)


def _experts(
    case: Case, rule: WeightedMajority | RandomizedWeightedMajority | FixedShare
) -> Iterator[Statement | Excluded]:
    outcome = case.outcome
    if outcome.state.multiclass:
        yield from _plurality(outcome, rule)
        return
    whole = case.examples.repeated(case.passes or 1)
    if isinstance(rule, FixedShare):
        theorem, eta, share = "Fixed share mistake bound", float(rule.eta), float(rule.share)
        reason = "eta is 1: an expert that has erred has no weight left" if eta == 1.0 else ""
        yield _unless(reason, theorem, lambda: fixed_share(whole, eta=eta, share=share), outcome.mistakes)
        return
    if isinstance(rule, WeightedMajority):
        if rule.eta == 1.0:
            yield _unless("", "Halving mistake bound", lambda: halving(whole), outcome.mistakes)
        else:
            yield Statement(weighted_majority(whole, eta=float(rule.eta)), outcome.mistakes)
        return
    expected = outcome.expected_mistakes or 0.0
    for delta, actual in ((None, expected), (case.delta, outcome.mistakes)):
        if rule.eta == "anytime":
            yield Statement(anytime(whole, delta=delta), actual)
        else:
            yield Statement(randomized_weighted_majority(whole, eta=as_number(rule.eta), delta=delta), actual)


def _plurality(outcome: Run, rule: Any) -> Iterator[Statement | Excluded]:
    """Yield the bounds for advice on several classes, from the mistakes of the experts in the repeated run."""
    advice = _repeated_advice(outcome)
    if not isinstance(rule, RandomizedWeightedMajority):
        yield _vote(outcome, rule, advice)
    elif rule.eta == "anytime":
        yield Statement(anytime_bound(advice, (_REPEATED,)), outcome.expected_mistakes or 0.0)


def _started(case: Case) -> str:
    return "" if case.start is None else _STARTED


def _with(u: Any, theorem: str, bound: Callable[[Any], Bound], actual: float) -> Statement | Excluded:
    if u is None:
        return Excluded(theorem, NO_SEPARATOR)
    return _unless("", theorem, lambda: bound(u), actual)


def _comparing(theorem: str, bound: Callable[[], Bound], actual: float) -> Statement | Excluded:
    try:
        return _unless("", theorem, bound, actual)
    except RuleError as error:  # the comparator's scores overflow
        raise ParameterError(f"comparator: {error}") from error


def _unless(reason: str, theorem: str, bound: Callable[[], Bound], actual: float) -> Statement | Excluded:
    """Return the theorem's statement, or why it does not apply."""
    if reason:
        return Excluded(theorem, reason)
    try:
        statement = Statement(bound(), actual)
    except AssumptionError as error:
        return Excluded(theorem, str(error))
    numbers = (statement.bound.value, *statement.bound.quantities.values())
    return statement if all(map(math.isfinite, numbers)) else Excluded(theorem, statement.bound.note or _TOO_LARGE)
