"""The simple lower bound: each box goes to its nearest goal, whatever the others do (Junghanns and Schaeffer
2001, who call it naive).

Several boxes may want the same goal, so it is never above the least matching
(:mod:`players.puzzles.sokoban.search.matching`). A push changes the distance of one box only.
"""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.search.nodes import Shorts
from propnet.jit.arrays import Index, Int32s
from propnet.jit.decorators import inner


@inner
def simple_bound(nearest: Int32s, squares: Int32s | Shorts, count: Index) -> Index:
    """The bound for boxes on the first ``count`` squares, from scratch. ``nearest``: int32, shape
    (size + 2,), as in :class:`.matching.Matching`."""
    total = np.int64(0)
    for number in range(count):
        total += nearest[squares[number]]
    return total


@inner
def simple_after(nearest: Int32s, total: Index, origin: Index, square: Index) -> Index:
    """The bound once a box has gone from one square to another; ``total`` is the bound before."""
    return np.int64(total) - np.int64(nearest[origin]) + np.int64(nearest[square])
