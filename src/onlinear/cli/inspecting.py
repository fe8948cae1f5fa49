"""`onlinear inspect`."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from onlinear.cli.command import Command, debug_option
from onlinear.cli.models import class_for, has_own_rule, read_header
from onlinear.cli.options import custom_rule_option
from onlinear.cli.output import Summary, run_facts, show_json, show_table, visible
from onlinear.display import counted
from onlinear.spelling import command_line

if TYPE_CHECKING:
    from onlinear.runs import Run


@click.command("inspect", cls=Command)
@click.argument("model", type=click.Path())
@click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, metavar="N", help="Number of weights to list."
)
@custom_rule_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def inspect_command(model: str, top: int, rule: str | None, as_json: bool) -> None:
    """Describe MODEL and list its largest weights.

    Features without names are numbered as in libsvm files, or from 0. MODEL may also be a checkpoint. For a
    user-defined rule, --rule is optional; without it, fewer facts are shown.
    """
    from onlinear.runs import load

    header = read_header(model)
    known = rule is not None or not has_own_rule(header)
    run = load(model, class_for(model, header, rule)) if known else None
    best = run.best_member() if run is not None and run.state.members else run
    largest = _largest(model, header, best, top)
    if as_json:
        more = {} if run is None else run_facts(run)
        said = {name: value for name, value in more.items() if name not in {"labels", "features"}}
        members = {"members": said["members"]} if "members" in said else {}
        show_json(model=model, **said | header | members, top=[{"feature": name, **values} for name, values in largest])
        return
    click.echo(repr(Summary(f"{header['kind']} in {model}", _facts(header, run))))
    if largest:
        click.echo("" if best is run or best is None else f"\nThe weights of the best member, {best.rule!r}:")
        flat = [(name, values.get("weights", values)) for name, values in largest]
        columns = [name for name in flat[0][1] if name != "index"]
        rows = [(visible(str(name)), *(_number(values[one]) for one in columns)) for name, values in flat]
        who = "expert" if "mistakes" in columns else "feature"
        show_table([(who, "left"), *((visible(name), "right") for name in columns)], rows)


def _facts(header: dict[str, Any], run: Run | None) -> list[tuple[str, str]]:
    """Return the facts in a model file, and those computed from the run if its rule is known."""
    from onlinear.models.header import mistakes_of
    from onlinear.runs.outcome import mistake_facts

    rule, rounds = header["rule"], header["rounds"]
    by_class, labels = mistakes_of(header), header["classes"]["labels"]
    many = "mistakes_by_class" in header
    classes = ", ".join(map(repr, labels)) if many else "{!r} (negative), {!r} (positive)".format(*labels)
    options = [words for name, words in _OPTIONS.items() if header[name]]
    facts = [("rule", visible(_named(rule)))]
    if rule["own"]:
        facts.append(("code", visible(f"{rule['code'] or 'unknown'}, of {rule['module']}; under {rule['python']}")))
    facts += [
        *([] if "members" in header else [("options", ", ".join(options) or "none")]),
        ("rounds", f"{rounds:,} with {header['n_features']:,} features"),
        ("classes", visible(classes)),
        *mistake_facts(by_class, rounds, labels if many else None, _MOST_CLASSES),
        ("updates", f"{header['updates']:,}"),
    ]
    if run is not None:
        facts += _others(facts, run)
    elif "members" in header:
        names = [visible(_named(member["rule"])) for member in header["members"]]
        facts += [("" if i else "members", name) for i, name in enumerate(names)]
        facts.append(("", "give --rule with the classes of your own rules for their mistakes and weights"))
    elif rule["own"]:
        facts.append(("weights", "those that learn; give --rule to list those that predict, if they differ"))
    notes = header["notes"]
    if isinstance(notes, dict) and {"passes", "rows"} <= set(notes):
        read = counted(notes["rows"], "example")
        facts.append(("checkpoint", f"{counted(notes['passes'], 'pass')} completed, and {read} of the next"))
    if header["reading"]:
        options = [f"{name}={value!r}" for name, value in header["reading"].items()]
        room = _COLUMNS - 4 - max(len(name) for name, _ in facts)
        lines = textwrap.wrap(", ".join(options), room, break_long_words=False, break_on_hyphens=False)
        facts += [("" if i else "reading", line) for i, line in enumerate(lines)]
    facts += [
        ("stream", header["fingerprint"] or "unknown"),
        ("sha256", header["sha256"]),
        ("format", f"version {header['version']}"),
    ]
    return facts


def _others(facts: list[tuple[str, str]], run: Run) -> Iterator[tuple[str, str]]:
    """Yield the facts about a run with other names, each with the lines that continue it."""
    said, name = {name for name, _ in facts}, ""
    # There is no --shuffle here: it is an option of training.
    with command_line({"shuffle": "onlinear train --shuffle"}):
        for fact in run._facts():
            name = fact[0] or name
            if name not in said:
                yield fact


_COLUMNS = 80
_MOST_CLASSES = 100
"""The largest number of classes whose mistakes are listed."""
_OPTIONS = {"fit_intercept": "intercept", "normalize": "normalized"}


def _largest(model: str, header: dict[str, Any], run: Run | None, top: int) -> list[tuple[Any, dict[str, Any]]]:
    """Return the features with the largest weights, or the experts with the fewest mistakes."""
    import numpy as np

    from onlinear.models.file import weights_and_names

    made = None if run is None else run.expert_mistakes
    if run is None and "members" in header:  # the weights of features are those of a member, whose rule is not known
        return []
    weights, names = weights_and_names(model) if run is None else (run.weights, run.state.names)
    reading = header["reading"] or {}
    # libsvm indices start at 1.
    lowest = int(made is None and reading.get("format") == "libsvm" and not reading.get("zero_based", False))
    # With several classes, the largest weight of a feature counts.
    largest = np.abs(np.atleast_2d(weights)).max(axis=0)
    order = np.argsort(-largest if made is None else made, kind="stable")[:top]
    # Zeros are left out; there may be millions of them.
    chosen = [int(k) for k in order if made is not None or largest[k] != 0.0]
    listed = []
    for k in chosen:
        values: dict[str, Any] = {"index": k}
        if made is not None:
            values["mistakes"] = int(made[k])
        if weights.ndim == 1:
            values["weight"] = float(weights[k])
        else:
            labels = map(str, header["classes"]["labels"])
            values["weights"] = dict(zip(labels, weights[:, k].tolist(), strict=True))
        listed.append(((names[k] if names else "") or k + lowest, values))
    return listed


def _named(rule: dict[str, Any]) -> str:
    """Return a rule with its parameters."""
    return f"{rule['name']}({', '.join(f'{name}={_parameter(value)}' for name, value in rule['parameters'].items())})"


def _parameter(value: Any) -> str:
    match value:
        case {"name": _, "parameters": _}:
            return _named(value)
        case {"tensor": _}:
            return "array"
        case {"float": str(text)}:
            return text
    return repr(value)


def _number(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if math.isfinite(value) else str(value)
