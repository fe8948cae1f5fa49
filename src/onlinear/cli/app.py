"""The command `onlinear`, whose subcommands are imported when they are asked for."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any

import click

import onlinear
from onlinear.cli.command import FailedError, debug_option, let_go, one_line

# The order in which a newcomer meets them.
_HOMES = {
    "train": "training",
    "predict": "predicting",
    "certify": "certifying",
    "compare": "comparing",
    "inspect": "inspecting",
    "convert": "converting",
}


class Commands(click.Group):
    """Knows where each command is at home; none of these modules loads anything heavy before it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help page."""
        return list(_HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in _HOMES:
            return None
        command: click.Command = importlib.import_module(f"onlinear.cli.{_HOMES[cmd_name]}").command
        return command


@click.group(
    name="onlinear",
    cls=Commands,
    commands=dict.fromkeys(_HOMES, click.Command(None)),  # for the suggestions that follow a misspelt name
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="DATA are files and folders: libsvm, CSV, Parquet, Arrow, NumPy. None, or -, is the standard input.",
)
@click.version_option(onlinear.__version__, prog_name="onlinear", message="%(prog)s %(version)s")
@debug_option
def commands() -> None:
    """Online linear classification: every number with what it is worth.

    An example arrives, the learner predicts, the answer arrives, the learner updates.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; it ends the process with 0, with 1 for data or model errors, or with 2 for usage."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Who closes the output wants none; and no file of ours should be opened under its number.
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # open to the end
        elif hasattr(getattr(sys, name), "reconfigure"):
            # A terminal that knows no Greek gets an escape, not a traceback.
            getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        return commands(arguments, prog_name="onlinear")
    except OSError as error:  # outside any command: the help, or the version, could not be written
        with contextlib.suppress(OSError):  # nor, it may be, can this
            FailedError(one_line(error)).show()
        let_go(sys.stdout, sys.stderr)
        sys.exit(FailedError.exit_code)
