"""Vectors of 512 bits inside numba kernels: a value type ``<8 x i64>`` and its operations.

numba has no vector values and does not vectorise a walk over gates. So this module adds a type whose
values LLVM keeps in vector registers: one with AVX-512, two with AVX2, more on older processors, with
the same results.

Inside ``@njit`` code vectors support ``& | ^ ~ +`` and the functions below. Offsets are byte
offsets into a contiguous array; they are not checked.
"""

# mypy: disallow-untyped-calls=False
# (numba and llvmlite have no types)

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from propnet.jit.arrays import Vector, Words

LANES = 512
"""Lanes of a vector."""
WORDS = LANES // 64
"""64-bit words of a vector. Lane i is bit ``i % 64`` of word ``i // 64``."""
BYTES = LANES // 8
"""Bytes of a vector; byte offsets are multiples of this."""

_T = TypeVar("_T")
_I8 = ir.IntType(8)
_I64 = ir.IntType(64)
_IR_VECTOR = ir.VectorType(_I64, WORDS)
_IR_BITS = ir.IntType(LANES)


_intrinsic: Any = intrinsic
"""``intrinsic`` for type checkers: its results are called without the context."""


def _operation(result: type[_T]) -> Callable[[Callable[..., Any]], Callable[..., _T]]:
    """``intrinsic``, with the type that kernels get from the result."""
    return lambda generate: cast(Callable[..., _T], _intrinsic(generate))


class VectorType(types.Type):
    """The numba type of a vector value."""

    def __init__(self) -> None:
        super().__init__(name="Vector512")


vector = VectorType()
"""The one instance of :class:`VectorType`."""


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: types.Type) -> None:
        super().__init__(dmm, fe_type, _IR_VECTOR)


def _define(operation: Callable[..., Any], emit: str, operands: int) -> None:
    """Extend a Python operation to vectors, by the method ``emit`` of LLVM's builder."""
    vectors = (vector,) * operands

    @infer_global(operation)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(vector, *vectors) if args == vectors else None

    @lower_builtin(operation, *vectors)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, emit)(*args)


_define(operator.and_, "and_", 2)
_define(operator.or_, "or_", 2)
_define(operator.xor, "xor", 2)
_define(operator.add, "add", 2)
_define(operator.invert, "not_", 1)


class PointerType(types.Type):
    """The numba type of a :func:`raw` pointer to elements of ``dtype``."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(name=f"Pointer({dtype})")
        self.dtype = dtype


@register_model(PointerType)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _I8.as_pointer())


def _start(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    """Pointer to the first byte of an array."""
    if isinstance(array_type, PointerType):
        return array
    return builder.bitcast(context.make_array(array_type)(context, builder, array).data, _I8.as_pointer())


def _bytes(builder: Any, value: Any, integer: Any) -> Any:
    """A byte offset as an i64, extended according to its numba type."""
    if value.type.width >= 64:
        return value
    return builder.sext(value, _I64) if integer.signed else builder.zext(value, _I64)


def _vector_at(context: Any, builder: Any, array: Any, args: Any, offset: Any) -> Any:
    """Pointer to the vector ``args[1]`` bytes after the start of the array ``args[0]``."""
    start = _start(context, builder, array, args[0])
    return builder.bitcast(builder.gep(start, [_bytes(builder, args[1], offset)]), _IR_VECTOR.as_pointer())


def _element_at(context: Any, builder: Any, array: Any, args: Any, index: Any) -> Any:
    """Pointer to element ``args[1]`` of the array ``args[0]``."""
    data = _start(context, builder, array, args[0])
    data = builder.bitcast(data, context.get_data_type(array.dtype).as_pointer())
    return builder.gep(data, [_bytes(builder, args[1], index)])


def _spread(builder: Any, word: Any) -> Any:
    """The vector whose eight words are all this i64."""
    empty = ir.Constant(_IR_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, word, ir.Constant(_I64, 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WORDS), [0] * WORDS)
    return builder.shuffle_vector(first, empty, zeros)


@_operation(Vector)
def load(typing_context: Any, array: Any, offset: Any) -> Any:
    """The vector ``offset`` bytes after the start of an array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_vector_at(context, builder, array, args, offset), align=8)

    return vector(array, offset), generate


@_intrinsic
def store(typing_context: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write a vector ``offset`` bytes after the start of an array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _vector_at(context, builder, array, args, offset), align=8)
        return context.get_dummy_value()

    return types.void(array, offset, vector), generate


@_intrinsic
def item(typing_context: Any, array: Any, index: Any) -> Any:
    """``array[index]`` of a contiguous array, flat, without support for negative indices."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_element_at(context, builder, array, args, index))

    return array.dtype(array, index), generate


@_intrinsic
def put(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index] = value``, indexed as in :func:`item`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = context.cast(builder, args[2], value, array.dtype)
        builder.store(word, _element_at(context, builder, array, args, index))
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@_intrinsic
def raw(typing_context: Any, array: Any) -> Any:
    """An array's start as a bare pointer for the functions of this module; or a named tuple with a pointer in
    place of each of its arrays.

    numba counts references to arrays: in functions that it does not inline, at every use of every array,
    which in a kernel's loop costs more than its work. Pointers are not counted; the caller of a kernel
    must keep the arrays alive."""
    if not isinstance(array, types.NamedTuple | types.NamedUniTuple):
        return PointerType(array.dtype)(array), lambda c, b, sig, args: _start(c, b, array, args[0])
    pointers = [PointerType(field.dtype) for field in array.types]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = (builder.extract_value(args[0], i) for i in range(len(pointers)))
        starts = [_start(context, builder, *pair) for pair in zip(array.types, values, strict=True)]
        return context.make_tuple(builder, sig.return_type, starts)

    return types.BaseTuple.from_types(pointers, array.instance_class)(array), generate


@_operation(Vector)
def splat(typing_context: Any, word: Any) -> Any:
    """The vector whose eight words are all this 64-bit integer."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, context.cast(builder, args[0], word, types.int64))

    return vector(word), generate


@_operation(bool)
def any_lane(typing_context: Any, value: Any) -> Any:
    """Whether some bit of a vector is set."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], _IR_BITS)
        return builder.icmp_unsigned("!=", bits, ir.Constant(_IR_BITS, 0))

    return types.boolean(vector), generate


@_operation(int)
def count_lanes(typing_context: Any, value: Any) -> Any:
    """The number of set bits of a vector."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        count = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_IR_VECTOR, [_IR_VECTOR]), "llvm.ctpop.v8i64"
        )
        add = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_I64, [_IR_VECTOR]), "llvm.vector.reduce.add.v8i64"
        )
        return builder.call(add, [builder.call(count, [args[0]])])

    return types.int64(vector), generate


def _shift_by(emit: Callable[[Any, Any, Any], Any], name: str, doc: str) -> Callable[..., Vector]:
    """A function (vector, number of bits) -> vector."""

    def shift(typing_context: Any, value: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return emit(builder, args[0], _spread(builder, context.cast(builder, args[1], bits, types.int64)))

        return vector(vector, bits), generate

    shift.__name__ = name
    shift.__doc__ = doc
    return _operation(Vector)(shift)


def _rotate(builder: Any, value: Any, amount: Any) -> Any:
    kind = ir.FunctionType(_IR_VECTOR, [_IR_VECTOR] * 3)
    rotate = cgutils.get_or_insert_function(builder.module, kind, "llvm.fshl.v8i64")
    return builder.call(rotate, [value, value, amount])


shift_left = _shift_by(lambda b, v, n: b.shl(v, n), "shift_left", "Every word moved up by 0 to 63 bits.")
shift_right = _shift_by(lambda b, v, n: b.lshr(v, n), "shift_right", "Every word moved down by 0 to 63 bits.")
rotate_left = _shift_by(_rotate, "rotate_left", "Every word rotated up by 0 to 63 bits.")


@_intrinsic
def call(typing_context: Any, function: Any, array: Any) -> Any:
    """Call native code: ``function`` is the address of a C function that takes the array's start."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _start(context, builder, array, args[1])
        kind = ir.FunctionType(ir.VoidType(), [_I8.as_pointer()])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), [data])
        return context.get_dummy_value()

    return types.void(function, array), generate


@_operation(int)
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """The number of the lowest set bit of a 64-bit word that is not 0."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@_operation(int)
def count_bits(typing_context: Any, word: Any) -> Any:
    """The number of set bits of a 64-bit word."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


def aligned(rows: int, words: int = WORDS) -> Words:
    """A zeroed uint64 array (rows, words) that starts on a 64-byte border."""
    raw = np.zeros(rows * words + WORDS, np.uint64)
    skip = (-raw.ctypes.data % BYTES) // 8
    return raw[skip : skip + rows * words].reshape(rows, words)
