"""A search of some boxes alone: whether they can all be packed, or brought out of their surroundings.

All other boxes are removed from the board, which only helps. So if the search ends without a way, the
position is dead. Verdicts are cached (Junghanns and Schaeffer 2001, there for patterns).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, new_board, walk
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock, new_freeze
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Words
from propnet.jit.decorators import inner

_GONE = -1
_ENTRIES = 1 << 16
"""The number of cached verdicts, a power of two."""


class BoxSearch(NamedTuple):
    """Scratch space of the search, and the cached verdicts.

    Attributes:
        board: with the searched boxes only; empty between searches.
        freeze: the freeze detector on that board, and the dead sides of squares.
        nodes: int32, shape (rows, boxes): a stack of the boxes of states; the last row is being expanded.
            The first row holds the boxes to search.
        keepers: int32, shape (rows,).
        seen: uint64, a power of two of slots: keys of the states expanded.
        stamps: int32, shape (slots + 1,): a slot is taken if it has the same value as the last one.
        cached: uint64, a power of two: keys of positions with a verdict; the lowest bit is set if the
            position is dead.
    """

    board: Board
    freeze: Freeze
    nodes: Int32s
    keepers: Int32s
    seen: Words
    stamps: Int32s
    cached: Words


def new_box_search(geometry: Geometry, boxes: int, states: int, rows: int) -> BoxSearch:
    """Return scratch space for searches of up to so many boxes and states, with a stack of so many rows."""
    slots = 1 << (2 * states).bit_length()
    return BoxSearch(
        new_board(geometry),
        new_freeze(geometry),
        np.zeros((rows + 2, boxes), np.int32),
        np.zeros(rows + 2, np.int32),
        np.zeros(slots, np.uint64),
        np.zeros(slots + 1, np.int32),
        np.zeros(_ENTRIES, np.uint64),
    )


@inner
def are_dead_alone(
    search: BoxSearch,
    inside: Int32s,
    mark: Index,
    key: np.uint64,
    count: Index,
    keeper: Index,
    budget: Index,
    all_leave: bool,
) -> bool:
    """Return whether the first ``count`` boxes of ``nodes[0]`` are dead with the keeper on his square, from
    the cache or by expanding up to ``budget`` states.

    Squares of their surroundings hold the ``mark`` in ``inside``; ``key`` tells these apart from others.
    ``all_leave``: all boxes that are not packed have to leave, and each that can does so at once; otherwise
    one that leaves is enough.
    """
    board, nodes = search.board, search.nodes
    for number in range(count):
        board.occupied[nodes[0, number]] = BOXED
        key ^= board.keys[0, nodes[0, number]]
    search.keepers[0] = walk(board, keeper)
    key ^= board.keys[1, search.keepers[0]]
    for number in range(count):
        board.occupied[nodes[0, number]] = FREE
    one = np.uint64(1)
    entry = np.int64(key >> np.uint64(20)) & len(search.cached) - 1
    if search.cached[entry] | one != key | one:
        dead = _search(search, inside, mark, count, budget, all_leave)
        search.cached[entry] = key | one if dead else key & ~one
    return bool(search.cached[entry] & one)


@inner
def _search(
    search: BoxSearch, inside: Int32s, mark: Index, count: Index, budget: Index, all_leave: bool
) -> bool:
    """Search depth-first from node 0. Returns whether all ways end."""
    board, nodes, keepers = search.board, search.nodes, search.keepers
    if search.stamps[-1] == 2**31 - 1:
        search.stamps[:] = 0
    search.stamps[-1] += 1
    last = len(nodes) - 1
    top: Index = np.int64(1)
    expanded = 0
    dead = True
    while top and dead:
        top -= 1
        away, key = 0, np.uint64(0)
        for number in range(count):
            box = nodes[top, number]
            nodes[last, number] = box
            if box != _GONE:
                board.occupied[box] = BOXED
                key ^= board.keys[0, box]
                away += board.goal[box] == 0
        key ^= board.keys[1, walk(board, np.int64(keepers[top]))]
        if away == 0:
            dead = False
        elif _is_new(search.seen, search.stamps, key):
            expanded += 1
            if expanded > budget or top + 4 * count > last:
                dead = False
            else:
                top = _expand(search, inside, mark, count, top, all_leave)
                if top < 0:
                    dead = False
        for number in range(count):
            if nodes[last, number] != _GONE:
                board.occupied[nodes[last, number]] = FREE
    return dead


@inner
def _expand(
    search: BoxSearch, inside: Int32s, mark: Index, count: Index, top: Index, all_leave: bool
) -> Index:
    """Put the successors of the last row on the stack, with ``all_leave`` only one if a box can leave.
    Returns its new height; -1 if a box can leave and that is enough."""
    board, nodes, freeze = search.board, search.nodes, search.freeze
    last = len(nodes) - 1
    first = top
    for number in range(count):
        box = nodes[last, number]
        if box == _GONE:
            continue
        for direction in range(4):
            if not can_push(board, box, direction):
                continue
            ahead = board.neighbours[box, direction]
            if freeze.dead[ahead] >> (direction ^ 2) & 1:
                continue
            leaves = inside[ahead] != mark
            if not (leaves and all_leave):
                board.occupied[box] = FREE
                board.occupied[ahead] = BOXED
                frozen = is_freeze_deadlock(board, freeze, ahead)
                board.occupied[ahead] = FREE
                board.occupied[box] = BOXED
                if frozen:
                    continue
            if leaves:
                if not all_leave:
                    return -1
                top = first
            for other in range(count):
                nodes[top, other] = nodes[last, other]
            nodes[top, number] = _GONE if leaves else ahead
            search.keepers[top] = box
            top += 1
            if leaves:
                return top
    return top


@inner
def _is_new(seen: Words, stamps: Int32s, key: np.uint64) -> bool:
    """Record a state as seen. Returns whether it is new."""
    mask = np.int64(len(seen) - 1)
    slot = np.int64(key & np.uint64(mask))
    while stamps[slot] == stamps[-1]:
        if seen[slot] == key:
            return False
        slot = (slot + 1) & mask
    stamps[slot] = stamps[-1]
    seen[slot] = key
    return True
