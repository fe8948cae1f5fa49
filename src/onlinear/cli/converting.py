"""`onlinear convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onlinear.cli.command import Command
from onlinear.cli.options import data_argument, opened, paths, print_options, quarantine_of, reading_options
from onlinear.cli.output import Summary, show_json, skipped_facts, skipped_words
from onlinear.cli.places import check_places
from onlinear.cli.progress import show_labels, working
from onlinear.display import counted

_ENDINGS = (".arrow", ".parquet")


@click.command("convert", cls=Command)
@data_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    required=True,
    metavar="FILE",
    help="Where to: FILE.arrow is quicker to read, FILE.parquet smaller.",
)
@reading_options
@print_options
def command(data: tuple[str, ...], output: str, as_json: bool, quiet: bool, **reading: Any) -> None:
    """Rewrite DATA in a form that is quick to read.

    Training on it gives the same bits as training on DATA.

    \b
    onlinear convert data.csv --label spam -o data.arrow
    onlinear train data.arrow --passes 10
    """
    aside = quarantine_of(reading, output)
    check_places({"--output": output, "--quarantine": aside}, paths(data), labels=reading["labels"])
    if Path(output).suffix.lower() not in _ENDINGS:
        raise click.BadParameter(f"{output} must end with {' or '.join(_ENDINGS)}", param_hint="--output")

    from onlinear.streams.formats.packed import pack

    stream = opened(data, reading, output=output)
    begun = False
    with working("converting", quiet=quiet or as_json) as told:

        def progress(n: int) -> None:
            nonlocal begun
            if not begun:
                show_labels(stream.classes, as_json=as_json, quiet=quiet)
                begun = True
            told(n)

        n = pack(stream, output, progress=progress)
    size = Path(output).stat().st_size
    if as_json:
        skipped = skipped_facts(stream.skipped, aside)
        show_json(event="end", examples=n, labels=stream.classes, output=output, bytes=size, **skipped)
        return
    facts = [("examples", f"{n:,}"), ("size", counted(size, "byte"))]
    if aside is not None:
        facts.append(("skipped", skipped_words(stream.skipped, aside)))
    click.echo(repr(Summary(f"Converted to {output}", facts)))
