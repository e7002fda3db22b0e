"""IDA*, iterative deepening by a lower bound, with a transposition table of fixed size: the kernel (Korf
1985; Reinefeld and Marsland 1994 for the table)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, walk
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock
from players.puzzles.sokoban.search.bounds import SIMPLE, bound_of
from players.puzzles.sokoban.search.greedy_bound import SortedGoals
from players.puzzles.sokoban.search.matching import FAR_COST, Matching
from players.puzzles.sokoban.search.simple_bound import simple_after
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

DEPTH, THRESHOLD, NEXT, MADE, MOST_PUSHES, BOUND = range(6)
"""What ``counts`` holds: pushes on the path; the bound of this iteration; the least that went beyond it;
children made; the most pushes that count; the bound, of :mod:`.bounds`."""

GOING_ON, FOUND, EXHAUSTED = range(3)


class Path(NamedTuple):
    """The path from the start, one row for each push made, and the table.

    Attributes:
        keepers: int32, shape (rows,): where the keeper stands.
        hashes: uint64, shape (rows,): of the boxes alone.
        bounds: int32, shape (rows,): of the pushes still to make.
        pushes: int32, shape (rows, 4 * boxes, 2): box and direction of the pushes that can be made.
        lengths, following: int32, shape (rows,): how many these are, and the next to be made.
        squares: int32, shape (boxes,): where the boxes are.
        keys: uint64, shape (slots,): hashes of positions, 0 for none; a power of two. A new one replaces
            what was there.
        left: int32, shape (slots,): there is no solution of so many pushes from that position.
    """

    keepers: Int32s
    hashes: Words
    bounds: Int32s
    pushes: Int32s
    lengths: Int32s
    following: Int32s
    squares: Int32s
    keys: Words
    left: Int32s


@inner
def list_pushes(board: Board, path: Path, dead: Octets, depth: Index) -> None:
    """Find the pushes that can be made, after a walk."""
    count = 0
    for number in range(len(path.squares)):
        box = np.int64(path.squares[number])
        for direction in range(4):
            if can_push(board, box, direction) and not dead[board.neighbours[box, direction]]:
                path.pushes[depth, count, 0] = box
                path.pushes[depth, count, 1] = direction
                count += 1
    path.lengths[depth] = count
    path.following[depth] = 0


@inner
def exchange(path: Path, origin: Index, square: Index) -> None:
    """Note that a box has moved."""
    for number in range(len(path.squares)):
        if path.squares[number] == origin:
            path.squares[number] = square
            break


@kernel(**ARENA)
def begin(
    board: Board,
    matching: Matching,
    lists: SortedGoals,
    path: Path,
    dead: Octets,
    counts: Ints,
    marks: Int32s,
    value: np.uint64,
) -> Index:
    """Put the start on the board; ``value`` is the hash of its boxes. Returns its bound."""
    for number in range(len(path.squares)):
        board.occupied[path.squares[number]] = BOXED
    path.hashes[0] = value
    walk(board, np.int64(path.keepers[0]))
    list_pushes(board, path, dead, 0)
    bound = bound_of(counts[BOUND], matching, lists, path.squares, len(path.squares), marks)
    path.bounds[0] = bound
    return bound


@kernel(**ARENA)
def deepen(
    board: Board,
    freeze: Freeze,
    matching: Matching,
    lists: SortedGoals,
    path: Path,
    dead: Octets,
    counts: Ints,
    marks: Int32s,
    most: int,
) -> int:
    """Make so many pushes, backtracking between. Returns GOING_ON, FOUND (the path is the solution) or
    EXHAUSTED (no bound is left below the most pushes that count)."""
    occupied, neighbours = board.occupied, board.neighbours
    last = np.uint64(len(path.keys) - 1)
    for _ in range(most):
        depth = counts[DEPTH]
        if path.following[depth] == path.lengths[depth]:
            if depth == 0:
                if counts[NEXT] > counts[MOST_PUSHES]:
                    return EXHAUSTED
                counts[THRESHOLD] = counts[NEXT]
                counts[NEXT] = FAR_COST
                path.following[0] = 0
                continue
            depth -= 1
            counts[DEPTH] = depth
            made = path.following[depth] - 1
            box, way = np.int64(path.pushes[depth, made, 0]), path.pushes[depth, made, 1]
            square = np.int64(neighbours[box, way])
            occupied[square] = FREE
            occupied[box] = BOXED
            exchange(path, square, box)
            continue
        made = path.following[depth]
        path.following[depth] = made + 1
        box, way = np.int64(path.pushes[depth, made, 0]), path.pushes[depth, made, 1]
        square = np.int64(neighbours[box, way])
        counts[MADE] += 1
        occupied[box] = FREE
        occupied[square] = BOXED
        exchange(path, box, square)
        deeper = False
        if not is_freeze_deadlock(board, freeze, square):
            if counts[BOUND] == SIMPLE:
                bound = np.int64(simple_after(matching.nearest, path.bounds[depth], box, square))
            else:
                bound = np.int64(
                    bound_of(counts[BOUND], matching, lists, path.squares, len(path.squares), marks)
                )
            if bound == 0:
                counts[DEPTH] = depth + 1
                return FOUND
            if depth + 1 + bound > counts[THRESHOLD]:
                if bound < FAR_COST:
                    counts[NEXT] = min(counts[NEXT], depth + 1 + bound)
            else:
                region = np.int64(walk(board, box))
                boxes = path.hashes[depth] ^ board.keys[0, box] ^ board.keys[0, square]
                value = boxes ^ board.keys[1, region]
                slot = value & last
                left = counts[THRESHOLD] - depth - 1
                if path.keys[slot] == value and path.left[slot] >= left:
                    counts[NEXT] = min(counts[NEXT], depth + 2 + path.left[slot])
                else:
                    path.keys[slot] = value
                    path.left[slot] = left
                    path.hashes[depth + 1] = boxes
                    path.bounds[depth + 1] = bound
                    list_pushes(board, path, dead, depth + 1)
                    counts[DEPTH] = depth + 1
                    deeper = True
        if not deeper:
            occupied[square] = FREE
            occupied[box] = BOXED
            exchange(path, square, box)
    return GOING_ON
