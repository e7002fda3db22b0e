"""`Keys`: arrays of keys of any number of bits, and everything that a search does with them.

Arrays have n rows (:mod:`players.sorted_sets.rows`), with a tag below each key or without; a single key is an
int outside arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from players.sorted_sets import rows as kernels
from players.sorted_sets.codes import (
    DamagedKeysError,
    decode_gaps,
    decode_rows,
    encode_gaps,
    encode_rows,
    grown,
    shrunk,
)
from players.sorted_sets.rows import as_set
from propnet.jit.arrays import Int32s, Ints, Octets, Words

TAG_BITS = 8
_BYTES, _LEAST, _MOST = 1 << 20, 1 << 10, 1 << 16
"""A block has about _BYTES bytes of keys, and from _LEAST to _MOST keys."""
_NO_TAG = np.zeros(1, np.uint64)


class Keys:
    """A way to hold keys in arrays: in as few words as a key, the key after it, and the tag need.

    Attributes:
        words: the number of words of a row.
        tag_bits: the number of bits of a tag; 0 for rows without tags.
        block: the most keys in a block of a run.
        row_bytes: the bytes of a row.
        sort_bytes: the bytes that sorting takes for each row in addition to both arrays.
        part_level: the level of Zstandard for parts. Parts of wide keys take most of the memory while a layer
            is made.
    """

    def __init__(self, key_bits: int, tag_bits: int = TAG_BITS) -> None:
        self.tag_bits = tag_bits
        self.words = words = (key_bits + tag_bits) // 64 + 1
        mask = (1 << key_bits) - 1
        self._mask = np.array([mask >> 64 * word & (1 << 64) - 1 for word in range(words)], np.uint64)
        self.row_bytes = 8 * words
        self.sort_bytes, self.part_level = (0, 0) if words == 1 else (16, 1)
        self.block = min(_MOST, max(_LEAST, _BYTES // self.row_bytes))

    def new(self, n: int) -> Words:
        """Return an array for n rows."""
        return np.empty((n, self.words), np.uint64)

    def array(self, keys: Sequence[int]) -> Words:
        """Return an array of these keys."""
        data = b"".join((key << self.tag_bits).to_bytes(self.row_bytes, "little") for key in keys)
        return np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, self.words)

    def of_records(self, records: Words) -> Words:
        """Return the keys of records, uint64 (n, any width)."""
        keys = self.new(len(records))
        self.gather(records, np.zeros(len(records), np.int32), _NO_TAG, keys, 0)
        return keys

    def gather(self, records: Words, parents: Int32s, tags: Words, rows: Words, at: int) -> int:
        """See :func:`players.sorted_sets.rows.gather`."""
        return int(kernels.gather(records, parents, tags, self._mask, self.tag_bits, rows, at))

    def to_records(self, keys: Words, template: Words, records: Words, tags: Words) -> None:
        """See :func:`players.sorted_sets.rows.to_records`."""
        kernels.to_records(keys, template, self.tag_bits, records, tags)

    def as_set(self, rows: Words, scratch: Words, n: int) -> Words:
        """See :func:`players.sorted_sets.rows.as_set`."""
        return as_set(rows, scratch, n, self.tag_bits)

    def places(self, rows: Words, keys: Sequence[int]) -> Ints:
        """Return for each of these keys the number of ascending rows below it."""
        places = np.empty(len(keys), np.int64)
        moves = np.empty((len(keys), 0), np.int32)
        kernels.seek(rows, self.array(keys), moves, self.tag_bits, np.zeros(1, np.int64), places)
        return places

    def key_at(self, rows: Words, place: int) -> int:
        """Return the key at a place."""
        return int.from_bytes(rows[place].astype("<u8").tobytes(), "little") >> self.tag_bits

    def equal(self, keys: Words, key: int) -> Ints:
        """Return the places of the keys that equal this one."""
        return np.flatnonzero((keys == self.array([key])).all(axis=1))

    def mark_known(self, rows: Words, known: Words, dead: Octets) -> None:
        """See :func:`players.sorted_sets.rows.mark_known`."""
        kernels.mark_known(rows, known, self.tag_bits, dead)

    def split(self, rows: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
        """See :func:`players.sorted_sets.rows.split`."""
        return int(kernels.split(rows, n, dead, self.tag_bits, keys, tags))

    def union(self, sets: Sequence[Words]) -> Words:
        """Return the union of ascending arrays without a common key; the smallest are merged first."""
        sets = sorted(sets, key=len)
        while len(sets) > 1:
            out = self.new(len(sets[0]) + len(sets[1]))
            kernels.merge_disjoint(sets[0], sets[1], out)
            sets = sorted([out, *sets[2:]], key=len)
        return sets[0]

    def with_tag(self, keys: Words, tag: int) -> Words:
        """Return the keys whose successors have this tag."""
        out = np.empty_like(keys)
        return out[: kernels.with_tag(keys, np.uint64(tag), out)]

    def encode(self, rows: Words, level: int) -> bytes:
        """Return the keys of ascending rows as bytes; ``level`` of Zstandard, 0 for none."""
        plain = encode_gaps if self.words == 1 else encode_rows
        return shrunk(plain(rows, self.tag_bits).data, level)

    def decode(self, data: bytes, packed: bool, out: Words) -> None:
        """Decode these bytes into rows with tag 0; ``packed`` for any level but 0. Raises
        DamagedKeysError."""
        plain = np.frombuffer(grown(data, packed, 10 * self.words * len(out)), np.uint8)
        (decode_gaps if self.words == 1 else decode_rows)(plain, self.tag_bits, out)

    def encode_parts(self, rows: Words, edges: Ints) -> tuple[Octets, Ints]:
        """Return the bytes of the parts ``edges[i] .. edges[i + 1] - 1`` of ascending rows, and the places
        where each begins and ends. The coding is fast rather than small: the keys, then the unchanged
        tags."""
        pieces: list[Octets] = []
        for low, high in itertools.pairwise(edges.tolist()):
            some = rows[low:high]
            pieces.append(np.frombuffer(self.encode(some, self.part_level), np.uint8))
            pieces.append(some[: len(some) if self.tag_bits else 0, 0].astype(np.uint8))
        return np.concatenate(pieces), np.cumsum([0, *map(len, pieces)])[::2]

    def decode_part(self, data: Octets, count: int, rows: Words, first: int) -> None:
        """Write the rows of a part from place ``first`` on. Raises DamagedKeysError."""
        size = len(data) - (count if self.tag_bits else 0)
        if size < 0:
            raise DamagedKeysError
        some = rows[first : first + count]
        self.decode(data[:size].tobytes(), self.part_level > 0, some)
        if self.tag_bits:
            some[:, 0] |= data[size:]
