"""Loading models for commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onlinear.cli import rule_spec

if TYPE_CHECKING:
    from onlinear.runs import Run


def load_model(path: str, rule: str | None) -> Run:
    """Load a model; a user-defined rule must be given."""
    from onlinear.errors import ParameterError
    from onlinear.runs import load

    try:
        return load(path, None if rule is None else _rule_class(path, rule))
    except ParameterError:
        if rule is None:
            class_for(path, read_header(path), rule)  # raises with a message for the command line
        raise


def read_header(path: str) -> dict[str, Any]:
    """Return the header of a model file."""
    from onlinear.models.file import peek

    return peek(path)


def class_for(path: str, header: dict[str, Any], rule: str | None) -> Any:
    """Return the class of the rule of a model if it is user-defined; raise if it is not given."""
    if rule is not None:
        return _rule_class(path, rule)
    if header["rule"]["own"]:
        name = header["rule"]["name"]
        raise click.UsageError(
            f"{path}: {name} is a user-defined rule, and the file contains no code; use --rule FILE.py:{name}"
        )
    return None


def _rule_class(path: str, rule: str) -> Any:
    spec = rule_spec.parse(rule)
    if not spec.bare:
        raise click.BadParameter(
            f"{path} contains the parameters of its rule; give the class without parameters", param_hint="--rule"
        )
    return spec.cls
