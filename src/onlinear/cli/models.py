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
    """Return the user-defined classes of a model, or none if it has none; raise if they are not given."""
    if rule is not None:
        return _rule_class(path, rule)
    own = [one["name"] for one in _rules_in(header) if one["own"]]
    if own:
        what = f"{own[0]} is a user-defined rule"
        how = ", ".join(f"FILE.py:{name}" for name in dict.fromkeys(own))
        raise click.UsageError(f"{path}: {what}, and the file contains no code; use --rule {how}")
    return None


def has_own_rule(header: dict[str, Any]) -> bool:
    """Tell whether a model, or one of its members, has a user-defined rule."""
    return any(one["own"] for one in _rules_in(header))


def _rules_in(header: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the description of the rule, and those of its parts."""
    rule = header["rule"]
    members = [member["rule"] for member in header.get("members", ())]
    return [rule, *([rule["parameters"]["vote"]] if members else []), *members]


def _rule_class(path: str, rule: str) -> Any:
    specs = [rule_spec.parse(part) for part in rule_spec.split(rule)]
    if len(specs) == 1 and isinstance(specs[0], rule_spec.MajoritySpec):
        _check_majority(path, read_header(path), specs[0])
        return specs[0].own
    given = []
    for spec in specs:
        if isinstance(spec, rule_spec.MajoritySpec) or not spec.bare:
            raise click.BadParameter(
                f"{path} contains the parameters of its rule; give the class without parameters", param_hint="--rule"
            )
        given.append(spec.cls)
    return given[0] if len(given) == 1 else given


def _check_majority(path: str, header: dict[str, Any], spec: rule_spec.MajoritySpec) -> None:
    """Raise if a model is not of the majority that is named."""
    if "members" not in header:
        raise click.BadParameter(f"{path} is of {header['rule']['name']}, not of a majority", param_hint="--rule")
    has = [member["rule"]["name"] for member in header["members"]]
    named = [one.cls.__qualname__ for one, _ in spec.members]
    if named and named != has:
        raise click.BadParameter(f"{path} is the majority of {', '.join(has)}, and keeps them", param_hint="--rule")
