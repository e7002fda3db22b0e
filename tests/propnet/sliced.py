"""Records to their sliced form and back, as tests want it."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Ints, Offsets, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import BYTES, LANES, aligned
from propnet.kernels.records import read_lanes, record_words, transpose, write_lanes


@kernel
def transposed(block: Words) -> None:
    """:func:`propnet.kernels.records.transpose`, which only kernels call."""
    transpose(block)


@kernel
def _write(records: Words, n: Index, wires: Words, bits: Index) -> None:
    write_lanes(records, np.int64(0), n, wires, np.int64(0), bits)


@kernel
def _read(wires: Words, offsets: Offsets, signs: Ints, records: Words, n: Index) -> None:
    read_lanes(wires, offsets, signs, records, np.int64(0), n)


def to_sliced(records: Words, bits: int) -> Words:
    """The sliced form (bits, 8) of up to 512 records (n, words); lanes past the n-th are 0."""
    if len(records) > LANES:
        raise ValueError(f"{len(records)} records, but a sliced array has {LANES} lanes")
    sliced = aligned(bits)
    _write(np.ascontiguousarray(records, np.uint64), len(records), sliced, bits)
    return sliced


def to_records(sliced: Words, n: int) -> Words:
    """Records (n, words) of the first n lanes of a sliced array (bits, 8)."""
    if n > LANES:
        raise ValueError(f"{n} records, but a sliced array has {LANES} lanes")
    bits = len(sliced)
    records = np.zeros((n, record_words(bits)), np.uint64)
    offsets = np.arange(bits, dtype=np.uint32) * np.uint32(BYTES)
    _read(np.ascontiguousarray(sliced), offsets, np.zeros(bits, np.int64), records, n)
    return records
