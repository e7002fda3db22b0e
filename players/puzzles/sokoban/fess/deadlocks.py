"""Deadlocks that only FESS examines: boxes near each other, and boxes beside frozen ones.

**Area deadlocks** (Shoham and Schaeffer 2020, appendix, there for rooms): boxes near each other that can
neither all leave their surroundings nor rest there on goals, by a search of these boxes alone
(:mod:`players.puzzles.sokoban.deadlocks.boxes_alone`). A box is removed as soon as it leaves, which only
helps. So a box that can leave does so at once, before any other push.

**Frozen matching** (Kuhn 1955): a matching of boxes to goals with frozen boxes as walls, also for the keeper.
:mod:`players.puzzles.sokoban.deadlocks.bipartite` knows where frozen boxes block other boxes, but lets the
keeper walk through them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, OUTSIDE, Board, new_board, walk
from players.puzzles.sokoban.deadlocks.bipartite import GoalMatching, can_match, new_goal_matching
from players.puzzles.sokoban.deadlocks.boxes_alone import BoxSearch, are_dead_alone, new_box_search
from players.puzzles.sokoban.deadlocks.freeze import Freeze
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, find_blocks, meet
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Words
from propnet.jit.decorators import inner

_MOST_BOXES = 12
_MOST_STATES = 1000


class Area(NamedTuple):
    """Scratch space.

    Attributes:
        search: of the boxes of the area.
        inside: int32, shape (size + 1,): squares of the area hold the stamp.
        stamp: int32, shape (1,).
        queue: int32, shape (2, size + 1): squares of the area, and their distances.
    """

    search: BoxSearch
    inside: Int32s
    stamp: Int32s
    queue: Int32s


def new_area(geometry: Geometry) -> Area:
    """Return scratch space for searches of up to :data:`_MOST_STATES` states."""
    rows = geometry.size + 1
    return Area(
        new_box_search(geometry, _MOST_BOXES, _MOST_STATES, 4 * _MOST_BOXES * _MOST_STATES),
        np.zeros(rows, np.int32),
        np.zeros(1, np.int32),
        np.zeros((2, rows), np.int32),
    )


@inner
def is_area_deadlock(
    position: Board, area: Area, center: Index, keeper: Index, radius: Index, budget: Index
) -> bool:
    """Return whether the boxes within ``radius`` steps of ``center`` are dead, with the keeper on his square.
    At most ``budget`` states are examined."""
    if budget == 0:
        return False
    boxes = area.search.nodes
    if area.stamp[0] == 2**31 - 1:
        area.stamp[0] = 0
        area.inside[:] = 0
    area.stamp[0] += 1
    stamp = np.int64(area.stamp[0])
    area.inside[center] = stamp
    area.queue[0, 0] = center
    area.queue[1, 0] = 0
    head, tail, count, away = 0, 1, 0, 0
    while head < tail:
        square, steps = area.queue[0, head], area.queue[1, head]
        head += 1
        if position.occupied[square] == BOXED:
            if count == _MOST_BOXES:
                return False
            boxes[0, count] = square
            count += 1
            away += position.goal[square] == 0
        if steps == radius:
            continue
        for direction in range(4):
            there = position.neighbours[square, direction]
            if position.occupied[there] != OUTSIDE and area.inside[there] != stamp:
                area.inside[there] = stamp
                area.queue[0, tail] = there
                area.queue[1, tail] = steps + 1
                tail += 1
    if count < 2 or away == 0:
        return False
    key = position.keys[0, center] * np.uint64(0x9E3779B97F4A7C15)
    return are_dead_alone(area.search, area.inside, stamp, key, count, keeper, budget, True)


_ENTRIES = 1 << 10
_MOST_GOALS = 64


class FrozenMatching(NamedTuple):
    """Cached results for sets of frozen boxes, and a matching.

    Attributes:
        board: with only frozen boxes; empty between queries.
        cached: uint64, shape (entries,): keys of frozen boxes and the keeper's part of the map.
        masks: uint64, shape (entries, size + 1): a bit for each goal to which a box there can be pushed.
        matching: the matching of boxes to goals.
    """

    board: Board
    cached: Words
    masks: Words
    matching: GoalMatching


def new_frozen_matching(geometry: Geometry, boxes: int) -> FrozenMatching:
    """Return arrays for a level with ``boxes`` boxes."""
    return FrozenMatching(
        new_board(geometry),
        np.zeros(_ENTRIES, np.uint64),
        np.zeros((_ENTRIES, geometry.size + 1), np.uint64),
        new_goal_matching(boxes, _MOST_GOALS),
    )


@inner
def is_unmatched(
    found: FrozenMatching, room: Maneuvers, freeze: Freeze, goals: Int32s, boxes: Int32s, keeper: Index
) -> bool:
    """Return whether the boxes that ``freeze`` has not marked cannot all be matched to goals, with the marked
    ones as walls."""
    board = found.board
    if len(goals) > _MOST_GOALS:
        return False
    key = np.uint64(0)
    stamp = freeze.stamp[0]
    for number in range(len(boxes)):
        if freeze.marks[boxes[number]] == stamp:
            board.occupied[boxes[number]] = BOXED
            key ^= board.keys[0, boxes[number]]
    if key == 0:
        return False
    key ^= board.keys[1, walk(board, keeper)]
    entry = np.int64(key >> np.uint64(16)) & _ENTRIES - 1
    if found.cached[entry] != key:
        found.cached[entry] = key
        _reach(found, room, goals, keeper, entry)
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = FREE
    left = 0
    for number in range(len(boxes)):
        if freeze.marks[boxes[number]] != stamp:
            found.matching.reach[left, 0] = found.masks[entry, boxes[number]]
            left += 1
    return not can_match(found.matching, left)


@inner
def _reach(found: FrozenMatching, room: Maneuvers, goals: Int32s, keeper: Index, entry: Index) -> None:
    """Fill an entry by pulls from each goal."""
    board, masks = found.board, found.masks
    neighbours, occupied = board.neighbours, board.occupied
    for square in range(len(occupied)):
        masks[entry, square] = 0
    base = room.clock[0]
    find_blocks(board, room, keeper)
    for number in range(len(goals)):
        goal = goals[number]
        if occupied[goal] == BOXED:
            continue
        bit = np.uint64(1) << np.uint64(number)
        masks[entry, goal] |= bit
        if room.met[goal] <= base:
            continue
        room.clock[1] += 1
        count: Index = 0
        head = 0
        for side in range(4):
            if occupied[neighbours[goal, side]] == FREE:
                count = meet(board, room, 4 * goal + side, count)
        while head < count:
            stance = room.stances[head]
            head += 1
            square = stance >> 2
            masks[entry, square] |= bit
            for side in range(4):
                there = neighbours[square, side]
                if (
                    occupied[there] == FREE
                    and room.block[4 * square + side] == room.block[stance]
                    and occupied[neighbours[there, side]] == FREE
                ):
                    count = meet(board, room, 4 * there + side, count)
