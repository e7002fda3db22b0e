"""Vectors of 16 floats inside numba kernels: one layer of a small net, whole in registers.

numba keeps the sums of such a layer in memory, which costs several times what they do. LLVM makes one or more
registers of a vector, whatever the processor has.
"""

# mypy: disallow-untyped-calls=False
# (numba and llvmlite have no types)

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from players.knowledge.learnt_net import WIDTH
from propnet.jit.vector512 import PointerType

_SUMS = 4
"""So many sums are under way at once: none waits for the one before."""
_VECTOR = ir.VectorType(ir.FloatType(), WIDTH)
_FLOAT = ir.FloatType()
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_intrinsic: Any = intrinsic


@_intrinsic
def layer(typing_context: Any, inputs: Any, weights: Any, bias: Any, outputs: Any, count: Any) -> Any:
    """Write ``bias`` plus the weighted inputs, those below 0 taken for 0, to ``outputs``: all are
    :func:`propnet.jit.vector512.raw` pointers to float32, of shapes (count,), (count, WIDTH), (WIDTH,) and
    (WIDTH,). ``count`` is a multiple of 4."""
    assert all(isinstance(each, PointerType) for each in (inputs, weights, bias, outputs))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        floats = [builder.bitcast(arg, _FLOAT.as_pointer()) for arg in args[:4]]
        source, table, begin, target = floats
        total = builder.sext(args[4], _I64) if args[4].type.width < 64 else args[4]
        fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), f"llvm.fma.v{WIDTH}f32"
        )

        def vector_at(pointer: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(pointer, [place]), _VECTOR.as_pointer())

        zero = ir.Constant(_VECTOR, [0.0] * WIDTH)
        first = builder.load(vector_at(begin, ir.Constant(_I64, 0)), align=4)
        sums = [cgutils.alloca_once_value(builder, value) for value in (first, *(zero,) * (_SUMS - 1))]
        with cgutils.for_range_slice(
            builder, ir.Constant(_I64, 0), total, ir.Constant(_I64, _SUMS), _I64
        ) as (at, _):
            for number, place in enumerate(sums):
                here = builder.add(at, ir.Constant(_I64, number))
                one = builder.load(builder.gep(source, [here]))
                empty = ir.Constant(_VECTOR, ir.Undefined)
                single = builder.insert_element(empty, one, ir.Constant(_I32, 0))
                spread = builder.shuffle_vector(
                    single, empty, ir.Constant(ir.VectorType(_I32, WIDTH), [0] * WIDTH)
                )
                row = builder.load(vector_at(table, builder.mul(here, ir.Constant(_I64, WIDTH))), align=4)
                builder.store(builder.call(fma, [spread, row, builder.load(place)]), place)
        values = [builder.load(place) for place in sums]
        while len(values) > 1:
            values = [builder.fadd(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
        positive = builder.fcmp_ordered(">", values[0], zero)
        builder.store(
            builder.select(positive, values[0], zero), vector_at(target, ir.Constant(_I64, 0)), align=4
        )
        return context.get_dummy_value()

    return types.void(inputs, weights, bias, outputs, count), generate
