"""`onlinear certify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onlinear.cli.command import Command
from onlinear.cli.models import loaded
from onlinear.cli.options import (
    check_output,
    custom_rule_option,
    data_argument,
    opened,
    paths,
    print_options,
    reading_options,
)
from onlinear.cli.output import Summary, say, show_json
from onlinear.cli.progress import mapping, working

if TYPE_CHECKING:
    from onlinear.streams import Stream
    from onlinear.theory import Inseparable, MarginInterval, Separable, Undecided


@click.command("certify", cls=Command)
@data_argument
@click.option("--intercept", is_flag=True, help="Allow an intercept.")
@click.option("--normalize", is_flag=True, help="Speak of x/‖x‖.")
@click.option("--model", type=click.Path(), help="Certify this run, which came from DATA: its mistakes and the bounds.")
@custom_rule_option
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write the run's certificate here, as JSON.")
@reading_options
@print_options
def command(
    data: tuple[str, ...],
    intercept: bool,
    normalize: bool,
    model: str | None,
    rule: str | None,
    output: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Tell whether DATA can be separated, and how well.

    Prints the verdict, the largest margin as an interval, and the difficulty (R/γ)². Everything is proven: the
    verdict by a separator, or by examples that contradict each other; the margin by a witness at each end. DATA are
    read again and again; the standard input is held in memory.

    \b
    onlinear certify data.svm --intercept
    onlinear certify --model model data.svm -o certificate.json
    """
    quiet = quiet or as_json
    if model is not None:
        _of_run(data, model, rule, output, reading, as_json=as_json, quiet=quiet)
        return
    for option, given in (("--output", output), ("--rule", rule)):
        if given is not None:
            raise click.UsageError(f"{option} is for the certificate of a run: name it with --model")
    stream = opened(data, reading)
    blocks: Any = list(stream) if "-" in paths(data) else stream
    next(iter(blocks), None)  # the labels are known after the first block
    if not quiet and stream.classes is not None:
        say(mapping(stream.classes))
    verdict, margin = _found(blocks, stream.classes, intercept=intercept, normalize=normalize, quiet=quiet)
    places = _places(stream, getattr(verdict, "rows", ())) if blocks is stream else []
    if as_json:
        show_json(verdict=_verdict_facts(verdict, places), margin=_margin_facts(margin), labels=stream.classes)
        return
    if verdict is not None:
        facts = verdict._facts()
        named = {f"row {int(row)}": place for row, place in places}
        click.echo(repr(Summary(verdict._title(), [(f"{named.get(name, name)}", value) for name, value in facts])))
    if margin is not None:
        click.echo(repr(margin))


def _of_run(
    data: tuple[str, ...],
    model: str,
    rule: str | None,
    output: str | None,
    reading: dict[str, Any],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print the certificate of a saved run."""
    from onlinear.theory import certify

    check_output("--output", output, [*data, model])
    run = loaded(model, rule)
    stream = opened(data, reading, like=run)
    blocks: Any = list(stream) if "-" in paths(data) else stream
    with working("certifying", quiet=quiet) as told:
        certificate = certify(run, blocks, progress=told)
    if output is not None:
        Path(output).write_text(certificate.to_json() + "\n", encoding="utf-8")
    if as_json:
        show_json(**certificate.record)
    else:
        click.echo(repr(certificate))


def _found(
    blocks: Any, classes: Any, *, intercept: bool, normalize: bool, quiet: bool
) -> tuple[Separable | Inseparable | Undecided | None, MarginInterval | None]:
    """Return the verdict and, where something may separate the data, the margin."""
    from onlinear.theory import Inseparable, max_margin, separability

    verdict: Any = None
    # The length of a row matters to the verdict only where normalised rows stand beside an intercept.
    if not (intercept and normalize):
        with working("deciding", quiet=quiet) as told:
            verdict = separability(blocks, fit_intercept=intercept, classes=classes, progress=told)
        if isinstance(verdict, Inseparable):
            return verdict, None
    with working("margin", quiet=quiet) as told:
        return verdict, max_margin(blocks, fit_intercept=intercept, normalize=normalize, classes=classes, progress=told)


def _places(stream: Stream, rows: Any) -> list[tuple[int, str]]:
    """Return where rows stand in their files."""
    wanted = sorted(map(int, rows))
    found: list[tuple[int, str]] = []
    first = 0
    for chunk in stream.chunks() if wanted else ():
        found += [(row, chunk.place(row - first)) for row in wanted if first <= row < first + chunk.n]
        first += chunk.n
        if len(found) == len(wanted):
            break
    return found


def _verdict_facts(verdict: Any, places: list[tuple[int, str]]) -> Any:
    if verdict is None:
        return None
    facts: dict[str, Any] = {"verdict": type(verdict).__name__.lower()}
    if hasattr(verdict, "rows"):
        named = dict(places)
        parts = zip(verdict.rows.tolist(), verdict.labels, verdict.shares, strict=True)
        facts["because"] = verdict.explain()
        facts["rows"] = [
            {"row": row, "place": named.get(row), "label": label, "share": float(share)} for row, label, share in parts
        ]
    return facts


def _margin_facts(margin: Any) -> Any:
    if margin is None:
        return None
    names = ("kind", "lower", "upper", "gap", "radius", "difficulty")
    return {**{name: getattr(margin, name) for name in names}, "augmented": _margin_facts(margin.augmented)}
