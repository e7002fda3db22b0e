"""Expansion of a part's states: successors without repetition, divided by owner, coded to be sent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.frontier import expansion
from players.puzzles.frontier.expansion import LayerExpansion
from players.puzzles.frontier.key_space import KeySpace
from players.puzzles.frontier.partitions.owners import owners_of_tagged
from players.puzzles.frontier.storage.store import BlobStore
from propnet.jit.arrays import Ints, Octets, Words


@dataclass(frozen=True, slots=True)
class OwnedSuccessors:
    """Sorted tagged keys of one owner, cut at the fences.

    Attributes:
        owner: the part that they are for.
        counts: int64, shape (ranges,): keys of each range.
        offsets: int64, shape (ranges + 1,): where the bytes of each range begin, and end.
        data: the bytes.
    """

    owner: int
    counts: Ints
    offsets: Ints
    data: Octets


class PartExpansion(LayerExpansion):
    """Expands for ``parts`` owners.

    Attributes:
        pieces: what has come of it since it was emptied last.
    """

    def __init__(self, space: KeySpace, store: BlobStore, room: int, parts: int) -> None:
        super().__init__(space, store, 0, max(room, expansion._ROWS))
        self._kind, self._parts = space.kind, parts
        self.pieces: list[OwnedSuccessors] = []

    def _keep(self, tagged: Words) -> None:
        owner = owners_of_tagged(tagged, self._parts)
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=self._parts))
        start = 0
        for number, end in enumerate(ends.tolist()):
            mine = np.ascontiguousarray(tagged[order[start:end]])
            start = end
            if len(mine):
                edges = np.concatenate(([0], self._kind.places(mine, self.fences), [len(mine)])).astype(
                    np.int64
                )
                data, offsets = self._kind.encode_parts(mine, edges)
                self.pieces.append(OwnedSuccessors(number, np.diff(edges), np.asarray(offsets), data))
