"""State records and their sliced form: 64x64 bit-matrix transposition (Warren, Hacker's Delight).

A *record* is one state as a row of uint64 words: bit ``b % 64`` of word ``b // 64`` is base
proposition b, and the bits past the last proposition are 0. A *sliced* array holds up to 512
states transposed, shape (rows, 8) uint64: row b is proposition b, and bit ``i % 64``
of its word ``i // 64`` belongs to state i.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Flags, Index, Ints, Offsets, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import (
    BYTES,
    LANES,
    WORDS,
    item,
    load,
    lowest_bit,
    put,
    shift_left,
    shift_right,
    splat,
    store,
)
from propnet.kernels.gates import read_wire

_BYTES = 0x00000000FFFFFFFF, 0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF
_BITS = 0x0F0F0F0F0F0F0F0F, 0x3333333333333333, 0x5555555555555555
"""Lower halves of the fields that change places in the steps of a transposition."""


def record_words(bits: int) -> int:
    """The 64-bit words of a record of this many bits: at least one, so that states without propositions have
    records that can be counted, hashed and sorted like all others."""
    return max(1, (bits + 63) // 64)


def pack(values: Flags) -> Words:
    """Records (n, words) of boolean rows (n, bits)."""
    n, bits = values.shape
    octets = np.zeros((n, record_words(bits) * 8), np.uint8)
    octets[:, : (bits + 7) // 8] = np.packbits(values, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def unpack(records: Words, bits: int) -> Flags:
    """Boolean rows (n, bits) of records (n, words)."""
    octets = np.ascontiguousarray(records, "<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=bits, bitorder="little").view(np.bool_)


@inner
def transpose(block: Words) -> None:
    """Transpose eight 64x64 bit matrices in place: ``block`` is (64, 8), matrix w its column w.

    Bit c of row r of a matrix changes places with bit r of row c."""
    _exchange_bytes(block)
    for row in range(0, 64 * BYTES, 8 * BYTES):
        _exchange(block, row, block, row, BYTES, 1, _BITS)


@inner
def write_lanes(records: Words, first: Index, n: Index, wires: Words, wire: Index, bits: Index) -> None:
    """Write the records ``first .. first + n - 1`` to lanes 0 .. n - 1 of ``bits`` wires from
    ``wire`` on; the other lanes become 0."""
    block = np.empty((64, WORDS), np.uint64)
    words = np.int64(records.shape[1])
    if n < LANES:
        block[:] = 0
    for word in range((bits + 63) // 64):
        # Row by row: memory that is read as a vector next must not have been written just now.
        for row in range(min(64, n)):
            at = (first + row) * words + word
            for column in range((n - row + 63) // 64):
                block[row, column] = item(records, at)
                at += 64 * words
        spread(block, wires, wire + 64 * word, min(64, bits - 64 * word))
        if n < LANES:
            block[:] = 0


@inner
def read_lanes(wires: Words, offsets: Offsets, signs: Ints, records: Words, first: Index, n: Index) -> None:
    """Read the records ``first .. first + n - 1`` from lanes 0 .. n - 1: bit b of a record is
    the wire at byte offset ``offsets[b]``, negated if ``signs[b]`` is -1."""
    block = np.empty((64, WORDS), np.uint64)
    for word in range((offsets.size + 63) // 64):
        collect(wires, offsets, signs, np.int64(64 * word), min(64, offsets.size - 64 * word), block)
        for column in range((n + 63) // 64):
            for row in range(min(64, n - 64 * column)):
                records[first + 64 * column + row, word] = block[row, column]


@inner
def spread(block: Words, wires: Words, wire: Index, bits: Index) -> None:
    """Transpose a block (64, 8) of which row r, word w is a word of the record in lane 64 * w + r,
    and write it to the ``bits`` wires (at most 64) from ``wire`` on. The block is scratch afterwards."""
    _exchange_bytes(block)
    at = wire * BYTES
    full = bits // 8 * (8 * BYTES)
    for row in range(0, full, 8 * BYTES):
        _exchange(block, row, wires, at + row, BYTES, 1, _BITS)
    if full < bits * BYTES:
        _exchange(block, full, block, full, BYTES, 1, _BITS)
        for row in range(full, bits * BYTES, BYTES):
            store(wires, at + row, load(block, row))


@inner
def collect(wires: Words, offsets: Offsets, signs: Ints, first: Index, bits: Index, block: Words) -> None:
    """The reverse of :func:`spread`: fill the block with the record words that begin at bit
    ``first`` and have ``bits`` bits (at most 64), from the wires at ``offsets``, negated if
    ``signs`` is -1."""
    for bit in range(bits):
        store(block, bit * BYTES, read_wire(wires, offsets, signs, first + bit))
    for bit in range(bits, 64):
        store(block, bit * BYTES, splat(0))
    transpose(block)


@inner
def _exchange_bytes(block: Words) -> None:
    """The first half of a transposition: 8x8 bytes change places in every matrix. The second half exchanges
    8x8 bits in every block of 8 rows and a byte."""
    for at in range(0, 8 * BYTES, BYTES):
        _exchange(block, at, block, at, 8 * BYTES, 8, _BYTES)


@inner
def _exchange(
    block: Words, at: Index, out: Words, to: Index, stride: Index, unit: int, masks: tuple[int, int, int]
) -> None:
    """Transpose an 8x8 matrix of elements of ``unit`` bits, one row to a vector's words: its rows stand
    ``stride`` bytes apart from byte ``at`` on, and are written to ``out`` from byte ``to`` on."""
    a = load(block, at)
    b = load(block, at + stride)
    c = load(block, at + 2 * stride)
    d = load(block, at + 3 * stride)
    e = load(block, at + 4 * stride)
    f = load(block, at + 5 * stride)
    g = load(block, at + 6 * stride)
    h = load(block, at + 7 * stride)
    a, e = _swap(a, e, 4 * unit, masks[0])
    b, f = _swap(b, f, 4 * unit, masks[0])
    c, g = _swap(c, g, 4 * unit, masks[0])
    d, h = _swap(d, h, 4 * unit, masks[0])
    a, c = _swap(a, c, 2 * unit, masks[1])
    b, d = _swap(b, d, 2 * unit, masks[1])
    e, g = _swap(e, g, 2 * unit, masks[1])
    f, h = _swap(f, h, 2 * unit, masks[1])
    a, b = _swap(a, b, unit, masks[2])
    c, d = _swap(c, d, unit, masks[2])
    e, f = _swap(e, f, unit, masks[2])
    g, h = _swap(g, h, unit, masks[2])
    store(out, to, a)
    store(out, to + stride, b)
    store(out, to + 2 * stride, c)
    store(out, to + 3 * stride, d)
    store(out, to + 4 * stride, e)
    store(out, to + 5 * stride, f)
    store(out, to + 6 * stride, g)
    store(out, to + 7 * stride, h)


@inner
def _swap(low: Vector, high: Vector, step: int, mask: int) -> tuple[Vector, Vector]:
    """Exchange the upper halves of the fields of ``low`` with the lower halves of ``high``'s."""
    change = (shift_right(low, step) ^ high) & splat(mask)
    return low ^ shift_left(change, step), high ^ change


@inner
def get_lane(lanes: Words, lane: Index) -> np.uint64:
    """A lane's bit, 0 or 1; lane ``512 * v + i`` is lane i of vector v of ``lanes``."""
    word: np.uint64 = item(lanes, lane >> 6)
    return (word >> np.uint64(lane & 63)) & np.uint64(1)


@inner
def set_lane(lanes: Words, lane: Index) -> None:
    """Set a lane's bit, counted as in :func:`get_lane`."""
    put(lanes, lane >> 6, item(lanes, lane >> 6) | (np.uint64(1) << np.uint64(lane & 63)))


@inner
def list_lanes(wanted: Vector, scratch: Words, lane_of: Ints) -> Index:
    """List the wanted lanes in ``lane_of`` (512,), ascending; return their number. ``scratch`` is (1, 8)."""
    store(scratch, 0, wanted)
    count = np.int64(0)
    for word in range(WORDS):
        left = item(scratch, word)
        while left != 0:
            put(lane_of, count, 64 * word + lowest_bit(left))
            left &= left - np.uint64(1)
            count += 1
    return count


@inner
def record_mask(records: Words, row: Index, base: Index) -> np.int64:
    """-1 if a base proposition is true in a record, else 0: the value for the words of a vector."""
    return -np.int64((records[row, base >> 6] >> np.uint64(base & 63)) & np.uint64(1))
