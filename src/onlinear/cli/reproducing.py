"""`onlinear reproduce`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from onlinear.cli.command import Command, FailedError, debug_option
from onlinear.cli.output import show_json, show_table
from onlinear.cli.places import check_places

if TYPE_CHECKING:
    from onlinear.experiments.experiment import Experiment, OnCase
    from onlinear.pictures import Picture

_ENDINGS = (".svg", ".png", ".pdf")


@click.command("reproduce", cls=Command)
@click.argument("name", required=False)
@click.option(
    "--size",
    type=click.Choice(["small", "full"]),
    default="full",
    show_default=True,
    help="Seconds, or up to two minutes.",
)
@click.option("--seeds", type=click.IntRange(1), metavar="N", help="Use the seeds 0 to N − 1.")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Write the pictures: FILE.svg, or with matplotlib also FILE.png or FILE.pdf; the second one gets -2 before the"
    " ending, and so on.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the finding, and an object per measurement.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the result, without progress.")
@debug_option
def reproduce_command(
    name: str | None, size: Any, seeds: int | None, output: str | None, as_json: bool, quiet: bool
) -> None:
    """Reproduce an experiment of the lecture notes.

    Without NAME, the experiments are listed. The exit code is 1 if the finding does not hold.

    \b
    onlinear reproduce
    onlinear reproduce figure2 --size small -o figure2.svg
    """
    from onlinear.experiments import EXPERIMENTS

    if name is None:
        _list(EXPERIMENTS.values(), as_json=as_json)
        return
    if name not in EXPERIMENTS:
        raise click.BadParameter(f"{name!r} is not one of {', '.join(EXPERIMENTS)}", param_hint="NAME")
    check_places({"--output": output}, [])
    if output is not None and Path(output).suffix not in _ENDINGS:
        raise click.BadParameter(f"{output} must end in {', '.join(_ENDINGS)}", param_hint="--output")
    with _progress(name, quiet=quiet or as_json) as progress:
        found = EXPERIMENTS[name](size, seeds=seeds, progress=progress)
    if as_json:
        for row in found.frame().to_pylist():
            show_json(event="measured", **row)
        show_json(event="end", name=name, size=size, seeds=found.seeds, finding=found.finding, holds=found.holds)
    else:
        click.echo(repr(found))
    if output is not None:
        _write(found.pictures, Path(output))
    if not found.holds:
        raise FailedError(f"{name}: the finding does not hold for these data")


def _list(experiments: Iterable[Experiment[Any]], *, as_json: bool) -> None:
    if as_json:
        for one in experiments:
            show_json(name=one.name, title=one.title, question=one.question)
    else:
        columns: tuple[tuple[str, Literal["left"]], ...] = (("experiment", "left"), ("question", "left"))
        show_table(columns, [(one.name, one.question) for one in experiments])


def _write(pictures: Iterable[Picture], path: Path) -> None:
    """Write the first picture to this file, and the others beside it."""
    from onlinear.pictures.svg import svg

    for number, picture in enumerate(pictures, start=1):
        place = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        if place.suffix == ".svg":
            place.write_text(svg(picture), encoding="utf-8")
        else:
            picture.plot().figure.savefig(place)


@contextlib.contextmanager
def _progress(name: str, *, quiet: bool) -> Iterator[OnCase | None]:
    """Show a progress bar on a terminal; yield the function that moves it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
