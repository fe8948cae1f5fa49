"""`onlinear convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from onlinear.cli.command import Command
from onlinear.cli.options import check_output, data_argument, opened, print_options, quarantine_of, reading_options
from onlinear.cli.output import Summary, say, show_json
from onlinear.cli.progress import mapping, working
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
    check_output("--output", output, data)
    if Path(output).suffix.lower() not in _ENDINGS:
        raise click.BadParameter(f"{output} must end with {' or '.join(_ENDINGS)}", param_hint="--output")

    from onlinear.streams.packed import pack

    stream = opened(data, reading, output=output)
    with working("converting", quiet=quiet or as_json) as told:
        n = pack(stream, output, progress=told)
    size = Path(output).stat().st_size
    aside = quarantine_of(reading, output)
    if as_json:
        show_json(
            examples=n, labels=stream.classes, output=output, bytes=size, skipped=stream.skipped, quarantine=aside
        )
        return
    if not quiet:
        say(mapping(stream.classes))
    facts = [("examples", f"{n:,}"), ("size", counted(size, "byte"))]
    if aside is not None:
        facts.append(("skipped", f"{counted(stream.skipped, 'line')}, in {aside}"))
    click.echo(repr(Summary(f"Converted to {output}", facts)))
