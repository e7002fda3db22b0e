"""The inner loop of dancing cells: choose an item, try its options one after another, undo.

Each item's options that are still possible stand at the front of its segment of `members`; to take one out
is a swap and a smaller size, to bring it back a larger size. After D. E. Knuth's "dancing cells" (The Art of
Computer Programming 4, pre-fascicle 7.2.2.3), with bounds and weights as in A. Röver's BurrTools.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import ARENA, inner, kernel

UNDERWAY, FULL, OVER = range(3)

DEPTH, PHASE, KILLED, FOUND, NODES, EMPTY, FILLED, DELIVERED, CANDIDATES, OPEN = range(10)
"""What stands where in `scalars`: the depth of the path, what comes next, how many options are taken out,
solutions, nodes, items that are holes for good, options in the buffer, solutions in the buffer,
candidates."""

ENTER, NEXT = range(2)
"""Phases: choose an item for a new node; go on at the last node of the path."""

ITEM, PICK, MARK, PICK_MARK, FIRST, TRIED, WIDTH = range(7)
"""Columns of `path`: the item of a node; the option picked, NOTHING or NO_MORE; the trail's length when the
node and when the pick began; its first candidate, -1 where the item takes several options; how many children
are done, and how many there are at most."""

NOTHING, NO_MORE = -1, -2


@inner
def take_out(
    option: int,
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    first: NDArray[np.int32],
    members: NDArray[np.int32],
    place: NDArray[np.int32],
    items: NDArray[np.int32],
    bounds: NDArray[np.int32],
    trail: NDArray[np.int32],
    scalars: NDArray[np.int64],
) -> bool:
    """Take an option out of all its items; returns whether one of them can be satisfied no more."""
    failed = False
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        if items[3, item]:
            continue
        size = items[0, item] - 1
        here, there = place[node], first[item] + size
        other = members[there]
        members[there], members[here] = node, other
        place[node], place[other] = there, here
        items[0, item] = size
        items[1, item] -= weights[node]
        if items[1, item] + items[2, item] < bounds[0, item]:
            failed = True
        if size == 0 and items[2, item] == 0 and bounds[2, item]:
            scalars[EMPTY] += 1
    trail[0, scalars[KILLED]] = option
    trail[1, option] = 1
    scalars[KILLED] += 1
    return failed


@inner
def bring_back(
    mark: int,
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    items: NDArray[np.int32],
    bounds: NDArray[np.int32],
    trail: NDArray[np.int32],
    scalars: NDArray[np.int64],
) -> None:
    """Bring back the options taken out since the trail was so long, the last one first."""
    while scalars[KILLED] > mark:
        scalars[KILLED] -= 1
        option = trail[0, scalars[KILLED]]
        trail[1, option] = 0
        for node in range(starts[option + 1] - 1, starts[option] - 1, -1):
            item = nodes[node]
            if items[3, item]:
                continue
            if items[0, item] == 0 and items[2, item] == 0 and bounds[2, item]:
                scalars[EMPTY] -= 1
            items[0, item] += 1
            items[1, item] += weights[node]


@inner
def choose(
    items: NDArray[np.int32], bounds: NDArray[np.int32], scalars: NDArray[np.int64], holes: int
) -> int:
    """The item with the fewest ways to satisfy it; -1 where nothing is left to decide, -2 where one of them
    cannot be satisfied."""
    best, least = -1, 1 << 30
    spare, fewest = -1, 1 << 30
    full = holes >= 0 and scalars[EMPTY] == holes
    for k in range(scalars[OPEN]):
        item = items[4, k]
        size = items[0, item]
        need = bounds[0, item] - items[2, item]
        if need > 0:
            left = items[1, item] - need
            if left < 0:
                return -2
            ways = size if need == 1 else min(size, left + 1)
        elif size == 0:
            continue
        elif holes >= 0 and bounds[2, item] and items[2, item] == 0:
            ways = size if full else size + 1
        else:
            if size < fewest:
                spare, fewest = item, size
            continue
        if ways < least:
            best, least = item, ways
            if ways <= 1:
                break
    return best if best >= 0 else spare


@inner
def pick(
    option: int,
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
    inside: bool,
    skipped: int,
) -> bool:
    """Choose an option: add its weights, and take out what contradicts it.

    Where it is ``inside`` its items' lists it is taken out of them itself; the item ``skipped`` is done
    already. Returns whether an item can be satisfied no more.
    """
    failed = False
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        if item != skipped:
            if items[2, item] == 0 and items[0, item] == 0 and bounds[2, item]:
                scalars[EMPTY] -= 1
            items[2, item] += weights[node]
            if items[2, item] == bounds[1, item] and not bounds[3, item]:
                close(item, items, scalars)
    if inside:
        failed = take_out(
            option, starts, nodes, weights, first, members, place, items, bounds, trail, scalars
        )
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        if item == skipped:
            continue
        if items[3, item]:
            for at in range(first[item], first[item] + items[0, item]):
                other = owner[members[at]]
                # One that contradicts in another full item as well is out already, but still in this list.
                if (
                    not trail[1, other]
                    and other != option
                    and take_out(
                        other, starts, nodes, weights, first, members, place, items, bounds, trail, scalars
                    )
                ):
                    return True
            continue
        coloured = bounds[3, item] != 0
        shade = colours[node]
        room = bounds[1, item] - items[2, item]
        if not coloured and room >= bounds[4, item]:
            continue
        at = first[item]
        while at < first[item] + items[0, item]:
            there = members[at]
            against = (shade == 0 or colours[there] != shade) if coloured else weights[there] > room
            if not against:
                at += 1
            elif take_out(
                owner[there], starts, nodes, weights, first, members, place, items, bounds, trail, scalars
            ):
                return True
    return failed


@inner
def close(item: int, items: NDArray[np.int32], scalars: NDArray[np.int64]) -> None:
    """Leave an item that is full: its list stays as it is until it is opened again."""
    items[3, item] = 1
    here, there = items[5, item], scalars[OPEN] - 1
    other = items[4, there]
    items[4, there], items[4, here] = item, other
    items[5, item], items[5, other] = there, here
    scalars[OPEN] = there


@inner
def open_again(item: int, items: NDArray[np.int32], scalars: NDArray[np.int64]) -> None:
    """Open the item that was closed last."""
    items[3, item] = 0
    scalars[OPEN] += 1


@inner
def put_back(
    option: int,
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    items: NDArray[np.int32],
    bounds: NDArray[np.int32],
    scalars: NDArray[np.int64],
    skipped: int,
) -> None:
    """Take back a pick, after the options that it took out were brought back."""
    for node in range(starts[option + 1] - 1, starts[option] - 1, -1):
        item = nodes[node]
        if item != skipped:
            if items[3, item]:
                open_again(item, items, scalars)
            items[2, item] -= weights[node]
            if items[2, item] == 0 and items[0, item] == 0 and bounds[2, item]:
                scalars[EMPTY] += 1


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
