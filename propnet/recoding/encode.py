"""Records of states turned into records of codes."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Ints, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import lowest_bit


@kernel
def encode(records: Words, starts: Ints, widths: Ints, codes: Ints, coded: Words) -> bool:
    """Write the codes of records, uint64 (n, words), to ``coded``, uint64 (n, other words), 0 on entry.

    A base proposition that is true sets the bits of its code, ``codes`` (bases,), in a field of ``widths``
    (bases,) bits, at most 32, from bit ``starts`` (bases,) on. Returns False, and leaves codes of no use,
    where two propositions of one field are true.
    """
    for row in range(records.shape[0]):
        for column in range(records.shape[1]):
            true = records[row, column]
            while true != 0:
                base = 64 * column + lowest_bit(true)
                true &= true - np.uint64(1)
                word, shift = starts[base] >> 6, np.uint64(starts[base] & 63)
                code = np.uint64(codes[base])
                field = coded[row, word] >> shift
                coded[row, word] |= code << shift
                past = np.int64(shift) + widths[base] - 64
                if past > 0:
                    inside = np.uint64(64) - shift
                    field |= coded[row, word + 1] << inside
                    coded[row, word + 1] |= code >> inside
                if field & ((np.uint64(1) << np.uint64(widths[base])) - np.uint64(1)) != 0:
                    return False
    return True
