"""What dancing cells do at a node: choose an item, pick an option, take out what contradicts it, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner

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
