"""The compiled search of dancing cells: choose an item, try its options one after another, undo.

Each item's options that are still possible stand at the front of its list; to take one out is a swap and a
smaller size, to bring it back a larger size. After D. E. Knuth's "dancing cells" (The Art of Computer
Programming 4, pre-fascicle 7.2.2.3), with bounds and weights as in A. Röver's BurrTools.

All functions share these arrays:

    starts: int32[options + 1]: the problem's.
    nodes: int32[4, nodes]: item, weight, colour and option of each node.
    lists: int32[2, nodes]: the nodes, item by item, those still possible in front; where each node stands.
    items: int32[12, items]: see the names of its rows.
    trail: int32[2, options]: options taken out, in order; whether each is.
    scalars: int64[10]: see `layout`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.layout import (
    CANDIDATES,
    DELIVERED,
    DEPTH,
    EMPTY,
    ENTERING,
    FILLED,
    FIRST,
    FOUND,
    FULL,
    ITEM,
    KILLED,
    MARK,
    NODES,
    OPEN,
    OPTION,
    OVER,
    PICK_MARK,
    TRIED,
    UNDERWAY,
    WIDTH,
)
from propnet.jit.decorators import ARENA, inner, kernel

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

INSIDE, WEIGHT, COLOUR, OWNER = range(4)
"""Rows of ``nodes``."""
MEMBER, PLACE = range(2)
"""Rows of ``lists``."""
SIZE, LEFT, SUM, CLOSED, ORDER, RANK, LOW, HIGH, HOLE, PAINTED, HEAVIEST, BEGIN = range(12)
"""Rows of ``items``: how many options are possible, what they weigh, the weight that is chosen, whether the
item is full; the items, those not full in front, and where each stands there; minimum, maximum, whether it
may be a hole, whether it has colours, its largest weight, where its list begins."""
NOTHING, NO_MORE = -1, -2
"""Instead of an option of the path: none yet; no more of them."""


@inner
def take_out(
    option: int, starts: Ints, nodes: Ints, lists: Ints, items: Ints, trail: Ints, scalars: Longs
) -> bool:
    """Take an option out of all its items; returns whether one of them can be satisfied no more."""
    failed = False
    for node in range(starts[option], starts[option + 1]):
        item = nodes[INSIDE, node]
        if items[CLOSED, item]:
            continue
        size = items[SIZE, item] - 1
        here, there = lists[PLACE, node], items[BEGIN, item] + size
        other = lists[MEMBER, there]
        lists[MEMBER, there], lists[MEMBER, here] = node, other
        lists[PLACE, node], lists[PLACE, other] = there, here
        items[SIZE, item] = size
        items[LEFT, item] -= nodes[WEIGHT, node]
        if items[LEFT, item] + items[SUM, item] < items[LOW, item]:
            failed = True
        if size == 0 and items[SUM, item] == 0 and items[HOLE, item]:
            scalars[EMPTY] += 1
    trail[0, scalars[KILLED]] = option
    trail[1, option] = 1
    scalars[KILLED] += 1
    return failed


@inner
def bring_back(mark: int, starts: Ints, nodes: Ints, items: Ints, trail: Ints, scalars: Longs) -> None:
    """Bring back the options taken out since the trail was so long, the last one first."""
    while scalars[KILLED] > mark:
        scalars[KILLED] -= 1
        option = trail[0, scalars[KILLED]]
        trail[1, option] = 0
        for node in range(starts[option + 1] - 1, starts[option] - 1, -1):
            item = nodes[INSIDE, node]
            if items[CLOSED, item]:
                continue
            if items[SIZE, item] == 0 and items[SUM, item] == 0 and items[HOLE, item]:
                scalars[EMPTY] -= 1
            items[SIZE, item] += 1
            items[LEFT, item] += nodes[WEIGHT, node]


@inner
def choose(items: Ints, scalars: Longs, holes: int) -> int:
    """The item with the fewest ways to satisfy it; -1 where nothing is left to decide, -2 where one of them
    cannot be satisfied."""
    best, least = -1, 1 << 30
    spare, fewest = -1, 1 << 30
    full = holes >= 0 and scalars[EMPTY] == holes
    for k in range(scalars[OPEN]):
        item = items[ORDER, k]
        size = items[SIZE, item]
        need = items[LOW, item] - items[SUM, item]
        if need > 0:
            left = items[LEFT, item] - need
            if left < 0:
                return -2
            ways = size if need == 1 else min(size, left + 1)
        elif size == 0:
            continue
        elif holes >= 0 and items[HOLE, item] and items[SUM, item] == 0:
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
    skipped: int,
    starts: Ints,
    nodes: Ints,
    lists: Ints,
    items: Ints,
    trail: Ints,
    scalars: Longs,
) -> bool:
    """Choose an option: add its weights, and take out what contradicts it.

    If the item ``skipped`` is not -1 it is done already, and the option is out of its items' lists. Returns
    whether an item can be satisfied no more.
    """
    failed = False
    for node in range(starts[option], starts[option + 1]):
        item = nodes[INSIDE, node]
        if item != skipped:
            if items[SUM, item] == 0 and items[SIZE, item] == 0 and items[HOLE, item]:
                scalars[EMPTY] -= 1
            items[SUM, item] += nodes[WEIGHT, node]
            if items[SUM, item] == items[HIGH, item] and not items[PAINTED, item]:
                close(item, items, scalars)
    if skipped < 0:
        failed = take_out(option, starts, nodes, lists, items, trail, scalars)
    for node in range(starts[option], starts[option + 1]):
        item = nodes[INSIDE, node]
        if item == skipped:
            continue
        at = items[BEGIN, item]
        if items[CLOSED, item]:
            for k in range(at, at + items[SIZE, item]):
                other = nodes[OWNER, lists[MEMBER, k]]
                # One that contradicts in another full item as well is out already, but still in this list.
                if (
                    not trail[1, other]
                    and other != option
                    and take_out(other, starts, nodes, lists, items, trail, scalars)
                ):
                    return True
            continue
        coloured = items[PAINTED, item] != 0
        shade = nodes[COLOUR, node]
        room = items[HIGH, item] - items[SUM, item]
        if not coloured and room >= items[HEAVIEST, item]:
            continue
        while at < items[BEGIN, item] + items[SIZE, item]:
            there = lists[MEMBER, at]
            if coloured:
                against = shade == 0 or nodes[COLOUR, there] != shade
            else:
                against = nodes[WEIGHT, there] > room
            if not against:
                at += 1
            elif take_out(nodes[OWNER, there], starts, nodes, lists, items, trail, scalars):
                return True
    return failed


@inner
def close(item: int, items: Ints, scalars: Longs) -> None:
    """Leave an item that is full: its list stays as it is until it is opened again."""
    items[CLOSED, item] = 1
    here, there = items[RANK, item], scalars[OPEN] - 1
    other = items[ORDER, there]
    items[ORDER, there], items[ORDER, here] = item, other
    items[RANK, item], items[RANK, other] = there, here
    scalars[OPEN] = there


@inner
def put_back(option: int, starts: Ints, nodes: Ints, items: Ints, scalars: Longs, skipped: int) -> None:
    """Take back a pick, after the options that it took out were brought back."""
    for node in range(starts[option + 1] - 1, starts[option] - 1, -1):
        item = nodes[INSIDE, node]
        if item != skipped:
            if items[CLOSED, item]:
                items[CLOSED, item] = 0
                scalars[OPEN] += 1
            items[SUM, item] -= nodes[WEIGHT, node]
            if items[SUM, item] == 0 and items[SIZE, item] == 0 and items[HOLE, item]:
                scalars[EMPTY] += 1


@kernel(**ARENA)
def search(
    starts: Ints,
    nodes: Ints,
    lists: Ints,
    items: Ints,
    trail: Ints,
    scalars: Longs,
    path: Ints,
    candidates: Ints,
    found: Ints,
    ends: Longs,
    holes: int,
    deliver: bool,
    budget: int,
) -> int:
    """Go on by about so many nodes.

    Args:
        path: int32[depth, 7]: the nodes from the root to here; see the names of its columns.
        candidates: int32[nodes]: options to try at nodes whose item takes one option.
        found, ends: int32[room], int64[room]: options of the solutions found, and where each ends.
        holes: how many items may be holes; -1 for any number.
        deliver: whether solutions are written to ``found``.

    Returns UNDERWAY, FULL (the buffer must be emptied) or OVER.
    """
    limit = scalars[NODES] + budget
    while scalars[NODES] < limit:
        depth = scalars[DEPTH]
        if scalars[ENTERING]:
            scalars[ENTERING] = 0
            if holes >= 0 and scalars[EMPTY] > holes:
                continue
            item = choose(items, scalars, holes)
            if item == -2:
                continue
            if item == -1:
                if deliver:
                    count = 0
                    for level in range(depth):
                        count += path[level, OPTION] >= 0
                    if scalars[FILLED] + count > len(found) or scalars[DELIVERED] == len(ends):
                        scalars[ENTERING] = 1
                        return FULL
                    for level in range(depth):
                        if path[level, OPTION] >= 0:
                            found[scalars[FILLED]] = path[level, OPTION]
                            scalars[FILLED] += 1
                    ends[scalars[DELIVERED]] = scalars[FILLED]
                    scalars[DELIVERED] += 1
                scalars[FOUND] += 1
                continue
            size = items[SIZE, item]
            path[depth, ITEM] = item
            path[depth, OPTION] = NOTHING
            path[depth, MARK] = scalars[KILLED]
            path[depth, TRIED] = 0
            path[depth, FIRST] = -1
            path[depth, WIDTH] = size + (items[SUM, item] >= items[LOW, item])
            if items[LOW, item] == 1 and items[HIGH, item] == 1 and not items[PAINTED, item]:
                # All its options go: whichever is chosen, no other can be.
                path[depth, FIRST] = scalars[CANDIDATES]
                for k in range(size):
                    candidates[scalars[CANDIDATES] + k] = nodes[OWNER, lists[MEMBER, items[BEGIN, item] + k]]
                scalars[CANDIDATES] += size
                items[SUM, item] = 1
                close(item, items, scalars)
                for k in range(size):
                    option = candidates[path[depth, FIRST] + k]
                    take_out(option, starts, nodes, lists, items, trail, scalars)
            scalars[DEPTH] = depth + 1
            depth += 1
        if depth == 0:
            return OVER
        level = depth - 1
        item, picked = path[level, ITEM], path[level, OPTION]
        single = path[level, FIRST] >= 0
        skipped = item if single else -1
        done = picked == NO_MORE
        if picked >= 0:
            bring_back(path[level, PICK_MARK], starts, nodes, items, trail, scalars)
            put_back(picked, starts, nodes, items, scalars, skipped)
            path[level, TRIED] += 1
            path[level, OPTION] = NOTHING
            if not single:
                done = take_out(picked, starts, nodes, lists, items, trail, scalars) or (
                    holes >= 0 and scalars[EMPTY] > holes
                )
        option = -1
        if not done:
            if single:
                if path[level, TRIED] < path[level, WIDTH]:
                    option = candidates[path[level, FIRST] + path[level, TRIED]]
            elif items[SIZE, item] > 0:
                option = nodes[OWNER, lists[MEMBER, items[BEGIN, item]]]
        if option >= 0:
            path[level, PICK_MARK] = scalars[KILLED]
            path[level, OPTION] = option
            scalars[NODES] += 1
            failed = pick(option, skipped, starts, nodes, lists, items, trail, scalars)
            scalars[ENTERING] = not failed
        elif not done and not single and items[SUM, item] >= items[LOW, item]:
            path[level, OPTION] = NO_MORE
            scalars[NODES] += 1
            scalars[ENTERING] = 1
        else:
            bring_back(path[level, MARK], starts, nodes, items, trail, scalars)
            if single:
                items[CLOSED, item] = 0
                scalars[OPEN] += 1
                items[SUM, item] = 0
                scalars[CANDIDATES] = path[level, FIRST]
            scalars[DEPTH] = level
            scalars[ENTERING] = 0
    return UNDERWAY


@kernel(**ARENA)
def replay(
    options: Ints,
    picked: int,
    skipped: int,
    starts: Ints,
    nodes: Ints,
    lists: Ints,
    items: Ints,
    trail: Ints,
    scalars: Longs,
) -> int:
    """Take out these options, all those of the item skipped if there is one, then pick one (-1 for none).

    Returns the trail's length before the pick.
    """
    if skipped >= 0:
        items[SUM, skipped] = 1
        close(skipped, items, scalars)
    for option in options:
        take_out(option, starts, nodes, lists, items, trail, scalars)
    mark = scalars[KILLED]
    if picked >= 0:
        pick(picked, skipped, starts, nodes, lists, items, trail, scalars)
    return int(mark)
