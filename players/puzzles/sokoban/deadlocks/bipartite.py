"""Bipartite deadlocks: boxes that no matching brings to goals of their own (Kuhn 1955), with frozen boxes as
walls.

Boxes that are frozen on goals stay there for ever. They take their goals away and block ways to other goals.
Then more squares are dead, perhaps more boxes frozen, and so on. The goals that can be reached from each
square next to a set of frozen boxes are computed once and cached.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, Board, new_board, place_boxes
from players.puzzles.sokoban.deadlocks.freeze import Freeze, freeze_all, new_freeze
from players.puzzles.sokoban.distances import NO_SIDE, Sides, find_sides, side_of
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Index, Int32s, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

_MEBIBYTES = 8.0
"""The approximate size of the cache."""


class GoalMatching(NamedTuple):
    """A matching of boxes to goals by augmenting paths (Kuhn 1955).

    Attributes:
        reach: uint64, shape (boxes, words): a bit for each possible goal of a box.
        owners: int32, shape (goals,): the box matched to each goal, or -1.
        came: int32, shape (goals,): the box from which the search reached each goal.
        matched: int32, shape (boxes,): the goal of each box.
        queue: int32, shape (boxes,).
        visited: uint64, shape (words,).
    """

    reach: Words
    owners: Int32s
    came: Int32s
    matched: Int32s
    queue: Int32s
    visited: Words


def new_goal_matching(boxes: int, goals: int) -> GoalMatching:
    """Return arrays to match ``boxes`` boxes."""
    words = max(1, (goals + 63) // 64)
    return GoalMatching(
        np.zeros((boxes, words), np.uint64),
        np.zeros(goals, np.int32),
        np.zeros(goals, np.int32),
        np.zeros(boxes, np.int32),
        np.zeros(boxes, np.int32),
        np.zeros(words, np.uint64),
    )


@inner
def can_match(matching: GoalMatching, count: Index) -> bool:
    """Return whether the first ``count`` boxes of ``matching.reach`` can all have goals of their own."""
    matching.owners[:] = -1
    first = 0
    while first < count and _give_goal(matching, first):
        first += 1
    return bool(first >= count)


@inner
def count_matched(matching: GoalMatching, count: Index) -> Index:
    """Return how many of the first ``count`` boxes of ``matching.reach`` can have goals of their own at the
    same time."""
    matching.owners[:] = -1
    found = 0
    for first in range(count):
        found += _give_goal(matching, first)
    return np.int64(found)


@inner
def _give_goal(matching: GoalMatching, first: Index) -> bool:
    """Give a box a goal, breadth-first; other boxes move on to other goals if necessary. Returns whether that
    is possible."""
    reach, visited, queue = matching.reach, matching.visited, matching.queue
    owners, came, matched = matching.owners, matching.came, matching.matched
    visited[:] = 0
    matched[first] = -1
    queue[0] = first
    head, tail = 0, 1
    while head < tail:
        number = np.int64(queue[head])
        head += 1
        for word in range(len(visited)):
            left = reach[number, word] & ~visited[word]
            visited[word] |= left
            goal = 64 * word
            while left:
                while not left & np.uint64(1):
                    left >>= np.uint64(1)
                    goal += 1
                came[goal] = number
                if owners[goal] < 0:
                    given = np.int64(goal)
                    while given >= 0:
                        box = came[given]
                        before = np.int64(matched[box])
                        owners[given], matched[box] = box, given
                        given = before
                    return True
                queue[tail] = owners[goal]
                tail += 1
                left ^= np.uint64(1)
    return False


class Bipartite(NamedTuple):
    """The detector's data about a level, and its scratch space.

    Attributes:
        sides: the sides of the level.
        freeze: its ``dead`` is that of ``entry`` 0.
        goals: int32, shape (goals,).
        cached: uint64, shape (entries,): keys of sets of frozen boxes; entry 0 is for no frozen boxes.
        masks: uint64, shape (entries, size + 1, 4, words): a bit for each goal that a box can reach with
            those frozen boxes, by its square and the class of the keeper's side.
        dead: uint8, shape (entries, size + 1): bit d is set if no goal can be reached with the keeper on side
            d.
        matching: the matching of boxes to goals.
        queue: int32, shape (4 * (size + 1),).
        blocked: uint8, shape (size + 1,): 1 where a frozen box stands.
        marks: int32, shape (4 * (size + 1),): zeros.
    """

    sides: Sides
    freeze: Freeze
    goals: Int32s
    cached: Words
    masks: Words
    dead: Octets
    matching: GoalMatching
    queue: Int32s
    blocked: Octets
    marks: Int32s


def new_bipartite(geometry: Geometry) -> Bipartite:
    """Return the detector of a level."""
    rows, goals = geometry.size + 1, len(geometry.goals)
    words = max(1, (goals + 63) // 64)
    fit = int(_MEBIBYTES * 2**20 / (rows * (32 * words + 1)))
    entries = 1 + (1 << max(2, min(12, fit.bit_length() - 1)))
    found = Bipartite(
        find_sides(geometry),
        new_freeze(geometry),
        np.ascontiguousarray(geometry.goals, np.int32),
        np.zeros(entries, np.uint64),
        np.zeros((entries, rows, 4, words), np.uint64),
        np.zeros((entries, rows), np.uint8),
        new_goal_matching(rows, goals),
        np.zeros(4 * rows, np.int32),
        np.zeros(rows, np.uint8),
        np.zeros(4 * rows, np.int32),
    )
    _fill(new_board(geometry), found, np.int64(0))
    return found


@inner
def is_bipartite_deadlock(board: Board, bipartite: Bipartite, keeper: Index) -> bool:
    """Return whether a box is frozen off the goals, or the other boxes cannot all be matched to goals of
    their own. ``keeper``: any square of the keeper's region."""
    entry, count = frozen_entry(board, bipartite)
    if entry < 0:
        return True
    masks, reach, freeze = bipartite.masks[entry], bipartite.matching.reach, bipartite.freeze
    left = 0
    for square in range(len(board.occupied) - 1):
        if board.occupied[square] == BOXED and not (count and freeze.marks[square] == freeze.stamp[0]):
            part = side_of(bipartite.sides, np.int64(square), keeper)
            if part != NO_SIDE:  # otherwise the keeper cannot reach it, and the cached masks do not apply
                for word in range(reach.shape[1]):
                    reach[left, word] = masks[square, part, word]
                left += 1
    return not can_match(bipartite.matching, left)


@inner
def frozen_entry(board: Board, bipartite: Bipartite) -> tuple[Index, Index]:
    """Find all frozen boxes, which ``freeze.marks`` then marks. Returns their entry in ``masks`` and
    ``dead``, and their number; -1 and their number if one is not on a goal."""
    freeze = bipartite.freeze
    entry, before = np.int64(0), np.int64(0)
    while True:
        count = np.int64(freeze_all(board, freeze, bipartite.dead[entry]))
        if count == before:
            return entry, count
        before = count
        key = np.uint64(0)
        for number in range(count):
            box = freeze.group[number]
            if not board.goal[box]:
                return np.int64(-1), count
            key ^= board.keys[0, box]
        entry = np.int64(1) + np.int64(key & np.uint64(len(bipartite.cached) - 2))
        if bipartite.cached[entry] != key:
            bipartite.cached[entry] = key
            for number in range(count):
                bipartite.blocked[freeze.group[number]] = 1
            _reach(board, bipartite, entry)
            for number in range(count):
                bipartite.blocked[freeze.group[number]] = 0


@inner
def _reach(board: Board, bipartite: Bipartite, entry: Index) -> None:
    """Fill an entry by pulls from each goal that is not blocked."""
    neighbours, classes, blocked = board.neighbours, bipartite.sides.classes, bipartite.blocked
    masks, queue, marks = bipartite.masks[entry], bipartite.queue, bipartite.marks
    masks[:] = 0
    for number in range(len(bipartite.goals)):
        goal = np.int64(bipartite.goals[number])
        if blocked[goal]:
            continue
        word, bit = number // 64, np.uint64(1) << np.uint64(number % 64)
        tail = 0
        for side in range(4):
            if classes[goal, side] == side:
                queue[tail] = 4 * goal + side
                marks[4 * goal + side] = 1
                tail += 1
        head = 0
        while head < tail:
            square, part = np.int64(queue[head] >> 2), queue[head] & 3
            head += 1
            for back in range(4):
                origin = np.int64(neighbours[square, back])
                if classes[square, back] != part or blocked[origin]:
                    continue
                behind = np.int64(classes[origin, back])
                if behind == NO_SIDE or blocked[neighbours[origin, back]]:
                    continue
                if not marks[4 * origin + behind]:
                    marks[4 * origin + behind] = 1
                    queue[tail] = 4 * origin + behind
                    tail += 1
        for number_met in range(tail):
            met = np.int64(queue[number_met])
            masks[met >> 2, met & 3, word] |= bit
            marks[met] = 0
    for place in range(len(board.occupied)):
        dead = 0
        for side in range(4):
            part = classes[place, side]
            reaches = False
            if part != NO_SIDE:
                for word in range(masks.shape[2]):
                    reaches |= masks[place, part, word] != 0
            if not reaches:
                dead |= 1 << side
        bipartite.dead[entry, place] = dead


def has_bipartite_deadlock(geometry: Geometry, position: Position) -> bool:
    """Return :func:`is_bipartite_deadlock` for Python."""
    board, bipartite = new_board(geometry), new_bipartite(geometry)
    place_boxes(board, position)
    return bool(_is_bipartite_deadlock(board, bipartite, np.int64(position.keeper)))


@kernel(**ARENA)
def _is_bipartite_deadlock(board: Board, bipartite: Bipartite, keeper: Index) -> bool:
    """Call the kernel from Python."""
    return is_bipartite_deadlock(board, bipartite, keeper)


@kernel(**ARENA)
def _fill(board: Board, bipartite: Bipartite, entry: Index) -> None:
    """Fill an entry with no boxes frozen."""
    _reach(board, bipartite, entry)
