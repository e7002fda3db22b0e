"""FESS, feature space search (Shoham and Schaeffer 2020), in slices of time."""

from __future__ import annotations

import time
from collections import deque

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, new_board, walk
from players.puzzles.sokoban.deadlocks.bipartite import new_bipartite
from players.puzzles.sokoban.deadlocks.corral_deadlock import new_corral_detector
from players.puzzles.sokoban.deadlocks.patterns import new_patterns
from players.puzzles.sokoban.deadsets.dead_sets import make_dead_sets
from players.puzzles.sokoban.fess.advisors import new_children
from players.puzzles.sokoban.fess.area_deadlock import new_area
from players.puzzles.sokoban.fess.cells import new_cells, new_moves
from players.puzzles.sokoban.fess.features import new_knowledge, new_scratch
from players.puzzles.sokoban.fess.macro_moves import new_maneuvers
from players.puzzles.sokoban.fess.packing_plan import packing_plan
from players.puzzles.sokoban.fess.search_kernels import (
    EXHAUSTED,
    FULL,
    NODES,
    RUNNING,
    SOLVED,
    STATUS,
    Desk,
    Tools,
    new_tree,
    run,
)
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push


class FessSearch:
    """A search that is run in slices."""

    def __init__(
        self,
        geometry: Geometry,
        start: Position,
        memory: int = 600 << 20,
        one: bool = False,
        options: tuple[int, ...] = (1, 4, 300),
        most=2,
        secs=0.3,
    ) -> None:
        self.geometry, self.start = geometry, start
        size = geometry.size
        self.plan = packing_plan(geometry, start, one)
        self.know = new_knowledge(geometry, self.plan)
        sets = make_dead_sets(geometry, most, secs)
        self.sizes = sets.sizes
        self.board = new_board(geometry)
        self.tree = new_tree(400_000, len(start.boxes))
        self.moves = new_moves(12_000_000)
        self.cells = new_cells(20_000)
        self.tree.boxes[0] = start.boxes
        self.tree.keeper[0] = start.keeper
        self.arrays = (
            Tools(
                self.board,
                new_maneuvers(geometry),
                new_bipartite(geometry),
                new_corral_detector(geometry),
                new_patterns(geometry),
                sets.lookup,
                new_area(geometry),
                self.know,
                new_scratch(geometry),
                Desk(
                    np.array(start.boxes, np.int32),
                    np.zeros(size + 1, np.int32),
                    np.zeros(6, np.int64),
                    np.zeros(sets.squares.words, np.uint64),
                ),
                new_children(len(start.boxes) * 2 * size),
                np.array([*options, *[0] * 8][:8], np.int64),
            ),
            self.tree,
            self.moves,
            self.cells,
        )

    @property
    def exhausted(self) -> bool:
        return bool(self.tree.counts[STATUS] == EXHAUSTED)

    @property
    def full(self) -> bool:
        return bool(self.tree.counts[STATUS] == FULL)

    def step(self, seconds: float) -> list[Push] | None:
        """Search for so many CPU seconds of this thread. Returns the pushes of a solution, or None."""
        end = time.thread_time() + seconds
        while self.tree.counts[STATUS] == RUNNING and time.thread_time() < end:
            run(*self.arrays, 8)
        if self.tree.counts[STATUS] == SOLVED:
            return self._pushes(int(self.tree.counts[NODES]) - 1)
        return None

    def _pushes(self, node: int) -> list[Push]:
        """The pushes that lead to a position."""
        path: list[int] = []
        while self.tree.parent[node] >= 0:
            path.append(node)
            node = int(self.tree.parent[node])
        boxes, keeper = set(self.start.boxes), self.start.keeper
        pushes: list[Push] = []
        for node in reversed(path):
            origin, stance = int(self.tree.origin[node]), int(self.tree.stance[node])
            part = _macro(self.geometry, boxes, keeper, origin, stance)
            pushes += part
            boxes.remove(origin)
            boxes.add(stance >> 2)
            keeper = part[-1][0] if part else keeper
        return pushes


def _region(neighbours, walls, start):
    seen = {start}
    waiting = [start]
    while waiting:
        for there in neighbours[waiting.pop()]:
            if there not in walls and there not in seen:
                seen.add(there)
                waiting.append(there)
    return seen


def _macro(geometry: Geometry, boxes: set[int], keeper: int, origin: int, stance: int) -> list[Push]:
    """The fewest pushes that bring one box from ``origin`` to ``stance``."""
    neighbours = geometry.neighbours.tolist()
    walls = (boxes - {origin}) | {geometry.size}
    first = _region(neighbours, walls | {origin}, keeper)
    came: dict[tuple[int, int], tuple[tuple[int, int], Push] | None] = {(origin, min(first)): None}
    waiting = deque([(origin, keeper)])
    end, wanted = stance >> 2, neighbours[stance >> 2][stance & 3]
    while waiting:
        box, man = waiting.popleft()
        region = _region(neighbours, walls | {box}, man)
        here = box, min(region)
        if box == end and wanted in region and came[here] is not None:
            pushes: list[Push] = []
            while (entry := came[here]) is not None:
                here, push = entry
                pushes.append(push)
            return pushes[::-1]
        for direction in range(4):
            ahead = neighbours[box][direction]
            if neighbours[box][direction ^ 2] not in region or ahead in walls:
                continue
            there = ahead, min(_region(neighbours, walls | {ahead}, box))
            if there not in came:
                came[there] = here, (box, direction)
                waiting.append((ahead, box))
    raise AssertionError("a macro move that cannot be made")
