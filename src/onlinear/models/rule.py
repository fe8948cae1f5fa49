"""A rule in a model file: its name and parameters, never its code."""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinear.engine.fingerprint import own_fingerprint
from onlinear.errors import ModelError, ParameterError
from onlinear.models.tensors import TensorFile, can_be_stored
from onlinear.rules.majority import Majority, Member
from onlinear.rules.registry import BUILT_IN
from onlinear.rules.rule import is_rule

MAJORITY = Majority.__name__
_PYTHON = sys.implementation.cache_tag
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def describe(rule: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a rule as JSON, and the arrays among its parameters as tensors; a majority without its members."""
    if isinstance(rule, Majority):
        vote, tensors = describe(rule.vote)
        return {"name": MAJORITY, "own": False, "parameters": {"vote": vote}}, tensors
    cls = type(rule)
    parameters, tensors = {}, {}
    for name, value in rule._asdict().items():
        if isinstance(value, np.ndarray) and can_be_stored(value.dtype):
            tensors[f"rule.{name}"] = value
            parameters[name] = {"tensor": f"rule.{name}"}
        elif isinstance(value, float):
            parameters[name] = number_as_json(value)
        elif value is None or type(value) in {bool, int, str}:
            parameters[name] = value
        else:
            raise ParameterError(
                f"{cls.__name__}: {name} is {value!r:.100}, which a model file cannot hold;"
                " use numbers, strings or arrays of numbers"
            )
    described = {"name": cls.__qualname__, "own": BUILT_IN.get(cls.__qualname__) is not cls, "parameters": parameters}
    if described["own"]:
        described |= {"module": cls.__module__, "code": own_fingerprint(cls), "python": _PYTHON}
    return described, tensors


def number_as_json(value: float) -> Any:
    """Return a float as JSON, which knows no infinity; its digits are enough for every bit."""
    return value if math.isfinite(value) else {"float": repr(float(value))}


def json_as_number(value: Any) -> float:
    """Return a float from JSON."""
    match value:
        case float() if math.isfinite(value):
            return value
        case {"float": str(text)} if len(value) == 1 and text in _NOT_FINITE:
            return _NOT_FINITE[text]
    raise ModelError(f"{reprlib.repr(value)} is not a number")


def check_description(described: Any) -> None:
    """Raise unless the file describes a rule, of the library or of the user's own."""
    match described:
        case {"name": "Majority", "own": False, "parameters": {"vote": {"name": name} as vote} as parameters} if (
            len(described) == 3 and len(parameters) == 1 and name != MAJORITY
        ):
            check_description(vote)
        case {"name": str(name), "own": False, "parameters": dict()} if len(described) == 3:
            if name not in BUILT_IN:
                raise ModelError(f"this onlinear has no rule {name!r:.100}")
        case {
            "name": str(),
            "own": True,
            "parameters": dict(),
            "module": str(),
            "code": str() | None,
            "python": str() | None,
        } if len(described) == 6:
            pass
        case _:
            raise ModelError("its header does not describe a rule")


def is_majority(described: Any) -> bool:
    """Tell whether a file describes a majority."""
    return bool(described["name"] == MAJORITY and not described["own"])


def restore(file: TensorFile, given: Any, members: Sequence[Member] = ()) -> Any:
    """Return the rule with its parameters; one of the user's own is made from the class that was given."""
    described = file.header["rule"]
    if not is_majority(described):
        return _restore(file, described, given)
    vote = described["parameters"]["vote"]
    try:
        return Majority(members, _restore(file, vote, class_among(given, vote)))
    except ParameterError as error:
        raise ModelError(f"its majority: {error}") from error


def class_among(given: Any, described: dict[str, Any]) -> Any:
    """Return the class, of those that were given, that a part of a majority needs; none if it is the library's."""
    classes = given if isinstance(given, list | tuple) else [given]
    return next(
        (cls for cls in classes if described["own"] and getattr(cls, "__qualname__", "") == described["name"]), None
    )


def classes_in(rule: Any) -> Any:
    """Return the class of a rule, or those of the user-defined rules in a majority: what loading it needs."""
    if not isinstance(rule, Majority):
        return type(rule)
    kinds = dict.fromkeys(type(each) for each in (rule.vote, *(member.rule for member in rule.members)))
    return [cls for cls in kinds if BUILT_IN.get(cls.__qualname__) is not cls]


def check_all_used(given: Any, described: Sequence[dict[str, Any]]) -> None:
    """Raise if a class was given that no part of a majority needs."""
    own = {one["name"] for each in described for one in (each, each["parameters"].get("vote", each)) if one["own"]}
    for cls in given if isinstance(given, list | tuple) else [given]:
        if cls is not None and getattr(cls, "__qualname__", "") not in own:
            raise ParameterError(f"the model is a majority, and {cls!r:.100} is none of its user-defined rules")


def _restore(file: TensorFile, described: dict[str, Any], given: Any) -> Any:
    cls = _class_of(file.header, described, given)
    parameters = {name: _parameter(file, value) for name, value in described["parameters"].items()}
    try:
        return cls(**parameters)
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise ModelError(f"{described['name']} refuses its parameters: {error}") from error


def _class_of(header: dict[str, Any], described: dict[str, Any], given: Any) -> Any:
    name, own = described["name"], described["own"]
    if own and given is None:
        raise ParameterError(
            f"the rule {name} of {described['module']} is not one of the library's, and a model file contains no code;"
            f" give its class: load(path, rule={name.rpartition('.')[2]})"
        )
    if given is not None and not is_rule(given):
        raise ParameterError(f"rule is {given!r:.100}; it must be the class of a rule")
    if given is not None and given.__qualname__ != name:
        raise ParameterError(f"the model is of the rule {name}, not of {given.__qualname__}")
    if not own:
        if given not in {None, BUILT_IN[name]}:
            raise ParameterError(f"the model is of the library's rule {name}, not of the one in {given.__module__}")
        return BUILT_IN[name]
    if described["python"] == _PYTHON and described["code"] is not None:
        found = own_fingerprint(given)
        # The promise linear=True may have been added since: it is checked when it is first used.
        if found is not None and described["code"] not in {found, own_fingerprint(given, promises=False)}:
            start = "(w[1:], w[0])" if header["fit_intercept"] else "w"
            options = "".join(f", {option}=True" for option in ("fit_intercept", "normalize") if header[option])
            raise ModelError(
                f"the code of {name} has changed since the model was saved: its fingerprint is {found} and was"
                f" {described['code']}; load with the code as it was, or start again from the weights:"
                f" w = safetensors.numpy.load_file(path)['weights'], start={start}{options}"
            )
    return given


def _parameter(file: TensorFile, value: Any) -> Any:
    match value:
        case {"tensor": str(name)} if len(value) == 1 and name.startswith("rule.") and name in file.entries:
            return file.array(name)
        case float() | dict():
            return json_as_number(value)
        case None | bool() | int() | str():
            return value
    raise ModelError(f"a parameter of its rule is {reprlib.repr(value)}")
