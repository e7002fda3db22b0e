"""Fresh runs: the sorted successors of a part of a layer, with their tags, cut into ranges of keys.

They live as long as their layer is made, so that they are coded fast rather than small: gaps in groups of
seven bits (LEB128), then the tags as they are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from players.puzzles.frontier.narrow_kernels import TAG_BITS
from players.puzzles.frontier.storage.blob import Blob
from players.puzzles.frontier.storage.store import BlobStore
from propnet.jit.arrays import Ints, Octets, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import item, put

_EIGHT = np.uint64(TAG_BITS)
_SEVEN = np.uint64(7)
_MORE = np.uint64(128)
_LOW = np.uint64(127)
_TAG = np.uint64(255)


@dataclass(frozen=True, slots=True)
class FreshRun:
    """Tagged keys without repetition.

    Attributes:
        blob: a block for each range: its gaps, then its tags.
        counts: int64, shape (ranges,): how many keys each range has.
    """

    blob: Blob
    counts: Ints

    @classmethod
    def of(cls, tagged: Words, fences: Words, store: BlobStore, name: str) -> FreshRun:
        """Sorted tagged keys (n,), cut before the first that is not below each of the tagged ``fences``.
        Raises OutOfRoomError."""
        edges = np.concatenate(([0], np.searchsorted(tagged, fences), [len(tagged)])).astype(np.int64)
        offsets = np.zeros(len(edges), np.int64)
        data = np.empty(_measure(tagged, edges, offsets), np.uint8)
        _encode(tagged, edges, data)
        writer = store.writer(name)
        try:
            for low, high in itertools.pairwise(offsets.tolist()):
                writer.append(data[low:high].tobytes())
            return cls(writer.close(), np.diff(edges))
        finally:
            writer.abandon()

    def drop(self) -> None:
        """It is needed no more."""
        self.blob.drop()

    def read(self, number: int, tagged: Words, at: int) -> int:
        """Write the tagged keys of a range from place ``at`` on; returns the place after them."""
        count = int(self.counts[number])
        if count:
            _decode(np.frombuffer(self.blob.read(number), np.uint8), count, tagged, at)
        return at + count


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
