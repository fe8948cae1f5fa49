"""`onlinear convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onlinear.cli.columns import say_columns
from onlinear.cli.command import Command
from onlinear.cli.options import data_argument, open_data, paths, print_options, quarantine_of, reading_options
from onlinear.cli.output import Summary, say, show_json, skipped_facts, skipped_words
from onlinear.cli.places import check_places
from onlinear.cli.progress import show_labels, working
from onlinear.display import counted


@click.command("convert", cls=Command)
@data_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    required=True,
    metavar="FILE",
    help="The file to write: FILE.arrow is faster to read, FILE.parquet is smaller; FILE.svm, .libsvm, .svmlight or"
    " .txt, also with .gz, is libsvm text.",
)
@reading_options
@print_options
def convert_command(data: tuple[str, ...], output: str, as_json: bool, quiet: bool, **reading: Any) -> None:
    """Convert DATA to a format that is fast to read, or to libsvm text.

    Training on the converted Arrow or Parquet file gives the same model as training on DATA. libsvm text has numbers as
    labels, and no names of features.

    \b
    onlinear convert data.csv --label spam -o data.arrow
    onlinear train data.arrow --passes 10
    onlinear convert data.parquet -o data.svm.gz
    """
    aside = quarantine_of(reading, output)
    check_places({"--output": output, "--quarantine": aside}, paths(data), labels=reading["labels"])

    from onlinear.streams.converting import convert, is_text

    stream = open_data(data, reading, output=output)
    say_columns(stream, quiet=quiet or as_json, header=reading["header"])
    started = False
    with working("converting", quiet=quiet or as_json) as report:

        def progress(n: int) -> None:
            nonlocal started
            if not started:
                show_labels(stream.classes, as_json=as_json, quiet=quiet, columns=stream.columns)
                started = True
            report(n)

        n = convert(stream, output, progress=progress)
    if stream.names is not None and is_text(output) and not quiet and not as_json:
        say("libsvm text has no names of features; FILE.arrow and FILE.parquet keep them")
    size = Path(output).stat().st_size
    if as_json:
        skipped = skipped_facts(stream.skipped, aside)
        show_json(event="end", examples=n, labels=stream.classes, output=output, bytes=size, **skipped)
        return
    facts = [("examples", f"{n:,}"), ("size", counted(size, "byte"))]
    if aside is not None:
        facts.append(("skipped", skipped_words(stream.skipped, aside)))
    click.echo(repr(Summary(f"Converted to {output}", facts)))
