"""Kernels: what states are worth by a small net whose first layer is kept up to date from state to state.

Y. Nasu: Efficiently updatable neural-network-based evaluation functions for computer shogi, 2018. Sums of the
first layer are whole numbers, so that adding and taking away leaves nothing behind, whatever the order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.knowledge.learnt_net import HIDDEN, WIDTH
from players.knowledge.net.dense import layer
from players.knowledge.value_kernels import VECTORS, Singles, logistic
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import item, lowest_bit, put, raw

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
