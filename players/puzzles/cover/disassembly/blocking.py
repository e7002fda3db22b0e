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
    way: NDArray[np.int32],
    swept: NDArray[np.int32],
    gaps: NDArray[np.int16],
) -> None:
    """Fill ``gaps``.

    Args:
        cells: int32[cells, 3], as in the assembly.
        owner, kinds: int32[cells]: the piece and the kind of each.
        places: int16[pieces, 3]: how far each piece has moved.
        way: int32[3]: one step.
        swept: int32[kinds, most, 3]: what a cell passes through in that step.
        gaps: int16[pieces, pieces]: for each ordered pair the steps that the first may take along the way
            while the second stays; FREE where it never meets it.
    """
    gaps[:] = FREE
    axis = 0
    while way[axis] == 0:
        axis += 1
    step = way[axis]
    for a in range(len(cells)):
        i = owner[a]
        for s in range(swept.shape[1]):
            ax = cells[a, 0] + places[i, 0] + swept[kinds[a], s, 0]
            ay = cells[a, 1] + places[i, 1] + swept[kinds[a], s, 1]
            az = cells[a, 2] + places[i, 2] + swept[kinds[a], s, 2]
            for b in range(len(cells)):
                j = owner[b]
                if i == j:
                    continue
                dx = cells[b, 0] + places[j, 0] - ax
                dy = cells[b, 1] + places[j, 1] - ay
                dz = cells[b, 2] + places[j, 2] - az
                along = dx if axis == 0 else (dy if axis == 1 else dz)
                steps = along // step
                ahead = dx == steps * way[0] and dy == steps * way[1] and dz == steps * way[2]
                if ahead and 0 <= steps < gaps[i, j]:
                    gaps[i, j] = steps


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
