"""Breadth-first search by sorting and merging (delayed duplicate detection: K. Munagala and A. Ranade, 1999;
R. Korf, 2003), compressed as in J. Snellman's snakebird solver (2018).
"""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.json_schema import FLAG, TEXT, check_json, matching, or_null, record, row, rows, whole
from gdl.machine import Machine, State
from players.processes.worker_threads import WorkerThreads
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.key_space import CODING_SCHEMA, KeySpace
from players.puzzles.frontier.layer import LayerExpansion, Merged, Merging, fences_of
from players.sorted_sets.keys import Keys
from players.sorted_sets.runs import RUN_SCHEMA, FreshRun, Run, RunBlock, RunWriter, coded
from players.sorted_sets.store import BlobStore
from propnet.jit.arrays import Words

_REWRITE = 2.5
"""The cost of rewriting a visited state, in steps of a merge."""


@dataclass
class Layers:
    """The layers that a search has found.

    Attributes:
        layers: the states at each depth, reached by a shortest way.
        clocks: uint64, shape (words,) each: the clock at each depth.
        visited: all states, in runs without common states.
        ends: goal value -> depth and lowest key of the nearest terminal state that has it.
        merged: whether some state was reached again at a greater depth.
        states: the number of states in all layers.
        extra: merge steps that a single visited run would have saved since the last rewrite.
    """

    layers: list[Run] = field(default_factory=list)
    clocks: list[Words] = field(default_factory=list)
    visited: list[Run] = field(default_factory=list)
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    merged: bool = False
    states: int = 0
    extra: float = 0.0

    @property
    def visited_bytes(self) -> int:
        """The size of the coded visited set in bytes."""
        return sum(run.keys.total for run in self.visited)

    def add(self, layer: Run, clock: Words, ends: dict[int, int]) -> None:
        """Append the next layer."""
        for value, key in ends.items():
            self.ends.setdefault(value, (len(self.layers), key))
        self.layers.append(layer)
        self.clocks.append(clock)
        self.states += layer.count

    def as_json(self) -> dict[str, Any]:
        """Return the layers as JSON for a checkpoint."""
        layers = {id(run): number for number, run in enumerate(self.layers)}
        return {
            "layers": [run.as_json() for run in self.layers],
            "clocks": [clock.tolist() for clock in self.clocks],
            "visited": [layers.get(id(run), -1) for run in self.visited],
            "rewritten": next((run.as_json() for run in self.visited if id(run) not in layers), None),
            "ends": [[value, depth, hex(key)] for value, (depth, key) in self.ends.items()],
            "merged": self.merged,
            "extra": self.extra,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any], kind: Keys, store: BlobStore) -> Layers:
        """Return the layers of a checkpoint (:mod:`players.puzzles.frontier.search`). Raises GdlError if its
        parts do not match."""
        blobs = store.blobs
        if any(number >= len(body["layers"]) for number in body["visited"]) or (
            -1 in body["visited"] and body["rewritten"] is None
        ):
            raise GdlError("what was visited is in no run")
        layers = [Run.from_json(row, kind, blobs) for row in body["layers"]]
        visited = [
            layers[number] if number >= 0 else Run.from_json(body["rewritten"], kind, blobs)
            for number in body["visited"]
        ]
        return cls(
            layers,
            [np.array(clock, np.uint64) for clock in body["clocks"]],
            visited,
            {value: (depth, int(key, 16)) for value, depth, key in body["ends"]},
            body["merged"],
            sum(run.count for run in layers),
            body["extra"],
        )


class LayeredSearch:
    """Visits the states of a key space layer by layer.

    Attributes:
        space: the key space.
        found: the layers found.
    """

    def __init__(
        self, space: KeySpace, store: BlobStore, workers: int, budget: MemoryPlan, found: Layers
    ) -> None:
        self.space, self.found = space, found
        self._store = store
        self._branching, self._rewriting = 4.0, False
        """Successors per state of the last layer, unique in their run; whether visited runs are being merged
        into one."""
        self._range_keys = budget.range_keys
        self._expansions = [LayerExpansion(space, store, number, budget.room) for number in range(workers)]
        self._mergings = [Merging(space) for _ in range(workers)]
        self._threads = WorkerThreads(list(zip(self._expansions, self._mergings, strict=True)), "frontier")

    def begin(self, start: Words) -> None:
        """Begin with the state that has this record (words,)."""
        kind, clock = self.space.kind, start & self.space.clock_mask
        key = kind.of_records(start[None, :])
        writer = RunWriter(kind, self._store, "layer-00000", tags=kind.tag_bits > 0)
        for block in coded(kind, key, np.zeros(1, np.uint8), 0):
            writer.add(block)
        first = writer.close()
        self.found.add(first, clock, self._mergings[0].judge(key, clock))
        self.found.visited = [first]

    @property
    def over(self) -> bool:
        """Whether all states are visited."""
        return self.found.layers[-1].count == 0

    @property
    def done(self) -> int:
        """The number of expanded states of the last layer."""
        return sum(one.done for one in self._expansions)

    def close(self) -> None:
        """Stop the threads."""
        self._threads.close()

    def seconds_by_stage(self) -> dict[str, float]:
        """CPU seconds of all workers by stage; wall time for ``disk``."""
        total: dict[str, float] = defaultdict(float)
        for seconds in [one.seconds for one in self._expansions] + [one.seconds for one in self._mergings]:
            for stage, spent in seconds.items():
                total[stage] += spent
        return {**total, "disk": self._store.room.seconds}

    def advance(self) -> Generator[None]:
        """Make the next layer; yields now and then. If it is closed early, everything stays as before. Raises
        OutOfRoomError, CodingBrokenError."""
        found = self.found
        expected = self._branching * found.layers[-1].count
        saved = expected * (len(found.visited) - 1)
        old = sum(run.count for run in found.visited)
        self._rewriting = len(found.visited) > 1 and found.extra + saved > _REWRITE * old
        some = self._expansions[0]
        fences = fences_of(found.layers[-1], found.clocks[-1], some, expected, self._range_keys, self._old())
        writers: list[RunWriter] = []
        try:
            clock = yield from self._expand_layer(fences)
            yield from self._merge_layer(fences, clock, writers)
        finally:
            for writer in writers:
                writer.abandon()
            for one in self._expansions:
                one.begin([])

    def _old(self) -> list[Run]:
        """Return the visited runs to be rewritten."""
        return self.found.visited if self._rewriting else []

    def _name(self, kind: str) -> str:
        return f"{kind}-{len(self.found.layers):05d}"

    def _expand_layer(self, fences: Sequence[int]) -> Generator[None, None, Words]:
        """Write the successors into fresh runs, cut at the fences. Returns the clock of the next layer."""
        layer, clock = self.found.layers[-1], self.found.clocks[-1]
        for expansion in self._expansions:
            expansion.begin(fences)
        blocks = iter(layer.blocks)
        yield from self._threads.run(lambda tools: _expand(tools[0], layer, blocks, clock))
        return next((one.clock for one in self._expansions if one.generated), clock)

    def _merge_layer(self, fences: Sequence[int], clock: Words, writers: list[RunWriter]) -> Generator[None]:
        """Merge the fresh runs into a layer."""
        found = self.found
        runs = [run for one in self._expansions for run in one.runs]
        generated = sum(int(run.counts.sum()) for run in runs)
        found.extra += generated * (len(found.visited) - 1)
        self._branching = max(2.0, generated / max(1, found.layers[-1].count))
        writers.append(
            RunWriter(self.space.kind, self._store, self._name("layer"), tags=self.space.kind.tag_bits > 0)
        )
        if self._rewriting:
            writers.append(RunWriter(self.space.kind, self._store, self._name("visited"), tags=False))
        edges = [0, *fences, 1 << self.space.key_bits]
        ranges = iter(enumerate(itertools.pairwise(edges)))
        sequel = _Sequel(writers)
        yield from self._threads.run(lambda tools: self._merge(tools[1], ranges, runs, clock, sequel))
        written = [writer.close() for writer in writers]
        following = written[0]
        found.add(following, clock, sequel.ends)
        found.merged |= sequel.repeated > 0
        if self._rewriting:
            for run in found.visited:
                if not any(run is layer for layer in found.layers):
                    run.drop()
            found.visited, found.extra = [written[1]], 0.0
        elif following.count:
            found.visited.append(following)

    def _merge(
        self,
        merging: Merging,
        ranges: Iterator[tuple[int, tuple[int, int]]],
        runs: list[FreshRun],
        clock: Words,
        sequel: _Sequel,
    ) -> Iterator[None]:
        for number, (low, high) in ranges:
            sequel.add(
                number, merging.merge(number, low, high, runs, self.found.visited, clock, self._rewriting)
            )
            yield


class _Sequel:
    """Writes the merged ranges in their order; any thread may add one."""

    def __init__(self, writers: list[RunWriter]) -> None:
        self._writers = writers
        self._waiting: dict[int, Merged] = {}
        self._next = 0
        self._lock = threading.Lock()
        self.ends: dict[int, int] = {}
        self.repeated = 0

    def add(self, number: int, merged: Merged) -> None:
        """Add a merged range."""
        with self._lock:
            self._waiting[number] = merged
            while (one := self._waiting.pop(self._next, None)) is not None:
                self._next += 1
                for writer, blocks in zip(self._writers, (one.layer, one.visited), strict=False):
                    for block in blocks:
                        writer.add(block)
                for value, key in one.ends.items():
                    self.ends.setdefault(value, key)
                self.repeated += one.repeated


def _expand(
    expansion: LayerExpansion, layer: Run, blocks: Iterator[RunBlock], clock: Words
) -> Iterator[None]:
    for block in blocks:
        yield from expansion.expand(layer.read(block, expansion.block), clock)
    expansion.flush()


FOUND_SCHEMA = record(
    layers=rows(RUN_SCHEMA, least=1),
    clocks=rows(rows(whole(0, (1 << 64) - 1))),
    visited=rows(whole(-1)),
    rewritten=or_null(RUN_SCHEMA),
    ends=rows(row(whole(0, 100), whole(), matching("0x[0-9a-f]+"))),
    merged=FLAG,
    extra={"type": "number", "minimum": 0},
)
_STATE = record(
    game=TEXT,
    symmetry=whole(),
    clocks=FLAG,
    coding=CODING_SCHEMA,
    found=FOUND_SCHEMA,
    lines={"type": "object", "additionalProperties": rows(whole())},
    earlier=whole(),
)


def check_state(state: dict[str, Any]) -> None:
    """Raise GdlError if this is not a valid search state, as far as can be checked without its game."""
    check_json(state, _STATE, "state")


def check_lines(lines: dict[int, list[int]], machine: Machine, start: State) -> None:
    """Raise GdlError unless each line (move ids) leads from the start to an end with its goal value (0 if
    none is defined), in a game of one role."""
    for value, line in lines.items():
        state = start
        for move in line:
            if machine.is_terminal(state) or move not in machine.legal_moves(state, 0):
                raise GdlError(f"the line to {value} has a move that is not legal")
            state = machine.next_state(state, [move])
        if not machine.is_terminal(state) or (machine.result(state, 0) or 0) != value:
            raise GdlError(f"the line to {value} does not lead there")


def check_found(found: Layers, words: int, key_bits: int, tagged: bool = True) -> None:
    """Raise GdlError unless the layers fit each other and the game: clocks have the same number of words as
    records, ends lie in a layer, states have tags if ``tagged``, and keys have the right number of bits."""
    if len(found.clocks) != len(found.layers) or any(len(clock) != words for clock in found.clocks):
        raise GdlError("the clocks are not those of the layers")
    if any(depth >= len(found.layers) or key >> key_bits for depth, key in found.ends.values()):
        raise GdlError("an end lies in no layer")
    if any((layer.tags is None) == tagged for layer in found.layers):
        raise GdlError("a layer has no tags, or should have none")
    runs = [*found.layers, *found.visited]
    if any(block.last >> key_bits for run in runs for block in run.blocks):
        raise GdlError("a key is too long")
