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
    if mistakes > majority:
        facts += wrapped("", f"Worse than the most frequent label so far: try {_remedies(state)}.")
    if last_label < min(mistakes, majority):
        why = ": neighbouring labels are alike" if order_facts(state) else ""
        facts += wrapped("", f"Worse than repeating the last label{why}.")
    return facts


def _remedies(state: State) -> str:
    real = state.rule.inputs == "real"
    remedies = {
        "an intercept": real and not state.fit_intercept,
        "scaled or normalized inputs": real and not state.normalize,
        "shuffled examples": bool(order_facts(state)),
        "another rule": True,
    }
    *others, last = (remedy for remedy, helps in remedies.items() if helps)
    return f"{', '.join(others)} or {last}" if others else last


def order_facts(state: State) -> list[tuple[str, str]]:
    """Return as (name, value) pairs that labels are not in random order; nothing if they may be."""
    order = None if state.labels is None else state.labels.order
    if order is None or order.noticed is None:
        return []
    where = f"(noticed at round {order.noticed:,})"
    return wrapped("order", f"The labels are not in random order {where}. {in_another_order()}")


def in_another_order() -> str:
    """Return what the order of the labels may mean, and what to do."""
    return (
        f"In another order there may be many more mistakes: shuffle all examples ({option('shuffle')}), unless new ones"
        " come in this order."
    )


def _share(mistakes: int, rounds: int) -> str:
    return f"{mistakes:,} ({mistakes / rounds:.2%})"
