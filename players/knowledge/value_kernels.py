"""Kernels: what states are worth by weights of their propositions, and what errors teach the weights.

Values: packed rows gathered. A byte of a record says which of eight propositions hold; a table has the sum of
their weights for each byte and each of its 256 values. So a state costs one row of the table for each byte of
its record that is not 0.

Learning: temporal differences (R. Sutton, 1988) with the step sizes of temporal coherence learning (D. Beal
and M. Smith, 1999): a weight whose errors cancel each other out moves less.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel

Singles = NDArray[np.float32]


@kernel(nogil=True)
def values_of_states(records: Words, table: Singles, constant: Singles, values: Singles) -> None:
    """Fill in the values, 0..1, float32, shape (n, columns), of states: records, uint64, shape (n, words).

    ``table``: float32, shape (bytes * 256, columns), logits; row ``256 * i + b`` is for byte i of a record
    with the value b. ``constant``: float32, shape (columns,), the logits of all states."""
    columns = table.shape[1]
    for row in range(records.shape[0]):
        for column in range(columns):
            values[row, column] = constant[column]
        for word in range(records.shape[1]):
            bits = records[row, word]
            at = word * 2048
            while bits:
                byte = np.int64(bits & np.uint64(255))
                if byte:
                    for column in range(columns):
                        values[row, column] += table[at + byte, column]
                bits >>= np.uint64(8)
                at += 256
        for column in range(columns):
            values[row, column] = np.float32(1.0) / (
                np.float32(1.0) + np.float32(math.exp(-np.float64(values[row, column])))
            )


@kernel(nogil=True)
def fill_table(weights: Singles, table: Singles) -> None:
    """Fill in the table, float32, shape (bytes * 256, columns), of the weights of propositions, float32,
    shape (bases, columns). Propositions past the last one weigh nothing."""
    for octet in range(table.shape[0] // 256):
        for column in range(table.shape[1]):
            table[256 * octet, column] = 0.0
        size = 1
        for bit in range(8):
            base = 8 * octet + bit
            for value in range(size):
                for column in range(table.shape[1]):
                    weight = weights[base, column] if base < weights.shape[0] else np.float32(0.0)
                    at = 256 * octet + value
                    table[at + size, column] = table[at, column] + weight
            size *= 2


@kernel(nogil=True)
def learn(
    records: Words,
    targets: Singles,
    start: Int32s,
    feature: Int32s,
    weights: Singles,
    sums: Singles,
    sizes: Singles,
    rate: float,
) -> float:
    """Move weights, float32, shape (features, columns), towards the target values 0..1 of n states, one after
    the other: ``targets`` float32, shape (n, columns), ``records`` uint64, shape (n, words). Returns the sum
    of the squared errors.

    Proposition b has the features ``feature[start[b]:start[b + 1]]``, and every state feature 0 besides.
    A step moves the logit of the state itself by ``rate`` times the error, less what the step sizes take
    away: ``sums`` and ``sizes`` of the errors of each weight, shapes as that of the weights, are added to."""
    active = np.empty(feature.size + 1, np.int32)
    times = np.zeros(weights.shape[0], np.int32)
    squares = 0.0
    for row in range(records.shape[0]):
        active[0] = 0
        times[0] = 1
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
                        times[feature[entry]] += 1
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
