"""Kernels on *tagged keys* of one word: keys of at most 56 bits with a tag of 8 bits below them.

They are sorted by key; of several equal keys the smallest tag is kept, in whatever order they come, so that
results do not depend on who found a state first.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Int32s, Octets, Words
from propnet.jit.decorators import inner, kernel

TAG_BITS = 8
_EIGHT = np.uint64(TAG_BITS)
_TAG = np.uint64(0xFF)


@inner
def tag_of(key: np.uint64) -> np.uint64:
    """A hash of a key: 8 bits."""
    h = (key ^ (key >> np.uint64(29))) * np.uint64(0x9FB21C651E98DF25)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return h >> np.uint64(56)


@kernel(nogil=True)
def gather(
    records: Words, parents: Int32s, tags: Words, mask: np.uint64, tagged: Words, at: int
) -> np.uint64:
    """Append the successors (n, words) to the tagged keys from place ``at`` on, with the tag (m,) of each
    one's parent. Returns the last words of all successors, ORed."""
    last = records.shape[1] - 1
    every = np.uint64(0)
    for i in range(records.shape[0]):
        tagged[at + i] = ((records[i, 0] & mask) << _EIGHT) | tags[parents[i]]
        every |= records[i, last]
    return every


@kernel(nogil=True)
def to_records(keys: Words, template: Words, records: Words, tags: Words) -> None:
    """The records (n, words) of states with these keys (n,) and all else as in the template (words,), and the
    tags (n,) that they leave on their successors."""
    for i in range(keys.size):
        key = keys[i]
        tags[i] = tag_of(key)
        records[i, 0] = key | template[0]
        for word in range(1, template.size):
            records[i, word] = template[word]


@kernel(nogil=True)
def unique(tagged: Words, n: int) -> int:
    """Keep each key once, with its smallest tag, among n tagged keys that are sorted by key, in place;
    returns how many are left."""
    if n == 0:
        return 0
    last = 0
    least = before = tagged[0]
    for i in range(1, n):
        here = tagged[i]
        new = (here ^ before) >> _EIGHT != 0
        before = here
        last += new
        least = here if new | (here < least) else least
        tagged[last] = least
    return last + 1


@kernel(nogil=True)
def mark_known(tagged: Words, known: Words, dead: Octets) -> None:
    """Set ``dead`` (n,) to 1 for the tagged keys (n,), ascending, that are among the known keys (m,),
    ascending."""
    n, m = tagged.size, known.size
    i, j = 0, 0
    if 16 * n < m:
        for i in range(n):
            key = tagged[i] >> _EIGHT
            step = 1
            while j + step < m and known[j + step] < key:
                j += step
                step += step
            high = min(m, j + step + 1)
            while j < high:
                middle = (j + high) >> 1
                if known[middle] < key:
                    j = middle + 1
                else:
                    high = middle
            if j == m:
                return
            dead[i] |= known[j] == key
        return
    while i < n and j < m:
        key, other = tagged[i] >> _EIGHT, known[j]
        dead[i] |= key == other
        i += key <= other
        j += other <= key


@kernel(nogil=True)
def split(tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
    """Write the keys and the tags of those of n tagged keys that are not dead; returns how many they are."""
    kept = 0
    for i in range(n):
        keys[kept] = tagged[i] >> _EIGHT
        tags[kept] = np.uint8(tagged[i] & _TAG)
        kept += dead[i] == 0
    return kept


@kernel(nogil=True)
def merge_disjoint(first: Words, second: Words, out: Words) -> None:
    """Merge two ascending arrays without a common key into ``out`` (n + m,)."""
    n, m = first.size, second.size
    i, j, k = 0, 0, 0
    while i < n and j < m:
        a, b = first[i], second[j]
        less = a < b
        out[k] = a if less else b
        i += less
        j += not less
        k += 1
    while i < n:
        out[k] = first[i]
        i, k = i + 1, k + 1
    while j < m:
        out[k] = second[j]
        j, k = j + 1, k + 1


@kernel(nogil=True)
def with_tag(keys: Words, tag: np.uint64, out: Words) -> int:
    """Write the keys whose own tag is this one; returns how many they are."""
    kept = 0
    for i in range(keys.size):
        out[kept] = keys[i]
        kept += tag_of(keys[i]) == tag
    return kept
