"""`onlinear report`."""

from __future__ import annotations

import datetime as dt
import shlex
from pathlib import PurePath
from typing import Any

import click

from onlinear.cli import rule_spec
from onlinear.cli.columns import say_columns
from onlinear.cli.command import Command, debug_option
from onlinear.cli.comparing import ALL
from onlinear.cli.options import (
    check_passes,
    data_argument,
    open_data,
    order_options,
    paths,
    quarantine_of,
    reading_options,
)
from onlinear.cli.output import rule_facts, say, say_skipped
from onlinear.cli.places import check_places, read_once
from onlinear.cli.progress import Watch, working


@click.command("report", cls=Command)
@data_argument
@click.option(
    "--rules",
    metavar="A,B,…",
    help="The rules to run, such as 'perceptron,winnow(beta=0.5),file.py:MyRule'. The word all stands for every"
    " built-in rule that fits the data.  [default: auto, the majority of five rules]",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Write the report to this file: HTML if its name ends in .html, Markdown if it ends in .md.",
)
@click.option("--title", default="", metavar="TEXT", help="The title.  [default: the rule and DATA]")
@click.option("--date", is_flag=True, help="Print the date.  [default: the report does not depend on when it is made]")
@order_options
@reading_options
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
@debug_option
def report_command(
    data: tuple[str, ...],
    rules: str | None,
    output: str,
    title: str,
    date: bool,
    passes: int,
    shuffle: int,
    seed: int | None,
    intercept: bool,
    normalize: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Train on DATA, and write a page about it.

    The page has the mistakes over time with what the theorems allow, the rules or members side by side, whether DATA
    are linearly separable and which examples decide it, the largest weights, the examples that cost most, and how to
    reproduce it all. It is one file that opens without a network.

    \b
    onlinear report data.svm -o report.html
    onlinear report data.csv --label spam --rules perceptron,arow -o report.md
    """
    aside = quarantine_of(reading, output)
    check_places(
        {"--output": output, "--quarantine": aside},
        paths(data),
        labels=reading["labels"],
        rule=[file for text in rule_spec.split(rules or "") for file in rule_spec.files_of(text) or []],
    )
    check_passes(passes, data)
    _check_name(output)
    named = ["auto"] if rules is None else rule_spec.split(rules)
    made = [text if text == ALL else rule_spec.parse(text, "--rules").make(seed) for text in named]
    if not made:
        raise click.BadParameter("no rule is given", param_hint="--rules")

    from onlinear.atomic import check_replaceable
    from onlinear.report import report
    from onlinear.report.page import check_jinja
    from onlinear.runs import compare

    check_jinja()
    check_replaceable(output)
    stream = open_data(data, reading, output=output)
    say_columns(stream, quiet=quiet, header=reading["header"])
    facts = {"rules": [rule if rule == ALL else rule_facts(rule) for rule in made]}
    with Watch(facts, as_json=False, quiet=quiet, passes=passes, before=0) as watch:
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
            trace="curve",
        )
    # What can be read only once is not read again, and no line is put aside twice.
    again = None if read_once(paths(data)) else open_data(data, reading, like=compared[0], aside=False)
    with working("report", quiet=quiet):
        page = report(
            compared,
            again,
            title=title,
            data=", ".join(PurePath(name).name if name != "-" else "the standard input" for name in paths(data)),
            command=_command(click.get_current_context()),
            shuffle=shuffle,
            seed=seed or 0,
            date=dt.datetime.now(tz=dt.UTC).date().isoformat() if date else "",
        )
        page.save(output)
    say_skipped(stream.skipped, aside, quiet=quiet)
    if not quiet:
        say(f"written to {output}")


def _check_name(output: str) -> None:
    from onlinear.report.page import SUFFIXES

    if PurePath(output).suffix.lower() not in SUFFIXES:
        raise click.BadParameter(f"{output} must end in {' or '.join(SUFFIXES)}", param_hint="--output")


def _command(context: click.Context) -> str:
    """Return the command line, with the options that were given, in the order of the help page."""
    words = ["onlinear", str(context.info_name)]
    given = click.core.ParameterSource.COMMANDLINE
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if context.get_parameter_source(str(parameter.name)) is not given:
            continue
        spelled = max(parameter.opts, key=len)
        if not isinstance(parameter, click.Option):
            words += value or ()
        elif parameter.is_flag:
            words.append(spelled if value else max(parameter.secondary_opts, key=len))
        else:
            words += [spelled, _spelled(value)]
    return shlex.join(words)


def _spelled(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={kind}" for name, kind in value.items())
    if isinstance(value, list):
        return ",".join(f'"{name}"' if "," in name else name for name in value)
    return str(value)
