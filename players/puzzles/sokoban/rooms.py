"""Tunnels, the rooms between them, and the order in which to pack goals (after Junghanns and Schaeffer 2001).

A box that was pushed to a square with a wall beside it can only go on or back. If the square is the only link
between both ends, the keeper cannot get in front of the box, and nothing behind it changes the part in front.
So if the box may not stay, the next push is as good now as later. Nothing more is sound: a box in a tunnel
with a way around may have to wait there (Microban I #10), and so may a box on a goal.

The packing order is found in reverse, box by box. All goals hold a box. A box can leave if it can be pulled
to the start square of some box, with the others as walls and the keeper coming from outside. Boxes that can
leave are removed, which only makes space, until none is left or none can leave. The last box out is the first
box in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.distances import NO_SIDE, dead_sides, side_classes
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import reachable
from propnet.jit.arrays import Flags, Index, Int32s, Octets
from propnet.jit.decorators import inner, kernel


def forced_pushes(geometry: Geometry) -> Octets:
    """Return the squares and directions in which a push may continue at once.

    Returns uint8, shape (size + 1,): bit d is set if a box just pushed to the square in direction d loses
    nothing by a further push in the same direction, once the square in front is free. From any solvable
    position that push leads to a position that can be solved with as many pushes.
    """
    size, neighbours = geometry.size, geometry.neighbours
    sides, dead = side_classes(geometry), dead_sides(geometry)
    forced = np.zeros(size + 1, np.uint8)
    goals = set(geometry.goals.tolist())
    for square in range(size):
        if square in goals:
            continue
        for way in range(4):
            ahead, behind = sides[square, way], sides[square, way ^ 2]
            if NO_SIDE in (ahead, behind) or ahead == behind:
                continue
            one, two = way ^ 1, way ^ 3  # the two directions across
            left, right = neighbours[square, one], neighbours[square, two]
            walled = size in (left, right)
            if walled or (dead[left] >> two & 1 and dead[right] >> one & 1):
                forced[square] |= 1 << way
    return forced


def tunnel_squares(geometry: Geometry) -> Flags:
    """Return the squares of tunnels, bool, shape (size + 1,): squares with walls on both sides and open at
    both ends, and the bends that link two such squares."""
    is_open = geometry.neighbours != geometry.size
    upright = is_open[:, 0] & is_open[:, 2] & ~is_open[:, 1] & ~is_open[:, 3]
    level = ~is_open[:, 0] & ~is_open[:, 2] & is_open[:, 1] & is_open[:, 3]
    flags: Flags = upright | level
    bends = (is_open.sum(axis=1) == 2) & ~flags
    linked = flags[geometry.neighbours].sum(axis=1) == 2
    flags |= bends & linked
    return flags


def tunnels(geometry: Geometry) -> list[tuple[int, ...]]:
    """Return every tunnel as its squares, from one end to the other."""
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    inside = set(np.flatnonzero(tunnel_squares(geometry)).tolist())
    found = []
    waiting = sorted(inside, key=lambda square: sum(there in inside for there in neighbours[square]))
    seen: set[int] = set()
    for square in waiting:  # ends first; a tunnel without ends is a ring
        way = []
        while square not in seen:
            seen.add(square)
            way.append(square)
            square = next((there for there in neighbours[square] if there in inside - seen), square)
        if way:
            found.append(tuple(way))
    return sorted(found)


_NO_ROOM = -1


@dataclass(frozen=True, slots=True)
class Room:
    """A part of a level that only tunnels lead to.

    Attributes:
        squares: ascending.
        goals: its squares that are goals.
        entrances: the neighbouring squares of tunnels.
    """

    squares: tuple[int, ...]
    goals: tuple[int, ...]
    entrances: tuple[int, ...]


def rooms(geometry: Geometry) -> list[Room]:
    """Return all rooms of a level, ordered by their lowest squares."""
    numbers = room_numbers(geometry)
    goals = set(geometry.goals.tolist())
    found = []
    for number in range(int(numbers.max(initial=_NO_ROOM)) + 1):
        squares = np.flatnonzero(numbers == number).tolist()
        entrances = set(geometry.neighbours[squares].ravel().tolist()) - {geometry.size, *squares}
        found.append(Room(tuple(squares), tuple(sorted(goals & set(squares))), tuple(sorted(entrances))))
    return found


def room_numbers(geometry: Geometry) -> Int32s:
    """Return the room of each square: int32, shape (size + 1,); NO_ROOM in tunnels and outside."""
    numbers = np.full(geometry.size + 1, _NO_ROOM, np.int32)
    shut = {geometry.size, *np.flatnonzero(tunnel_squares(geometry)).tolist()}
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    count = 0
    for first in range(geometry.size):
        if first in shut or numbers[first] != _NO_ROOM:
            continue
        numbers[list(reachable(neighbours, shut, first))] = count
        count += 1
    return numbers


@dataclass(frozen=True, slots=True)
class _PackingOrder:
    """An order in which goals can be filled, one box after the other.

    Attributes:
        layers: goals; the goals of a layer in any order, after all previous layers.
        stuck: goals that no single box can leave: their boxes must be packed together, and first.
        entrances: for each goal, the entrances of its room that its box can use when all previous layers are
            packed; none for goals outside rooms.
    """

    layers: tuple[tuple[int, ...], ...]
    stuck: tuple[int, ...]
    entrances: dict[int, tuple[int, ...]]

    @property
    def order(self) -> tuple[int, ...]:
        """Return all goals of the layers, in the order of filling."""
        return tuple(goal for layer in self.layers for goal in layer)


def packing_order(geometry: Geometry, start: Position) -> _PackingOrder:
    """Return the packing order of all goals of a level."""
    rows = geometry.size + 1
    neighbours = np.ascontiguousarray(geometry.neighbours, np.int32)
    blocked = np.zeros(rows, np.uint8)
    blocked[geometry.size] = 1
    left = set(geometry.goals.tolist())
    blocked[list(left)] = 1
    begins = np.array([start.keeper, *start.boxes], np.int32)
    doors = {goal: set(room.entrances) for room in rooms(geometry) for goal in room.goals}
    seen, marks = np.zeros((rows, 4), np.uint8), np.zeros((2, rows), np.int32)
    queue, floods = np.zeros(4 * rows, np.int32), np.zeros(rows, np.int32)
    layers, entrances = [], {}
    while left:
        layer = []
        for goal in sorted(left):
            _pull_out(neighbours, blocked, np.int64(goal), begins, seen, marks, queue, floods)
            met = set(np.flatnonzero(seen.any(axis=1)).tolist())
            if met & (set(start.boxes) - (left - {goal})):
                layer.append(goal)
                entrances[goal] = tuple(sorted(met & doors.get(goal, set())))
        if not layer:
            break
        layers.append(tuple(layer))
        left -= set(layer)
        blocked[layer] = 0
    return _PackingOrder(tuple(reversed(layers)), tuple(sorted(left)), entrances)


@kernel
def _pull_out(
    neighbours: Int32s,
    blocked: Octets,
    box: Index,
    begins: Int32s,
    seen: Octets,
    marks: Int32s,
    queue: Int32s,
    floods: Int32s,
) -> None:
    """Find the squares to which a box can be pulled by a keeper who comes from any of ``begins``.

    Other boxes and the outside are ``blocked``, uint8, shape (size + 1,). ``seen``, shape (size + 1, 4),
    receives 1 for each square of the box and side of the keeper. Scratch space: marks (2, size + 1), queue (4
    * (size + 1),), floods (size + 1,).
    """
    seen[:] = 0
    blocked[box] = 1
    tail: Index = np.int64(0)
    for square in begins:
        if not blocked[square]:
            tail = _note_sides(neighbours, blocked, box, np.int64(square), seen, marks, queue, tail, floods)
    blocked[box] = 0
    head = 0
    while head < tail:
        square, side = np.int64(queue[head] >> 2), queue[head] & 3
        head += 1
        there = np.int64(neighbours[square, side])
        keeper = np.int64(neighbours[there, side])
        if not blocked[keeper]:
            blocked[there] = 1
            tail = _note_sides(neighbours, blocked, there, keeper, seen, marks, queue, tail, floods)
            blocked[there] = 0
    blocked[box] = 1


@inner
def _note_sides(
    neighbours: Int32s,
    blocked: Octets,
    box: Index,
    keeper: Index,
    seen: Octets,
    marks: Int32s,
    queue: Int32s,
    tail: Index,
    floods: Int32s,
) -> Index:
    """Queue the new sides of a box that the keeper can walk to. Returns the new end."""
    for side in range(4):
        if neighbours[box, side] == keeper and seen[box, side]:
            return tail
    marks[1, 0] += 1
    stamp = marks[1, 0]
    marks[0, keeper] = stamp
    floods[0] = keeper
    head, end, open_sides = 0, 1, 0
    for side in range(4):
        open_sides += blocked[neighbours[box, side]] == 0 and neighbours[box, side] != keeper
    while head < end and open_sides:
        square = floods[head]
        head += 1
        for way in range(4):
            there = neighbours[square, way]
            if not blocked[there] and marks[0, there] != stamp:
                marks[0, there] = stamp
                floods[end] = there
                end += 1
                for side in range(4):
                    open_sides -= neighbours[box, side] == there
    for side in range(4):
        if marks[0, neighbours[box, side]] == stamp and not seen[box, side]:
            seen[box, side] = 1
            queue[tail] = 4 * box + side
            tail += 1
    return tail
