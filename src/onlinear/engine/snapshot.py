"""A copy of a rule's code, as it is now.

numba compiles a function once for each combination of types and remembers that by the function's
identity, with the constants it read at the time. A rule's methods, and the functions that they call,
are therefore compiled from copies, one set for each fingerprint: what a constant or a function was
before can never be mistaken for what it is now.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from onlinear.engine.fingerprint import content, foreign, is_jitted, methods, references


class Snapshot:
    """The methods of a class, copied together with everything of the user's that they call.

    Attributes
    ----------
    methods : dict
        The copied methods, by name.
    helpers : list
        The copied plain functions, not yet registered with numba.
    """

    def __init__(self, cls: type) -> None:
        self.helpers: list[types.FunctionType] = []
        self._copies: dict[int, Any] = {}
        self._originals: list[Any] = []
        """Kept alive: an id is only good while its owner lives."""
        self.methods: dict[str, Callable[..., Any]] = {
            name: self._function(method) for name, method in methods(cls).items()
        }

    def _copy(self, value: Any) -> Any:
        """Return the value, or the copy of it where it is code of the user's."""
        if id(value) in self._copies:
            return self._copies[id(value)]
        if is_jitted(value):
            return self._remember(value, type(value)(self._copy(value.py_func), targetoptions=value.targetoptions))
        if isinstance(value, types.FunctionType) and not foreign(value):
            copy = self._function(value)
            self.helpers.append(copy)
            return copy
        if type(value) in {tuple, list}:
            return self._remember(value, type(value)(map(self._copy, value)))
        return value

    def _function(self, function: Any) -> types.FunctionType:
        names = self._names(function.__globals__)
        closed = dict(zip(function.__code__.co_freevars, map(content, function.__closure__ or ()), strict=True))
        cells = tuple(types.CellType() for _ in closed)
        copy = types.FunctionType(function.__code__, names, function.__name__, None, cells)
        self._remember(function, copy)
        copy.__defaults__ = self._copy(function.__defaults__)
        copy.__kwdefaults__ = function.__kwdefaults__
        for path, target in references(function):
            scope = closed if path[0] in closed else names
            if len(path) == 1:
                if path[0] in scope:  # not so for built-in names
                    scope[path[0]] = self._copy(target)
            elif (copied := self._copy(target)) is not target:
                self._rebind(scope, path, copied)
        for cell, value in zip(cells, closed.values(), strict=True):
            cell.cell_contents = value
        return copy

    def _rebind(self, scope: dict[str, Any], path: tuple[str, ...], target: Any) -> None:
        """Let the last name of a path through modules mean the target, in copies of those modules."""
        for name in path[:-1]:
            module = scope[name]
            if id(module) not in self._copies:
                twin = types.ModuleType(module.__name__)
                vars(twin).update(vars(module))
                self._remember(module, twin)
                self._remember(twin, twin)
            scope[name] = self._copies[id(module)]
            scope = vars(scope[name])
        scope[path[-1]] = target

    def _names(self, names: dict[str, Any]) -> dict[str, Any]:
        """Return the copy of a module's names."""
        if id(names) not in self._copies:
            self._remember(names, dict(names))
        copied: dict[str, Any] = self._copies[id(names)]
        return copied

    def _remember(self, original: Any, copy: Any) -> Any:
        self._originals.append(original)
        self._copies[id(original)] = copy
        return copy
