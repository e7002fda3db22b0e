"""Expansion of a layer: successors in a buffer, sorted and made unique when it is full, coded as runs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from players.puzzles.frontier.fresh_run import FreshRun
from players.puzzles.frontier.key_space import CodingBrokenError, KeySpace
from players.puzzles.frontier.keys.radix import radix_sort
from players.puzzles.frontier.narrow_kernels import TAG_BITS, gather, to_records, unique
from players.puzzles.frontier.runs import BLOCK
from players.puzzles.frontier.storage.store import BlobStore
from propnet.expander import Expander
from propnet.jit.arrays import Words

_ROWS = 1 << 14
_SOURCES = 1 << 12


class Expansion:
    """What one worker needs to expand states: a machine of its own, and a buffer of ``room`` tagged keys.

    Attributes:
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
        self._tagged = np.empty(room, np.uint64)
        self._scratch = np.empty(room, np.uint64)
        self.block = np.empty(BLOCK, np.uint64)
        self._filled = 0
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.begin(np.zeros(0, np.uint64))

    def begin(self, fences: Words) -> None:
        """Begin a layer whose new runs are to be cut at these keys (n,), ascending."""
        self._fences = fences << np.uint64(TAG_BITS)
        for run in self.runs:
            run.drop()
        self.runs.clear()
        self._filled = 0
        self.clock = np.zeros(self._space.words, np.uint64)
        self.done = self.generated = 0

    def expand(self, keys: Words, template: Words) -> Iterator[None]:
        """Expand the states with these keys (n,); ``template`` (words,) holds the clock of their layer."""
        space = self._space
        for first in range(0, len(keys), _SOURCES):
            some = keys[first : first + _SOURCES]
            records = self._records[: len(some)]
            clock = time.thread_time()
            to_records(some, template, records, self._tags)
            for chunk in self._expander.stream(records):
                if self._filled + len(chunk) > len(self._tagged):
                    self.seconds["expand"] += time.thread_time() - clock
                    self.flush()
                    clock = time.thread_time()
                every = gather(
                    chunk.records, chunk.parents, self._tags, space.key_mask, self._tagged, self._filled
                )
                if every >> space.broken_shift & 1:
                    raise CodingBrokenError(records[chunk.parents].copy())
                self.clock = chunk.records[0] & space.clock_mask
                self._filled += len(chunk)
                self.generated += len(chunk)
                yield
            self.seconds["expand"] += time.thread_time() - clock
            self.done += len(some)

    def flush(self) -> None:
        """Make a run of what is in the buffer."""
        n = self._filled
        if n == 0:
            return
        clock = time.thread_time()
        tagged, scratch = self._tagged, self._scratch
        if radix_sort(tagged, scratch, n, TAG_BITS, TAG_BITS + self._space.key_bits):
            self._tagged, self._scratch = tagged, scratch = scratch, tagged
        n = unique(tagged, n)
        sorted_at = time.thread_time()
        self.runs.append(
            FreshRun.of(tagged[:n], self._fences, self._store, f"fresh-{self._number}-{len(self.runs)}")
        )
        coded_at = time.thread_time()
        self.seconds["sort"] += sorted_at - clock
        self.seconds["encode"] += coded_at - sorted_at
        self._filled = 0
