"""Solve levels with few positions in plain Python: loading the kernels of the other searches takes longer
than examining some thousand positions.

A* by pushes (Hart, Nilsson and Raphael 1968). A map is one integer with a bit for each of its characters, so
a shift moves all squares at once: the keeper's region grows in all directions together, and one expression
gives all boxes that can be pushed in a direction.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from typing import ClassVar

from players.puzzles.sokoban.geometry import STEPS, is_drawn
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.push_search import PushSearch, PushTask
from players.puzzles.sokoban.solution import Outcome

SECONDS = 0.15
"""CPU seconds after which it gives up: a small part of the startup time of the other searches."""
_MOST_SQUARES = 400
"""On larger maps a single walk of the keeper takes too long."""

_Position = tuple[int, int]
"""The boxes, and the lowest square of the keeper's region."""
_Way = tuple[int, _Position, int, int]
"""The number of pushes to a position, the previous position, and the last push: the box, the direction."""
_Waiting = tuple[int, int, int, _Position, int]
"""A lower bound of the pushes of a solution, the pushes left, the pushes made; the position; the region."""


class FewPositions(PushSearch):
    """Finds a solution with the fewest pushes, or proves that there is none.

    It gives up after 0.15 CPU seconds, on maps of more than 400 squares, and if neighbouring squares are not
    drawn next to each other. It may use some megabytes.
    """

    name: ClassVar[str] = "few-positions"

    def __init__(self, task: PushTask) -> None:
        super().__init__(task)
        self._used = 0.0
        self._search: _Search | None = None

    def step(self, deadline: float) -> bool:
        """See :class:`~players.companions.Stepwise`."""
        began = time.thread_time() - self._used
        while not self.over:
            if self._search is None:
                self._begin()
            elif not self._search.queue:
                self.outcome = Outcome.UNSOLVABLE
            elif (found := self._search.expand()) is not None:
                self._conclude(found)
            elif time.thread_time() - began >= SECONDS:
                self.outcome = Outcome.GAVE_UP
            if time.monotonic() >= deadline:
                break
        self._used = time.thread_time() - began
        if self._search is not None:
            self.positions = len(self._search.came)
            self.bound = self._search.queue[0][1] if self._search.queue else -1
        return self.over

    def _begin(self) -> None:
        geometry = self.task.geometry
        if geometry.size > _MOST_SQUARES or not is_drawn(geometry):
            self.outcome = Outcome.GAVE_UP
        else:
            self._search = _Search(self.task)

    def _conclude(self, pushes: list[Push]) -> None:
        most = self.task.most_pushes
        if most is not None and len(pushes) > most:
            self.outcome = Outcome.UNSOLVABLE
        else:
            self.pushes, self.optimal, self.outcome = pushes, True, Outcome.SOLVED

    def close(self) -> None:
        """Free its memory."""
        self._search = None


class _Search:
    """The search of one position, one expansion at a time.

    Attributes:
        came: the push that led to each position.
        queue: the positions to expand, a heap.
    """

    def __init__(self, task: PushTask) -> None:
        geometry = task.geometry
        places = geometry.places - geometry.places.min(axis=0) + 1
        self._width = width = int(places[:, 1].max()) + 2
        bits = [1 << y * width + x for y, x in places.tolist()]
        self._numbers = {bit: number for number, bit in enumerate(bits)}
        self._floor = reduce(or_, bits)
        self._goals = reduce(or_, (bits[goal] for goal in geometry.goals.tolist()))
        self._steps = tuple(down * width + right for down, right in STEPS)
        self._distances = dict(self._pulls())
        self._alive = reduce(or_, self._distances)
        square = 1 | 2 | 1 << width | 2 << width
        self._squares = [(square, back) for back in (0, 1, width, width + 1)]
        self.came: dict[_Position, _Way] = {}
        self.queue: list[_Waiting] = []
        boxes = reduce(or_, (bits[box] for box in task.start.boxes), 0)
        if not boxes & ~self._alive:
            region = self._region(bits[task.start.keeper], boxes)
            position = boxes, region & -region
            estimate = sum(self._distances[box] for box in _each(boxes))
            self.came[position] = 0, position, 0, 0
            self.queue.append((estimate, estimate, 0, position, region))

    def expand(self) -> list[Push] | None:
        """Expand the most promising position. Returns the pushes that lead to it if it is solved, otherwise
        None."""
        came, distances, alive = self.came, self._distances, self._alive
        _, left, pushed, here, region = heapq.heappop(self.queue)
        if came[here][0] < pushed:
            return None  # a way with fewer pushes was found since
        boxes = here[0]
        if not boxes & ~self._goals:
            return self._line(here)
        free = alive & ~boxes
        pushed += 1
        for direction, step in enumerate(self._steps):
            for box in _each(boxes & _shift(region, step) & _shift(free, -step)):
                there = _shift(box, step)
                after = boxes ^ box ^ there
                if self._is_stuck(after, there):
                    continue
                walked = self._region(box, after)
                position = after, walked & -walked
                earlier = came.get(position)
                if earlier is None or earlier[0] > pushed:
                    came[position] = pushed, here, box, direction
                    rest = left - distances[box] + distances[there]
                    # Among equal estimates the position nearest to a solution comes first.
                    heapq.heappush(self.queue, (pushed + rest, rest, pushed, position, walked))
        return None

    def _region(self, keeper: int, boxes: int) -> int:
        """Return the squares that the keeper can walk to."""
        width, free, region, grown = self._width, self._floor & ~boxes, 0, keeper
        while grown != region:
            region = grown
            grown = (region | region << 1 | region >> 1 | region << width | region >> width) & free
        return region

    def _is_stuck(self, boxes: int, moved: int) -> bool:
        """Whether the moved box is part of a 2x2 block of boxes and walls in which some box is off the
        goals."""
        full, off, last = boxes | ~self._floor, boxes & ~self._goals, moved.bit_length() - 1
        for square, back in self._squares:
            four = square << last - back
            if full & four == four and off & four:
                return True
        return False

    def _pulls(self) -> Iterator[tuple[int, int]]:
        """Yield the squares from which a lone box can be pushed to a goal, with the fewest pushes, for any
        place of the keeper."""
        seen, front, pushes = 0, self._goals, 0
        while front:
            for square in _each(front):
                yield square, pushes
            seen |= front
            before = 0
            for step in self._steps:
                # The box comes from behind, and the keeper stands one square further back.
                before |= _shift(front, -step) & self._floor & _shift(self._floor, step)
            front, pushes = before & ~seen, pushes + 1

    def _line(self, position: _Position) -> list[Push]:
        """Return the pushes that led to a position."""
        pushes: list[Push] = []
        while (way := self.came[position])[0]:
            _, position, box, direction = way
            pushes.append((self._numbers[box], direction))
        return pushes[::-1]


def _shift(bits: int, step: int) -> int:
    return bits << step if step > 0 else bits >> -step


def _each(bits: int) -> Iterable[int]:
    """Yield the bits, one by one."""
    while bits:
        lowest = bits & -bits
        yield lowest
        bits ^= lowest
