"""`DancingCells`: the engine that takes every cover problem: bounds, weights, colours and holes."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines import cells_kernel as kernel
from players.puzzles.cover.engines import cells_moves as at
from players.puzzles.cover.engines.engine import CoverEngine, delivered
from players.puzzles.cover.problem import CoverError, CoverProblem

ROOM = 1 << 16
"""Options in the buffer of solutions."""
FIRST_BUDGET = 256


class DancingCells(CoverEngine):
    """Dancing cells: the options still possible for an item are the front part of an array.

    At each node the item is taken that can be satisfied in the fewest ways. An item that takes several
    options
    has a child for each of them, without those tried before, and one for no more of them: so each set of
    options is met once.
    """

    name = "cells"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        super().__init__(problem, delivers=delivers)
        items, options = problem.items, problem.options
        lengths = np.diff(problem.starts)
        empty = np.flatnonzero(lengths == 0)
        # An option of no items may be chosen or not: an item of its own says so.
        where = problem.starts[empty].astype(np.int64)
        self._nodes = np.insert(problem.nodes, where, items).astype(np.int32)
        self._weights = np.insert(problem.weights, where, 1).astype(np.int32)
        self._colours = np.insert(problem.colours, where, 0).astype(np.int32)
        lengths = np.maximum(lengths, 1)
        self._starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        owner = np.repeat(np.arange(options, dtype=np.int32), lengths)
        self._owner = owner
        count = items + 1
        self._bounds = np.zeros((5, count), np.int32)
        self._bounds[0, :items], self._bounds[1, :items] = problem.minimum, problem.maximum
        self._bounds[1, items] = len(empty)
        self._bounds[2, :items] = problem.may_be_hole
        self._bounds[3, :items] = problem.coloured()
        np.maximum.at(self._bounds[4], self._nodes, self._weights)
        sizes = np.bincount(self._nodes, minlength=count)
        self._first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self._members = np.argsort(self._nodes, kind="stable").astype(np.int32)
        self._place = np.empty(len(self._nodes), np.int32)
        self._place[self._members] = np.arange(len(self._nodes))
        self._items = np.zeros((6, count), np.int32)
        self._items[4] = self._items[5] = np.arange(count)
        self._items[0] = sizes
        self._items[1] = np.bincount(self._nodes, self._weights, count)
        self._trail = np.zeros((2, options + 1), np.int32)
        self._path = np.zeros((options + count + 1, 7), np.int32)
        self._candidates = np.empty(len(self._nodes) + 1, np.int32)
        self._found = np.empty(max(ROOM, options), np.int32)
        self._ends = np.empty(ROOM, np.int64)
        self._scalars = np.zeros(10, np.int64)
        self._scalars[at.OPEN] = count
        self._scalars[at.EMPTY] = int((problem.may_be_hole & (sizes[:items] == 0)).sum())
        self._budget = FIRST_BUDGET
        self._drop_what_never_fits()

    def _drop_what_never_fits(self) -> None:
        """Options whose weight alone is above a maximum; the trail keeps them below every mark."""
        above = (self._weights > self._bounds[1, self._nodes]) & (self._bounds[3, self._nodes] == 0)
        self._replay(np.unique(self._owner[above]), -1, -1)

    def _replay(self, options: NDArray[np.int32], picked: int, skipped: int) -> int:
        """Take out options, pick one; the trail's length before the pick."""
        arrays = (*self._arrays()[:11], self._scalars)
        return int(kernel.replay(options.astype(np.int32), picked, skipped, *arrays))

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Every problem."""
        return True

    def step(self, deadline: float, nodes: int | None = None) -> bool:
        limit = None if nodes is None else self.nodes + nodes
        while not self.over:
            budget = self._budget if limit is None else min(self._budget, limit - self.nodes)
            if budget <= 0:
                return True
            began = time.monotonic()
            status = kernel.search(*self._arrays(), self._hole_limit, self.delivers, budget)
            self.nodes = int(self._scalars[at.NODES])
            self.count = int(self._scalars[at.FOUND])
            self.over = status == kernel.OVER
            now = time.monotonic()
            if now - began < 0.005 and budget == self._budget and status != kernel.FULL:
                self._budget *= 2
            elif now - began > 0.02:
                self._budget = max(FIRST_BUDGET, self._budget // 2)
            if status == kernel.FULL or now >= deadline:
                break
        return not self.over

    @property
    def _hole_limit(self) -> int:
        return -1 if self.problem.holes is None else self.problem.holes

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self._starts, self._nodes, self._weights, self._colours, self._first, self._members, self._place,
            self._owner, self._items, self._bounds, self._trail, self._path, self._candidates, self._found,
            self._ends, self._scalars,
        )  # fmt: skip

    def taken(self) -> list[NDArray[np.int32]]:
        count = int(self._scalars[at.DELIVERED])
        found = self._found[: self._scalars[at.FILLED]]
        self._scalars[at.DELIVERED] = self._scalars[at.FILLED] = 0
        return delivered(found, self._ends[:count])

    @property
    def progress(self) -> float:
        if self.over:
            return 1.0
        done, share = 0.0, 1.0
        for level in range(int(self._scalars[at.DEPTH])):
            share /= max(1, int(self._path[level, at.WIDTH]))
            done += share * int(self._path[level, at.TRIED])
        return min(done, 1.0)

    def saved(self) -> dict[str, Any]:
        path = self._path[: self._scalars[at.DEPTH]]
        levels = []
        for level, row in enumerate(path.tolist()):
            mark = row[at.MARK]
            end = int(self._scalars[at.KILLED]) if level + 1 == len(path) else path[level + 1, at.MARK]
            if row[at.PICK] >= 0:
                end = row[at.PICK_MARK]
            first = row[at.FIRST]
            tried = self._trail[0, mark:end] if first < 0 else self._candidates[first : first + row[at.WIDTH]]
            levels.append(
                {
                    "item": row[at.ITEM],
                    "options": tried.tolist(),
                    "pick": row[at.PICK],
                    "tried": row[at.TRIED],
                    "width": row[at.WIDTH],
                    "single": first >= 0,
                }
            )
        return {
            "path": levels,
            "phase": int(self._scalars[at.PHASE]),
            "count": self.count,
            "nodes": self.nodes,
            "over": self.over,
        }

    @classmethod
    def resumed(cls, problem: CoverProblem, saved: dict[str, Any], *, delivers: bool = True) -> Self:
        engine = cls(problem, delivers=delivers)
        try:
            for level in saved["path"]:
                engine._go_down(level)
            engine._scalars[at.PHASE] = int(saved["phase"]) % 2
            engine.count = int(saved["count"])
            engine.nodes = int(saved["nodes"])
            engine.over = bool(saved["over"])
            engine._scalars[at.FOUND], engine._scalars[at.NODES] = engine.count, engine.nodes
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise CoverError(
                "this is no saved search of this problem", remedy="resume with the problem it was saved from"
            ) from error
        return engine

    def _go_down(self, level: dict[str, Any]) -> None:
        """Make one node of a saved path again."""
        depth = int(self._scalars[at.DEPTH])
        item, picked, options = int(level["item"]), int(level["pick"]), [int(o) for o in level["options"]]
        row = self._path[depth]
        row[at.ITEM], row[at.PICK] = item, picked
        row[at.TRIED], row[at.WIDTH] = int(level["tried"]), int(level["width"])
        row[at.MARK] = self._scalars[at.KILLED]
        row[at.FIRST] = -1
        possible = {
            int(self._owner[node])
            for node in self._members[self._first[item] : self._first[item] + self._items[0, item]]
        }
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
