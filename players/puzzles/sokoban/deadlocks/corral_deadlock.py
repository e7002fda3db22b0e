"""Examine all corrals of a position at once: whether one is a deadlock, and which pushes a search needs.

Corrals are the parts of the map that the keeper cannot reach, found by union-find in one pass (Tarjan 1975).
PI-corrals are sets of boxes that can only be pushed into corrals, each such push possible now (Damgaard).

A set of boxes is closed, together with some corrals, if all boxes beside these corrals belong to it, and each
push of its boxes that is not blocked by walls, dead squares or the set itself goes into the corrals and can
be made now. Then boxes outside can neither enter the corrals nor change the possible first pushes of the set,
and such a push may as well come first. So a search needs no other push while the set must move at all: one of
its boxes is not on a goal, or a goal in its corrals still needs a box.

A set grows from one corral by the needs of its open pushes: the box in their way, or the neighbouring corral
(multi-PI-corral). It fails at a push that leads out.

A search of the boxes of a corral alone, within a budget, decides whether they can still be packed or brought
out of it (:mod:`players.puzzles.sokoban.deadlocks.boxes_alone`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, OUTSIDE, Board, new_board, place_boxes, walk
from players.puzzles.sokoban.deadlocks.boxes_alone import BoxSearch, are_dead_alone, new_box_search
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push
from propnet.jit.arrays import Index, Int32s, Octets
from propnet.jit.decorators import ARENA, inner, kernel


class _Corrals(NamedTuple):
    """The corrals of a position. All arrays are int32.

    Attributes:
        parents: shape (size + 1,): a square nearer to the root of its corral, for free squares out of reach.
        first: shape (size + 1,): the first square of a corral, by its root.
        following: shape (size + 1,): the next square of the same corral, -1 after the last.
        roots: shape (size + 1,): the roots of all corrals.
        boxes: shape (1,): the number of boxes on the board.
    """

    parents: Int32s
    first: Int32s
    following: Int32s
    roots: Int32s
    boxes: Int32s


def _new_corrals(size: int) -> _Corrals:
    """Return arrays for the corrals of a level with this many squares."""
    parents, first, following, roots = (np.zeros(size + 1, np.int32) for _ in range(4))
    return _Corrals(parents, first, following, roots, np.zeros(1, np.int32))


@inner
def _root_of(parents: Int32s, square: Index) -> Index:
    """Return the root of a square's corral; the path to it is halved."""
    while parents[square] != square:
        parents[square] = parents[parents[square]]
        square = parents[square]
    return square


@inner
def _find_corrals(board: Board, corrals: _Corrals) -> Index:
    """Find the corrals of the position of the last ``walk``, and count the boxes. Returns the number of
    corrals; the first of ``roots`` are theirs."""
    neighbours, occupied, reached, parents = board.neighbours, board.occupied, board.reached, corrals.parents
    stamp = board.stamp[0]
    size = len(occupied) - 1
    boxes, squares, count = 0, 0, 0
    for square in range(size):
        if occupied[square] == BOXED:
            boxes += 1
        elif reached[square] != stamp:
            parents[square] = square
            squares += 1
            for direction in range(4):
                there = neighbours[square, direction]
                if there < square and occupied[there] == FREE and reached[there] != stamp:
                    parents[_root_of(parents, there)] = square
    corrals.boxes[0] = boxes
    if squares == 0:
        return 0
    for square in range(size - 1, -1, -1):
        if occupied[square] == FREE and reached[square] != stamp:
            root = _root_of(parents, square)
            if root == square:
                corrals.roots[count] = root
                count += 1
                corrals.first[root] = -1
            corrals.following[square] = corrals.first[root]
            corrals.first[root] = square
    return count


_OPEN = -1
"""There is no closed set."""


class _PiCorral(NamedTuple):
    """A set of boxes and corrals that grows. All arrays are int32 except ``dead``.

    Attributes:
        corrals: all corrals of the position.
        dead: uint8, shape (size + 1,): :func:`players.puzzles.sokoban.distances.dead_sides`.
        inside: shape (size + 1,): squares of the set's corrals hold the stamp.
        members: shape (size + 1,): boxes of the set hold the stamp.
        stamp: shape (1,).
        boxes: shape (size + 1,): the boxes of the set.
        length: shape (1,): the number of these boxes.
        pushes: shape (4 * size + 1, 2): box and direction of the pushes of the set.
    """

    corrals: _Corrals
    dead: Octets
    inside: Int32s
    members: Int32s
    stamp: Int32s
    boxes: Int32s
    length: Int32s
    pushes: Int32s


def _new_pi_corral(dead: Octets) -> _PiCorral:
    """Return arrays for the sets of a level, given its dead sides."""
    rows = len(dead)
    inside, members, boxes = (np.zeros(rows, np.int32) for _ in range(3))
    stamp, length = np.zeros(1, np.int32), np.zeros(1, np.int32)
    pushes = np.zeros((4 * rows, 2), np.int32)
    return _PiCorral(_new_corrals(rows - 1), dead, inside, members, stamp, boxes, length, pushes)


@inner
def _begin_set(pi: _PiCorral) -> None:
    """Begin an empty set."""
    if pi.stamp[0] == 2**31 - 1:
        pi.inside[:] = 0
        pi.members[:] = 0
        pi.stamp[0] = 0
    pi.stamp[0] += 1
    pi.length[0] = 0


@inner
def _add_box(pi: _PiCorral, box: Index) -> None:
    """Add a box to the set, if it is not there."""
    if pi.members[box] != pi.stamp[0]:
        pi.members[box] = pi.stamp[0]
        pi.boxes[pi.length[0]] = box
        pi.length[0] += 1


@inner
def _add_corral(board: Board, pi: _PiCorral, square: Index) -> None:
    """Add the corral of a square to the set, and all boxes next to it."""
    inside = pi.corrals.first[_root_of(pi.corrals.parents, square)]
    while inside >= 0:
        pi.inside[inside] = pi.stamp[0]
        for direction in range(4):
            there = board.neighbours[inside, direction]
            if board.occupied[there] == BOXED:
                _add_box(pi, there)
        inside = pi.corrals.following[inside]


@inner
def _close_set(board: Board, pi: _PiCorral) -> Index:
    """Grow the set until it is closed. Returns the number of pushes that its boxes can make, the first rows
    of ``pushes``; _OPEN if a push leads out."""
    pushes, number = 0, 0
    while number < pi.length[0]:
        box = pi.boxes[number]
        number += 1
        for direction in range(4):
            found = _look_at(board, pi, box, direction)
            if found < 0:
                return _OPEN
            if found:
                pi.pushes[pushes, 0] = box
                pi.pushes[pushes, 1] = direction
                pushes += 1
    return pushes


@inner
def _look_at(board: Board, pi: _PiCorral, box: Index, direction: Index) -> Index:
    """Classify a push. Returns 0 if it can never be the set's first, perhaps because the set grew; 1 if it
    can be made now; -1 if it leads out, or may do so later."""
    occupied, reached, stamp = board.occupied, board.reached, board.stamp[0]
    behind, ahead = board.neighbours[box, direction ^ 2], board.neighbours[box, direction]
    if occupied[behind] == OUTSIDE or occupied[ahead] == OUTSIDE or pi.dead[ahead] >> (direction ^ 2) & 1:
        return 0
    mine = pi.stamp[0]
    if pi.members[behind] == mine or pi.members[ahead] == mine or pi.inside[behind] == mine:
        return 0
    keeper_can = reached[behind] == stamp and occupied[behind] == FREE
    if pi.inside[ahead] != mine:
        leads_out = occupied[ahead] == FREE and reached[ahead] == stamp
        if keeper_can:
            if leads_out:
                return -1
            if occupied[ahead] == BOXED:
                _add_box(pi, ahead)
                return 0
            _add_corral(board, pi, ahead)
            return 1
        if not leads_out and occupied[ahead] == FREE:
            _add_corral(board, pi, ahead)
            if pi.members[behind] == mine or pi.inside[behind] == mine:
                return 0
    if keeper_can:
        return 1
    # The keeper must never get behind this box before the set's first push.
    if occupied[behind] == FREE:
        _add_corral(board, pi, behind)
    else:
        _add_box(pi, behind)
    return 0


@inner
def _must_move(board: Board, pi: _PiCorral, goals: Index) -> bool:
    """Return whether every solution moves the set's boxes: one is not on a goal, or there are no more goals
    than boxes and one lies in the corrals. ``goals``: the number of goals of the level."""
    for number in range(pi.length[0]):
        if not board.goal[pi.boxes[number]]:
            break
    else:
        if goals > pi.corrals.boxes[0]:
            return False
        for square in range(len(board.goal)):
            if board.goal[square] and pi.inside[square] == pi.stamp[0]:
                break
        else:
            return False
    return True


_MOST_BOXES = 24


@inner
def _is_set_dead(pi: _PiCorral, search: BoxSearch, keeper: Index, budget: Index) -> bool:
    """Return whether the boxes of ``pi`` alone can neither be packed nor be brought out of their corrals, by
    expanding up to ``budget`` states."""
    count = np.int64(pi.length[0])
    if count > _MOST_BOXES or 2 * budget > len(search.seen):
        return False
    for number in range(count):
        search.nodes[0, number] = pi.boxes[number]
        pi.inside[pi.boxes[number]] = pi.stamp[0]
    mark = np.int64(pi.stamp[0])
    return are_dead_alone(search, pi.inside, mark, np.uint64(0), count, keeper, budget, False)


class CorralDetector(NamedTuple):
    """The data of a level for :func:`corral_pushes`.

    Attributes:
        pi: the set that grows.
        search: the search for verdicts.
        pushes: int32, shape (4 * size + 1, 2): box and direction of the pushes of the smallest set.
        goals: int32, shape (1,): the number of goals.
    """

    pi: _PiCorral
    search: BoxSearch
    pushes: Int32s
    goals: Int32s


def new_corral_detector(geometry: Geometry, most: int = 1000) -> CorralDetector:
    """Return the detector of a level, for sub-searches of up to ``most`` states."""
    search = new_box_search(geometry, _MOST_BOXES, most, 8 * most)
    pi = _new_pi_corral(search.freeze.dead)
    goals = np.array([len(geometry.goals)], np.int32)
    return CorralDetector(pi, search, np.zeros_like(pi.pushes), goals)


@inner
def corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """Examine all corrals of the position of the last ``walk``, with the keeper in his region.

    Returns the number of pushes that a search needs to make: the first rows of ``detector.pushes``. It is 0
    if the position is dead, and _OPEN (-1) if nothing is proven and all pushes count. ``budget``: the states
    that each sub-search may expand; 0 for none.
    """
    pi = detector.pi
    best = np.int64(_OPEN)
    for number in range(_find_corrals(board, pi.corrals)):
        root = np.int64(pi.corrals.roots[number])
        _begin_set(pi)
        _add_corral(board, pi, root)
        count = np.int64(_close_set(board, pi))
        if count != _OPEN and not _must_move(board, pi, detector.goals[0]):
            continue
        if count == 0 or (budget and _is_set_dead(pi, detector.search, keeper, budget)):
            return 0
        if count != _OPEN and (best == _OPEN or count < best):
            best = count
            for row in range(count):
                detector.pushes[row, 0] = pi.pushes[row, 0]
                detector.pushes[row, 1] = pi.pushes[row, 1]
    return best


def pushes_needed(geometry: Geometry, position: Position, budget: int = 1000) -> list[Push] | None:
    """Return the pushes that a search needs to make, an empty list if the position is dead, None if all
    count."""
    board, detector = new_board(geometry), new_corral_detector(geometry, budget)
    place_boxes(board, position)
    count = _corral_pushes(board, detector, np.int64(position.keeper), np.int64(budget))
    return None if count == _OPEN else [(box, way) for box, way in detector.pushes[:count].tolist()]


@kernel(**ARENA)
def _corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """Call the kernel from Python."""
    walk(board, keeper)
    return corral_pushes(board, detector, keeper, budget)
