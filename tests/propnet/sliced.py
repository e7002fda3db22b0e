"""Records to their sliced form and back, as tests want it."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Words
from propnet.jit.vector512 import BYTES, LANES, aligned
from propnet.kernels.records import read_lanes, record_words, write_lanes


def to_sliced(records: Words, bits: int) -> Words:
    """The sliced form (bits, 8) of up to 512 records (n, words); lanes past the n-th are 0."""
    if len(records) > LANES:
        raise ValueError(f"{len(records)} records, but a sliced array has {LANES} lanes")
    sliced = aligned(bits)
    write_lanes(np.ascontiguousarray(records, np.uint64), 0, len(records), sliced, 0, bits)
    return sliced


def to_records(sliced: Words, n: int) -> Words:
    """Records (n, words) of the first n lanes of a sliced array (bits, 8)."""
    if n > LANES:
        raise ValueError(f"{n} records, but a sliced array has {LANES} lanes")
    bits = len(sliced)
    records = np.zeros((n, record_words(bits)), np.uint64)
    offsets = np.arange(bits, dtype=np.uint32) * np.uint32(BYTES)
    read_lanes(np.ascontiguousarray(sliced), offsets, np.zeros(bits, np.int64), records, 0, n)
    return records
