"""How far each piece may move before it meets another: the movement analysis of W. H. Cutler.

"A Computer Analysis of All 6-Piece Burrs" (1994): for a way and each pair of pieces the steps that the first
may take while the second stays. From these follow all groups of pieces that can move together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner

FREE = 1 << 14
"""Steps that a piece may take that nothing is in the way of."""


@inner
def measure(
    cells: NDArray[np.int32],
    owner: NDArray[np.int32],
    kinds: NDArray[np.int32],
    places: NDArray[np.int16],
    ways: NDArray[np.int32],
    swept: NDArray[np.int32],
    now: NDArray[np.int32],
    gaps: NDArray[np.int16],
) -> None:
    """Fill ``gaps``.

    Only the first cell in each cell's way is looked at: what lies behind it is in that one's way, so the
    groups that :func:`pushed` tells are the same.

    Args:
        cells: int32[cells, 3], as in the assembly.
        owner, kinds: int32[cells]: the piece and the kind of each.
        places: int16[pieces, 3]: how far each piece has moved.
        ways: int32[ways, 3]: one step of each way.
        swept: int32[ways, kinds, most, 3]: what a cell passes through in that step.
        now: int32[cells, 3]: room for where the cells are.
        gaps: int16[ways, pieces, pieces]: for each ordered pair the steps that the first may take along
            the way while the second stays; FREE where it never meets it, or another before.
    """
    low, high = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for axis in range(3):
        low[axis], high[axis] = 1 << 30, -(1 << 30)
        for a in range(len(cells)):
            at = cells[a, axis] + places[owner[a], axis]
            now[a, axis] = at
            low[axis], high[axis] = min(low[axis], at), max(high[axis], at)
    size = high - low + 1
    box = np.full(size[0] * size[1] * size[2], -1, np.int8)
    for a in range(len(cells)):
        x, y, z = now[a, 0] - low[0], now[a, 1] - low[1], now[a, 2] - low[2]
        box[(x * size[1] + y) * size[2] + z] = owner[a]
    gaps[:] = FREE
    for w in range(len(ways)):
        for a in range(len(cells)):
            i = owner[a]
            for s in range(swept.shape[2]):
                x = now[a, 0] - low[0] + swept[w, kinds[a], s, 0]
                y = now[a, 1] - low[1] + swept[w, kinds[a], s, 1]
                z = now[a, 2] - low[2] + swept[w, kinds[a], s, 2]
                steps = 0
                # A ray may begin beside the box and run into it.
                while -2 <= x < size[0] + 2 and -2 <= y < size[1] + 2 and -2 <= z < size[2] + 2:
                    if 0 <= x < size[0] and 0 <= y < size[1] and 0 <= z < size[2]:
                        j = box[(x * size[1] + y) * size[2] + z]
                        if j >= 0:
                            if j != i and steps < gaps[w, i, j]:
                                gaps[w, i, j] = steps
                            break
                    x += ways[w, 0]
                    y += ways[w, 1]
                    z += ways[w, 2]
                    steps += 1


@inner
def pushed(gaps: NDArray[np.int16], piece: int, steps: int) -> np.uint64:
    """The pieces that must move as well, one bit each, where this one moves so many steps."""
    one = np.uint64(1)
    group = one << np.uint64(piece)
    waiting = group
    pieces = len(gaps)
    while waiting:
        for i in range(pieces):
            bit = one << np.uint64(i)
            if waiting & bit:
                waiting ^= bit
                for j in range(pieces):
                    other = one << np.uint64(j)
                    if gaps[i, j] < steps and not group & other:
                        group |= other
                        waiting |= other
    return group
