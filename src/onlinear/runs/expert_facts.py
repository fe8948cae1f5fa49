"""What a run says about its experts, or about the members of a majority."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    behind = f"{abs(run.mistakes - int(made.min())):,} {'more' if run.mistakes >= made.min() else 'fewer'}"
    return [
        ("members", f"{'mistakes':>{width}}  weight  rule"),
        *(("", f"{int(made[n]):>{width},}  {shares[n]:6.1%}  {names[n]}") for n in order),
        ("regret", f"{behind} mistakes than the best member"),
        ("follower", f"{run.expected_mistakes:,.2f} mistakes expected if a member is followed at random"),
    ]
