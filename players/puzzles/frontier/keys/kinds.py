"""The interface of keys for a search: narrow keys, with key and tag in one word, and wide keys of any number
of bits.

*Tagged keys* are keys with a tag of 8 bits below them. Arrays of n keys, tagged or not, have n rows; a single
key is an int outside arrays.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from players.puzzles.frontier.keys import kernels
from players.puzzles.frontier.keys.codes import (
    DamagedKeysError,
    decode_gaps,
    decode_rows,
    encode_gaps,
    encode_rows,
    grown,
    shrunk,
)
from players.puzzles.frontier.keys.kernels import TAG_BITS
from players.puzzles.frontier.keys.sorting import radix_sort, sort_rows
from propnet.jit.arrays import Int32s, Ints, Octets, Words


class KeyKind(ABC):
    """A way to hold keys in arrays.

    Attributes:
        block: the most keys in a block of a run.
        key_bytes, tagged_bytes: bytes of a key, and of a tagged key, in an array.
        sort_bytes: bytes that sorting takes for each tagged key in addition to both arrays.
        part_level: the level of Zstandard for parts.
    """

    block: int
    key_bytes: int
    tagged_bytes: int
    sort_bytes: int
    part_level: int

    @abstractmethod
    def new_keys(self, n: int) -> Words:
        """Return an array for n keys."""

    @abstractmethod
    def new_tagged(self, n: int) -> Words:
        """Return an array for n tagged keys."""

    @abstractmethod
    def array(self, keys: Sequence[int]) -> Words:
        """Return an array of these keys."""

    @abstractmethod
    def of_records(self, records: Words) -> Words:
        """Return the keys of records, uint64 (n, words)."""

    @abstractmethod
    def gather(self, records: Words, parents: Int32s, tags: Words, tagged: Words, at: int) -> int:
        """Append the keys of successors (n, words) to the tagged keys from place ``at`` on, with the tag (m,)
        of each one's parent. Returns the last words of all successors, ORed."""

    @abstractmethod
    def to_records(self, keys: Words, template: Words, records: Words, tags: Words) -> None:
        """Write the records (n, words) of states with these n keys and all other bits as in the template
        (words,), and the tags (n,) for their successors."""

    @abstractmethod
    def sort(self, tagged: Words, scratch: Words, n: int) -> bool:
        """Sort the first n tagged keys by key. Returns whether the result is in ``scratch`` and not in
        ``tagged``."""

    @abstractmethod
    def unique(self, tagged: Words, n: int) -> int:
        """Keep each key once, with its smallest tag, among n sorted tagged keys, in place. Returns the number
        of keys left."""

    @abstractmethod
    def places(self, tagged: Words, keys: Sequence[int]) -> Ints:
        """Return for each of these keys the number of sorted tagged keys below it."""

    @abstractmethod
    def place(self, keys: Words, key: int) -> int:
        """Return the number of ascending keys below this one."""

    @abstractmethod
    def key_at(self, keys: Words, place: int) -> int:
        """Return the key at a place."""

    @abstractmethod
    def equal(self, keys: Words, key: int) -> Ints:
        """Return the places of the keys that equal this one."""

    @abstractmethod
    def mark_known(self, tagged: Words, known: Words, dead: Octets) -> None:
        """Set ``dead`` (n,) to 1 for the n sorted tagged keys that are among the ascending known keys."""

    @abstractmethod
    def split(self, tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
        """Write the keys and the tags of the n tagged keys that are not dead. Returns their number."""

    @abstractmethod
    def merge_disjoint(self, first: Words, second: Words, out: Words) -> None:
        """Merge two ascending arrays without a common key."""

    @abstractmethod
    def with_tag(self, keys: Words, tag: int, out: Words) -> int:
        """Write the keys that have this tag of their own. Returns their number."""

    @abstractmethod
    def encode(self, keys: Words, level: int) -> bytes:
        """Return ascending keys as bytes; ``level`` of Zstandard, 0 for none."""

    @abstractmethod
    def decode(self, data: bytes, packed: bool, out: Words) -> None:
        """Decode these bytes into keys; ``packed`` for any level but 0. Raises DamagedKeysError."""

    @abstractmethod
    def parted(self, tagged: Words) -> tuple[Words, Octets]:
        """Return the keys of tagged keys, for :meth:`encode`, and their tags."""

    @abstractmethod
    def put_tags(self, tagged: Words, tags: Octets) -> None:
        """Turn keys that :meth:`decode` has written into an array of tagged keys into tagged keys."""

    def encode_parts(self, tagged: Words, edges: Ints) -> tuple[Octets, Ints]:
        """Return the bytes of the parts ``edges[i] .. edges[i + 1] - 1`` of sorted tagged keys, and the
        places where each begins and ends. The coding is fast rather than small: the keys, then the unchanged
        tags."""
        pieces: list[Octets] = []
        for low, high in itertools.pairwise(edges.tolist()):
            keys, tags = self.parted(tagged[low:high])
            pieces += [np.frombuffer(self.encode(keys, self.part_level), np.uint8), tags]
        return np.concatenate(pieces), np.cumsum([0, *map(len, pieces)])[::2]

    def decode_part(self, data: Octets, count: int, tagged: Words, first: int) -> None:
        """Write the tagged keys of a part from place ``first`` on. Raises DamagedKeysError."""
        size = len(data) - count
        if size < 0:
            raise DamagedKeysError
        some = tagged[first : first + count]
        self.decode(data[:size].tobytes(), self.part_level > 0, some)
        self.put_tags(some, data[size:])


NARROW = 55
"""Bits of a key that shares a word with its tag, and that has a successor in it."""

_EIGHT = np.uint64(TAG_BITS)


class NarrowKeys(KeyKind):
    """Keys of at most ``NARROW`` bits."""

    block = 1 << 16
    key_bytes = tagged_bytes = 8
    sort_bytes = part_level = 0

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
        return int(kernels.gather(records, parents, tags, self._mask, tagged, at))

    def to_records(self, keys: Words, template: Words, records: Words, tags: Words) -> None:
        kernels.to_records(keys, template, records, tags)

    def sort(self, tagged: Words, scratch: Words, n: int) -> bool:
        return bool(radix_sort(tagged, scratch, n, TAG_BITS, TAG_BITS + self._bits))

    def unique(self, tagged: Words, n: int) -> int:
        return int(kernels.unique(tagged, n))

    def places(self, tagged: Words, keys: Sequence[int]) -> Ints:
        return np.searchsorted(tagged, self.array(keys) << _EIGHT)

    def place(self, keys: Words, key: int) -> int:
        return int(np.searchsorted(keys, np.uint64(key)))

    def key_at(self, keys: Words, place: int) -> int:
        return int(keys[place])

    def equal(self, keys: Words, key: int) -> Ints:
        return np.flatnonzero(keys == np.uint64(key))

    def mark_known(self, tagged: Words, known: Words, dead: Octets) -> None:
        kernels.mark_known(tagged, known, dead)

    def split(self, tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
        return int(kernels.split(tagged, n, dead, keys, tags))

    def merge_disjoint(self, first: Words, second: Words, out: Words) -> None:
        kernels.merge_disjoint(first, second, out)

    def with_tag(self, keys: Words, tag: int, out: Words) -> int:
        return int(kernels.with_tag(keys, np.uint64(tag), out))

    def encode(self, keys: Words, level: int) -> bytes:
        return encode_gaps(keys, level)

    def decode(self, data: bytes, packed: bool, out: Words) -> None:
        decode_gaps(data, packed, out)

    def parted(self, tagged: Words) -> tuple[Words, Octets]:
        return tagged >> _EIGHT, tagged.astype(np.uint8)

    def put_tags(self, tagged: Words, tags: Octets) -> None:
        np.left_shift(tagged, _EIGHT, out=tagged)
        np.bitwise_or(tagged, tags, out=tagged)


_BYTES, _LEAST, _MOST = 1 << 20, 1 << 10, 1 << 16
"""A block has about _BYTES bytes of keys, and from _LEAST to _MOST keys."""


class WideKeys(KeyKind):
    """Keys of several words.

    Attributes:
        words: the number of words of a key.
    """

    def __init__(self, key_bits: int) -> None:
        self.words = words = max(1, -(-key_bits // 64))
        mask = (1 << key_bits) - 1
        self._mask = np.array([mask >> 64 * word & (1 << 64) - 1 for word in range(words)], np.uint64)
        self.key_bytes, self.tagged_bytes = 8 * words, 8 * words + 8
        # Parts take most of the memory while a layer is made.
        self.sort_bytes, self.part_level = 16, 1
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
        return int(kernels.gather_wide(records, parents, tags, self._mask, tagged, at))

    def to_records(self, keys: Words, template: Words, records: Words, tags: Words) -> None:
        kernels.to_wide_records(keys, template, records, tags)

    def sort(self, tagged: Words, scratch: Words, n: int) -> bool:
        return sort_rows(tagged, scratch, n)

    def unique(self, tagged: Words, n: int) -> int:
        return int(kernels.unique_wide(tagged, n))

    def places(self, tagged: Words, keys: Sequence[int]) -> Ints:
        return np.array([self.place(tagged, key) for key in keys], np.int64)

    def place(self, keys: Words, key: int) -> int:
        if key >> 64 * self.words:
            return len(keys)
        return int(kernels.place_wide(keys, self._row(key)))

    def key_at(self, keys: Words, place: int) -> int:
        return int.from_bytes(keys[place].astype(">u8").tobytes())

    def equal(self, keys: Words, key: int) -> Ints:
        return np.flatnonzero((keys == self._row(key)).all(axis=1))

    def mark_known(self, tagged: Words, known: Words, dead: Octets) -> None:
        kernels.mark_known_wide(tagged, known, dead)

    def split(self, tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
        return int(kernels.split_wide(tagged, n, dead, keys, tags))

    def merge_disjoint(self, first: Words, second: Words, out: Words) -> None:
        kernels.merge_disjoint_wide(first, second, out)

    def with_tag(self, keys: Words, tag: int, out: Words) -> int:
        return int(kernels.with_tag_wide(keys, np.uint64(tag), out))

    def encode(self, keys: Words, level: int) -> bytes:
        return shrunk(encode_rows(keys, self.words).data, level)

    def decode(self, data: bytes, packed: bool, out: Words) -> None:
        most = 9 * self.words * len(out)
        decode_rows(np.frombuffer(grown(data, packed, most), np.uint8), self.words, out)

    def parted(self, tagged: Words) -> tuple[Words, Octets]:
        return tagged, tagged[:, -1].astype(np.uint8)

    def put_tags(self, tagged: Words, tags: Octets) -> None:
        tagged[:, -1] = tags

    def _row(self, key: int) -> Words:
        row: Words = self.array([key])[0]
        return row
