"""Kernels: values of states by weights and by tables over n-tuples, and the learning of these from errors.

With weights, packed rows are gathered. A byte of a record says which of eight propositions hold; a table has
the sum of their weights for each byte and each of its 256 values.

With n-tuples, states are taken in blocks. The kernel takes each variable's value from the bits of all states
of the block, and computes each tuple's place in its table from them, so that everything except the look-ups
is done in vectors.

Learning: temporal differences (R. Sutton, 1988) with the step sizes of temporal coherence learning (D. Beal
and M. Smith, 1999): a weight whose errors cancel each other out moves less.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import inlined, kernel
from propnet.jit.vector512 import item, put

Singles = NDArray[np.float32]

SCALE = 1 << 16
"""Weights are added as whole numbers, in units of 1 / SCALE logits: that is exact, and no addition waits long
for the one before."""
MOST_WEIGHT = 1000.0
"""Most logits of a proposition: eight of them fit into 32 bits, and their sums are taken in 64."""
VECTORS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""Options of kernels that divide: a check for zero divisors would keep them from using vectors."""
_UNIT = np.float32(1.0 / SCALE)
_HALF = np.float32(0.5)
_FLAT = np.float32(7.90531110763549805)
"""Beyond this, tanh is 1 in float precision."""
_A1, _A3, _A5 = (
    np.float32(4.89352455891786e-03),
    np.float32(6.37261928875436e-04),
    np.float32(1.48572235717979e-05),
)
_A7, _A9 = np.float32(5.12229709037114e-08), np.float32(-8.60467152213735e-11)
_A11, _A13 = np.float32(2.00018790482477e-13), np.float32(-2.76076847742355e-16)
_B0, _B2 = np.float32(4.89352518554385e-03), np.float32(2.26843463243900e-03)
_B4, _B6 = np.float32(1.18534705686654e-04), np.float32(1.19825839466702e-06)
"""Coefficients of tanh's numerator and denominator, as in the linear algebra library Eigen (G. Guennebaud and
B. Jacob, 2010)."""


@kernel(**VECTORS)
def values_of_states(
    records: Words, table: Int32s, constant: Int32s, as_logits: bool, values: Singles
) -> None:
    """Fill in the values, 0..1 or logits, float32, shape (columns, n), of states: records, uint64, shape (n,
    words).

    ``table``: int32, shape (columns, bytes * 256), logits in units of 1 / SCALE; entry ``256 * i + b`` is for
    byte i of a record with the value b. Bytes of records past these are ignored. ``constant``: int32, shape
    (columns,), the logits of all states.
    """
    rows, words = np.int64(records.shape[0]), np.int64(records.shape[1])
    column_size = np.int64(table.shape[1])
    octets = column_size // 256
    whole = octets // 8
    for column in range(table.shape[0]):
        first = column * column_size
        for row in range(rows):
            total = np.int64(constant[column])
            at = first
            for word in range(whole):
                bits = item(records, row * words + word)
                if bits != 0:
                    # All eight at once: a test for bytes that are 0 would be mispredicted too often.
                    for octet in range(8):
                        byte = (bits >> np.uint64(8 * octet)) & np.uint64(255)
                        total += item(table, at + 256 * octet + np.int64(byte))
                at += 2048
            if octets > 8 * whole:
                bits = item(records, row * words + whole)
                for _ in range(octets - 8 * whole):
                    total += item(table, at + np.int64(bits & np.uint64(255)))
                    bits >>= np.uint64(8)
                    at += 256
            put(values, column * rows + row, np.float32(total) * _UNIT)
    if not as_logits:
        for i in range(table.shape[0] * rows):
            put(values, i, logistic(item(values, i)))


@inlined
def logistic(logit: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) to seven digits, without a branch: (1 + tanh(x / 2)) / 2 by a rational function."""
    half = min(max(logit * _HALF, -_FLAT), _FLAT)
    square = half * half
    above = half * (
        _A1
        + square * (_A3 + square * (_A5 + square * (_A7 + square * (_A9 + square * (_A11 + square * _A13)))))
    )
    below = _B0 + square * (_B2 + square * (_B4 + square * _B6))
    return _HALF + _HALF * (above / below)


@kernel(nogil=True)
def fill_table(weights: Int32s, table: Int32s) -> None:
    """Fill in the table, int32, shape (columns, bytes * 256), from the weights of propositions, int32, shape
    (bases, columns). Propositions past the last one weigh nothing."""
    for column in range(table.shape[0]):
        for octet in range(table.shape[1] // 256):
            table[column, 256 * octet] = 0
            size = 1
            for bit in range(8):
                base = 8 * octet + bit
                weight = weights[base, column] if base < weights.shape[0] else np.int32(0)
                for at in range(256 * octet, 256 * octet + size):
                    table[column, at + size] = table[column, at] + weight
                size *= 2


@kernel(nogil=True)
def learn(
    records: Words,
    targets: Singles,
    start: Int32s,
    feature: Int32s,
    scale: Singles,
    weights: Singles,
    sums: Singles,
    sizes: Singles,
    rate: float,
) -> float:
    """Move weights, float32, shape (features, columns), towards the target values 0..1 of n states, one after
    the other: ``targets`` float32, shape (n, columns), ``records`` uint64, shape (n, words). Returns the sum
    of the squared errors.

    Proposition b has the features ``feature[start[b]:start[b + 1]]``, each times its ``scale``, float32,
    shape (features,); every state also has feature 0. A step moves the logit of the state itself by ``rate``
    times the error, less the reduction by the step sizes. ``sums`` and ``sizes``, the errors of each weight,
    of the weights' shape, are updated."""
    active = np.empty(feature.size + 1, np.int32)
    times = np.zeros(weights.shape[0], np.float32)
    squares = 0.0
    for row in range(records.shape[0]):
        active[0] = 0
        times[0] = 1.0
        count = 1
        for word in range(records.shape[1]):
            bits = records[row, word]
            base = 64 * word
            while bits:
                if bits & np.uint64(1):
                    for entry in range(start[base], start[base + 1]):
                        if times[feature[entry]] == 0:
                            active[count] = feature[entry]
                            count += 1
                        times[feature[entry]] += scale[feature[entry]]
                bits >>= np.uint64(1)
                base += 1
        length = 0.0
        for i in range(count):
            length += float(times[active[i]]) * float(times[active[i]])
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
                step = rate * coherence * error * times[number] / length
                weights[number, column] += np.float32(step)
                sums[number, column] += np.float32(error)
                sizes[number, column] += np.float32(abs(error))
        for i in range(count):
            times[active[i]] = 0
    return squares


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
    """Add the tuples' weights to the logits of states, float32, shape (columns, n), and turn these into
    values, 0..1: records, uint64, shape (n, words).

    Proposition ``base[i]``, if it holds, gives ``variable[i]``, one of ``variables``, the value ``code[i]``.
    Tuple t has the variables ``member[start[t]:start[t + 1]]``; each value counts ``stride`` in the place of
    the tuple's entry, counted from ``offset[t]``. ``table``: int32, shape (columns, entries), in units of
    ``unit`` logits. All others int32, shapes (propositions,), (members,) and (tuples + 1,).
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
    """Move weights towards the target values of n states, one after the other, like
    :func:`players.knowledge.value_kernels.learn`. Returns the sum of the squared errors.

    The first ``features`` weights are the linear ones; then come those of the tuples' entries, and those of
    shapes: entry e also has ``shared[e]``. Each of the three gets a third of a step: otherwise weights that
    occur often in a state would leave nothing to the others. ``variable_of``, ``code_of``: int32, shape
    (bases,): -1 for propositions that belong to no variable. The other arrays are those of
    :func:`add_tuples`."""
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
