"""`MasksEngine`: searches covers on sets of options, one bit per option.

The item with the fewest branches comes first (D. E. Knuth, The Art of Computer Programming 4B, 7.2.2.1).
Choosing an option removes the sets of options that collide with it, whole words at a time, which suits
problems with many options in each item. It supports bounds, weights, colours and holes.

The compiled search on sets of options: a node of the tree is the set of options that can still be chosen.

Sets are ``uint64[words]``, option o is bit o % 64 of word o // 64. Level l has the set ``alive[l]`` and in
``path`` the item that it branches on and the option that is being tried (NONE: the item stays as it is). An
option that was tried leaves the level's set. So a solution is found once: by the first of its options in each
item.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import CoverEngine
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
from players.puzzles.cover.problem import CoverError, CoverProblem
from propnet.jit.decorators import ARENA, inner, kernel

FRESH, NONE = -2, -1
"""Placeholders for an option: none was tried yet; none is chosen."""

Ints = NDArray[np.int32]
Words = NDArray[np.uint64]

_intrinsic: Any = intrinsic
_ZERO, _ONE, _BITS = np.uint64(0), np.uint64(1), np.uint64(63)


@_intrinsic
def _ones(context: Any, value: Any) -> Any:
    """Return the number of set bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@_intrinsic
def _lowest(context: Any, value: Any) -> Any:
    """Return the number of the lowest set bit."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@inner
def _common(alive: NDArray[np.uint64], level: int, masks: NDArray[np.uint64], row: int) -> int:
    """Return the number of options that two sets have in common."""
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
    """Return the item with the fewest branches, -1 if nothing is left to decide, -2 if an item cannot be
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
        # All bounds hold: all other possible options are free to choose.
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
    """Continue the search by about ``budget`` nodes. Returns UNDERWAY, FULL (the buffer must be emptied),
    DEEP or OVER.

    Args:
        starts, nodes, weights: the problem's.
        kills: for each node the row of `masks` with the options that cannot be chosen with it; -1 if that
            depends on other chosen options.
        masks: uint64[rows, words]; row i has the options of item i.
        uneven: items with a weight above 1.
        may_be_hole, holes: as in the problem; if holes is -1 no item may be a hole.
        order: the items that have a minimum or count as holes.
        alive, path: uint64[levels, words], int32[levels, 4]: the levels.
        sums: for each item the weight of the chosen nodes in it.
        found, ends: int32[room], int64[room]: options of the solutions found, and the end of each solution.
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


_MOST_BYTES = 1 << 29
_FIRST_LEVELS = 64


class MasksEngine(CoverEngine):
    """The engine on masks (see the module), for any problem whose sets fit into half a gigabyte and in which
    each option has an item."""

    name = "masks"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        super().__init__(problem, delivers=delivers)
        self._path = np.zeros((_FIRST_LEVELS, 4), np.int32)
        options, items = problem.options, problem.items
        self._words = max((options + 63) // 64, 1)
        coloured = problem.coloured()
        self._owner = np.repeat(np.arange(options, dtype=np.int64), np.diff(problem.starts))
        self._masks, self._kills = _masks_and_kills(problem, coloured, self._owner, self._words)
        self._maximum = np.where(coloured, np.iinfo(np.int32).max, problem.maximum).astype(np.int32)
        heavy = (problem.weights > self._maximum[problem.nodes]) & ~coloured[problem.nodes]
        self._uneven = np.zeros(items, np.bool_)
        self._uneven[problem.nodes[(problem.weights > 1) & ~coloured[problem.nodes]]] = True
        self._holes = -1 if problem.holes is None else problem.holes
        must = problem.minimum > 0
        self._order = np.flatnonzero(must | (problem.may_be_hole & (self._holes >= 0))).astype(np.int32)
        can = np.ones(options, np.bool_)
        can[self._owner[heavy]] = False
        self._sums = np.zeros(items, np.int64)
        self._alive = np.zeros((_FIRST_LEVELS, self._words), np.uint64)
        self._alive[0] = _as_words(can, self._words)

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Return whether the sets fit into memory and each option has an item."""
        pairs = problem.items + len(problem.nodes) if problem.colours.any() else problem.items
        room = pairs * (problem.options // 64 + 1) * 8
        return room <= _MOST_BYTES and bool((np.diff(problem.starts) > 0).all())

    def _search(self, budget: int) -> int:
        problem = self.problem
        while True:
            before = self.nodes
            stopped: int = search(
                problem.starts,
                problem.nodes,
                problem.weights,
                self._kills,
                self._masks,
                problem.minimum,
                self._maximum,
                self._uneven,
                problem.may_be_hole,
                self._holes,
                self._order,
                self._alive,
                self._path,
                self._sums,
                self._found,
                self._ends,
                self._scalars,
                self.delivers,
                budget,
            )
            if stopped != DEEP:
                return stopped
            budget -= self.nodes - before
            self._grow(2 * len(self._alive))

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        path = self._path[: 0 if self.over else self._scalars[DEPTH]]
        items, options = path[:, ITEM].tolist(), path[:, OPTION].tolist()
        return {
            "items": items,
            "options": options,
            "entering": bool(self._scalars[ENTERING]),
        } | self._head()

    def _go_to(self, saved: dict[str, Any]) -> None:
        if len(saved["items"]) > self.problem.options + self.problem.items:
            raise ValueError("a path that is too long")
        for level, (item, option) in enumerate(zip(saved["items"], saved["options"], strict=True)):
            if level + 4 > len(self._alive):
                self._grow(2 * len(self._alive))
            self._go_down(level, item, option)
        self._scalars[ENTERING] = bool(saved.get("entering", True))

    def _go_down(self, level: int, item: int, option: int) -> None:
        """Rebuild one step of a saved path."""
        problem = self.problem
        if type(item) is not int or type(option) is not int or not 0 <= item < problem.items:
            raise ValueError("no such item")
        here = _as_bools(self._alive[level], problem.options)
        inside = here & _as_bools(self._masks[item], problem.options)
        optional = problem.minimum[item] <= self._sums[item]
        if not (optional if option == NONE else 0 <= option < problem.options and inside[option]):
            raise ValueError("no such option")
        done = inside.copy()
        if option != NONE:
            done[option + 1 :] = False
        tried = int(done.sum()) - (option != NONE)
        self._path[level] = item, option, tried, int(inside.sum()) + bool(optional)
        here &= ~done
        self._alive[level] = _as_words(here, self._words)
        if option != NONE:
            for node in range(problem.starts[option], problem.starts[option + 1]):
                inside_item = problem.nodes[node]
                self._sums[inside_item] += problem.weights[node]
                if self._kills[node] >= 0:
                    here &= ~_as_bools(self._masks[self._kills[node]], problem.options)
                    continue
                room = self._maximum[inside_item] - self._sums[inside_item]
                rivals = (problem.nodes == inside_item) & (problem.weights > room)
                here[self._owner[rivals]] = False
        self._alive[level + 1] = _as_words(here, self._words)
        self._scalars[DEPTH] = level + 1

    def _grow(self, levels: int) -> None:
        """Make room for ``levels`` levels."""
        if levels * self._words * 8 > _MOST_BYTES:
            raise CoverError("solutions have too many options for this engine", remedy="take another engine")
        more = levels - len(self._alive)
        self._alive = np.concatenate((self._alive, np.zeros((more, self._words), np.uint64)))
        self._path = np.concatenate((self._path, np.zeros((more, 4), np.int32)))


def _masks_and_kills(
    problem: CoverProblem, coloured: NDArray[np.bool_], owner: NDArray[np.int64], words: int
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the option sets of items, followed by those that a colour excludes, and for each node its row in
    them."""
    items, nodes = problem.items, problem.nodes
    least = np.full(items, np.iinfo(np.int64).max // 2)
    np.minimum.at(least, nodes, problem.weights)
    several = ~coloured & (2 * least <= problem.maximum)
    kills = np.where(several[nodes], -1, nodes).astype(np.int32)
    rows = [np.zeros(0, np.int64)] * items
    by_item = np.split(np.argsort(nodes, kind="stable"), np.cumsum(np.bincount(nodes, minlength=items))[:-1])
    for item in range(items):
        rows[item] = owner[by_item[item]]
        if coloured[item]:
            for colour in np.unique(problem.colours[by_item[item]]):
                if colour:
                    same = problem.colours[by_item[item]] == colour
                    kills[by_item[item][same]] = len(rows)
                    rows.append(owner[by_item[item][~same]])
    masks = np.zeros((len(rows), words), np.uint64)
    for row, members in enumerate(rows):
        np.bitwise_or.at(masks[row], members // 64, np.uint64(1) << (members % 64).astype(np.uint64))
    return masks, kills


def _as_words(chosen: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    padded = np.zeros(words * 64, np.bool_)
    padded[: len(chosen)] = chosen
    return np.packbits(padded, bitorder="little").view(np.uint64)


def _as_bools(words: NDArray[np.uint64], options: int) -> NDArray[np.bool_]:
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")[:options].astype(
        np.bool_
    )
