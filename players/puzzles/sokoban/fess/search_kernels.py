"""The kernel of FESS: visits cells, makes the best move that waits in each, and finds the moves of the position
that it leads to (Shoham and Schaeffer 2020)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, walk
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock
from players.puzzles.sokoban.fess.advisors import Children, advise, explores
from players.puzzles.sokoban.fess.cells import Cells, Moves, add_move, find_cell, take_move
from players.puzzles.sokoban.fess.features import Knowledge, Scratch, find_features
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, macro_pushes
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

RUNNING, SOLVED, EXHAUSTED, FULL = range(4)
MOST_WEIGHT = 1023
NODES, STATUS, CELL = range(3)


class Tree(NamedTuple):
    """The positions that were looked into, one entry each; the first is the start.

    Attributes:
        boxes: uint16, shape (most, boxes): their squares.
        keeper: int32: the lowest square of his region.
        parent: int32.
        origin, stance: int32: the move that led there, as in ``Moves``.
        weight: int32: how many moves that no advisor named lead there.
        table: uint64, a power of two of slots: the keys of the positions.
        counts: int64, shape (3,): NODES, STATUS, CELL (to be visited next).
    """

    boxes: Octets
    keeper: Int32s
    parent: Int32s
    origin: Int32s
    stance: Int32s
    weight: Int32s
    table: Words
    counts: Ints


class Desk(NamedTuple):
    """What the kernel works with on one position.

    Attributes:
        boxes: int32, shape (boxes,): the squares of the boxes.
        before: int32, shape (size + 1,): 1 where the keeper can walk to.
        now: int64, shape (6,): the features.
    """

    boxes: Int32s
    before: Int32s
    now: Ints


def new_tree(most: int, boxes: int) -> Tree:
    """Room for so many positions."""
    return Tree(
        np.zeros((most, boxes), np.uint16),
        *(np.zeros(most, np.int32) for _ in range(5)),
        np.zeros(1 << (2 * most).bit_length(), np.uint64),
        np.zeros(3, np.int64),
    )


@inner
def _score(values: Ints) -> Index:
    """The features in one number: boxes out of plan first, then packed ones, regions, links, hotspots,
    mobility. The least is best."""
    score = np.int64(min(values[0], 255)) << 8 | 255 - min(values[1], 255)
    score = score << 8 | min(values[2], 255)
    score = score << 7 | min(values[3], 127)
    score = score << 12 | min(values[4], 4095)
    return score << 10 | 1023 - min(values[5], 1023)


@inner
def _key(board: Board, boxes: Int32s, count: Index, keeper: Index) -> np.uint64:
    """The key of a position (Zobrist 1970)."""
    key = board.keys[1, keeper]
    for number in range(count):
        key ^= board.keys[0, boxes[number]]
    return key


@inner
def _find_slot(table: Words, key: np.uint64) -> Index:
    """The slot that holds this key, or the free one where it belongs, minus one and negated."""
    mask = len(table) - 1
    slot = np.int64(key >> np.uint64(8)) & mask
    while table[slot] != 0:
        if table[slot] == key:
            return slot
        slot = slot + 1 & mask
    return -1 - slot


@inner
def _expand(
    board: Board,
    room: Maneuvers,
    freeze: Freeze,
    know: Knowledge,
    scratch: Scratch,
    desk: Desk,
    children: Children,
    tree: Tree,
    moves: Moves,
    cells: Cells,
    node: Index,
) -> Index:
    """Find the moves of a position, which stands on the board and the desk and has just been walked. Returns
    the number of a child that is solved, as it is left on the board; else NONE."""
    count = len(desk.boxes)
    boxes = desk.boxes
    size = len(board.occupied) - 1
    find_features(board, know, scratch, boxes, count)
    for feature in range(6):
        desk.now[feature] = scratch.values[feature]
    keeper_stamp = board.stamp[0]
    for square in range(size + 1):
        desk.before[square] = board.reached[square] == keeper_stamp
    total = 0
    for number in range(count):
        found = macro_pushes(board, room, know.dead, boxes[number])
        for other in range(1, found):
            if total < len(children.origin):
                children.origin[total] = number
                children.stance[total] = room.stances[other]
                total += 1
    kept = 0
    for number in range(total):
        which, stance = children.origin[number], children.stance[number]
        origin, end = boxes[which], stance >> 2
        board.occupied[origin] = FREE
        board.occupied[end] = BOXED
        boxes[which] = end
        if not is_freeze_deadlock(board, freeze, end):
            keeper = walk(board, board.neighbours[end, stance & 3])
            if _find_slot(tree.table, _key(board, boxes, count, keeper)) < 0:
                find_features(board, know, scratch, boxes, count)
                for feature in range(6):
                    children.values[kept, feature] = scratch.values[feature]
                children.score[kept] = _score(scratch.values)
                children.explores[kept] = explores(board, know, desk.before, origin, boxes, count)
                children.origin[kept] = origin
                children.stance[kept] = stance
                kept += 1
        board.occupied[end] = FREE
        board.occupied[origin] = BOXED
        boxes[which] = origin
    advise(know, children, kept, desk.now, boxes, count)
    cell = find_cell(cells, _score(desk.now) >> 22)
    for number in range(kept):
        weight = min(np.int64(tree.weight[node]) + 1 - children.advised[number], MOST_WEIGHT)
        add_move(
            moves,
            cells,
            cell,
            weight << 53 | children.score[number],
            node,
            children.origin[number],
            children.stance[number],
        )
    return kept


@inner
def _enter(board: Board, desk: Desk, tree: Tree, node: Index, origin: Index, stance: Index) -> None:
    """Set up the position that a move leads to."""
    for square in range(len(board.occupied) - 1):
        board.occupied[square] = FREE
    for number in range(len(desk.boxes)):
        box = np.int64(tree.boxes[node, number])
        if box == origin:
            box = stance >> 2
        desk.boxes[number] = box
        board.occupied[box] = BOXED


@kernel(**ARENA)
def run(
    board: Board,
    room: Maneuvers,
    freeze: Freeze,
    know: Knowledge,
    scratch: Scratch,
    desk: Desk,
    children: Children,
    tree: Tree,
    moves: Moves,
    cells: Cells,
    budget: Index,
) -> None:
    """Look into so many positions. The tree's first entry must hold the start, before the first call."""
    counts = tree.counts
    count = len(desk.boxes)
    limit = len(moves.rank) - len(children.origin)
    while budget > 0:
        if counts[NODES] == len(tree.parent) or moves.count[0] > limit:
            counts[STATUS] = FULL
            return
        if counts[NODES] == 0:
            parent, origin, stance, weight = -1, -1, 0, 0
            _enter(board, desk, tree, 0, -1, 0)
            keeper = walk(board, tree.keeper[0])
        else:
            move = -1
            for _ in range(cells.count[0]):
                counts[CELL] += 1
                if counts[CELL] >= cells.count[0]:
                    counts[CELL] = 0
                move = take_move(moves, cells, counts[CELL])
                if move >= 0:
                    break
            if move < 0:
                counts[STATUS] = EXHAUSTED
                return
            parent, origin, stance = moves.node[move], moves.origin[move], moves.stance[move]
            weight = moves.rank[move] >> 53
            _enter(board, desk, tree, parent, origin, stance)
            keeper = walk(board, board.neighbours[stance >> 2, stance & 3])
        slot = _find_slot(tree.table, _key(board, desk.boxes, count, keeper))
        if slot >= 0:
            counts[CELL] -= 1  # known by now: the cell has another turn
            continue
        tree.table[-1 - slot] = _key(board, desk.boxes, count, keeper)
        node = counts[NODES]
        counts[NODES] += 1
        tree.parent[node] = parent
        tree.origin[node] = origin
        tree.stance[node] = stance
        tree.weight[node] = weight
        tree.keeper[node] = keeper
        left = count
        for number in range(count):
            tree.boxes[node, number] = desk.boxes[number]
            left -= board.goal[desk.boxes[number]]
        if left == 0:
            counts[STATUS] = SOLVED
            return
        _expand(board, room, freeze, know, scratch, desk, children, tree, moves, cells, node)
        budget -= 1
