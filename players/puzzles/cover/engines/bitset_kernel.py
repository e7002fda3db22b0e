"""The inner loop of option bitsets: choose an item by counting bits, keep what agrees with a pick."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.layout import (
    DELIVERED,
    DEPTH,
    ENTERING,
    FILLED,
    FOUND,
    FULL,
    ITEM,
    NODES,
    OPEN,
    OPTION,
    OVER,
    TRIED,
    UNDERWAY,
    WIDTH,
)
from propnet.jit.arrays import Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import BYTES, count_lanes, load, lowest_bit, store

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@inner
def count(alive: Words, row: int, masks: Words, item: int, bands: Longs, enough: int) -> int:
    """How many options of an item are possible; counts no further than to ``enough``."""
    found = 0
    for at in range(bands[0, item], bands[1, item], BYTES):
        found += count_lanes(load(alive, row + at) & load(masks, item * bands[2, 0] + at))
        if found >= enough:
            break
    return found


@inner
def cover(option: int, starts: Ints, nodes: Ints, items: Ints, scalars: Longs) -> None:
    """Take an option's items from those not covered, which stand in front of ``items[0]``."""
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        here, there = items[1, item], scalars[OPEN] - 1
        if here > there:
            continue
        other = items[0, there]
        items[0, there], items[0, here] = item, other
        items[1, item], items[1, other] = there, here
        scalars[OPEN] = there


@kernel(**ARENA)
def search(
    starts: Ints,
    nodes: Ints,
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    opens: Longs,
    path: Ints,
    found: Ints,
    ends: Longs,
    scalars: Longs,
    deliver: bool,
    budget: int,
) -> int:
    """Go on by about so many nodes.

    Args:
        starts, nodes: the options' primary items: int32[options + 1], int32[nodes].
        agree: uint64[options, words]: the options that share no item with each, one bit each.
        masks: uint64[items, words]: the options of each primary item.
        bands: int64[3, items]: the bytes of a mask from its first to behind its last bit, in whole vectors;
            in the third row the bytes of a row.
        alive: uint64[depth, words]: the options still possible at each node of the path.
        items: int32[2, items]: the primary items, those not covered in front; where each stands there.
        opens: int64[depth]: how many are not covered at each node.
        path: int32[depth, 4]: see the names of its columns.
        found, ends: int32[room], int64[room]: options of the solutions found, and where each ends.
        scalars: int64[10]: see `layout`.

    Returns UNDERWAY, FULL (the buffer must be emptied) or OVER.
    """
    limit = scalars[NODES] + budget
    size = bands[2, 0]
    while scalars[NODES] < limit:
        depth = scalars[DEPTH]
        if scalars[ENTERING]:
            scalars[ENTERING] = 0
            if scalars[OPEN] == 0:
                if deliver:
                    if scalars[FILLED] + depth > len(found) or scalars[DELIVERED] == len(ends):
                        scalars[ENTERING] = 1
                        return FULL
                    for level in range(depth):
                        found[scalars[FILLED]] = path[level, OPTION]
                        scalars[FILLED] += 1
                    ends[scalars[DELIVERED]] = scalars[FILLED]
                    scalars[DELIVERED] += 1
                scalars[FOUND] += 1
                continue
            row = depth * size
            best, least = -1, 1 << 30
            for k in range(scalars[OPEN]):
                item = items[0, k]
                ways = count(alive, row, masks, item, bands, least)
                if ways < least:
                    best, least = item, ways
                    if ways <= 1:
                        break
            if least == 0:
                continue
            path[depth, ITEM] = best
            path[depth, OPTION] = -1
            path[depth, TRIED] = 0
            path[depth, WIDTH] = least
            opens[depth] = scalars[OPEN]
            scalars[DEPTH] = depth + 1
            depth += 1
        if depth == 0:
            return OVER
        level = depth - 1
        item, before = path[level, ITEM], path[level, OPTION]
        scalars[OPEN] = opens[level]
        if before >= 0:
            path[level, TRIED] += 1
        word = max(bands[0, item] >> 3, (before + 1) >> 6)
        option = -1
        while word < bands[1, item] >> 3:
            bits = alive[level, word] & masks[item, word]
            if word == (before + 1) >> 6:
                bits = (bits >> np.uint64((before + 1) & 63)) << np.uint64((before + 1) & 63)
            if bits:
                option = (word << 6) + lowest_bit(bits)
                break
            word += 1
        if option < 0:
            scalars[DEPTH] = level
            continue
        path[level, OPTION] = option
        scalars[NODES] += 1
        for at in range(0, size, BYTES):
            store(
                alive,
                (level + 1) * size + at,
                load(alive, level * size + at) & load(agree, option * size + at),
            )
        cover(option, starts, nodes, items, scalars)
        scalars[ENTERING] = 1
    return UNDERWAY


@kernel(**ARENA)
def agree_with(agree: Words, every: Words, nodes: Ints, options: Longs) -> None:
    """Take from the options that agree with each those that share an item with it.

    Args:
        agree: uint64[options, words]: one bit for each pair of options; kept so.
        every: uint64[items, words]: the options of each item.
        nodes, options: the item and the option of each node.
    """
    for node in range(len(nodes)):
        item, option = nodes[node], options[node]
        for word in range(agree.shape[1]):
            agree[option, word] &= ~every[item, word]


@kernel(**ARENA)
def try_each(
    begin: int,
    stride: int,
    open_items: NDArray[np.bool_],
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
) -> int:
    """Pick every `stride`-th option from `begin` on, alone, and take it from row 0 of ``alive`` if then an
    open item has no option left. Returns how many vectors of options were looked at.

    Row 1 of ``alive`` is for its own use; for the other arguments see :func:`search`.
    """
    size, looked = bands[2, 0], 0
    for option in range(begin, len(agree), stride):
        word, bit = option >> 6, np.uint64(option & 63)
        if not alive[0, word] >> bit & np.uint64(1):
            continue
        for at in range(0, size, BYTES):
            store(alive, size + at, load(alive, at) & load(agree, option * size + at))
        looked += size // BYTES
        for item in range(len(open_items)):
            if not open_items[item] or masks[item, word] >> bit & np.uint64(1):
                continue
            looked += 1
            if count(alive, size, masks, item, bands, 1) == 0:
                alive[0, word] &= ~(np.uint64(1) << bit)
                break
    return looked


@kernel(**ARENA)
def covered(option: int, starts: Ints, nodes: Ints, items: Ints, scalars: Longs) -> None:
    """:func:`cover` for Python."""
    cover(option, starts, nodes, items, scalars)


@kernel(**ARENA)
def solve_each(
    begins: Longs,
    given: Ints,
    counts: Longs,
    first: Ints,
    starts: Ints,
    nodes: Ints,
    agree: Words,
    masks: Words,
    bands: Longs,
    alive: Words,
    items: Ints,
    opens: Longs,
    path: Ints,
    found: Ints,
    ends: Longs,
    scalars: Longs,
) -> None:
    """Search the same problem once for each list of options that are given to begin with.

    Args:
        begins, given: int64[lists + 1], int32[options]: the lists.
        counts: int64[lists]: becomes the number of solutions, as far as ``ends`` has room for them.
        first: int32[lists, items]: becomes the other options of the first solution, -1 behind them.

    The other arguments are those of :func:`search`; the last row of ``alive`` has all options.
    """
    size = bands[2, 0]
    rows = len(alive) - 1
    for which in range(len(counts)):
        scalars[:] = 0
        scalars[ENTERING] = 1
        scalars[OPEN] = items.shape[1]
        for at in range(0, size, BYTES):
            store(alive, at, load(alive, rows * size + at))
        for k in range(begins[which], begins[which + 1]):
            option = given[k]
            if not alive[0, option >> 6] >> np.uint64(option & 63) & np.uint64(1):
                # Two of those given contradict each other.
                scalars[ENTERING] = 0
                break
            for at in range(0, size, BYTES):
                store(alive, at, load(alive, at) & load(agree, option * size + at))
            cover(option, starts, nodes, items, scalars)
        search(
            starts, nodes, agree, masks, bands, alive, items, opens, path, found, ends, scalars, True, 1 << 60
        )
        counts[which] = scalars[DELIVERED]
        first[which] = -1
        if scalars[DELIVERED]:
            for k in range(ends[0]):
                first[which, k] = found[k]
