"""Breadth-first search with states partitioned by hash (U. Stern and D. Dill, Parallelizing the Murphi
verifier, 1997), layer by layer; each owner merges what it is sent (delayed duplicate detection).

Whoever leads it keeps a copy of every layer, and of what is sent while a layer is made. So lines are found
and layers are kept as in a search on one computer, and a part that is lost is made again elsewhere, and does
its own step of the layer once more.
"""

from __future__ import annotations

import itertools
from asyncio import TaskGroup
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from players.fleet.fleet import Arrays, FleetWorker, LostWorkerError, Message
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.key_space import CodingBrokenError, KeySpace
from players.puzzles.frontier.keys.kinds import WideKeys
from players.puzzles.frontier.layer import LayerExpansion, Merging, fences_of
from players.puzzles.frontier.partitions.crew import PartCrew
from players.puzzles.frontier.partitions.messages import (
    block_of,
    pack_blocks,
    pack_network,
    parcels,
    unpack_blocks,
)
from players.puzzles.frontier.runs import Run, RunWriter
from players.puzzles.frontier.search import REWRITE, Layers, first_layer
from players.puzzles.frontier.storage.store import Blob, BlobStore, BlobWriter
from propnet.jit.arrays import Words

_LOOK_SECONDS = 0.02
_MOST_LOST = 8
"""Workers that may be lost while one layer is made."""


@dataclass
class _Making:
    """A layer that is made.

    Attributes:
        attempt: tells it from others that were given up.
        fences: where ranges of keys begin, in hexadecimal.
        rewrite: whether parts write what was visited as one run.
        clock: of the next layer, as soon as it is known.
        writers, sent: the successors for each owner, a block for each piece; closed when all are there.
        pieces: for each owner the counts and offsets of each piece.
        done, generated: states expanded; successors, unique in their piece.
        merged: the worker that has merged, for each part.
        known, ends: what the merges of each part found.
        run: the next layer.
        owned: the first block of each part in it, and the end.
        lost: how many workers were lost.
    """

    attempt: int
    fences: list[str]
    rewrite: bool
    clock: Words
    writers: list[BlobWriter]
    sent: list[Blob] = field(default_factory=list)
    pieces: list[list[tuple[Any, Any]]] = field(default_factory=list)
    done: int = 0
    generated: int = 0
    merged: dict[int, FleetWorker] = field(default_factory=dict)
    known: dict[int, int] = field(default_factory=dict)
    ends: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    writer: RunWriter | None = None
    run: Run | None = None
    owned: list[int] = field(default_factory=lambda: [0])
    lost: int = 0


class PartitionedSearch:
    """Visits the states of a key space layer by layer, on the workers of a crew; to be used like
    :class:`players.puzzles.frontier.search.LayeredSearch`.

    Args:
        space: the key space.
        store: for the copy of the layers.
        crew: the workers; whoever made it closes it.
        budget: sizes of buffers and ranges, for each part.
        memory: bytes that the process of each part may have resident.
        found: what was found before.
    """

    def __init__(
        self,
        space: KeySpace,
        store: BlobStore,
        crew: PartCrew,
        budget: MemoryPlan,
        memory: int,
        found: Layers,
    ) -> None:
        self.space, self.found = space, found
        self._store, self._crew, self._memory = store, crew, memory
        self._room, self._range_keys = budget.room, budget.range_keys
        self._sampler = LayerExpansion(space, store, 0, 1)
        self._network = pack_network(space.machine.network)
        self._equipped: dict[int, FleetWorker] = {}
        self._owned: dict[int, list[int]] = {}
        """Depth of a layer -> first block of each part in it, and the end, where these parts have made it."""
        self._attempt = self._whole = 0
        """The last attempt at a layer, and the last one that was not given up."""
        self._branching, self._extra = 4.0, 0.0
        self._runs = len(found.layers)
        """How many visited runs parts have, and what they have cost: see :class:`Layers`."""
        self._seconds: dict[int, dict[str, float]] = {}
        self._making: _Making | None = None

    def begin(self, start: Words) -> None:
        """Begin with the state that has this record (words,)."""
        first_layer(self.space, self._store, Merging(self.space), start, self.found)
        self._runs = 1

    @property
    def over(self) -> bool:
        """Whether all states were visited."""
        return self.found.layers[-1].count == 0

    @property
    def done(self) -> int:
        """How many states of the last layer are expanded."""
        return 0 if self._making is None else self._making.done

    def close(self) -> None:
        """Nothing is left behind: the crew is others'."""

    def seconds_by_stage(self) -> dict[str, float]:
        """CPU seconds of all parts by what they went to, those of lost workers apart; for ``disk`` of the
        copies here, by the clock."""
        total: dict[str, float] = defaultdict(float)
        for seconds in self._seconds.values():
            for stage, spent in seconds.items():
                total[stage] += spent
        return {**total, "disk": self._store.room.seconds}

    def advance(self) -> Generator[None]:
        """Make the next layer; yields now and then. Given up (``close``), it leaves everything as it was.
        Raises OutOfRoomError, CodingBrokenError, LostWorkerError where workers are lost again and again."""
        found, parts = self.found, self._crew.parts
        layer, clock = found.layers[-1], found.clocks[-1]
        expected = self._branching * layer.count
        saved = expected * (self._runs - 1)
        rewrite = self._runs > 1 and self._extra + saved > REWRITE * found.states
        old = found.visited if rewrite else []
        fences = fences_of(layer, clock, self._sampler, expected, self._range_keys * parts, old)
        writers = [self._store.writer(f"sent-{part}") for part in range(parts)]
        making = _Making(self._attempt + 1, [hex(fence) for fence in fences], rewrite, clock, writers)
        making.pieces = [[] for _ in range(parts)]
        self._making = making
        job, taken = self._crew.submit(self._make(making)), False
        try:
            while not job.done():
                wait([job], _LOOK_SECONDS)
                yield
            job.result()
            taken = True
        finally:
            if not job.done():
                self._crew.give_up(job)
            for writer in writers:
                writer.abandon()
            for blob in making.sent:
                blob.drop()
            if making.writer is not None:
                making.writer.abandon()
            if making.run is not None and not taken:
                making.run.drop()
            self._attempt, self._making = making.attempt, None
        self._add(making)

    def _add(self, making: _Making) -> None:
        """Take a layer that is made."""
        found, run = self.found, making.run
        assert run is not None
        self._branching = max(2.0, making.generated / max(1, found.layers[-1].count))
        self._extra += making.generated * (self._runs - 1)
        ends: dict[int, int] = {}
        for value, key in itertools.chain.from_iterable(making.ends.values()):
            ends[value] = min(key, ends.get(value, key))
        self._owned[len(found.layers)] = making.owned
        self._whole = making.attempt
        found.add(run, making.clock, ends)
        found.merged |= any(making.known.values())
        if run.count:
            found.visited.append(run)
        if making.rewrite:
            self._runs, self._extra = 1, 0.0
        else:
            self._runs += 1

    async def _make(self, making: _Making) -> None:
        parts = range(self._crew.parts)
        await _all([self._on(part, making, self._expander(part, making)) for part in parts])
        making.sent = [writer.close() for writer in making.writers]
        await _all([self._on(part, making, self._merger(part, making)) for part in parts])
        name = f"layer-{len(self.found.layers):05d}"
        making.writer = writer = RunWriter(self.space.kind, self._store, name, tags=True)
        blocks = 0
        for part in parts:
            blocks = await self._pull(part, making, blocks)
            making.owned.append(blocks)
        making.run = writer.close()

    async def _on(self, part: int, making: _Making, step: Callable[[FleetWorker], Awaitable[None]]) -> None:
        """Do a step on a part's worker, and again on another one where it is lost."""
        while True:
            try:
                worker = await self._crew.worker(part)
                if self._equipped.get(part) is not worker:
                    await self._equip(part, worker)
                    self._equipped[part] = worker
                await step(worker)
                return
            except LostWorkerError as error:
                making.lost += 1
                await self._crew.lose(part)
                if making.lost > _MOST_LOST:
                    raise LostWorkerError(
                        f"{making.lost} workers were lost while one layer was made: {error.message}",
                        remedy="do the nodes have the memory for their parts? See --memory and `ray status`",
                    ) from None

    async def _equip(self, part: int, worker: FleetWorker) -> None:
        """Have a worker begin as a part, with the states of all layers."""
        space, (network, arrays) = self.space, self._network
        message = {
            "do": "space",
            "part": part,
            "parts": self._crew.parts,
            "memory": self._memory,
            "room": self._room,
            "bits": space.key_bits,
            "broken": space.broken_bit,
            "wide": isinstance(space.kind, WideKeys),
            "network": network,
        }
        await self._crew.ask(worker, message, [space.clock_mask, *arrays])
        for depth, layer in enumerate(self.found.layers):
            owned = self._owned.get(depth)
            blocks = layer.blocks if owned is None else layer.blocks[owned[part] : owned[part + 1]]
            some = list(parcels(layer, blocks))
            for number, parcel in enumerate(some):
                rows, coded = pack_blocks(block_of(layer, block, tags=False) for block in parcel)
                message = {
                    "do": "restore",
                    "layer": depth,
                    "first": number == 0,
                    "last": number == len(some) - 1,
                    "owned": owned is not None,
                    "blocks": rows,
                }
                await self._crew.ask(worker, message, coded)

    def _expander(self, part: int, making: _Making) -> Callable[[FleetWorker], Awaitable[None]]:
        """The expansion of a part's states: on a new worker it goes on where it was."""
        place: Sequence[int] | None = [0, 0]

        async def expand(worker: FleetWorker) -> None:
            nonlocal place
            commit = {"do": "commit", "layer": len(self.found.layers), "attempt": self._whole}
            await self._crew.ask(worker, commit)
            while place is not None:
                block, offset = place
                message = {"do": "expand", "block": block, "offset": offset, "fences": making.fences}
                answer, arrays = await self._ask(worker, making, message, [self.found.clocks[-1]])
                if answer.get("broken"):
                    raise CodingBrokenError(np.asarray(arrays[0], np.uint64))
                for (owner, counts, offsets), data in zip(answer["pieces"], arrays[1:], strict=True):
                    making.writers[owner].append(data.tobytes())
                    making.pieces[owner].append((counts, offsets))
                    making.generated += sum(counts)
                if answer["generated"]:
                    making.clock = np.asarray(arrays[0], np.uint64)
                making.done += answer["done"]
                self._seconds[part] = answer["seconds"]
                place = answer["next"]

        return expand

    def _merger(self, part: int, making: _Making) -> Callable[[FleetWorker], Awaitable[None]]:
        """The merge of what was sent to a part."""

        async def merge(worker: FleetWorker) -> None:
            for number, (counts, offsets) in enumerate(making.pieces[part]):
                data = np.frombuffer(making.sent[part].read(number), np.uint8)
                message = {"do": "take", "counts": counts, "offsets": offsets}
                await self._ask(worker, making, message, [data])
            at: int | None = 0
            while at is not None:
                message = {"do": "merge", "range": at, "rewrite": making.rewrite, "fences": making.fences}
                answer, _ = await self._ask(worker, making, message, [making.clock])
                at = answer["next"]
            making.known[part] = answer["known"]
            making.ends[part] = [(value, int(key, 16)) for value, key in answer["ends"]]
            self._seconds[part] = answer["seconds"]
            making.merged[part] = worker

        return merge

    async def _pull(self, part: int, making: _Making, written: int) -> int:
        """Write a part's new states, of which a worker that takes over has the same blocks. Returns how many
        blocks there are then, where so many were before."""
        at: int | None = 0
        writer, merge = making.writer, self._merger(part, making)
        assert writer is not None

        async def pull(worker: FleetWorker) -> None:
            nonlocal at, written
            if making.merged.get(part) is not worker:
                await merge(worker)
            while at is not None:
                answer, arrays = await self._ask(worker, making, {"do": "pull", "block": at})
                for block in unpack_blocks(answer["blocks"], arrays):
                    writer.add(block)
                    written += 1
                at = answer["next"]

        await self._on(part, making, pull)
        return written

    async def _ask(
        self, worker: FleetWorker, making: _Making, message: Message, arrays: Arrays = ()
    ) -> tuple[Message, Arrays]:
        layer = {"layer": len(self.found.layers), "attempt": making.attempt}
        return await self._crew.ask(worker, {**message, **layer}, arrays)


async def _all(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Do all of it at once; where one fails, the others are cancelled, and its error is raised."""
    try:
        async with TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
