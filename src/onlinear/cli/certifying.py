"""`onlinear certify`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from onlinear.cli import rule_spec
from onlinear.cli.columns import say_columns
from onlinear.cli.command import Command
from onlinear.cli.models import load_model
from onlinear.cli.options import (
    custom_rule_option,
    data_argument,
    open_data,
    paths,
    print_options,
    quarantine_of,
    reading_options,
)
from onlinear.cli.output import say_skipped, show_json, skipped_facts
from onlinear.cli.places import check_places, read_once
from onlinear.cli.progress import show_labels, working
from onlinear.cli.verdicts import (
    certificate_text,
    examples_of_verdict,
    find_places,
    margin_text,
    verdict_record,
    verdict_text,
)

if TYPE_CHECKING:
    from onlinear.data.chunk import Chunk
    from onlinear.runs import Run
    from onlinear.streams import Stream
    from onlinear.theory import Certificate, ClassPairs, Inseparable, MarginInterval, Separable, Undecided


@click.command("certify", cls=Command)
@data_argument
@click.option("--intercept", is_flag=True, help="Allow an intercept.")
@click.option("--normalize", is_flag=True, help="Normalize the examples: x/‖x‖.")
@click.option("--model", type=click.Path(), help="Certify this model, trained on DATA: its mistakes and the bounds.")
@custom_rule_option
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Write the certificate to this file, as JSON.",
)
@reading_options
@print_options
def certify_command(
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
    """Decide whether DATA are linearly separable, and with which margin.

    Prints the verdict, the largest margin as an interval, and the difficulty (R/γ)². All of these are proven: the
    verdict by a separator, or by examples that contradict each other; the margin by a witness at each end. DATA are
    read several times; the standard input is held in memory. With more than two classes, the verdict and the margin are
    about a weight vector per class: each example must score higher for its own class than for each of the others.

    \b
    onlinear certify data.svm --intercept
    onlinear certify --model model data.svm -o certificate.json
    """
    if model is None:
        given: dict[str, Any] = {"--output": output, "--rule": rule}
        why = "is for the certificate of a model; use it with --model"
    else:
        given = {"--intercept": intercept, "--normalize": normalize, "--classes": reading["classes"]}
        why = "is stored in the model; leave it out with --model"
    for option, value in given.items():
        if value not in (None, False):
            raise click.UsageError(f"{option} {why}")
    aside = quarantine_of(reading, output)
    check_places(
        {"--output": output, "--quarantine": aside},
        paths(data),
        model=model,
        labels=reading["labels"],
        rule=rule_spec.files_of(rule),
    )
    if output is not None:
        from onlinear.atomic import check_replaceable

        check_replaceable(output)
    run = None if model is None else load_model(model, rule)
    silent = quiet or as_json
    stream = open_data(data, reading, output=output, like=run)
    say_columns(stream, quiet=silent, header=reading["header"])
    blocks, chunks, skipped = _read(stream, data, reading, run)
    classes: Any = stream.classes
    show_labels(classes, as_json=as_json, quiet=quiet, columns=stream.columns)
    if run is not None:
        certificate = _certify(run, blocks, output, quiet=silent)
        facts: dict[str, Any] = {"certificate": certificate.record}
        shown = [certificate_text(certificate, chunks)]
    else:
        options = {"fit_intercept": intercept, "normalize": normalize, "classes": classes}
        pairs = _pairs(blocks, **options) if classes is not None and len(classes) > 2 else None
        verdict, margin = (
            _decide(blocks, **options, quiet=silent) if pairs is None else _decide(pairs.seen, quiet=silent)
        )
        places = find_places(chunks, examples_of_verdict(verdict, pairs))
        record = verdict_record(verdict, pairs, places)
        facts = {"verdict": record, "margin": _margin_facts(margin), "labels": classes}
        shown = [] if verdict is None else [verdict_text(verdict, pairs, places)]
        shown += [] if margin is None else [margin_text(margin, pairs)]
    if as_json:
        show_json(event="end", **facts, **skipped_facts(skipped, aside))
        return
    for text in shown:
        click.echo(text)
    say_skipped(skipped, aside, quiet=quiet)


def _read(
    stream: Stream, data: tuple[str, ...], reading: dict[str, Any], like: Run | None
) -> tuple[Any, Iterable[Chunk], int]:
    """Return the examples, to be read several times, the same once more as chunks, and the number of skipped lines.

    Then the stream knows the labels.
    """
    if read_once(paths(data)):
        held = [chunk.kept() for chunk in stream.chunks()]
        return [(chunk.X, chunk.y) for chunk in held], held, stream.skipped
    again = open_data(data, reading, like=like, aside=False)
    if reading["on_error"] != "skip":
        next(iter(stream), None)  # the labels are known after the first block
        return stream, again.chunks(), 0
    # Certifying may stop before the end, but all bad lines should be in the quarantine file.
    for _ in stream:
        pass
    return again, again.chunks(), stream.skipped


def _certify(run: Run, blocks: Any, output: str | None, *, quiet: bool) -> Certificate:
    """Certify a saved run, and write the certificate."""
    from onlinear.atomic import replace_file
    from onlinear.theory import certify

    with working("certifying", quiet=quiet) as show_step:
        certificate = certify(run, blocks, progress=show_step)
    if output is not None:
        replace_file(output, [f"{certificate.to_json()}\n".encode()])
    return certificate


def _pairs(blocks: Any, *, fit_intercept: bool, normalize: bool, classes: Any) -> ClassPairs:
    """Return the examples of more than two classes, each against the other classes."""
    from onlinear.theory import ClassPairs

    if normalize:
        raise click.BadParameter(
            "there is no verdict on normalized examples of more than two classes", param_hint="--normalize"
        )
    return ClassPairs(blocks, None, classes, fit_intercept=fit_intercept)


def _decide(
    examples: Any, *, quiet: bool, **options: Any
) -> tuple[Separable | Inseparable | Undecided | None, MarginInterval | None]:
    """Return the verdict and, unless the data are proven inseparable, the margin."""
    from onlinear.theory import Inseparable, max_margin, separability

    verdict: Any = None
    # Normalising changes the verdict only if there is an intercept, too.
    normalize = options.get("normalize", False)
    if not (normalize and options["fit_intercept"]):
        as_they_are = {name: value for name, value in options.items() if name != "normalize"}
        with working("deciding", quiet=quiet) as show_step:
            verdict = separability(examples, **as_they_are, progress=show_step)
        if isinstance(verdict, Inseparable):
            return verdict, None
    with working("margin", quiet=quiet) as show_step:
        return verdict, max_margin(examples, **options, progress=show_step)


def _margin_facts(margin: Any) -> Any:
    if margin is None:
        return None
    names = ("kind", "lower", "upper", "gap", "radius", "difficulty")
    return {**{name: getattr(margin, name) for name in names}, "augmented": _margin_facts(margin.augmented)}
