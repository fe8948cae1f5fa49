"""What trivial predictions would have got wrong in the rounds of a run, and what to do where a rule is no better."""

from __future__ import annotations

from typing import NamedTuple

from onlinear.data.label_record import LAST_LABEL, MAJORITY, MISTAKES, LabelRecord
from onlinear.display import wrapped
from onlinear.models.state import State
from onlinear.spelling import option


class Baselines(NamedTuple):
    """The mistakes of a rule beside those of predictions that look at no feature, in the same rounds.

    Like the rule, they know only the labels of earlier rounds. Before the first label, both answer the first class.
    """

    rounds: int
    """The rounds of the first pass."""
    mistakes: int
    """The rule's mistakes in these rounds."""
    majority: int
    """Those of answering the label that was the most frequent one so far; of several, the first class."""
    last_label: int
    """Those of repeating the last label."""

    @property
    def majority_is_better(self) -> bool:
        """Whether the most frequent label so far makes fewer mistakes than the rule."""
        return self.majority < self.mistakes

    @property
    def last_label_is_best(self) -> bool:
        """Whether the last label makes fewer mistakes than the rule, and than the most frequent label so far."""
        return self.last_label < min(self.mistakes, self.majority)


def baselines_of(labels: LabelRecord | None) -> Baselines | None:
    """Return the baselines, if labels were recorded."""
    if labels is None:
        return None
    return Baselines(labels.rounds, *(int(labels.tallies[which]) for which in (MISTAKES, MAJORITY, LAST_LABEL)))


def baseline_facts(state: State) -> list[tuple[str, str]]:
    """Return the baselines of a run as (name, value) pairs, with a remark where the rule makes more mistakes."""
    baselines = baselines_of(state.labels)
    if baselines is None:
        return []
    rounds, mistakes, majority, last_label = baselines
    facts = [("baselines", f"majority so far {_share(majority, rounds)}, last label {_share(last_label, rounds)}")]
    if rounds != state.rounds:
        facts += wrapped("", f"in the first pass; the rule {_share(mistakes, rounds)} in these {rounds:,} rounds")
    if baselines.majority_is_better:
        facts += wrapped("", f"Worse than the most frequent label so far: {_remedies(state)}")
    if baselines.last_label_is_best:
        why = ": neighbouring labels are alike" if order_facts(state) else ""
        facts += wrapped("", f"Worse than repeating the last label{why}.")
    return facts


def _remedies(state: State) -> str:
    if state.rule.inputs != "real" or state.members:
        return "try other members." if state.members else "try another rule."
    intercept = "" if state.fit_intercept else "an intercept or "
    return f"try {intercept}another rule. Columns of very different size must be scaled beforehand."


def order_facts(state: State) -> list[tuple[str, str]]:
    """Return as (name, value) pairs that labels are not in random order; nothing if they may be."""
    order = None if state.labels is None else state.labels.order
    if order is None or order.noticed is None:
        return []
    return wrapped("order", order_words(order.noticed, order.rounds))


def order_words(noticed: int, examples: int) -> str:
    """Return in which round the order of the labels was found not to be random, and what to do."""
    advice = in_another_order(f"{option('shuffle', examples)} or more")
    return f"The labels are not in random order (noticed at round {noticed:,}). {advice}"


def in_another_order(how: str) -> str:
    """Return what the order of the labels may mean, and that all examples can be shuffled, and how."""
    return (
        f"In another order there may be many more mistakes: shuffle all examples ({how}), unless new ones come in this"
        " order."
    )


def _share(mistakes: int, rounds: int) -> str:
    return f"{mistakes:,} ({mistakes / rounds:.2%})"
