"""Runs: ascending keys in blocks, each coded by itself, in a store; with or without a tag for each key.

Fresh runs are the sorted successors of a part of a layer, cut into ranges of keys. They live only while their
layer is built, so they are coded fast rather than small.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.json_schema import TEXT, matching, or_null, record, row, rows, whole
from players.sorted_sets.keys import Keys
from players.sorted_sets.store import Blob, BlobStore
from propnet.jit.arrays import Ints, Octets, Words

_KEY = matching("0x[0-9a-f]+")
RUN_SCHEMA = record(
    keys=TEXT, tags=or_null(TEXT), blocks=rows(row(_KEY, _KEY, whole(1, 1 << 30), {"type": "boolean"}))
)
"""The schema of :meth:`Run.as_json`."""


@dataclass(frozen=True, slots=True)
class CodedKeys:
    """A block that is not in a store yet: its lowest and highest key, the number of keys, whether Zstandard
    has shrunk them, the coded keys, and a byte for each key (or none)."""

    first: int
    last: int
    count: int
    packed: bool
    keys: bytes
    tags: bytes


@dataclass(frozen=True, slots=True)
class RunBlock:
    """A run's record of a block: see :class:`CodedKeys`; ``number`` is its place in the run."""

    first: int
    last: int
    count: int
    packed: bool
    number: int


def coded(
    kind: Keys, keys: Words, tags: Octets | None, level: int, most: int | None = None
) -> Iterator[CodedKeys]:
    """Yield ascending keys in blocks of about the same size, at most ``most`` keys each (the kind's if None),
    with tags (n,) if there are any; ``level`` of Zstandard, 0 for none."""
    parts = max(1, -(-len(keys) // (most or kind.block)))
    edges = [len(keys) * part // parts for part in range(parts + 1)]
    for low, high in itertools.pairwise(edges):
        if low < high:
            some = keys[low:high]
            mine = b"" if tags is None else tags[low:high].tobytes()
            first, last = kind.key_at(some, 0), kind.key_at(some, -1)
            yield CodedKeys(first, last, high - low, level > 0, kind.encode(some, level), mine)


class Run:
    """Ascending keys.

    Attributes:
        kind: the kind of the keys.
        blocks: a record of each block.
        keys, tags: the blobs that store them, block by block; no tags if states need none.
        count: the number of keys.
    """

    def __init__(self, kind: Keys, blocks: Sequence[RunBlock], keys: Blob, tags: Blob | None) -> None:
        self.kind, self.blocks, self.keys, self.tags = kind, blocks, keys, tags
        self.count = sum(block.count for block in blocks)

    @property
    def blobs(self) -> list[Blob]:
        """The blobs that store it."""
        return [self.keys] if self.tags is None else [self.keys, self.tags]

    def drop(self) -> None:
        """Release its storage."""
        for blob in self.blobs:
            blob.drop()

    def read(self, block: RunBlock, room: Words | None = None) -> Words:
        """Return the keys of a block, in ``room`` (large enough for any block) if given. Raises
        DamagedKeysError."""
        out = self.kind.new(block.count) if room is None else room[: block.count]
        self.kind.decode(self.keys.read(block.number), block.packed, out)
        return out

    def read_tags(self, block: RunBlock) -> Octets:
        """Return the tags of a block, uint8 (count,)."""
        assert self.tags is not None
        return np.frombuffer(self.tags.read(block.number), np.uint8)

    def between(self, low: int, high: int) -> Sequence[RunBlock]:
        """Return the blocks that may have keys in ``low .. high - 1``, judging by their first and last
        keys."""
        start = bisect.bisect_left(self.blocks, low, key=lambda block: block.last)
        stop = bisect.bisect_left(self.blocks, high, key=lambda block: block.first)
        return self.blocks[start:stop]

    def cut(self, block: RunBlock, keys: Words, low: int, high: int) -> Words:
        """Return the keys of a block that are in ``low .. high - 1``."""
        start = int(self.kind.places(keys, [low])[0]) if block.first < low else 0
        stop = int(self.kind.places(keys, [high])[0]) if block.last >= high else len(keys)
        return keys[start:stop]

    def as_json(self) -> dict[str, Any]:
        """Return the run as JSON for a checkpoint; keys are hexadecimal because Python refuses to read long
        decimal numbers."""
        rows = [[hex(block.first), hex(block.last), block.count, block.packed] for block in self.blocks]
        return {"keys": self.keys.name, "tags": self.tags and self.tags.name, "blocks": rows}

    @classmethod
    def from_json(cls, body: dict[str, Any], kind: Keys, blobs: dict[str, Blob]) -> Run:
        """Return the run of a checkpoint that follows :data:`RUN_SCHEMA`. Raises GdlError if its blocks do
        not match the blobs."""
        keys, tags = (None if body[name] is None else blobs.get(body[name]) for name in ("keys", "tags"))
        if keys is None or (tags is None) != (body["tags"] is None):
            raise GdlError("a run has no blob")
        blocks = [
            RunBlock(int(first, 16), int(last, 16), count, packed, number)
            for number, (first, last, count, packed) in enumerate(body["blocks"])
        ]
        counts = [block.count for block in blocks]
        if len(counts) != len(keys.sizes) or (tags is not None and counts != list(tags.sizes)):
            raise GdlError("the blocks of a run are not those of its blobs")
        if any(block.count > kind.block or block.first > block.last for block in blocks):
            raise GdlError("a block of a run is too large, or ends before it begins")
        if any(one.last >= other.first for one, other in itertools.pairwise(blocks)):
            raise GdlError("the blocks of a run do not ascend")
        return cls(kind, blocks, keys, tags)


class RunWriter:
    """Writes a run, block by block."""

    def __init__(self, kind: Keys, store: BlobStore, name: str, tags: bool) -> None:
        self._kind = kind
        self._blocks: list[RunBlock] = []
        self._keys = store.writer(f"{name}-keys")
        self._tags = store.writer(f"{name}-tags", cold=True) if tags else None

    def add(self, block: CodedKeys) -> None:
        """Append a block whose keys are above those of the last one. Raises OutOfRoomError."""
        number = self._keys.append(block.keys)
        if self._tags is not None:
            self._tags.append(block.tags)
        self._blocks.append(RunBlock(block.first, block.last, block.count, block.packed, number))

    def close(self) -> Run:
        """Return the run."""
        tags = None if self._tags is None else self._tags.close()
        return Run(self._kind, self._blocks, self._keys.close(), tags)

    def abandon(self) -> None:
        """Discard the blocks written, unless the run is closed."""
        self._keys.abandon()
        if self._tags is not None:
            self._tags.abandon()


@dataclass(frozen=True, slots=True)
class FreshRun:
    """Tagged keys without repetition.

    Attributes:
        kind: the kind of the keys.
        blob: a block for each range.
        counts: int64, shape (ranges,): the number of keys of each range.
    """

    kind: Keys
    blob: Blob
    counts: Ints

    @classmethod
    def of(cls, kind: Keys, tagged: Words, fences: Sequence[int], store: BlobStore, name: str) -> FreshRun:
        """Store sorted tagged keys (n,), cut before the first key that is not below each of the ``fences``.
        Raises OutOfRoomError."""
        edges = np.concatenate(([0], kind.places(tagged, fences), [len(tagged)])).astype(np.int64)
        data, offsets = kind.encode_parts(tagged, edges)
        writer = store.writer(name)
        try:
            for low, high in itertools.pairwise(offsets.tolist()):
                writer.append(data[low:high].tobytes())
            return cls(kind, writer.close(), np.diff(edges))
        finally:
            writer.abandon()

    def drop(self) -> None:
        """Release its storage."""
        self.blob.drop()

    def read(self, number: int, tagged: Words, at: int) -> int:
        """Write the tagged keys of a range from place ``at`` on. Returns the place after them. Raises
        DamagedKeysError."""
        count = int(self.counts[number])
        if count:
            self.kind.decode_part(np.frombuffer(self.blob.read(number), np.uint8), count, tagged, at)
        return at + count
