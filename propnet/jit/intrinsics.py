"""Features that numba lacks, written in LLVM's terms: bare pointers from addresses, prefetching of memory,
and Python objects inside kernels.

*Addresses*: a kernel that is called for every step takes one number instead of twenty arrays. Passing an
array to a kernel costs about 0.1 microseconds. So the addresses of all arrays are in one array, and the
kernel gets the address of this array. The caller must keep the arrays alive.

*Prefetching* is the instruction ``llvm.prefetch``. A walk that must read each address before it knows the
next one mostly waits. If several walks take turns, each can request the memory that it will need and let the
others continue meanwhile (Kocberber, Falsafi and Grot 2015: asynchronous memory access chaining).

*Python objects*: Python needs longer to make a result of the arrays that a kernel has filled than the kernel
needs for its work. So a few functions of Python's C interface are declared to numba: they read a number from
a sequence, and create bytes and tuples of integers. Kernels that use them hold the interpreter's lock, as do
all that are not ``nogil``.
"""

# mypy: disallow-untyped-calls=False, disallow-subclassing-any=False
# (numba and llvmlite have no types)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, box, intrinsic, models, register_model, unbox

from propnet.jit.arrays import Int32s, Ints, Octets, Words
from propnet.jit.vector512 import PointerType

A = TypeVar("A")


def _pointer_to(dtype: Any, name: str, doc: str, array: type[A]) -> Callable[[int], A]:
    """A function (address) -> pointer to elements of this type, like the pointers that
    :func:`propnet.jit.vector512.raw` returns for arrays."""

    def pointer(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

        return PointerType(dtype)(types.int64), generate

    pointer.__name__ = name
    pointer.__doc__ = doc
    return cast(Callable[[int], A], intrinsic(pointer))


int64s: Callable[[int], Ints] = _pointer_to(types.int64, "int64s", "The int64 numbers there.", Ints)
int32s: Callable[[int], Int32s] = _pointer_to(types.int32, "int32s", "The int32 numbers there.", Int32s)
words: Callable[[int], Words] = _pointer_to(types.uint64, "words", "The uint64 words there.", Words)
octets: Callable[[int], Octets] = _pointer_to(types.uint8, "octets", "The bytes there.", Octets)


_FLAG = ir.IntType(32)
_READ, _KEEP, _DATA = 0, 3, 1


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Request the cache line of element ``index`` of an array of one dimension; no index causes an error."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        struct = context.make_array(sig.args[0])(context, builder, args[0])
        place = context.cast(builder, args[1], sig.args[1], types.intp)
        address = builder.bitcast(
            cgutils.get_item_pointer(context, builder, sig.args[0], struct, [place]), cgutils.voidptr_t
        )
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _FLAG, _FLAG, _FLAG])
        ask = builder.module.declare_intrinsic("llvm.prefetch", (cgutils.voidptr_t,), kind)
        builder.call(ask, [address, _FLAG(_READ), _FLAG(_KEEP), _FLAG(_DATA)])
        return context.get_dummy_value()

    return types.void(array, index), generate


prefetch: Any = intrinsic(_prefetch)


_OBJECT = ir.IntType(8).as_pointer()
_I64 = ir.IntType(64)
_intrinsic: Any = intrinsic


class _ObjectType(types.Type):
    """The numba type of a Python object. Arguments are borrowed. A kernel must return the objects that it
    creates, or pass them to :func:`set_item`."""

    def __init__(self) -> None:
        super().__init__(name="PythonObject")


python_object = _ObjectType()
"""The one instance of :class:`_ObjectType`."""


@register_model(_ObjectType)
class _ObjectModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _OBJECT)


@unbox(_ObjectType)
def _unbox(typ: Any, obj: Any, c: Any) -> Any:
    return NativeValue(c.builder.bitcast(obj, _OBJECT))


@box(_ObjectType)
def _box(typ: Any, val: Any, c: Any) -> Any:
    return c.builder.bitcast(val, c.pyapi.pyobj)


def _c(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """A call of a function of Python's C interface."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@_intrinsic
def is_sequence(typing_context: Any, held: Any) -> Any:
    """Whether an object is a sequence."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = _c(builder, "PySequence_Check", ir.IntType(32), args[0])
        return builder.icmp_signed("!=", found, ir.Constant(ir.IntType(32), 0))

    return types.boolean(held), generate


@_intrinsic
def number_at(typing_context: Any, sequence: Any, index: Any) -> Any:
    """The integer at an index of a sequence; -1 if there is none, with Python's exception cleared."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        result = cgutils.alloca_once_value(builder, ir.Constant(_I64, -1))
        held = _c(builder, "PySequence_GetItem", _OBJECT, args[0], args[1])
        with builder.if_then(cgutils.is_not_null(builder, held)):
            null = ir.Constant(_OBJECT, None)
            builder.store(_c(builder, "PyNumber_AsSsize_t", _I64, held, null), result)
            _c(builder, "Py_DecRef", ir.VoidType(), held)
        with builder.if_then(builder.icmp_signed("<", builder.load(result), ir.Constant(_I64, 0))):
            _c(builder, "PyErr_Clear", ir.VoidType())
        return builder.load(result)

    return types.int64(sequence, types.int64), generate


@_intrinsic
def make_bytes(typing_context: Any, pointer: Any, length: Any) -> Any:
    """A bytes object with a copy of the ``length`` bytes at a pointer; null if there is no memory."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _c(builder, "PyBytes_FromStringAndSize", _OBJECT, args[0], args[1])

    return python_object(pointer, types.int64), generate


@_intrinsic
def make_tuple(typing_context: Any, pointer: Any, length: Any) -> Any:
    """A tuple of the ``length`` int32 numbers at a pointer; null if there is no memory."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        numbers = builder.bitcast(args[0], ir.IntType(32).as_pointer())
        result = _c(builder, "PyTuple_New", _OBJECT, args[1])
        with (
            builder.if_then(cgutils.is_not_null(builder, result)),
            cgutils.for_range(builder, args[1]) as loop,
        ):
            number = builder.sext(builder.load(builder.gep(numbers, [loop.index])), _I64)
            held = _c(builder, "PyLong_FromLongLong", _OBJECT, number)
            _c(builder, "PyTuple_SetItem", ir.IntType(32), result, loop.index, held)
        return result

    return python_object(pointer, types.int64), generate


@_intrinsic
def empty_tuple(typing_context: Any, length: Any) -> Any:
    """A tuple of ``length`` places, to be filled by :func:`set_item`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _c(builder, "PyTuple_New", _OBJECT, args[0])

    return python_object(types.int64), generate


@_intrinsic
def set_item(typing_context: Any, made: Any, index: Any, held: Any) -> Any:
    """Fill a place of a new tuple that no other code has seen yet; it takes the reference to the object."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        _c(builder, "PyTuple_SetItem", ir.IntType(32), args[0], args[1], args[2])
        return context.get_dummy_value()

    return types.void(made, types.int64, held), generate


@_intrinsic
def make_number(typing_context: Any, number: Any) -> Any:
    """A Python integer."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _c(builder, "PyLong_FromLongLong", _OBJECT, args[0])

    return python_object(types.int64), generate


def entry(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """The kernel for arguments of these types as a Python function. It skips the check of each argument's
    type that numba makes at every call."""
    kernel.compile(arguments)
    return cast(Callable[..., Any], kernel.overloads[arguments].entry_point)
