"""The base of all commands: options in sections, errors as one-line messages."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import click

from onlinear.cli.output import say, visible
from onlinear.errors import OnlinearError, ParameterError
from onlinear.spelling import command_line

OWN_RULE = "onlinear.rule"
"""The key in the context for the names of user-defined rules."""
_DEBUG = "onlinear.debug"
_ARGUMENTS = {"labels": "y", "intercept": "fit_intercept"}
"""The options that have another name in Python."""
_CLOSED_PIPE = 141  # the exit code of a process killed by SIGPIPE, in shells
_INTERRUPTED = 130

F = TypeVar("F", bound=Callable[..., Any])


def debug_option(function: F) -> F:
    """Add --debug, which is accepted before and after the name of the command."""

    def set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            ctx.meta[_DEBUG] = True

    option = click.option(
        "--debug", is_flag=True, expose_value=False, callback=set_debug, help="Show a traceback for errors."
    )
    return option(function)


class Option(click.Option):
    """An option in a named section of the help page."""

    def __init__(self, *declarations: Any, section: str, **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.section = section


class FailedError(click.ClickException):
    """An error in data or models: a one-line message, and exit code 1."""

    def show(self, file: Any = None) -> None:
        """Print the message."""
        click.echo(f"onlinear: error: {self.message}", err=True, file=file)


class Command(click.Command):
    """A command with one-line error messages, and its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of the command first."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Run, and turn errors into messages and exit codes."""
        try:
            quiet = bool(ctx.params.get("quiet") or ctx.params.get("as_json"))
            from onlinear.cli.notices import notices

            with notices(quiet=quiet), command_line(_options_of(self)):
                result = super().invoke(ctx)
            # Raise for a closed pipe here, not when the interpreter ends.
            sys.stdout.flush()
        except BrokenPipeError:
            discard_output(sys.stdout, sys.stderr)
            ctx.exit(_CLOSED_PIPE)
        except KeyboardInterrupt as interrupt:
            click.echo(": ".join(["onlinear: interrupted", *map(str, interrupt.args)]), err=True)
            ctx.exit(_INTERRUPTED)
        except (OnlinearError, OSError, MemoryError) as error:
            _show_where(ctx, error)
            if isinstance(error, ParameterError):
                raise click.UsageError(one_line(error), ctx) from error
            raise FailedError(one_line(error)) from error
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except (Exception, SystemExit) as error:
            own = ctx.meta.get(OWN_RULE)
            if own is None:
                raise
            _show_where(ctx, error)
            raise FailedError(
                f"{' or '.join(own)}: {type(error).__name__}: {one_line(error)} (use --debug for a traceback)"
            ) from error
        return result


def _options_of(command: click.Command) -> dict[str, str]:
    """Return the options of a command by the arguments that they stand for in Python."""
    options = {one.name: max(one.opts, key=len) for one in command.params if isinstance(one, click.Option) and one.name}
    same = {argument: options[name] for name, argument in _ARGUMENTS.items() if name in options}
    return options | same


def _show_where(ctx: click.Context, error: BaseException) -> None:
    if ctx.meta.get(_DEBUG):
        say("".join(traceback.format_exception(error)).rstrip())


def discard_output(*streams: Any) -> None:
    """Discard the pending output of streams that can no longer be written to."""
    for stream in streams:
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else visible(f"{error.filename}: {error.strerror}")
    if isinstance(error, MemoryError):
        return f"out of memory: {error}"
    return visible(" ".join(str(error).splitlines()))
