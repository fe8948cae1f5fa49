"""The command `onlinear`, whose subcommands are imported when they are used."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

import onlinear
from onlinear.cli.command import FailedError, debug_option, discard_output, one_line


class CommandEntry(NamedTuple):
    """A command: the module that has it, and the first sentence of its help."""

    module: str
    summary: str


# In the order of the help page, which is printed without importing the commands.
COMMANDS: Final = {
    "train": CommandEntry("training", "Train a model on DATA, one example at a time."),
    "predict": CommandEntry("predicting", "Predict the labels of DATA with MODEL."),
    "evaluate": CommandEntry("evaluating", "Compare the predictions of MODEL with the labels in DATA."),
    "certify": CommandEntry("certifying", "Decide whether DATA are linearly separable, and with which margin."),
    "compare": CommandEntry("comparing", "Train several rules on DATA in a single reading."),
    "report": CommandEntry("reporting", "Train on DATA, and write a page about it."),
    "inspect": CommandEntry("inspecting", "Describe MODEL and list its largest weights."),
    "convert": CommandEntry("converting", "Convert DATA to a format that is fast to read, or to libsvm text."),
    "reproduce": CommandEntry("reproducing", "Reproduce an experiment of the lecture notes."),
}


class Commands(click.Group):
    """The subcommands. None of their modules imports anything heavy before it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"onlinear.cli.{COMMANDS[cmd_name].module}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.group(
    name="onlinear",
    cls=Commands,
    commands=dict.fromkeys(COMMANDS, click.Command(None)),  # for suggestions after a misspelt name
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="DATA are files and folders: libsvm, CSV, Parquet, Arrow, NumPy. The default is -, the standard input.",
)
@click.version_option(onlinear.__version__, prog_name="onlinear", message="%(prog)s %(version)s")
@debug_option
def commands() -> None:
    """Online linear classification: every result with its guarantee.

    For each example, the learner predicts, sees the label, and updates.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line, and exit with code 0, with 1 for errors in data or models, or with 2 for usage errors."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # A closed stream wants no output; and its number must not be reused for another file.
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # open until the process ends
        elif hasattr(getattr(sys, name), "reconfigure"):
            # A terminal without Greek letters gets escapes, not a traceback.
            getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        return commands(arguments, prog_name="onlinear")
    except OSError as error:  # the help or the version could not be written
        with contextlib.suppress(OSError):  # the message may fail, too
            FailedError(one_line(error)).show()
        discard_output(sys.stdout, sys.stderr)
        sys.exit(FailedError.exit_code)
