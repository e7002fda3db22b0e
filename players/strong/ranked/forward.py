"""All states by rank: successors are filed by rank, sorted, and merged when their turn has come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.json_schema import record, rows, whole
from players.puzzles.frontier.keys.kinds import NarrowKeys
from players.puzzles.frontier.keys.sorting import radix_sort
from players.puzzles.frontier.runs import RUN_SCHEMA, CodedKeys, Run, RunBlock, RunWriter, coded
from players.puzzles.frontier.storage.store import BlobStore
from players.strong.ranked.rank_kernels import drop_equal, file_successors, part_by_rank
from players.strong.ranked.space import BrokenSpaceError, RankedSpace
from players.strong.storage import BLOCK
from propnet.expander import Expander
from propnet.jit.arrays import Words

KEYS = NarrowKeys(63)
"""Keys of a word in arrays."""

FRESH_BLOCK = 1 << 13
"""Keys of a block of successors."""

_LEVEL = 1
_ROWS = 1 << 14
_SHARE = 1 << 19
"""Successors that are merged at a time, about."""

Pieces = dict[int, list[CodedKeys]]
"""Sorted successors, coded, by rank."""


class Filer:
    """What one worker needs to expand layers: a machine of its own and a buffer of ``room`` successors."""

    def __init__(self, space: RankedSpace, room: int) -> None:
        self._space = space
        self._expander = Expander(space.new_machine(), _ROWS)
        self._keys, self._other = np.empty(room, np.uint64), np.empty(room, np.uint64)
        self._filed = np.empty(room, np.int32)
        self._filled = 0
        self.highest = 0
        """The highest rank that a successor had."""

    def expand(self, task: tuple[Run, RunBlock, int]) -> list[Pieces]:
        """Take the successors of a block of a layer, whose rank is the third of the task; returns what filled
        the buffer. Raises BrokenSpaceError."""
        run, block, parent = task
        records = run.read(block).reshape(-1, 1)
        full: list[Pieces] = []
        rank, broken = self._space.rank, self._space.broken
        for chunk in self._expander.stream(records):
            if self._filled + len(chunk) > len(self._keys):
                full.append(self.flush())
            ranks = rank.many(chunk.records[:, 0])
            bad = file_successors(chunk.records, ranks, parent, broken, self._keys, self._filed, self._filled)
            if bad >= 0:
                raise BrokenSpaceError(records[chunk.parents[bad:]].copy())
            self._filled += len(chunk)
        return full

    def flush(self) -> Pieces:
        """What is in the buffer."""
        n, pieces = self._filled, Pieces()
        self._filled = 0
        if not n:
            return pieces
        low, high = int(self._filed[:n].min()), int(self._filed[:n].max())
        self.highest = max(self.highest, high)
        counts = np.zeros(high - low + 2, np.int64)
        keys, other = self._keys, self._other
        if low == high:
            counts[1] = n
        else:
            part_by_rank(keys, self._filed, n, low, counts, other)
            keys, other = other, keys
        for place, (first, last) in enumerate(pairwise(counts.tolist())):
            if first < last:
                some = _as_set(keys[first:last], other[first:last])
                pieces[low + place] = list(coded(KEYS, some, None, 0, FRESH_BLOCK))
        return pieces


class Merger:
    """What one worker needs to merge successors."""

    def merge(self, task: tuple[Sequence[Run], int, int]) -> list[CodedKeys]:
        """The keys of some runs from one key to below another, without repetition, as blocks of a layer."""
        runs, low, high = task
        parts = [
            run.cut(block, run.read(block), low, high) for run in runs for block in run.between(low, high)
        ]
        if not parts:
            return []
        keys = np.concatenate(parts)
        if len(runs) > 1:
            keys = _as_set(keys, np.empty_like(keys))
        return list(coded(KEYS, keys, None, _LEVEL, BLOCK))


def _as_set(keys: Words, scratch: Words) -> Words:
    """Keys (n,) sorted, without repetition; either array may hold them."""
    found = scratch if radix_sort(keys, scratch, len(keys), 0, 64) else keys
    return found[: drop_equal(found, len(found))]


def fences(runs: Sequence[Run]) -> list[int]:
    """Keys that cut the runs into parts of about so many keys as are merged at a time; the first and the last
    are below and above all keys."""
    edges = sorted((block.first, block.count) for run in runs for block in run.blocks)
    cuts, filled = [0], 0
    for first, count in edges:
        if filled >= _SHARE and first > cuts[-1]:
            cuts.append(first)
            filled = 0
        filled += count
    return [*cuts, 1 << 64]


def run_of(store: BlobStore, name: str, blocks: Iterable[CodedKeys]) -> Run:
    """Blocks as a run. Raises OutOfRoomError."""
    writer = RunWriter(KEYS, store, name, tags=False)
    try:
        for block in blocks:
            writer.add(block)
        return writer.close()
    finally:
        writer.abandon()


PENDING_SCHEMA = record(
    number=whole(), runs={"type": "object", "additionalProperties": rows(RUN_SCHEMA, least=1)}
)
"""Of what :meth:`Pending.as_json` says."""


class Pending:
    """Runs of successors by rank, until the layer of that rank is made."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._number = 0
        self.runs: defaultdict[int, list[Run]] = defaultdict(list)

    def add(self, pieces: Pieces) -> None:
        """Take what a buffer held."""
        for rank, blocks in pieces.items():
            name = f"fresh-{rank}-{self._number}"
            self._number += 1
            self.runs[rank].append(run_of(self._store, name, blocks))

    def as_json(self) -> dict[str, Any]:
        """For a checkpoint."""
        runs = {str(rank): [run.as_json() for run in some] for rank, some in self.runs.items()}
        return {"number": self._number, "runs": runs}

    def restore(self, body: dict[str, Any]) -> None:
        """What a checkpoint that follows :data:`PENDING_SCHEMA` says. Raises GdlError."""
        self._number = body["number"]
        for rank, runs in body["runs"].items():
            if not (rank.isascii() and rank.isdigit() and len(rank) < 9):
                raise GdlError("a rank is no number")
            self.runs[int(rank)] = [Run.from_json(run, KEYS, self._store.blobs) for run in runs]

    def lowest(self) -> int | None:
        """The lowest rank of these."""
        return min(self.runs, default=None)

    def drop(self, rank: int) -> None:
        """The layer of this rank is made."""
        for run in self.runs.pop(rank):
            run.drop()
