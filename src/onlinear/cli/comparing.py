"""`onlinear compare`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from onlinear.cli import rule_spec
from onlinear.cli.command import Command
from onlinear.cli.options import (
    check_passes,
    data_argument,
    open_data,
    order_options,
    paths,
    print_options,
    quarantine_of,
    reading_options,
)
from onlinear.cli.output import rule_facts, run_facts, say_skipped, show_json, show_table, skipped_facts
from onlinear.cli.places import check_places
from onlinear.cli.progress import Watch
from onlinear.display import rounded_up

if TYPE_CHECKING:
    from onlinear.runs import Run


@click.command("compare", cls=Command)
@data_argument
@click.option(
    "--rules",
    required=True,
    metavar="A,B,…",
    help="The rules to compare, such as 'perceptron,winnow(beta=0.5),file.py:MyRule'.",
)
@order_options
@reading_options
@print_options
def command(
    data: tuple[str, ...],
    rules: str,
    passes: int,
    shuffle: int,
    seed: int | None,
    intercept: bool,
    normalize: bool,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Train several rules on DATA in a single reading.

    Each rule makes the same mistakes as if it were trained alone. Progress is shown for the first rule. Rules for 0/1
    inputs or for advice ignore --intercept and --normalize.

    \b
    onlinear compare data.svm --rules perceptron,winnow --intercept
    """
    aside = quarantine_of(reading, None)
    check_places({"--quarantine": aside}, paths(data), labels=reading["labels"])
    check_passes(passes, data)
    made = [rule_spec.parse(text, "--rules").make(seed) for text in rule_spec.split(rules)]
    if not made:
        raise click.BadParameter("no rule is given", param_hint="--rules")

    from onlinear.runs import compare

    stream = open_data(data, reading)
    facts = {"rules": [rule_facts(rule) for rule in made]}
    with Watch(facts, as_json=as_json, quiet=quiet, passes=passes, before=0) as watch:
        runs = compare(
            made,
            stream,
            passes=passes,
            shuffle=shuffle,
            seed=seed or 0,
            fit_intercept=intercept,
            normalize=normalize,
            n_features=reading["n_features"],
            progress=watch,
        )
    if as_json:
        for run in runs:
            show_json(event="end", **run_facts(run), passes=passes, **skipped_facts(stream.skipped, aside))
        return
    _show(runs)
    say_skipped(stream.skipped, aside, quiet=quiet)


def _show(runs: list[Run]) -> None:
    rows = [
        (
            repr(run.rule),
            f"{run.mistakes:,}",
            f"{run.mistakes / run.rounds:.2%}",
            f"{run.mistakes_positive:,}",
            f"{run.mistakes_negative:,}",
            f"{run.updates:,}",
            _bound(run.margin_upper_bound),
        )
        for run in runs
    ]
    names = ("mistakes", "rate", "m+", "m−", "updates", "margin ≤")
    show_table([("rule", "left"), *((name, "right") for name in names)], rows)


def _bound(bound: float | None) -> str:
    return rounded_up(bound) if bound is not None and math.isfinite(bound) else ""
