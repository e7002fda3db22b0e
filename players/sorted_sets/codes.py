"""Ascending rows as bytes: gaps of keys of one word, byte masks of wider ones; then Zstandard (Y. Collet).

Gaps are written in groups of seven bits (LEB128). Rows of words are written as the bytes in which each row
differs from the previous one: for each word a mask of these bytes, then the bytes, column by column.
"""

from __future__ import annotations

import threading

import numpy as np
import zstandard

from gdl.errors import GdlError
from propnet.jit.arrays import Index, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import item, lowest_bit, put


class DamagedKeysError(GdlError):
    """Raised for coded keys that are invalid."""

    def __init__(self) -> None:
        super().__init__(
            "stored states of a search are damaged",
            remedy="start the search again with an empty --scratch DIR",
        )


_own = threading.local()


def shrunk(data: memoryview, level: int) -> bytes:
    """Return the bytes, compressed; unchanged for level 0."""
    if not level:
        return data.tobytes()
    name = f"packer_{level}"
    packer = getattr(_own, name, None)
    if packer is None:
        packer = zstandard.ZstdCompressor(level)
        setattr(_own, name, packer)
    return packer.compress(data)


def grown(data: bytes, packed: bool, most: int) -> bytes:
    """Return the bytes, decompressed if ``packed``; at most ``most`` bytes. Raises DamagedKeysError."""
    if not packed:
        return data
    unpacker = getattr(_own, "unpacker", None)
    if unpacker is None:
        unpacker = _own.unpacker = zstandard.ZstdDecompressor()
    try:
        if not 0 <= zstandard.frame_content_size(data) <= most:
            raise DamagedKeysError
        return unpacker.decompress(data)
    except zstandard.ZstdError:
        raise DamagedKeysError from None


_MOST_BYTES = 10
_SEVEN, _MORE, _LOW = np.uint64(7), np.uint64(128), np.uint64(127)


def encode_gaps(keys: Words, tag_bits: int) -> Octets:
    """Return the keys of ascending rows (n, 1), ``tag_bits`` above the lowest bit, as bytes."""
    room = np.empty(_MOST_BYTES * len(keys), np.uint8)
    return room[: _encode_gaps(keys, tag_bits, room)]


def decode_gaps(data: Octets, tag_bits: int, out: Words) -> None:
    """Decode these bytes into the rows ``out`` (n, 1). Raises DamagedKeysError."""
    if not _decode_gaps(data, tag_bits, out):
        raise DamagedKeysError


@kernel(nogil=True)
def _encode_gaps(keys: Words, tag_bits: int, out: Octets) -> int:
    at = 0
    before = np.uint64(0)
    for i in range(keys.size):
        key = item(keys, i) >> np.uint64(tag_bits)
        gap = key - before
        before = key
        while gap >= _MORE:
            put(out, at, np.uint8(gap | _MORE))
            gap >>= _SEVEN
            at += 1
        put(out, at, np.uint8(gap))
        at += 1
    return at


@kernel(nogil=True)
def _decode_gaps(data: Octets, tag_bits: int, out: Words) -> bool:
    """Decode the gaps. Returns whether the data have exactly as many keys as ``out``, and nothing else."""
    at, size = 0, data.size
    key = np.uint64(0)
    for i in range(out.size):
        gap, shift = np.uint64(0), np.uint64(0)
        byte = _MORE
        while byte >= _MORE:
            if at >= size:
                return False
            byte = np.uint64(item(data, at))
            gap |= (byte & _LOW) << shift
            shift += _SEVEN
            at += 1
        key += gap
        put(out, i, key << np.uint64(tag_bits))
    return at == size


_BYTE = np.uint64(255)
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_TOPS = np.uint64(0x8080808080808080)
_GATHER_BITS = np.uint64(0x0102040810204080)
"""A product with it collects the lowest bits of all bytes in its top byte."""
_56 = np.uint64(56)


def encode_rows(rows: Words, tag_bits: int) -> Octets:
    """Return the bytes of the keys of rows (n, words), ``tag_bits`` (a multiple of 8) above the lowest
    bit."""
    n, words = rows.shape
    counts = np.zeros(8 * words, np.int64)
    _count(rows, tag_bits, counts)
    out = np.empty(n * words + int(counts.sum()), np.uint8)
    _encode_masks(rows, tag_bits, _starts(counts, n * words), out)
    return out


def decode_rows(data: Octets, tag_bits: int, out: Words) -> None:
    """Decode these bytes into the rows ``out`` (n, words). Raises DamagedKeysError."""
    n, words = out.shape
    masks = n * words
    if len(data) < masks:
        raise DamagedKeysError
    counts = np.zeros(8 * words, np.int64)
    _count_masks(data, n, words, counts)
    if masks + int(counts.sum()) != len(data) or counts[: tag_bits // 8].any():
        raise DamagedKeysError
    _decode_masks(data, _starts(counts, masks), out)


def _starts(counts: Ints, first: int) -> Ints:
    return first + np.cumsum(counts) - counts


@inner
def _differing(rows: Words, i: Index, word: Index, words: Index, tag_bits: Index) -> np.uint64:
    """Return a mask of the bytes of a word in which the keys of row i and of the row before differ, one bit
    each."""
    differ = item(rows, i * words + word) ^ (item(rows, (i - 1) * words + word) if i else np.uint64(0))
    if word == 0:
        differ &= ~np.uint64(0) << np.uint64(tag_bits)
    tops = ((differ & _LOW7) + _LOW7 | differ) & _TOPS
    mask: np.uint64 = ((tops >> np.uint64(7)) * _GATHER_BITS) >> _56
    return mask


@kernel(**ARENA)
def _count(rows: Words, tag_bits: int, counts: Ints) -> None:
    words = rows.shape[1]
    for i in range(rows.shape[0]):
        for word in range(words):
            mask = _differing(rows, i, word, words, tag_bits)
            while mask != 0:
                column: Index = 8 * word + lowest_bit(mask)
                put(counts, column, item(counts, column) + 1)
                mask &= mask - np.uint64(1)


@kernel(**ARENA)
def _encode_masks(rows: Words, tag_bits: int, places: Ints, out: Octets) -> None:
    n, words = rows.shape
    for i in range(n):
        for word in range(words):
            here = item(rows, i * words + word)
            mask = _differing(rows, i, word, words, tag_bits)
            put(out, word * n + i, np.uint8(mask))
            while mask != 0:
                byte = lowest_bit(mask)
                place = item(places, 8 * word + byte)
                put(out, place, np.uint8(here >> np.uint64(8 * byte) & _BYTE))
                put(places, 8 * word + byte, place + 1)
                mask &= mask - np.uint64(1)


@kernel(**ARENA)
def _count_masks(data: Octets, n: int, words: int, counts: Ints) -> None:
    for word in range(words):
        for i in range(n):
            mask = np.uint64(item(data, word * n + i))
            while mask != 0:
                column: Index = 8 * word + lowest_bit(mask)
                put(counts, column, item(counts, column) + 1)
                mask &= mask - np.uint64(1)


@kernel(**ARENA)
def _decode_masks(data: Octets, places: Ints, out: Words) -> None:
    n, words = out.shape
    for i in range(n):
        for word in range(words):
            here = item(out, (i - 1) * words + word) if i else np.uint64(0)
            mask = np.uint64(item(data, word * n + i))
            while mask != 0:
                byte = lowest_bit(mask)
                place = item(places, 8 * word + byte)
                put(places, 8 * word + byte, place + 1)
                shift = np.uint64(8 * byte)
                here = (here & ~(_BYTE << shift)) | (np.uint64(item(data, place)) << shift)
                mask &= mask - np.uint64(1)
            put(out, i * words + word, here)
