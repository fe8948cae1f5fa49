"""Options that several commands share: which data, how they are read, and what is printed."""

from __future__ import annotations

import csv
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from onlinear.cli.command import Option, debug_option
from onlinear.cli.places import STDIN, read_once

if TYPE_CHECKING:
    from onlinear.streams import Stream

F = TypeVar("F", bound=Callable[..., Any])


def _columns(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """Return the names between commas; one that has a comma itself stands in double quotes."""
    if value is None:
        return None
    names = next(csv.reader([value], skipinitialspace=True), [])
    if not all(names) or not names:
        raise click.BadParameter(f"{value!r} has an empty name")
    return names


def _pair(ctx: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """Return two labels."""
    labels = _columns(ctx, option, value)
    if labels is not None and len(labels) != 2:
        raise click.BadParameter(f"{value!r} must be two labels: NEGATIVE,POSITIVE")
    return labels


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return decorators as one; options then stand in this order."""
    return lambda function: functools.reduce(lambda made, one: one(made), reversed(decorators), function)


_data_option = functools.partial(click.option, cls=Option, section="What the data are")
_column_option = functools.partial(click.option, cls=Option, section="How they become examples")

data_argument = click.argument("data", nargs=-1, type=click.Path())

format_options = stacked(
    _data_option(
        "--format",
        type=click.Choice(["libsvm", "csv", "parquet", "arrow", "npy", "npz"]),
        help="What the data are.  [default: what they look like]",
    ),
    _data_option("--header/--no-header", default=None, help="Whether the first line of CSV names its columns."),
    _data_option("--delimiter", metavar="CHAR", help="What stands between the columns of CSV."),
    _data_option("--zero-based/--one-based", default=None, help="Where the indices of libsvm text start."),
    _data_option(
        "--max-features",
        type=click.IntRange(1, 1 << 31),
        metavar="N",
        help="An index or a vocabulary beyond this is an error.  [default: 2^27]",
    ),
)

column_options = stacked(
    _column_option("--label", metavar="COLUMN", help="The column of the labels, by name or number."),
    _column_option("--features", callback=_columns, metavar="A,B,…", help="The columns to learn from."),
    _column_option("--drop", callback=_columns, metavar="A,B,…", help="Columns to leave out."),
    _column_option("--text", callback=_columns, metavar="A,B,…", help="Columns whose words are features."),
    _column_option(
        "--encode",
        type=click.Choice(["names", "hash"]),
        help="How categories and words become features: by a growing vocabulary, or by hashing.  [default: names]",
    ),
    _column_option(
        "--hash-bits", type=click.IntRange(1, 30), metavar="B", help="There are 2^B hashed features.  [default: 20]"
    ),
    _column_option(
        "--missing",
        type=click.Choice(["error", "zero", "indicator"]),
        help="What a missing value is: an error; 0; or 0 with a feature that says so.  [default: error]",
    ),
    _column_option(
        "--labels", type=click.Path(), metavar="FILE", help="A .npy file with the labels, where DATA are matrices."
    ),
    _column_option(
        "--classes",
        callback=_pair,
        metavar="NEG,POS",
        help="The two labels.  [default: the first two in the data, in their order]",
    ),
    _column_option(
        "--n-features", type=click.IntRange(1), metavar="N", help="Where a rule must know it and a pipe cannot tell."
    ),
    _column_option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        default="raise",
        show_default=True,
        help="A line that is no example ends the run, or is put aside and counted.",
    ),
    _column_option("--quarantine", type=click.Path(dir_okay=False), metavar="FILE", help="Where such lines are put."),
)

reading_options = stacked(format_options, column_options)

order_options = stacked(
    click.option(
        "--passes", type=click.IntRange(1), default=1, metavar="N", show_default=True, help="How often all is read."
    ),
    click.option(
        "--shuffle",
        type=click.IntRange(0),
        default=0,
        metavar="ROWS",
        help="Draw the examples from windows of so many rows, which are held in memory.",
    ),
    click.option(
        "--seed", type=click.IntRange(0), metavar="N", help="For --shuffle, and for a rule that draws.  [default: 0]"
    ),
    click.option("--intercept", is_flag=True, help="Learn an intercept."),
    click.option("--normalize", is_flag=True, help="Learn from x/‖x‖."),
)

custom_rule_option = click.option(
    "--rule", "rule", metavar="FILE.py:CLASS", help="The rule's class, where it is one of your own."
)

print_options = stacked(
    click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line."),
    click.option("-q", "--quiet", is_flag=True, help="Results only: no progress."),
    debug_option,
)


def paths(data: tuple[str, ...]) -> list[str]:
    """Return the data that were named; none is the standard input, unless a person would have to type it in."""
    named = list(data) or [STDIN]
    if STDIN in named and sys.stdin is None:
        raise click.UsageError("no data: name files or folders; the standard input is closed")
    if not data and sys.stdin.isatty():
        raise click.UsageError("no data: name files or folders, or pipe examples in (- reads what is typed here)")
    if "" in named:
        raise click.UsageError("no data: the name of a file is empty")
    if named.count(STDIN) > 1:
        raise click.UsageError("- is named more than once; the standard input can be read only once")
    return named


def opened(
    data: tuple[str, ...],
    reading: dict[str, Any],
    *,
    output: str | None = None,
    like: Any = None,
    labelled: bool = True,
    aside: bool = True,
) -> Stream:
    """Open the data with what `reading_options` have collected.

    `output` gives a quarantine its name. Not `aside` is for those who read again: what is skipped is in its file.
    """
    from onlinear.streams import open_stream

    _check_columns(reading, like)
    given = {name: value for name, value in reading.items() if value is not None}
    given["quarantine"] = quarantine_of(reading, output) if aside else None
    y = given.pop("labels", None)
    return open_stream(paths(data), y, like=like, labelled=labelled, **given)


def check_passes(passes: int, data: tuple[str, ...]) -> None:
    """Refuse to read again what is gone when it has been read."""
    once = read_once(paths(data))
    if passes > 1 and once:
        raise click.BadParameter(f"{once} can be read only once; give files by name", param_hint="--passes")


def quarantine_of(reading: dict[str, Any], output: str | None) -> str | None:
    """Return the file for lines that are skipped, if any may be."""
    given = reading.get("quarantine")
    if reading.get("on_error") == "skip":
        return str(given or f"{output or 'onlinear'}.quarantine")
    if given is not None:
        raise click.UsageError("--quarantine is for --on-error skip")
    return None


def _check_columns(reading: dict[str, Any], like: Any) -> None:
    """Refuse options that would have no effect."""
    known = {} if like is None else like.state.reading or {}
    if reading.get("hash_bits") is not None and (reading["encode"] or known.get("encode")) != "hash":
        raise click.UsageError("--hash-bits is for --encode hash")
    for column in reading.get("text") or ():
        if column in (reading["drop"] or ()):
            raise click.BadParameter(f"{column!r} is among the columns to --drop", param_hint="--text")
        if reading["features"] is not None and column not in reading["features"]:
            raise click.BadParameter(f"{column!r} is not among the --features", param_hint="--text")
