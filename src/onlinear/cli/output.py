"""Output of commands: facts, tables, and JSON with one object per line."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from onlinear.display import Facts, counted

if TYPE_CHECKING:
    from onlinear.runs import Run

_WIDE = 1_000_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Summary(Facts):
    """A title and facts, shown like an `onlinear.Run`."""

    def __init__(self, title: str, facts: list[tuple[str, str]]) -> None:
        self._shown = title, facts

    def _title(self) -> str:
        return self._shown[0]

    def _facts(self) -> list[tuple[str, str]]:
        return self._shown[1]


def say(text: str) -> None:
    """Print a message to the standard error."""
    click.echo(text, err=True)


def visible(text: str) -> str:
    """Return a text with its control characters escaped, safe to print on a terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def skipped_words(n: int, aside: str | None) -> str:
    """Return the number of skipped lines and their file, as text."""
    return f"{counted(n, 'line')}, in {aside}" if n else counted(n, "line")


def say_skipped(n: int, aside: str | None, *, quiet: bool) -> None:
    """Print the number of skipped lines, with --on-error skip."""
    if aside is not None and (n or not quiet):
        say(f"skipped {skipped_words(n, aside)}")


def skipped_facts(n: int, aside: str | None) -> dict[str, Any]:
    """Return the number of skipped lines and their file, for JSON."""
    return {"skipped": n, "quarantine": aside if n else None}


def show_json(**facts: Any) -> None:
    """Print a JSON object in one line; infinity and NaN become null."""
    click.echo(json.dumps(_plain(facts), allow_nan=False))


def show_table(columns: Sequence[tuple[str, Literal["left", "right"]]], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, no wider than the terminal if there is one."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    terminal = sys.stdout.isatty()
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=None if terminal else _WIDE)
    table = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False, show_edge=False)
    for name, side in columns:
        table.add_column(name, justify=side, overflow="fold")
    for row in rows:
        table.add_row(*row)
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def rule_facts(rule: Any) -> dict[str, Any]:
    """Return the facts about a rule, for JSON; a majority has members and a vote."""
    name = type(rule).__qualname__
    if not hasattr(rule, "members"):
        return {"name": name, "parameters": rule._asdict()}
    members = [{**member._asdict(), "rule": rule_facts(member.rule)} for member in rule.members]
    return {"name": name, "parameters": {"vote": rule_facts(rule.vote)}, "members": members}


def run_facts(run: Run) -> dict[str, Any]:
    """Return the facts about a run, for JSON."""
    made = run.expert_mistakes
    facts: dict[str, Any] = {
        "rule": rule_facts(run.rule),
        "rounds": run.rounds,
        "features": run.n_features,
        "labels": run.classes,
        "mistakes": run.mistakes,
        "rate": run.mistakes / run.rounds if run.rounds else None,
        **_by_class(run),
        **_beside(run),
        "updates": run.updates,
        "fit_intercept": run.state.fit_intercept,
        "normalize": run.state.normalize,
        "intercept": run.intercept,
        "margin_upper_bound": run.margin_upper_bound,
    }
    if made is not None and run.state.members:
        facts["members"] = [
            {**told, "mistakes": mistakes, "weight": weight}
            for told, mistakes, weight in zip(facts["rule"]["members"], made, run.weights, strict=True)
        ]
    if made is not None:
        facts |= {"best_expert": int(made.argmin()), "best_expert_mistakes": int(made.min()), "regret": run.regret}
    if run.expected_mistakes is not None:
        facts["expected_mistakes"] = run.expected_mistakes
    return facts


def window_words(run: Run, shuffle: int) -> str:
    """Return that the window of --shuffle was too small to put the labels in random order; empty if it was not."""
    order = run.order
    if order is None or order.noticed is None or not 0 < shuffle < order.rounds:
        return ""
    return f"The window of --shuffle {shuffle} was too small for {order.rounds:,} examples."


def _beside(run: Run) -> dict[str, Any]:
    """Return what is known from the labels alone."""
    facts: dict[str, Any] = {}
    if run.baselines is not None:
        facts["baselines"] = run.baselines._asdict()
    if run.order is not None:
        facts["order"] = vars(run.order)
    return facts


def _by_class(run: Run) -> dict[str, Any]:
    if run.state.multiclass:
        return {"mistakes_by_class": run.mistakes_by_class}
    return {"mistakes_positive": run.mistakes_positive, "mistakes_negative": run.mistakes_negative}


def _plain(value: Any) -> Any:
    """Return a value converted to JSON types."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
