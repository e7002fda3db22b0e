"""Examine all corrals of a position at once: whether one is a deadlock, and which pushes a search needs.

A search of the boxes of a corral alone, within a budget, decides whether they can still be packed or brought
out of it. Its verdicts are cached (Junghanns and Schaeffer 2001, there for patterns). All other boxes are
removed, which only helps. So if the search ends without a way, the position is dead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, new_board, place_boxes, walk
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock, new_freeze
from players.puzzles.sokoban.deadlocks.pi_corral import (
    OPEN,
    PiCorral,
    add_corral,
    begin_set,
    close_set,
    find_corrals,
    must_move,
    new_pi_corral,
)
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push
from propnet.jit.arrays import Index, Int32s, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

UNKNOWN, DEAD, ALIVE = range(3)
"""Verdicts. ALIVE: all boxes can be packed, or a box leaves the corral, as far as these boxes alone show."""
MOST_BOXES = 24
_ENTRIES = 1 << 15
"""The number of cached verdicts, a power of two."""


class _CorralSearch(NamedTuple):
    """Scratch space of the search, and the cached verdicts.

    Attributes:
        board: with the corral's boxes only.
        freeze: the freeze detector on that board.
        nodes: int32, shape (rows, MOST_BOXES): a stack of the boxes of states; the last row is being
            expanded.
        keepers: int32, shape (rows,).
        seen: uint64, shape (slots,): keys of the states expanded, a power of two.
        stamps: int32, shape (slots + 1,): a slot is taken if it has the same value as the last one.
        cached: uint64, shape (entries,): keys of sets with a verdict, a power of two.
        verdicts: uint8, shape (entries,).
    """

    board: Board
    freeze: Freeze
    nodes: Int32s
    keepers: Int32s
    seen: Words
    stamps: Int32s
    cached: Words
    verdicts: Octets


def _new_corral_search(geometry: Geometry, most: int) -> _CorralSearch:
    """Return scratch space for searches of up to ``most`` states, and a cache of verdicts."""
    rows, slots = 8 * most + 2, 1 << (2 * most).bit_length()
    return _CorralSearch(
        new_board(geometry),
        new_freeze(geometry),
        np.zeros((rows, MOST_BOXES), np.int32),
        np.zeros(rows, np.int32),
        np.zeros(slots, np.uint64),
        np.zeros(slots + 1, np.int32),
        np.zeros(_ENTRIES, np.uint64),
        np.zeros(_ENTRIES, np.uint8),
    )


@inner
def _judge_set(pi: PiCorral, search: _CorralSearch, keeper: Index, budget: Index) -> Index:
    """Return the verdict on the boxes of ``pi`` with the keeper on his square, from the cache or by expanding
    up to ``budget`` states."""
    count = np.int64(pi.length[0])
    if count > MOST_BOXES or 2 * budget > len(search.seen):
        return UNKNOWN
    board, nodes = search.board, search.nodes
    key = np.uint64(0)
    for number in range(count):
        box = pi.boxes[number]
        board.occupied[box] = BOXED
        key ^= board.keys[0, box]
        nodes[0, number] = box
    search.keepers[0] = walk(board, keeper)
    key ^= board.keys[1, search.keepers[0]]
    for number in range(count):
        board.occupied[nodes[0, number]] = FREE
    entry = np.int64(key & np.uint64(len(search.cached) - 1))
    if search.cached[entry] != key:
        search.verdicts[entry] = _search(pi, search, count, budget)
        search.cached[entry] = key
    return np.int64(search.verdicts[entry])


@inner
def _search(pi: PiCorral, search: _CorralSearch, count: Index, budget: Index) -> Index:
    """Search depth-first from node 0. The board has no boxes before and after."""
    board, nodes, keepers = search.board, search.nodes, search.keepers
    if search.stamps[-1] == 2**31 - 1:
        search.stamps[:] = 0
    search.stamps[-1] += 1
    last = len(nodes) - 1
    verdict = DEAD
    top: Index = np.int64(1)
    expanded = 0
    while top and verdict == DEAD:
        top -= 1
        away, key = 0, np.uint64(0)
        for number in range(count):
            box = nodes[top, number]
            nodes[last, number] = box
            board.occupied[box] = BOXED
            key ^= board.keys[0, box]
            away += board.goal[box] == 0
        key ^= board.keys[1, walk(board, np.int64(keepers[top]))]
        if away == 0:
            verdict = ALIVE
        elif is_new(search.seen, search.stamps, key):
            expanded += 1
            if expanded > budget or top + 4 * count > last:
                verdict = UNKNOWN
            else:
                top = _expand(pi, search, count, top)
                if top < 0:
                    verdict = ALIVE
        for number in range(count):
            board.occupied[nodes[last, number]] = FREE
    return verdict


@inner
def _expand(pi: PiCorral, search: _CorralSearch, count: Index, top: Index) -> Index:
    """Put the successors of the last row on the stack. Returns its new height; -1 if a box can leave."""
    board, nodes, mine = search.board, search.nodes, pi.stamp[0]
    last = len(nodes) - 1
    for number in range(count):
        box = nodes[last, number]
        for direction in range(4):
            if not can_push(board, box, direction):
                continue
            ahead = board.neighbours[box, direction]
            if pi.dead[ahead] >> (direction ^ 2) & 1:
                continue
            board.occupied[box] = FREE
            board.occupied[ahead] = BOXED
            frozen = is_freeze_deadlock(board, search.freeze, ahead)
            board.occupied[ahead] = FREE
            board.occupied[box] = BOXED
            if frozen:
                continue
            if pi.inside[ahead] != mine and pi.members[ahead] != mine:
                return -1
            for other in range(count):
                nodes[top, other] = nodes[last, other]
            nodes[top, number] = ahead
            search.keepers[top] = box
            top += 1
    return top


@inner
def is_new(seen: Words, stamps: Int32s, key: np.uint64) -> bool:
    """Record a state as seen. Returns whether it is new. ``seen``: uint64, a power of two of slots, taken if
    ``stamps``, one longer, has its own last value there."""
    mask = np.int64(len(seen) - 1)
    slot = np.int64(key & np.uint64(mask))
    while stamps[slot] == stamps[-1]:
        if seen[slot] == key:
            return False
        slot = (slot + 1) & mask
    stamps[slot] = stamps[-1]
    seen[slot] = key
    return True


class CorralDetector(NamedTuple):
    """The data of a level for :func:`corral_pushes`.

    Attributes:
        pi: the set that grows.
        search: the search for verdicts.
        pushes: int32, shape (4 * size + 1, 2): box and direction of the pushes of the smallest set.
        goals: int32, shape (1,): the number of goals.
    """

    pi: PiCorral
    search: _CorralSearch
    pushes: Int32s
    goals: Int32s


def new_corral_detector(geometry: Geometry, most: int = 1000) -> CorralDetector:
    """Return the detector of a level, for sub-searches of up to ``most`` states."""
    search = _new_corral_search(geometry, most)
    pi = new_pi_corral(search.freeze.dead)
    goals = np.array([len(geometry.goals)], np.int32)
    return CorralDetector(pi, search, np.zeros_like(pi.pushes), goals)


@inner
def corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """Examine all corrals of the position of the last ``walk``, with the keeper in his region.

    Returns the number of pushes that a search needs to make: the first rows of ``detector.pushes``. It is 0
    if the position is dead, and OPEN (-1) if nothing is proven and all pushes count. ``budget``: the states
    that each sub-search may expand; 0 for none.
    """
    pi = detector.pi
    best = np.int64(OPEN)
    for number in range(find_corrals(board, pi.corrals)):
        root = np.int64(pi.corrals.roots[number])
        begin_set(pi)
        add_corral(board, pi, root)
        count = np.int64(close_set(board, pi))
        if count != OPEN and not must_move(board, pi, detector.goals[0]):
            continue
        if count == 0 or (budget and _judge_set(pi, detector.search, keeper, budget) == DEAD):
            return 0
        if count != OPEN and (best == OPEN or count < best):
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
    return None if count == OPEN else [(box, way) for box, way in detector.pushes[:count].tolist()]


@kernel(**ARENA)
def _corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """Call the kernel from Python."""
    walk(board, keeper)
    return corral_pushes(board, detector, keeper, budget)
