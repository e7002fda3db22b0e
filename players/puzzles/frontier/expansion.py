"""Expansion of a layer: successors in a buffer, sorted and made unique when it is full, coded as runs.

Runs are cut at *fences*: keys that divide the key space into ranges with about as much to merge.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from players.puzzles.frontier.key_space import CodingBrokenError, KeySpace
from players.puzzles.frontier.runs import FreshRun, Run
from players.puzzles.frontier.storage.store import BlobStore
from propnet.expander import Expander
from propnet.jit.arrays import Words

_ROWS = 1 << 14
"""Successors of a chunk at most; a buffer has room for as many at least."""
_SOURCES = 1 << 12
_EACH = 3
"""One in so many successors is taken as a sample."""


class LayerExpansion:
    """What one worker needs to expand states: a machine of its own, and a buffer of ``room`` tagged keys.

    Attributes:
        fences: where runs are cut.
        done: how many states of this layer it has expanded.
        block: room for the keys of a block.
        generated: how many successors they had.
    """

    def __init__(self, space: KeySpace, store: BlobStore, number: int, room: int) -> None:
        self._space, self._store, self._number = space, store, number
        self.runs: list[FreshRun] = []
        self._expander = Expander(space.new_machine(), _ROWS)
        self._records = np.zeros((_SOURCES, space.words), np.uint64)
        self._tags = np.zeros(_SOURCES, np.uint64)
        self._tagged, self._scratch = space.kind.new_tagged(room), space.kind.new_tagged(room)
        self.block = space.kind.new_keys(space.kind.block)
        self._filled = 0
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.begin([])

    def begin(self, fences: Sequence[int]) -> None:
        """Begin a layer whose new runs are to be cut at these keys, ascending."""
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
                if every >> space.broken_shift & 1:
                    raise CodingBrokenError(records[chunk.parents].copy())
                self.clock = chunk.records[0] & space.clock_mask
                self._filled += len(chunk)
                self.generated += len(chunk)
                yield
            self.seconds["expand"] += time.thread_time() - clock
            self.done += len(some)

    def sample(self, keys: Words, template: Words) -> list[int]:
        """Keys of some successors of the states with these keys, as many for each."""
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
        """Make a run of what is in the buffer."""
        n = self._filled
        if n == 0:
            return
        clock = time.thread_time()
        kind, tagged, scratch = self._space.kind, self._tagged, self._scratch
        if kind.sort(tagged, scratch, n):
            self._tagged, self._scratch = tagged, scratch = scratch, tagged
        n = kind.unique(tagged, n)
        sorted_at = time.thread_time()
        self._keep(tagged[:n])
        coded_at = time.thread_time()
        self.seconds["sort"] += sorted_at - clock
        self.seconds["encode"] += coded_at - sorted_at
        self._filled = 0

    def _keep(self, tagged: Words) -> None:
        """Take sorted tagged keys (n,) without repetition."""
        name = f"fresh-{self._number}-{len(self.runs)}"
        self.runs.append(FreshRun.of(self._space.kind, tagged, self.fences, self._store, name))


_SAMPLED, _SAMPLES, _SAMPLES_OF_A_RANGE = 64, 1 << 10, 32
"""Blocks and states of a layer whose successors tell where most of them are, at least; states for a range."""


def fences_of(
    layer: Run,
    clock: Words,
    expansion: LayerExpansion,
    expected: float,
    range_keys: float,
    old: Sequence[Run],
) -> list[int]:
    """Fences for the successors of a layer.

    Args:
        layer, clock: the layer, and uint64, shape (words,): its clock.
        expansion: makes some successors.
        expected: about how many there are in all.
        range_keys: keys of a range.
        old: runs that are to be written anew with them.
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
