"""`onlinear evaluate`."""

from __future__ import annotations

from typing import Any

import click

from onlinear.cli.command import Command, debug_option
from onlinear.cli.models import load_model
from onlinear.cli.options import (
    custom_rule_option,
    data_argument,
    fault_options,
    format_options,
    label_options,
    open_data,
    paths,
    quarantine_of,
    strict_option,
)
from onlinear.cli.output import say_skipped, show_json
from onlinear.cli.places import check_places


@click.command("evaluate", cls=Command)
@click.argument("model", type=click.Path())
@data_argument
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="The interval for the accuracy holds with probability 1 − delta.",
)
@strict_option
@custom_rule_option
@format_options
@label_options
@fault_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@debug_option
def evaluate_command(
    model: str, data: tuple[str, ...], delta: float, strict: bool, rule: str | None, as_json: bool, **reading: Any
) -> None:
    """Compare the predictions of MODEL with the labels in DATA.

    Prints the accuracy with an exact interval, the baseline (always the most frequent label), the AUC, precision,
    recall and F1 of each class, and the confusion matrix. Columns are read as they were when the model was trained.
    Nothing is learned from DATA.

    \b
    onlinear evaluate model test.svm
    """
    aside = quarantine_of(reading, None)
    check_places({"--quarantine": aside}, paths(data), labels=reading["labels"])
    run = load_model(model, rule)
    found = run.evaluate(open_data(data, reading, like=run), delta=delta, strict=strict)
    if as_json:
        show_json(model=model, **found.as_dict(), quarantine=aside if found.skipped else None)
        return
    click.echo(repr(found))
    say_skipped(found.skipped, aside, quiet=True)
