"""Coded blocks of runs as messages, and parcels of them that are not too large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from players.fleet.fleet import Arrays
from players.puzzles.frontier.runs import CodedKeys, Run, RunBlock
from propnet.jit.arrays import Octets

PARCEL_BYTES = 4 << 20
"""Bytes of a message, about."""


def pack_blocks(blocks: Iterable[CodedKeys]) -> tuple[list[Any], Arrays]:
    """Rows of JSON, and two arrays: the coded keys, and the tags."""
    held = list(blocks)
    rows = [[hex(one.first), hex(one.last), one.count, one.packed, len(one.keys)] for one in held]
    return rows, [octets(b"".join(one.keys for one in held)), octets(b"".join(one.tags for one in held))]


def unpack_blocks(rows: Sequence[Any], arrays: Arrays) -> Iterator[CodedKeys]:
    """The blocks; without tags where none were sent."""
    keys, tags = (array.tobytes() for array in arrays)
    at = tag = 0
    for first, last, count, packed, size in rows:
        mine = tags[tag : tag + count]
        yield CodedKeys(int(first, 16), int(last, 16), count, packed, keys[at : at + size], mine)
        at, tag = at + size, tag + count


def block_of(run: Run, block: RunBlock, tags: bool) -> CodedKeys:
    """A block of a run, as it is coded there."""
    mine = run.read_tags(block).tobytes() if tags else b""
    return CodedKeys(block.first, block.last, block.count, block.packed, run.keys.read(block.number), mine)


def parcels(run: Run, blocks: Sequence[RunBlock]) -> Iterator[Sequence[RunBlock]]:
    """Blocks of a run, as many at a time as a message takes; one parcel without any where there are none."""
    start = size = 0
    for number, block in enumerate(blocks):
        size += run.keys.sizes[block.number] + block.count
        if size >= PARCEL_BYTES:
            yield blocks[start : number + 1]
            start, size = number + 1, 0
    if start < len(blocks) or not blocks:
        yield blocks[start:]


def octets(data: bytes) -> Octets:
    """Bytes as an array."""
    return np.frombuffer(data, np.uint8)
