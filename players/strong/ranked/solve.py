"""Solves a whole game with a rank: forward to all states, backward to their values.

Forward: successors are filed by rank, sorted, and merged when it is their layer's turn. Backward, from the
highest layer to the lowest: successors are looked up in memory.

A layer with its values is in memory: its keys are packed in small groups that are searched one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError, TooLargeError
from gdl.json_schema import TEXT, check_json, or_null, record, row, rows, whole
from players.processes.worker_threads import WorkerThreads
from players.puzzles.frontier.budget import resident_bytes, return_free_memory
from players.sorted_sets.codes import DamagedKeysError, grown, shrunk
from players.sorted_sets.files import ScratchError, as_size
from players.sorted_sets.keys import Keys
from players.sorted_sets.runs import RUN_SCHEMA, CodedKeys, Run, RunBlock, RunWriter, coded
from players.sorted_sets.store import Blob, BlobStore
from players.strong.choice_kernels import SETTLED
from players.strong.layers import Distances, ValuedSet, ValueFinder
from players.strong.outcomes import MOST, Outcomes, SolvedGame
from players.strong.ranked.rank import (
    FINGERS,
    GROUP,
    MOST_BYTES,
    OUTCOME_BITS,
    StateCodec,
    file_successors,
    look_up,
    pack_groups,
    part_by_rank,
)
from players.strong.ranked.space import BrokenSpaceError, RankedSpace, UnfitError
from players.strong.storage import (
    BLOCK,
    FILE_SCHEMA,
    GOALS,
    CodedBlock,
    LayerWriter,
    SetSignature,
    TableWriter,
    coded_block,
)
from propnet.expander import Expander, Expansion
from propnet.jit.arrays import Ints, Octets, Words
from propnet.machine import PropnetMachine
from propnet.recoding.samples import sample_states

_KEYS = Keys(63, tag_bits=0)
"""Keys of a word in arrays."""

_FRESH_BLOCK = 1 << 13
"""Keys of a block of successors."""

_LEVEL = 1
_ROWS = 1 << 14
_SHARE = 1 << 19
"""Approximate number of successors that are merged at a time."""

Pieces = dict[int, list[CodedKeys]]
"""Sorted successors, coded, by rank."""


class _Filer:
    """A worker's tools to expand layers: a machine of its own and a buffer of ``room`` successors."""

    def __init__(self, space: RankedSpace, room: int) -> None:
        self._space = space
        self._expander = Expander(space.new_machine(), _ROWS)
        self._keys, self._other = _KEYS.new(room), _KEYS.new(room)
        self._filed = np.empty(room, np.int32)
        self._filled = 0
        self.highest = 0
        """The highest rank of a successor so far."""

    def expand(self, task: tuple[Run, RunBlock, int]) -> list[Pieces]:
        """Expand a block of a layer; the third item of the task is the layer's rank. Returns the buffer's
        contents each time it was full. Raises BrokenSpaceError."""
        run, block, parent = task
        records = run.read(block)
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
        """Empty the buffer, and return its contents."""
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
                some = _KEYS.as_set(keys[first:last], other[first:last], last - first)
                pieces[low + place] = list(coded(_KEYS, some, None, 0, _FRESH_BLOCK))
        return pieces


class _Merger:
    """Merges successors for one worker."""

    def merge(self, task: tuple[Sequence[Run], int, int]) -> list[CodedKeys]:
        """The keys of some runs in [low, high), without repetition, as blocks of a layer."""
        runs, low, high = task
        parts = [
            run.cut(block, run.read(block), low, high) for run in runs for block in run.between(low, high)
        ]
        if not parts:
            return []
        keys = np.concatenate(parts)
        if len(runs) > 1:
            keys = _KEYS.as_set(keys, np.empty_like(keys), len(keys))
        return list(coded(_KEYS, keys, None, _LEVEL, BLOCK))


def fences(runs: Sequence[Run]) -> list[int]:
    """Keys that cut the runs into parts of about _SHARE keys; the first and the last are below and above all
    keys."""
    edges = sorted((block.first, block.count) for run in runs for block in run.blocks)
    cuts, filled = [0], 0
    for first, count in edges:
        if filled >= _SHARE and first > cuts[-1]:
            cuts.append(first)
            filled = 0
        filled += count
    return [*cuts, 1 << 64]


def _run_of(store: BlobStore, name: str, blocks: Iterable[CodedKeys]) -> Run:
    """Blocks as a run. Raises OutOfRoomError."""
    writer = RunWriter(_KEYS, store, name, tags=False)
    try:
        for block in blocks:
            writer.add(block)
        return writer.close()
    finally:
        writer.abandon()


_PENDING_SCHEMA = record(
    number=whole(), runs={"type": "object", "additionalProperties": rows(RUN_SCHEMA, least=1)}
)
"""JSON schema of :meth:`_Pending.as_json`."""


class _Pending:
    """Runs of successors by rank, until the layer of that rank is made."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._number = 0
        self.runs: defaultdict[int, list[Run]] = defaultdict(list)

    def add(self, pieces: Pieces) -> None:
        """Add the contents of a buffer."""
        for rank, blocks in pieces.items():
            name = f"fresh-{rank}-{self._number}"
            self._number += 1
            self.runs[rank].append(_run_of(self._store, name, blocks))

    def as_json(self) -> dict[str, Any]:
        """JSON for a checkpoint."""
        runs = {str(rank): [run.as_json() for run in some] for rank, some in self.runs.items()}
        return {"number": self._number, "runs": runs}

    def restore(self, body: dict[str, Any]) -> None:
        """Resume from a checkpoint that follows :data:`_PENDING_SCHEMA`. Raises GdlError."""
        self._number = body["number"]
        for rank, runs in body["runs"].items():
            if not (rank.isascii() and rank.isdigit() and len(rank) < 9):
                raise GdlError("a rank is not a number")
            self.runs[int(rank)] = [Run.from_json(run, _KEYS, self._store.blobs) for run in runs]

    def lowest(self) -> int | None:
        """The lowest rank of the runs; None without runs."""
        return min(self.runs, default=None)

    def drop(self, rank: int) -> None:
        """Drop the runs of this rank, whose layer is made."""
        for run in self.runs.pop(rank):
            run.drop()


Codes = NDArray[np.uint16]

_MOST_OUTCOMES = 1 << OUTCOME_BITS
_MOST_DISTANCE = (1 << 16 - OUTCOME_BITS) - 1

Packed = tuple[Words, Ints, Octets, Codes]
"""Groups of consecutive keys: first keys, places of the gaps, gaps, and for each key its code."""


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
        offsets: int64 (groups,): first place of a group's gaps.
        data: uint8: the gaps.
        codes: uint16 (GROUP * groups,): outcome and distance of each key.
    """

    firsts: Words
    offsets: Ints
    data: Octets
    codes: Codes

    @classmethod
    def of(cls, parts: list[Packed]) -> PackedLayer:
        """The layer of these parts, ascending; the list is emptied."""
        base = 0
        for _, offsets, data, _ in parts:
            offsets += base
            base += len(data)
        columns = [list(column) for column in zip(*parts, strict=True)]
        parts.clear()
        return cls(*(np.concatenate(columns.pop(0)) for _ in range(4)))

    @property
    def held(self) -> int:
        """Bytes of its memory."""
        return self.firsts.nbytes + self.offsets.nbytes + self.data.nbytes + self.codes.nbytes

    def find(
        self, chunk: Expansion, ranks: Ints, rank: int, fingers: Ints, values: Octets, distances: Codes
    ) -> int:
        """See :func:`players.strong.ranked.rank.look_up`."""
        return int(
            look_up(
                self.firsts, self.offsets, self.data, self.codes, chunk.records, ranks, rank, chunk.moves,
                fingers, values, distances,
            )
        )  # fmt: skip

    @staticmethod
    def new_fingers() -> Ints:
        """Initial places of searches, for one thread."""
        return np.zeros(FINGERS, np.int64)


@dataclass(frozen=True, slots=True)
class _SolvedBlock:
    """The results of a block of a layer.

    Attributes:
        part: for the layer in memory.
        table: for the table, if there is one.
        codes: for a process that resumes, if files are kept; else empty.
        first: outcome and distance of its first state.
    """

    part: Packed
    table: CodedBlock | None
    codes: bytes
    first: tuple[int, int]


_NOTHING = ValuedSet(np.empty((0, 1), np.uint64), np.empty(0, np.uint8), np.empty(0, np.uint16))


class _RankedFinder(ValueFinder):
    """Finds values of words from those of the layers above: expands, looks up, chooses.

    ``window``: the layers above, by rank; all workers share it.
    """

    def __init__(self, space: RankedSpace, outcomes: Outcomes, window: dict[int, PackedLayer]) -> None:
        super().__init__(space.new_machine(), outcomes)
        self._space, self._window = space, window
        self._by_rank: dict[int, Ints] = {}

    def solve(self, task: tuple[Run, RunBlock, bool, bool]) -> _SolvedBlock:
        """The values of a block of a run. The last two items of the task are whether to code it for the
        table, and for a process that resumes."""
        run, block, table, lasting = task
        keys = run.read(block)
        values, distances, fates = self.judge(keys, _NOTHING)
        if not (fates == SETTLED).all():
            raise DamagedKeysError
        if int(distances.max()) > _MOST_DISTANCE or int(values.max()) >= _MOST_OUTCOMES:
            raise UnfitError
        codes = codes_of(values, distances)
        return _SolvedBlock(
            packed(keys, codes),
            coded_block(keys, values, distances) if table else None,
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
        """Forget the layers above this rank, which are no longer needed."""
        for rank in [rank for rank in self._by_rank if rank > above]:
            del self._by_rank[rank]

    def _spelled(self, record: Words) -> str:
        state = self._space.original.states(self._space.recoded.decode(record))[0]
        return " ".join(sorted(map(str, state.propositions)))


def _layer_again(run: Run, codes: Blob) -> PackedLayer:
    """A layer that an earlier process found: its words and the codes of their values. Raises ScratchError and
    DamagedKeysError."""
    parts = []
    for block in run.blocks:
        plain = grown(codes.read(block.number), True, 2 * block.count)
        if len(plain) != 2 * block.count:
            raise DamagedKeysError
        parts.append(packed(run.read(block), np.frombuffer(plain, np.uint16)))
    return PackedLayer.of(parts)


@dataclass(frozen=True, slots=True)
class StrongOptions:
    """Limits and options for solving a whole game.

    Attributes:
        memory: bytes that the process may have resident.
        workers: threads.
        scratch: a folder for data that do not fit; None for none.
        disk: most bytes of files in it; None for all free space.
        resume: whether to resume from ``scratch``.
        symmetry: whether one state of each orbit may represent all.
    """

    memory: int
    workers: int = 1
    scratch: Path | None = None
    disk: int | None = None
    resume: bool = False
    symmetry: bool = True


Watch = Callable[[str, int, int], None]

_ANY = SetSignature(0, 0, 0, 64)
"""Signature that excludes no word: the ranks determine a word's layer."""

_WORKER = 16 << 20
_ROOM_SHARE, _ROOM_BYTES = 0.2, 20
_TRUST = 0.8
_LAYER_BYTES = 8
"""Bytes of memory for each state of a layer, while its values are found."""

_RANK = whole(0, 1 << 30)
_STATE = record(
    codec={"type": "object"},
    layers=rows(row(_RANK, RUN_SCHEMA, _RANK)),
    pending=_PENDING_SCHEMA,
    sizes=rows(whole()),
    done=whole(),
    first=row(whole(0, MOST - 1), whole(0, (1 << 16) - 1)),
    outcomes=GOALS,
    solved=rows(row(_RANK, RUN_SCHEMA, TEXT)),
    table=or_null(rows(record(**FILE_SCHEMA["properties"], rank=_RANK))),
)


@dataclass(frozen=True, slots=True)
class _RankedLayer:
    """States of a rank: their words, and the highest rank that their successors have."""

    rank: int
    run: Run
    reach: int

    @classmethod
    def from_json(cls, body: list[Any], store: BlobStore) -> _RankedLayer:
        """A layer of a checkpoint. Raises GdlError."""
        rank, run, reach = body
        return cls(rank, Run.from_json(run, _KEYS, store.blobs), reach)

    def as_json(self) -> list[Any]:
        """For a checkpoint."""
        return [self.rank, self.run.as_json(), self.reach]


class RankedSolver:
    """Finds the value of every state of a game with a rank.

    With files, results are saved layer by layer, and another process can resume from them.
    """

    def __init__(
        self, machine: PropnetMachine, options: StrongOptions, writer: TableWriter | None, watch: Watch
    ) -> None:
        """Raises UnfitError for other games, ScratchError, and GdlError if the table is not that of the
        checkpoint."""
        self._options, self._writer, self._watch = options, writer, watch
        self._store = BlobStore(1 << 20, options.scratch, options.disk, str(machine.rules), options.resume)
        try:
            self._restore(machine)
        except BaseException as error:
            # For a game of another kind there is nothing to resume.
            if isinstance(error, UnfitError):
                self._store.erase()
            else:
                self._store.close()
            raise

    def _restore(self, machine: PropnetMachine) -> None:
        store, saved = self._store, self._store.state
        self._pending = _Pending(store)
        self._layers: list[_RankedLayer] = []
        self._sizes: list[int] = []
        self._solved: dict[int, tuple[Run, Blob]] = {}
        """Layers that are still looked up, with the codes of their values, if files are kept."""
        self._first, self._done = (0, 0), 0
        self._outcomes = Outcomes(len(machine.roles))
        if not saved:
            self._space = RankedSpace.find(machine, self._options.symmetry)
            terminal, goals = machine.ends(sample_states(machine))
            # These are mostly all outcomes. Later ones are numbered in the order in which threads find them.
            self._outcomes.number(goals[terminal])
            return
        try:
            self._take(machine, saved)
        except (GdlError, ValueError) as error:
            what = error.message if isinstance(error, GdlError) else str(error)
            raise ScratchError(
                f"the checkpoint in {self._options.scratch} cannot be resumed: {what}",
                remedy="remove the directory and start again",
            ) from None
        if self._done and (self._writer is None) != (saved["table"] is None):
            raise GdlError(
                "the checkpoint belongs to another table", remedy="name the same folder of the table"
            )
        if self._writer is not None and saved["table"]:
            self._writer.restore(saved["table"])

    def _take(self, machine: PropnetMachine, saved: dict[str, Any]) -> None:
        """Take the results from a checkpoint. Raises GdlError and ValueError."""
        check_json(saved, _STATE, "state")
        codec = StateCodec.from_json(saved["codec"])
        if codec.coding.bases != len(machine.network.bases):
            raise GdlError("the coding is of another game")
        if any(len(goals) != len(machine.roles) for goals in saved["outcomes"]):
            raise GdlError("an outcome does not have one goal for each role")
        self._outcomes = Outcomes(len(machine.roles), [tuple(goals) for goals in saved["outcomes"]])
        self._space = RankedSpace.again(machine, codec)
        self._layers = [_RankedLayer.from_json(one, self._store) for one in saved["layers"]]
        self._pending.restore(saved["pending"])
        self._sizes, self._done = saved["sizes"], saved["done"]
        self._first = saved["first"][0], saved["first"][1]
        if self._first[0] >= max(1, len(self._outcomes.vectors)):
            raise GdlError("the value of the start is not an outcome")
        blobs = self._store.blobs
        for rank, run, codes in saved["solved"]:
            solved = Run.from_json(run, _KEYS, blobs)
            if codes not in blobs or len(blobs[codes].sizes) != len(solved.blocks):
                raise GdlError("the values of a layer do not fit its states")
            self._solved[rank] = solved, blobs[codes]

    def solve(self) -> SolvedGame:
        """The values of all states, in the table if there is one. Raises UnfitError, OutOfRoomError and
        TooLargeError; GdlError for games whose value is not one in pure strategies."""
        while not self._done:
            try:
                self._forward()
                break
            except BrokenSpaceError as broken:
                for blob in list(self._store.blobs.values()):
                    blob.drop()
                self._layers, self._pending = [], _Pending(self._store)
                self._space = self._space.refitted(broken.records[:1000])
        if not self._sizes:
            self._sizes = [layer.run.count for layer in self._layers]
        self._backward()
        start, distance = self._first
        return SolvedGame(
            self._space.original, self._outcomes, self._sizes, False, self._outcomes.vectors[start], distance,
            self._space.symmetries, self._space.codec.as_json(),
        )  # fmt: skip

    def close(self, over: bool) -> None:
        """Close the files; remove those that are not the table's if the work is ``over``."""
        if over:
            self._store.erase()
        else:
            self._store.close()

    def _commit(self) -> None:
        """Save all results, so that they outlive this process."""
        if not self._store.on_disk:
            return
        solved = list(self._solved.items())
        state = {
            "codec": self._space.codec.as_json(),
            "layers": [layer.as_json() for layer in self._layers],
            "pending": self._pending.as_json(),
            "sizes": self._sizes,
            "done": self._done,
            "first": self._first,
            "outcomes": self._outcomes.vectors,
            "solved": [[rank, run.as_json(), codes.name] for rank, (run, codes) in solved],
            "table": None if self._writer is None else self._writer.as_json(),
        }
        runs = [layer.run for layer in self._layers] + [run for _, (run, _) in solved]
        runs += [run for some in self._pending.runs.values() for run in some]
        codes = [blob for _, (_, blob) in solved]
        self._store.commit(state, [blob for run in runs for blob in run.blobs] + codes)

    def _balance(self) -> None:
        """Give the store the rest of the memory."""
        store = self._store
        left = int(0.97 * self._options.memory) - resident_bytes()
        store.room.memory = max(1 << 20, store.room.used_memory + (int(_TRUST * left) if left > 0 else left))
        if store.room.used_memory > store.room.memory and store.on_disk:
            store.spill()
            return_free_memory()

    def _forward(self) -> None:
        """Find all states."""
        options, space, pending = self._options, self._space, self._pending
        spare = max(0, options.memory - resident_bytes() - options.workers * _WORKER)
        room = int(spare * _ROOM_SHARE / _ROOM_BYTES / options.workers)
        room = max(1 << 16, min(1 << 22, room))
        filers = [_Filer(space, room) for _ in range(options.workers)]
        expanding = WorkerThreads(filers, "strong")
        merging = WorkerThreads([_Merger() for _ in range(options.workers)], "strong")
        if not self._layers:
            pending.add({0: list(coded(_KEYS, space.start()[:, None], None, 0))})
        states = sum(layer.run.count for layer in self._layers)
        try:
            while (rank := pending.lowest()) is not None:
                self._balance()
                run = self._merged(merging, pending, rank)
                states += run.count
                pending.drop(rank)
                for pieces in expanding.results(_Filer.expand, ((run, block, rank) for block in run.blocks)):
                    for some in pieces:
                        pending.add(some)
                    self._watch("forward", rank, states)
                reach = rank
                for filer in filers:
                    pending.add(filer.flush())
                    reach = max(reach, filer.highest)
                    filer.highest = 0
                self._layers.append(_RankedLayer(rank, run, reach))
                self._commit()
        finally:
            expanding.close()
            merging.close()

    def _merged(self, merging: WorkerThreads[_Merger], pending: _Pending, rank: int) -> Run:
        """Make the layer of a rank."""
        runs = pending.runs[rank]
        tasks = ((runs, low, high) for low, high in pairwise(fences(runs)))
        parts = merging.results(_Merger.merge, tasks)
        blocks = (block for part in parts for block in part)
        return _run_of(self._store, f"layer-{rank}", blocks)

    def _backward(self) -> None:
        """Find the values of all states."""
        window = {rank: _layer_again(run, codes) for rank, (run, codes) in self._solved.items()}
        finders = [_RankedFinder(self._space, self._outcomes, window) for _ in range(self._options.workers)]
        threads = WorkerThreads(finders, "strong")
        layers = self._layers
        try:
            while layers:
                layer = layers[-1]
                self._balance()
                self._check_memory(layer)
                window[layer.rank] = self._solve_layer(layer, threads)
                layers.pop()
                self._done += layer.run.count
                reach = max((lower.reach for lower in layers), default=-1)
                for rank in [rank for rank in window if rank > reach]:
                    del window[rank]
                    if rank in self._solved:
                        run, codes = self._solved.pop(rank)
                        run.drop()
                        codes.drop()
                for finder in finders:
                    finder.forget(reach)
                self._commit()
        finally:
            threads.close()

    def _check_memory(self, layer: _RankedLayer) -> None:
        """Raise TooLargeError unless there is room for the values of a layer."""
        more = _LAYER_BYTES * layer.run.count
        if (needed := resident_bytes() + more) > self._options.memory:
            self._store.spill(0)
            return_free_memory()
            needed = resident_bytes() + more
        if needed > self._options.memory:
            raise TooLargeError(
                f"the memory is full: the values of the {layer.run.count:,} states of rank {layer.rank} and "
                "of those above do not fit",
                remedy=f"give it {as_size(needed)} of --memory, or more: looked-up values stay there",
            )

    def _solve_layer(self, layer: _RankedLayer, threads: WorkerThreads[_RankedFinder]) -> PackedLayer:
        """Find the values of a layer. They are also written to the table, and saved for a process that
        resumes."""
        run, lasting = layer.run, self._store.on_disk
        file = None if self._writer is None else LayerWriter(self._writer.path_of(layer.rank))
        codes = self._store.writer(f"codes-{layer.rank}", cold=True) if lasting else None
        parts: list[Packed] = []
        try:
            tasks = ((run, block, file is not None, lasting) for block in run.blocks)
            for block in threads.results(_RankedFinder.solve, tasks):
                parts.append(block.part)
                self._first = block.first
                if file is not None and block.table is not None:
                    file.add(block.table)
                if codes is not None:
                    codes.append(block.codes)
                self._watch("backward", layer.rank, self._done)
            if self._writer is not None and file is not None:
                self._writer.add_layer(layer.rank, file.close(_ANY))
            if codes is None:
                run.drop()
            else:
                self._solved[layer.rank] = run, codes.close()
        finally:
            if file is not None:
                file.abandon()
            if codes is not None:
                codes.abandon()
        return PackedLayer.of(parts)
