"""Kernels: what states are worth by tables over n-tuples, and what errors teach these.

Values: blocks of states. Each variable's value is taken from the bits of all states of the block, then each
tuple's place in its table made of them, so that all but the look-ups themselves is done in vectors.
"""

from __future__ import annotations

import math

import numpy as np

from players.knowledge.value_kernels import VECTORS, Singles, logistic
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import item, put

BLOCK = 64
"""States of a block."""


@kernel(**VECTORS)
def add_tuples(
    records: Words,
    base: Int32s,
    variable: Int32s,
    code: Int32s,
    variables: int,
    start: Int32s,
    member: Int32s,
    stride: Int32s,
    offset: Int32s,
    table: Int32s,
    unit: float,
    values: Singles,
) -> None:
    """Add what tuples are worth to the logits of states, float32, shape (columns, n), and turn these into
    values, 0..1: records, uint64, shape (n, words).

    Proposition ``base[i]``, where it holds, gives ``variable[i]``, one of so many ``variables``, the value
    ``code[i]``. Tuple t has the variables ``member[start[t]:start[t + 1]]``, which are worth ``stride`` each
    in the place of its entry, counted from ``offset[t]``. ``table``: int32, shape (columns, entries), in
    units of ``unit`` logits. All others int32, shapes (propositions,), (members,) and (tuples + 1,).
    """
    n, width, entries = records.shape[0], records.shape[1], table.shape[1]
    codes = np.empty(variables * BLOCK, np.int16)
    words = np.zeros(width * BLOCK, np.uint64)
    place = np.empty(BLOCK, np.int16)
    totals = np.empty(table.shape[0] * BLOCK, np.int32)
    one, scale = np.uint64(1), np.float32(unit)
    for begin in range(0, n, BLOCK):
        count = min(BLOCK, n - begin)
        for word in range(width):
            for row in range(count):
                put(words, word * BLOCK + row, item(records, (begin + row) * width + word))
        for i in range(codes.size):
            put(codes, i, np.int16(0))
        for i in range(totals.size):
            put(totals, i, np.int32(0))
        for i in range(base.size):
            bits, to = np.int64(base[i] >> 6) * BLOCK, np.int64(variable[i]) * BLOCK
            shift, worth = np.uint64(base[i] & 63), np.int16(code[i])
            for row in range(BLOCK):
                bit = np.int16((item(words, bits + row) >> shift) & one)
                put(codes, to + row, max(item(codes, to + row), np.int16(bit * worth)))
        for number in range(start.size - 1):
            at, last = np.int64(start[number]), np.int64(start[number + 1])
            of = np.int64(member[at]) * BLOCK
            for row in range(BLOCK):
                put(place, row, item(codes, of + row))
            at += 1
            # Two at a time: half as many loads and stores of the sums.
            while at + 1 < last:
                by, of = np.int16(stride[at]), np.int64(member[at]) * BLOCK
                by2, of2 = np.int16(stride[at + 1]), np.int64(member[at + 1]) * BLOCK
                for row in range(BLOCK):
                    more = np.int16(by * item(codes, of + row)) + np.int16(by2 * item(codes, of2 + row))
                    put(place, row, np.int16(item(place, row) + np.int16(more)))
                at += 2
            if at < last:
                by, of = np.int16(stride[at]), np.int64(member[at]) * BLOCK
                for row in range(BLOCK):
                    put(place, row, np.int16(item(place, row) + np.int16(by * item(codes, of + row))))
            for column in range(table.shape[0]):
                first, total = column * entries + np.int64(offset[number]), column * BLOCK
                for row in range(BLOCK):
                    worth32 = item(table, first + np.int64(item(place, row)))
                    put(totals, total + row, np.int32(item(totals, total + row) + worth32))
        for column in range(table.shape[0]):
            for row in range(count):
                values[column, begin + row] = logistic(
                    values[column, begin + row] + np.float32(totals[column * BLOCK + row]) * scale
                )


@kernel(nogil=True)
def learn_tuples(
    records: Words,
    targets: Singles,
    linear_start: Int32s,
    linear_feature: Int32s,
    features: int,
    variable_of: Int32s,
    code_of: Int32s,
    variables: int,
    start: Int32s,
    member: Int32s,
    stride: Int32s,
    offset: Int32s,
    shared: Int32s,
    weights: Singles,
    sums: Singles,
    sizes: Singles,
    rate: float,
) -> float:
    """Move weights towards the target values of n states, one after the other, as
    :func:`players.knowledge.value_kernels.learn` does; returns the sum of the squared errors.

    The first weights are those of so many linear ``features``; then come those of the tuples' entries, and
    those of shapes: entry e has ``shared[e]`` besides. Each of the three gets a third of a step: else those
    that occur often in a state would leave nothing to the others. ``variable_of``, ``code_of``: int32, shape
    (bases,): -1 for propositions of no variable. The other
    arrays are those of :func:`add_tuples`."""
    active = np.empty(linear_feature.size + 1 + 2 * (len(start) - 1), np.int32)
    times = np.zeros(weights.shape[0], np.int32)
    codes = np.zeros(variables, np.int32)
    own, lengths = np.empty(len(start) - 1, np.int32), np.empty(3)
    squares = 0.0
    for row in range(records.shape[0]):
        active[0], times[0], count = 0, 1, 1
        codes[:] = 0
        for word in range(records.shape[1]):
            bits, base = records[row, word], 64 * word
            while bits:
                if bits & np.uint64(1):
                    for entry in range(linear_start[base], linear_start[base + 1]):
                        if times[linear_feature[entry]] == 0:
                            active[count] = linear_feature[entry]
                            count += 1
                        times[linear_feature[entry]] += 1
                    if variable_of[base] >= 0:
                        codes[variable_of[base]] = max(codes[variable_of[base]], code_of[base])
                bits >>= np.uint64(1)
                base += 1
        linear = count
        for number in range(len(start) - 1):
            place = offset[number]
            for at in range(start[number], start[number + 1]):
                place += stride[at] * codes[member[at]]
            own[number] = features + place
            one = features + shared[place]
            if times[one] == 0:
                active[count] = one
                count += 1
            times[one] += 1
        several = count
        for number in range(len(own)):
            active[count] = own[number]
            times[own[number]] = 1
            count += 1
        lengths[:] = 0.0
        for i in range(count):
            group = 0 if i < linear else 1 if i < several else 2
            lengths[group] += 3.0 * float(times[active[i]]) * float(times[active[i]])
        for column in range(weights.shape[1]):
            logit = 0.0
            for i in range(count):
                logit += float(weights[active[i], column]) * times[active[i]]
            error = float(targets[row, column]) - 1.0 / (1.0 + math.exp(-logit))
            squares += error * error
            for i in range(count):
                number = active[i]
                size = float(sizes[number, column])
                coherence = abs(float(sums[number, column])) / size if size > 0.0 else 1.0
                length = lengths[0 if i < linear else 1 if i < several else 2]
                weights[number, column] += np.float32(rate * coherence * error * times[number] / length)
                sums[number, column] += np.float32(error)
                sizes[number, column] += np.float32(abs(error))
        for i in range(count):
            times[active[i]] = 0
    return squares
