"""State records and their sliced form: 64x64 bit-matrix transposition (Warren, Hacker's Delight).

A *record* is one state as a row of uint64 words: bit ``b % 64`` of word ``b // 64`` is base
proposition b, and the bits past the last proposition are 0. A *sliced* array holds up to 512
states the other way round, shape (rows, 8) uint64: row b is proposition b, and bit ``i % 64``
of its word ``i // 64`` belongs to state i.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from propnet.vector import (
    BYTES,
    LANES,
    WORDS,
    Index,
    aligned,
    item,
    load,
    shift_left,
    shift_right,
    splat,
    store,
)


def record_words(bits: int) -> int:
    """64-bit words of a record of this many bits."""
    return (bits + 63) // 64


def pack(values: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Records (n, words) of boolean rows (n, bits)."""
    n, bits = values.shape
    octets = np.zeros((n, record_words(bits) * 8), np.uint8)
    octets[:, : (bits + 7) // 8] = np.packbits(values, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def unpack(records: NDArray[np.uint64], bits: int) -> NDArray[np.bool_]:
    """Boolean rows (n, bits) of records (n, words)."""
    octets = np.ascontiguousarray(records, "<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=bits, bitorder="little").view(np.bool_)


def to_sliced(records: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """The sliced form (bits, 8) of up to 512 records (n, words); lanes past the n-th are 0."""
    if len(records) > LANES:
        raise ValueError(f"{len(records)} records, but a sliced array has {LANES} lanes")
    sliced = aligned(bits)
    write_lanes(np.ascontiguousarray(records, np.uint64), 0, len(records), sliced, 0, bits)
    return sliced


def to_records(sliced: NDArray[np.uint64], n: int) -> NDArray[np.uint64]:
    """Records (n, words) of the first n lanes of a sliced array (bits, 8)."""
    if n > LANES:
        raise ValueError(f"{n} records, but a sliced array has {LANES} lanes")
    bits = len(sliced)
    records = np.zeros((n, record_words(bits)), np.uint64)
    offsets = np.arange(bits, dtype=np.uint32) * np.uint32(BYTES)
    read_lanes(np.ascontiguousarray(sliced), offsets, np.zeros(bits, np.int64), records, 0, n)
    return records


@njit(cache=True)
def transpose(block: NDArray[np.uint64]) -> None:
    """Transpose eight 64x64 bit matrices in place: ``block`` is (64, 8), matrix w its column w.

    Bit c of row r of a matrix changes places with bit r of row c."""
    masks = (
        0x00000000FFFFFFFF,
        0x0000FFFF0000FFFF,
        0x00FF00FF00FF00FF,
        0x0F0F0F0F0F0F0F0F,
        0x3333333333333333,
        0x5555555555555555,
    )
    step = 32
    for mask in masks:
        kept = splat(mask)
        for row in range(64):
            if row & step == 0:
                low = load(block, row * BYTES)
                high = load(block, (row + step) * BYTES)
                change = (shift_right(low, step) ^ high) & kept
                store(block, row * BYTES, low ^ shift_left(change, step))
                store(block, (row + step) * BYTES, high ^ change)
        step >>= 1


@njit(cache=True)
def write_lanes(
    records: NDArray[np.uint64],
    first: Index,
    n: Index,
    wires: NDArray[np.uint64],
    wire: Index,
    bits: Index,
) -> None:
    """Write the records ``first .. first + n - 1`` to lanes 0 .. n - 1 of ``bits`` wires from
    ``wire`` on; the other lanes become 0."""
    block = np.empty((64, WORDS), np.uint64)
    for word in range((bits + 63) // 64):
        block[:] = 0
        for lane in range(n):
            block[lane & 63, lane >> 6] = records[first + lane, word]
        transpose(block)
        for bit in range(min(64, bits - 64 * word)):
            store(wires, (wire + 64 * word + bit) * BYTES, load(block, bit * BYTES))


@njit(cache=True)
def read_lanes(
    wires: NDArray[np.uint64],
    offsets: NDArray[np.uint32],
    signs: NDArray[np.int64],
    records: NDArray[np.uint64],
    first: Index,
    n: Index,
) -> None:
    """Read the records ``first .. first + n - 1`` from lanes 0 .. n - 1: bit b of a record is
    the wire at byte offset ``offsets[b]``, negated where ``signs[b]`` is -1."""
    block = np.empty((64, WORDS), np.uint64)
    bits = offsets.size
    for word in range((bits + 63) // 64):
        for bit in range(64):
            at = 64 * word + bit
            if at < bits:
                store(block, bit * BYTES, load(wires, item(offsets, at)) ^ splat(item(signs, at)))
            else:
                store(block, bit * BYTES, splat(0))
        transpose(block)
        for lane in range(n):
            records[first + lane, word] = block[lane & 63, lane >> 6]
