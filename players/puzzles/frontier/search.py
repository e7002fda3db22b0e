"""Breadth-first search by sorting and merging (delayed duplicate detection: K. Munagala and A. Ranade, 1999;
R. Korf, 2003), compressed as in J. Snellman's snakebird solver (2018).

From one layer to the next. Expansion: successors in a buffer, sorted and made unique when it is full, then
coded as runs. The merge: the keys of the runs in one range, without the visited ones, are the next layer.
Runs are cut at *fences*: keys that divide the key space into ranges with about as much to merge.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.json_schema import FLAG, check_json, matching, or_null, record, row, rows, whole
from gdl.machine import Machine, State
from players.processes.worker_threads import WorkerThreads
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.key_space import CODING_SCHEMA, CodingBrokenError, KeySpace
from players.sorted_sets.keys import Keys
from players.sorted_sets.runs import RUN_SCHEMA, CodedKeys, FreshRun, Run, RunBlock, RunWriter, coded
from players.sorted_sets.store import BlobStore
from propnet.expander import Expander
from propnet.jit.arrays import Words

_ROWS = 1 << 14
"""The most successors of a chunk, and the least space of a buffer."""
_SOURCES = 1 << 12
_EACH = 3
"""One in this many successors is sampled."""


class LayerExpansion:
    """Expands states in one worker, with a machine of its own and a buffer of ``room`` tagged keys.

    Attributes:
        fences: the keys at which runs are cut.
        done: the number of states of this layer expanded.
        block: an array for the keys of a block.
        generated: the number of their successors.
    """

    def __init__(self, space: KeySpace, store: BlobStore, number: int, room: int) -> None:
        self._space, self._store, self._number = space, store, number
        self.runs: list[FreshRun] = []
        self._expander = Expander(space.new_machine(), _ROWS)
        self._records = np.zeros((_SOURCES, space.words), np.uint64)
        self._tags = np.zeros(_SOURCES, np.uint64)
        self._tagged, self._scratch = space.kind.new(room), space.kind.new(room)
        self.block = space.kind.new(space.kind.block)
        self._filled = 0
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.begin([])

    def begin(self, fences: Sequence[int]) -> None:
        """Begin a layer whose new runs will be cut at these keys, ascending."""
        self.fences = fences
        for run in self.runs:
            run.drop()
        self.runs.clear()
        self._filled = 0
        self.clock = np.zeros(self._space.words, np.uint64)
        self.done = self.generated = 0

    def expand(self, keys: Words, template: Words) -> Iterator[None]:
        """Expand the states with these keys; ``template`` (words,) holds the clock of their layer."""
        space, kind = self._space, self._space.kind
        for first in range(0, len(keys), _SOURCES):
            some = keys[first : first + _SOURCES]
            records = self._records[: len(some)]
            clock = time.thread_time()
            kind.to_records(some, template, records, self._tags)
            for chunk in self._expander.stream(records):
                if self._filled + len(chunk) > len(self._tagged):
                    self.seconds["expand"] += time.thread_time() - clock
                    self.flush()
                    clock = time.thread_time()
                every = kind.gather(chunk.records, chunk.parents, self._tags, self._tagged, self._filled)
                if every & space.broken:
                    raise CodingBrokenError(records[chunk.parents].copy())
                self.clock = chunk.records[0] & space.clock_mask
                self._filled += len(chunk)
                self.generated += len(chunk)
                yield
            self.seconds["expand"] += time.thread_time() - clock
            self.done += len(some)

    def sample(self, keys: Words, template: Words) -> list[int]:
        """Return the keys of some successors of the states with these keys, evenly over the states."""
        kind = self._space.kind
        found: list[int] = []
        for first in range(0, len(keys), _SOURCES):
            some = np.ascontiguousarray(keys[first : first + _SOURCES])
            records = self._records[: len(some)]
            kind.to_records(some, template, records, self._tags)
            for chunk in self._expander.stream(records):
                mine = kind.of_records(chunk.records[::_EACH])
                found += [kind.key_at(mine, place) for place in range(len(mine))]
        return found

    def flush(self) -> None:
        """Make a run from the contents of the buffer."""
        n = self._filled
        if n == 0:
            return
        clock = time.thread_time()
        tagged = self._space.kind.as_set(self._tagged, self._scratch, n)
        sorted_at = time.thread_time()
        self._keep(tagged)
        coded_at = time.thread_time()
        self.seconds["sort"] += sorted_at - clock
        self.seconds["encode"] += coded_at - sorted_at
        self._filled = 0

    def _keep(self, tagged: Words) -> None:
        """Store sorted tagged keys (n,) without repetition as a run."""
        name = f"fresh-{self._number}-{len(self.runs)}"
        self.runs.append(FreshRun.of(self._space.kind, tagged, self.fences, self._store, name))


_SAMPLED, _SAMPLES, _SAMPLES_OF_A_RANGE = 64, 1 << 10, 32
"""The least blocks and states of a layer whose successors are sampled to find the dense ranges, and the
states for a range."""


def fences_of(
    layer: Run,
    clock: Words,
    expansion: LayerExpansion,
    expected: float,
    range_keys: float,
    old: Sequence[Run],
) -> list[int]:
    """Return fences for the successors of a layer.

    Args:
        layer, clock: the layer, and uint64, shape (words,): its clock.
        expansion: used to sample successors.
        expected: about how many successors there are in all.
        range_keys: the number of keys of a range.
        old: runs that will be rewritten with them.
    """
    if expected <= range_keys and not old:
        return []
    ranges = int(expected / range_keys)
    some = layer.blocks[:: max(1, len(layer.blocks) // max(_SAMPLED, 4 * ranges))]
    samples = max(_SAMPLES, _SAMPLES_OF_A_RANGE * ranges)
    weighed: list[tuple[int, float]] = []
    held_by_some = sum(block.count for block in some)
    for block in some:
        keys = layer.read(block)[:: max(1, held_by_some // samples)]
        sample = expansion.sample(keys, clock)
        weighed += [(key, expected * block.count / held_by_some / len(sample)) for key in sample]
    weighed += [(block.first, block.count) for run in old for block in run.blocks]
    fences: dict[int, None] = {}
    held, part = 0.0, 0
    for first, weight in sorted(weighed):
        held += weight
        if held // range_keys > part:
            part = int(held // range_keys)
            fences[first] = None
    fences.pop(0, None)
    return list(fences)


_LEVEL, _REWRITTEN_LEVEL = 1, 3
"""Levels of Zstandard: rewritten runs stay for long, and are read just as fast."""
_RECORDS = 1 << 14


@dataclass(slots=True)
class Merged:
    """The result of merging one range.

    Attributes:
        layer: the new states, with tags.
        visited: all visited states, including the new ones; empty unless they are rewritten.
        repeated: the number of successors that were visited in an earlier layer.
        ends: for each goal value of a terminal state the lowest key.
    """

    layer: list[CodedKeys] = field(default_factory=list)
    visited: list[CodedKeys] = field(default_factory=list)
    repeated: int = 0
    ends: dict[int, int] = field(default_factory=dict)


class Merging:
    """Merges ranges in one worker."""

    def __init__(self, space: KeySpace) -> None:
        self._space = space
        self._machine = space.new_machine()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._records = np.zeros((_RECORDS, space.words), np.uint64)
        self._own_tags = np.zeros(_RECORDS, np.uint64)
        self._kind = space.kind
        self._block = self._kind.new(self._kind.block)
        self._new_room(0)

    def merge(
        self,
        number: int,
        low: int,
        high: int,
        runs: Sequence[FreshRun],
        visited: Sequence[Run],
        template: Words,
        rewrite: bool,
    ) -> Merged:
        """Merge the keys in ``low .. high - 1``; they are range ``number`` of each of the ``runs``. With
        ``rewrite`` the visited runs are rewritten as one."""
        found, kind = Merged(), self._kind
        clock = time.thread_time()
        tagged = self._successors(runs, number)
        n = len(tagged)
        sorted_at = time.thread_time()
        old: list[Words] = []
        decoding = 0.0
        dead = np.zeros(n, np.uint8)
        for run in visited:
            parts: list[Words] = []
            for block in run.between(low, high):
                first, last = kind.places(tagged, (block.first, block.last + 1)).tolist()
                if first == last and not rewrite:
                    continue
                begun = time.thread_time()
                old_keys = run.read(block, None if rewrite else self._block)
                decoding += time.thread_time() - begun
                if first < last:
                    kind.mark_known(tagged[first:last], old_keys, dead[first:last])
                if rewrite:
                    parts.append(run.cut(block, old_keys, low, high))
            if parts:
                old.append(np.concatenate(parts))
        new = kind.split(tagged, n, dead, self._keys, self._tags)
        found.repeated = n - new
        keys, tags = self._keys[:new], self._tags[:new]
        merged_at = time.thread_time()
        if kind.tag_bits:  # without tags no line is asked for
            found.ends = self.judge(keys, template)
        judged_at = time.thread_time()
        found.layer = list(coded(kind, keys, tags, _LEVEL))
        if rewrite:
            found.visited = list(coded(kind, kind.union([*old, keys]), None, _REWRITTEN_LEVEL))
        seconds = self.seconds
        seconds["sort"] += sorted_at - clock
        seconds["decode"] += decoding
        seconds["merge"] += merged_at - sorted_at - decoding
        seconds["judge"] += judged_at - merged_at
        seconds["encode"] += time.thread_time() - judged_at
        return found

    def _successors(self, runs: Sequence[FreshRun], number: int) -> Words:
        """Decode a range. Returns its tagged keys, ascending, each once."""
        total = int(sum(run.counts[number] for run in runs))
        if total > len(self._tagged):
            self._new_room(total)
        at = 0
        for run in runs:
            at = run.read(number, self._tagged, at)
        if len(runs) > 1:
            return self._kind.as_set(self._tagged, self._scratch, total)
        return self._tagged[:total]

    def _new_room(self, room: int) -> None:
        new = self._kind.new
        self._tagged, self._scratch, self._keys = new(room), new(room), new(room)
        self._tags = np.empty(room, np.uint8)

    def judge(self, keys: Words, template: Words) -> dict[int, int]:
        """Return for each goal value of a terminal state among these the lowest key; no goal counts as 0."""
        ends: dict[int, int] = {}
        for first in range(0, len(keys), _RECORDS):
            some = keys[first : first + _RECORDS]
            records = self._records[: len(some)]
            self._kind.to_records(some, template, records, self._own_tags)
            terminal, goals = self._machine.ends(records)
            places = np.flatnonzero(terminal)
            values = np.maximum(goals[places, 0], 0)
            for value in np.flatnonzero(np.bincount(values, minlength=1)).tolist():
                ends.setdefault(value, self._kind.key_at(some, int(places[np.argmax(values == value)])))
        return ends


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
