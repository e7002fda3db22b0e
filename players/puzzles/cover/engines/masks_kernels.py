"""The compiled search on sets of options: a node of the tree is the set of options that can still be chosen.

Sets are ``uint64[words]``, option o is bit o % 64 of word o // 64. Level l has the set ``alive[l]``, the item
``items[l]`` that it branches on and ``options[l]``, the option that is being tried (NONE: the item stays as
it is; FRESH: the level was not looked at yet). Options that were tried leave the level's set, so a solution
is found once: by the first of its options in each item.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from propnet.jit.decorators import ARENA, inner, kernel

FRESH, NONE = -2, -1
"""Instead of an option: the level was not looked at yet; no option is chosen."""

DONE, PAUSED, FULL, DEEP = 0, 1, 2, 3
"""Why the search stopped: all is searched; enough nodes; no room for solutions; no room for levels."""

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


@kernel(**ARENA)
def search(
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
    most_nodes: int,
    delivers: bool,
) -> int:
    """Search on. Returns DONE, PAUSED, FULL or DEEP.

    Args:
        starts, nodes, weights: the problem's.
        kills: for each node the row of `masks` with the options that cannot be chosen beside it; -1 where
        that
            depends on what else is chosen.
        masks: uint64[rows, words]; row i has the options of item i.
        uneven: items with a weight above 1.
        may_be_hole, holes: as in the problem; no item may be one where holes is -1.
        order: the items that have a minimum or count as holes.
        alive, items, options, widths, tried: the levels; how many branches one has, and how many were taken.
        sums: for each item the weight of the chosen nodes in it.
        solutions, lengths: int32[room, levels] and int32[room].
        state: int64[4]: level, nodes, solutions in all, solutions in the buffer.
    """
    words = alive.shape[1]
    level, count, found, kept = state[0], state[1], state[2], state[3]
    last = count + most_nodes
    stopped = DONE
    while level >= 0:
        if options[level] == FRESH:
            if count >= last:
                stopped = PAUSED
                break
            if level + 2 >= alive.shape[0]:
                stopped = DEEP
                break
            if delivers and kept == lengths.shape[0]:
                stopped = FULL
                break
            count += 1
            best, least, empty, fits = -1, 1 << 60, 0, True
            for place in range(order.shape[0]):
                item = order[place]
                need = minimum[item] - sums[item]
                if need > 0:
                    number = _common(alive, level, masks, item)
                    if uneven[item]:
                        weight = 0
                        for word in range(words):
                            rest = alive[level, word] & masks[item, word]
                            while rest != _ZERO:
                                option = word * 64 + int(_lowest(rest))
                                rest &= rest - _ONE
                                for node in range(starts[option], starts[option + 1]):
                                    if nodes[node] == item:
                                        weight += weights[node]
                        fits = weight >= need
                        cost = number
                    else:
                        fits = number >= need
                        cost = number - need + 1
                elif holes >= 0 and may_be_hole[item] and sums[item] == 0:
                    number = _common(alive, level, masks, item)
                    if number == 0:
                        empty += 1
                        if empty > holes:
                            fits = False
                            break
                        continue
                    cost = number + 1
                else:
                    continue
                if not fits:
                    break
                if cost < least:
                    best, least = item, cost
                    if cost <= 1:
                        break
            if not fits:
                level -= 1
                continue
            if best < 0:
                # All bounds hold; whatever else can be chosen may be.
                first = -1
                for word in range(words):
                    if alive[level, word] != _ZERO:
                        first = word * 64 + int(_lowest(alive[level, word]))
                        break
                if first < 0:
                    found += 1
                    if delivers:
                        length = 0
                        for below in range(level):
                            if options[below] >= 0:
                                solutions[kept, length] = options[below]
                                length += 1
                        lengths[kept] = length
                        kept += 1
                    level -= 1
                    continue
                best = nodes[starts[first]]
            items[level] = best
            options[level] = NONE
            tried[level] = 0
            widths[level] = _common(alive, level, masks, best)
            if minimum[best] - sums[best] <= 0:
                widths[level] += 1
        else:
            # Back from a branch.
            option = options[level]
            if option == NONE:
                level -= 1
                continue
            for node in range(starts[option], starts[option + 1]):
                sums[nodes[node]] -= weights[node]
        item = items[level]
        tried[level] += 1
        option = NONE
        for word in range(words):
            rest = alive[level, word] & masks[item, word]
            if rest != _ZERO:
                option = word * 64 + int(_lowest(rest))
                break
        options[level] = option
        if option == NONE:
            if minimum[item] - sums[item] > 0:
                level -= 1
                continue
            for word in range(words):
                alive[level + 1, word] = alive[level, word]
        else:
            alive[level, option // 64] &= ~(_ONE << (np.uint64(option) & _BITS))
            for word in range(words):
                alive[level + 1, word] = alive[level, word]
            for node in range(starts[option], starts[option + 1]):
                inside = nodes[node]
                sums[inside] += weights[node]
                row = kills[node]
                if row >= 0:
                    for word in range(words):
                        alive[level + 1, word] &= ~masks[row, word]
                    continue
                room = maximum[inside] - sums[inside]
                if uneven[inside]:
                    for word in range(words):
                        rest = alive[level + 1, word] & masks[inside, word]
                        while rest != _ZERO:
                            low = _lowest(rest)
                            rest &= rest - _ONE
                            other = word * 64 + int(low)
                            for there in range(starts[other], starts[other + 1]):
                                if nodes[there] == inside and weights[there] > room:
                                    alive[level + 1, word] &= ~(_ONE << low)
                elif room <= 0:
                    for word in range(words):
                        alive[level + 1, word] &= ~masks[inside, word]
        level += 1
        options[level] = FRESH
    state[0], state[1], state[2], state[3] = level, count, found, kept
    return stopped
