"""From plain Python to compiled code: how numba sees rules, states and rows, and what it keeps on disk.

The first run imports this module, and with it numba; where that is not possible, the same passes run uncompiled
(`onlinear.engine.runner`). Functions that other modules want compiled they declare with `teach`.

A rule, and the state that its `start` returns, are passed to numba as a `RecordType` of our own
rather than as the NamedTuple type that numba would infer. That type is named by (qualified name,
fields, fingerprint), pickles as exactly those, and finds its class in a registry. So a stale rule
never runs, a rule in ``__main__`` or a notebook cell is found on disk by the next process, and the
cache can be read where a user's module no longer exists.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import operator
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import datamodel, errors
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.templates import infer_global
from numba.extending import (
    intrinsic,
    models,
    overload,
    overload_method,
    register_model,
    unbox,
)

from onlinear.engine import algebra, draws, flat, groups, lanes, leading, rates, rows, steps, vectors
from onlinear.engine.cache import CodeCache
from onlinear.engine.explain import explain
from onlinear.engine.fingerprint import fingerprint, source_digest
from onlinear.engine.garbage import without_collection
from onlinear.engine.passes import all_finite, best_but, is_refusal, learn, learn_classes
from onlinear.engine.plurality import count_votes, learn_plurality
from onlinear.engine.protocol import METHODS
from onlinear.engine.snapshot import Snapshot
from onlinear.errors import RuleError

_log = logging.getLogger("onlinear")

# --- The types ------------------------------------------------------------------------------------

_classes: dict[str, type] = {}
_snapshots: dict[str, Snapshot] = {}
"""Record types' classes, and the copies of their code, by the types' names."""

_lock = threading.RLock()
"""Held while numba learns a new type: its registries are not thread-safe."""


class TextType(types.Type):
    """A string among a rule's hyper-parameters: a number in compiled code, which can compare it with constants."""

    def __init__(self) -> None:
        super().__init__("text, which compiled code can only compare with a constant")


def text_code(text: str) -> int:
    """Return the number that stands for a string in compiled code, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


class RecordType(types.NamedTuple):
    """A rule or its state, known by name, fields and fingerprint."""

    def __init__(self, name: str, fields: tuple[str, ...], members: tuple[Any, ...], digest: str) -> None:
        self.record = (name, fields, members, digest)
        self.fields = fields
        self.types = members
        self.count = len(members)
        listed = ", ".join(f"{field}: {member}" for field, member in zip(fields, members, strict=True))
        types.Type.__init__(self, f"{name}[{digest}]({listed})")

    def __bool__(self) -> bool:
        # A tuple without entries would be False, and numba takes a method of something False for a plain function.
        return True

    @property
    def key(self) -> str:
        return str(self.name)

    @property
    def instance_class(self) -> type:
        return _classes[self.key]

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordType, self.record


@register_model(TextType)
class _TextModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


register_model(RecordType)(datamodel.models.TupleModel)


@unbox(TextType)
def _unbox_text(typ: Any, obj: Any, context: Any) -> Any:
    return context.unbox(types.int64, obj)


@intrinsic
def _code_of(typing_context: Any, text: Any) -> Any:
    """Return the number of a string."""
    return types.int64(text), lambda context, builder, signature, args: args[0]


@overload(operator.eq, prefer_literal=True, strict=False)
def _same_text(text: Any, constant: Any) -> Any:
    if not (isinstance(text, TextType) and isinstance(constant, types.StringLiteral)):
        return None
    code = text_code(constant.literal_value)
    return lambda text, constant: _code_of(text) == code


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


# --- Plain functions -------------------------------------------------------------------------------

_forms: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The functions that compiled code may call, and what it then runs."""


def teach(function: Callable[..., Any], form: Callable[..., Any] | None = None) -> None:
    """Let compiled code call a plain function: as it stands, or as another form of it, with the same result."""
    _forms[function] = function if form is None else form
    overload(function, strict=False)(_always(_forms[function]))


def teach_intrinsic(function: Callable[..., Any], intrinsic: Any) -> None:
    """Let compiled code run an intrinsic where it calls a plain function.

    The call itself is then given the intrinsic's type: a form that calls it would be one more function to compile.
    """
    context = cpu_target.typing_context
    _forms[function] = intrinsic
    with global_compiler_lock:  # another thread may be compiling, and then looks at the same registries
        context.refresh()
        infer_global(function, context.resolve_value_type(intrinsic))


def _always(function: Any) -> Any:
    return lambda *args, **kwargs: function


def _teach_operation(operation: Callable[..., Any], forms: dict[type, Any], inline: str) -> None:
    """Let compiled code call an operation as the function for the layout of its row or block."""

    @overload(operation, inline=inline, strict=False)
    def choose(*args: Any) -> Any:
        layouts = (getattr(arg, "instance_class", None) for arg in args)
        return next((forms[layout] for layout in layouts if layout in forms), None)


_INLINE = {rows.row, rows.well_formed, algebra.dot, algebra.class_scores, algebra.add}

for _operation, _table in (
    rows.OPERATIONS | algebra.OPERATIONS | groups.OPERATIONS | steps.OPERATIONS | rates.OPERATIONS | leading.OPERATIONS
).items():
    _teach_operation(_operation, _table, "always" if _operation in _INLINE else "never")
for _plain in (
    flat.entries_norm,
    flat.careful_norm,
    flat.inverse_norm,
    algebra.fits,
    algebra.fits_classes,
    algebra.add_entries,
    algebra.row_squared_norm,
    algebra.row_length,
    algebra.row_size,
    algebra.row_value,
    algebra.is_binary,
    algebra.is_advice,
    groups.in_whole_groups,
    steps.entry,
    steps.add_rooted_at,
    rates.each_fits,
    rates.adapt_at,
    rates.adapt_group,
    rates.adapt_intercept,
    rates.lead_at,
    leading.leading_features,
    leading.spread_variance,
    leading.leading_columns,
    leading.tighten,
    leading.move_at,
    all_finite,
    best_but,
    count_votes,
    is_refusal,
    draws.mix,
    draws.uniform,
):
    teach(_plain)
teach(draws.unsigned, lambda n: np.uint64(n))
teach_intrinsic(flat.address, vectors.address)
teach_intrinsic(flat.lane_dot, vectors.lane_dot)
teach_intrinsic(flat.lane_squares, vectors.lane_squares)
teach_intrinsic(flat.lane_add, vectors.lane_add)
teach_intrinsic(flat.all_below, vectors.all_below)
for _group, _form in (
    (groups.stride, lanes.stride),
    (groups.places_from, lanes.places_from),
    (groups.places_at, lanes.places_at),
    (groups.entries_at, lanes.entries_at),
    (groups.take, lanes.take),
    (groups.put, lanes.put),
    (groups.choose, lanes.choose),
    (groups.holds_somewhere, lanes.holds_somewhere),
    (groups.root, lanes.root),
    (groups.quotient, lanes.quotient),
    (groups.plus, lanes.plus),
):
    teach_intrinsic(_group, _form)
# These loops are long: they stay functions of their own.
teach(
    flat.dense_class_sums,
    lambda w, b, d, c, x, i, n, a, s, f: vectors.dense_class_sums(w, b, d, c, x, i, n, a, s, f),
)
teach(
    flat.sparse_class_sums,
    lambda w, b, c, x, j, i, n, a, s, f: vectors.sparse_class_sums(w, b, c, x, j, i, n, a, s, f),
)


# --- Rules ----------------------------------------------------------------------------------------

_known_methods: set[str] = set()
_WITHIN = {"forceinline": True, "boundscheck": True}
"""How methods are compiled that become part of a pass: their indices are checked as its own are."""
_PARAMETERS = {"accepts": 1} | {method.name: len(method.parameters) for method in METHODS.values() if method.compiled}
"""The number of parameters, after self, of the methods that passes call."""


def _teach_method(name: str) -> None:
    """Let compiled code call ``record.name(...)`` for every record that has such a method."""
    if name in _known_methods:
        return

    def find(self: Any, *args: Any) -> Any:
        return _snapshots[self.key].methods.get(name)

    # Both ways the method becomes part of the pass. Left to LLVM it is typed once rather than at each attempt to type
    # the pass, but numba must know how many parameters it has.
    fixed = {
        1: lambda self, a: find(self),
        2: lambda self, a, b: find(self),
        5: lambda self, a, b, c, d, e: find(self),
    }
    if name in _PARAMETERS:
        overload_method(RecordType, name, jit_options=_WITHIN, strict=False)(fixed[_PARAMETERS[name]])
    else:
        overload_method(RecordType, name, inline="always", strict=False)(find)
    _known_methods.add(name)


# --- Running --------------------------------------------------------------------------------------


def jit_enabled() -> bool:
    """Tell whether numba compiles: not so under ``NUMBA_DISABLE_JIT=1``."""
    return not numba.config.DISABLE_JIT


@functools.cache
def dispatcher(function: Callable[..., Any]) -> Any:
    """Return numba's dispatcher for a pass or another function, with its compiled code kept on disk.

    The function allocates nothing, so it is compiled without numba's reference counting, which would
    take longer than a short row. A division by zero and an index out of bounds raise, as in plain Python
    (the engine's own loops use bare pointers, and pay nothing for that).
    """
    compiled = numba.njit(nogil=True, error_model="python", boundscheck=True, _nrt=False)(function)
    compiled._cache = CodeCache(function, source_digest(function, _forms), functools.partial(_announce, function))
    return compiled


def _announce(function: Callable[..., Any], signature: tuple[Any, ...], kept: bool) -> None:
    """Log what is about to be compiled: a rule for a layout of rows, or what a module does without a rule."""
    what = function.__module__.rpartition(".")[2].replace("_", " ")
    if isinstance(signature[0], RecordType):
        blocks = {getattr(kind, "instance_class", None) for kind in signature}
        layout = "sparse" if rows.SparseBlock in blocks else "dense"
        what = f"{signature[0].instance_class.__name__} for {layout} rows"
    _log.info("compiling %s%s …", what, " (once per machine)" if kept else "")


class Runner:
    """Runs passes with a rule, compiled for each layout when it first occurs.

    Types are determined once per run, not once per call, and the compiled entry is called directly: numba identifies
    classes by address, and could mistake a redefined rule for the old one.
    """

    def __init__(self, rule: Any) -> None:
        self.rule = rule
        self._type = self._rule_type()
        numbers = (text_code(value) if isinstance(value, str) else value for value in rule)
        self._argument = tuple.__new__(type(rule), numbers)
        self._entries: dict[Any, Callable[..., Any]] = {}

    def __call__(self, function: Callable[..., Any], state: Any, *args: Any) -> Any:
        key = (function, *_layouts(args))
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = self._compile(function, state, args)
        return entry(self._argument, state, *args)

    def _rule_type(self) -> RecordType:
        try:
            return _record_type(self.rule)
        except (ValueError, TypeError) as error:
            raise RuleError(f"rule {self.rule!r}: a field must be a number, a string or an array ({error})") from error

    def _compile(self, function: Callable[..., Any], state: Any, args: tuple[Any, ...]) -> Callable[..., Any]:
        # Scoring must leave the state alone.
        readonly = function not in {learn, learn_classes, learn_plurality}
        kind = _record_type if hasattr(state, "_fields") else _type_of
        signature = (self._type, kind(state, readonly=readonly), *map(_argument_type, args))
        compiled = dispatcher(function)
        try:
            # Warnings are caught for the whole process: by one thread at a time.
            with _lock, without_collection(), warnings.catch_warnings():
                # numba's check of its own intermediate code, which a method that calls dot() twice does not pass.
                warnings.simplefilter("ignore", errors.NumbaIRAssumptionWarning)
                compiled.compile(signature)
        except Exception as error:  # noqa: BLE001  # internal errors of numba are reported, too
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


def _layouts(values: Iterable[Any]) -> list[Any]:
    """Return what decides the compiled types of arguments: of arrays their kind; a number's type is always the same."""
    return [
        value.dtype.num << 8 | value.ndim if isinstance(value, np.ndarray) else tuple(_layouts(value))
        for value in values
        if isinstance(value, _ARRAYS)
    ]


_ARRAYS = (np.ndarray, tuple)
"""Arrays, and blocks of them."""
