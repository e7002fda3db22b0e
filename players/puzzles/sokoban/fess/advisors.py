"""The advisors: each names one move of a position that is to be made first (Shoham and Schaeffer 2020)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import FREE, Board
from players.puzzles.sokoban.fess.features import Knowledge
from propnet.jit.arrays import Index, Int32s, Ints, Octets
from propnet.jit.decorators import inner

UNKNOWN, ALIVE, DEAD, ADVISED = range(4)
ADVISORS = 8


class Children(NamedTuple):
    """The moves of a position.

    Attributes:
        origin: int32, shape (most,): the square of the box.
        stance: int32, shape (most,): where it goes, and where the keeper stands then.
        values: int64, shape (most, 6): the features after the move.
        score: int64, shape (most,): the features in one number; the least is best.
        explores: uint8, shape (most,): whether the move opens a way to a new push.
        advised: uint8, shape (most,): what is known of the move: UNKNOWN, ALIVE, DEAD or ADVISED.
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
def explores(
    board: Board, know: Knowledge, before: Int32s, origin: Index, boxes: Int32s, count: Index
) -> bool:
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
def choose(
    know: Knowledge, children: Children, total: Index, now: Ints, advisor: Index, target: Index
) -> Index:
    """The best move that an advisor can name, of those that are not known to be dead; -1 if there is none.

    ``now`` holds the features before the move. Advisors below 6 want a feature to get better: fewer boxes out
    of plan, more packed ones, fewer regions, fewer broken links, fewer hotspots, new pushes. Advisors 6 and 7
    want the box on ``target`` to go away, or else the nearest to go away from it, without more regions; 7
    wants the moved box to be within the plan then.
    """
    best, near = -1, 1 << 20
    if advisor >= 6:
        if target < 0:
            return -1
        row, column = know.places[target, 0], know.places[target, 1]
        for number in range(total):
            origin, end = children.origin[number], children.stance[number] >> 2
            if children.advised[number] == DEAD or children.values[number, 2] > now[2]:
                continue
            if advisor == 7 and know.out[end]:
                continue
            distance = abs(know.places[origin, 0] - row) + abs(know.places[origin, 1] - column)
            after = abs(know.places[end, 0] - row) + abs(know.places[end, 1] - column)
            if after <= distance or distance > near:
                continue
            if distance < near or children.score[number] < children.score[best]:
                best, near = number, distance
        return best
    for number in range(total):
        if children.advised[number] == DEAD:
            continue
        if advisor == 5:
            fits = children.explores[number] != 0
        elif advisor == 1:
            fits = children.values[number, 1] > now[1]
        else:
            fits = children.values[number, advisor] < now[advisor]
        if fits and (best < 0 or children.score[number] < children.score[best]):
            best = number
    return best


@inner
def hottest(know: Knowledge, boxes: Int32s, count: Index, placed: Octets) -> Index:
    """The box that is in the way of most others; -1 if none is."""
    found, most = -1, 0
    for number in range(count):
        blocked = 0
        for other in range(count):
            if not placed[boxes[other]]:
                blocked += know.hot[boxes[other], boxes[number]]
        if blocked > most:
            found, most = boxes[number], blocked
    return found


@inner
def nearest_out(know: Knowledge, boxes: Int32s, count: Index) -> Index:
    """The box out of plan that is nearest to where it would be in it; -1 if there is none."""
    found = -1
    for number in range(count):
        box = boxes[number]
        if know.out[box] and (found < 0 or know.far[box] < know.far[found]):
            found = box
    return found
