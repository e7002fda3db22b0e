"""Narrow keys: key and tag in one word, arrays uint64 (n,)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from players.puzzles.frontier.keys import gap_code, narrow_kernels, tagged_gaps
from players.puzzles.frontier.keys.key_kind import KeyKind
from players.puzzles.frontier.keys.narrow_kernels import TAG_BITS
from players.puzzles.frontier.keys.radix import radix_sort
from propnet.jit.arrays import Int32s, Ints, Octets, Words

NARROW = 55
"""Bits of a key that shares a word with its tag, and that has a successor in it."""

_EIGHT = np.uint64(TAG_BITS)


class NarrowKeys(KeyKind):
    """Keys of at most ``NARROW`` bits."""

    block = 1 << 16
    key_bytes = tagged_bytes = 8
    sort_bytes = 0

    def __init__(self, key_bits: int) -> None:
        self._bits = key_bits
        self._mask = np.uint64((1 << key_bits) - 1)

    def new_keys(self, n: int) -> Words:
        return np.empty(n, np.uint64)

    def new_tagged(self, n: int) -> Words:
        return np.empty(n, np.uint64)

    def array(self, keys: Sequence[int]) -> Words:
        return np.array(keys, np.uint64)

    def of_records(self, records: Words) -> Words:
        return records[:, 0] & self._mask

    def gather(self, records: Words, parents: Int32s, tags: Words, tagged: Words, at: int) -> int:
        return int(narrow_kernels.gather(records, parents, tags, self._mask, tagged, at))

    def to_records(self, keys: Words, template: Words, records: Words, tags: Words) -> None:
        narrow_kernels.to_records(keys, template, records, tags)

    def sort(self, tagged: Words, scratch: Words, n: int) -> bool:
        return bool(radix_sort(tagged, scratch, n, TAG_BITS, TAG_BITS + self._bits))

    def unique(self, tagged: Words, n: int) -> int:
        return int(narrow_kernels.unique(tagged, n))

    def places(self, tagged: Words, keys: Sequence[int]) -> Ints:
        return np.searchsorted(tagged, self.array(keys) << _EIGHT)

    def place(self, keys: Words, key: int) -> int:
        return int(np.searchsorted(keys, np.uint64(key)))

    def key_at(self, keys: Words, place: int) -> int:
        return int(keys[place])

    def equal(self, keys: Words, key: int) -> Ints:
        return np.flatnonzero(keys == np.uint64(key))

    def mark_known(self, tagged: Words, known: Words, dead: Octets) -> None:
        narrow_kernels.mark_known(tagged, known, dead)

    def split(self, tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
        return int(narrow_kernels.split(tagged, n, dead, keys, tags))

    def merge_disjoint(self, first: Words, second: Words, out: Words) -> None:
        narrow_kernels.merge_disjoint(first, second, out)

    def with_tag(self, keys: Words, tag: int, out: Words) -> int:
        return int(narrow_kernels.with_tag(keys, np.uint64(tag), out))

    def encode(self, keys: Words, level: int) -> bytes:
        return gap_code.encode(keys, level)

    def decode(self, data: bytes, packed: bool, out: Words) -> None:
        gap_code.decode(data, packed, out)

    def encode_parts(self, tagged: Words, edges: Ints) -> tuple[Octets, Ints]:
        return tagged_gaps.encode_parts(tagged, edges)

    def decode_part(self, data: Octets, count: int, tagged: Words, first: int) -> None:
        tagged_gaps.decode_part(data, count, tagged, first)
