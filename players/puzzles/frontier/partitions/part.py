"""One part of a frontier search, on a node: its states, their expansion, and what it merges for its keys.

The service of a fleet that :mod:`players.puzzles.frontier.partitions.search` asks. Each question about a
layer names it and the attempt at it: with another attempt, what was made of the layer before is forgotten.
The mix of SplitMix64 (G. Steele, D. Lea and C. Flood, 2014) over a key's words says which part owns it.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass, field

import numpy as np

from gdl.errors import GdlError
from gdl.words import counted
from players.fleet.fleet import Arrays, Message
from players.puzzles.frontier import layer
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.key_space import CodingBrokenError, KeySpace
from players.puzzles.frontier.keys.kernels import TAG_BITS
from players.puzzles.frontier.keys.kinds import NarrowKeys, WideKeys
from players.puzzles.frontier.layer import LayerExpansion, Merging
from players.puzzles.frontier.partitions.messages import (
    block_of,
    pack_blocks,
    parcels,
    unpack_blocks,
    unpack_network,
)
from players.puzzles.frontier.runs import FreshRun, Run, RunWriter, coded
from players.puzzles.frontier.storage.files import OutOfRoomError, as_size
from players.puzzles.frontier.storage.store import BlobStore
from propnet.jit.arrays import Int32s, Ints, Octets, Words

_STEPS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST, _UPPER = np.uint64(31), np.uint64(32)


def owners(keys: Words, parts: int) -> Int32s:
    """The parts, 0 .. ``parts`` - 1, int32 (n,), that own keys, narrow (n,) or wide (n, words). A key has the
    same owner however many words hold it."""
    columns = [keys] if keys.ndim == 1 else [keys[:, word] for word in range(keys.shape[1])]
    mixed = _mixed(columns[0])
    for column in columns[1:]:
        mixed = _mixed(mixed ^ column)
    return ((mixed >> _UPPER) * np.uint64(parts) >> _UPPER).astype(np.int32)


def owners_of_tagged(tagged: Words, parts: int) -> Int32s:
    """The same of tagged keys."""
    return owners(tagged >> np.uint64(TAG_BITS) if tagged.ndim == 1 else tagged[:, :-1], parts)


def _mixed(words: Words) -> Words:
    """Words, each mixed; 0 stays 0, so that leading zeros change nothing."""
    for shift, factor in _STEPS:
        words = (words ^ (words >> shift)) * factor
    return words ^ (words >> _LAST)


@dataclass(frozen=True, slots=True)
class _OwnedSuccessors:
    """Sorted tagged keys of one owner, cut at the fences.

    Attributes:
        owner: the part that they are for.
        counts: int64, shape (ranges,): keys of each range.
        offsets: int64, shape (ranges + 1,): where the bytes of each range begin, and end.
        data: the bytes.
    """

    owner: int
    counts: Ints
    offsets: Ints
    data: Octets


class _PartExpansion(LayerExpansion):
    """Expands for ``parts`` owners.

    Attributes:
        pieces: what has come of it since it was emptied last.
    """

    def __init__(self, space: KeySpace, store: BlobStore, room: int, parts: int) -> None:
        super().__init__(space, store, 0, max(room, layer._ROWS))
        self._kind, self._parts = space.kind, parts
        self.pieces: list[_OwnedSuccessors] = []

    def _keep(self, tagged: Words) -> None:
        owner = owners_of_tagged(tagged, self._parts)
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=self._parts))
        start = 0
        for number, end in enumerate(ends.tolist()):
            mine = np.ascontiguousarray(tagged[order[start:end]])
            start = end
            if len(mine):
                edges = np.concatenate(([0], self._kind.places(mine, self.fences), [len(mine)])).astype(
                    np.int64
                )
                data, offsets = self._kind.encode_parts(mine, edges)
                self.pieces.append(_OwnedSuccessors(number, np.diff(edges), np.asarray(offsets), data))


_SLICE = 1 << 12
"""States that are expanded together."""
_SECONDS = 2.0
"""How long a merge works before it answers that there is more to do."""
_LEVEL = 1


class FrontierPart:
    """The part of one search at a time; what it is asked is told at :meth:`call`."""

    def __init__(self) -> None:
        self._share: _Share | None = None
        self._turn = asyncio.Lock()

    def status(self) -> str:
        """Which part it is, and how far."""
        return "no search" if self._share is None else self._share.status()

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """Answer a message; the methods of the share say how. The answer ``full`` says that memory is.

        ``space``: begin anew, as ``part`` of ``parts``, with ``memory`` bytes for the process, a buffer for
        ``room`` successors, and the ``network`` and key space of the game.

        Raises:
            GdlError: it is no such message, or the part is at another layer.
        """
        async with self._turn:
            return await asyncio.to_thread(self._answer, message, arrays)

    def _answer(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        share, do = self._share, message.get("do")
        try:
            if do == "space":
                self._share = None
                self._share = _Share(message, arrays)
                return {}, ()
            if share is not None:
                match do:
                    case "restore":
                        return share.restore(message, arrays)
                    case "expand":
                        return share.expand(message, arrays)
                    case "take":
                        return share.take(message, arrays)
                    case "merge":
                        return share.merge(message, arrays)
                    case "pull":
                        return share.pull(message)
                    case "commit":
                        return share.commit(message)
        except OutOfRoomError:
            memory = as_size(share.memory if share is not None else int(message["memory"]))
            return {"full": memory}, ()
        raise GdlError("this is no question to a part of a search")


@dataclass
class _Made:
    """What there is of the layer that is made: successors that came, and what they were merged to."""

    runs: list[FreshRun] = field(default_factory=list)
    writers: list[RunWriter] = field(default_factory=list)
    written: list[Run] = field(default_factory=list)
    known: int = 0
    ends: dict[int, int] = field(default_factory=dict)


class _Share:
    """The states of a part."""

    def __init__(self, message: Message, arrays: Arrays) -> None:
        mask, *packed = arrays
        self._part, self._parts = int(message["part"]), int(message["parts"])
        self.memory, bits = int(message["memory"]), int(message["bits"])
        kind = WideKeys(bits) if message["wide"] else NarrowKeys(bits)
        machine = unpack_network(message["network"], packed)
        self._space = KeySpace(machine, int(message["broken"]), bits, kind, np.asarray(mask, np.uint64))
        self._kind = kind
        self._store = BlobStore(MemoryPlan.of(self.memory, 1, kind).kept)
        self._expansion = _PartExpansion(self._space, self._store, int(message["room"]), self._parts)
        self._room = int(message["room"])
        self._merging = Merging(self._space)
        self._visited: list[Run] = []
        self._last: Run | None = None
        self._layers, self._attempt = 0, -1
        self._read: tuple[int, Words] | None = None
        self._made = _Made()
        self._restored: RunWriter | None = None

    def status(self) -> str:
        """For people: which part this is, its layers and states."""
        held = (
            f"{counted(self._layers, 'layer')}, {counted(sum(run.count for run in self._visited), 'state')}"
        )
        return f"part {self._part + 1} of {self._parts}: {held}"

    def restore(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """Take blocks of a layer: the next one, from its ``first`` blocks to its ``last``. Where they are not
        all ``owned`` by this part, it takes its own states of them."""
        if int(message["layer"]) != self._layers:
            raise _other_layer()
        if message["first"]:
            if self._restored is not None:
                self._restored.abandon()
            self._restored = RunWriter(self._kind, self._store, f"layer-{self._layers:05d}", tags=False)
        writer = self._restored
        assert writer is not None
        for block in unpack_blocks(message["blocks"], arrays):
            if message["owned"]:
                writer.add(block)
                continue
            keys = self._kind.new_keys(block.count)
            self._kind.decode(block.keys, block.packed, keys)
            mine = np.ascontiguousarray(keys[owners(keys, self._parts) == self._part])
            for part in coded(self._kind, mine, None, _LEVEL):
                writer.add(part)
        if message["last"]:
            self._restored = None
            self._add(writer.close())
        return {}, ()

    def expand(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """Expand states of the last layer from a ``block`` and an ``offset`` in it on, until the buffer was
        full once. Tells where to go on (``next``), and sends the successors of each owner, cut at the
        ``fences``; where the coding is ``broken`` it sends the records that break it."""
        self._enter(message)
        clock, expansion = np.asarray(arrays[0], np.uint64), self._expansion
        run, block, offset = self._last, int(message["block"]), int(message["offset"])
        assert run is not None
        expansion.begin([int(fence, 16) for fence in message["fences"]])
        expansion.pieces = []
        try:
            while block < len(run.blocks) and expansion.generated < self._room:
                if self._read is None or self._read[0] != block:
                    self._read = block, run.read(run.blocks[block])
                keys = self._read[1]
                for _ in expansion.expand(keys[offset : offset + _SLICE], clock):
                    pass
                offset += _SLICE
                if offset >= len(keys):
                    block, offset = block + 1, 0
        except CodingBrokenError as broken:
            return {"broken": True}, [broken.records]
        expansion.flush()
        pieces, expansion.pieces = expansion.pieces, []
        answer = {
            "next": [block, offset] if block < len(run.blocks) else None,
            "done": expansion.done,
            "generated": expansion.generated,
            "pieces": [[one.owner, one.counts.tolist(), one.offsets.tolist()] for one in pieces],
            "seconds": self._seconds(),
        }
        return answer, [expansion.clock, *(one.data for one in pieces)]

    def take(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """Keep successors, of which each range has so many ``counts``, and bytes that end at ``offsets``."""
        self._enter(message)
        writer = self._store.writer(f"fresh-{len(self._made.runs)}")
        try:
            for low, high in itertools.pairwise(message["offsets"]):
                writer.append(arrays[0][low:high].tobytes())
            self._made.runs.append(
                FreshRun(self._kind, writer.close(), np.asarray(message["counts"], np.int64))
            )
        finally:
            writer.abandon()
        return {}, ()

    def merge(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """Merge ranges from number ``range`` on, for some seconds; with ``rewrite`` what was visited becomes
        one run. Tells where to go on, or what came of all."""
        self._enter(message)
        made, clock, number = self._made, np.asarray(arrays[0], np.uint64), int(message["range"])
        rewrite = bool(message["rewrite"])
        if number == 0:
            name = f"{self._layers:05d}"
            made.writers.append(RunWriter(self._kind, self._store, f"layer-{name}", tags=True))
            if rewrite:
                made.writers.append(RunWriter(self._kind, self._store, f"visited-{name}", tags=False))
        edges = [0, *(int(fence, 16) for fence in message["fences"]), 1 << self._space.key_bits]
        deadline = time.monotonic() + _SECONDS
        while number < len(edges) - 1 and time.monotonic() < deadline:
            low, high = edges[number : number + 2]
            merged = self._merging.merge(number, low, high, made.runs, self._visited, clock, rewrite)
            for writer, blocks in zip(made.writers, (merged.layer, merged.visited), strict=False):
                for block in blocks:
                    writer.add(block)
            for value, key in merged.ends.items():
                made.ends.setdefault(value, key)
            made.known += merged.known
            number += 1
        if number < len(edges) - 1:
            return {"next": number}, ()
        made.written = [writer.close() for writer in made.writers]
        for run in made.runs:
            run.drop()
        made.runs, made.writers = [], []
        ends = [[value, hex(key)] for value, key in made.ends.items()]
        return {"next": None, "known": made.known, "ends": ends, "seconds": self._seconds()}, ()

    def pull(self, message: Message) -> tuple[Message, Arrays]:
        """Send blocks of the new layer from number ``block`` on, with tags; tells which is ``next``."""
        self._enter(message)
        run, first = self._made.written[0], int(message["block"])
        some = next(parcels(run, run.blocks[first:]))
        rows, arrays = pack_blocks(block_of(run, block, tags=True) for block in some)
        end = first + len(some)
        return {"next": end if end < len(run.blocks) else None, "blocks": rows}, arrays

    def commit(self, message: Message) -> tuple[Message, Arrays]:
        """Take what was made in an ``attempt`` as the last of so many ``layer``s; nothing happens where it is
        that already."""
        made = self._made
        if int(message["layer"]) != self._layers:
            if (int(message["layer"]), message["attempt"]) != (self._layers + 1, self._attempt):
                raise _other_layer()
            layer, *rewritten = made.written
            if layer.tags is not None:
                layer.tags.drop()
            if rewritten:
                for run in self._visited:
                    run.drop()
                self._visited = rewritten
            self._made = _Made()
            self._add(Run(self._kind, layer.blocks, layer.keys, None), visited=not rewritten)
        return {}, ()

    def _add(self, layer: Run, visited: bool = True) -> None:
        """Have one more layer; ``visited`` where no other run has its states."""
        if self._last is not None and self._last not in self._visited:
            self._last.drop()
        self._last, self._read = layer, None
        if visited and layer.count:
            self._visited.append(layer)
        self._layers += 1

    def _enter(self, message: Message) -> None:
        """See to the layer and the attempt that a message names."""
        if int(message["layer"]) != self._layers:
            raise _other_layer()
        if message["attempt"] != self._attempt:
            for fresh in self._made.runs:
                fresh.drop()
            for run in self._made.written:
                run.drop()
            for writer in self._made.writers:
                writer.abandon()
            self._made, self._attempt = _Made(), message["attempt"]

    def _seconds(self) -> dict[str, float]:
        total = dict(self._expansion.seconds)
        for stage, spent in self._merging.seconds.items():
            total[stage] = total.get(stage, 0.0) + spent
        return total


def _other_layer() -> GdlError:
    return GdlError("a part of the search is at another layer", remedy="begin the search again")
