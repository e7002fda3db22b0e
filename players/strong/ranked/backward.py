"""The values of a game with a rank: from the highest layer to the lowest, successors looked up in memory.

A layer with its values is in memory: its keys packed in small groups that are looked up one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.puzzles.frontier.keys.codes import DamagedKeysError, grown, shrunk
from players.puzzles.frontier.runs import Run, RunBlock
from players.puzzles.frontier.storage.store import Blob
from players.strong.backward import Distances, ValuedSet, ValueFinder
from players.strong.choice_kernels import SETTLED
from players.strong.outcomes import Outcomes
from players.strong.ranked.rank_kernels import FINGERS, GROUP, MOST_BYTES, OUTCOME_BITS, look_up, pack_groups
from players.strong.ranked.space import RankedSpace, UnfitError
from players.strong.storage import CodedBlock, coded_block
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


@dataclass(frozen=True, slots=True)
class SolvedBlock:
    """What became of a block of a layer.

    Attributes:
        part: for the layer in memory.
        table: for the table, if there is one.
        codes: for a process that goes on, if one may; else nothing.
        first: outcome and distance of its first state.
    """

    part: Packed
    table: CodedBlock | None
    codes: bytes
    first: tuple[int, int]


_NOTHING = ValuedSet(np.empty((0, 1), np.uint64), np.empty(0, np.uint8), np.empty(0, np.uint16))


class RankedFinder(ValueFinder):
    """Finds values of words from those of the layers above: expands, looks up, chooses.

    ``window``: the layers above, by rank; all workers share it.
    """

    def __init__(self, space: RankedSpace, outcomes: Outcomes, window: dict[int, PackedLayer]) -> None:
        super().__init__(space.new_machine(), outcomes)
        self._space, self._window = space, window
        self._by_rank: dict[int, Ints] = {}

    def solve(self, task: tuple[Run, RunBlock, bool, bool]) -> SolvedBlock:
        """The values of a block of a run; the others of the task say whether it is to be coded for the table,
        and for a process that goes on."""
        run, block, table, lasting = task
        keys = run.read(block)
        values, distances, fates = self.judge(keys.reshape(-1, 1), _NOTHING)
        if not (fates == SETTLED).all():
            raise DamagedKeysError
        if int(distances.max()) > MOST_DISTANCE or int(values.max()) >= MOST_OUTCOMES:
            raise UnfitError
        codes = codes_of(values, distances)
        return SolvedBlock(
            packed(keys, codes),
            coded_block(keys.reshape(-1, 1), values, distances) if table else None,
            shrunk(codes.data.cast("B"), 1) if lasting else b"",
            (int(values[0]), int(distances[0])),
        )

    def _look(self, chunk: Expansion, known: ValuedSet) -> tuple[Ints, Octets, Distances]:
        m = len(chunk)
        ranks = self._space.rank.many(chunk.records[:, 0])
        values, distances = np.empty(m, np.uint8), np.empty(m, np.uint16)
        missing = 0
        for rank in range(int(ranks.min()), int(ranks.max()) + 1) if m else ():
            layer = self._window.get(rank)
            if layer is None:
                missing += int((ranks == rank).sum())
                continue
            if rank not in self._by_rank:
                self._by_rank[rank] = layer.new_fingers()
            missing += layer.find(chunk, ranks, rank, self._by_rank[rank], values, distances)
        if missing:
            raise DamagedKeysError  # a successor is in no layer
        return np.arange(m), values, distances

    def forget(self, above: int) -> None:
        """Layers above this rank are needed no more."""
        for rank in [rank for rank in self._by_rank if rank > above]:
            del self._by_rank[rank]

    def _spelled(self, record: Words) -> str:
        state = self._space.original.states(self._space.recoded.decode(record))[0]
        return " ".join(sorted(map(str, state.propositions)))


def layer_again(run: Run, codes: Blob) -> PackedLayer:
    """A layer that another process found: its words and the codes of their values. Raises ScratchError and
    DamagedKeysError."""
    parts = []
    for block in run.blocks:
        plain = grown(codes.read(block.number), True, 2 * block.count)
        if len(plain) != 2 * block.count:
            raise DamagedKeysError
        parts.append(packed(run.read(block), np.frombuffer(plain, np.uint16)))
    return PackedLayer.of(parts)
