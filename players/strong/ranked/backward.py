"""The values of a game with a rank: from the highest layer to the lowest, successors looked up in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.frontier.keys.errors import DamagedKeysError
from players.puzzles.frontier.keys.shrink import grown, shrunk
from players.puzzles.frontier.runs import Run, RunBlock
from players.puzzles.frontier.storage.blob import Blob
from players.strong.backward import Distances, ValuedSet, ValueFinder
from players.strong.choice_kernels import SETTLED
from players.strong.outcomes import Outcomes
from players.strong.ranked.packed_layer import (
    MOST_DISTANCE,
    MOST_OUTCOMES,
    Packed,
    PackedLayer,
    codes_of,
    packed,
)
from players.strong.ranked.space import RankedSpace, UnfitError
from players.strong.storage import CodedBlock, coded_block
from propnet.expander import Expansion
from propnet.jit.arrays import Ints, Octets, Words


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
