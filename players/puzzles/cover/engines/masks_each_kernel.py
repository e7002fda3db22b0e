"""Many searches that differ in options that are chosen beforehand, in one compiled loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.masks_kernels import FRESH, search
from propnet.jit.decorators import ARENA, kernel

_ONE, _ZERO, _BITS = np.uint64(1), np.uint64(0), np.uint64(63)


@kernel(**ARENA)
def search_each(
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    kills: NDArray[np.int32],
    masks: NDArray[np.uint64],
    minimum: NDArray[np.int32],
    maximum: NDArray[np.int32],
    uneven: NDArray[np.bool_],
    may_be_hole: NDArray[np.bool_],
    holes: int,
    order: NDArray[np.int32],
    alive: NDArray[np.uint64],
    items: NDArray[np.int32],
    options: NDArray[np.int32],
    widths: NDArray[np.int32],
    tried: NDArray[np.int32],
    sums: NDArray[np.int64],
    solutions: NDArray[np.int32],
    lengths: NDArray[np.int32],
    state: NDArray[np.int64],
    root: NDArray[np.uint64],
    given: NDArray[np.int32],
    found: NDArray[np.int32],
    counts: NDArray[np.int64],
    looked: NDArray[np.int64],
) -> None:
    """Search for each row of `given` (options, ended by -1) as many solutions as there is room for.

    Up to `state` as in :func:`search`, with room for the deepest level that there can be; `root` is the set
    of options that may be chosen at all. Writes for each row the first solution to `found`, int32[rows,
    levels], how many there are to `counts`, and adds the nodes of all to `looked`.
    """
    for row in range(given.shape[0]):
        for word in range(root.shape[0]):
            alive[0, word] = root[word]
        for item in range(sums.shape[0]):
            sums[item] = 0
        fits, chosen = True, 0
        while given[row, chosen] >= 0:
            option = given[row, chosen]
            bit = _ONE << (np.uint64(option) & _BITS)
            if alive[0, option // 64] & bit == _ZERO:
                fits = False
                break
            alive[0, option // 64] &= ~bit
            for node in range(starts[option], starts[option + 1]):
                sums[nodes[node]] += weights[node]
                for word in range(root.shape[0]):
                    alive[0, word] &= ~masks[kills[node], word]
            chosen += 1
        if not fits:
            continue
        options[0] = FRESH
        state[0], state[1], state[2], state[3] = 0, 0, 0, 0
        search(
            starts,
            nodes,
            weights,
            kills,
            masks,
            minimum,
            maximum,
            uneven,
            may_be_hole,
            holes,
            order,
            alive,
            items,
            options,
            widths,
            tried,
            sums,
            solutions,
            lengths,
            state,
            1 << 60,
            True,
        )
        looked[0] += state[1]
        counts[row] = state[2]
        if state[2] > 0:
            for k in range(lengths[0]):
                found[row, k] = solutions[0, k]
            for k in range(chosen):
                found[row, lengths[0] + k] = given[row, k]
