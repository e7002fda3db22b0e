"""The inner loop of dancing cells: choose an item, try its options one after another, undo.

Each item's options that are still possible stand at the front of its segment of `members`; to take one out
is a swap and a smaller size, to bring it back a larger size. After D. E. Knuth's "dancing cells" (The Art of
Computer Programming 4, pre-fascicle 7.2.2.3), with bounds and weights as in A. Röver's BurrTools.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.cells_moves import (
    CANDIDATES,
    DELIVERED,
    DEPTH,
    EMPTY,
    ENTER,
    FILLED,
    FIRST,
    FOUND,
    ITEM,
    KILLED,
    MARK,
    NEXT,
    NO_MORE,
    NODES,
    NOTHING,
    PHASE,
    PICK,
    PICK_MARK,
    TRIED,
    WIDTH,
    bring_back,
    choose,
    close,
    open_again,
    pick,
    put_back,
    take_out,
)
from propnet.jit.decorators import ARENA, kernel

UNDERWAY, FULL, OVER = range(3)


@kernel(**ARENA)
def search(
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    colours: NDArray[np.int32],
    first: NDArray[np.int32],
    members: NDArray[np.int32],
    place: NDArray[np.int32],
    owner: NDArray[np.int32],
    items: NDArray[np.int32],
    bounds: NDArray[np.int32],
    trail: NDArray[np.int32],
    path: NDArray[np.int32],
    candidates: NDArray[np.int32],
    found: NDArray[np.int32],
    ends: NDArray[np.int64],
    scalars: NDArray[np.int64],
    holes: int,
    deliver: bool,
    budget: int,
) -> int:
    """Go on by about so many nodes.

    Args:
        starts, nodes, weights, colours: the problem's.
        first: int32[items + 1]: where each item's segment of members begins.
        members, place, owner: int32[nodes]: the nodes, by item, those still possible in front; where each
            node stands among them; the option of each node.
        items: int32[6, items]: how many options are possible, their weights, the weight chosen, whether it is
            full; the items, those not full in front, and where each stands there.
        bounds: int32[5, items]: minimum, maximum, whether it may be a hole, whether it is coloured, its
            largest weight.
        trail: int32[2, options]: options taken out, in order; whether each is.
        path: int32[depth, 7]: the nodes from the root to here; see the names of its columns.
        candidates: int32[nodes]: options to try at nodes whose item takes one option.
        found, ends: int32[room], int64[room]: options of the solutions found, and where each ends.
        scalars: int64[10]: see their names.
        holes: how many items may be holes; -1 for any number.
        deliver: whether solutions are written to ``found``.

    Returns UNDERWAY, FULL (the buffer must be emptied) or OVER.
    """
    limit = scalars[NODES] + budget
    while scalars[NODES] < limit:
        depth = scalars[DEPTH]
        if scalars[PHASE] == ENTER:
            scalars[PHASE] = NEXT
            if holes >= 0 and scalars[EMPTY] > holes:
                continue
            item = choose(items, bounds, scalars, holes)
            if item == -2:
                continue
            if item == -1:
                if deliver:
                    count = 0
                    for level in range(depth):
                        count += path[level, PICK] >= 0
                    if scalars[FILLED] + count > len(found) or scalars[DELIVERED] == len(ends):
                        scalars[PHASE] = ENTER
                        return FULL
                    for level in range(depth):
                        if path[level, PICK] >= 0:
                            found[scalars[FILLED]] = path[level, PICK]
                            scalars[FILLED] += 1
                    ends[scalars[DELIVERED]] = scalars[FILLED]
                    scalars[DELIVERED] += 1
                scalars[FOUND] += 1
                continue
            size = items[0, item]
            path[depth, ITEM] = item
            path[depth, PICK] = NOTHING
            path[depth, MARK] = scalars[KILLED]
            path[depth, TRIED] = 0
            path[depth, FIRST] = -1
            path[depth, WIDTH] = size + (items[2, item] >= bounds[0, item])
            if bounds[0, item] == 1 and bounds[1, item] == 1 and not bounds[3, item]:
                # All its options go: whichever is chosen, no other can be.
                path[depth, FIRST] = scalars[CANDIDATES]
                for k in range(size):
                    candidates[scalars[CANDIDATES] + k] = owner[members[first[item] + k]]
                scalars[CANDIDATES] += size
                items[2, item] = 1
                close(item, items, scalars)
                for k in range(size):
                    take_out(
                        candidates[path[depth, FIRST] + k],
                        starts, nodes, weights, first, members, place, items, bounds, trail, scalars,
                    )  # fmt: skip
            scalars[DEPTH] = depth + 1
            depth += 1
        if depth == 0:
            return OVER
        level = depth - 1
        item, picked = path[level, ITEM], path[level, PICK]
        single = path[level, FIRST] >= 0
        done = picked == NO_MORE
        if picked >= 0:
            bring_back(path[level, PICK_MARK], starts, nodes, weights, items, bounds, trail, scalars)
            put_back(picked, starts, nodes, weights, items, bounds, scalars, item if single else -1)
            path[level, TRIED] += 1
            path[level, PICK] = NOTHING
            if not single:
                done = take_out(
                    picked, starts, nodes, weights, first, members, place, items, bounds, trail, scalars
                ) or (holes >= 0 and scalars[EMPTY] > holes)
        option = -1
        if not done:
            if single:
                if path[level, TRIED] < path[level, WIDTH]:
                    option = candidates[path[level, FIRST] + path[level, TRIED]]
            elif items[0, item] > 0:
                option = owner[members[first[item]]]
        if option >= 0:
            path[level, PICK_MARK] = scalars[KILLED]
            path[level, PICK] = option
            scalars[NODES] += 1
            failed = pick(
                option, starts, nodes, weights, colours, first, members, place, owner, items, bounds, trail,
                scalars, not single, item if single else -1,
            )  # fmt: skip
            scalars[PHASE] = NEXT if failed else ENTER
        elif not done and not single and items[2, item] >= bounds[0, item]:
            path[level, PICK] = NO_MORE
            scalars[NODES] += 1
            scalars[PHASE] = ENTER
        else:
            bring_back(path[level, MARK], starts, nodes, weights, items, bounds, trail, scalars)
            if single:
                open_again(item, items, scalars)
                items[2, item] = 0
                scalars[CANDIDATES] = path[level, FIRST]
            scalars[DEPTH] = level
            scalars[PHASE] = NEXT
    return UNDERWAY


@kernel(**ARENA)
def replay(
    options: NDArray[np.int32],
    picked: int,
    skipped: int,
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    colours: NDArray[np.int32],
    first: NDArray[np.int32],
    members: NDArray[np.int32],
    place: NDArray[np.int32],
    owner: NDArray[np.int32],
    items: NDArray[np.int32],
    bounds: NDArray[np.int32],
    trail: NDArray[np.int32],
    scalars: NDArray[np.int64],
) -> int:
    """Take out these options, all those of the item skipped if there is one, then pick one (-1 for none).

    Returns the trail's length before the pick.
    """
    if skipped >= 0:
        items[2, skipped] = 1
        close(skipped, items, scalars)
    for option in options:
        take_out(option, starts, nodes, weights, first, members, place, items, bounds, trail, scalars)
    mark = scalars[KILLED]
    if picked >= 0:
        pick(
            picked, starts, nodes, weights, colours, first, members, place, owner, items, bounds, trail,
            scalars, skipped < 0, skipped,
        )  # fmt: skip
    return int(mark)
