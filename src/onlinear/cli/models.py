"""Models as the command line names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onlinear.cli import rule_spec

if TYPE_CHECKING:
    from onlinear.runs import Run


def loaded(path: str, rule: str | None) -> Run:
    """Load a model; a rule of the user's own has to be named."""
    from onlinear.errors import ParameterError
    from onlinear.runs import load

    try:
        return load(path, None if rule is None else _named(path, rule))
    except ParameterError:
        if rule is None:
            class_for(path, described(path), rule)  # says it in the words of the command line
        raise


def described(path: str) -> dict[str, Any]:
    """Return what a model file says of itself."""
    from onlinear.models.file import peek

    return peek(path)


def class_for(path: str, header: dict[str, Any], rule: str | None) -> Any:
    """Return the class of a model's rule, where it has to be given."""
    if rule is not None:
        return _named(path, rule)
    if header["rule"]["own"]:
        name = header["rule"]["name"]
        raise click.UsageError(
            f"{path}: its rule {name} is your own, and the file holds no code; name its class: --rule FILE.py:{name}"
        )
    return None


def _named(path: str, rule: str) -> Any:
    spec = rule_spec.parse(rule)
    if not spec.bare:
        raise click.BadParameter(f"{path} has the parameters of its rule; name the class alone", param_hint="--rule")
    return spec.cls
