"""Sets of state records: sorted, compressed in blocks, merged; and signatures that quickly show two sets
disjoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import zstandard

from players.strong.row_kernels import count_upto, drop_repeated, signature, sort_rows
from propnet.jit.arrays import Words


def as_set(rows: Words) -> Words:
    """The records (n, words), which are overwritten, as a set (:mod:`players.strong.row_kernels`)."""
    scratch = np.empty_like(rows)
    counts = np.zeros((8 * rows.shape[1], 256), np.int64)
    ordered = scratch if sort_rows(rows, scratch, counts) else rows
    return ordered[: drop_repeated(ordered)]


@dataclass(frozen=True, slots=True)
class SetSignature:
    """Common features of the records of a set.

    Attributes:
        always: the bits that are true in each record, as one number.
        ever: the bits that are true in at least one record.
        fewest, most: bounds of the number of true bits in a record.
    """

    always: int
    ever: int
    fewest: int
    most: int

    @classmethod
    def of(cls, rows: Words) -> SetSignature:
        """The signature of a set (n, words)."""
        always, ever = np.empty((2, rows.shape[1]), np.uint64)
        ones = np.empty(2, np.int64)
        signature(rows, always, ever, ones)
        return cls(_number(always), _number(ever), int(ones[0]), int(ones[1]))

    def joined(self, other: SetSignature) -> SetSignature:
        """The signature of the union of two sets."""
        return SetSignature(
            self.always & other.always,
            self.ever | other.ever,
            min(self.fewest, other.fewest),
            max(self.most, other.most),
        )

    def may_share(self, other: SetSignature) -> bool:
        """Whether the two sets may have a record in common; False is a proof."""
        apart = self.most < other.fewest or other.most < self.fewest
        return not apart and not (self.always & ~other.ever or other.always & ~self.ever)

    def may_hold(self, record: Words) -> bool:
        """Whether the set may have this record (words,); False is a proof."""
        number = _number(record)
        fits = self.fewest <= number.bit_count() <= self.most
        return fits and not (self.always & ~number or number & ~self.ever)


def _number(words: Words) -> int:
    return int.from_bytes(np.ascontiguousarray(words, "<u8").tobytes(), "little")


PLAIN = 1 << 18
"""Rows of a set that are not compressed."""
_PACKED_ROWS = 1 << 17
_LEVEL = 1


class PackedSet:
    """A set of records (:mod:`players.strong.row_kernels`), ``words`` wide, made by appending in order.

    A block is the differences of its rows, byte by byte: all first bytes, all second bytes and so on. The
    planes that are not 0 throughout are compressed by zstd.
    """

    def __init__(self, words: int) -> None:
        self.words = words
        self._blocks: list[tuple[int, bytes, int]] = []  # rows, compressed planes, bit mask of the planes
        self._plain = np.empty((0, words), np.uint64)
        self._size = 0
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)

    @classmethod
    def of(cls, rows: Words) -> PackedSet:
        """The same set (n, words)."""
        packed = cls(rows.shape[1])
        packed.append(rows)
        return packed

    def __len__(self) -> int:
        return self._size

    @property
    def held(self) -> int:
        """Bytes of its memory."""
        return self._plain.nbytes + sum(len(packed) + 120 for _, packed, _ in self._blocks)

    def append(self, rows: Words) -> None:
        """Append rows that are greater than all earlier ones; they are copied."""
        self._size += len(rows)
        whole = np.concatenate((self._plain, rows)) if len(self._plain) else rows
        done = 0
        if len(whole) > PLAIN:
            for done in range(_PACKED_ROWS, len(whole) + 1, _PACKED_ROWS):
                self._blocks.append(self._packed(whole[done - _PACKED_ROWS : done]))
        self._plain = whole[done:].copy()

    def blocks(self) -> Iterator[Words]:
        """All rows, in order, in parts."""
        for block in self._blocks:
            yield self._unpacked(block)
        for first in range(0, len(self._plain), _PACKED_ROWS):
            yield self._plain[first : first + _PACKED_ROWS]

    def drained(self) -> Iterator[Words]:
        """The same, but each part is removed when it is yielded."""
        self._blocks.reverse()
        while self._blocks:
            yield self._unpacked(self._blocks.pop())
        plain, self._plain = self._plain, self._plain[:0]
        self._size = 0
        yield from (plain[first : first + _PACKED_ROWS] for first in range(0, len(plain), _PACKED_ROWS))

    def _unpacked(self, block: tuple[int, bytes, int]) -> Words:
        n, packed, present = block
        planes = np.zeros((8 * self.words, n), np.uint8)
        which = [place for place in range(8 * self.words) if present >> place & 1]
        read = np.frombuffer(zstandard.ZstdDecompressor().decompress(packed), np.uint8).reshape(-1, n)
        planes[which] = read
        steps = np.ascontiguousarray(planes.T).view("<u8")
        return np.cumsum(steps, axis=0, dtype=np.uint64)

    def rows(self) -> Words:
        """All rows in one array (n, words)."""
        whole = np.empty((len(self), self.words), np.uint64)
        at = 0
        for part in self.blocks():
            whole[at : at + len(part)] = part
            at += len(part)
        return whole

    def _packed(self, rows: Words) -> tuple[int, bytes, int]:
        steps = rows.copy()
        steps[1:] -= rows[:-1]
        octets = np.ascontiguousarray(steps, "<u8").view(np.uint8)
        ever = np.bitwise_or.reduce(octets, axis=0)
        which = np.flatnonzero(ever)
        planes = np.ascontiguousarray(octets.T[which])
        present = sum(1 << int(place) for place in which)
        return len(rows), self._compressor.compress(planes.tobytes()), present


def merged(sets: list[PackedSet], words: int) -> PackedSet:
    """The union of sets, which are emptied and removed from the list."""
    if len(sets) == 1:
        return sets.pop()
    union = PackedSet(words)
    streams = [packed.drained() for packed in sets]
    heads: list[Words] = []
    left: list[Iterator[Words]] = []
    for stream in streams:
        head = next(stream, None)
        if head is not None:
            heads.append(head)
            left.append(stream)
    while heads:
        # Up to the least of the last loaded rows, no set has rows that are not loaded.
        bound = min((head[-1:] for head in heads), key=lambda row: tuple(row[0, ::-1].tolist()))
        bound = bound.copy()
        parts = []
        for i, head in enumerate(heads):
            count = count_upto(head, bound)
            parts.append(head[:count])
            heads[i] = head[count:]
        union.append(as_set(np.concatenate(parts)))
        for i in range(len(heads) - 1, -1, -1):
            if not len(heads[i]):
                head = next(left[i], None)
                if head is None:
                    del heads[i], left[i]
                else:
                    heads[i] = head
    sets.clear()
    return union


class Gatherer:
    """Collects records, ``words`` wide, and makes a set of them; repeated ones take little memory.

    ``buffer``: bytes of rows that are collected before they are sorted; sorting needs as many again.
    """

    def __init__(self, words: int, buffer: int) -> None:
        self._words = words
        self._buffer = np.empty((max(1, buffer // (8 * words)), words), np.uint64)
        self._filled = 0
        self._runs: list[PackedSet] = []

    def add(self, rows: Words) -> None:
        """Add records (n, words); they are copied."""
        while len(rows):
            taken = min(len(rows), len(self._buffer) - self._filled)
            self._buffer[self._filled : self._filled + taken] = rows[:taken]
            self._filled += taken
            rows = rows[taken:]
            if self._filled == len(self._buffer):
                self._flush()

    @property
    def held(self) -> int:
        """Bytes of its memory, including those for sorting."""
        return 2 * self._buffer.nbytes + sum(run.held for run in self._runs)

    def finish(self) -> PackedSet:
        """The set of all records since the last call."""
        self._flush()
        return merged(self._runs, self._words)

    def _flush(self) -> None:
        if self._filled:
            self._runs.append(PackedSet.of(as_set(self._buffer[: self._filled])))
        self._filled = 0
