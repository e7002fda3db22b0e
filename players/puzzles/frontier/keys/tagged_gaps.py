"""Tagged keys of one word in parts, coded fast rather than small: for each part the gaps between its keys in
groups of seven bits (LEB128), then the tags as they are."""

from __future__ import annotations

import numpy as np

from players.puzzles.frontier.keys.errors import DamagedKeysError
from players.puzzles.frontier.keys.narrow_kernels import TAG_BITS
from propnet.jit.arrays import Ints, Octets, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import item, put

_EIGHT = np.uint64(TAG_BITS)
_SEVEN = np.uint64(7)
_MORE = np.uint64(128)
_LOW = np.uint64(127)
_TAG = np.uint64(255)


def encode_parts(tagged: Words, edges: Ints) -> tuple[Octets, Ints]:
    """The bytes of the parts ``edges[i] .. edges[i + 1] - 1`` of sorted tagged keys (n,), and the place where
    each begins, and ends."""
    offsets = np.zeros(len(edges), np.int64)
    data = np.empty(_measure(tagged, edges, offsets), np.uint8)
    _encode(tagged, edges, data)
    return data, offsets


def decode_part(data: Octets, count: int, tagged: Words, first: int) -> None:
    """Write the tagged keys of a part from place ``first`` on. Raises DamagedKeysError."""
    if len(data) < 2 * count:
        raise DamagedKeysError
    gaps = data[: len(data) - count]
    if np.count_nonzero(gaps < _MORE) != count or (count and gaps[-1] >= _MORE):
        raise DamagedKeysError  # each gap has one last group, and that of the last gap ends them
    _decode(data, count, tagged, first)


@kernel(nogil=True)
def _measure(tagged: Words, edges: Ints, offsets: Ints) -> int:
    size = 0
    for part in range(edges.size - 1):
        offsets[part] = size
        before = np.uint64(0)
        for i in range(edges[part], edges[part + 1]):
            key = item(tagged, i) >> _EIGHT
            gap = key - before
            before = key
            size += 2
            while gap >= _MORE:
                gap >>= _SEVEN
                size += 1
    offsets[edges.size - 1] = size
    return size


@kernel(nogil=True)
def _encode(tagged: Words, edges: Ints, data: Octets) -> None:
    at = 0
    for part in range(edges.size - 1):
        before = np.uint64(0)
        for i in range(edges[part], edges[part + 1]):
            key = item(tagged, i) >> _EIGHT
            gap = key - before
            before = key
            while gap >= _MORE:
                put(data, at, np.uint8(gap | _MORE))
                gap >>= _SEVEN
                at += 1
            put(data, at, np.uint8(gap))
            at += 1
        for i in range(edges[part], edges[part + 1]):
            put(data, at, np.uint8(item(tagged, i) & _TAG))
            at += 1


@kernel(nogil=True)
def _decode(data: Octets, count: int, tagged: Words, first: int) -> None:
    at = 0
    key = np.uint64(0)
    tags = data.size - count
    for i in range(count):
        byte = np.uint64(item(data, at))
        gap = byte & _LOW
        shift = _SEVEN
        at += 1
        while byte >= _MORE:
            byte = np.uint64(item(data, at))
            gap |= (byte & _LOW) << shift
            shift += _SEVEN
            at += 1
        key += gap
        put(tagged, first + i, (key << _EIGHT) | np.uint64(item(data, tags + i)))
