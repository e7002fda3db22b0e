"""Bare pointers from addresses: a kernel that is called for every step takes one number, not twenty arrays.

Handing an array to a kernel costs about 0.1 microseconds. So the addresses of all arrays stand in one array,
and the kernel is given that one's address. Whoever calls it keeps the arrays alive.
"""

# mypy: disallow-untyped-calls=False
# (numba and llvmlite have no types)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

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
