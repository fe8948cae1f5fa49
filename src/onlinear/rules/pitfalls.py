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
            for step, fault in _faults(name, method):
                line = step.positions.lineno if step.positions else None
                raise RuleError(f"rule {cls.__name__}: {name}() {fault}{_place(method, line)}")


def _faults(name: str, method: FunctionType) -> Iterator[tuple[dis.Instruction, str]]:
    state = _state_name(name, method)
    # The variables that hold the state, or one of its arrays.
    arrays = {state} if state else set()
    steps = [step for step in dis.get_instructions(method) if step.opname not in {"CACHE", "EXTENDED_ARG", "NOP"}]
    for k, step in enumerate(steps):
        before, earlier = (steps[k - j] if k >= j else None for j in (1, 2))
        stored = {one for one in _names(step) if step.opname.startswith("STORE_FAST")}
        if step.opname == "STORE_ATTR":
            yield step, _assignment(method, step.argval, _owner(steps[:k]))
        elif (name in _READ_ONLY and step.opname in _WRITES and not stored) or (
            stored & arrays and _is_arithmetic(before, in_place=True) and name in _READ_ONLY
        ):
            yield step, _WRITING
        elif stored & arrays and _is_arithmetic(before, in_place=False) and name not in _READ_ONLY:
            variable = next(iter(stored & arrays))
            yield (
                step,
                (
                    f"assigns a new value to {variable}, which changes the variable and not the state;"
                    f" write into the array: {variable}[j] = …, or add({variable}, a, x)"
                ),
            )
        elif stored and _loads(earlier, state) and before is not None and before.opname == "LOAD_ATTR":
            arrays |= stored
        elif name in _RESULTS and _returns_none(step, before):
            yield step, f"returns None on some path; {_RESULTS[name]}"
    if name in _READ_ONLY:
        called = {path[-1] for path, target in references(method) if target is add}
        for step in steps:
            if step.argval in called and step.opname.startswith("LOAD_"):
                yield step, "calls add(); it must leave the state unchanged: only update() may write"


def _assignment(method: FunctionType, attribute: str, owner: str | None) -> str:
    if owner == method.__code__.co_varnames[0]:
        return f"assigns to self.{attribute}; hyper-parameters do not change: keep what changes in the state"
    remedy = f"{attribute} = state.{attribute}; {attribute} += …"
    return f"assigns to the field {attribute} of the state; write into its array instead: {remedy}"


def _owner(steps: list[dis.Instruction]) -> str | None:
    """Return the variable whose attribute is assigned after these instructions."""
    # In ``state.total += …`` the variable is loaded first, and copied.
    copied = next((k for k in range(len(steps) - 1, 0, -1) if steps[k].opname == "COPY"), 0)
    found = steps[copied - 1] if steps[-1].opname == "SWAP" and copied else steps[-1]
    if not found.opname.startswith("LOAD_FAST"):
        return None
    return str(found.argval[-1] if isinstance(found.argval, tuple) else found.argval)


def _state_name(name: str, method: FunctionType) -> str | None:
    """Return the name of the parameter for the state, if there is one."""
    known = METHODS.get(name)
    if known is None or "state" not in known.parameters:
        return None
    return list(inspect.signature(method).parameters)[1 + known.parameters.index("state")]


def _names(step: dis.Instruction) -> tuple[Any, ...]:
    # Since Python 3.12 some instructions store into one variable and load or store another.
    stored = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    return stored[:1] if step.opname.endswith("LOAD_FAST") else stored


def _loads(step: dis.Instruction | None, variable: str | None) -> bool:
    """Tell whether an instruction loads a variable."""
    if step is None or variable is None or "LOAD_FAST" not in step.opname:
        return False
    return bool((step.argval[-1] if isinstance(step.argval, tuple) else step.argval) == variable)


def _is_arithmetic(step: dis.Instruction | None, *, in_place: bool) -> bool:
    """Tell whether an instruction is that of ``w *= 0.9`` and the like, or of ``0.9 * w``."""
    return step is not None and step.opname == "BINARY_OP" and step.argrepr.endswith("=") == in_place


def _returns_none(step: dis.Instruction, before: dis.Instruction | None) -> bool:
    if step.opname == "RETURN_CONST":
        return step.argval is None
    loaded = before is not None and before.opname == "LOAD_CONST" and before.argval is None
    return loaded and step.opname == "RETURN_VALUE"


def _place(method: FunctionType, line: int | None) -> str:
    path = method.__code__.co_filename
    text = linecache.getline(path, line).strip() if line else ""
    return f", at {path}:{line}: {text}" if text else f", at {path}:{line}"
