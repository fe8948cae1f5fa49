"""From plain Python to compiled code: how numba sees rules, states and rows, and what it keeps on disk.

Only this module and `vectors` import numba, and the first run imports them. Under
``NUMBA_DISABLE_JIT=1`` the same passes run uncompiled.

A rule, and the state that its `start` returns, are passed to numba as a `RecordType` of our own
rather than as the NamedTuple type that numba would infer. That type is named by (qualified name,
fields, fingerprint), pickles as exactly those, and finds its class in a registry. So a stale rule
never runs, a rule in ``__main__`` or a notebook cell is found on disk by the next process, and the
cache can be read where a user's module no longer exists.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import datamodel, errors
from numba.extending import (
    NativeValue,
    models,
    overload,
    overload_method,
    register_model,
    unbox,
)

from onlinear.engine import draws, rows, vectors
from onlinear.engine.explain import explain
from onlinear.engine.fingerprint import fingerprint, helpers, methods
from onlinear.errors import RuleError

# --- The types ------------------------------------------------------------------------------------

_classes: dict[str, type] = {}
"""Record types' classes by name, kept alive for good."""


class TextType(types.Opaque):
    """A string among a rule's hyper-parameters: carried along, but closed to compiled code."""

    def __init__(self) -> None:
        super().__init__("text (not available in compiled methods)")


class RecordType(types.NamedTuple):
    """A rule or its state, known by name, fields and fingerprint."""

    def __init__(self, name: str, fields: tuple[str, ...], members: tuple[Any, ...], digest: str) -> None:
        self.record = (name, fields, members, digest)
        self.fields = fields
        self.types = members
        self.count = len(members)
        listed = ", ".join(f"{field}: {member}" for field, member in zip(fields, members, strict=True))
        types.Type.__init__(self, f"{name}[{digest}]({listed})")

    @property
    def key(self) -> str:
        return str(self.name)

    @property
    def instance_class(self) -> type:
        return _classes[self.key]

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordType, self.record


register_model(TextType)(models.OpaqueModel)
register_model(RecordType)(datamodel.models.TupleModel)


@unbox(TextType)
def _unbox_text(typ: Any, obj: Any, context: Any) -> Any:
    return NativeValue(context.context.get_dummy_value())


def _record_type(value: Any, digest: str) -> RecordType:
    cls = type(value)
    record = RecordType(f"{cls.__module__}.{cls.__qualname__}", value._fields, tuple(map(_type_of, value)), digest)
    _classes[record.key] = cls
    return record


def _type_of(value: Any) -> Any:
    if isinstance(value, str):
        return TextType()
    if isinstance(value, np.ndarray):
        # Not numba.typeof: a read-only array would be another type, and compiled a second time.
        return types.Array(numba.from_dtype(value.dtype), value.ndim, "C")
    return numba.typeof(value)


def _state_type(state: Any) -> Any:
    return _record_type(state, "state") if hasattr(state, "_fields") else _type_of(state)


# --- The row's algebra ----------------------------------------------------------------------------


def _teach(operation: Any, dense: Any, sparse: Any = None) -> None:
    """Let compiled code call `operation` as the function for the layout of its row or block."""

    @overload(operation, inline="always", strict=False)
    def choose(*args: Any) -> Any:
        is_dense = sparse is None or any(getattr(arg, "instance_class", None) in rows.DENSE for arg in args)
        return dense if is_dense else sparse


_teach(rows.address, lambda array: vectors.address(array))
_teach(rows.lane_dot, lambda a, i, b, j, n: vectors.lane_dot(a, i, b, j, n))
_teach(rows.lane_add, lambda a, i, c, b, j, n: vectors.lane_add(a, i, c, b, j, n))
_teach(rows.open_rows, rows.dense_rows, rows.sparse_rows)
_teach(rows.row, rows.dense_row, rows.sparse_row)
_teach(rows.inverse_norm, rows.inverse_norm)
_teach(rows.well_formed, rows.dense_well_formed, rows.sparse_well_formed)
_teach(rows.dot, rows.dense_dot, rows.sparse_dot)
_teach(rows.add, rows.dense_add, rows.sparse_add)
_teach(rows.squared_norm, rows.squared_norm)
_teach(rows.size, rows.size)
_teach(rows.index, rows.dense_index, rows.sparse_index)
_teach(rows.value, rows.value)
_teach(rows.is_binary, rows.is_binary)
_teach(rows.is_advice, rows.is_advice)
_teach(draws.unsigned, lambda n: np.uint64(n))
_teach(draws.mix, draws.mix)
_teach(draws.uniform, draws.uniform)


# --- Rules ----------------------------------------------------------------------------------------

_known_methods: set[str] = set()
_known_helpers: set[Any] = {
    operation for module in (rows, draws) for operation in vars(module).values() if callable(operation)
}


def _teach_method(name: str) -> None:
    """Let compiled code call ``rule.name(...)`` for every rule that has such a method."""
    if name in _known_methods:
        return
    _known_methods.add(name)

    @overload_method(RecordType, name, inline="always", strict=False)
    def resolve(self: Any, *args: Any) -> Any:
        return getattr(self.instance_class, name, None)


def _teach_helper(function: Any) -> None:
    """Let compiled code call a plain function that a rule's methods use."""
    if function not in _known_helpers:
        _known_helpers.add(function)
        overload(function, strict=False)(lambda *args: function)


def _rule_type(rule: Any) -> RecordType:
    cls = type(rule)
    for name in methods(cls):
        _teach_method(name)
    for function in helpers(cls):
        _teach_helper(function)
    return _record_type(rule, fingerprint(cls))


# --- Running --------------------------------------------------------------------------------------


@functools.cache
def dispatcher(function: Callable[..., Any]) -> Any:
    """Return numba's dispatcher for a pass.

    The pass allocates nothing, so it is compiled without numba's reference counting, which would
    take longer than a short row. Division by zero raises, as in plain Python.
    """
    options = {"nogil": True, "error_model": "python", "_nrt": False}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to keep a cache in
        return numba.njit(**options)(function)


class Runner:
    """A rule made ready: calls a pass with it, compiled for the layouts that turn up.

    Types are worked out once a run and not once a call, and the compiled entry is called directly:
    numba's own look-up knows classes by address, and could mistake a redefined rule for the old one.
    """

    def __init__(self, rule: Any) -> None:
        self.rule = rule
        self._type = None if numba.config.DISABLE_JIT else _rule_type(rule)
        self._entries: dict[Any, Callable[..., Any]] = {}

    def __call__(self, function: Callable[..., Any], state: Any, *args: Any) -> Any:
        if self._type is None:
            return function(self.rule, state, *args)
        key = (function, *map(_layout, args))
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = self._compile(function, state, args)
        return entry(self.rule, state, *args)

    def _compile(self, function: Callable[..., Any], state: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
        signature = (self._type, _state_type(state), *map(_argument_type, args))
        compiled = dispatcher(function)
        try:
            compiled.compile(signature)
        except Exception as error:  # numba's own faults, too, are the rule's to hear of
            name = type(self.rule).__name__
            told = isinstance(error, errors.NumbaError)
            reason = explain(str(error)) if told else f"{type(error).__name__}: {error}"
            message = f"rule {name} cannot be compiled: {reason}"
            raise RuleError(f"{message} (with NUMBA_DISABLE_JIT=1 it runs as plain Python)") from error
        entry: Callable[..., Any] = compiled.overloads[signature].entry_point
        return entry


def _argument_type(value: Any) -> Any:
    """Return the type of a pass's argument: a block, an array or a number."""
    if isinstance(value, rows.DenseBlock | rows.SparseBlock):
        return types.NamedTuple(tuple(map(_type_of, value)), type(value))
    return _type_of(value)


def _layout(value: Any) -> Any:
    """Return what of an argument decides its compiled type."""
    if isinstance(value, np.ndarray):
        return value.dtype.char, value.ndim
    if isinstance(value, tuple):
        return tuple(map(_layout, value))
    return type(value)
