"""What a rule's compiled code depends on, as a short digest.

numba keeps compiled code on disk and does not notice when a rule in another file has changed. So the
name under which a rule is compiled carries a digest of its methods, of the functions that they call,
and of the constants that they read: an edit misses the cache, a revert hits it again.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import itertools
import secrets
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from onlinear.engine.protocol import NOT_COMPILED

# Code that an upgrade changes as a whole, and the engine, whose source is digested: names suffice.
_FOREIGN = ("builtins", "llvmlite", "math", "numba", "numpy", "scipy")
_ENGINE = __name__.rpartition(".")[0]
_FOLDER = Path(__file__).parent
_COMPILED = (
    "algebra",
    "compile",
    "draws",
    "flat",
    "groups",
    "lanes",
    "leading",
    "passes",
    "rates",
    "rows",
    "snapshot",
    "steps",
    "vectors",
)
"""The modules of the engine that a compiled rule is made from, or by."""

# What typing.NamedTuple writes into a class, and the methods of a rule that always run as plain Python.
_LEFT_OUT = NOT_COMPILED | {"_asdict", "_make", "_replace"}


def methods(cls: type) -> dict[str, Callable[..., Any]]:
    """Return the functions of a rule's or a state's class that compiled code may call, by name."""
    return {
        name: member
        for name, member in vars(cls).items()
        if isinstance(member, types.FunctionType) and name not in _LEFT_OUT and not name.startswith("__")
    }


def fingerprint(cls: type) -> str:
    """Return a digest of everything that compiled code of this class is made from."""
    # A user may redefine what a rule reads, as in a notebook; what the library's own methods read stays as it is.
    found = tuple(sorted(methods(cls).items()))
    return (_digest_once if _is_ours(cls) else _digest)(found, _engine_digest())


def _digest(found: tuple[tuple[str, Callable[..., Any]], ...], engine: str) -> str:
    """Return a digest of methods, by name, and of the engine."""
    digest = hashlib.sha256(engine.encode())
    seen: dict[int, Any] = {}
    for name, method in found:
        for token in (name, *_tokens(method, seen)):
            digest.update(token.encode())
            digest.update(b"\0")
    return digest.hexdigest()[:16]


_digest_once = functools.cache(_digest)


def own_fingerprint(cls: Any, *, promises: bool = True) -> str | None:
    """Return a digest of a rule's own code: other releases of this library or of NumPy do not change it.

    Releases of Python do, as it is made of bytecode. `start`, `for_width` and `final` count, too; the modules in which
    things stand do not. Without `promises` the promise ``linear=True`` does not count, which older files do not know.
    None: the code reads an object that has no digest.
    """
    used = methods(cls) | {name: vars(cls)[name] for name in ("start", "for_width", "final") if name in vars(cls)}
    used = {name: method for name, method in sorted(used.items()) if not _is_ours(method)}
    said = [cls.additive, cls.inputs, None if "tie" in cls._fields else cls.tie]
    # What came later is left out where it is not used: files of older versions still load.
    if cls.linear and promises:
        said.append("linear")
    tokens = list(_tokens((tuple(said), cls._fields, used), {}, own=True))
    if f"str:{_HERE!r}" in tokens:
        return None
    return hashlib.sha256("\0".join(tokens).encode()).hexdigest()[:16]


def source_digest(function: Callable[..., Any], forms: Mapping[Any, Any]) -> str:
    """Return a digest of what a function of this library is compiled from.

    That is the source of each file with a function that it reaches, and the constants that these functions read.
    `forms` has what compiled code runs instead of a function.
    """
    files, constants = {str(_FOLDER / f"{name}.py") for name in ("compile", "flat", "vectors")}, set()
    seen: dict[int, Any] = {}
    found: list[Any] = [function]
    while found:
        one = found.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, types.FunctionType) and _is_ours(one):
            files.add(one.__code__.co_filename)
            found += [forms.get(one), *(target for _, target in references(one))]
        elif hasattr(one, "__wrapped__"):  # an intrinsic, whose helpers are in its file
            files.add(one.__wrapped__.__code__.co_filename)
        elif isinstance(one, int | float | tuple | np.ndarray):
            constants.add("\0".join(_tokens(one, {})))
    return _files_digest(sorted(files), sorted(constants))


@functools.cache
def _engine_digest() -> str:
    """Return a digest of the part of the engine's own source that every compiled rule contains."""
    return _files_digest([_FOLDER / f"{name}.py" for name in _COMPILED], [])


def _files_digest(files: Iterable[Path | str], constants: Iterable[str]) -> str:
    digest = hashlib.sha256(np.__version__.encode())
    for path in files:
        digest.update(source_bytes(path))
    digest.update("\0".join(constants).encode())
    return digest.hexdigest()


def source_bytes(path: Path | str) -> bytes:
    """Return a source file of this library, which may have been imported from a zip file."""
    loader: Any = sys.modules[__name__].__loader__
    content: bytes = loader.get_data(str(path))
    return content


_HERE = secrets.token_hex(8)
"""Stands for what cannot be digested: such a thing is never taken for one of another process."""


def _tokens(value: Any, seen: dict[int, Any], *, own: bool = False) -> Iterator[str]:
    """Yield what identifies a value, the same in every process; with `own`, see `own_fingerprint`.

    With `own` the tokens are those of the first version, since files hold their digest. They leave some things out:
    which value it is that occurs again, where a container ends, and how a function takes its arguments.
    """
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        yield f"{type(value).__name__}:{value!r}"
    elif id(value) in seen:
        yield "again" if own else f"again:{list(seen).index(id(value))}"
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}"
        yield hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    elif own and _is_ours(value):
        yield str(value.__qualname__)
    elif isinstance(value, types.ModuleType) and not own and value.__name__.partition(".")[0] not in _FOREIGN:
        seen[id(value)] = value
        yield from _tokens((value.__name__, _constants(value)), seen)
    elif isinstance(value, types.ModuleType | types.BuiltinFunctionType | np.ufunc) or foreign(value):
        module = "" if own else getattr(value, "__module__", "")
        yield f"{module}.{getattr(value, '__qualname__', value.__name__)}"
    elif isinstance(value, enum.Enum):
        yield f"{type(value).__qualname__}.{value.name}"
        yield from _tokens(value.value, seen, own=own)
    else:
        seen[id(value)] = value  # kept: an id is only good while its owner lives
        yield from _nested_tokens(value, seen, own=own)


def _nested_tokens(value: Any, seen: dict[int, Any], *, own: bool) -> Iterator[str]:
    """Yield what identifies a value that is made of others."""
    parts: Iterable[Any]
    if isinstance(value, types.FunctionType):
        yield _code_digest(value.__code__) if own else _code_digest(value.__code__) + _signature(value.__code__)
        parts = [value.__defaults__, value.__kwdefaults__, *itertools.chain(*references(value))]
    elif is_jitted(value):
        parts = [value.py_func, sorted(map(str, value.targetoptions.items()))]
    elif isinstance(value, enum.EnumMeta):
        parts = list(value)
    elif isinstance(value, type):
        module = "" if own else f"{value.__module__}."
        parts = [f"{module}{value.__qualname__}", getattr(value, "_fields", ()), methods(value)]
    elif isinstance(value, dict):
        parts = itertools.chain(*value.items())
    elif isinstance(value, tuple | list):
        parts = value if own else [getattr(value, "_fields", ()), *value]
    elif isinstance(value, set | frozenset):
        parts = sorted(map(repr, value))
    else:
        parts = [_HERE, id(value)]
    parts = list(parts)
    yield type(value).__qualname__ if own else f"{type(value).__qualname__} of {len(parts)}"
    for part in parts:
        yield from _tokens(part, seen, own=own)


def _constants(module: types.ModuleType) -> dict[str, Any]:
    """Return what code may read from a module of the user's that it holds in a variable."""
    return {name: value for name, value in sorted(vars(module).items()) if name[:2] != "__" and _can_be_read(value)}


def _can_be_read(value: Any) -> bool:
    """Tell whether compiled code could read a value from a module, or call it."""
    return isinstance(value, bool | int | float | complex | str | bytes | tuple | np.ndarray | types.FunctionType)


def _signature(code: types.CodeType) -> str:
    """Return how code takes its arguments, and that of the functions within it."""
    nested = [_signature(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return repr((code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, nested))


@functools.cache
def _code_digest(code: types.CodeType) -> str:
    """Return a digest of instructions, names and constants; line numbers do not count."""
    digest = hashlib.sha256(code.co_code + code.co_exceptiontable)
    digest.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        nested = isinstance(constant, types.CodeType)
        for token in [_code_digest(constant)] if nested else _tokens(constant, {}):
            digest.update(token.encode())
    return digest.hexdigest()


def references(function: types.FunctionType) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the globals and closed-over values that a function reads, as paths: a name, then attributes of modules."""
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for path in _paths(function.__code__):
        name, *attributes = path
        if name in closure:
            target = content(closure[name])
        else:
            target = function.__globals__.get(name, getattr(builtins, name, None))
        depth = 1
        for attribute in attributes:
            if not isinstance(target, types.ModuleType):
                break
            target = getattr(target, attribute, None)
            depth += 1
        yield path[:depth], target


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
        elif step.opname not in {"CACHE", "EXTENDED_ARG"}:
            path = ()
        if path:
            found[path] = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= dict.fromkeys(_paths(constant))
    return tuple(found)


def content(cell: types.CellType) -> Any:
    """Return what a cell of a closure holds."""
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled: a function that refers to itself
        return None


def is_jitted(value: Any) -> bool:
    """Tell whether a value is a function that the user has compiled with numba."""
    return all(hasattr(value, name) for name in ("py_func", "targetoptions", "overloads"))


def _is_ours(value: Any) -> bool:
    """Tell whether a function or a class is this library's."""
    library = __name__.partition(".")[0]
    return isinstance(value, types.FunctionType | type) and (value.__module__ or "").partition(".")[0] == library


def foreign(value: Any) -> bool:
    """Tell whether a function or a class is not the user's, so that its name identifies it."""
    if not isinstance(value, types.FunctionType | type):
        return False
    module = value.__module__ or ""
    return module.partition(".")[0] in _FOREIGN or module.startswith(_ENGINE)
