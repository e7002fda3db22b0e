"""Which part owns a key: the mix of SplitMix64 (G. Steele, D. Lea and C. Flood, 2014) over its words."""

from __future__ import annotations

import numpy as np

from players.puzzles.frontier.keys.narrow_kernels import TAG_BITS
from propnet.jit.arrays import Int32s, Words

_STEPS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST, _UPPER = np.uint64(31), np.uint64(32)


def owners(keys: Words, parts: int) -> Int32s:
    """The parts, 0 .. ``parts`` - 1, int32 (n,), that own keys, narrow (n,) or wide (n, words). A key has the
    same owner however many words hold it."""
    columns = [keys] if keys.ndim == 1 else [keys[:, word] for word in range(keys.shape[1])]
    mixed = _mixed(columns[0])
    for column in columns[1:]:
        mixed = _mixed(mixed ^ column)
    return ((mixed >> _UPPER) * np.uint64(parts) >> _UPPER).astype(np.int32)


def owners_of_tagged(tagged: Words, parts: int) -> Int32s:
    """The same of tagged keys."""
    return owners(tagged >> np.uint64(TAG_BITS) if tagged.ndim == 1 else tagged[:, :-1], parts)


def _mixed(words: Words) -> Words:
    """Words, each mixed; 0 stays 0, so that leading zeros change nothing."""
    for shift, factor in _STEPS:
        words = (words ^ (words >> shift)) * factor
    return words ^ (words >> _LAST)
