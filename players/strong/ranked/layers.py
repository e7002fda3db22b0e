"""All states by rank: successors are filed by rank, sorted, and merged when their turn has come; and their
values, from the highest layer to the lowest, successors looked up in memory.

A layer with its values is in memory: its keys packed in small groups that are looked up one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.json_schema import record, rows, whole
from players.puzzles.frontier.keys.codes import DamagedKeysError, grown, shrunk
from players.puzzles.frontier.keys.kinds import NarrowKeys
from players.puzzles.frontier.keys.sorting import radix_sort
from players.puzzles.frontier.runs import RUN_SCHEMA, CodedKeys, Run, RunBlock, RunWriter, coded
from players.puzzles.frontier.storage.store import Blob, BlobStore
from players.strong.choice_kernels import SETTLED
from players.strong.layers import Distances, ValuedSet, ValueFinder
from players.strong.outcomes import Outcomes
from players.strong.ranked.rank_kernels import (
    FINGERS,
    GROUP,
    MOST_BYTES,
    OUTCOME_BITS,
    drop_equal,
    file_successors,
    look_up,
    pack_groups,
    part_by_rank,
)
from players.strong.ranked.space import BrokenSpaceError, RankedSpace, UnfitError
from players.strong.storage import BLOCK, CodedBlock, coded_block
from propnet.expander import Expander, Expansion
from propnet.jit.arrays import Ints, Octets, Words

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


Codes = NDArray[np.uint16]

MOST_OUTCOMES = 1 << OUTCOME_BITS
MOST_DISTANCE = (1 << 16 - OUTCOME_BITS) - 1

Packed = tuple[Words, Ints, Octets, Codes]
"""Groups of consecutive keys: first keys, where the gaps begin, these, and for each key its code."""


def codes_of(values: Octets, distances: NDArray[np.uint16]) -> Codes:
    """Codes (n,) of outcomes, below MOST_OUTCOMES, and distances, up to MOST_DISTANCE."""
    codes: Codes = distances << np.uint16(OUTCOME_BITS) | values
    return codes


def packed(keys: Words, codes: Codes) -> Packed:
    """Ascending keys (n,) with their codes, ready for a layer. Each group has GROUP codes; the last one may
    have fewer keys."""
    groups = -(-len(keys) // GROUP)
    firsts, offsets = np.empty(groups, np.uint64), np.empty(groups, np.int64)
    room = np.empty(MOST_BYTES * len(keys), np.uint8)
    size = pack_groups(keys, firsts, offsets, room)
    padded = np.zeros(groups * GROUP, np.uint16)
    padded[: len(keys)] = codes
    return firsts, offsets, room[:size].copy(), padded


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """A layer of a rank.

    Attributes:
        firsts: uint64 (groups,): first keys.
        offsets: int64 (groups,): where the gaps of a group begin.
        data: uint8: the gaps.
        codes: uint16 (GROUP * groups,): outcome and distance of each key.
    """

    firsts: Words
    offsets: Ints
    data: Octets
    codes: Codes

    @classmethod
    def of(cls, parts: list[Packed]) -> PackedLayer:
        """All parts of a layer, ascending; the list is emptied."""
        base = 0
        for _, offsets, data, _ in parts:
            offsets += base
            base += len(data)
        columns = [list(column) for column in zip(*parts, strict=True)]
        parts.clear()
        return cls(*(np.concatenate(columns.pop(0)) for _ in range(4)))

    @property
    def held(self) -> int:
        """Bytes that it takes."""
        return self.firsts.nbytes + self.offsets.nbytes + self.data.nbytes + self.codes.nbytes

    def find(
        self, chunk: Expansion, ranks: Ints, rank: int, fingers: Ints, values: Octets, distances: Codes
    ) -> int:
        """See :func:`players.strong.ranked.rank_kernels.look_up`."""
        return int(
            look_up(
                self.firsts, self.offsets, self.data, self.codes, chunk.records, ranks, rank, chunk.moves,
                fingers, values, distances,
            )
        )  # fmt: skip

    @staticmethod
    def new_fingers() -> Ints:
        """Where a search begins, for one thread."""
        return np.zeros(FINGERS, np.int64)


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
