"""The compiled loops that tell in what context a move is made: what came before it, or how its factor stands.

Counts of moves are kept by such contexts, and give the tree its priors
(:mod:`players.uct.tree.selection_rules`). After the same move: NST (Tak, Winands and Bjornsson 2012). In
the same state of the factor that the move acts on: see :mod:`players.uct_parts`. ``contexts`` (1 + parts,)
uint64 holds the contexts of the node at hand, ``masks`` (parts, words) uint64 the bits of each factor in a
record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from propnet.jit.decorators import inner


@inner
def _part_state(masks: Any, records: Any, node: Any, part: Any) -> Any:
    """The state of a factor in a node, as a number; 0 where there is no factor (``part`` is 1 + factor)."""
    h = np.uint64(0)
    if part:
        h = np.uint64(part) * np.uint64(0x9E3779B97F4A7C15)
        for w in range(records.shape[1]):
            h = (h ^ (records[node, w] & masks[part - 1, w])) * np.uint64(0x9FB21C651E98DF25)
            h ^= h >> np.uint64(32)
    return h


@inner
def context_of(masks: Any, records: Any, node: Any, part: Any, before: Any, by_parts: Any) -> Any:
    """The context of a move in a node: how the factor stands that it acts on, ``part``, or else what came
    before the node: a move's column, or -1."""
    if by_parts:
        return _part_state(masks, records, node, part)
    return np.uint64(before + 1)


@inner
def note_contexts(contexts: Any, masks: Any, records: Any, node: Any, before: Any, by_parts: Any) -> None:
    """Note the contexts of all moves in a node: see :func:`context_of`."""
    for part in range(len(masks) + 1 if by_parts else 1):
        contexts[part] = context_of(masks, records, node, part, before, by_parts)
