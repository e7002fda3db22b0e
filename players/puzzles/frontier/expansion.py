"""Expansion of a layer: successors in a buffer, sorted and made unique when it is full, coded as runs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from players.puzzles.frontier.fresh_run import FreshRun
from players.puzzles.frontier.key_space import CodingBrokenError, KeySpace
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
