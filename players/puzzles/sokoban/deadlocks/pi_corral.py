"""Corrals, the parts of the map that the keeper cannot reach, by union-find in one pass (Tarjan 1975); and
PI-corrals: sets of boxes that can only be pushed into corrals, each such push possible now (Damgaard).

A set of boxes is closed, together with some corrals, if all boxes beside these corrals belong to it, and each
push of its boxes that is not blocked by walls, dead squares or the set itself goes into the corrals and can
be made now. Then boxes outside can neither enter the corrals nor change the possible first pushes of the set,
and such a push may as well come first. So a search needs no other push while the set must move at all: one of
its boxes is not on a goal, or a goal in its corrals still needs a box.

A set grows from one corral by the needs of its open pushes: the box in their way, or the neighbouring corral
(multi-PI-corral). It fails at a push that leads out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, OUTSIDE, Board
from propnet.jit.arrays import Index, Int32s, Octets
from propnet.jit.decorators import inner


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
def find_corrals(board: Board, corrals: _Corrals) -> Index:
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


OPEN = -1
"""There is no closed set."""


class PiCorral(NamedTuple):
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


def new_pi_corral(dead: Octets) -> PiCorral:
    """Return arrays for the sets of a level, given its dead sides."""
    rows = len(dead)
    inside, members, boxes = (np.zeros(rows, np.int32) for _ in range(3))
    stamp, length = np.zeros(1, np.int32), np.zeros(1, np.int32)
    pushes = np.zeros((4 * rows, 2), np.int32)
    return PiCorral(_new_corrals(rows - 1), dead, inside, members, stamp, boxes, length, pushes)


@inner
def begin_set(pi: PiCorral) -> None:
    """Begin an empty set."""
    if pi.stamp[0] == 2**31 - 1:
        pi.inside[:] = 0
        pi.members[:] = 0
        pi.stamp[0] = 0
    pi.stamp[0] += 1
    pi.length[0] = 0


@inner
def _add_box(pi: PiCorral, box: Index) -> None:
    """Add a box to the set, if it is not there."""
    if pi.members[box] != pi.stamp[0]:
        pi.members[box] = pi.stamp[0]
        pi.boxes[pi.length[0]] = box
        pi.length[0] += 1


@inner
def add_corral(board: Board, pi: PiCorral, square: Index) -> None:
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
def close_set(board: Board, pi: PiCorral) -> Index:
    """Grow the set until it is closed. Returns the number of pushes that its boxes can make, the first rows
    of ``pushes``; OPEN if a push leads out."""
    pushes, number = 0, 0
    while number < pi.length[0]:
        box = pi.boxes[number]
        number += 1
        for direction in range(4):
            found = _look_at(board, pi, box, direction)
            if found < 0:
                return OPEN
            if found:
                pi.pushes[pushes, 0] = box
                pi.pushes[pushes, 1] = direction
                pushes += 1
    return pushes


@inner
def _look_at(board: Board, pi: PiCorral, box: Index, direction: Index) -> Index:
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
            add_corral(board, pi, ahead)
            return 1
        if not leads_out and occupied[ahead] == FREE:
            add_corral(board, pi, ahead)
            if pi.members[behind] == mine or pi.inside[behind] == mine:
                return 0
    if keeper_can:
        return 1
    # The keeper must never get behind this box before the set's first push.
    if occupied[behind] == FREE:
        add_corral(board, pi, behind)
    else:
        _add_box(pi, behind)
    return 0


@inner
def must_move(board: Board, pi: PiCorral, goals: Index) -> bool:
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
