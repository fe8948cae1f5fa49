"""Bytes of text, 8 or 64 at a time: what compiled code runs for the plain functions of the same names."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from onlinear.engine.compile import teach, teach_intrinsic
from onlinear.streams.formats.text import decimals, libsvm_lines

_WORD, _BYTE = ir.IntType(64), ir.IntType(8)


@intrinsic
def marks(typing_context: Any, text: Any, p: Any) -> Any:
    """Return which of the 64 bytes text[p : p+64] are colons or blanks, and how many are colons and ends of lines."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_BYTE, 64)
        at = builder.bitcast(builder.gep(args[0], [args[1]]), vector.as_pointer())
        bytes_ = builder.load(at, align=1)

        def where(comparison: str, byte: int) -> Any:
            same = builder.icmp_unsigned(comparison, bytes_, ir.Constant(vector, [byte] * 64))
            return builder.bitcast(same, _WORD)

        colons = where("==", ord(":"))
        both = builder.or_(colons, where("<=", ord(" ")))
        counts = [builder.ctpop(found) for found in (colons, where("==", ord("\n")))]
        return context.make_tuple(builder, signature.return_type, [both, *counts])

    kinds = types.Tuple((types.uint64, types.int64, types.int64))
    return kinds(text, types.intp), generate


@intrinsic
def first_mark(typing_context: Any, word: Any) -> Any:
    """Return the place of the lowest bit that is set, of 64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def digits(typing_context: Any, text: Any, p: Any) -> Any:
    """Return the number of digits at the start of the 8 bytes text[p : p+8], and the number that they form."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _digit_values(builder, args[0], args[1])
        place = builder.cttz(_no_digits(builder, values), ir.Constant(ir.IntType(1), 0))
        count = builder.lshr(place, ir.Constant(_WORD, 3))
        number = _joined(builder, values, builder.and_(place, ir.Constant(_WORD, 0x78)))
        return context.make_tuple(builder, signature.return_type, [count, number])

    return types.UniTuple(types.int64, 2)(text, types.intp), generate


@intrinsic
def digits_of(typing_context: Any, text: Any, p: Any, n: Any) -> Any:
    """Return whether the n ≤ 8 bytes text[p : p+n] are all digits, and their number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _digit_values(builder, args[0], args[1])
        bits = builder.shl(args[2], ir.Constant(_WORD, 3))
        all_of_them = builder.icmp_unsigned(
            "==", _shifted(builder, _no_digits(builder, values), bits), ir.Constant(_WORD, 0)
        )
        return context.make_tuple(builder, signature.return_type, [all_of_them, _joined(builder, values, bits)])

    return types.Tuple((types.boolean, types.int64))(text, types.intp, types.intp), generate


def _digit_values(builder: Any, text: Any, p: Any) -> Any:
    """Return 8 bytes of text as a word, in which each digit is its value."""
    at = builder.bitcast(builder.gep(text, [p]), _WORD.as_pointer())
    return builder.xor(builder.load(at, align=1), _repeated(0x30))


def _no_digits(builder: Any, values: Any) -> Any:
    """Return a word in which the highest bit of the first byte that is not a digit is set, and none before it."""
    # A byte above 9 carries into its highest bit; a carry beyond it reaches later bytes only.
    return builder.and_(builder.or_(builder.add(values, _repeated(0x76)), values), _repeated(0x80))


def _shifted(builder: Any, word: Any, bits: Any) -> Any:
    """Return a word with its lowest `bits` bits moved to the upper end, and zeros below them."""
    none = builder.icmp_unsigned("==", bits, ir.Constant(_WORD, 0))
    moved = builder.shl(word, builder.sub(ir.Constant(_WORD, 64), builder.select(none, ir.Constant(_WORD, 64), bits)))
    return builder.select(none, ir.Constant(_WORD, 0), moved)


def _joined(builder: Any, values: Any, bits: Any) -> Any:
    """Return the number that the digits in the lowest `bits` bits form: they are joined to pairs, fours and eight."""
    number = _shifted(builder, values, bits)
    for every, factor, width in ((1, 10 * 2**8 + 1, 8), (2, 100 * 2**16 + 1, 16), (4, 10_000 * 2**32 + 1, 32)):
        mask = _repeated(0x0F if every == 1 else 256 ** (every // 2) - 1, every)
        joined = builder.mul(builder.and_(number, mask), ir.Constant(_WORD, factor))
        number = builder.lshr(joined, ir.Constant(_WORD, width))
    return number


def _repeated(value: int, every: int = 1) -> Any:
    """Return a word in which a value is repeated every `every` bytes."""
    return ir.Constant(_WORD, int.from_bytes(value.to_bytes(every, "little") * (8 // every), "little"))


@functools.cache
def teach_text() -> None:
    """Let compiled code call the functions of `decimals` and `libsvm_lines`."""
    teach(decimals.signed, lambda n: np.int64(n))
    teach_intrinsic(decimals.digits, digits)
    teach_intrinsic(decimals.digits_of, digits_of)
    teach_intrinsic(libsvm_lines.marks, marks)
    teach_intrinsic(libsvm_lines.first_mark, first_mark)
    for plain in (
        decimals.high_product,
        decimals.leading_zeros,
        decimals.times_power_of_ten,
        decimals.decimal,
        decimals.any_decimal,
        libsvm_lines.ends,
        libsvm_lines.is_query,
    ):
        teach(plain)
