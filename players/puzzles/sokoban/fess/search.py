"""FESS, feature space search, in slices of time (Shoham and Schaeffer, "The FESS Algorithm: A Feature Based
Approach to Single-Agent Search", IEEE CoG 2020)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.board import new_board
from players.puzzles.sokoban.deadlocks.bipartite import new_bipartite
from players.puzzles.sokoban.deadlocks.corral_deadlock import new_corral_detector
from players.puzzles.sokoban.deadlocks.patterns import new_patterns
from players.puzzles.sokoban.deadsets.dead_sets import make_dead_sets
from players.puzzles.sokoban.fess.deadlocks import new_area, new_frozen_matching
from players.puzzles.sokoban.fess.features import new_knowledge, new_scratch
from players.puzzles.sokoban.fess.macro_moves import new_maneuvers
from players.puzzles.sokoban.fess.moves import Cells, Moves, new_cells, new_children, new_moves
from players.puzzles.sokoban.fess.packing_plan import PackingPlan, packing_plan
from players.puzzles.sokoban.fess.search_kernels import (
    EXHAUSTED,
    FULL,
    NODES,
    RUNNING,
    SOLVED,
    STATUS,
    OpenPosition,
    PositionTree,
    Tools,
    new_tree,
    run,
)
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push, reachable


@dataclass(frozen=True, slots=True)
class FessStyle:
    """A way to search.

    Attributes:
        ancestors: a position that is worse than one on the way to it lies in the cell of that one.
        layered: boxes count as packed by the phases of the plan; else by its loose phase.
        share: of the time.
    """

    ancestors: bool
    layered: bool
    share: float


STYLES = (FessStyle(True, True, 0.5), FessStyle(False, True, 0.25), FessStyle(False, False, 0.25))
"""The ways that share the time. Each solves levels that the others do not."""

_BYTES_A_MOVE = 28
_DEAD_SET_SECONDS = 0.3
_SLICE = 0.3
_BATCH = 8


@dataclass(slots=True)
class _Attempt:
    """One search in one style."""

    style: FessStyle
    tools: Tools
    tree: PositionTree
    moves: Moves
    cells: Cells
    spent: float = 0.0

    @property
    def status(self) -> int:
        return int(self.tree.counts[STATUS])

    def step(self, end: float) -> None:
        """Search until the thread's CPU clock shows this time."""
        begun = now = time.thread_time()
        while self.status == RUNNING and now < end:
            run(self.tools, self.tree, self.moves, self.cells, _BATCH)
            now = time.thread_time()
        self.spent += now - begun


class FessSearch:
    """Searches for pushes that solve a position, in several styles by turns.

    Attributes:
        plan: the packing plan.
        tree: what the first style has found, for people who want to look.
    """

    def __init__(
        self,
        geometry: Geometry,
        start: Position,
        memory: int = 600 << 20,
        styles: tuple[FessStyle, ...] = STYLES,
    ) -> None:
        """``memory``: bytes that the search may take, about."""
        self._geometry, self._start = geometry, start
        self.plan: PackingPlan = packing_plan(geometry, start)
        sets = make_dead_sets(geometry, 2, _DEAD_SET_SECONDS)
        size, boxes = geometry.size, len(start.boxes)
        tools = Tools(
            new_board(geometry),
            new_maneuvers(geometry),
            new_bipartite(geometry),
            new_corral_detector(geometry),
            new_patterns(geometry),
            sets.lookup,
            new_area(geometry),
            new_frozen_matching(geometry, boxes),
            new_knowledge(geometry, self.plan),
            new_scratch(geometry),
            OpenPosition(
                np.array(start.boxes, np.int32),
                np.zeros(size + 1, np.int32),
                np.zeros(6, np.int64),
                np.zeros(sets.squares.words, np.uint64),
            ),
            new_children(4 * size * boxes),
            np.zeros(1, np.int64),
        )
        most = max(1 << 16, memory // (len(styles) * (_BYTES_A_MOVE + 3)))
        self._attempts: list[_Attempt] = []
        for style in styles:
            tree = new_tree(most // 32, boxes)
            tree.boxes[0] = start.boxes
            tree.keeper[0] = start.keeper
            know = tools.know if style.layered else new_knowledge(geometry, self.plan, loose=True)
            own = tools._replace(know=know, options=np.array([style.ancestors], np.int64))
            self._attempts.append(_Attempt(style, own, tree, new_moves(most), new_cells(1 << 14)))
        self.tree = self._attempts[0].tree

    @property
    def positions(self) -> int:
        """How many positions were looked into."""
        return sum(int(attempt.tree.counts[NODES]) for attempt in self._attempts)

    @property
    def exhausted(self) -> bool:
        """Whether all positions were looked into, or left out because they are dead, and none is solved. It
        rests on keys of 64 bits that stand for positions, so it is no proof."""
        return any(attempt.status == EXHAUSTED for attempt in self._attempts)

    @property
    def full(self) -> bool:
        """Whether the memory is used up in all styles."""
        return all(attempt.status == FULL for attempt in self._attempts)

    def step(self, seconds: float) -> list[Push] | None:
        """Search for so many CPU seconds of this thread. Returns the pushes of a solution, or None."""
        end = time.thread_time() + seconds
        while not self.exhausted and not self.full and time.thread_time() < end:
            able = [attempt for attempt in self._attempts if attempt.status == RUNNING]
            attempt = min(able, key=lambda one: one.spent / one.style.share)
            attempt.step(min(end, time.thread_time() + _SLICE))
            if attempt.status == SOLVED:
                tree, node = attempt.tree, int(attempt.tree.counts[NODES]) - 1
                path: list[tuple[int, int]] = []
                while tree.parent[node] >= 0:
                    path.append((int(tree.origin[node]), int(tree.stance[node])))
                    node = int(tree.parent[node])
                return spell_out(self._geometry, self._start, reversed(path))
        return None


def spell_out(geometry: Geometry, start: Position, moves: Iterable[tuple[int, int]]) -> list[Push]:
    """The pushes that make these macro moves, each the fewest: the square of the box, and the stance that it
    comes to (:mod:`players.puzzles.sokoban.fess.macro_moves`)."""
    boxes, keeper = set(start.boxes), start.keeper
    pushes: list[Push] = []
    for origin, stance in moves:
        part = _macro(geometry, boxes, keeper, origin, stance)
        pushes += part
        boxes.remove(origin)
        boxes.add(stance >> 2)
        keeper = part[-1][0]
    return pushes


def _macro(geometry: Geometry, boxes: set[int], keeper: int, origin: int, stance: int) -> list[Push]:
    """The fewest pushes that bring one box from ``origin`` to ``stance``."""
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    walls = (boxes - {origin}) | {geometry.size}
    end, wanted = stance >> 2, neighbours[stance >> 2][stance & 3]
    came: dict[tuple[int, int], tuple[tuple[int, int], Push]] = {}
    start = origin, min(reachable(neighbours, walls | {origin}, keeper))
    waiting = deque([(start, keeper)])
    while waiting:
        here, man = waiting.popleft()
        box = here[0]
        region = reachable(neighbours, walls | {box}, man)
        if box == end and wanted in region and here != start:
            pushes: list[Push] = []
            while here != start:
                here, push = came[here]
                pushes.append(push)
            return pushes[::-1]
        for direction in range(4):
            ahead = neighbours[box][direction]
            if neighbours[box][direction ^ 2] not in region or ahead in walls:
                continue
            there = ahead, min(reachable(neighbours, walls | {ahead}, box))
            if there not in came and there != start:
                came[there] = here, (box, direction)
                waiting.append((there, box))
    raise ValueError("no pushes of this box make the move")
