"""Kernels of a small net: what states are worth by it, which way its weights are to go, and Adam's steps
(D. Kingma and J. Ba, 2015).

The first layer is kept up to date from state to state (Y. Nasu: Efficiently updatable neural-network-based
evaluation functions for computer shogi, 2018). Its sums are whole numbers, so that adding and taking away
leaves nothing behind, whatever the order. The second is a vector of 16 floats, whole in registers: numba
keeps the sums of such a layer in memory, which costs several times what they do; LLVM makes one or more
registers of a vector, whatever the processor has.
"""

# mypy: disallow-untyped-calls=False
# (numba and llvmlite have no types)

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from players.knowledge.knowledge import HIDDEN, WIDTH
from players.knowledge.value_kernels import VECTORS, Singles, logistic
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import PointerType, item, lowest_bit, put, raw

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


UNIT = 1 / 256
"""What a weight of 1 in the first layer is worth."""


@kernel(**VECTORS)
def add_net(
    records: Words,
    first: NDArray[np.int16],
    first_bias: Int32s,
    second: Singles,
    second_bias: Singles,
    third: Singles,
    values: Singles,
) -> None:
    """Add what the net says to the logits of states, float32, shape (columns, n), and turn these into values,
    0..1: records, uint64, shape (n, words).

    ``first``: int16, shape (64 * words, HIDDEN), in units of UNIT; ``first_bias``: int32, shape (HIDDEN,).
    The first layer's sums are cut to 0..1. ``second``: float32, shape (HIDDEN, WIDTH), its bias (WIDTH,);
    ``third``: float32, shape (columns, WIDTH).
    """
    rows, words = np.int64(records.shape[0]), np.int64(records.shape[1])
    sums = np.empty(HIDDEN, np.int32)
    units = np.empty(HIDDEN, np.float32)
    outputs = np.empty(WIDTH, np.float32)
    for i in range(HIDDEN):
        put(sums, i, item(first_bias, i))
    unit, none, one = np.float32(UNIT), np.float32(0.0), np.float32(1.0)
    for row in range(rows):
        for word in range(words):
            bits = item(records, row * words + word)
            changed = bits ^ item(records, (row - 1) * words + word) if row else bits
            while changed:
                place = lowest_bit(changed)
                at = (64 * word + place) * HIDDEN
                if (bits >> np.uint64(place)) & np.uint64(1):
                    for i in range(HIDDEN):
                        put(sums, i, item(sums, i) + np.int32(item(first, at + i)))
                else:
                    for i in range(HIDDEN):
                        put(sums, i, item(sums, i) - np.int32(item(first, at + i)))
                changed &= changed - np.uint64(1)
        for i in range(HIDDEN):
            put(units, i, min(max(np.float32(item(sums, i)) * unit, none), one))
        layer(raw(units), raw(second), raw(second_bias), raw(outputs), HIDDEN)
        for column in range(values.shape[0]):
            total = item(values, column * rows + row)
            for i in range(WIDTH):
                total += item(outputs, i) * item(third, column * WIDTH + i)
            put(values, column * rows + row, total)
    for i in range(values.shape[0] * rows):
        put(values, i, logistic(item(values, i)))


_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
_FAST: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}
}  # fmt: skip


@kernel(**_FAST)
def gradients(
    records: Words,
    targets: Singles,
    rows: NDArray[np.int64],
    bases: Singles,
    second: Singles,
    second_bias: Singles,
    third: Singles,
    by_base: Singles,
    by_second: Singles,
    by_second_bias: Singles,
    by_third: Singles,
) -> float:
    """Add the gradients of the cross entropy of values and targets, 0..1, over some rows of ``records``,
    uint64, shape (n, words), and ``targets``, float32, shape (n, columns). Returns the sum of the squared
    errors.

    ``bases``: float32, shape (bases + 1, HIDDEN + columns): what each proposition adds to the
    first layer and to the logits; the last row is for all states. ``second`` and so on:
    :class:`players.knowledge.knowledge.LearntNet`. ``by_...``: the gradients, of these shapes.
    """
    columns = targets.shape[1]
    width = HIDDEN + columns
    active = np.empty(64 * records.shape[1] + 1, np.int64)
    sums, units = np.empty(width, np.float32), np.empty(HIDDEN, np.float32)
    outputs, back = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    errors = np.empty(width, np.float32)
    zero, one = np.float32(0.0), np.float32(1.0)
    squares = 0.0
    for i in range(rows.size):
        row = rows[i]
        active[0] = bases.shape[0] - 1
        count = 1
        for word in range(records.shape[1]):
            bits = records[row, word]
            while bits:
                active[count] = 64 * word + np.int64(lowest_bit(bits))
                count += 1
                bits &= bits - np.uint64(1)
        for j in range(width):
            sums[j] = zero
        for k in range(count):
            place = active[k]
            for j in range(width):
                sums[j] += bases[place, j]
        for j in range(HIDDEN):
            units[j] = min(max(sums[j], zero), one)
        for j in range(WIDTH):
            outputs[j] = second_bias[j]
        for k in range(HIDDEN):
            unit = units[k]
            if unit != zero:
                for j in range(WIDTH):
                    outputs[j] += unit * second[k, j]
        for j in range(WIDTH):
            outputs[j] = max(outputs[j], zero)
            back[j] = zero
        for column in range(columns):
            logit = sums[HIDDEN + column]
            for j in range(WIDTH):
                logit += outputs[j] * third[column, j]
            error = np.float32(1.0 / (1.0 + math.exp(-logit))) - targets[row, column]
            squares += error * error
            errors[HIDDEN + column] = error
            for j in range(WIDTH):
                by_third[column, j] += error * outputs[j]
                back[j] += error * third[column, j]
        for j in range(WIDTH):
            back[j] = back[j] if outputs[j] > zero else zero
            by_second_bias[j] += back[j]
        for k in range(HIDDEN):
            unit, error = units[k], zero
            if unit != zero:
                for j in range(WIDTH):
                    by_second[k, j] += unit * back[j]
            if zero < sums[k] < one:
                for j in range(WIDTH):
                    error += back[j] * second[k, j]
            errors[k] = error
        for k in range(count):
            place = active[k]
            for j in range(width):
                by_base[place, j] += errors[j]
    return squares


@kernel(**_FAST)
def sums_of_features(
    start: Int32s, feature: Int32s, scale: Singles, weights: Singles, bases: Singles
) -> None:
    """Fill in what propositions add, float32, shape (bases + 1, width), of the weights of features, shape
    (features, width): proposition b has ``feature[start[b]:start[b + 1]]``, each as much as its ``scale``,
    float32, shape (features,), all states have feature 0."""
    width = weights.shape[1]
    last = bases.shape[0] - 1
    for j in range(width):
        bases[last, j] = weights[0, j]
    for base in range(last):
        for j in range(width):
            bases[base, j] = np.float32(0.0)
        for entry in range(start[base], start[base + 1]):
            number = feature[entry]
            by = scale[number]
            for j in range(width):
                bases[base, j] += by * weights[number, j]


@kernel(**_FAST)
def spread_to_features(
    start: Int32s, feature: Int32s, scale: Singles, by_base: Singles, by_feature: Singles
) -> None:
    """The reverse, for gradients: fill in those of features of those of propositions, shapes as above."""
    width = by_feature.shape[1]
    last = by_base.shape[0] - 1
    by_feature[:] = np.float32(0.0)
    for j in range(width):
        by_feature[0, j] = by_base[last, j]
    for base in range(last):
        for entry in range(start[base], start[base + 1]):
            number = feature[entry]
            by = scale[number]
            for j in range(width):
                by_feature[number, j] += by * by_base[base, j]


@kernel(**_FAST)
def adam(weights: Singles, gradient: Singles, mean: Singles, square: Singles, step: int, rate: float) -> None:
    """One step of weights, all float32 of shape (n,), number ``step`` from 1 on; the running ``mean`` and
    ``square`` of gradients are brought up to date."""
    scale = rate * math.sqrt(1.0 - _BETA2**step) / (1.0 - _BETA1**step)
    one, keep1, keep2 = np.float32(1.0), np.float32(_BETA1), np.float32(_BETA2)
    for i in range(weights.size):
        mean[i] = keep1 * mean[i] + (one - keep1) * gradient[i]
        square[i] = keep2 * square[i] + (one - keep2) * gradient[i] * gradient[i]
        weights[i] -= np.float32(scale) * mean[i] / (np.float32(math.sqrt(square[i])) + np.float32(_EPSILON))
