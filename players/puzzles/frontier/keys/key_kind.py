"""What a search asks of keys, whatever their width.

*Tagged keys* are keys with a tag of 8 bits below them. Arrays of n keys, tagged or not, have n rows; a single
key is an int outside arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from propnet.jit.arrays import Int32s, Ints, Octets, Words


class KeyKind(ABC):
    """A way to hold keys in arrays.

    Attributes:
        block: keys of a block of a run at most.
        key_bytes, tagged_bytes: bytes of a key, and of a tagged key, in an array.
        sort_bytes: bytes that sorting takes for each tagged key besides both arrays.
    """

    block: int
    key_bytes: int
    tagged_bytes: int
    sort_bytes: int

    @abstractmethod
    def new_keys(self, n: int) -> Words:
        """Room for n keys."""

    @abstractmethod
    def new_tagged(self, n: int) -> Words:
        """Room for n tagged keys."""

    @abstractmethod
    def array(self, keys: Sequence[int]) -> Words:
        """An array of these keys."""

    @abstractmethod
    def of_records(self, records: Words) -> Words:
        """The keys of records, uint64 (n, words)."""

    @abstractmethod
    def gather(self, records: Words, parents: Int32s, tags: Words, tagged: Words, at: int) -> int:
        """Append the keys of successors (n, words) to the tagged keys from place ``at`` on, with the tag (m,)
        of each one's parent. Returns the last words of all successors, ORed."""

    @abstractmethod
    def to_records(self, keys: Words, template: Words, records: Words, tags: Words) -> None:
        """Write the records (n, words) of states with these n keys and all else as in the template (words,),
        and the tags (n,) that they leave on their successors."""

    @abstractmethod
    def sort(self, tagged: Words, scratch: Words, n: int) -> bool:
        """Sort the first n tagged keys by key; whether ``scratch`` holds them then, and not ``tagged``."""

    @abstractmethod
    def unique(self, tagged: Words, n: int) -> int:
        """Keep each key once, with its smallest tag, among n sorted tagged keys, in place; returns how many
        are left."""

    @abstractmethod
    def places(self, tagged: Words, keys: Sequence[int]) -> Ints:
        """For each of these keys how many of the sorted tagged keys are below it."""

    @abstractmethod
    def place(self, keys: Words, key: int) -> int:
        """How many of the ascending keys are below this one."""

    @abstractmethod
    def key_at(self, keys: Words, place: int) -> int:
        """One of the keys."""

    @abstractmethod
    def equal(self, keys: Words, key: int) -> Ints:
        """The places of the keys that equal this one."""

    @abstractmethod
    def mark_known(self, tagged: Words, known: Words, dead: Octets) -> None:
        """Set ``dead`` (n,) to 1 for the n sorted tagged keys that are among the ascending known keys."""

    @abstractmethod
    def split(self, tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
        """Write the keys and the tags of those of n tagged keys that are not dead; returns how many they
        are."""

    @abstractmethod
    def merge_disjoint(self, first: Words, second: Words, out: Words) -> None:
        """Merge two ascending arrays without a common key."""

    @abstractmethod
    def with_tag(self, keys: Words, tag: int, out: Words) -> int:
        """Write the keys whose own tag is this one; returns how many they are."""

    @abstractmethod
    def encode(self, keys: Words, level: int) -> bytes:
        """Ascending keys as bytes; ``level`` of Zstandard, 0 for none."""

    @abstractmethod
    def decode(self, data: bytes, packed: bool, out: Words) -> None:
        """Write the keys of which these are the bytes; ``packed`` for any level but 0. Raises
        DamagedKeysError."""

    @abstractmethod
    def encode_parts(self, tagged: Words, edges: Ints) -> tuple[Octets, Ints]:
        """The bytes of the parts ``edges[i] .. edges[i + 1] - 1`` of sorted tagged keys, and the place where
        each begins, and ends: coded fast rather than small."""

    @abstractmethod
    def decode_part(self, data: Octets, count: int, tagged: Words, first: int) -> None:
        """Write the tagged keys of a part from place ``first`` on. Raises DamagedKeysError."""
