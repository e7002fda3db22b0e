"""Kernels on *tagged keys*: of one word, keys of at most 56 bits with a tag of 8 bits below them; and of any
number of words, uint64 (n, words), the most significant word first, with the tag in one more word, the last.

Tagged keys are sorted by key. Of several equal keys the smallest tag stays, in any order of arrival, so that
results do not depend on which worker found a state first.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Int32s, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import item, put

TAG_BITS = 8
_EIGHT = np.uint64(TAG_BITS)
_TAG = np.uint64(0xFF)


@inner
def _tag_of(key: np.uint64) -> np.uint64:
    """Return a hash of a key: 8 bits."""
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
    """Write the records (n, words) of states with these keys (n,) and all other bits as in the template
    (words,), and the tags (n,) for their successors."""
    for i in range(keys.size):
        key = keys[i]
        tags[i] = _tag_of(key)
        records[i, 0] = key | template[0]
        for word in range(1, template.size):
            records[i, word] = template[word]


@kernel(nogil=True)
def unique(tagged: Words, n: int) -> int:
    """Keep each key once, with its smallest tag, among n tagged keys that are sorted by key, in place.
    Returns the number of keys left."""
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
    """Write the keys and the tags of the n tagged keys that are not dead. Returns their number."""
    count = 0
    for i in range(n):
        keys[count] = tagged[i] >> _EIGHT
        tags[count] = np.uint8(tagged[i] & _TAG)
        count += dead[i] == 0
    return count


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
    """Write the keys that have this tag of their own. Returns their number."""
    count = 0
    for i in range(keys.size):
        out[count] = keys[i]
        count += _tag_of(keys[i]) == tag
    return count


_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@inner
def compare(first: Words, i: int, second: Words, j: int, words: int) -> int:
    """Return -1, 0 or 1: compare the ``words`` words from place i of an array with those from place j of
    another."""
    for word in range(words):
        a, b = item(first, i + word), item(second, j + word)
        if a != b:
            return -1 if a < b else 1
    return 0


@inner
def _wide_tag(keys: Words, at: int, words: int) -> np.uint64:
    """Return a hash of the key at this place: 8 bits."""
    h = np.uint64(0)
    for word in range(words):
        h = (h ^ (h >> _SHIFT)) * _MIX + item(keys, at + word)
    return _tag_of(h)


@kernel(**ARENA)
def gather_wide(
    records: Words, parents: Int32s, tags: Words, mask: Words, tagged: Words, at: int
) -> np.uint64:
    """:meth:`KeyKind.gather`; ``mask`` (key words,) has the bits of keys in records."""
    count, width, words = records.shape[0], records.shape[1], mask.size
    every = np.uint64(0)
    to = at * (words + 1)
    for i in range(count):
        start = i * width
        for word in range(words - 1, -1, -1):
            put(tagged, to, item(records, start + word) & item(mask, word))
            to += 1
        put(tagged, to, item(tags, item(parents, i)))
        to += 1
        every |= item(records, start + width - 1)
    return every


@kernel(**ARENA)
def to_wide_records(keys: Words, template: Words, records: Words, tags: Words) -> None:
    """:meth:`KeyKind.to_records`."""
    count, words, width = keys.shape[0], keys.shape[1], template.size
    for i in range(count):
        put(tags, i, _wide_tag(keys, i * words, words))
        for word in range(width):
            value = item(template, word)
            if word < words:
                value |= item(keys, i * words + words - 1 - word)
            put(records, i * width + word, value)


@kernel(**ARENA)
def unique_wide(tagged: Words, n: int) -> int:
    """:meth:`KeyKind.unique`."""
    row = tagged.shape[1]
    count = min(n, 1)
    for i in range(1, n):
        if compare(tagged, i * row, tagged, (count - 1) * row, row - 1) != 0:
            if count != i:
                for word in range(row):
                    put(tagged, count * row + word, item(tagged, i * row + word))
            count += 1
        elif item(tagged, i * row + row - 1) < item(tagged, count * row - 1):
            put(tagged, count * row - 1, item(tagged, i * row + row - 1))
    return count


@kernel(**ARENA)
def place_wide(rows: Words, key: Words) -> int:
    """Return the number of rows, ascending by their first words, whose key is below this one (key words,)."""
    row, words = rows.shape[1], key.size
    low, high = 0, rows.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if compare(rows, middle * row, key, 0, words) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(**ARENA)
def mark_known_wide(tagged: Words, known: Words, dead: Octets) -> None:
    """:meth:`KeyKind.mark_known`."""
    n, m, row = tagged.shape[0], known.shape[0], tagged.shape[1]
    words = row - 1
    i, j = 0, 0
    if 16 * n < m:
        for i in range(n):
            step = 1
            while j + step < m and compare(known, (j + step) * words, tagged, i * row, words) < 0:
                j += step
                step += step
            high = min(m, j + step + 1)
            while j < high:
                middle = (j + high) >> 1
                if compare(known, middle * words, tagged, i * row, words) < 0:
                    j = middle + 1
                else:
                    high = middle
            if j == m:
                return
            if compare(known, j * words, tagged, i * row, words) == 0:
                put(dead, i, 1)
        return
    while i < n and j < m:
        order = compare(tagged, i * row, known, j * words, words)
        if order == 0:
            put(dead, i, 1)
        i += order <= 0
        j += order >= 0


@kernel(**ARENA)
def split_wide(tagged: Words, n: int, dead: Octets, keys: Words, tags: Octets) -> int:
    """:meth:`KeyKind.split`."""
    words = keys.shape[1]
    row = words + 1
    count = 0
    for i in range(n):
        if item(dead, i) == 0:
            for word in range(words):
                put(keys, count * words + word, item(tagged, i * row + word))
            put(tags, count, np.uint8(item(tagged, i * row + words)))
            count += 1
    return count


@kernel(**ARENA)
def merge_disjoint_wide(first: Words, second: Words, out: Words) -> None:
    """:meth:`KeyKind.merge_disjoint`."""
    n, m, words = first.shape[0], second.shape[0], first.shape[1]
    i, j = 0, 0
    for k in range(n + m):
        if j == m or (i < n and compare(first, i * words, second, j * words, words) < 0):
            for word in range(words):
                put(out, k * words + word, item(first, i * words + word))
            i += 1
        else:
            for word in range(words):
                put(out, k * words + word, item(second, j * words + word))
            j += 1


@kernel(**ARENA)
def with_tag_wide(keys: Words, tag: np.uint64, out: Words) -> int:
    """:meth:`KeyKind.with_tag`."""
    count, words = keys.shape[0], keys.shape[1]
    written = 0
    for i in range(count):
        if _wide_tag(keys, i * words, words) == tag:
            for word in range(words):
                put(out, written * words + word, item(keys, i * words + word))
            written += 1
    return written
