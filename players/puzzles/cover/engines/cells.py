"""`DancingCells`: the engine that takes every cover problem: bounds, weights, colours and holes.

The compiled search of dancing cells: choose an item, try its options one after another, undo.

The options of an item that are still possible stand at the front of its list. Removing an option is a swap
and a smaller size; restoring it is a larger size. After D. E. Knuth's "dancing cells" (The Art of Computer
Programming 4, pre-fascicle 7.2.2.3), with bounds and weights as in A. Röver's BurrTools.

All functions share these arrays:

    starts: int32[options + 1]: the problem's.
    nodes: int32[4, nodes]: item, weight, colour and option of each node.
    lists: int32[2, nodes]: the nodes, item by item, possible ones first; the place of each node.
    items: int32[12, items]: its rows are named below.
    trail: int32[2, options]: removed options, in order; for each option whether it is removed.
    scalars: int64[10]: see `engine`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import (
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
    CoverEngine,
)
from players.puzzles.cover.problem import CoverProblem
from propnet.jit.decorators import ARENA, inner, kernel

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

_INSIDE, _WEIGHT, COLOUR, OWNER = range(4)
"""Rows of ``nodes``."""
_MEMBER, PLACE = range(2)
"""Rows of ``lists``."""
SIZE, LEFT, _SUM, CLOSED, ORDER, _RANK, _LOW, _HIGH, _HOLE, PAINTED, HEAVIEST, BEGIN = range(12)
"""Rows of ``items``: the number and the total weight of possible options, the chosen weight, whether the item
is full; the items, those not full first, and the place of each in that order; minimum, maximum, whether the
item may be a hole, whether it has colours, its largest weight, the start of its list."""
NOTHING, _NO_MORE = -1, -2
"""Placeholders for the option of a path: none yet; no more options."""


@inner
def _take_out(
    option: int, starts: Ints, nodes: Ints, lists: Ints, items: Ints, trail: Ints, scalars: Longs
) -> bool:
    """Remove an option from all its items. Returns whether an item can no longer be satisfied."""
    failed = False
    for node in range(starts[option], starts[option + 1]):
        item = nodes[_INSIDE, node]
        if items[CLOSED, item]:
            continue
        size = items[SIZE, item] - 1
        here, there = lists[PLACE, node], items[BEGIN, item] + size
        other = lists[_MEMBER, there]
        lists[_MEMBER, there], lists[_MEMBER, here] = node, other
        lists[PLACE, node], lists[PLACE, other] = there, here
        items[SIZE, item] = size
        items[LEFT, item] -= nodes[_WEIGHT, node]
        if items[LEFT, item] + items[_SUM, item] < items[_LOW, item]:
            failed = True
        if size == 0 and items[_SUM, item] == 0 and items[_HOLE, item]:
            scalars[EMPTY] += 1
    trail[0, scalars[KILLED]] = option
    trail[1, option] = 1
    scalars[KILLED] += 1
    return failed


@inner
def _bring_back(mark: int, starts: Ints, nodes: Ints, items: Ints, trail: Ints, scalars: Longs) -> None:
    """Restore the removed options down to a trail of length ``mark``, the last one first."""
    while scalars[KILLED] > mark:
        scalars[KILLED] -= 1
        option = trail[0, scalars[KILLED]]
        trail[1, option] = 0
        for node in range(starts[option + 1] - 1, starts[option] - 1, -1):
            item = nodes[_INSIDE, node]
            if items[CLOSED, item]:
                continue
            if items[SIZE, item] == 0 and items[_SUM, item] == 0 and items[_HOLE, item]:
                scalars[EMPTY] -= 1
            items[SIZE, item] += 1
            items[LEFT, item] += nodes[_WEIGHT, node]


@inner
def choose(items: Ints, scalars: Longs, holes: int) -> int:
    """Return the item with the fewest ways to satisfy it, -1 if nothing is left to decide, -2 if an item
    cannot be satisfied."""
    best, least = -1, 1 << 30
    spare, fewest = -1, 1 << 30
    full = holes >= 0 and scalars[EMPTY] == holes
    for k in range(scalars[OPEN]):
        item = items[ORDER, k]
        size = items[SIZE, item]
        need = items[_LOW, item] - items[_SUM, item]
        if need > 0:
            left = items[LEFT, item] - need
            if left < 0:
                return -2
            ways = size if need == 1 else min(size, left + 1)
        elif size == 0:
            continue
        elif holes >= 0 and items[_HOLE, item] and items[_SUM, item] == 0:
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
    """Choose an option: add its weights and remove the options that contradict it.

    If the item ``skipped`` is not -1, it is already done and the option is out of its items' lists. Returns
    whether an item can no longer be satisfied.
    """
    failed = False
    for node in range(starts[option], starts[option + 1]):
        item = nodes[_INSIDE, node]
        if item != skipped:
            if items[_SUM, item] == 0 and items[SIZE, item] == 0 and items[_HOLE, item]:
                scalars[EMPTY] -= 1
            items[_SUM, item] += nodes[_WEIGHT, node]
            if items[_SUM, item] == items[_HIGH, item] and not items[PAINTED, item]:
                close(item, items, scalars)
    if skipped < 0:
        failed = _take_out(option, starts, nodes, lists, items, trail, scalars)
    for node in range(starts[option], starts[option + 1]):
        item = nodes[_INSIDE, node]
        if item == skipped:
            continue
        at = items[BEGIN, item]
        if items[CLOSED, item]:
            for k in range(at, at + items[SIZE, item]):
                other = nodes[OWNER, lists[_MEMBER, k]]
                # An option that also contradicts in another full item is already out, but still in this list.
                if (
                    not trail[1, other]
                    and other != option
                    and _take_out(other, starts, nodes, lists, items, trail, scalars)
                ):
                    return True
            continue
        coloured = items[PAINTED, item] != 0
        shade = nodes[COLOUR, node]
        room = items[_HIGH, item] - items[_SUM, item]
        if not coloured and room >= items[HEAVIEST, item]:
            continue
        while at < items[BEGIN, item] + items[SIZE, item]:
            there = lists[_MEMBER, at]
            if coloured:
                against = shade == 0 or nodes[COLOUR, there] != shade
            else:
                against = nodes[_WEIGHT, there] > room
            if not against:
                at += 1
            elif _take_out(nodes[OWNER, there], starts, nodes, lists, items, trail, scalars):
                return True
    return failed


@inner
def close(item: int, items: Ints, scalars: Longs) -> None:
    """Close a full item: its list stays as it is until the item is opened again."""
    items[CLOSED, item] = 1
    here, there = items[_RANK, item], scalars[OPEN] - 1
    other = items[ORDER, there]
    items[ORDER, there], items[ORDER, here] = item, other
    items[_RANK, item], items[_RANK, other] = there, here
    scalars[OPEN] = there


@inner
def _put_back(option: int, starts: Ints, nodes: Ints, items: Ints, scalars: Longs, skipped: int) -> None:
    """Undo a pick, after the options that it removed were restored."""
    for node in range(starts[option + 1] - 1, starts[option] - 1, -1):
        item = nodes[_INSIDE, node]
        if item != skipped:
            if items[CLOSED, item]:
                items[CLOSED, item] = 0
                scalars[OPEN] += 1
            items[_SUM, item] -= nodes[_WEIGHT, node]
            if items[_SUM, item] == 0 and items[SIZE, item] == 0 and items[_HOLE, item]:
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
    """Continue the search by about ``budget`` nodes.

    Args:
        path: int32[depth, 7]: the nodes from the root to here; see `engine` for its columns.
        candidates: int32[nodes]: options to try at nodes whose item takes one option.
        found, ends: int32[room], int64[room]: options of the solutions found, and the end of each solution.
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
            path[depth, WIDTH] = size + (items[_SUM, item] >= items[_LOW, item])
            if items[_LOW, item] == 1 and items[_HIGH, item] == 1 and not items[PAINTED, item]:
                # Remove all options of the item: once one is chosen, no other can be.
                path[depth, FIRST] = scalars[CANDIDATES]
                for k in range(size):
                    candidates[scalars[CANDIDATES] + k] = nodes[OWNER, lists[_MEMBER, items[BEGIN, item] + k]]
                scalars[CANDIDATES] += size
                items[_SUM, item] = 1
                close(item, items, scalars)
                for k in range(size):
                    option = candidates[path[depth, FIRST] + k]
                    _take_out(option, starts, nodes, lists, items, trail, scalars)
            scalars[DEPTH] = depth + 1
            depth += 1
        if depth == 0:
            return OVER
        level = depth - 1
        item, picked = path[level, ITEM], path[level, OPTION]
        single = path[level, FIRST] >= 0
        skipped = item if single else -1
        done = picked == _NO_MORE
        if picked >= 0:
            _bring_back(path[level, PICK_MARK], starts, nodes, items, trail, scalars)
            _put_back(picked, starts, nodes, items, scalars, skipped)
            path[level, TRIED] += 1
            path[level, OPTION] = NOTHING
            if not single:
                done = _take_out(picked, starts, nodes, lists, items, trail, scalars) or (
                    holes >= 0 and scalars[EMPTY] > holes
                )
        option = -1
        if not done:
            if single:
                if path[level, TRIED] < path[level, WIDTH]:
                    option = candidates[path[level, FIRST] + path[level, TRIED]]
            elif items[SIZE, item] > 0:
                option = nodes[OWNER, lists[_MEMBER, items[BEGIN, item]]]
        if option >= 0:
            path[level, PICK_MARK] = scalars[KILLED]
            path[level, OPTION] = option
            scalars[NODES] += 1
            failed = pick(option, skipped, starts, nodes, lists, items, trail, scalars)
            scalars[ENTERING] = not failed
        elif not done and not single and items[_SUM, item] >= items[_LOW, item]:
            path[level, OPTION] = _NO_MORE
            scalars[NODES] += 1
            scalars[ENTERING] = 1
        else:
            _bring_back(path[level, MARK], starts, nodes, items, trail, scalars)
            if single:
                items[CLOSED, item] = 0
                scalars[OPEN] += 1
                items[_SUM, item] = 0
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
    """Remove these options, and all options of the item ``skipped`` if it is not -1, then pick one (-1 for
    none).

    Returns the trail's length before the pick.
    """
    if skipped >= 0:
        items[_SUM, skipped] = 1
        close(skipped, items, scalars)
    for option in options:
        _take_out(option, starts, nodes, lists, items, trail, scalars)
    mark = scalars[KILLED]
    if picked >= 0:
        pick(picked, skipped, starts, nodes, lists, items, trail, scalars)
    return int(mark)


class DancingCells(CoverEngine):
    """Dancing cells: the options still possible for an item are the front part of an array.

    Each node branches on the item that can be satisfied in the fewest ways. An item that takes several
    options has a child for each possible option, without those tried before, and one child for no more
    options: so each set of options occurs once.
    """

    name = "cells"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        items, options = problem.items, problem.options
        super().__init__(problem, delivers=delivers)
        self._path = np.zeros((options + items + 2, 7), np.int32)
        lengths = np.diff(problem.starts)
        empty = np.flatnonzero(lengths == 0)
        # An option without items may be chosen or not: it gets an item of its own.
        where = problem.starts[empty].astype(np.int64)
        lengths = np.maximum(lengths, 1)
        self._starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        self._nodes = np.array(
            [
                np.insert(problem.nodes, where, items),
                np.insert(problem.weights, where, 1),
                np.insert(problem.colours, where, 0),
                np.repeat(np.arange(options), lengths),
            ],
            np.int32,
        )
        inside, weights = self._nodes[_INSIDE], self._nodes[_WEIGHT]
        sizes = np.bincount(inside, minlength=items + 1)
        rows = self._items = np.zeros((12, items + 1), np.int32)
        rows[SIZE] = sizes
        rows[LEFT] = np.bincount(inside, weights, items + 1)
        rows[ORDER] = rows[_RANK] = np.arange(items + 1)
        rows[_LOW, :items], rows[_HIGH, :items] = problem.minimum, problem.maximum
        rows[_HIGH, items] = len(empty)
        rows[_HOLE, :items] = problem.may_be_hole
        rows[PAINTED, :items] = problem.coloured()
        np.maximum.at(rows[HEAVIEST], inside, weights)
        rows[BEGIN] = np.cumsum(sizes) - sizes
        self._lists = np.empty((2, len(inside)), np.int32)
        self._lists[_MEMBER] = np.argsort(inside, kind="stable")
        self._lists[PLACE, self._lists[_MEMBER]] = np.arange(len(inside))
        self._trail = np.zeros((2, options + 1), np.int32)
        self._candidates = np.empty(len(inside) + 1, np.int32)
        self._scalars[OPEN] = items + 1
        self._scalars[EMPTY] = int((problem.may_be_hole & (sizes[:items] == 0)).sum())
        # Options whose weight alone exceeds a maximum never fit; the trail keeps them below every mark.
        above = (weights > rows[_HIGH, inside]) & (rows[PAINTED, inside] == 0)
        self._replay(np.unique(self._nodes[OWNER, above]), -1, -1)

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self._starts, self._nodes, self._lists, self._items, self._trail, self._scalars

    def _replay(self, options: NDArray[np.int32], picked: int, skipped: int) -> int:
        """Remove options, then pick one. Returns the trail's length before the pick."""
        return int(replay(options.astype(np.int32), picked, skipped, *self._arrays()))

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Return True: it takes every problem."""
        return True

    def _search(self, budget: int) -> int:
        holes = -1 if self.problem.holes is None else self.problem.holes
        buffers = self._path, self._candidates, self._found, self._ends
        return int(search(*self._arrays(), *buffers, holes, self.delivers, budget))

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        path = self._path[: self._scalars[DEPTH]]
        levels = []
        for level, row in enumerate(path.tolist()):
            end = int(self._scalars[KILLED]) if level + 1 == len(path) else path[level + 1, MARK]
            if row[OPTION] >= 0:
                end = row[PICK_MARK]
            first = row[FIRST]
            tried = self._trail[0, row[MARK] : end]
            if first >= 0:
                tried = self._candidates[first : first + row[WIDTH]]
            levels.append(
                {
                    "item": row[ITEM],
                    "options": tried.tolist(),
                    "pick": row[OPTION],
                    "tried": row[TRIED],
                    "width": row[WIDTH],
                    "single": first >= 0,
                }
            )
        return {"path": levels, "phase": 1 - int(self._scalars[ENTERING])} | self._head()

    def _go_to(self, saved: dict[str, Any]) -> None:
        for level in saved["path"]:
            self._go_down(level)
        self._scalars[ENTERING] = int(saved["phase"]) % 2 == 0

    def _go_down(self, level: dict[str, Any]) -> None:
        """Rebuild one node of a saved path."""
        depth = int(self._scalars[DEPTH])
        item, picked, options = int(level["item"]), int(level["pick"]), [int(o) for o in level["options"]]
        row = self._path[depth]
        row[ITEM], row[OPTION] = item, picked
        row[TRIED], row[WIDTH] = int(level["tried"]), int(level["width"])
        row[MARK] = self._scalars[KILLED]
        row[FIRST] = -1
        begin, size = int(self._items[BEGIN, item]), int(self._items[SIZE, item])
        members = self._lists[_MEMBER, begin : begin + size]
        possible = set(self._nodes[OWNER, members].tolist())
        single = bool(level["single"])
        if item < 0 or len(set(options)) < len(options) or not set(options) <= possible:
            raise ValueError("options that are not possible here")
        if single:
            if set(options) != possible or row[TRIED] > len(options) or row[WIDTH] != len(options):
                raise ValueError("not the options of this item")
            start = int(self._scalars[CANDIDATES])
            row[FIRST] = start
            self._candidates[start : start + len(options)] = options
            self._scalars[CANDIDATES] += len(options)
        if picked >= 0 and picked not in (possible if single else possible - set(options)):
            raise ValueError("an option that is not possible here")
        self._scalars[DEPTH] = depth + 1
        row[PICK_MARK] = self._replay(np.array(options, np.int32), picked, item if single else -1)
