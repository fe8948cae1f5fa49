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
import threading
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

from onlinear.engine import algebra, draws, flat, rows, text, vectors
from onlinear.engine.explain import explain
from onlinear.engine.fingerprint import fingerprint
from onlinear.engine.passes import all_finite, best_but, learn, learn_classes
from onlinear.engine.snapshot import Snapshot
from onlinear.errors import RuleError

# --- The types ------------------------------------------------------------------------------------

_classes: dict[str, type] = {}
_snapshots: dict[str, Snapshot] = {}
"""Record types' classes, and the copies of their code, by the types' names."""

_lock = threading.RLock()
"""Held while numba is being taught, which is not a thing for two threads at once."""


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


def _record_type(value: Any, *, readonly: bool = False) -> RecordType:
    """Return the type of a rule or a state, and teach numba what its methods are."""
    cls = type(value)
    name = f"{cls.__module__}.{cls.__qualname__}"
    members = tuple(_type_of(member, readonly=readonly) for member in value)
    record = RecordType(name, value._fields, members, fingerprint(cls))
    with _lock:
        if record.key not in _snapshots:
            snapshot = Snapshot(cls)
            for method in snapshot.methods:
                _teach_method(method)
            for helper in snapshot.helpers:
                overload(helper, strict=False)(_always(helper))
            _classes[record.key], _snapshots[record.key] = cls, snapshot
    return record


def _type_of(value: Any, *, readonly: bool = False) -> Any:
    if isinstance(value, str):
        return TextType()
    if isinstance(value, list | dict | set):
        raise TypeError(f"{type(value).__name__} found")
    if isinstance(value, np.ndarray):
        # Not numba.typeof: a read-only array would be another type, and compiled a second time.
        return types.Array(numba.from_dtype(value.dtype), value.ndim, "C", readonly=readonly)
    return numba.typeof(value)


# --- The row's algebra ----------------------------------------------------------------------------


def _teach(operation: Any, dense: Any, sparse: Any = None, pair: Any = None, inline: str = "never") -> None:
    """Let compiled code call `operation` as the function for the layout of its row or block."""

    @overload(operation, inline=inline, strict=False)
    def choose(*args: Any) -> Any:
        layouts = [getattr(arg, "instance_class", None) for arg in args]
        if rows.PairRow in layouts:
            return pair
        return dense if sparse is None or any(layout in rows.DENSE for layout in layouts) else sparse


_teach(flat.address, lambda array: vectors.address(array), inline="always")
_teach(flat.lane_dot, lambda a, i, b, j, n: vectors.lane_dot(a, i, b, j, n), inline="always")
_teach(flat.lane_add, lambda a, i, c, b, j, n: vectors.lane_add(a, i, c, b, j, n), inline="always")
_teach(flat.dense_class_sums, lambda w, b, c, x, i, n, a, s, f: vectors.dense_class_sums(w, b, c, x, i, n, a, s, f))
_teach(
    flat.sparse_class_sums,
    lambda w, b, c, x, j, i, n, a, s, f: vectors.sparse_class_sums(w, b, c, x, j, i, n, a, s, f),
)
_teach(flat.all_below, lambda a, i, n, limit: vectors.all_below(a, i, n, limit), inline="always")
_teach(rows.open_rows, rows.dense_rows, rows.sparse_rows, inline="always")
_teach(rows.row, rows.dense_row, rows.sparse_row, inline="always")
_teach(flat.norm, flat.norm)
_teach(flat.careful_norm, flat.careful_norm)
_teach(flat.inverse_norm, flat.inverse_norm)
_teach(algebra.fits, algebra.fits)
_teach(algebra.fits_classes, algebra.fits_classes)
_teach(rows.well_formed, rows.dense_well_formed, rows.sparse_well_formed, inline="always")
_teach(algebra.dot, algebra.dense_dot, algebra.sparse_dot, algebra.pair_dot, inline="always")
_teach(algebra.class_scores, algebra.dense_class_scores, algebra.sparse_class_scores, inline="always")
_teach(algebra.add, algebra.dense_add, algebra.sparse_add, algebra.pair_add, inline="always")
_teach(algebra.row_squared_norm, algebra.row_squared_norm)
_teach(algebra.row_length, algebra.row_length)
_teach(algebra.row_size, algebra.row_size)
_teach(algebra.row_value, algebra.row_value)
_teach(algebra.squared_norm, algebra.row_squared_norm, pair=algebra.pair_squared_norm)
_teach(algebra.length, algebra.row_length, pair=algebra.pair_length)
_teach(algebra.weight, algebra.row_weight, pair=algebra.pair_weight)
_teach(algebra.size, algebra.row_size, pair=algebra.pair_size)
_teach(algebra.index, algebra.dense_index, algebra.sparse_index, algebra.pair_index)
_teach(algebra.value, algebra.row_value, pair=algebra.pair_value)
_teach(algebra.is_binary, algebra.is_binary)
_teach(algebra.is_advice, algebra.is_advice)
_teach(all_finite, all_finite)
_teach(best_but, best_but)
_teach(draws.unsigned, lambda n: np.uint64(n))
_teach(draws.mix, draws.mix)
_teach(draws.uniform, draws.uniform)
_teach(text.signed, lambda n: np.int64(n))
_teach(text.high_product, text.high_product)
_teach(text.leading_zeros, text.leading_zeros)
_teach(text.scaled, text.scaled)
_teach(text.digits, lambda text, p: vectors.digits(text, p), inline="always")
_teach(text.digits_of, lambda text, p, n: vectors.digits_of(text, p, n), inline="always")
_teach(text.marks, lambda text, p: vectors.marks(text, p), inline="always")
_teach(text.first_mark, lambda word: vectors.first_mark(word), inline="always")
_teach(text.decimal, text.decimal)
_teach(text.any_decimal, text.any_decimal)
_teach(text.ends, text.ends)
_teach(text.is_query, text.is_query)


# --- Rules ----------------------------------------------------------------------------------------

_known_methods: set[str] = set()


def _teach_method(name: str) -> None:
    """Let compiled code call ``record.name(...)`` for every record that has such a method."""
    if name in _known_methods:
        return

    @overload_method(RecordType, name, inline="always", strict=False)
    def resolve(self: Any, *args: Any) -> Any:
        return _snapshots[self.key].methods.get(name)

    _known_methods.add(name)


def _always(function: Any) -> Any:
    return lambda *args, **kwargs: function


# --- Running --------------------------------------------------------------------------------------


@functools.cache
def dispatcher(function: Callable[..., Any]) -> Any:
    """Return numba's dispatcher for a pass.

    The pass allocates nothing, so it is compiled without numba's reference counting, which would
    take longer than a short row. A division by zero and an index out of bounds raise, as in plain Python
    (the engine's own loops use bare pointers, and pay nothing for that).
    """
    options = {"nogil": True, "error_model": "python", "boundscheck": True, "_nrt": False}
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
        self._type = None if numba.config.DISABLE_JIT else self._rule_type()
        self._entries: dict[Any, Callable[..., Any]] = {}

    def __call__(self, function: Callable[..., Any], state: Any, *args: Any) -> Any:
        if self._type is None:
            # As in compiled code: a division by zero is an error, what is not finite is for the pass to see.
            with np.errstate(divide="raise", over="ignore", invalid="ignore"):
                return function(self.rule, state, *args)
        key = (function, *map(_layout, args))
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = self._compile(function, state, args)
        return entry(self.rule, state, *args)

    def _rule_type(self) -> RecordType:
        try:
            return _record_type(self.rule)
        except (ValueError, TypeError) as error:
            raise RuleError(f"rule {self.rule!r}: a field must be a number, a string or an array ({error})") from error

    def _compile(self, function: Callable[..., Any], state: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
        # Scoring must leave the state alone.
        readonly = function not in {learn, learn_classes}
        kind = _record_type if hasattr(state, "_fields") else _type_of
        signature = (self._type, kind(state, readonly=readonly), *map(_argument_type, args))
        compiled = dispatcher(function)
        try:
            compiled.compile(signature)
        except Exception as error:  # noqa: BLE001  # numba's own faults, too, are the rule's to hear of
            told = isinstance(error, errors.NumbaError)
            reason = explain(str(error) if told else f"{type(error).__name__}: {error}")
            fault = RuleError(f"rule {type(self.rule).__name__} cannot be compiled: {reason}")
            fault.report = str(error)
            raise fault from None
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
