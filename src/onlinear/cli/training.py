"""`onlinear train`."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onlinear.cli import rule_spec
from onlinear.cli.columns import say_columns
from onlinear.cli.command import Command
from onlinear.cli.models import load_model
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
)
from onlinear.cli.output import (
    Summary,
    rule_facts,
    run_facts,
    say,
    show_json,
    skipped_facts,
    skipped_words,
    window_words,
)
from onlinear.cli.places import check_places, read_once
from onlinear.cli.progress import Watch, working
from onlinear.cli.verdicts import certificate_text
from onlinear.display import counted, wrapped

if TYPE_CHECKING:
    from onlinear.runs import Run
    from onlinear.streams import Stream
    from onlinear.theory import Certificate


@click.command("train", cls=Command)
@data_argument
@click.option(
    "--rule",
    help="The rule: auto, perceptron, winnow, arow, …, with its parameters: 'winnow(beta=0.5)'; your own:"
    " 'file.py:MyRule(C=2)', package.module:MyRule; or the majority of several: 'majority(arow,winnow,file.py:MyRule)'."
    "  [default: auto, the majority of five rules]",
)
@click.option("-o", "--output", type=click.Path(), metavar="MODEL", help="Save the model to this file.")
@click.option(
    "--best-member", is_flag=True, help="Of a majority, save only the member with the fewest mistakes: a linear model."
)
@click.option("--from", "base", type=click.Path(), metavar="MODEL", help="Resume from a saved model.")
@order_options
@click.option(
    "--checkpoint",
    type=click.Path(),
    metavar="FILE",
    help="Save the state to this file during training. After a crash the same command resumes, with the same result.",
)
@click.option(
    "--every", type=click.FloatRange(0), metavar="SECONDS", help="Minimum time between checkpoints.  [default: 30]"
)
@click.option("--certify", is_flag=True, help="Print a certificate of the run at the end.")
@reading_options
@new_classes_option
@print_options
def train_command(
    data: tuple[str, ...],
    rule: str | None,
    output: str | None,
    best_member: bool,
    base: str | None,
    passes: int,
    shuffle: int,
    seed: int | None,
    intercept: bool,
    normalize: bool,
    checkpoint: str | None,
    every: float | None,
    certify: bool,
    new_classes: bool,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Train a model on DATA, one example at a time.

    Each example is first predicted and then learned from. Without --rule, five rules learn at once, and their weighted
    majority predicts: nothing has to be chosen or tuned. Prints progress whenever the number of rounds has doubled, and
    at the end the mistakes, their rate, baselines, and what each member of the majority got wrong. Says so if the
    labels are not in random order: the rate then tells little about examples in another order.

    \b
    onlinear train data.svm -o model
    onlinear train more.svm --from model -o model
    cat data.csv | onlinear train --label spam --rule perceptron --intercept
    """
    aside = quarantine_of(reading, output)
    check_places(
        {"--output": output, "--checkpoint": checkpoint, "--quarantine": aside},
        paths(data),
        from_=base,
        labels=reading["labels"],
        rule=rule_spec.files_of(rule),
    )
    check_passes(passes, data)
    _check_pairs({"--every": every is not None, "--best-member": best_member}, checkpoint=checkpoint, output=output)
    if certify:
        _check_certifiable(paths(data), shuffle, base)
    before = None if base is None else load_model(base, rule)
    if before is not None:
        _check_unchanged(before, base, reading["n_features"], seed, intercept, normalize, shuffle)
    resumes = checkpoint is not None and Path(checkpoint).exists()
    made = before.rule if before else _chosen_rule(rule, checkpoint if resumes else None, seed)
    rule_spec.check_options(made, intercept=intercept, normalize=normalize)

    from onlinear.runs import train

    stream = open_data(data, reading, output=output, like=before)
    if resumes and not quiet and not as_json:
        say(f"resuming from {checkpoint}")
    say_columns(stream, quiet=quiet or as_json, header=reading["header"])
    start = time.monotonic()
    facts = {"rule": rule_facts(made), "resumed": resumes, "columns": stream.columns}
    rounds = None if resumes else before.rounds if before else 0
    try:
        notice = "" if rule or before or resumes else _default_notice(made)
        with Watch(facts, as_json=as_json, quiet=quiet, passes=passes, before=rounds, notice=notice) as watch:
            run = train(
                made,
                stream,
                passes=passes,
                shuffle=shuffle,
                seed=seed or 0,
                fit_intercept=intercept,
                normalize=normalize,
                state=before,
                n_features=reading["n_features"],
                checkpoint=checkpoint,
                every=_EVERY if every is None else every,
                output=output,
                progress=watch,
                new_classes=new_classes,
                best_member=best_member,
            )
    except KeyboardInterrupt:
        if checkpoint is None or not Path(checkpoint).exists():
            raise
        raise KeyboardInterrupt(f"run the same command again to resume from {checkpoint}") from None
    seconds = time.monotonic() - start
    if as_json:
        skipped = skipped_facts(stream.skipped, aside)
        saved = {"best_member": rule_facts(run.best_member().rule)} if best_member else {}
        facts = run_facts(run) | saved
        show_json(event="end", **facts, passes=passes, seconds=seconds, output=output, **skipped)
    else:
        told = _facts(run, passes, 0 if before else shuffle)
        told += [] if aside is None else [("skipped", skipped_words(stream.skipped, aside))]
        told += _saved(
            output, quiet=quiet, only=f", the best member: {run.best_member().rule!r}" if best_member else ""
        )
        click.echo(repr(Summary(run._title(), told)))
    if certify:
        # Reading again must not overwrite the quarantine file.
        certificate = _certify(run, open_data(data, reading, aside=False), quiet=quiet or as_json)
        if as_json:
            show_json(event="certificate", certificate=certificate.record)
        else:
            chunks = open_data(data, reading, aside=False).chunks()
            click.echo(certificate_text(certificate, chunks))


_EVERY = 30.0
"""The default number of seconds between checkpoints."""


def _check_pairs(given: dict[str, bool], *, checkpoint: str | None, output: str | None) -> None:
    """Raise for options that have no effect without another one."""
    for option, other, there in (("--every", "--checkpoint", checkpoint), ("--best-member", "--output", output)):
        if given[option] and there is None:
            raise click.UsageError(f"{option} needs {other}")


def _chosen_rule(rule: str | None, checkpoint: str | None, seed: int | None) -> Any:
    """Return the rule that is named, that of a checkpoint, or by default the majority."""
    if rule is None and checkpoint is not None:
        return load_model(checkpoint, None).rule
    return rule_spec.parse("auto" if rule is None else rule).make(seed)


def _default_notice(rule: Any) -> str:
    """Return what runs if nobody has chosen a rule."""
    return f"rule: auto, the weighted majority of {len(rule.members)} rules (--rule chooses another)"


def _facts(run: Run, passes: int, shuffle: int) -> list[tuple[str, str]]:
    """Return the facts about a run, with those about its passes and its shuffling."""
    told = run._facts()
    told[1:1] = [("passes", f"{passes:,}")] * (passes > 1)
    at = [name for name, _ in told].index("updates")
    told[at:at] = wrapped("", window_words(run, shuffle))
    return told


def _check_unchanged(
    before: Run,
    base: str | None,
    n_features: int | None,
    seed: int | None,
    intercept: bool,
    normalize: bool,
    shuffle: int,
) -> None:
    """Raise for options that cannot change when a model is resumed."""
    for option, given, had in (
        ("--intercept", intercept, before.state.fit_intercept),
        ("--normalize", normalize, before.state.normalize),
    ):
        if given and not had and not before.state.members:  # members have options of their own, which are checked
            raise click.BadParameter(f"{base} was trained without it", param_hint=option)
    if n_features not in {None, before.n_features}:
        raise click.BadParameter(f"{base} has {counted(before.n_features, 'feature')}", param_hint="--n-features")
    parts = [before.rule.vote, *(one.rule for one in before.state.members)] if before.state.members else [before.rule]
    seeds = [rule.seed for rule in parts if "seed" in rule._fields]
    if seed is not None and not shuffle and seeds:
        raise click.BadParameter(f"the rule of {base} has the seed {seeds[0]}", param_hint="--seed")


def _check_certifiable(data: list[str], shuffle: int, base: str | None) -> None:
    """Raise for options that rule out a certificate."""
    once = read_once(data)
    reasons = {
        f"{once} can be read only once; use files": bool(once),
        "a certificate needs the examples in the order of the files; leave out --shuffle, and shuffle the files"
        " beforehand if their order is not random": shuffle > 0,
        "a certificate needs a run from its first round on; leave out --from": base is not None,
    }
    for reason, applies in reasons.items():
        if applies:
            raise click.BadParameter(reason, param_hint="--certify")


def _certify(run: Run, stream: Stream, *, quiet: bool) -> Certificate:
    from onlinear.theory import certify

    with working("certifying", quiet=quiet) as show_step:
        return certify(run, stream, progress=show_step)


def _saved(output: str | None, *, quiet: bool, only: str) -> list[tuple[str, str]]:
    """Return where the model is saved, and how to test it: the mistakes are not those of the last weights."""
    if output is None:
        return []
    test = f"onlinear evaluate {shlex.quote(output)} DATA (the mistakes above were made while learning)"
    return [("saved to", output + only), *([] if quiet else [("test it", test)])]
