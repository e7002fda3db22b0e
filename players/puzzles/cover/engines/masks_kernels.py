"""The compiled search on sets of options: a node of the tree is the set of options that can still be chosen.

Sets are ``uint64[words]``, option o is bit o % 64 of word o // 64. Level l has the set ``alive[l]`` and in
``path`` the item that it branches on and the option that is being tried (NONE: the item stays as it is).
Options that were tried leave the level's set, so a solution is found once: by the first of its options in
each item.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from players.puzzles.cover.engines.layout import (
    DEEP,
    DELIVERED,
    DEPTH,
    ENTERING,
    FILLED,
    FOUND,
    FULL,
    ITEM,
    NODES,
    OPTION,
    OVER,
    TRIED,
    UNDERWAY,
    WIDTH,
)
from propnet.jit.decorators import ARENA, inner, kernel

FRESH, NONE = -2, -1
"""Instead of an option: none was tried yet; none is chosen."""

Ints = NDArray[np.int32]
Words = NDArray[np.uint64]

_intrinsic: Any = intrinsic
_ZERO, _ONE, _BITS = np.uint64(0), np.uint64(1), np.uint64(63)


@_intrinsic
def _ones(context: Any, value: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@_intrinsic
def _lowest(context: Any, value: Any) -> Any:
    """The number of the lowest bit that is set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@inner
def _common(alive: NDArray[np.uint64], level: int, masks: NDArray[np.uint64], row: int) -> int:
    """How many options two sets have in common."""
    number = _ZERO
    for word in range(alive.shape[1]):
        number += _ones(alive[level, word] & masks[row, word])
    return int(number)


@inner
def choose(
    starts: Ints,
    nodes: Ints,
    weights: Ints,
    masks: Words,
    minimum: Ints,
    uneven: NDArray[np.bool_],
    may_be_hole: NDArray[np.bool_],
    holes: int,
    order: Ints,
    alive: Words,
    level: int,
    sums: NDArray[np.int64],
) -> int:
    """The item with the fewest branches; -1 where nothing is left to decide, -2 where one of them cannot be
    satisfied. The arguments are those of :func:`search`."""
    best, least, empty = -1, 1 << 60, 0
    for place in range(order.shape[0]):
        item = order[place]
        need = minimum[item] - sums[item]
        if need > 0:
            cost = _common(alive, level, masks, item)
            weight = cost
            if uneven[item]:
                weight = 0
                for word in range(alive.shape[1]):
                    rest = alive[level, word] & masks[item, word]
                    while rest != _ZERO:
                        option = word * 64 + int(_lowest(rest))
                        rest &= rest - _ONE
                        for node in range(starts[option], starts[option + 1]):
                            if nodes[node] == item:
                                weight += weights[node]
            else:
                cost += 1 - need
            if weight < need:
                return -2
        elif holes >= 0 and may_be_hole[item] and sums[item] == 0:
            cost = _common(alive, level, masks, item) + 1
            if cost == 1:
                empty += 1
                if empty > holes:
                    return -2
                continue
        else:
            continue
        if cost < least:
            best, least = item, cost
            if cost <= 1:
                break
    if best < 0:
        # All bounds hold; whatever else can be chosen may be.
        for word in range(alive.shape[1]):
            if alive[level, word] != _ZERO:
                return int(nodes[starts[word * 64 + int(_lowest(alive[level, word]))]])
    return best


@kernel(**ARENA)
def search(
    starts: Ints,
    nodes: Ints,
    weights: Ints,
    kills: Ints,
    masks: Words,
    minimum: Ints,
    maximum: Ints,
    uneven: NDArray[np.bool_],
    may_be_hole: NDArray[np.bool_],
    holes: int,
    order: Ints,
    alive: Words,
    path: Ints,
    sums: NDArray[np.int64],
    found: Ints,
    ends: NDArray[np.int64],
    scalars: NDArray[np.int64],
    delivers: bool,
    budget: int,
) -> int:
    """Go on by about so many nodes. Returns UNDERWAY, FULL (the buffer must be emptied), DEEP or OVER.

    Args:
        starts, nodes, weights: the problem's.
        kills: for each node the row of `masks` with the options that cannot be chosen beside it; -1 where
            that depends on what else is chosen.
        masks: uint64[rows, words]; row i has the options of item i.
        uneven: items with a weight above 1.
        may_be_hole, holes: as in the problem; no item may be one where holes is -1.
        order: the items that have a minimum or count as holes.
        alive, path: uint64[levels, words], int32[levels, 4]: the levels.
        sums: for each item the weight of the chosen nodes in it.
        found, ends: int32[room], int64[room]: options of the solutions found, and where each ends.
        scalars: int64[10]: see `layout`.
    """
    words = alive.shape[1]
    limit = scalars[NODES] + budget
    while scalars[NODES] < limit:
        depth = scalars[DEPTH]
        if scalars[ENTERING]:
            if depth + 2 >= alive.shape[0]:
                return DEEP
            item = choose(
                starts, nodes, weights, masks, minimum, uneven, may_be_hole, holes, order, alive, depth, sums
            )
            if item == -1:
                if delivers:
                    count = 0
                    for level in range(depth):
                        count += path[level, OPTION] >= 0
                    if scalars[FILLED] + count > len(found) or scalars[DELIVERED] == len(ends):
                        return FULL
                    for level in range(depth):
                        if path[level, OPTION] >= 0:
                            found[scalars[FILLED]] = path[level, OPTION]
                            scalars[FILLED] += 1
                    ends[scalars[DELIVERED]] = scalars[FILLED]
                    scalars[DELIVERED] += 1
                scalars[FOUND] += 1
            scalars[ENTERING] = 0
            if item >= 0:
                path[depth, ITEM] = item
                path[depth, OPTION] = FRESH
                path[depth, TRIED] = 0
                path[depth, WIDTH] = _common(alive, depth, masks, item) + (minimum[item] <= sums[item])
                depth += 1
                scalars[DEPTH] = depth
        if depth == 0:
            return OVER
        level = depth - 1
        item, before = path[level, ITEM], path[level, OPTION]
        if before >= 0:
            for node in range(starts[before], starts[before + 1]):
                sums[nodes[node]] -= weights[node]
        option = NONE
        if before != NONE:
            for word in range(words):
                rest = alive[level, word] & masks[item, word]
                if rest != _ZERO:
                    option = word * 64 + int(_lowest(rest))
                    break
        if before == NONE or (option == NONE and minimum[item] > sums[item]):
            scalars[DEPTH] = level
            continue
        path[level, TRIED] += before != FRESH
        path[level, OPTION] = option
        scalars[NODES] += 1
        scalars[ENTERING] = 1
        if option >= 0:
            alive[level, option // 64] &= ~(_ONE << (np.uint64(option) & _BITS))
        for word in range(words):
            alive[depth, word] = alive[level, word]
        if option == NONE:
            continue
        for node in range(starts[option], starts[option + 1]):
            inside = nodes[node]
            sums[inside] += weights[node]
            row = kills[node]
            if row >= 0:
                for word in range(words):
                    alive[depth, word] &= ~masks[row, word]
                continue
            room = maximum[inside] - sums[inside]
            if uneven[inside]:
                for word in range(words):
                    rest = alive[depth, word] & masks[inside, word]
                    while rest != _ZERO:
                        low = _lowest(rest)
                        rest &= rest - _ONE
                        other = word * 64 + int(low)
                        for there in range(starts[other], starts[other + 1]):
                            if nodes[there] == inside and weights[there] > room:
                                alive[depth, word] &= ~(_ONE << low)
            elif room <= 0:
                for word in range(words):
                    alive[depth, word] &= ~masks[inside, word]
    return UNDERWAY
