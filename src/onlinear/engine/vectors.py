"""The inner loops over rows, built from vector instructions.

numba's loop vectoriser reorders no sums without fastmath, and with it the order is LLVM's choice,
which differs between machines. Here the order is ours: equal bit for bit to the plain Python of the
same names in `flat`. LLVM splits the vectors where the processor has shorter ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from onlinear.engine.flat import LANES

DOUBLE, WORD, INT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
DOUBLES = ir.VectorType(DOUBLE, LANES)
WORDS = ir.VectorType(WORD, LANES)
_UNROLLED = 8
BITS = ir.VectorType(ir.IntType(1), LANES)


@intrinsic
def address(typing_context: Any, array: Any) -> Any:
    """Return a bare pointer to the array's first entry."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def lane_dot(typing_context: Any, a: Any, i: Any, b: Any, j: Any, n: Any) -> Any:
    """Return ⟨a[i : i+n], b[j : j+n]⟩: a vector of LANES sums, whose halves are then added."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first, second = (Vectors(builder, args[k], args[k + 1]) for k in (0, 2))
        # Rows seldom begin at a cache line, and a load of 64 bytes would then straddle two.
        width = LANES // 2 if first.entry == second.entry == DOUBLE else LANES

        def term(offset: Any, mask: Any, wide: int) -> Any:
            return builder.fmul(first.load(offset, mask, wide), second.load(offset, mask, wide))

        return _lane_sum(builder, args[4], term, width)

    return types.float64(a, types.intp, b, types.intp, types.intp), generate


@intrinsic
def lane_squares(typing_context: Any, a: Any, i: Any, b: Any, j: Any, n: Any, scale: Any) -> Any:
    """Return Σ a[i+k]·(scale·b[j+k])² over n entries, in lanes like `lane_dot`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first, second = (Vectors(builder, args[k], args[k + 1]) for k in (0, 2))
        factor = spread(builder, args[5], DOUBLES)

        def term(offset: Any, mask: Any, wide: int) -> Any:
            v = builder.fmul(second.load(offset, mask, wide), factor)
            return builder.fmul(first.load(offset, mask, wide), builder.fmul(v, v))

        return _lane_sum(builder, args[4], term, LANES)

    return types.float64(a, types.intp, b, types.intp, types.intp, types.float64), generate


def _lane_sum(builder: Any, n: Any, term: Callable[[Any, Any, int], Any], width: int) -> Any:
    """Build the sum of n terms: a vector of LANES sums, `width` of them at a time, whose halves are then added."""
    total = cgutils.alloca_once_value(builder, ir.Constant(DOUBLES, [0.0] * LANES))
    sums = builder.bitcast(total, DOUBLE.as_pointer())

    def step(offset: Any, mask: Any) -> None:
        wide = width if mask is None else LANES
        for lane in range(0, LANES, wide):
            at = builder.bitcast(builder.gep(sums, [ir.Constant(INT, lane)]), ir.VectorType(DOUBLE, wide).as_pointer())
            here = builder.add(offset, ir.Constant(WORD, lane))
            builder.store(builder.fadd(builder.load(at), term(here, mask, wide)), at)

    _for_each_vector(builder, n, step)
    vector, size = builder.load(total), LANES
    while size > 1:
        low, high = (_part(builder, vector, begin, size // 2) for begin in (0, size // 2))
        vector, size = builder.fadd(low, high), size // 2
    return builder.extract_element(vector, ir.Constant(INT, 0))


@intrinsic
def lane_add(typing_context: Any, a: Any, i: Any, c: Any, b: Any, j: Any, n: Any) -> Any:
    """Add in place: a[i : i+n] ← a[i : i+n] + c·b[j : j+n]."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, source = Vectors(builder, args[0], args[1]), Vectors(builder, args[3], args[4])
        factor = spread(builder, args[2], DOUBLES)

        def step(offset: Any, mask: Any) -> None:
            product = builder.fmul(factor, source.load(offset, mask))
            target.store(offset, mask, builder.fadd(target.load(offset, mask), product))

        _for_each_vector(builder, args[5], step)
        return context.get_dummy_value()

    return types.void(a, types.intp, types.float64, b, types.intp, types.intp), generate


@intrinsic
def dense_class_sums(
    typing_context: Any,
    w: Any,
    bias: Any,
    stride: Any,
    classes: Any,
    values: Any,
    i: Any,
    n: Any,
    scale: Any,
    scores: Any,
    f: Any,
) -> Any:
    """Write each class's sum over n entries into scores[f : f+classes], several classes to a vector."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        weights, bias, stride, classes, values, i, n, scale, scores, first = args
        entries, where = _Entries(builder, values, i, n, scale), (weights, stride, builder.gep(scores, [first]))
        _class_sums(builder, entries, lambda k: builder.add(k, bias), where, classes)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(w, whole, whole, whole, values, whole, whole, types.float64, scores, whole), generate


@intrinsic
def sparse_class_sums(
    typing_context: Any,
    w: Any,
    bias: Any,
    classes: Any,
    values: Any,
    indices: Any,
    i: Any,
    n: Any,
    scale: Any,
    scores: Any,
    f: Any,
) -> Any:
    """Write each class's sum over n entries into scores[f : f+classes], several classes to a vector."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        weights, bias, classes, values, indices, i, n, scale, scores, first = args
        entries, numbers = _Entries(builder, values, i, n, scale), builder.gep(indices, [i])

        def feature(k: Any) -> Any:
            number = builder.load(builder.gep(numbers, [k]))
            return builder.add(number if number.type == WORD else builder.sext(number, WORD), bias)

        _class_sums(builder, entries, feature, (weights, classes, builder.gep(scores, [first])), classes)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(w, whole, whole, values, indices, whole, whole, types.float64, scores, whole), generate


class _Entries:
    """The n entries of a row, one at a time, as doubles."""

    def __init__(self, builder: Any, values: Any, i: Any, n: Any, scale: Any) -> None:
        self.builder, self.n, self.scale = builder, n, scale
        self.values = builder.gep(values, [i])

    def load(self, k: Any) -> Any:
        value = self.builder.load(self.builder.gep(self.values, [k]))
        double = value if value.type == DOUBLE else self.builder.fpext(value, DOUBLE)
        return self.builder.fmul(double, self.scale)


def _class_sums(
    builder: Any, entries: _Entries, feature: Callable[[Any], Any], where: tuple[Any, Any, Any], classes: Any
) -> None:
    """Build the sums of all classes: up to four vectors of classes at a time go over the entries, in registers.

    `where` has the weights, how far those of one feature are from those of the next, and the scores.
    """
    done = cgutils.alloca_once(builder, WORD)
    builder.store(ir.Constant(WORD, 0), done)
    for vectors, more_than in ((4, 2 * LANES), (2, LANES), (1, 0)):
        loop, body, end = (builder.append_basic_block() for _ in range(3))
        builder.branch(loop)
        builder.position_at_end(loop)
        begin = builder.load(done)
        rest = builder.sub(classes, begin)
        builder.cbranch(builder.icmp_signed(">", rest, ir.Constant(WORD, more_than)), body, end)
        builder.position_at_end(body)
        _some_class_sums(builder, entries, feature, where, begin, rest, vectors)
        builder.store(builder.add(begin, ir.Constant(WORD, vectors * LANES)), done)
        builder.branch(loop)
        builder.position_at_end(end)


def _some_class_sums(
    builder: Any, entries: _Entries, feature: Callable[[Any], Any], where: Any, begin: Any, rest: Any, vectors: int
) -> None:
    """Build the sums of some vectors of classes, from class `begin` on; classes beyond the last are masked out."""
    weights, stride, scores = where
    masks, sums = [], []
    for v in range(vectors):
        numbers = ir.Constant(WORDS, [v * LANES + lane for lane in range(LANES)])
        masks.append(builder.icmp_signed("<", numbers, spread(builder, rest, WORDS)))
        sums.append(cgutils.alloca_once(builder, DOUBLES))
        builder.store(ir.Constant(DOUBLES, [0.0] * LANES), sums[-1])
    with cgutils.for_range(builder, entries.n) as entry:
        factor = spread(builder, entries.load(entry.index), DOUBLES)
        run = Vectors(builder, weights, builder.add(builder.mul(feature(entry.index), stride), begin))
        for v in range(vectors):
            product = builder.fmul(run.load(ir.Constant(WORD, v * LANES), masks[v]), factor)
            builder.store(builder.fadd(builder.load(sums[v]), product), sums[v])
    target = Vectors(builder, scores, begin)
    for v in range(vectors):
        target.store(ir.Constant(WORD, v * LANES), masks[v], builder.load(sums[v]))


@intrinsic
def all_below(typing_context: Any, a: Any, i: Any, n: Any, limit: Any) -> Any:
    """Tell whether 0 ≤ entry < limit for the entries a[i : i+n]."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        run = Vectors(builder, args[0], args[1])
        # As unsigned numbers negative entries are huge; so is the limit cut to what the entries can reach.
        most = ir.Constant(WORD, 2 ** (run.entry.width - 1))
        reach = builder.select(builder.icmp_unsigned("<", args[3], most), args[3], most)
        limits = spread(builder, builder.trunc(reach, run.entry), ir.VectorType(run.entry, LANES))
        outside = cgutils.alloca_once_value(builder, ir.Constant(BITS, [0] * LANES))

        def step(offset: Any, mask: Any) -> None:
            beyond = builder.icmp_unsigned(">=", run.load(offset, mask), limits)
            builder.store(builder.or_(builder.load(outside), beyond), outside)

        _for_each_vector(builder, args[2], step)
        found = builder.bitcast(builder.load(outside), ir.IntType(LANES))
        return builder.icmp_unsigned("==", found, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(a, types.intp, types.intp, types.intp), generate


class Vectors:
    """Entries from an address on, read and written a vector at a time."""

    def __init__(self, builder: Any, pointer: Any, offset: Any) -> None:
        self.builder = builder
        self.entry = pointer.type.pointee
        if isinstance(self.entry, ir.IntType):
            self.kind, self.size = f"i{self.entry.width}", self.entry.width // 8
        else:
            self.kind, self.size = ("f64", 8) if self.entry == DOUBLE else ("f32", 4)
        self.pointer = builder.gep(pointer, [offset])

    def load(self, offset: Any, mask: Any, width: int = LANES) -> Any:
        """Return a vector of doubles, or of integers; where masked out, 0."""
        vector = ir.VectorType(self.entry, width)
        at, blank = self._at(offset, vector), ir.Constant(vector, None)
        if mask is None:
            loaded = self.builder.load(at, align=self.size)
        else:
            loaded = self._call("load", vector, [at, ir.Constant(INT, self.size), mask, blank])
        single = self.kind == "f32"
        return self.builder.fpext(loaded, ir.VectorType(DOUBLE, width)) if single else loaded

    def store(self, offset: Any, mask: Any, values: Any) -> None:
        """Write a vector of doubles, where not masked out."""
        at = self._at(offset, DOUBLES)
        if mask is None:
            self.builder.store(values, at, align=self.size)
        else:
            self._call("store", ir.VoidType(), [values, at, ir.Constant(INT, self.size), mask])

    def _at(self, offset: Any, vector: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.pointer, [offset]), vector.as_pointer())

    def _call(self, verb: str, returns: Any, args: list[Any]) -> Any:
        kind = ir.FunctionType(returns, [arg.type for arg in args])
        name = f"llvm.masked.{verb}.v{LANES}{self.kind}.p0"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), args)


def _for_each_vector(builder: Any, n: Any, step: Callable[[Any, Any], None]) -> None:
    """Build a loop over n entries, LANES at a time, and a masked step for the rest."""
    zero, lanes = ir.Constant(WORD, 0), ir.Constant(WORD, LANES)
    whole = builder.and_(n, ir.Constant(WORD, -LANES))
    with cgutils.for_range_slice(builder, zero, whole, lanes) as (offset, _):
        step(offset, None)
        body = builder.basic_block
    _unroll(builder, body.terminator)
    rest = builder.sub(n, whole)
    with builder.if_then(builder.icmp_unsigned("!=", rest, zero)):
        numbers = ir.Constant(WORDS, list(range(LANES)))
        step(whole, builder.icmp_unsigned("<", numbers, spread(builder, rest, WORDS)))


def _unroll(builder: Any, back: Any) -> None:
    """Have LLVM unroll a loop _UNROLLED times, given the branch to its beginning.

    By itself LLVM would unroll it in a rule's method, and again in the pass that the method becomes part of.
    """
    module = builder.module
    count = module.add_metadata(["llvm.loop.unroll.count", ir.Constant(INT, _UNROLLED)])
    loop = ir.MDValue(module, (), name=str(len(module.metadata)))
    loop.operands = (loop, count)  # a loop is identified by a node that refers to itself
    back.set_metadata("llvm.loop", loop)


def spread(builder: Any, value: Any, kind: Any) -> Any:
    """Return a vector with the same value in every lane."""
    blank = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(blank, value, ir.Constant(INT, 0))
    return builder.shuffle_vector(first, blank, ir.Constant(ir.VectorType(INT, LANES), [0] * LANES))


def _part(builder: Any, vector: Any, begin: int, width: int) -> Any:
    """Return `width` of a vector's lanes, from `begin` on."""
    lanes = ir.Constant(ir.VectorType(INT, width), list(range(begin, begin + width)))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), lanes)
