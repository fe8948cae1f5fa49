"""Write docs/reference.md from the docstrings, docs/cli.md from `--help`, formats in docs/streams.md, and pictures."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import click
import numpy as np

import onlinear
import onlinear.river
from onlinear.cli.app import commands
from onlinear.experiments import Experiment
from onlinear.pictures import Axis, Layer, Picture
from onlinear.pictures.svg import svg
from onlinear.plot.kinds import PlotKind
from onlinear.rules import Majority
from onlinear.streams.formats.format import Format
from onlinear.streams.formats.registry import all_formats
from onlinear.streams.reading import Reading

PAGES = {
    "onlinear": [name for name in onlinear.__all__ if name[0] != "_" and not inspect.ismodule(getattr(onlinear, name))],
    "onlinear.rules": onlinear.rules.__all__,
    "onlinear.river": onlinear.river.__all__,
    "onlinear.streams": [name for name in onlinear.streams.__all__ if name not in onlinear.__all__],
    "onlinear.datasets": onlinear.datasets.__all__,
    "onlinear.theory": [name for name in onlinear.theory.__all__ if name not in {"bounds", *onlinear.__all__}],
    "onlinear.theory.bounds": onlinear.theory.bounds.__all__,
    "onlinear.plot": onlinear.plot.__all__,
    "onlinear.pictures": onlinear.pictures.__all__,
    "onlinear.experiments": [name for name in onlinear.experiments.__all__ if name != "EXPERIMENTS"],
    "onlinear.report": onlinear.report.__all__,
    "onlinear.errors": [name for name in vars(onlinear.errors) if name.endswith(("Error", "Warning"))],
}


def _text(name: str, thing: Any) -> str:
    """Return the docstring; that of a constant stands below it in the source."""
    if not isinstance(thing, float):
        return inspect.getdoc(thing) or ""
    below = re.compile(rf'^{name}\b[^\n]*\n"""(.*?)"""', re.MULTILINE | re.DOTALL)
    sources = (path.read_text(encoding="utf-8") for path in Path(onlinear.__file__).parent.rglob("*.py"))
    return next(found.group(1) for source in sources if (found := below.search(source)))


def entry(module: Any, name: str) -> str:
    """Return the text for one public name."""
    thing = getattr(module, name)
    signature = f"({', '.join(thing._fields)})" if hasattr(thing, "_fields") else ""
    if isinstance(thing, Experiment):
        return f"### `{name}()`\n\n{thing.question}\n"
    if inspect.isfunction(thing) or isinstance(thing, PlotKind):
        signature = str(inspect.signature(thing, eval_str=False)).replace("'", "")
    lines = [f"### `{name}{signature}`", "", "```text", _text(name, thing), "```", ""]
    for attribute, member in vars(thing).items() if inspect.isclass(thing) else ():
        if isinstance(member, property):
            lines += [f"- `{attribute}`: {(inspect.getdoc(member) or '').partition(chr(10))[0]}"]
    return "\n".join([*lines, ""])


def reference() -> str:
    """Return the page."""
    parts = ["# Reference", "", "Written from the code by `make docs`.", ""]
    for page, names in PAGES.items():
        module = importlib.import_module(page)
        parts += [f"## {page}", "", inspect.getdoc(module), ""]
        parts += [entry(module, name) for name in names]
    return "\n".join(parts).rstrip() + "\n"


def command_line() -> str:
    """Return the page with the help of every command."""
    outer = click.Context(commands, info_name="onlinear", terminal_width=100, **commands.context_settings)
    parts = [
        "# Command line",
        "",
        "Written from `--help` by `make docs`.",
        "",
        "Results go to the standard output, everything else to the standard error. Exit codes: 0 for success; 1 for",
        "errors in data or models, with a one-line message; 2 for usage errors; 130 after an interrupt; 141 if the",
        "pipe that reads the output is closed.",
        "",
        'With `--json`, `train`, `compare`, `certify` and `convert` print an object with `"event": "start"` and the',
        'labels first, and one with `"event": "end"` and the results; with `--quiet`, only the results.',
        '`train --certify` then prints one with `"event": "certificate"`; `compare --rules all` prints one with',
        '`"event": "left out"` for each rule that does not fit the data. `evaluate` prints a single object.',
        "",
        "No output overwrites an input file or is written into an input folder, except that `-o` may be the model of",
        "`--from`. Lines that `--on-error skip` skips go to the file of `--quarantine`, which is overwritten at the",
        "first of them. By default it is named after the output, or `onlinear`, with `.quarantine` appended.",
        "",
        *_help("onlinear", outer),
    ]
    for name in commands.list_commands(outer):
        command = commands.get_command(outer, name)
        if command is not None:
            parts += _help(f"onlinear {name}", click.Context(command, outer, info_name=name, terminal_width=100))
    return "\n".join(parts).rstrip() + "\n"


def _help(title: str, context: click.Context) -> list[str]:
    return [f"## {title}", "", "```text", context.get_help(), "```", ""]


def with_formats(page: str) -> str:
    """Return a page with the table of the formats between its two marks."""
    lines = ["| `format=` | Recognised by | Reading options | Pipe | `y=` |", "|---|---|---|---|---|"]
    for entry in all_formats():
        listed = (f"`{field.name}`" for field in dataclasses.fields(Reading) if field.name in entry.options)
        options = ", ".join(listed) or "none"
        yes = ["yes" if flag else "no" for flag in (entry.piped, entry.separate_labels)]
        lines.append(f"| {' | '.join([f'`{entry.name}`', _recognised(entry), options, *yes])} |")
    table = "\n".join(lines)
    return re.sub(r"(?s)(<!-- formats -->\n).*(\n<!-- end -->)", lambda marks: marks[1] + table + marks[2], page)


def _recognised(entry: Format) -> str:
    signs = [*(["its first bytes"] if entry.magic else []), *(f"`{ending}`" for ending in entry.endings)]
    signs += ["its first line"] if entry.first_line else []
    signs += [f"a mark in its {' or '.join(entry.carriers)} schema"] if entry.carriers else []
    return ", ".join(signs)


def majority_picture() -> Picture:
    """Return the picture of the README: the mistakes of the default rules, and of their majority."""
    data = onlinear.datasets.drift(margin=0.02, n=9000, pieces=3, seed=0)
    flipped = np.random.default_rng(1).random(9000) < 0.02
    stream = data.X, np.where(flipped, -data.y, data.y)
    rule = Majority()
    runs = {
        one.name: onlinear.run(
            one.rule, *stream, fit_intercept=one.fit_intercept, normalize=one.normalize, trace="curve"
        )
        for one in rule.members
    }
    runs = dict(sorted(runs.items(), key=lambda item: -item[1].mistakes))
    runs["the majority of the five"] = onlinear.run(rule, *stream, trace="curve")
    layers = []
    for name, run in runs.items():
        step = slice(None, None, 5)
        layers.append(Layer.of(f"{name}: {run.mistakes:,}", run.trace.rounds[step], run.trace.mistakes[step]))
    return Picture(
        "Mistakes of five rules and of their majority",
        Axis("rounds", low=0.0, high=9000.0),
        Axis("mistakes so far", low=0.0),
        tuple(layers),
        ("A generated stream: its target changes after 3,000 and 6,000 rounds, and 2 % of the labels are wrong.",),
    )


PICTURES = {"majority": majority_picture}
"""The pictures in docs/pictures."""


if __name__ == "__main__":
    here = Path(__file__)
    here.with_name("pictures").mkdir(exist_ok=True)
    for name, make in PICTURES.items():
        here.with_name("pictures").joinpath(f"{name}.svg").write_text(svg(make()), encoding="utf-8")
    here.with_name("reference.md").write_text(reference(), encoding="utf-8")
    here.with_name("cli.md").write_text(command_line(), encoding="utf-8")
    streams = here.with_name("streams.md")
    streams.write_text(with_formats(streams.read_text(encoding="utf-8")), encoding="utf-8")
