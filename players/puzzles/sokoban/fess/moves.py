"""The order of the moves of a position: the advisors, each of which names one move (Shoham and Schaeffer
2020), and the cells of feature space, each with a heap of waiting moves.

The heaps are skew heaps (Sleator and Tarjan 1986) in flat arrays: two of them are melded without a copy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board
from players.puzzles.sokoban.fess.features import BLOCKERS, FEATURES, MOBILITY, PACKED, REGIONS, Knowledge
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, walk_all
from propnet.jit.arrays import Index, Int32s, Ints, Octets
from propnet.jit.decorators import inner

UNKNOWN, DEAD, KEPT, ADVISED = range(4)
ADVISORS = 8


class Children(NamedTuple):
    """The moves of a position.

    Attributes:
        origin: int32, shape (most,): the square of the box.
        stance: int32, shape (most,): the box's new square, and the keeper's side after the move.
        values: int64, shape (most, 7): the features after the move.
        score: int64, shape (most,): the features as one number; the lowest is best.
        explores: uint8, shape (most,): whether the move opens a way to a new push.
        advised: uint8, shape (most,): the status of the move: UNKNOWN, DEAD, KEPT or ADVISED.
    """

    origin: Int32s
    stance: Int32s
    values: Ints
    score: Ints
    explores: Octets
    advised: Octets


def new_children(most: int) -> Children:
    """Return arrays for ``most`` moves."""
    return Children(
        np.zeros(most, np.int32),
        np.zeros(most, np.int32),
        np.zeros((most, FEATURES), np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.uint8),
        np.zeros(most, np.uint8),
    )


class LiftedBox(NamedTuple):
    """A position without one of its boxes.

    Attributes:
        board: the board, with the keeper's walk without the box.
        around: the board, with the keeper's walk around a new place of the box.
        facts: int64, shape (4,): LOWEST and SECOND, the lowest squares that the keeper reaches; SIDES, those
            of other boxes that he reaches; FRESH, the number of new pushes.
        fresh: int32, shape (most, 2): the new pushes, by the squares behind and ahead of the box.
    """

    board: Board
    around: Board
    facts: Ints
    fresh: Int32s


LOWEST, SECOND, SIDES, FRESH = range(4)


def new_lifted_box(board: Board, boxes: int) -> LiftedBox:
    """Return arrays for positions on this board."""
    own, around = (
        board._replace(reached=np.zeros_like(board.reached), stamp=np.zeros_like(board.stamp))
        for _ in range(2)
    )
    return LiftedBox(own, around, np.zeros(4, np.int64), np.zeros((4 * boxes, 2), np.int32))


@inner
def _is_new_push(
    board: Board, know: Knowledge, before: Int32s, origin: Index, box: Index, way: Index
) -> bool:
    """Return whether the keeper of the last walk can push a box from a square that was free and that he did
    not reach ``before`` (1 if he did)."""
    behind, ahead = board.neighbours[box, way ^ 2], board.neighbours[box, way]
    return bool(
        board.reached[behind] == board.stamp[0]
        and behind != origin
        and not before[behind]
        and board.occupied[ahead] == FREE
        and not know.dead[ahead] >> (way ^ 2) & 1
    )


@inner
def lift(
    lifted: LiftedBox,
    room: Maneuvers,
    know: Knowledge,
    before: Int32s,
    boxes: Int32s,
    count: Index,
    origin: Index,
) -> None:
    """Fill in what there is without the box on ``origin``, whose moves were found last. It must be off the
    board."""
    board, facts = lifted.board, lifted.facts
    facts[LOWEST] = walk_all(board, room, origin)
    second = facts[LOWEST] + 1
    while second < len(board.occupied) - 1 and board.reached[second] != board.stamp[0]:
        second += 1
    facts[SECOND] = second
    facts[SIDES] = facts[FRESH] = 0
    for number in range(count):
        box = boxes[number]
        if box == origin:
            continue
        for way in range(4):
            facts[SIDES] += board.reached[board.neighbours[box, way]] == board.stamp[0]
            if _is_new_push(board, know, before, origin, box, way):
                lifted.fresh[facts[FRESH], 0] = board.neighbours[box, way ^ 2]
                lifted.fresh[facts[FRESH], 1] = board.neighbours[box, way]
                facts[FRESH] += 1


@inner
def explores(
    board: Board, know: Knowledge, before: Int32s, origin: Index, boxes: Int32s, count: Index
) -> bool:
    """Return whether the keeper of the last walk can make a new push after a move from ``origin``: from a
    square that was free and that he did not reach ``before`` (1 if he did)."""
    for number in range(count):
        for way in range(4):
            if _is_new_push(board, know, before, origin, np.int64(boxes[number]), way):
                return True
    return False


@inner
def explores_without(lifted: LiftedBox, know: Knowledge, before: Int32s, origin: Index, end: Index) -> bool:
    """Return the same for a move of the lifted box to ``end``, which leaves the keeper all squares."""
    for number in range(lifted.facts[FRESH]):
        if lifted.fresh[number, 0] != end and lifted.fresh[number, 1] != end:
            return True
    new = False
    for way in range(4):
        new |= _is_new_push(lifted.board, know, before, origin, end, way)
    return new


@inner
def sides_without(lifted: LiftedBox, end: Index) -> Index:
    """Return the sides of boxes that the keeper reaches after such a move."""
    board = lifted.board
    sides = lifted.facts[SIDES]
    for way in range(4):
        beside = board.occupied[board.neighbours[end, way]]
        sides += np.int64(beside == FREE) - np.int64(beside == BOXED)
    return np.int64(sides)


@inner
def choose(
    know: Knowledge, children: Children, total: Index, now: Ints, advisor: Index, target: Index
) -> Index:
    """Return the best move that an advisor can name, of those that are not known to be dead; -1 if there is
    none.

    ``now`` has the features before the move. Advisors below 6 want a feature to improve: fewer boxes out of
    plan, more packed ones, fewer regions, fewer broken links, fewer hotspots, new pushes. Advisor 6 wants the
    box on ``target`` to move away, or otherwise the nearest box to move away from it, without more regions.
    Advisor 7 wants fewer blockers and no box unpacked.
    """
    best, near = -1, 1 << 20
    if advisor == 6:
        if target < 0:
            return -1
        row, column = know.places[target, 0], know.places[target, 1]
        for number in range(total):
            origin, end = children.origin[number], children.stance[number] >> 2
            if children.advised[number] == DEAD or children.values[number, REGIONS] > now[REGIONS]:
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
        if advisor == MOBILITY:
            fits = children.explores[number] != 0
        elif advisor == PACKED:
            fits = children.values[number, PACKED] > now[PACKED]
        elif advisor == 7:
            fits = (
                children.values[number, BLOCKERS] < now[BLOCKERS]
                and children.values[number, PACKED] >= now[PACKED]
            )
        else:
            fits = children.values[number, advisor] < now[advisor]
        if fits and (best < 0 or children.score[number] < children.score[best]):
            best = number
    return best


@inner
def keep_best(children: Children, total: Index, most: Index) -> None:
    """Mark the ``most`` best moves whose status is UNKNOWN as KEPT; all of them if there are fewer."""
    if most >= total:
        for number in range(total):
            if children.advised[number] == UNKNOWN:
                children.advised[number] = KEPT
        return
    for _ in range(most):
        best = -1
        for number in range(total):
            if children.advised[number] == UNKNOWN and (
                best < 0 or children.score[number] < children.score[best]
            ):
                best = number
        if best < 0:
            return
        children.advised[best] = KEPT


@inner
def hottest(know: Knowledge, boxes: Int32s, count: Index, placed: Octets) -> Index:
    """Return the box that blocks the most other boxes; -1 if none does."""
    found, most = -1, 0
    for number in range(count):
        blocked = 0
        for other in range(count):
            if not placed[boxes[other]]:
                box = boxes[number]
                blocked += know.hot[boxes[other], box >> 6] >> np.uint64(box & 63) & np.uint64(1) != 0
        if blocked > most:
            found, most = boxes[number], blocked
    return found


NONE = -1


class Moves(NamedTuple):
    """The moves found, one entry each.

    Attributes:
        rank: int64: the lowest is made first.
        left, right: int32: the move's children in its heap.
        node: int32: the position in which it is made.
        origin: int32: the square of the box that it moves.
        stance: int32: the box's new square, and the keeper's side after the move.
        length: int64, shape (1,): the number of moves.
    """

    rank: Ints
    left: Int32s
    right: Int32s
    node: Int32s
    origin: Int32s
    stance: Int32s
    length: Ints


class Cells(NamedTuple):
    """The cells reached, in the order of their discovery.

    Attributes:
        key: int64: the features of each.
        root: int32: the top of each heap, or NONE.
        table: int32, a power of two of slots: cells by key, plus one.
        length: int64, shape (1,): the number of cells.
    """

    key: Ints
    root: Int32s
    table: Int32s
    length: Ints


def new_moves(most: int) -> Moves:
    """Return arrays for ``most`` moves."""
    left, right, node, origin, stance = (np.zeros(most, np.int32) for _ in range(5))
    return Moves(np.zeros(most, np.int64), left, right, node, origin, stance, np.zeros(1, np.int64))


def new_cells(most: int) -> Cells:
    """Return arrays for ``most`` cells; further ones share the last cell."""
    return Cells(
        np.zeros(most, np.int64),
        np.full(most, NONE, np.int32),
        np.zeros(1 << (4 * most).bit_length(), np.int32),
        np.zeros(1, np.int64),
    )


@inner
def _meld(moves: Moves, one: Index, two: Index) -> Index:
    """Meld two heaps into one. Returns its top."""
    rank, left, right = moves.rank, moves.left, moves.right
    if one < 0:
        return two
    if two < 0:
        return one
    if rank[two] < rank[one]:
        one, two = two, one
    root = one
    while True:
        rest = right[one]
        right[one] = left[one]
        if rest < 0:
            left[one] = two
            return root
        if rank[two] < rank[rest]:
            rest, two = two, rest
        left[one] = rest
        one = rest


@inner
def find_cell(cells: Cells, key: Index) -> Index:
    """Return the cell with these features; a new one if there is none."""
    mask = len(cells.table) - 1
    slot = np.int64(np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & mask
    while cells.table[slot]:
        cell = cells.table[slot] - 1
        if cells.key[cell] == key:
            return np.int64(cell)
        slot = slot + 1 & mask
    cell = cells.length[0]
    if cell == len(cells.key):
        return np.int64(cell - 1)
    cells.length[0] += 1
    cells.key[cell] = key
    cells.table[slot] = cell + 1
    return np.int64(cell)


@inner
def add_move(
    moves: Moves, cells: Cells, cell: Index, rank: Index, node: Index, origin: Index, stance: Index
) -> None:
    """Add a move to the heap of a cell. There must be space for it."""
    number = moves.length[0]
    moves.length[0] += 1
    moves.rank[number] = rank
    moves.left[number] = moves.right[number] = NONE
    moves.node[number] = node
    moves.origin[number] = origin
    moves.stance[number] = stance
    cells.root[cell] = _meld(moves, cells.root[cell], number)


@inner
def take_move(moves: Moves, cells: Cells, cell: Index) -> Index:
    """Remove and return the best waiting move of a cell; NONE if there is none."""
    root = cells.root[cell]
    if root >= 0:
        cells.root[cell] = _meld(moves, moves.left[root], moves.right[root])
    return np.int64(root)
