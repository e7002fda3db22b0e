"""All corrals of a position at once: whether one is a deadlock, and which pushes a search need make.

Whether the boxes of a corral can still be packed or brought out of it is found by a search of them alone, in
a budget, whose verdicts are kept (Junghanns and Schaeffer 2001, there on patterns). All other boxes are taken
away, which only helps. So where the search ends without a way, the position is dead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, new_board, place_boxes, walk
from players.puzzles.sokoban.deadlocks.bipartite import Bipartite, frozen_entry
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
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.kernels.record_table import mix

UNKNOWN, DEAD, ALIVE = range(3)
"""Verdicts. ALIVE: all can be packed, or a box leaves the corral, as far as these boxes alone tell."""
MOST_BOXES = 24
_ENTRIES = 1 << 15
"""Verdicts that are kept, a power of two."""
ASKED, KEPT, EXPANDED = range(3)


class _CorralSearch(NamedTuple):
    """Room for the search, and the verdicts so far.

    Attributes:
        board: with the corral's boxes only.
        freeze: the freeze detector on that board.
        nodes: int32, shape (rows, MOST_BOXES): a stack of the boxes of states; the last row is the one that
            is being expanded.
        keepers: int32, shape (rows,).
        seen: uint64, shape (slots,): keys of the states expanded, a power of two.
        stamps: int32, shape (slots + 1,): a slot is taken if it holds the same as the last one.
        kept: uint64, shape (entries,): keys of sets with a verdict, a power of two.
        verdicts: uint8, shape (entries,).
        counts: int64, shape (3,): sets asked for, verdicts found kept, states expanded.
        beyond: uint8, shape (1,): 1 if the search goes on when a box has left the corral: slower, finds more.
        salt: uint64, shape (1,): stands for the dead squares that verdicts are kept for.
    """

    board: Board
    freeze: Freeze
    nodes: Int32s
    keepers: Int32s
    seen: Words
    stamps: Int32s
    kept: Words
    verdicts: Octets
    counts: Ints
    beyond: Octets
    salt: Words


def _new_corral_search(geometry: Geometry, most: int, beyond: bool) -> _CorralSearch:
    """Room for searches that expand up to ``most`` states, and for this many verdicts (a power of two)."""
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
        np.zeros(3, np.int64),
        np.array([beyond], np.uint8),
        np.zeros(1, np.uint64),
    )


@inner
def _judge_set(pi: PiCorral, search: _CorralSearch, keeper: Index, budget: Index) -> Index:
    """The verdict on the boxes of ``pi``, with the keeper where he is: one that was kept, or found by
    expanding up to ``budget`` states."""
    count = np.int64(pi.length[0])
    if count > MOST_BOXES or 2 * budget > len(search.seen):
        return UNKNOWN
    board, nodes = search.board, search.nodes
    search.counts[ASKED] += 1
    # Mixed, for else boxes both in the set and in what the salt stands for would leave no trace in the key.
    key = mix(search.salt[0], np.uint64(count))
    for number in range(count):
        box = pi.boxes[number]
        board.occupied[box] = BOXED
        key ^= board.keys[0, box]
        nodes[0, number] = box
    search.keepers[0] = walk(board, keeper)
    key ^= board.keys[1, search.keepers[0]]
    for number in range(count):
        board.occupied[nodes[0, number]] = FREE
    entry = np.int64(key & np.uint64(len(search.kept) - 1))
    if search.kept[entry] == key:
        search.counts[KEPT] += 1
    else:
        search.verdicts[entry] = _search(pi, search, count, budget)
        search.kept[entry] = key
    return np.int64(search.verdicts[entry])


@inner
def _search(pi: PiCorral, search: _CorralSearch, count: Index, budget: Index) -> Index:
    """In depth from node 0. The board has no boxes before and after."""
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
    search.counts[EXPANDED] += expanded
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
            if not search.beyond[0] and pi.inside[ahead] != mine and pi.members[ahead] != mine:
                return -1
            for other in range(count):
                nodes[top, other] = nodes[last, other]
            nodes[top, number] = ahead
            search.keepers[top] = box
            top += 1
    return top


@inner
def is_new(seen: Words, stamps: Int32s, key: np.uint64) -> bool:
    """Note a state as looked at; whether it was not before. ``seen``: uint64, a power of two of places, taken
    where ``stamps``, one longer, holds its own last entry."""
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
    """What :func:`corral_pushes` needs of a level.

    Attributes:
        pi: the set that grows.
        search: for verdicts.
        pushes: int32, shape (4 * size + 1, 2): box and direction of the pushes of the smallest set.
        goals: int32, shape (1,): how many goals there are.
    """

    pi: PiCorral
    search: _CorralSearch
    pushes: Int32s
    goals: Int32s


def new_corral_detector(geometry: Geometry, most: int = 1000, beyond: bool = False) -> CorralDetector:
    """The detector of a level.

    Args:
        most: the largest budget of a sub-search, in states.
        beyond: whether sub-searches go on when a box has left its corral, until all are packed or the budget
            is spent. They find more deadlocks and take longer; use a small budget.
    """
    search = _new_corral_search(geometry, most, beyond)
    pi = new_pi_corral(search.freeze.dead)
    goals = np.array([len(geometry.goals)], np.int32)
    return CorralDetector(pi, search, np.zeros_like(pi.pushes), goals)


@inner
def corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """Look at all corrals of the position that the last ``walk`` was made in, with the keeper in his region.

    Returns how many pushes a search need make: the first rows of ``detector.pushes``; 0 if the position is
    dead; OPEN (-1) if nothing is known and all pushes count. ``budget``: how many states each sub-search may
    expand; 0 for none.
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


@inner
def corral_pushes_beside_frozen(
    board: Board, detector: CorralDetector, bipartite: Bipartite, keeper: Index, budget: Index
) -> Index:
    """The same, frozen boxes on goals being walls that make more squares dead; 0 also if a frozen box is not
    on a goal. Two microseconds or so more than :func:`corral_pushes`, which must not be called with the same
    ``detector``: it would go on with these dead squares."""
    entry, _ = frozen_entry(board, bipartite)
    if entry < 0:
        return 0
    search, dead = detector.search, detector.pi.dead
    if search.salt[0] != bipartite.kept[entry]:
        search.salt[0] = bipartite.kept[entry]
        for square in range(len(dead)):
            dead[square] = bipartite.dead[entry, square]
    return corral_pushes(board, detector, keeper, budget)


def pushes_needed(geometry: Geometry, position: Position, budget: int = 1000) -> list[Push] | None:
    """The pushes that a search need make, none if the position is dead; None if all count."""
    board, detector = new_board(geometry), new_corral_detector(geometry, budget)
    place_boxes(board, position)
    count = _corral_pushes(board, detector, np.int64(position.keeper), np.int64(budget))
    return None if count == OPEN else [(box, way) for box, way in detector.pushes[:count].tolist()]


@kernel(**ARENA)
def _corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """For Python."""
    walk(board, keeper)
    return corral_pushes(board, detector, keeper, budget)
