"""The compiled loops that tell in what context a move is made: what came before it, or how its factor stands.

Counts of moves are kept by such contexts, and give the tree its priors (:mod:`players.uct_policy`). After
the same move: NST (Tak, Winands and Bjornsson 2012). In the same state of the factor that the move acts on:
see :mod:`players.uct_parts`. ``contexts`` (1 + parts,) uint64 holds the contexts of the node at hand,
``masks`` (parts, words) uint64 the bits of each factor in a record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from propnet.compiled import inner


@inner
def note_followed(contexts: Any, before: Any) -> None:
    """Where counts are kept by what came before: a move's column, or -1."""
    contexts[0] = np.uint64(before + 1)


@inner
def part_state(masks: Any, records: Any, node: Any, part: Any) -> Any:
    """The state of a factor in a node, as a number; 0 where there is no factor (``part`` is 1 + factor)."""
    h = np.uint64(0)
    if part:
        h = np.uint64(part) * np.uint64(0x9E3779B97F4A7C15)
        for w in range(records.shape[1]):
            h = (h ^ (records[node, w] & masks[part - 1, w])) * np.uint64(0x9FB21C651E98DF25)
            h ^= h >> np.uint64(32)
    return h


@inner
def note_states(contexts: Any, masks: Any, records: Any, node: Any) -> None:
    """Where counts are kept by factors: the state of each in a node."""
    contexts[0] = np.uint64(0)
    for part in range(1, len(masks) + 1):
        contexts[part] = part_state(masks, records, node, part)
