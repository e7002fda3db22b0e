"""`MasksEngine`: searches covers on sets of options, a bit for each.

The item with the fewest branches comes first (D. E. Knuth, The Art of Computer Programming 4B, 7.2.2.1).
Choosing an option removes the sets of options that collide with it, whole words at a time, which suits
problems with many options in each item. It knows bounds, weights, colours and holes.
"""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.masks_kernels import DEEP, DONE, FRESH, FULL, NONE, search
from players.puzzles.cover.problem import CoverError, CoverProblem
from players.puzzles.cover.saving import damaged, number

_MOST_BYTES = 1 << 29
_ROOM = 1024
_SLICE = 2_000


class MasksEngine(CoverEngine):
    """See the module; any problem whose sets fit into half a gigabyte, in which each option has an item."""

    name = "masks"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        super().__init__(problem, delivers=delivers)
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
        self._state = np.zeros(4, np.int64)
        self._alive = np.zeros((0, self._words), np.uint64)
        self._levels = np.zeros((4, 0), np.int32)
        self._grow(64)
        self._alive[0] = _as_words(can, self._words)
        self._levels[1, 0] = FRESH
        self._found: list[NDArray[np.int32]] = []
        self._rate = _SLICE / 1e-3

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        """Whether its sets fit into memory, and each option has an item."""
        pairs = problem.items + len(problem.nodes) if problem.colours.any() else problem.items
        room = pairs * (problem.options // 64 + 1) * 8
        return room <= _MOST_BYTES and bool((np.diff(problem.starts) > 0).all())

    def step(self, deadline: float, nodes: int | None = None) -> bool:
        """See :meth:`CoverEngine.step`."""
        goal = None if nodes is None else self.nodes + nodes
        while not self.over:
            now = time.monotonic()
            slice_nodes = max(int(min(deadline - now, 0.1) * self._rate), 200)
            if goal is not None:
                slice_nodes = min(slice_nodes, goal - self.nodes)
            before = self.nodes
            stopped = self._search(slice_nodes)
            passed = time.monotonic() - now
            if passed > 1e-4:
                self._rate = max((self.nodes - before) / passed, 1e3)
            if stopped == DONE:
                self.over = True
            elif stopped == DEEP:
                self._grow(2 * len(self._alive))
            elif stopped == FULL:
                break
            if time.monotonic() >= deadline or (goal is not None and self.nodes >= goal):
                break
        return not self.over

    def _search(self, nodes: int) -> int:
        self._take()
        problem = self.problem
        items, options, widths, tried = self._levels
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
            items,
            options,
            widths,
            tried,
            self._sums,
            self._solutions,
            self._lengths,
            self._state,
            nodes,
            self.delivers,
        )
        self.nodes, self.count = int(self._state[1]), int(self._state[2])
        return stopped

    def _take(self) -> None:
        """Solutions go from the kernel's buffer to the list."""
        kept = int(self._state[3])
        if kept:
            rows = np.sort(np.where(self._inside()[:kept], self._solutions[:kept], np.iinfo(np.int32).max))
            self._found += [row[:length] for row, length in zip(rows, self._lengths[:kept], strict=True)]
            self._state[3] = 0

    def _inside(self) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = np.arange(self._solutions.shape[1]) < self._lengths[:, None]
        return inside

    def taken(self) -> list[NDArray[np.int32]]:
        """See :meth:`CoverEngine.taken`."""
        self._take()
        found, self._found = self._found, []
        return found

    @property
    def progress(self) -> float:
        """See :meth:`CoverEngine.progress`."""
        if self.over:
            return 1.0
        done, share = 0.0, 1.0
        for level in range(int(self._state[0])):
            share /= max(int(self._levels[2, level]), 1)
            done += share * max(int(self._levels[3, level]) - 1, 0)
        return min(done, 1.0)

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        level = int(self._state[0])
        return {
            "items": self._levels[0, : max(level, 0)].tolist(),
            "options": self._levels[1, : max(level, 0)].tolist(),
            "over": self.over,
            "nodes": self.nodes,
            "count": self.count,
        }

    @classmethod
    def resumed(cls, problem: CoverProblem, saved: dict[str, Any], *, delivers: bool = True) -> Self:
        """See :meth:`CoverEngine.resumed`."""
        engine = cls(problem, delivers=delivers)
        items, options = saved.get("items"), saved.get("options")
        if (
            type(saved.get("over")) is not bool
            or not isinstance(items, list)
            or not isinstance(options, list)
        ):
            raise damaged("the engine's state is not whole")
        if len(items) != len(options) or len(items) > problem.options + problem.items:
            raise damaged("the engine's path is too long")
        engine.nodes, engine.count = number(saved, "nodes"), number(saved, "count")
        if max(engine.nodes, engine.count) >= 1 << 62:
            raise damaged("the engine has too many nodes")
        engine._state[1:3] = engine.nodes, engine.count
        if saved["over"]:
            engine.over = True
            engine._state[0] = -1
            return engine
        while len(engine._alive) < len(items) + 4:
            engine._grow(2 * len(engine._alive))
        for level, (item, option) in enumerate(zip(items, options, strict=True)):
            engine._descend(level, item, option)
        return engine

    def _descend(self, level: int, item: object, option: object) -> None:
        """Take a step of a path that was saved."""
        problem = self.problem
        if type(item) is not int or type(option) is not int or not 0 <= item < problem.items:
            raise damaged("the engine's path has no such item")
        here = _as_bools(self._alive[level], problem.options)
        inside = here & _as_bools(self._masks[item], problem.options)
        optional = problem.minimum[item] - self._sums[item] <= 0
        if not (optional if option == NONE else 0 <= option < problem.options and inside[option]):
            raise damaged("the engine's path has no such option")
        self._levels[0, level], self._levels[1, level] = item, option
        self._levels[2, level] = int(inside.sum()) + bool(optional)
        done = inside.copy()
        if option != NONE:
            done[option + 1 :] = False
        self._levels[3, level] = int(done.sum()) + (option == NONE)
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
        self._levels[1, level + 1] = FRESH
        self._state[0] = level + 1

    def _grow(self, levels: int) -> None:
        """Room for so many levels."""
        if levels * self._words * 8 > _MOST_BYTES:
            raise CoverError("solutions have too many options for this engine", remedy="take another engine")
        if hasattr(self, "_solutions"):
            self._take()
        before = len(self._alive)
        alive = np.zeros((levels, self._words), np.uint64)
        alive[:before] = self._alive
        rows = np.zeros((4, levels), np.int32)
        rows[:, :before] = self._levels
        self._alive, self._levels = alive, rows
        room = max(min(_ROOM, (1 << 22) // levels), 1) if self.delivers else 1
        self._solutions = np.zeros((room, levels), np.int32)
        self._lengths = np.zeros(room, np.int32)


def _masks_and_kills(
    problem: CoverProblem, coloured: NDArray[np.bool_], owner: NDArray[np.int64], words: int
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The sets of options of items, then those that a colour excludes; and for each node its row of these."""
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
