"""UCT at push level (Kocsis and Szepesvari 2006): select, expand, play out, back up, in flat arrays.

Each position is in the tree once, below the parent that met it first: a puzzle has no use for ways that lead
back. A node with no children left to look at is closed; its parent then has one child less.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, walk
from players.puzzles.sokoban.deadlocks.corral_deadlock import corral_pushes
from players.puzzles.sokoban.rollouts.playout_kernels import (
    CORRALS,
    NOGOODS,
    SOLVED,
    STUCK,
    PlayoutRoom,
    add_nogood,
    is_lost,
    is_nogood,
    list_pushes,
    note_boxes,
    play_out,
)
from players.puzzles.sokoban.search.nodes import Shorts, find_node, hash_of, move_box
from propnet.jit.arrays import Flags, Floats, Index, Int32s, Ints, Words
from propnet.jit.decorators import ARENA, inner, kernel

GOING_ON, FOUND, EMPTY, FULL = range(4)
"""What :func:`iterate` returns."""
KNOWN, SOLUTION, PUSHES = range(3)
"""What ``counts`` hold: nodes, the node that the solution was played out from, the pushes of that playout."""
_UNVISITED = 1e9


class PushTree(NamedTuple):
    """The nodes, by number in the order in which they were met; node 0 is the root.

    Attributes:
        records: uint16, shape (capacity, boxes + 1): squares of the boxes, ascending, and the lowest square
            of the keeper's region.
        hashes: uint64, shape (capacity,).
        parents: int32, shape (capacity,).
        pushes: int32, shape (capacity,): 4 times the square that the box was pushed from, plus the direction.
        first, children: int32, shape (capacity,): a node's children have the numbers from ``first`` on; -1 as
            long as it was not expanded.
        open: int32, shape (capacity,): children that are not closed.
        closed: bool, shape (capacity,).
        visits: float64, shape (capacity,): playouts below.
        values: float64, shape (capacity,): the sum of what they were worth, 0 to 1 each.
        table: int32, a power of two of places: numbers of nodes plus 1 by hash.
    """

    records: Shorts
    hashes: Words
    parents: Int32s
    pushes: Int32s
    first: Int32s
    children: Int32s
    open: Int32s
    closed: Flags
    visits: Floats
    values: Floats
    table: Int32s


@inner
def select(tree: PushTree, exploration: float) -> Index:
    """The leaf that UCB1 leads to from the root."""
    node = np.int64(0)
    while tree.first[node] >= 0:
        best, chosen = -1.0, np.int64(-1)
        scale = exploration * math.sqrt(math.log(tree.visits[node] + 1.0))
        for child in range(tree.first[node], tree.first[node] + tree.children[node]):
            if tree.closed[child]:
                continue
            visits = tree.visits[child]
            score = _UNVISITED
            if visits > 0:
                score = tree.values[child] / visits + scale / math.sqrt(visits)
            if score > best:
                best, chosen = score, np.int64(child)
        node = chosen
    return node


@inner
def place(tree: PushTree, knows: PlayoutRoom, node: Index) -> Index:
    """Put a node's boxes on the board. Returns the keeper's square."""
    count = len(knows.squares)
    for number in range(count):
        knows.squares[number] = tree.records[node, number]
        knows.board.occupied[tree.records[node, number]] = BOXED
    return np.int64(tree.records[node, count])


@inner
def clear(knows: PlayoutRoom) -> None:
    """Take all boxes off the board."""
    for number in range(len(knows.squares)):
        knows.board.occupied[knows.squares[number]] = FREE


@inner
def expand(
    tree: PushTree, knows: PlayoutRoom, asked: Index, budget: Index, node: Index, counts: Ints
) -> Index:
    """Add the children of the node whose boxes are on the board. Returns how many positions its pushes lead
    to that are not known to be lost, those that are in the tree already included."""
    board, squares = knows.board, knows.squares
    count = len(squares)
    keys = board.keys
    region = np.int64(tree.records[node, count])
    walk(board, region)
    needed = np.int64(-1)
    if asked & CORRALS:
        needed = np.int64(corral_pushes(board, knows.corrals, region, budget))
    note_boxes(knows)
    bare = tree.hashes[node] ^ keys[1, region]
    tree.first[node] = counts[KNOWN]
    kept = 0
    for row in range(list_pushes(knows, needed)):
        number, direction = np.int64(knows.choices[row, 0]), np.int64(knows.choices[row, 1])
        box = np.int64(squares[number])
        square = np.int64(board.neighbours[box, direction])
        board.occupied[box] = FREE
        board.occupied[square] = BOXED
        if not is_lost(knows, asked, box, square, direction):
            there = np.int64(walk(board, box))
            key = bare ^ keys[0, box] ^ keys[0, square] ^ keys[1, there]
            if not (asked & NOGOODS and is_nogood(knows.nogoods, key)):
                kept += 1
                fresh = counts[KNOWN]
                record = tree.records[fresh]
                move_box(record, tree.records[node], box, square)
                record[count] = there
                slot = np.int64(find_node(tree.table, tree.hashes, tree.records, record, key))
                if slot < 0:
                    tree.table[-1 - slot] = fresh + 1
                    tree.hashes[fresh] = key
                    tree.parents[fresh] = node
                    tree.pushes[fresh] = 4 * box + direction
                    tree.first[fresh] = -1
                    counts[KNOWN] = fresh + 1
        board.occupied[square] = FREE
        board.occupied[box] = BOXED
    tree.children[node] = counts[KNOWN] - tree.first[node]
    tree.open[node] = tree.children[node]
    return kept


@inner
def close(tree: PushTree, node: Index) -> None:
    """Have a node looked at no more, nor its ancestors that have no other child."""
    tree.closed[node] = True
    while node > 0:
        node = np.int64(tree.parents[node])
        tree.open[node] -= 1
        if tree.open[node] > 0:
            break
        tree.closed[node] = True


@inner
def back_up(tree: PushTree, node: Index, value: float) -> None:
    """Count a playout in a node and its ancestors."""
    while node >= 0:
        tree.visits[node] += 1.0
        tree.values[node] += value
        node = np.int64(tree.parents[node])


@kernel(**ARENA)
def begin_tree(tree: PushTree, knows: PlayoutRoom, boxes: Int32s, keeper: int, counts: Ints) -> None:
    """Make the root: ``boxes``, int32, shape (boxes,), ascending."""
    count = len(boxes)
    for number in range(count):
        tree.records[0, number] = boxes[number]
        knows.board.occupied[boxes[number]] = BOXED
    region = np.int64(walk(knows.board, keeper))
    for number in range(count):
        knows.board.occupied[boxes[number]] = FREE
    tree.records[0, count] = region
    tree.hashes[0] = hash_of(knows.board.keys, tree.records[0], count, region)
    tree.table[
        -1 - np.int64(find_node(tree.table, tree.hashes, tree.records, tree.records[0], tree.hashes[0]))
    ] = 1
    tree.parents[0] = -1
    tree.first[0] = -1
    counts[KNOWN] = 1


@kernel(**ARENA)
def iterate(
    tree: PushTree,
    knows: PlayoutRoom,
    asked: int,
    most: int,
    budget: int,
    exploration: float,
    random: Words,
    trace: Int32s,
    counts: Ints,
    iterations: int,
) -> int:
    """So many playouts, each from a leaf that is expanded by it.

    ``most`` is how many pushes a playout may have, ``budget`` how many states the search of a corral. The
    pushes of the playout that solves the level are left in ``trace``, int32, shape (most,).
    """
    goal = knows.board.goal
    count = len(knows.squares)
    for _ in range(iterations):
        if tree.closed[0]:
            return EMPTY
        if counts[KNOWN] + 4 * count >= len(tree.hashes):
            return FULL
        node = np.int64(select(tree, exploration))
        keeper = np.int64(place(tree, knows, node))
        kept = expand(tree, knows, asked, budget, node, counts)
        if kept == 0 and asked & NOGOODS:
            add_nogood(knows.nogoods, tree.hashes[node])
        end, made = play_out(knows, asked, keeper, most, budget, random, trace)
        on_goals = 0
        for number in range(count):
            on_goals += goal[knows.squares[number]]
        clear(knows)
        if end == SOLVED:
            counts[SOLUTION] = node
            counts[PUSHES] = made
            return FOUND
        back_up(tree, node, 0.0 if end == STUCK else on_goals / count)
        if tree.children[node] == 0:
            close(tree, node)
    return GOING_ON
