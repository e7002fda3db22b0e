"""Wide keys, of any number of bits: uint64 (n, words), most significant word first; tags in one word more."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from players.puzzles.frontier.keys import wide_kernels
from players.puzzles.frontier.keys.byte_mask import decode_rows, encode_rows
from players.puzzles.frontier.keys.errors import DamagedKeysError
from players.puzzles.frontier.keys.key_kind import KeyKind
from players.puzzles.frontier.keys.shrink import grown, shrunk
from players.puzzles.frontier.keys.wide_sort import sort_rows
from propnet.jit.arrays import Int32s, Ints, Octets, Words

_BYTES, _LEAST, _MOST = 1 << 20, 1 << 10, 1 << 16
"""A block has about so many bytes of keys, and between so many keys."""

_LEVEL = 1
"""Zstandard's for parts, which take most of the memory while a layer is made."""


class WideKeys(KeyKind):
    """Keys of several words.

    Attributes:
        words: words of a key.
    """

    def __init__(self, key_bits: int) -> None:
        self.words = words = max(1, -(-key_bits // 64))
        mask = (1 << key_bits) - 1
        self._mask = np.array([mask >> 64 * word & (1 << 64) - 1 for word in range(words)], np.uint64)
        self.key_bytes, self.tagged_bytes = 8 * words, 8 * words + 8
        self.sort_bytes = 16
        self.block = min(_MOST, max(_LEAST, _BYTES // self.key_bytes))

    def new_keys(self, n: int) -> Words:
        return np.empty((n, self.words), np.uint64)

    def new_tagged(self, n: int) -> Words:
        return np.empty((n, self.words + 1), np.uint64)

    def array(self, keys: Sequence[int]) -> Words:
        data = b"".join(key.to_bytes(self.key_bytes) for key in keys)
        return np.frombuffer(data, ">u8").astype(np.uint64).reshape(-1, self.words)

    def of_records(self, records: Words) -> Words:
        return np.ascontiguousarray((records[:, : self.words] & self._mask)[:, ::-1])

    def gather(self, records: Words, parents: Int32s, tags: Words, tagged: Words, at: int) -> int:
        return int(wide_kernels.gather_wide(records, parents, tags, self._mask, tagged, at))

    def to_records(self, keys: Words, template: Words, records: Words, tags: Words) -> None:
        wide_kernels.to_wide_records(keys, template, records, tags)

    def sort(self, tagged: Words, scratch: Words, n: int) -> bool:
        return sort_rows(tagged, scratch, n)

    def unique(self, tagged: Words, n: int) -> int:
        return int(wide_kernels.unique_wide(tagged, n))

    def places(self, tagged: Words, keys: Sequence[int]) -> Ints:
        return np.array([self.place(tagged, key) for key in keys], np.int64)

    def place(self, keys: Words, key: int) -> int:
        if key >> 64 * self.words:
            return len(keys)
        return int(wide_kernels.place_wide(keys, self._row(key)))

    def key_at(self, keys: Words, place: int) -> int:
        return int.from_bytes(keys[place].astype(">u8").tobytes())

    def equal(self, keys: Words, key: int) -> Ints:
        return np.flatnonzero((keys == self._row(key)).all(axis=1))

    def mark_known(self, tagged: Words, known: Words, dead: Octets) -> None:
        wide_kernels.mark_known_wide(tagged, known, dead)

    def split(self, tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
        return int(wide_kernels.split_wide(tagged, n, dead, keys, tags))

    def merge_disjoint(self, first: Words, second: Words, out: Words) -> None:
        wide_kernels.merge_disjoint_wide(first, second, out)

    def with_tag(self, keys: Words, tag: int, out: Words) -> int:
        return int(wide_kernels.with_tag_wide(keys, np.uint64(tag), out))

    def encode(self, keys: Words, level: int) -> bytes:
        return shrunk(encode_rows(keys, self.words).data, level)

    def decode(self, data: bytes, packed: bool, out: Words) -> None:
        most = 9 * self.words * len(out)
        decode_rows(np.frombuffer(grown(data, packed, most), np.uint8), self.words, out)

    def encode_parts(self, tagged: Words, edges: Ints) -> tuple[Octets, Ints]:
        parts: list[Octets] = []
        for low, high in itertools.pairwise(edges.tolist()):
            some = tagged[low:high]
            keys = np.frombuffer(shrunk(encode_rows(some, self.words).data, _LEVEL), np.uint8)
            parts.append(np.concatenate((keys, some[:, -1].astype(np.uint8))))
        return np.concatenate(parts), np.cumsum([0, *map(len, parts)])

    def decode_part(self, data: Octets, count: int, tagged: Words, first: int) -> None:
        if len(data) < count:
            raise DamagedKeysError
        some = tagged[first : first + count]
        keys = grown(data[: len(data) - count].tobytes(), True, 9 * self.words * count)
        decode_rows(np.frombuffer(keys, np.uint8), self.words, some)
        some[:, -1] = data[len(data) - count :]

    def _row(self, key: int) -> Words:
        row: Words = self.array([key])[0]
        return row
