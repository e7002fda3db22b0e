"""Ascending keys of one word as the gaps between them, in groups of seven bits (LEB128), then Zstandard."""

from __future__ import annotations

import numpy as np

from players.puzzles.frontier.keys.errors import DamagedKeysError
from players.puzzles.frontier.keys.shrink import grown, shrunk
from propnet.jit.arrays import Octets, Words
from propnet.jit.decorators import kernel

_MOST_BYTES = 10


def encode(keys: Words, level: int) -> bytes:
    """Ascending keys (n,) as bytes; ``level`` of Zstandard, 0 for none."""
    room = np.empty(_MOST_BYTES * len(keys), np.uint8)
    return shrunk(room[: _encode(keys, room)].data, level)


def decode(data: bytes, packed: bool, out: Words) -> None:
    """The keys (n,) of which these are the bytes. Raises DamagedKeysError."""
    plain = np.frombuffer(grown(data, packed, _MOST_BYTES * len(out)), np.uint8)
    check_gaps(plain, len(out))
    _decode(plain, out)


def check_gaps(data: Octets, count: int) -> None:
    """Bytes of so many gaps end with a last group, and have a last group for each: whoever decodes them reads
    all bytes, and no others. Raises DamagedKeysError."""
    if np.count_nonzero(data < 128) != count or (count and data[-1] >= 128):
        raise DamagedKeysError


@kernel(nogil=True)
def _encode(keys: Words, out: Octets) -> int:
    at = 0
    before = np.uint64(0)
    for i in range(keys.size):
        gap = keys[i] - before
        before = keys[i]
        while gap >= 128:
            out[at] = np.uint8(gap & np.uint64(127)) | np.uint8(128)
            gap >>= np.uint64(7)
            at += 1
        out[at] = np.uint8(gap)
        at += 1
    return at


@kernel(nogil=True)
def _decode(data: Octets, out: Words) -> None:
    at = 0
    key = np.uint64(0)
    for i in range(out.size):
        byte = np.uint64(data[at])
        gap = byte & np.uint64(127)
        shift = np.uint64(7)
        at += 1
        while byte >= 128:
            byte = np.uint64(data[at])
            gap |= (byte & np.uint64(127)) << shift
            shift += np.uint64(7)
            at += 1
        key += gap
        out[i] = key
