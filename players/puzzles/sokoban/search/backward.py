"""Greedy best-first search backwards: boxes are pulled from the goals to where they begin (Takes 2008)."""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.analysis.distances import FAR
from players.puzzles.sokoban.analysis.sides import NO_SIDE, side_classes
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.search.best_first import BestFirst
from players.puzzles.sokoban.search.matching import new_matching
from players.puzzles.sokoban.search.push_search import Outcome
from propnet.jit.arrays import Int32s, Octets
from propnet.jit.decorators import ARENA, kernel


class Backward(BestFirst):
    """Greedy best-first search by pulls, from every region that the keeper may end in.

    It gives up where there are more goals than boxes.
    """

    name = "backward"
    weights = (0, 1)
    pulling = True
    corral_budget = -1

    def _aim(self, boxes: Int32s) -> None:
        task = self.task
        goals = np.ascontiguousarray(task.geometry.goals, np.int32)
        distances = start_distances(task.geometry, task.start)
        self._matching = new_matching(distances)
        self._dead = (distances == FAR).all(axis=0).astype(np.uint8)
        if len(goals) != len(boxes):
            self.outcome = Outcome.GAVE_UP
            return
        held = set(goals.tolist())
        for keeper in range(task.geometry.size):
            if keeper not in held:
                self._add_root(goals, keeper)

    def line_to(self, node: int) -> list[Push]:
        """See :meth:`BestFirst.line_to`: the last pull is the first push."""
        neighbours = self.task.geometry.neighbours
        return [(int(neighbours[square, way]), way ^ 2) for square, way in reversed(super().line_to(node))]


def start_distances(geometry: Geometry, start: Position) -> Int32s:
    """Pushes that bring each box, alone on the map, to each square.

    Returns int32, shape (boxes, size + 1); FAR where there is no way.
    """
    rows = geometry.size + 1
    distances = np.full((len(start.boxes), rows, 4), FAR, np.int32)
    neighbours = np.ascontiguousarray(geometry.neighbours, np.int32)
    boxes = np.array(start.boxes, np.int32)
    _push(neighbours, side_classes(geometry), boxes, distances, np.zeros(4 * rows, np.int32))
    least: Int32s = distances.min(axis=2)
    least[np.arange(len(boxes)), boxes] = 0
    return least


@kernel(**ARENA)
def _push(neighbours: Int32s, sides: Octets, boxes: Int32s, distances: Int32s, queue: Int32s) -> None:
    """Breadth first by pushes from each box, with the keeper on any side of it. ``distances``: int32, shape
    (boxes, size + 1, 4), by the direction that the keeper is in. ``queue``: int32, shape (4 * (size + 1),),
    holds four times the square plus the class of sides."""
    outside = len(neighbours) - 1
    for number in range(len(boxes)):
        found = distances[number]
        head, tail = 0, 0
        for side in range(4):
            if sides[boxes[number], side] != NO_SIDE:
                found[boxes[number], side] = 0
                if sides[boxes[number], side] == side:
                    queue[tail] = 4 * boxes[number] + side
                    tail += 1
        while head < tail:
            square, part = queue[head] >> 2, queue[head] & 3
            head += 1
            for behind in range(4):  # the keeper stands on this side, and pushes away from himself
                ahead = neighbours[square, behind ^ 2]
                if sides[square, behind] != part or ahead == outside:
                    continue
                there = sides[ahead, behind]
                if found[ahead, behind] != FAR:
                    continue
                for side in range(4):
                    if sides[ahead, side] == there:
                        found[ahead, side] = found[square, part] + 1
                queue[tail] = 4 * ahead + there
                tail += 1
