"""`MasksEngine`: searches covers on sets of options, a bit for each.

The item with the fewest branches comes first (D. E. Knuth, The Art of Computer Programming 4B, 7.2.2.1).
Choosing an option removes the sets of options that collide with it, whole words at a time, which suits
problems with many options in each item. It knows bounds, weights, colours and holes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines import layout as at
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.masks_kernels import NONE, search
from players.puzzles.cover.problem import CoverError, CoverProblem

_MOST_BYTES = 1 << 29
_FIRST_LEVELS = 64


class MasksEngine(CoverEngine):
    """See the module; any problem whose sets fit into half a gigabyte, in which each option has an item."""

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
        """Whether its sets fit into memory, and each option has an item."""
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
            if stopped != at.DEEP:
                return stopped
            budget -= self.nodes - before
            self._grow(2 * len(self._alive))

    def saved(self) -> dict[str, Any]:
        """See :meth:`CoverEngine.saved`."""
        path = self._path[: 0 if self.over else self._scalars[at.DEPTH]]
        items, options = path[:, at.ITEM].tolist(), path[:, at.OPTION].tolist()
        return {
            "items": items,
            "options": options,
            "entering": bool(self._scalars[at.ENTERING]),
        } | self._head()

    def _go_to(self, saved: dict[str, Any]) -> None:
        if len(saved["items"]) > self.problem.options + self.problem.items:
            raise ValueError("a path that is too long")
        for level, (item, option) in enumerate(zip(saved["items"], saved["options"], strict=True)):
            if level + 4 > len(self._alive):
                self._grow(2 * len(self._alive))
            self._go_down(level, item, option)
        self._scalars[at.ENTERING] = bool(saved.get("entering", True))

    def _go_down(self, level: int, item: int, option: int) -> None:
        """Take a step of a path that was saved."""
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
        self._scalars[at.DEPTH] = level + 1

    def _grow(self, levels: int) -> None:
        """Room for so many levels."""
        if levels * self._words * 8 > _MOST_BYTES:
            raise CoverError("solutions have too many options for this engine", remedy="take another engine")
        more = levels - len(self._alive)
        self._alive = np.concatenate((self._alive, np.zeros((more, self._words), np.uint64)))
        self._path = np.concatenate((self._path, np.zeros((more, 4), np.int32)))


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
