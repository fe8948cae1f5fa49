"""Mistakes that can be seen in the code of a rule's methods, before anything runs.

Plain Python would silently accept them, and numba would report them in pages. They are found in the bytecode, which
exists even where the source does not.
"""

from __future__ import annotations

import dis
import inspect
import linecache
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from onlinear.engine.algebra import add
from onlinear.engine.fingerprint import methods, references
from onlinear.engine.protocol import METHODS
from onlinear.errors import RuleError

_WRITES = {"STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR"}
_READ_ONLY = {"score", "predict"}
"""The methods that must leave the state unchanged."""
_WRITING = "writes to an array; it must leave the state unchanged: only update() may write"
_RESULTS = {
    "score": "it must return the score",
    "update": "it must return the size of the step, or whether a step was taken",
    "predict": "it must return -1, 0 or +1",
}


def check_code(cls: Any) -> None:
    """Raise a `RuleError` that names the line where a method of a rule can be seen to be wrong."""
    for name, method in methods(cls).items():
        if isinstance(method, FunctionType):
            for step, fault in _faults(cls, name, method):
                line = step.positions.lineno if step.positions else None
                raise RuleError(f"rule {cls.__name__}: {name}() {fault}{_place(method, line)}")


def _faults(cls: Any, name: str, method: FunctionType) -> Iterator[tuple[dis.Instruction, str]]:
    state = _state_name(name, method)
    before: dis.Instruction | None = None
    for step in dis.get_instructions(method):
        if step.opname == "STORE_ATTR":
            yield step, _assignment(cls, step.argval, before, method)
        elif name in _READ_ONLY and step.opname in _WRITES:
            yield step, _WRITING
        elif step.opname.startswith("STORE_FAST") and state in _names(step) and _in_place(before):
            if name in _READ_ONLY:
                yield step, _WRITING
        elif step.opname.startswith("STORE_FAST") and state in _names(step):
            yield (
                step,
                (
                    f"assigns a new value to {state}, which changes the variable and not the state;"
                    f" write into the array: {state}[j] = …, or add({state}, a, x)"
                ),
            )
        elif name in _RESULTS and _returns_none(step, before):
            yield step, f"returns None on some path; {_RESULTS[name]}"
        if step.opname not in {"CACHE", "EXTENDED_ARG", "NOP"}:
            before = step
    if name in _READ_ONLY and any(target is add for _, target in references(method)):
        first = next(dis.get_instructions(method))
        yield first, "calls add(); it must leave the state unchanged: only update() may write"


def _assignment(cls: Any, attribute: str, before: dis.Instruction | None, method: FunctionType) -> str:
    owner = None if before is None or not before.opname.startswith("LOAD_FAST") else before.argval
    owner = owner[-1] if isinstance(owner, tuple) else owner
    if attribute in cls._fields or owner == method.__code__.co_varnames[0]:
        return f"assigns to self.{attribute}; hyper-parameters do not change: keep what changes in the state"
    remedy = f"{attribute} = state.{attribute}; {attribute} += …"
    return f"assigns to the field {attribute} of the state; write into its array instead: {remedy}"


def _state_name(name: str, method: FunctionType) -> str | None:
    """Return what the method calls the state, where it takes it."""
    known = METHODS.get(name)
    if known is None or "state" not in known.parameters:
        return None
    return list(inspect.signature(method).parameters)[1 + known.parameters.index("state")]


def _names(step: dis.Instruction) -> tuple[Any, ...]:
    # Since Python 3.12 some instructions store into one variable and load or store another.
    stored = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    return stored[:1] if step.opname.endswith("LOAD_FAST") else stored


def _in_place(step: dis.Instruction | None) -> bool:
    """Tell whether an instruction is that of ``w *= 0.9`` or the like."""
    return step is not None and step.opname == "BINARY_OP" and step.argrepr.endswith("=")


def _returns_none(step: dis.Instruction, before: dis.Instruction | None) -> bool:
    if step.opname == "RETURN_CONST":
        return step.argval is None
    loaded = before is not None and before.opname == "LOAD_CONST" and before.argval is None
    return loaded and step.opname == "RETURN_VALUE"


def _place(method: FunctionType, line: int | None) -> str:
    path = method.__code__.co_filename
    text = linecache.getline(path, line).strip() if line else ""
    return f", at {path}:{line}: {text}" if text else f", at {path}:{line}"
