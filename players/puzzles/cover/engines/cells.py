"""`DancingCells`: the engine that takes every cover problem: bounds, weights, colours and holes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines import cells_kernel as kernel
from players.puzzles.cover.engines import layout as at
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.problem import CoverProblem


class DancingCells(CoverEngine):
    """Dancing cells: the options still possible for an item are the front part of an array.

    At each node the item is taken that can be satisfied in the fewest ways. An item that takes several
    options has a child for each of them, without those tried before, and one for no more of them: so each
    set of options is met once.
    """

    name = "cells"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        items, options = problem.items, problem.options
        super().__init__(problem, delivers=delivers)
        self._path = np.zeros((options + items + 2, 7), np.int32)
        lengths = np.diff(problem.starts)
        empty = np.flatnonzero(lengths == 0)
        # An option of no items may be chosen or not: an item of its own says so.
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
        inside, weights = self._nodes[kernel.INSIDE], self._nodes[kernel.WEIGHT]
        sizes = np.bincount(inside, minlength=items + 1)
        rows = self._items = np.zeros((12, items + 1), np.int32)
        rows[kernel.SIZE] = sizes
        rows[kernel.LEFT] = np.bincount(inside, weights, items + 1)
        rows[kernel.ORDER] = rows[kernel.RANK] = np.arange(items + 1)
        rows[kernel.LOW, :items], rows[kernel.HIGH, :items] = problem.minimum, problem.maximum
        rows[kernel.HIGH, items] = len(empty)
        rows[kernel.HOLE, :items] = problem.may_be_hole
        rows[kernel.PAINTED, :items] = problem.coloured()
        np.maximum.at(rows[kernel.HEAVIEST], inside, weights)
        rows[kernel.BEGIN] = np.cumsum(sizes) - sizes
        self._lists = np.empty((2, len(inside)), np.int32)
        self._lists[kernel.MEMBER] = np.argsort(inside, kind="stable")
        self._lists[kernel.PLACE, self._lists[kernel.MEMBER]] = np.arange(len(inside))
        self._trail = np.zeros((2, options + 1), np.int32)
        self._candidates = np.empty(len(inside) + 1, np.int32)
        self._scalars[at.OPEN] = items + 1
        self._scalars[at.EMPTY] = int((problem.may_be_hole & (sizes[:items] == 0)).sum())
        # Options whose weight alone is above a maximum never fit; the trail keeps them below every mark.
        above = (weights > rows[kernel.HIGH, inside]) & (rows[kernel.PAINTED, inside] == 0)
        self._replay(np.unique(self._nodes[kernel.OWNER, above]), -1, -1)

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self._starts, self._nodes, self._lists, self._items, self._trail, self._scalars

    def _replay(self, options: NDArray[np.int32], picked: int, skipped: int) -> int:
        """Take out options, pick one; the trail's length before the pick."""
        return int(kernel.replay(options.astype(np.int32), picked, skipped, *self._arrays()))

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Every problem."""
        return True

    def _search(self, budget: int) -> int:
        holes = -1 if self.problem.holes is None else self.problem.holes
        buffers = self._path, self._candidates, self._found, self._ends
        return int(kernel.search(*self._arrays(), *buffers, holes, self.delivers, budget))

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        path = self._path[: self._scalars[at.DEPTH]]
        levels = []
        for level, row in enumerate(path.tolist()):
            end = int(self._scalars[at.KILLED]) if level + 1 == len(path) else path[level + 1, at.MARK]
            if row[at.OPTION] >= 0:
                end = row[at.PICK_MARK]
            first = row[at.FIRST]
            tried = self._trail[0, row[at.MARK] : end]
            if first >= 0:
                tried = self._candidates[first : first + row[at.WIDTH]]
            levels.append(
                {
                    "item": row[at.ITEM],
                    "options": tried.tolist(),
                    "pick": row[at.OPTION],
                    "tried": row[at.TRIED],
                    "width": row[at.WIDTH],
                    "single": first >= 0,
                }
            )
        return {"path": levels, "phase": 1 - int(self._scalars[at.ENTERING])} | self._head()

    def _go_to(self, saved: dict[str, Any]) -> None:
        for level in saved["path"]:
            self._go_down(level)
        self._scalars[at.ENTERING] = int(saved["phase"]) % 2 == 0

    def _go_down(self, level: dict[str, Any]) -> None:
        """Make one node of a saved path again."""
        depth = int(self._scalars[at.DEPTH])
        item, picked, options = int(level["item"]), int(level["pick"]), [int(o) for o in level["options"]]
        row = self._path[depth]
        row[at.ITEM], row[at.OPTION] = item, picked
        row[at.TRIED], row[at.WIDTH] = int(level["tried"]), int(level["width"])
        row[at.MARK] = self._scalars[at.KILLED]
        row[at.FIRST] = -1
        begin, size = int(self._items[kernel.BEGIN, item]), int(self._items[kernel.SIZE, item])
        members = self._lists[kernel.MEMBER, begin : begin + size]
        possible = set(self._nodes[kernel.OWNER, members].tolist())
        single = bool(level["single"])
        if item < 0 or len(set(options)) < len(options) or not set(options) <= possible:
            raise ValueError("options that are not possible here")
        if single:
            if set(options) != possible or row[at.TRIED] > len(options) or row[at.WIDTH] != len(options):
                raise ValueError("not the options of this item")
            start = int(self._scalars[at.CANDIDATES])
            row[at.FIRST] = start
            self._candidates[start : start + len(options)] = options
            self._scalars[at.CANDIDATES] += len(options)
        if picked >= 0 and picked not in (possible if single else possible - set(options)):
            raise ValueError("an option that is not possible here")
        self._scalars[at.DEPTH] = depth + 1
        row[at.PICK_MARK] = self._replay(np.array(options, np.int32), picked, item if single else -1)
