"""Ascending keys as bytes: gaps of keys of one word, byte masks of wider ones; then Zstandard (Y. Collet).

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


def encode_gaps(keys: Words, level: int) -> bytes:
    """Return ascending keys (n,) as bytes; ``level`` of Zstandard, 0 for none."""
    room = np.empty(_MOST_BYTES * len(keys), np.uint8)
    return shrunk(room[: _encode_gaps(keys, room)].data, level)


def decode_gaps(data: bytes, packed: bool, out: Words) -> None:
    """Decode these bytes into the keys ``out`` (n,). Raises DamagedKeysError."""
    plain = np.frombuffer(grown(data, packed, _MOST_BYTES * len(out)), np.uint8)
    if not _decode_gaps(plain, out):
        raise DamagedKeysError


@kernel(nogil=True)
def _encode_gaps(keys: Words, out: Octets) -> int:
    at = 0
    before = np.uint64(0)
    for i in range(keys.size):
        key = item(keys, i)
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
def _decode_gaps(data: Octets, out: Words) -> bool:
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
        put(out, i, key)
    return at == size


_BYTE = np.uint64(255)
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_TOPS = np.uint64(0x8080808080808080)
_GATHER_BITS = np.uint64(0x0102040810204080)
"""A product with it collects the lowest bits of all bytes in its top byte."""
_56 = np.uint64(56)


def encode_rows(rows: Words, words: int) -> Octets:
    """Return the bytes of the first ``words`` words of rows (n, at least words)."""
    counts = np.zeros(8 * words, np.int64)
    _count(rows, words, counts)
    out = np.empty(len(rows) * words + int(counts.sum()), np.uint8)
    _encode_masks(rows, words, _starts(counts, len(rows) * words), out)
    return out


def decode_rows(data: Octets, words: int, out: Words) -> None:
    """Decode these bytes into the first ``words`` words of the rows ``out`` (n, at least words). Raises
    DamagedKeysError."""
    masks = len(out) * words
    if len(data) < masks:
        raise DamagedKeysError
    counts = np.zeros(8 * words, np.int64)
    _count_masks(data, len(out), words, counts)
    if masks + int(counts.sum()) != len(data):
        raise DamagedKeysError
    _decode_masks(data, words, _starts(counts, masks), out)


def _starts(counts: Ints, first: int) -> Ints:
    return first + np.cumsum(counts) - counts


@inner
def _mask_of(differ: np.uint64) -> np.uint64:
    """Return a mask of the bytes of a word that are not 0, one bit each."""
    tops = ((differ & _LOW7) + _LOW7 | differ) & _TOPS
    return ((tops >> np.uint64(7)) * _GATHER_BITS) >> _56


@kernel(**ARENA)
def _count(rows: Words, words: int, counts: Ints) -> None:
    width = rows.shape[1]
    for i in range(rows.shape[0]):
        for word in range(words):
            here = item(rows, i * width + word)
            mask = _mask_of(here ^ (item(rows, (i - 1) * width + word) if i else np.uint64(0)))
            while mask != 0:
                column: Index = 8 * word + lowest_bit(mask)
                put(counts, column, item(counts, column) + 1)
                mask &= mask - np.uint64(1)


@kernel(**ARENA)
def _encode_masks(rows: Words, words: int, places: Ints, out: Octets) -> None:
    width, n = rows.shape[1], rows.shape[0]
    for i in range(n):
        for word in range(words):
            here = item(rows, i * width + word)
            mask = _mask_of(here ^ (item(rows, (i - 1) * width + word) if i else np.uint64(0)))
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
def _decode_masks(data: Octets, words: int, places: Ints, out: Words) -> None:
    width, n = out.shape[1], out.shape[0]
    for i in range(n):
        for word in range(words):
            here = item(out, (i - 1) * width + word) if i else np.uint64(0)
            mask = np.uint64(item(data, word * n + i))
            while mask != 0:
                byte = lowest_bit(mask)
                place = item(places, 8 * word + byte)
                put(places, 8 * word + byte, place + 1)
                shift = np.uint64(8 * byte)
                here = (here & ~(_BYTE << shift)) | (np.uint64(item(data, place)) << shift)
                mask &= mask - np.uint64(1)
            put(out, i * width + word, here)
