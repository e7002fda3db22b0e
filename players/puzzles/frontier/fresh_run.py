"""Fresh runs: the sorted successors of a part of a layer, with their tags, cut into ranges of keys.

They live as long as their layer is made, so that they are coded fast rather than small.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from players.puzzles.frontier.keys.key_kind import KeyKind
from players.puzzles.frontier.storage.blob import Blob
from players.puzzles.frontier.storage.store import BlobStore
from propnet.jit.arrays import Ints, Words


@dataclass(frozen=True, slots=True)
class FreshRun:
    """Tagged keys without repetition.

    Attributes:
        kind: what they are.
        blob: a block for each range.
        counts: int64, shape (ranges,): how many keys each range has.
    """

    kind: KeyKind
    blob: Blob
    counts: Ints

    @classmethod
    def of(cls, kind: KeyKind, tagged: Words, fences: Sequence[int], store: BlobStore, name: str) -> FreshRun:
        """Sorted tagged keys (n,), cut before the first that is not below each of the ``fences``.
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
        """It is needed no more."""
        self.blob.drop()

    def read(self, number: int, tagged: Words, at: int) -> int:
        """Write the tagged keys of a range from place ``at`` on; returns the place after them.
        Raises DamagedKeysError."""
        count = int(self.counts[number])
        if count:
            self.kind.decode_part(np.frombuffer(self.blob.read(number), np.uint8), count, tagged, at)
        return at + count
