"""A whole game with a rank is solved: forward to all states, backward to their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from gdl.errors import TooLargeError
from players.puzzles.frontier.budget import resident_bytes, return_free_memory
from players.puzzles.frontier.runs import Run
from players.puzzles.frontier.storage.store import BlobStore
from players.strong.outcomes import Outcomes
from players.strong.ranked.backward import RankedFinder, SolvedBlock
from players.strong.ranked.forward import Filer, Merger, Pending, coded_blocks, fences, run_of
from players.strong.ranked.gang import Gang
from players.strong.ranked.options import StrongOptions
from players.strong.ranked.packed_layer import PackedLayer
from players.strong.ranked.space import BrokenSpaceError, RankedSpace
from players.strong.row_sets import SetSignature
from players.strong.solve import SolvedGame
from players.strong.storage import LayerWriter, TableWriter
from propnet.machine import PropnetMachine

Watch = Callable[[str, int, int], None]

_ANY = SetSignature(0, 0, 0, 64)
"""The ranks say in which layer a word is."""

_WORKER = 16 << 20
_ROOM_SHARE, _ROOM_BYTES = 0.2, 20
_TRUST = 0.8


@dataclass(frozen=True, slots=True)
class RankedLayer:
    """States of a rank: their words, and the highest rank that their successors have."""

    rank: int
    run: Run
    reach: int


class RankedSolver:
    """Finds the value of every state of a game with a rank."""

    def __init__(
        self, machine: PropnetMachine, options: StrongOptions, writer: TableWriter | None, watch: Watch
    ) -> None:
        """Raises UnfitError for other games, ScratchError."""
        self._space = RankedSpace.find(machine, options.symmetry)
        self._options, self._writer, self._watch = options, writer, watch
        self._outcomes = Outcomes(len(machine.roles))
        self._store = BlobStore(1 << 20, options.scratch, options.disk, str(machine.rules))
        self._states = 0

    def solve(self) -> SolvedGame:
        """The values of all states, in the table if there is one. Raises UnfitError, OutOfRoomError and
        TooLargeError; GdlError for games whose value is not one in pure strategies."""
        while True:
            try:
                layers = self._forward()
                break
            except BrokenSpaceError as broken:
                for blob in list(self._store.blobs.values()):
                    blob.drop()
                self._space = self._space.mended(broken.records[:1000])
        sizes = [layer.run.count for layer in layers]
        start, distance = self._backward(layers)
        return SolvedGame(
            self._space.original, self._outcomes, sizes, False, self._outcomes.vectors[start], distance,
            self._space.symmetries, self._space.codec.as_json(),
        )  # fmt: skip

    def close(self) -> None:
        """Remove the files that are not the table's."""
        self._store.erase()

    def _balance(self) -> None:
        """Allow the store what is left of the memory."""
        store = self._store
        left = int(0.97 * self._options.memory) - resident_bytes()
        store.room.memory = max(1 << 20, store.used_memory + (int(_TRUST * left) if left > 0 else left))
        if store.used_memory > store.room.memory and store.on_disk:
            store.spill()
            return_free_memory()

    def _forward(self) -> list[RankedLayer]:
        """All states."""
        options, space, store = self._options, self._space, self._store
        self._states = 0
        spare = max(0, options.memory - resident_bytes() - options.workers * _WORKER)
        room = int(spare * _ROOM_SHARE / _ROOM_BYTES / options.workers)
        room = max(1 << 16, min(1 << 22, room))
        filers = [Filer(space, room) for _ in range(options.workers)]
        expanding = Gang(filers)
        merging = Gang([Merger() for _ in range(options.workers)])
        pending = Pending(store)
        layers: list[RankedLayer] = []
        start = space.start()
        pending.add({0: list(coded_blocks(start, 1, 0))})
        try:
            while (rank := pending.lowest()) is not None:
                self._balance()
                run = self._merged(merging, pending, rank)
                self._states += run.count
                pending.drop(rank)
                for pieces in expanding.run(Filer.expand, ((run, block, rank) for block in run.blocks)):
                    for some in pieces:
                        pending.add(some)
                    self._watch("forward", rank, self._states)
                reach = rank
                for filer in filers:
                    pending.add(filer.flush())
                    reach = max(reach, filer.highest)
                    filer.highest = 0
                layers.append(RankedLayer(rank, run, reach))
        finally:
            expanding.close()
            merging.close()
        return layers

    def _merged(self, merging: Gang[Merger], pending: Pending, rank: int) -> Run:
        """The layer of a rank."""
        runs = pending.runs[rank]
        tasks = ((runs, low, high) for low, high in pairwise(fences(runs)))
        parts = merging.run(Merger.merge, tasks)
        blocks = (block for part in parts for block in part)
        return run_of(self._store, f"layer-{rank}", blocks)

    def _backward(self, layers: list[RankedLayer]) -> tuple[int, int]:
        """The value of all states; returns that of the start and its distance."""
        window: dict[int, PackedLayer] = {}
        finders = [RankedFinder(self._space, self._outcomes, window) for _ in range(self._options.workers)]
        gang = Gang(finders)
        first, done = (0, 0), 0
        try:
            while layers:
                layer = layers.pop()
                self._balance()
                held = resident_bytes()
                if held > 1.1 * self._options.memory:
                    raise TooLargeError(
                        f"the values of the layers above rank {layer.rank} do not fit into memory",
                        remedy=f"give more --memory: the process has {held >> 20} MB",
                    )
                blocks = []
                for block in self._written(layer, gang):
                    blocks.append(block.part)
                    first = block.first
                    self._watch("backward", layer.rank, done)
                done += layer.run.count
                window[layer.rank] = PackedLayer.of(blocks)
                layer.run.drop()
                reach = max((lower.reach for lower in layers), default=0)
                for rank in [rank for rank in window if rank > reach]:
                    del window[rank]
                for finder in finders:
                    finder.forget(reach)
        finally:
            gang.close()
        return first

    def _written(self, layer: RankedLayer, gang: Gang[RankedFinder]) -> Iterator[SolvedBlock]:
        """The blocks of a layer with their values, which are written to the table, too."""
        writer = None if self._writer is None else LayerWriter(self._writer.path_of(layer.rank))
        run, table = layer.run, writer is not None
        try:
            for block in gang.run(RankedFinder.solve, ((run, block, table) for block in run.blocks)):
                if writer is not None and block.table is not None:
                    writer.add(block.table)
                yield block
            if self._writer is not None and writer is not None:
                self._writer.kept(layer.rank, writer.close(_ANY))
        finally:
            if writer is not None:
                writer.abandon()
