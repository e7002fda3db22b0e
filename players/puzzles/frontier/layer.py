"""From one layer to the next. Expansion: successors in a buffer, sorted and made unique when it is full, then
coded as runs. The merge: the keys of the runs in one range, without the visited ones, are the next layer.

Runs are cut at *fences*: keys that divide the key space into ranges with about as much to merge.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from players.puzzles.frontier.key_space import CodingBrokenError, KeySpace
from players.sorted_sets.runs import CodedKeys, FreshRun, Run, coded
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
