"""Rows of words as the bytes in which each differs from the row before: for each word a mask of these bytes,
then the bytes, column by column."""

from __future__ import annotations

import numpy as np

from players.puzzles.frontier.keys.errors import DamagedKeysError
from propnet.jit.arrays import Index, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import item, lowest_bit, put

_BYTE = np.uint64(255)
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_TOPS = np.uint64(0x8080808080808080)
_GATHER_BITS = np.uint64(0x0102040810204080)
"""A product with it has the lowest bits of all bytes as its topmost byte."""
_56 = np.uint64(56)


def encode_rows(rows: Words, words: int) -> Octets:
    """The bytes of the first ``words`` words of rows (n, at least words)."""
    counts = np.zeros(8 * words, np.int64)
    _count(rows, words, counts)
    out = np.empty(len(rows) * words + int(counts.sum()), np.uint8)
    _encode(rows, words, _starts(counts, len(rows) * words), out)
    return out


def decode_rows(data: Octets, words: int, out: Words) -> None:
    """Write the first ``words`` words of the rows (n, at least words) of which these are the bytes. Raises
    DamagedKeysError."""
    masks = len(out) * words
    if len(data) < masks:
        raise DamagedKeysError
    counts = np.zeros(8 * words, np.int64)
    _count_masks(data, len(out), words, counts)
    if masks + int(counts.sum()) != len(data):
        raise DamagedKeysError
    _decode(data, words, _starts(counts, masks), out)


def _starts(counts: Ints, first: int) -> Ints:
    return first + np.cumsum(counts) - counts


@inner
def _mask_of(differ: np.uint64) -> np.uint64:
    """The bytes of a word that are not 0, a bit each."""
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
def _encode(rows: Words, words: int, places: Ints, out: Octets) -> None:
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
def _decode(data: Octets, words: int, places: Ints, out: Words) -> None:
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
