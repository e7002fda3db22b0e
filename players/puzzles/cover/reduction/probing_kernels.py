"""The compiled loop that tries options: an option after which some item cannot reach its minimum is never
chosen.

A problem's nodes are read both ways: by option (``starts``, ``nodes``, ``weights``, ``colours``) and by item
(``item_starts``, then ``by_item``: the number of a node, and ``owner``: a node's option).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import ARENA, kernel

NEVER = -1
"""The mark of an option that is never chosen."""


@kernel(**ARENA)
def probe(
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    colours: NDArray[np.int32],
    item_starts: NDArray[np.int32],
    by_item: NDArray[np.int32],
    owner: NDArray[np.int32],
    minimum: NDArray[np.int32],
    maximum: NDArray[np.int32],
    may_be_hole: NDArray[np.bool_],
    coloured: NDArray[np.bool_],
    holes: int,
    begin: int,
    stride: int,
    most_work: int,
    mark: NDArray[np.int32],
    left: NDArray[np.int64],
    lost: NDArray[np.int64],
    touched: NDArray[np.int32],
    work: NDArray[np.int64],
) -> int:
    """Try every `stride`-th option from `begin` on. Returns how many are never chosen.

    Args:
        holes: the most there may be; -1 for any number.
        most_work: stop after so many nodes.
        mark: int32[options], NEVER for those that are never chosen, which is written; else at most `begin`.
        left: int64[items], what the options that are not marked NEVER weigh together; it is kept so.
        lost: int64[items], all 0 before and after.
        touched: int32[items], for its own use.
        work: int64[1], the nodes that were looked at are added.
    """
    found, looked = 0, 0
    for option in range(begin, starts.shape[0] - 1, stride):
        if mark[option] == NEVER:
            continue
        if looked > most_work:
            break
        stamp = option + 1
        mark[option] = stamp
        changed, empty, fits = 0, 0, True
        for node in range(starts[option], starts[option + 1]):
            item = nodes[node]
            room = maximum[item] - weights[node]
            looked += item_starts[item + 1] - item_starts[item]
            if not coloured[item] and room < 0:
                fits = False
            for k in range(item_starts[item], item_starts[item + 1]):
                if not fits:
                    break
                other = by_item[k]
                rival = owner[other]
                if mark[rival] == NEVER or mark[rival] == stamp:
                    continue
                if coloured[item]:
                    if colours[node] > 0 and colours[node] == colours[other]:
                        continue
                elif weights[other] <= room:
                    continue
                mark[rival] = stamp
                looked += starts[rival + 1] - starts[rival]
                for inside in range(starts[rival], starts[rival + 1]):
                    hit = nodes[inside]
                    if lost[hit] == 0:
                        touched[changed] = hit
                        changed += 1
                    lost[hit] += weights[inside]
                    rest = left[hit] - lost[hit]
                    if rest < minimum[hit]:
                        fits = False
                    if rest == 0 and may_be_hole[hit]:
                        empty += 1
        if holes >= 0 and empty > holes:
            fits = False
        for k in range(changed):
            lost[touched[k]] = 0
        if not fits:
            found += 1
            mark[option] = NEVER
            for node in range(starts[option], starts[option + 1]):
                left[nodes[node]] -= weights[node]
    work[0] += looked
    return found
