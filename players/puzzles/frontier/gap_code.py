"""Ascending keys as the gaps between them, in groups of seven bits (LEB128), then Zstandard (Y. Collet)."""

from __future__ import annotations

import threading

import numpy as np
import zstandard

from propnet.jit.arrays import Octets, Words
from propnet.jit.decorators import kernel

_MOST_BYTES = 10
_own = threading.local()


def encode(keys: Words, level: int) -> bytes:
    """Ascending keys (n,) as bytes; ``level`` of Zstandard, 0 for none."""
    room = np.empty(_MOST_BYTES * len(keys), np.uint8)
    plain = room[: _encode(keys, room)]
    if not level:
        return plain.tobytes()
    packer = getattr(_own, "packer", None)
    if packer is None:
        packer = _own.packer = zstandard.ZstdCompressor(level)
    return packer.compress(plain.data)


def decode(data: bytes, packed: bool, out: Words) -> None:
    """The keys (n,) of which these are the bytes."""
    if packed:
        unpacker = getattr(_own, "unpacker", None)
        if unpacker is None:
            unpacker = _own.unpacker = zstandard.ZstdDecompressor()
        data = unpacker.decompress(data)
    _decode(np.frombuffer(data, np.uint8), out)


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
