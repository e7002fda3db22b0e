"""A layer with its values in memory: its keys packed in small groups that are looked up one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.strong.ranked.rank_kernels import FINGERS, GROUP, MOST_BYTES, OUTCOME_BITS, look_up, pack_groups
from propnet.expander import Expansion
from propnet.jit.arrays import Ints, Octets, Words

Codes = NDArray[np.uint16]

MOST_OUTCOMES = 1 << OUTCOME_BITS
MOST_DISTANCE = (1 << 16 - OUTCOME_BITS) - 1

Packed = tuple[Words, Ints, Octets, Codes]
"""Groups of consecutive keys: first keys, where the gaps begin, these, and for each key its code."""


def codes_of(values: Octets, distances: NDArray[np.uint16]) -> Codes:
    """Codes (n,) of outcomes, below MOST_OUTCOMES, and distances, up to MOST_DISTANCE."""
    codes: Codes = distances << np.uint16(OUTCOME_BITS) | values
    return codes


def packed(keys: Words, codes: Codes) -> Packed:
    """Ascending keys (n,) with their codes, ready for a layer. Each group has GROUP codes; the last one may
    have fewer keys."""
    groups = -(-len(keys) // GROUP)
    firsts, offsets = np.empty(groups, np.uint64), np.empty(groups, np.int64)
    room = np.empty(MOST_BYTES * len(keys), np.uint8)
    size = pack_groups(keys, firsts, offsets, room)
    padded = np.zeros(groups * GROUP, np.uint16)
    padded[: len(keys)] = codes
    return firsts, offsets, room[:size].copy(), padded


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """A layer of a rank.

    Attributes:
        firsts: uint64 (groups,): first keys.
        offsets: int64 (groups,): where the gaps of a group begin.
        data: uint8: the gaps.
        codes: uint16 (GROUP * groups,): outcome and distance of each key.
    """

    firsts: Words
    offsets: Ints
    data: Octets
    codes: Codes

    @classmethod
    def of(cls, parts: list[Packed]) -> PackedLayer:
        """All parts of a layer, ascending; the list is emptied."""
        base = 0
        for _, offsets, data, _ in parts:
            offsets += base
            base += len(data)
        columns = [list(column) for column in zip(*parts, strict=True)]
        parts.clear()
        return cls(*(np.concatenate(columns.pop(0)) for _ in range(4)))

    @property
    def held(self) -> int:
        """Bytes that it takes."""
        return self.firsts.nbytes + self.offsets.nbytes + self.data.nbytes + self.codes.nbytes

    def find(
        self, chunk: Expansion, ranks: Ints, rank: int, fingers: Ints, values: Octets, distances: Codes
    ) -> int:
        """See :func:`players.strong.ranked.rank_kernels.look_up`."""
        return int(
            look_up(
                self.firsts, self.offsets, self.data, self.codes, chunk.records, ranks, rank, chunk.moves,
                fingers, values, distances,
            )
        )  # fmt: skip

    @staticmethod
    def new_fingers() -> Ints:
        """Where a search begins, for one thread."""
        return np.zeros(FINGERS, np.int64)
