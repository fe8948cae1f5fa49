"""Groups of entries in compiled code: vectors of `LANES` numbers.

The functions take the place of those of the same names in `groups`; those for single entries are here, too, so that
a formula serves for both. In the last group of a sparse row the lanes to spare repeat the last entry: they compute
what its own lane does, and to write that once more changes nothing. In a dense row they are masked out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from onlinear.engine.flat import LANES
from onlinear.engine.vectors import BITS, DOUBLE, DOUBLES, INT, WORD, WORDS, Vectors, spread


class GroupType(types.Type):
    """Something that compiled code has for each entry of a group."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} of a group")


_entries, _truths = GroupType("entries"), GroupType("truths")
_places = GroupType("places")
"""LANES places, and what is to be added to each."""
_run = GroupType("neighbouring places")
"""The first place, and how many there are."""

_KINDS = {
    _entries: DOUBLES,
    _truths: BITS,
    _places: ir.ArrayType(WORD, LANES + 1),
    _run: ir.ArrayType(WORD, 2),
}


@register_model(GroupType)
class _GroupModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _KINDS[kind])


# --- Arithmetic -------------------------------------------------------------------------------------


def _wide(builder: Any, value: Any) -> Any:
    """Return a group; a single number becomes the number of each entry."""
    return spread(builder, value, DOUBLES) if value.type == DOUBLE else value


def _teach_operator(symbol: Any, operands: list[tuple[Any, ...]], result: Any, build: Callable[..., Any]) -> None:
    """Let compiled code apply an operator to groups, or to a group and a float."""

    @infer_global(symbol)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return result(*args) if args in operands else None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return build(builder, *(_wide(builder, arg) for arg in args))

    for kinds in operands:
        lower_builtin(symbol, *kinds)(generate)


_WITH_FLOATS = [(_entries, _entries), (_entries, types.float64), (types.float64, _entries)]

_teach_operator(operator.add, _WITH_FLOATS, _entries, lambda builder, a, b: builder.fadd(a, b))
_teach_operator(operator.sub, _WITH_FLOATS, _entries, lambda builder, a, b: builder.fsub(a, b))
_teach_operator(operator.mul, _WITH_FLOATS, _entries, lambda builder, a, b: builder.fmul(a, b))
_teach_operator(operator.neg, [(_entries,)], _entries, lambda builder, a: builder.fneg(a))
_teach_operator(operator.gt, _WITH_FLOATS, _truths, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_teach_operator(operator.lt, _WITH_FLOATS, _truths, lambda builder, a, b: builder.fcmp_ordered("<", a, b))
_teach_operator(operator.eq, _WITH_FLOATS, _truths, lambda builder, a, b: builder.fcmp_ordered("==", a, b))
_teach_operator(operator.and_, [(_truths, _truths)], _truths, lambda builder, a, b: builder.and_(a, b))
_teach_operator(operator.or_, [(_truths, _truths)], _truths, lambda builder, a, b: builder.or_(a, b))


def _kind_of(*args: Any) -> Any:
    """Return the type of what is computed from numbers and groups."""
    return _entries if any(isinstance(arg, GroupType) for arg in args) else types.float64


@intrinsic
def quotient(typing_context: Any, a: Any, b: Any) -> Any:
    """Return a/b as the processor divides; where b is 0 the result must not be chosen."""
    kind = _kind_of(a, b)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fdiv(*(args if kind != _entries else [_wide(builder, arg) for arg in args]))

    return (kind(a, b) if kind == _entries else kind(types.float64, types.float64)), generate


@intrinsic
def root(typing_context: Any, a: Any) -> Any:
    """Return √a; NaN where a is negative."""
    kind = _kind_of(a)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, name = (DOUBLES, f"v{LANES}f64") if kind == _entries else (DOUBLE, "f64")
        function = ir.FunctionType(number, [number])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, f"llvm.sqrt.{name}"), args)

    return kind(kind), generate


@intrinsic
def choose(typing_context: Any, which: Any, a: Any, b: Any) -> Any:
    """Return a where a condition holds, and b elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if which != _truths:
            return builder.select(*args)
        return builder.select(args[0], _wide(builder, args[1]), _wide(builder, args[2]))

    if which == _truths:
        return _entries(which, a, b), generate
    return types.float64(types.boolean, types.float64, types.float64), generate


@intrinsic
def holds_somewhere(typing_context: Any, which: Any) -> Any:
    """Tell whether a condition holds for any entry of a group."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if which != _truths:
            return args[0]
        found = builder.bitcast(args[0], ir.IntType(LANES))
        return builder.icmp_unsigned("!=", found, ir.Constant(found.type, 0))

    return types.boolean(which), generate


@intrinsic
def plus(typing_context: Any, total: Any, terms: Any, n: Any) -> Any:
    """Add the n terms of a group to a sum, from left to right."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, terms, n = args
        # To add 0 changes no sum that began at 0.
        counted = builder.select(_first(builder, n), terms, ir.Constant(DOUBLES, [0.0] * LANES))
        for lane in range(LANES):
            total = builder.fadd(total, builder.extract_element(counted, ir.Constant(INT, lane)))
        return total

    return types.float64(types.float64, terms, types.intp), generate


# --- Places -----------------------------------------------------------------------------------------


@intrinsic
def stride(typing_context: Any) -> Any:
    """Return how many entries a whole group has."""
    return types.intp(), lambda context, builder, signature, args: ir.Constant(WORD, LANES)


@intrinsic
def places_from(typing_context: Any, j: Any, n: Any) -> Any:
    """Return a group of n neighbouring places, from j on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(builder, args)

    return _run(types.intp, types.intp), generate


@intrinsic
def places_at(typing_context: Any, indices: Any, i: Any, n: Any, shift: Any) -> Any:
    """Return the group of n places, indices[i] + shift and so on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        indices, i, n, shift = args
        numbers = _each_entry(builder, builder.gep(indices, [i]), n)
        words = [number if number.type == WORD else builder.zext(number, WORD) for number in numbers]
        return _array(builder, [*words, shift])

    return _places(indices, types.intp, types.intp, types.intp), generate


@intrinsic
def entries_at(typing_context: Any, a: Any, i: Any, n: Any) -> Any:
    """Return the group of n entries, from a[i] on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, i, n = args
        entries = _vector(builder, _each_entry(builder, builder.gep(a, [i]), n))
        return entries if entries.type == DOUBLES else builder.fpext(entries, DOUBLES)

    return _entries(a, types.intp, types.intp), generate


@intrinsic
def take(typing_context: Any, a: Any, j: Any) -> Any:
    """Return the entries at a group of places."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, group = args
        if j == _places:
            return _vector(builder, [builder.load(at) for at in _addresses(builder, a, group)])
        if j != _run:
            return builder.load(builder.gep(a, [group]))
        found = cgutils.alloca_once(builder, DOUBLES)
        _in_place(builder, a, group, lambda run, mask: builder.store(run.load(_NOUGHT, mask), found))
        return builder.load(found)

    return (_entries(a, j) if isinstance(j, GroupType) else types.float64(a, types.intp)), generate


@intrinsic
def put(typing_context: Any, a: Any, j: Any, v: Any) -> Any:
    """Write entries to a group of places."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, group, values = args
        if j == _run:
            _in_place(builder, a, group, lambda run, mask: run.store(_NOUGHT, mask, values))
        elif j == _places:
            for lane, at in enumerate(_addresses(builder, a, group)):
                builder.store(builder.extract_element(values, ir.Constant(INT, lane)), at)
        else:
            builder.store(values, builder.gep(a, [group]))
        return context.get_dummy_value()

    return (types.void(a, j, v) if isinstance(j, GroupType) else types.void(a, types.intp, types.float64)), generate


_NOUGHT = ir.Constant(WORD, 0)


def _is_whole(builder: Any, n: Any) -> Any:
    return builder.icmp_signed(">=", n, ir.Constant(WORD, LANES))


def _first(builder: Any, n: Any) -> Any:
    """Return a mask of the first n lanes."""
    return builder.icmp_signed("<", ir.Constant(WORDS, list(range(LANES))), spread(builder, n, WORDS))


def _each_entry(builder: Any, pointer: Any, n: Any) -> list[Any]:
    """Return the n entries from an address on, and the last one again for the lanes to spare."""
    found = [cgutils.alloca_once(builder, pointer.type.pointee) for _ in range(LANES)]
    last = builder.sub(n, ir.Constant(WORD, 1))
    with builder.if_else(_is_whole(builder, n)) as (whole, part):
        for branch, is_part in ((whole, False), (part, True)):
            with branch:
                for lane in range(LANES):
                    k = ir.Constant(WORD, lane)
                    k = builder.select(builder.icmp_signed("<", k, last), k, last) if is_part else k
                    builder.store(builder.load(builder.gep(pointer, [k])), found[lane])
    return [builder.load(entry) for entry in found]


def _in_place(builder: Any, a: Any, group: Any, act: Callable[[Any, Any], Any]) -> None:
    """Build what is done with neighbouring places: in a whole group without a mask, otherwise with one."""
    first, n = (builder.extract_value(group, k) for k in range(2))
    run = Vectors(builder, a, first)
    with builder.if_else(_is_whole(builder, n)) as (whole, part):
        with whole:
            act(run, None)
        with part:
            act(run, _first(builder, n))


def _addresses(builder: Any, a: Any, group: Any) -> list[Any]:
    """Return the addresses of the entries at a group of places."""
    shifted = builder.gep(a, [builder.extract_value(group, LANES)])
    return [builder.gep(shifted, [builder.extract_value(group, lane)]) for lane in range(LANES)]


def _array(builder: Any, values: Any) -> Any:
    """Return an array of words."""
    array = ir.Constant(ir.ArrayType(WORD, len(values)), ir.Undefined)
    for k, value in enumerate(values):
        array = builder.insert_value(array, value, k)
    return array


def _vector(builder: Any, values: list[Any]) -> Any:
    """Return a vector of numbers."""
    vector = ir.Constant(ir.VectorType(values[0].type, LANES), ir.Undefined)
    for lane, value in enumerate(values):
        vector = builder.insert_element(vector, value, ir.Constant(INT, lane))
    return vector
