"""Asking the processor for memory before it is needed: the instruction that LLVM calls ``llvm.prefetch``.

A walk that must read each address before it knows the next one mostly waits. Where several walks take turns,
each can ask for what it will need and let the others go on meanwhile (Kocberber, Falsafi and Grot 2015:
asynchronous memory access chaining).
"""

# mypy: disallow-untyped-calls=False
# (numba and llvmlite have no types)

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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
