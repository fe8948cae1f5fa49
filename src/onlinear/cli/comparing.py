"""`onlinear compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onlinear.cli import rule_spec
from onlinear.cli.columns import say_columns
from onlinear.cli.command import Command
from onlinear.cli.options import (
    check_passes,
    data_argument,
    new_classes_option,
    open_data,
    order_options,
    paths,
    print_options,
    quarantine_of,
    reading_options,
    strict_option,
)
from onlinear.cli.output import (
    rule_facts,
    run_facts,
    say,
    say_skipped,
    show_json,
    show_table,
    skipped_facts,
    window_words,
)
from onlinear.cli.places import STDIN, check_places
from onlinear.cli.progress import Watch

ALL = "all"
"""Every built-in rule that fits the data."""


@click.command("compare", cls=Command)
@data_argument
@click.option(
    "--rules",
    required=True,
    metavar="A,B,…",
    help="The rules to compare, such as 'perceptron,winnow(beta=0.5),file.py:MyRule'. The word all stands for every"
    " built-in rule that fits the data.",
)
@click.option(
    "--test",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Evaluate the trained models on this file, and sort by accuracy; may be repeated.",
)
@click.option(
    "--test-labels",
    type=click.Path(),
    metavar="FILE",
    help="A .npy file with the labels, if the test files are matrices.",
)
@strict_option
@order_options
@reading_options
@new_classes_option
@print_options
def compare_command(
    data: tuple[str, ...],
    rules: str,
    test: tuple[str, ...],
    test_labels: str | None,
    strict: bool,
    passes: int,
    shuffle: int,
    seed: int | None,
    intercept: bool,
    normalize: bool,
    new_classes: bool,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Train several rules on DATA in a single reading.

    Each rule makes the same mistakes as if it were trained alone. The rule with the fewest mistakes comes first; with
    --test, the one with the highest accuracy there. Seconds are those of learning, without reading and compiling.
    Progress is shown for the first rule. Rules for 0/1 inputs or for advice ignore --intercept and --normalize, and so
    do majorities, whose members have options of their own.

    \b
    onlinear compare data.svm --rules perceptron,winnow --intercept
    onlinear compare data.svm --rules all --test test.svm
    """
    aside = quarantine_of(reading, None)
    places = {"labels": reading["labels"], "test_labels": test_labels}
    check_places({"--quarantine": aside}, [*paths(data), *test], **places)
    check_passes(passes, data)
    if strict and not test:
        raise click.UsageError("--strict needs --test")
    _check_test(test, paths(data))
    made = [text if text == ALL else rule_spec.parse(text, "--rules").make(seed) for text in rule_spec.split(rules)]
    if not made:
        raise click.BadParameter("no rule is given", param_hint="--rules")

    from onlinear.runs import compare

    stream = open_data(data, reading)
    say_columns(stream, quiet=quiet or as_json, header=reading["header"])
    facts = {"rules": [rule if rule == ALL else rule_facts(rule) for rule in made], "columns": stream.columns}
    with Watch(facts, as_json=as_json, quiet=quiet, passes=passes, before=0) as watch:
        compared = compare(
            made,
            stream,
            passes=passes,
            shuffle=shuffle,
            seed=seed or 0,
            fit_intercept=intercept,
            normalize=normalize,
            n_features=reading["n_features"],
            progress=watch,
            new_classes=new_classes,
        )
    if test:
        # The lines that were skipped in training stay in the quarantine file.
        there = open_data(test, reading | {"labels": test_labels}, like=compared[0], aside=False)
        compared = compared.evaluate(there, strict=strict)
    if as_json:
        for name, reason in compared.left_out.items():
            show_json(event="left out", rule=name, reason=reason)
        for i in compared.ranking():
            found = {"test": compared.tests[i].as_dict()} if test else {}
            times = {"passes": passes, "seconds": compared.seconds[i]}
            show_json(event="end", **run_facts(compared[i]), **times, **found, **skipped_facts(stream.skipped, aside))
        return
    table = compared.table()
    show_table([(name, "right" if i else "left") for i, name in enumerate(table.names)], table.rows)
    for note in (*compared.notes(), window_words(compared[0], shuffle)):
        if note:
            say(note)
    say_skipped(stream.skipped, aside, quiet=quiet)


def _check_test(test: tuple[str, ...], data: list[str]) -> None:
    """Raise before training if the test cannot be read after it."""
    if STDIN in test and STDIN in data:
        raise click.BadParameter("the standard input can be read only once", param_hint="--test")
    for each in test:
        if each != STDIN and not Path(each).exists():
            raise click.BadParameter(f"{each}: there is no such file", param_hint="--test")
