"""The advisors: each names one move of a position that deserves to be made first (Shoham and Schaeffer 2020)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import FREE, Board
from players.puzzles.sokoban.fess.features import Knowledge
from propnet.jit.arrays import Index, Int32s, Ints, Octets
from propnet.jit.decorators import inner


class Children(NamedTuple):
    """The moves of a position.

    Attributes:
        origin: int32, shape (most,): the square of the box.
        stance: int32, shape (most,): where it goes, and where the keeper stands then.
        values: int64, shape (most, 6): the features after the move.
        score: int64, shape (most,): the features in one number; the least is best.
        explores: uint8, shape (most,): whether the move opens a way to a new push.
        advised: uint8, shape (most,): whether an advisor names it.
    """

    origin: Int32s
    stance: Int32s
    values: Ints
    score: Ints
    explores: Octets
    advised: Octets


def new_children(most: int) -> Children:
    """Room for so many moves."""
    return Children(
        np.zeros(most, np.int32),
        np.zeros(most, np.int32),
        np.zeros((most, 6), np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.uint8),
        np.zeros(most, np.uint8),
    )


@inner
def explores(board: Board, know: Knowledge, before: Int32s, origin: Index, boxes: Int32s, count: Index) -> bool:
    """Whether the keeper of the last walk comes to a square that he did not reach ``before`` (1 where he did)
    and that was free, and can push a box from there."""
    for number in range(count):
        box = boxes[number]
        for direction in range(4):
            behind = board.neighbours[box, direction ^ 2]
            ahead = board.neighbours[box, direction]
            if (
                board.reached[behind] == board.stamp[0]
                and behind != origin
                and not before[behind]
                and board.occupied[ahead] == FREE
                and not know.dead[ahead] >> (direction ^ 2) & 1
            ):
                return True
    return False


@inner
def advise(know: Knowledge, children: Children, total: Index, now: Ints, boxes: Int32s, count: Index) -> None:
    """Mark the moves that advisors name. ``now`` holds the features before the move."""
    for number in range(total):
        children.advised[number] = 0
    for advisor in range(6):
        best = -1
        for number in range(total):
            values = children.values[number]
            if advisor == 0:
                fits = values[1] > now[1]
            elif advisor == 5:
                fits = children.explores[number] != 0
            elif advisor == 1:
                fits = values[0] < now[0]
            else:
                fits = values[advisor] < now[advisor]
            if fits and (best < 0 or children.score[number] < children.score[best]):
                best = number
        if best >= 0:
            children.advised[best] = 1
    _opener(know, children, total, now, boxes, count)


@inner
def _opener(know: Knowledge, children: Children, total: Index, now: Ints, boxes: Int32s, count: Index) -> None:
    """The box that is in the way of most others goes away, or one next to it."""
    hottest, most = -1, 0
    for number in range(count):
        blocked = 0
        for other in range(count):
            blocked += know.hot[boxes[other], boxes[number]]
        if blocked > most:
            hottest, most = boxes[number], blocked
    if hottest >= 0:
        best = _make_room(know, children, total, now, hottest, False)
        if best >= 0:
            children.advised[best] = 1
    nearest = -1
    for number in range(count):
        box = boxes[number]
        if know.out[box] and (nearest < 0 or know.far[box] < know.far[nearest]):
            nearest = box
    if nearest >= 0:
        best = _make_room(know, children, total, now, nearest, True)
        if best >= 0:
            children.advised[best] = 1


@inner
def _make_room(know: Knowledge, children: Children, total: Index, now: Ints, box: Index, into: bool) -> Index:
    """A move of this box, or else of the nearest box that can be moved away from it; neither may make more
    regions. With ``into``, the moved box must come to be within the plan."""
    best, near = -1, 1 << 20
    row, column = know.places[box, 0], know.places[box, 1]
    for number in range(total):
        if children.values[number, 2] > now[2]:
            continue
        origin, end = children.origin[number], children.stance[number] >> 2
        if into and know.out[end]:
            continue
        distance = abs(know.places[origin, 0] - row) + abs(know.places[origin, 1] - column)
        after = abs(know.places[end, 0] - row) + abs(know.places[end, 1] - column)
        if after <= distance or distance > near:
            continue
        if distance < near or children.score[number] < children.score[best]:
            best, near = number, distance
    return best
