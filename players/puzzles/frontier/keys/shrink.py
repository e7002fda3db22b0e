"""Zstandard (Y. Collet), with a compressor and a decompressor for each thread."""

from __future__ import annotations

import threading

import zstandard

from players.puzzles.frontier.keys.errors import DamagedKeysError

_own = threading.local()


def shrunk(data: memoryview, level: int) -> bytes:
    """The bytes, compressed; as they are for level 0."""
    if not level:
        return data.tobytes()
    name = f"packer_{level}"
    packer = getattr(_own, name, None)
    if packer is None:
        packer = zstandard.ZstdCompressor(level)
        setattr(_own, name, packer)
    return packer.compress(data)


def grown(data: bytes, packed: bool, most: int) -> bytes:
    """What was compressed if it was ``packed``, ``most`` bytes at most. Raises DamagedKeysError."""
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
