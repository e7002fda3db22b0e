"""Kernels on keys of any number of words, uint64 (n, words), the most significant word first; tagged keys
have the tag in one more word, the last."""

from __future__ import annotations

import numpy as np

from players.puzzles.frontier.keys.narrow_kernels import tag_of
from propnet.jit.arrays import Int32s, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import item, put

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@inner
def compare(first: Words, i: int, second: Words, j: int, words: int) -> int:
    """-1, 0 or 1: how the ``words`` words from place i of an array on compare to those of another."""
    for word in range(words):
        a, b = item(first, i + word), item(second, j + word)
        if a != b:
            return -1 if a < b else 1
    return 0


@inner
def _wide_tag(keys: Words, at: int, words: int) -> np.uint64:
    """A hash of the key at this place: 8 bits."""
    h = np.uint64(0)
    for word in range(words):
        h = (h ^ (h >> _SHIFT)) * _MIX + item(keys, at + word)
    return tag_of(h)


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
    kept = min(n, 1)
    for i in range(1, n):
        if compare(tagged, i * row, tagged, (kept - 1) * row, row - 1) != 0:
            if kept != i:
                for word in range(row):
                    put(tagged, kept * row + word, item(tagged, i * row + word))
            kept += 1
        elif item(tagged, i * row + row - 1) < item(tagged, kept * row - 1):
            put(tagged, kept * row - 1, item(tagged, i * row + row - 1))
    return kept


@kernel(**ARENA)
def place_wide(rows: Words, key: Words) -> int:
    """How many of the rows, ascending by their first words, have a key below this one (key words,)."""
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
    kept = 0
    for i in range(n):
        if item(dead, i) == 0:
            for word in range(words):
                put(keys, kept * words + word, item(tagged, i * row + word))
            put(tags, kept, np.uint8(item(tagged, i * row + words)))
            kept += 1
    return kept


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
    kept = 0
    for i in range(count):
        if _wide_tag(keys, i * words, words) == tag:
            for word in range(words):
                put(out, kept * words + word, item(keys, i * words + word))
            kept += 1
    return kept
