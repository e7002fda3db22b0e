"""What numba does not know, written in LLVM's terms: bare pointers from addresses, asking the processor for
memory before it is needed, Python objects inside kernels.

*Addresses*: a kernel that is called for every step takes one number, not twenty arrays. Handing an array to a
kernel costs about 0.1 microseconds. So the addresses of all arrays stand in one array, and the kernel is
given that one's address. Whoever calls it keeps the arrays alive.

*Prefetching* is the instruction ``llvm.prefetch``. A walk that must read each address before it knows the
next one mostly waits. Where several walks take turns, each can ask for what it will need and let the others
go on meanwhile (Kocberber, Falsafi and Grot 2015: asynchronous memory access chaining).

*Python objects*: to make an answer of arrays that a kernel has filled takes Python longer than the kernel
takes for its work. So a few functions of Python's C interface are made known to numba: they take a number out
of a sequence, and make bytes and tuples of integers. Kernels that use them hold the interpreter's lock, as
all do that are not ``nogil``.
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
    """A function (address) -> pointer to elements of this type, as :func:`propnet.jit.vector512.raw` gives
    it of an array."""

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
    """Ask for the cache line of element ``index`` of an array of one dimension; no index causes an error."""

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
    """The numba type of a Python object. Arguments are borrowed; what a kernel makes, it has to return, or to
    hand to :func:`set_item`."""

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
    """The integer at an index of a sequence, -1 where it has none: it is cleared what Python says of it."""

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
    """Bytes of so many bytes that stand at a pointer; null where there is no memory."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _c(builder, "PyBytes_FromStringAndSize", _OBJECT, args[0], args[1])

    return python_object(pointer, types.int64), generate


@_intrinsic
def make_tuple(typing_context: Any, pointer: Any, length: Any) -> Any:
    """A tuple of so many int32 numbers that stand at a pointer; null where there is no memory."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        numbers = builder.bitcast(args[0], ir.IntType(32).as_pointer())
        made = _c(builder, "PyTuple_New", _OBJECT, args[1])
        with builder.if_then(cgutils.is_not_null(builder, made)), cgutils.for_range(builder, args[1]) as loop:
            number = builder.sext(builder.load(builder.gep(numbers, [loop.index])), _I64)
            held = _c(builder, "PyLong_FromLongLong", _OBJECT, number)
            _c(builder, "PyTuple_SetItem", ir.IntType(32), made, loop.index, held)
        return made

    return python_object(pointer, types.int64), generate


@_intrinsic
def empty_tuple(typing_context: Any, length: Any) -> Any:
    """A tuple with room for so many objects, to be filled by :func:`set_item`."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _c(builder, "PyTuple_New", _OBJECT, args[0])

    return python_object(types.int64), generate


@_intrinsic
def set_item(typing_context: Any, made: Any, index: Any, held: Any) -> Any:
    """Fill a place of a tuple that nobody else has seen yet; it keeps the object."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        _c(builder, "PyTuple_SetItem", ir.IntType(32), args[0], args[1], args[2])
        return context.get_dummy_value()

    return types.void(made, types.int64, held), generate


@_intrinsic
def make_number(typing_context: Any, number: Any) -> Any:
    """An integer."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _c(builder, "PyLong_FromLongLong", _OBJECT, args[0])

    return python_object(types.int64), generate


def entry(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """The kernel for arguments of these types as a function of Python's, without the look at each argument's
    type that numba takes at every call."""
    kernel.compile(arguments)
    return cast(Callable[..., Any], kernel.overloads[arguments].entry_point)
