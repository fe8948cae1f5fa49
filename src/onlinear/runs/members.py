"""What a run says about its experts, or about the members of a majority; and a member by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onlinear.data.label_record import MISTAKES
from onlinear.display import counted
from onlinear.models.state import State, sealed

if TYPE_CHECKING:
    from onlinear.runs.outcome import Run


def expert_facts(run: Run) -> list[tuple[str, str]]:
    """Return the best expert, the regret and the expected mistakes as (name, value) pairs, where they are known."""
    facts, made = [], run.expert_mistakes
    if made is not None:
        facts.append(("best expert", f"number {int(made.argmin())}, {int(made.min()):,} mistakes"))
        facts.append(("regret", f"{run.regret:,}"))
    if run.expected_mistakes is not None:
        facts.append(("expected mistakes", f"{run.expected_mistakes:,.2f}"))
    return facts


def member_facts(run: Run) -> list[tuple[str, str]]:
    """Return the members of a majority, the best first, with their mistakes and weights, as (name, value) pairs."""
    made, shares, names = run.expert_mistakes, run.weights / run.weights.sum(), [m.name for m in run.rule.members]
    if made is None:
        return []
    width = max(8, *(len(f"{m:,}") for m in made))
    order = sorted(range(len(names)), key=lambda n: int(made[n]))
    behind = run.mistakes - int(made.min())
    regret = counted(abs(behind), "more mistake" if behind >= 0 else "fewer mistake")
    return [
        ("members", f"{'mistakes':>{width}}  weight  rule"),
        *(("", f"{int(made[n]):>{width},}  {shares[n]:6.1%}  {names[n]}") for n in order),
        ("regret", f"{regret} than the best member"),
        ("follower", f"{run.expected_mistakes:,.2f} mistakes expected if a member is followed at random"),
    ]


def member_alone(state: State, n: int) -> State:
    """Return the state of member n of a majority, with what is known about the examples."""
    member, labels = state.members[n], state.labels
    if labels is not None and labels.rounds == member.rounds:
        tallies = labels.tallies.copy()
        tallies[MISTAKES] = sum(member.mistakes_by_class)
        labels = labels._replace(tallies=sealed(tallies))
    else:  # a member's mistakes are not counted for the first pass alone
        labels = None
    known = {name: getattr(state, name) for name in ("names", "reading", "checksum", "sample")}
    return replace(member, labels=labels, **known)
