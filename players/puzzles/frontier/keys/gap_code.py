"""Ascending keys of one word as the gaps between them, in groups of seven bits (LEB128), then Zstandard."""

from __future__ import annotations

import numpy as np

from players.puzzles.frontier.keys.errors import DamagedKeysError
from players.puzzles.frontier.keys.shrink import grown, shrunk
from propnet.jit.arrays import Octets, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import item, put

_MOST_BYTES = 10
_SEVEN, _MORE, _LOW = np.uint64(7), np.uint64(128), np.uint64(127)


def encode(keys: Words, level: int) -> bytes:
    """Ascending keys (n,) as bytes; ``level`` of Zstandard, 0 for none."""
    room = np.empty(_MOST_BYTES * len(keys), np.uint8)
    return shrunk(room[: _encode(keys, room)].data, level)


def decode(data: bytes, packed: bool, out: Words) -> None:
    """The keys (n,) of which these are the bytes. Raises DamagedKeysError."""
    plain = np.frombuffer(grown(data, packed, _MOST_BYTES * len(out)), np.uint8)
    if not _decode(plain, out):
        raise DamagedKeysError


@kernel(nogil=True)
def _encode(keys: Words, out: Octets) -> int:
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
def _decode(data: Octets, out: Words) -> bool:
    """Returns whether the data held as many keys as there is room for, and nothing else."""
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
