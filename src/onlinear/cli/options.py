"""Options that several commands share: the data, how they are read, and what is printed."""

from __future__ import annotations

import csv
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from onlinear.cli.command import Option, debug_option
from onlinear.cli.places import STDIN, read_once
from onlinear.streams.formats.registry import FORMATS

if TYPE_CHECKING:
    from onlinear.streams import Stream

F = TypeVar("F", bound=Callable[..., Any])


def _columns(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """Return names separated by commas; a name that contains a comma is in double quotes."""
    if value is None:
        return None
    names = next(csv.reader([value], skipinitialspace=True), [])
    if not all(names) or not names:
        raise click.BadParameter(f"{value!r} has an empty name")
    return names


def _kinds(ctx: click.Context, option: click.Parameter, value: str | None) -> dict[str, str] | None:
    """Return the kinds of columns from NAME=KIND,…."""
    from onlinear.streams.reading import ColumnKind

    kinds: dict[str, str] = {}
    for pair in _columns(ctx, option, value) or ():
        column, equals, kind = pair.rpartition("=")
        if not (column and equals and kind in get_args(ColumnKind)):
            raise click.BadParameter(f"{pair!r} must be NAME=KIND, where KIND is {', '.join(get_args(ColumnKind))}")
        if kinds.setdefault(column, kind) != kind:
            raise click.BadParameter(f"{column!r} has two kinds")
    return kinds or None


def _labels(ctx: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """Return labels separated by commas."""
    labels = _columns(ctx, option, value)
    if labels is not None and len(set(labels)) != len(labels):
        raise click.BadParameter(f"{value!r} has a label twice")
    return labels


def combine(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return several decorators as one, which adds options in this order."""
    return lambda function: functools.reduce(lambda made, one: one(made), reversed(decorators), function)


_data_option = functools.partial(click.option, cls=Option, section="Format of the data")
_column_option = functools.partial(click.option, cls=Option, section="Examples and features")

data_argument = click.argument("data", nargs=-1, type=click.Path())

format_options = combine(
    _data_option(
        "--format",
        type=click.Choice(list(FORMATS)),
        help="The file format.  [default: detected]",
    ),
    _data_option(
        "--header/--no-header",
        default=None,
        help="Whether the first row of a CSV file names its columns.  [default: header, unless all its values are"
        " numbers]",
    ),
    _data_option(
        "--delimiter", metavar="CHAR", help="The delimiter of CSV columns.  [default: a comma, or a tab in .tsv files]"
    ),
    _data_option(
        "--zero-based/--one-based", default=None, help="Whether libsvm indices start at 0 or 1.  [default: one-based]"
    ),
    _data_option(
        "--max-features",
        type=click.IntRange(1, 1 << 31),
        metavar="N",
        help="The largest number of features; more are an error.  [default: 2^27]",
    ),
)

label_options = combine(
    _column_option(
        "--label",
        metavar="COLUMN",
        help="The column of the labels, by name or number, from 0.  [default: label, y, target or class]",
    ),
    _column_option(
        "--labels", type=click.Path(), metavar="FILE", help="A .npy file with the labels, if DATA are matrices."
    ),
)

fault_options = combine(
    _column_option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        default="raise",
        show_default=True,
        help="Stop at a malformed line, or skip and count it.",
    ),
    _column_option("--quarantine", type=click.Path(dir_okay=False), metavar="FILE", help="The file for skipped lines."),
)

column_options = combine(
    label_options,
    _column_option(
        "--features",
        callback=_columns,
        metavar="A,B,…",
        help="The columns to learn from.  [default: all but the label]",
    ),
    _column_option("--drop", callback=_columns, metavar="A,B,…", help="Columns to leave out."),
    _column_option("--text", callback=_columns, metavar="A,B,…", help="Columns whose words are features."),
    _column_option(
        "--kind",
        "kinds",
        callback=_kinds,
        metavar="A=KIND,…",
        help="Kinds of columns: number, category or text.  [default: as they look; printed at the start]",
    ),
    _column_option(
        "--encode",
        type=click.Choice(["names", "hash"]),
        help="Turn categories and words into features by a growing vocabulary or by hashing.  [default: names]",
    ),
    _column_option(
        "--hash-bits", type=click.IntRange(1, 30), metavar="B", help="Use 2^B hashed features.  [default: 20]"
    ),
    _column_option(
        "--missing",
        type=click.Choice(["error", "zero", "indicator"]),
        help="Treat a missing value as an error, as 0, or as 0 with an indicator feature.  [default: error]",
    ),
    _column_option(
        "--classes",
        callback=_labels,
        metavar="A,B,…",
        help="All labels; of two, the negative one first.  [default: those of the first 4,096 examples, sorted]",
    ),
    _column_option(
        "--n-features",
        type=click.IntRange(1),
        metavar="N",
        help="The number of features, for rules that need it when reading from a pipe.",
    ),
    fault_options,
)

new_classes_option = _column_option(
    "--new-classes",
    is_flag=True,
    help="Add a class when its first example comes. Each class has a weight vector then, even if there are only two.",
)

reading_options = combine(format_options, column_options)

order_options = combine(
    click.option(
        "--passes",
        type=click.IntRange(1),
        default=1,
        metavar="N",
        show_default=True,
        help="Number of passes over the data.",
    ),
    click.option(
        "--shuffle",
        type=click.IntRange(0),
        default=0,
        metavar="ROWS",
        help="Shuffle the examples in windows of this many rows, which are held in memory.  [default: no shuffling]",
    ),
    click.option(
        "--seed", type=click.IntRange(0), metavar="N", help="Seed for --shuffle and for randomized rules.  [default: 0]"
    ),
    click.option("--intercept", is_flag=True, help="Learn an intercept."),
    click.option("--normalize", is_flag=True, help="Scale each example to norm 1."),
)

strict_option = click.option(
    "--strict", is_flag=True, help="Stop at a feature that the model does not have.  [default: say so and go on]"
)

custom_rule_option = click.option(
    "--rule", "rule", metavar="FILE.py:CLASS", help="The class of the rule, if it is your own."
)

print_options = combine(
    click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line."),
    click.option("-q", "--quiet", is_flag=True, help="Print results only, no progress."),
    debug_option,
)


def paths(data: tuple[str, ...]) -> list[str]:
    """Return the files to read; by default the standard input, unless it is a terminal."""
    named = list(data) or [STDIN]
    if STDIN in named and sys.stdin is None:
        raise click.UsageError("no data: give files or folders; the standard input is closed")
    if not data and sys.stdin.isatty():
        raise click.UsageError("no data: give files or folders, or pipe examples in (- reads from the terminal)")
    if "" in named:
        raise click.UsageError("no data: a file name is empty")
    if named.count(STDIN) > 1:
        raise click.UsageError("- is given more than once; the standard input can be read only once")
    return named


def open_data(
    data: tuple[str, ...],
    reading: dict[str, Any],
    *,
    output: str | None = None,
    like: Any = None,
    labelled: bool = True,
    aside: bool = True,
) -> Stream:
    """Open the data with the values of `reading_options`.

    The default name of the quarantine is that of `output`. With ``aside=False``, for reading the data again, skipped
    lines are not written a second time.
    """
    from onlinear.streams import open_stream

    _check_columns(reading, like)
    given = {name: value for name, value in reading.items() if value is not None}
    given["quarantine"] = quarantine_of(reading, output) if aside else None
    y = given.pop("labels", None)
    return open_stream(paths(data), y, like=like, labelled=labelled, **given)


def check_passes(passes: int, data: tuple[str, ...]) -> None:
    """Raise for several passes over data that can be read only once."""
    once = read_once(paths(data))
    if passes > 1 and once:
        raise click.BadParameter(f"{once} can be read only once; give file names", param_hint="--passes")


def quarantine_of(reading: dict[str, Any], output: str | None) -> str | None:
    """Return the file for skipped lines, if lines may be skipped."""
    given = reading.get("quarantine")
    if reading.get("on_error") == "skip":
        return str(given or f"{output or 'onlinear'}.quarantine")
    if given is not None:
        raise click.UsageError("--quarantine needs --on-error skip")
    return None


def _check_columns(reading: dict[str, Any], like: Any) -> None:
    """Raise for options that would have no effect."""
    known = {} if like is None else like.state.reading or {}
    if reading.get("hash_bits") is not None and (reading["encode"] or known.get("encode")) != "hash":
        raise click.UsageError("--hash-bits needs --encode hash")
    for column in reading.get("text") or ():
        if column in (reading["drop"] or ()):
            raise click.BadParameter(f"{column!r} is among the columns to --drop", param_hint="--text")
        if reading["features"] is not None and column not in reading["features"]:
            raise click.BadParameter(f"{column!r} is not among the --features", param_hint="--text")
