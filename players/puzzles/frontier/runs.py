"""Runs: ascending keys in blocks, each coded by itself, with or without a tag for each key."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from players.puzzles.frontier.gap_code import decode, encode
from propnet.jit.arrays import Octets, Words

BLOCK = 1 << 16
"""Keys of a block at most."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some keys of a run.

    Attributes:
        first, last: the lowest and the highest key.
        count: how many keys there are.
        packed: whether Zstandard has shrunk them.
        keys: the coded keys.
        tags: a byte for each key, or none.
    """

    first: int
    last: int
    count: int
    packed: bool
    keys: bytes
    tags: bytes = b""

    def read(self) -> Words:
        """The keys, uint64 (count,)."""
        out = np.empty(self.count, np.uint64)
        decode(self.keys, self.packed, out)
        return out

    def read_tags(self) -> Octets:
        """The tags, uint8 (count,)."""
        return np.frombuffer(self.tags, np.uint8)


def blocks_of(keys: Words, tags: Octets | None, level: int) -> Iterator[Block]:
    """Ascending keys (n,) as blocks, with tags (n,) if there are any; ``level`` of Zstandard, 0 for none."""
    parts = max(1, -(-len(keys) // BLOCK))
    edges = [len(keys) * part // parts for part in range(parts + 1)]
    for low, high in itertools.pairwise(edges):
        if low < high:
            some = keys[low:high]
            mine = b"" if tags is None else tags[low:high].tobytes()
            yield Block(int(some[0]), int(some[-1]), high - low, level > 0, encode(some, level), mine)


@dataclass
class Run:
    """Blocks in ascending order.

    Attributes:
        blocks: the blocks.
        count: how many keys they hold.
        key_bytes: the size of the coded keys.
    """

    blocks: list[Block] = field(default_factory=list)
    count: int = 0
    key_bytes: int = 0

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Run:
        """A run of these blocks, ascending."""
        run = cls()
        for block in blocks:
            run.add(block)
        return run

    def add(self, block: Block) -> None:
        """Append a block whose keys are above all others."""
        self.blocks.append(block)
        self.count += block.count
        self.key_bytes += len(block.keys)

    def between(self, low: int, high: int) -> list[Block]:
        """The blocks with keys in ``low .. high - 1``, as far as first and last keys tell."""
        start = bisect.bisect_left(self.blocks, low, key=lambda block: block.last)
        stop = bisect.bisect_left(self.blocks, high, key=lambda block: block.first)
        return self.blocks[start:stop]
