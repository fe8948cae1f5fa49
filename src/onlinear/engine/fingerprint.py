"""What a rule's compiled code depends on, as a short digest.

numba keeps compiled code on disk and does not notice when a rule in another file has changed. So the
name under which a rule is compiled carries a digest of its methods, of the functions that they call,
and of the constants that they read: an edit misses the cache, a revert hits it again.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

# Code that an upgrade changes as a whole, and the engine, whose source is digested: names suffice.
_FOREIGN = ("builtins", "llvmlite", "math", "numba", "numpy", "scipy")
_ENGINE = __name__.rpartition(".")[0]

# What typing.NamedTuple writes into a class.
_GENERATED = frozenset({"_asdict", "_make", "_replace"})


def methods(cls: type) -> dict[str, Callable[..., Any]]:
    """Return the functions that a rule's class defines, by name."""
    return {
        name: member
        for name, member in vars(cls).items()
        if isinstance(member, types.FunctionType) and name not in _GENERATED and not name.startswith("__")
    }


def fingerprint(cls: type) -> str:
    """Return a digest of everything that compiled code of this rule is made from."""
    digest = hashlib.sha256(_engine_digest().encode())
    seen: set[int] = set()
    for name, method in sorted(methods(cls).items()):
        digest.update(name.encode())
        for token in _tokens(method, seen):
            digest.update(token.encode())
            digest.update(b"\0")
    return digest.hexdigest()[:16]


def helpers(cls: type) -> list[Callable[..., Any]]:
    """Return the plain functions that a rule's methods call, directly or through each other."""
    found: dict[int, Callable[..., Any]] = {}
    waiting = list(methods(cls).values())
    while waiting:
        for _, target in _references(waiting.pop()):
            if isinstance(target, types.FunctionType) and id(target) not in found and not _foreign(target):
                found[id(target)] = target
                waiting.append(target)
    return list(found.values())


@functools.cache
def _engine_digest() -> str:
    """Return a digest of the engine's own source: compiled passes contain it."""
    digest = hashlib.sha256(np.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _tokens(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield what identifies a value, the same in every process."""
    value = getattr(value, "py_func", value)  # a function that the user compiled with numba
    if isinstance(value, types.FunctionType) and not _foreign(value):
        if id(value) in seen:
            yield value.__qualname__
            return
        seen.add(id(value))
        yield _code_digest(value.__code__)
        yield repr(value.__defaults__)
        for name, target in _references(value):
            yield name
            yield from _tokens(target, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}"
        yield hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    elif isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        yield f"{type(value).__name__}:{value!r}"
    elif isinstance(value, tuple | list):
        yield f"{type(value).__qualname__}[{len(value)}]"
        for item in value:
            yield from _tokens(item, seen)
    elif isinstance(value, set | frozenset):
        yield repr(sorted(map(repr, value)))
    else:
        name = getattr(value, "__qualname__", getattr(value, "__name__", type(value).__qualname__))
        yield f"{getattr(value, '__module__', '')}.{name}"


@functools.cache
def _code_digest(code: types.CodeType) -> str:
    """Return a digest of instructions, names and constants; line numbers do not count."""
    digest = hashlib.sha256(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        nested = isinstance(constant, types.CodeType)
        for token in [_code_digest(constant)] if nested else _tokens(constant, set()):
            digest.update(token.encode())
    return digest.hexdigest()


def _references(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the globals and closed-over values that a function reads, attributes of modules resolved."""
    function = getattr(function, "py_func", function)
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for path in _paths(function.__code__):
        name, *attributes = path
        if name in closure:
            target = _content(closure[name])
        else:
            target = function.__globals__.get(name, getattr(builtins, name, None))
        for attribute in attributes:
            if not isinstance(target, types.ModuleType):
                break
            target = getattr(target, attribute, None)
        yield ".".join(path), target


@functools.cache
def _paths(code: types.CodeType) -> tuple[tuple[str, ...], ...]:
    """Return the names outside itself that a function reads, each with the attributes taken from it."""
    found: dict[tuple[str, ...], None] = {}
    path: tuple[str, ...] = ()
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL" or (step.opname == "LOAD_DEREF" and step.argval in code.co_freevars):
            path = (str(step.argval),)
        elif path and step.opname in {"LOAD_ATTR", "LOAD_METHOD"}:
            found.pop(path, None)
            path = (*path, str(step.argval))
        else:
            path = ()
        if path:
            found[path] = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= dict.fromkeys(_paths(constant))
    return tuple(found)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled: a function that refers to itself
        return None


def _foreign(function: Callable[..., Any]) -> bool:
    module = function.__module__ or ""
    return module.partition(".")[0] in _FOREIGN or module.startswith(_ENGINE)
