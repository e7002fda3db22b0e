"""A matching of boxes to goals beside frozen boxes, which are walls for the keeper too (Kuhn 1955).

:mod:`players.puzzles.sokoban.deadlocks.bipartite` knows where frozen boxes block other boxes, but has the
keeper walk through them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, new_board, walk
from players.puzzles.sokoban.deadlocks.freeze import Freeze
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, find_blocks, meet
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Words
from propnet.jit.decorators import inner

_ENTRIES = 1 << 10
_MOST_GOALS = 64


class FrozenMatching(NamedTuple):
    """What was computed for sets of frozen boxes, and room to match.

    Attributes:
        board: with frozen boxes only; without any between queries.
        kept: uint64, shape (entries,): keys of frozen boxes and keeper's part of the map.
        masks: uint64, shape (entries, size + 1): a bit for each goal that a box there can be pushed to.
        owners: int32, shape (64,): the box that each goal is matched to, or -1.
        came: int32, shape (64,): the box that led to a goal.
        matched: int32, shape (boxes,): the goal of each box, or -1.
        queue: int32, shape (boxes,).
    """

    board: Board
    kept: Words
    masks: Words
    owners: Int32s
    came: Int32s
    matched: Int32s
    queue: Int32s


def new_frozen_matching(geometry: Geometry, boxes: int) -> FrozenMatching:
    """Room for a level with so many boxes."""
    return FrozenMatching(
        new_board(geometry),
        np.zeros(_ENTRIES, np.uint64),
        np.zeros((_ENTRIES, geometry.size + 1), np.uint64),
        np.zeros(_MOST_GOALS, np.int32),
        np.zeros(_MOST_GOALS, np.int32),
        np.zeros(boxes, np.int32),
        np.zeros(boxes, np.int32),
    )


@inner
def is_unmatched(
    found: FrozenMatching, room: Maneuvers, freeze: Freeze, goals: Int32s, boxes: Int32s, keeper: Index
) -> bool:
    """Whether boxes that ``freeze`` has not marked cannot all be matched to goals beside the marked ones."""
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
    if found.kept[entry] != key:
        found.kept[entry] = key
        _reach(found, room, goals, keeper, entry)
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = FREE
    for number in range(len(goals)):
        found.owners[number] = -1
    for number in range(len(boxes)):
        if freeze.marks[boxes[number]] != stamp and not _match(found, boxes, entry, number):
            return True
    return False


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


@inner
def _match(found: FrozenMatching, boxes: Int32s, entry: Index, first: Index) -> bool:
    """Give a box a goal, others moving on to other goals if need be, breadth first. Whether it can be."""
    one = np.uint64(1)
    visited = np.uint64(0)
    found.matched[first] = -1
    found.queue[0] = first
    head, tail = 0, 1
    while head < tail:
        number = found.queue[head]
        head += 1
        left = found.masks[entry, boxes[number]] & ~visited
        visited |= left
        goal = 0
        while left:
            while not left & one:
                left >>= one
                goal += 1
            found.came[goal] = number
            if found.owners[goal] < 0:
                while goal >= 0:
                    box = found.came[goal]
                    goal, found.matched[box] = found.matched[box], goal
                    found.owners[found.matched[box]] = box
                return True
            found.queue[tail] = found.owners[goal]
            tail += 1
            left ^= one
    return False
