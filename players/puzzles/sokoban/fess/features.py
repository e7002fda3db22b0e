"""The features of a position in FESS (Shoham and Schaeffer 2020): boxes out of plan, packed boxes, regions,
blocked links of rooms, hotspots, mobility; and one of ours, the blockers of the next packing.

Boxes are *out of plan* if they will find no goal: by a matching of boxes to the squares that the plan has yet
to fill, each reached beside those that are filled before it. If a room of goals has two entrances, and goals
shut one of them, boxes behind it must have come through by then.

A *room* is a connected area of 2x3 squares. A *hotspot* is a box that blocks another box from goals which
that box could otherwise reach. The *blockers* are the fewest boxes that must go before some box can be pushed
to a square that the plan fills next. Without them, a search sees no difference between positions until the
next box is in its place, and on long levels that is tens of thousands of positions later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, next_stamp
from players.puzzles.sokoban.deadlocks.bipartite import GoalMatching, count_matched, new_goal_matching
from players.puzzles.sokoban.distances import NO_SIDE, dead_sides, side_classes
from players.puzzles.sokoban.fess.packing_plan import PackingPhase, PackingPlan, squares_reaching
from players.puzzles.sokoban.geometry import DOWN, RIGHT, Geometry
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import count_bits

_CORRIDOR = -1
_MOST_ROOMS = 64
_ALL_ROOMS = np.uint64(2**64 - 1)


def rooms_of(geometry: Geometry) -> Int32s:
    """Return the room of each square, int32, shape (size + 1,); CORRIDOR if it belongs to no room, or to two.
    Areas that share two squares are one room. Rooms beyond MOST_ROOMS are corridors."""
    areas = list(_areas(geometry.neighbours, geometry.size))
    parent = list(range(len(areas)))

    def find(number: int) -> int:
        while parent[number] != number:
            parent[number] = number = parent[parent[number]]
        return number

    owners: dict[tuple[int, int], int] = {}
    for number, area in enumerate(areas):
        for square in area:
            for direction in (RIGHT, DOWN):
                there = int(geometry.neighbours[square, direction])
                if there in area:
                    other = owners.setdefault((square, there), number)
                    parent[find(number)] = find(other)
    rooms = np.full(geometry.size + 1, _CORRIDOR, np.int32)
    shared: set[int] = set()
    names: dict[int, int] = {}
    for number, area in enumerate(areas):
        name = names.setdefault(find(number), len(names))
        for square in area:
            if rooms[square] not in (_CORRIDOR, name):
                shared.add(square)
            rooms[square] = name
    rooms[list(shared)] = _CORRIDOR
    rooms[rooms >= _MOST_ROOMS] = _CORRIDOR
    return rooms


def _room_links(geometry: Geometry, rooms: Int32s) -> tuple[Words, Words]:
    """Return the pairs of rooms between which the keeper can walk without entering a third, without boxes,
    and the rooms whose links may depend on a square.

    Both are uint64, of shapes (MOST_ROOMS,) and (size + 1,): bit r of entry q is set if rooms q and r are
    linked, or if the links of room r may depend on square q.
    """
    links, near = [0] * _MOST_ROOMS, [0] * (geometry.size + 1)
    for room in range(int(rooms.max(initial=-1)) + 1):
        waiting = np.flatnonzero(rooms == room).tolist()
        seen = set(waiting)
        while waiting:
            square = waiting.pop()
            near[square] |= 1 << room
            for there in geometry.neighbours[square].tolist():
                if there == geometry.size or there in seen:
                    continue
                if rooms[there] in (_CORRIDOR, room):
                    seen.add(there)
                    waiting.append(there)
                else:
                    links[room] |= 1 << int(rooms[there])
                    near[there] |= 1 << room
    return np.array(links, np.uint64), np.array(near, np.uint64)


def _areas(neighbours: Int32s, size: int) -> Iterator[tuple[int, ...]]:
    """Yield all areas of 2x3 or 3x2 squares."""
    for square in range(size):
        for long, short in ((RIGHT, DOWN), (DOWN, RIGHT)):
            line = [square, int(neighbours[square, long])]
            line.append(int(neighbours[line[1], long]))
            area = (*line, *(int(neighbours[s, short]) for s in line))
            if size not in area:
                yield area


class Knowledge(NamedTuple):
    """The facts about a level that features need.

    Attributes:
        goals: int32, shape (goals,).
        base: int32, shape (phases, goals): squares that must be filled before each phase begins, then -1.
        squares: int32, shape (phases, goals): squares to fill in each phase, then -1.
        before: uint64, shape (phases, goals, words): bit g of entry [p, h] is set if the g-th square of phase
            p must be filled before the h-th.
        counted: int32, shape (phases,): the number of boxes packed when a phase begins.
        first: int32, shape (phases,): the number of squares to fill in the phases before each.
        fits: uint64, shape (size + 1,): bit ``first[p] + g`` is set if a box can be pushed from there to the
            g-th square of phase p when the squares are filled that come before it.
        hot: uint64, shape (size + 1, words): bit y of row x is set if a box on y blocks one on x from a goal.
        rooms: int32, shape (size + 1,): the room of each square.
        inside: int32: the squares of all rooms, room by room.
        starts: int32, shape (rooms + 1,): the start of each room in ``inside``.
        links: uint64, shape (64,): the linked rooms of each room.
        near: uint64, shape (size + 1,): the rooms whose links may depend on each square.
        dead: uint8, shape (size + 1,): a bit for each side of a box on which the keeper must not be.
        places: int32, shape (size + 1, 2): row and column.
        sides: uint8, shape (size + 1, 4): see :func:`~players.puzzles.sokoban.distances.side_classes`.
        used: uint8, shape (7,): whether each feature counts; others are 0.
        planned: uint8, shape (size + 1,): 1 on the squares of all ``base`` and ``squares``.
    """

    goals: Int32s
    base: Int32s
    squares: Int32s
    before: Words
    counted: Int32s
    first: Int32s
    fits: Words
    hot: Words
    rooms: Int32s
    inside: Int32s
    starts: Int32s
    links: Words
    near: Words
    dead: Octets
    places: Int32s
    sides: Octets
    used: Octets
    planned: Octets


class FeatureRoom(NamedTuple):
    """Scratch space to find features. The *whole* position is the last one whose features were not found from
    those of another.

    Attributes:
        marks: int32, shape (size + 1,).
        stamp: int32, shape (1,).
        queue: int32, shape (size + 1,).
        placed: uint8, shape (size + 1,): 1 on squares with a packed box.
        packed: uint8, shape (size + 1,): the same in the whole position.
        regions: int32, shape (size + 1,): the region of each free square of the whole position, from 1 on.
        whole: int64, shape (7,): the features of the whole position.
        facts: int64, shape (5,): PHASE, CHANGED, LIFTED, KNOWN, PROBES.
        masks: uint64, shape (8,): the last ``KNOWN`` squares to fill that the box from LIFTED fits.
        outs: int64, shape (8,): the boxes out of plan with each of these.
        filled: uint64, shape (words,): a bit for each square of the begun phase that holds a box.
        matching: of boxes that are not packed to squares that are not filled.
        words: uint64, shape (words,): a bit for each square with a box.
        missing: uint64, shape (64,): the blocked links of each room in the whole position.
        values: int64, shape (7,): the features last found.
        least: int32, shape (4 * (size + 1),): the fewest blockers of each side of a box that pulls reach.
        buckets: int32, shape (most blockers + 1, ...): the sides that wait, by their number of blockers.
        lengths: int32, shape (most blockers + 1,): the number that wait in each.
        looked: int32, shape (size + 1,): the squares on which the blockers of the whole position depend hold
            ``glance``.
        glance: int32, shape (1,).
        probes: int32, shape (32, 2): squares, and whether the keeper reaches them, as they were asked for.
    """

    marks: Int32s
    stamp: Int32s
    queue: Int32s
    placed: Octets
    packed: Octets
    regions: Int32s
    whole: Ints
    facts: Ints
    masks: Words
    outs: Ints
    filled: Words
    matching: GoalMatching
    words: Words
    missing: Words
    values: Ints
    least: Int32s
    buckets: Int32s
    lengths: Int32s
    looked: Int32s
    glance: Int32s
    probes: Int32s


_PHASE, _CHANGED, _LIFTED, _KNOWN, _PROBES = range(5)
"""The places in ``FeatureRoom.facts``: the begun phase of the whole position; whether ``placed`` differs from
``packed``; the square of the box whose ``outs`` are known; their number; the number of probes, or more than
there is space for."""

OUT, PACKED, REGIONS, LINKS, HOTSPOTS, MOBILITY, BLOCKERS = range(7)
"""The places of the features in ``FeatureRoom.values``."""
FEATURES = 7
_MOST_BLOCKERS = 7
_UNSEEN = 1 << 20
_MOST_SQUARES = 64
"""In levels with more goals no box counts as out of plan."""


def new_knowledge(
    geometry: Geometry, plan: PackingPlan, loose: bool = False, unused: tuple[int, ...] = ()
) -> Knowledge:
    """Return the facts about a level for this packing plan, or for its loose phase. Features that are
    ``unused`` are always 0. Boxes out of plan always follow a plan of one phase: the loose one, which has
    goals wait for less, would find fewer."""
    rows = geometry.size + 1
    rooms = rooms_of(geometry)
    inside = np.argsort(rooms, kind="stable")[int((rooms == _CORRIDOR).sum()) :]
    dead = dead_sides(geometry)
    hot = np.zeros((rows, -(-rows // 64)), np.uint64)
    neighbours = np.ascontiguousarray(geometry.neighbours, np.int32)
    goals = np.ascontiguousarray(geometry.goals, np.int32)
    _find_hotspots(neighbours, goals, hot, np.zeros((2, rows), np.int32), np.zeros((2, rows), np.int32))
    places = np.zeros((rows, 2), np.int32)
    places[:-1] = geometry.places
    phases = (plan.loose,) if loose else plan.phases
    base = np.full((len(phases), len(goals)), -1, np.int32)
    squares = base.copy()
    before = np.zeros((len(phases), len(goals), 64 * _words(goals)), np.uint8)
    planned = np.zeros(rows, np.uint8)
    for number, phase in enumerate(phases):
        planned[[*phase.base, *phase.squares]] = 1
        base[number, : len(phase.base)] = phase.base
        squares[number, : len(phase.squares)] = phase.squares
        before[number, : len(phase.squares), : len(phase.squares)] = phase.before
    return Knowledge(
        goals,
        base,
        squares,
        np.packbits(before, axis=2, bitorder="little").view(np.uint64),
        np.array([phase.counted for phase in phases], np.int32),
        np.cumsum([0, *(len(phase.squares) for phase in phases)], dtype=np.int32)[:-1],
        _fits(geometry, plan.phases if len(plan.phases) == 1 else phases),
        hot,
        rooms,
        inside.astype(np.int32),
        np.searchsorted(rooms[inside], np.arange(int(rooms.max()) + 2)).astype(np.int32),
        *_room_links(geometry, rooms),
        dead,
        places,
        side_classes(geometry),
        np.array([feature not in unused for feature in range(FEATURES)], np.uint8),
        planned,
    )


def _words(goals: Int32s) -> int:
    """The words that have a bit for each goal."""
    return -(-len(goals) // 64)


def _fits(geometry: Geometry, phases: Sequence[PackingPhase]) -> Words:
    """Return ``Knowledge.fits``; zeros if there are too many goals."""
    fits = np.zeros(geometry.size + 1, np.uint64)
    if len(geometry.goals) > _MOST_SQUARES:
        return fits
    bit = 0
    for phase in phases:
        before = phase.before.copy()
        for middle in range(len(before)):  # what comes before that comes before too
            before |= before[:, middle, None] & before[middle]
        for square, filled in zip(phase.squares, before, strict=True):
            walls = *phase.base, *np.array(phase.squares)[filled].tolist()
            fits[squares_reaching(geometry, square, walls)] |= np.uint64(1 << bit)
            bit += 1
    return fits


def new_scratch(geometry: Geometry) -> FeatureRoom:
    """Return scratch space for a level."""
    rows = geometry.size + 1
    return FeatureRoom(
        np.zeros(rows, np.int32),
        np.zeros(1, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.uint8),
        np.zeros(rows, np.uint8),
        np.zeros(rows, np.int32),
        np.zeros(FEATURES, np.int64),
        np.zeros(5, np.int64),
        np.zeros(8, np.uint64),
        np.zeros(8, np.int64),
        np.zeros(_words(geometry.goals), np.uint64),
        new_goal_matching(rows, _MOST_SQUARES),
        np.zeros(-(-rows // 64), np.uint64),
        np.zeros(_MOST_ROOMS, np.uint64),
        np.zeros(FEATURES, np.int64),
        np.zeros(4 * rows, np.int32),
        np.zeros((_MOST_BLOCKERS + 1, 16 * rows), np.int32),
        np.zeros(_MOST_BLOCKERS + 1, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(1, np.int32),
        np.zeros((32, 2), np.int32),
    )


@kernel(**ARENA)
def _find_hotspots(neighbours: Int32s, goals: Int32s, hot: Words, reach: Int32s, queue: Int32s) -> None:
    """Fill ``hot``. ``reach``: int32, zeros, shape (2, size + 1): goals that a lone box reaches from each
    square on the free map, and with a wall. ``queue``: int32, shape (2, size + 1)."""
    size = len(neighbours) - 1
    for wall in range(size, -1, -1):
        row = 0 if wall == size else 1
        for square in range(size):
            reach[row, square] = 0
            queue[1, square] = -1
        for number in range(len(goals)):
            if goals[number] == wall:
                continue
            queue[0, 0] = goals[number]
            queue[1, goals[number]] = number
            reach[row, goals[number]] += 1
            head, tail = 0, 1
            while head < tail:
                square = queue[0, head]
                head += 1
                for direction in range(4):
                    origin = neighbours[square, direction]
                    behind = neighbours[origin, direction]
                    if origin in (size, wall) or behind in (size, wall) or queue[1, origin] == number:
                        continue
                    queue[1, origin] = number
                    reach[row, origin] += 1
                    queue[0, tail] = origin
                    tail += 1
        if row:
            for square in range(size):
                if reach[1, square] < reach[0, square] and square != wall:
                    hot[square, wall >> 6] |= np.uint64(1) << np.uint64(wall & 63)


@inner
def _begun_phase(board: Board, know: Knowledge) -> Index:
    """Return the latest phase of the plan whose base holds boxes; -1 if there is none."""
    goals = len(know.goals)
    for phase in range(len(know.base) - 1, -1, -1):
        for number in range(goals):
            square = know.base[phase, number]
            if square >= 0 and board.occupied[square] != BOXED:
                break
        else:
            return phase
    return -1


@inner
def _fill(board: Board, know: Knowledge, scratch: FeatureRoom, phase: Index) -> bool:
    """Note the ``filled`` squares of a phase. Returns whether they are all of its squares."""
    filled = scratch.filled
    for word in range(len(filled)):
        filled[word] = 0
    every = True
    for number in range(len(know.goals)):
        square = know.squares[phase, number]
        if square < 0:
            break
        if board.occupied[square] == BOXED:
            filled[number >> 6] |= np.uint64(1) << np.uint64(number & 63)
        else:
            every = False
    return every


@inner
def _is_due(know: Knowledge, scratch: FeatureRoom, phase: Index, number: Index) -> bool:
    """Return whether all squares that must be filled before this one of a phase are ``filled``."""
    for word in range(len(scratch.filled)):
        if know.before[phase, number, word] & ~scratch.filled[word]:
            return False
    return True


@inner
def _count_packed(board: Board, know: Knowledge, scratch: FeatureRoom, phase: Index) -> Index:
    """Return the number of boxes in the places that the begun phase requires, and mark them in ``placed``."""
    occupied, placed = board.occupied, scratch.placed
    for square in range(len(occupied)):
        placed[square] = 0
    if phase < 0:
        return 0
    _fill(board, know, scratch, phase)
    count = np.int64(know.counted[phase])
    for number in range(len(know.goals)):
        square = know.base[phase, number]
        if square >= 0:
            placed[square] = 1
    for number in range(len(know.goals)):
        square = know.squares[phase, number]
        if square >= 0 and occupied[square] == BOXED and _is_due(know, scratch, phase, number):
            placed[square] = 1
            count += 1
    return count


@inner
def _count_out(know: Knowledge, scratch: FeatureRoom, boxes: Int32s, count: Index, phase: Index) -> Index:
    """Return the number of boxes out of plan: those that a matching of boxes to the squares that the plan has
    yet to fill leaves over. A box fits a square if it can still be pushed there when its turn comes."""
    placed, matching = scratch.placed, scratch.matching
    if phase < 0 or len(know.goals) > _MOST_SQUARES:
        return 0
    filled = (np.uint64(1) << np.uint64(know.first[phase])) - np.uint64(1)
    for number in range(len(know.goals)):
        square = know.squares[phase, number]
        if square >= 0 and placed[square]:
            filled |= np.uint64(1) << np.uint64(know.first[phase] + number)
    left = 0
    for number in range(count):
        if not placed[boxes[number]]:
            matching.reach[left, 0] = know.fits[boxes[number]] & ~filled
            left += 1
    return np.int64(left - count_matched(matching, left))


@inner
def _count_out_after(
    know: Knowledge, scratch: FeatureRoom, boxes: Int32s, count: Index, origin: Index, end: Index
) -> Index:
    """Return the number of boxes out of plan after a move between squares that are not planned. It depends on
    the squares that the box fits alone."""
    facts, masks = scratch.facts, scratch.masks
    mask = know.fits[end]
    if mask == know.fits[origin]:
        return np.int64(scratch.whole[OUT])
    if facts[_LIFTED] != origin:
        facts[_LIFTED], facts[_KNOWN] = origin, 0
    for number in range(facts[_KNOWN]):
        if masks[number] == mask:
            return np.int64(scratch.outs[number])
    found = _count_out(know, scratch, boxes, count, np.int64(facts[_PHASE]))
    if facts[_KNOWN] < len(masks):
        masks[facts[_KNOWN]], scratch.outs[facts[_KNOWN]] = mask, found
        facts[_KNOWN] += 1
    return found


@inner
def _begin_at(know: Knowledge, scratch: FeatureRoom, goal: Index) -> None:
    """Let the search for blockers begin with a box on this square."""
    for side in range(4):
        if know.sides[goal, side] == side:
            scratch.least[4 * goal + side] = 0
            scratch.buckets[0, scratch.lengths[0]] = 4 * goal + side
            scratch.lengths[0] += 1


@inner
def _begin_at_due(board: Board, know: Knowledge, scratch: FeatureRoom, phase: Index) -> None:
    """Let the search for blockers begin at the squares to fill next. When those of this phase are filled,
    they are the free squares of the next phase's base: parked boxes come to them, as all that are not on that
    base may move."""
    occupied, placed = board.occupied, scratch.placed
    filled = _fill(board, know, scratch, phase)
    for number in range(len(know.goals)):
        square = know.squares[phase, number]
        if square < 0:
            break
        if occupied[square] != BOXED and _is_due(know, scratch, phase, number):
            _begin_at(know, scratch, square)
    if filled and phase + 1 < len(know.base):
        scratch.facts[_CHANGED] = 1
        for square in range(len(placed)):
            placed[square] = 0
        for number in range(len(know.goals)):
            square = know.base[phase + 1, number]
            if square < 0:
                break
            if occupied[square] == BOXED:
                placed[square] = 1
            else:
                _begin_at(know, scratch, square)


@inner
def _are_blockers_the_same(board: Board, scratch: FeatureRoom, origin: Index, end: Index) -> bool:
    """Return whether the search for blockers would see the same as in the whole position, after a move
    between squares that are not planned."""
    looked, glance, probes = scratch.looked, scratch.glance[0], scratch.probes
    if looked[origin] == glance or looked[end] == glance or scratch.facts[_PROBES] > len(probes):
        return False
    for number in range(scratch.facts[_PROBES]):
        if (board.reached[probes[number, 0]] == board.stamp[0]) != (probes[number, 1] != 0):
            return False
    return True


@inner
def _count_blockers(board: Board, know: Knowledge, scratch: FeatureRoom, phase: Index, note: bool) -> Index:
    """Return the blockers of the next packing, by breadth-first search over pulls of one box with costs 0
    and 1. Packed boxes are walls; another box costs 1 if the keeper must stand on its square. The box found
    costs 1 more if the keeper does not reach it. Changes ``placed`` between phases. ``note``: whether to note
    the squares that it looks at."""
    occupied, neighbours, placed = board.occupied, board.neighbours, scratch.placed
    looked, probes, facts = scratch.looked, scratch.probes, scratch.facts
    glance: np.int32 = np.int32(0)
    if note:
        glance = next_stamp(looked, scratch.glance)
        facts[_PROBES] = 0
    least, buckets, lengths = scratch.least, scratch.buckets, scratch.lengths
    size = len(occupied) - 1
    if phase < 0:
        return _MOST_BLOCKERS
    least[:] = _UNSEEN
    lengths[:] = 0
    _begin_at_due(board, know, scratch, phase)
    best = np.int64(_MOST_BLOCKERS)
    for cost in range(_MOST_BLOCKERS):
        if best <= cost:
            break
        head = 0
        while head < lengths[cost]:
            state = buckets[cost, head]
            head += 1
            if least[state] != cost:
                continue
            square, part = state >> 2, state & 3
            if note:
                looked[square] = glance
            if occupied[square] == BOXED:
                if not placed[square]:
                    for way in range(4):
                        if know.sides[square, way] != part:
                            continue
                        beside = neighbours[square, way]
                        reaches = board.reached[beside] == board.stamp[0]
                        if note:
                            if facts[_PROBES] < len(probes):
                                probes[facts[_PROBES], 0] = beside
                                probes[facts[_PROBES], 1] = reaches
                            facts[_PROBES] += 1
                        if reaches:
                            return cost
                    if best > cost + 1:
                        best = np.int64(cost + 1)
                continue
            for way in range(4):
                if know.sides[square, way] != part:
                    continue
                there = neighbours[square, way]
                behind = neighbours[there, way]
                if there == size or behind == size or placed[there] or placed[behind]:
                    continue
                if note:
                    looked[behind] = glance
                after = cost + (occupied[behind] == BOXED)
                side = know.sides[there, way]
                if side != NO_SIDE and after <= _MOST_BLOCKERS and least[4 * there + side] > after:
                    least[4 * there + side] = after
                    if lengths[after] < buckets.shape[1]:
                        buckets[after, lengths[after]] = 4 * there + side
                        lengths[after] += 1
    return best


@inner
def _count_regions(board: Board, scratch: FeatureRoom) -> Index:
    """Return the number of regions into which the boxes divide the map for the keeper, including his own, and
    fill ``regions``. Needs his walk."""
    neighbours, occupied, regions, queue = board.neighbours, board.occupied, scratch.regions, scratch.queue
    for square in range(len(occupied)):
        regions[square] = board.reached[square] == board.stamp[0]
    count = 1
    for start in range(len(occupied) - 1):
        if occupied[start] != FREE or regions[start]:
            continue
        count += 1
        regions[start] = count
        queue[0] = start
        tail = 1
        while tail:
            tail -= 1
            square = queue[tail]
            for direction in range(4):
                there = neighbours[square, direction]
                if occupied[there] == FREE and not regions[there]:
                    regions[there] = count
                    queue[tail] = there
                    tail += 1
    return count


@inner
def regions_without(board: Board, scratch: FeatureRoom, box: Index) -> Index:
    """Return the number of regions of the whole position if this box were not there."""
    neighbours, regions = board.neighbours, scratch.regions
    apart = 0
    for side in range(4):
        there = regions[neighbours[box, side]]
        new = there > 0
        for before in range(side):
            new &= regions[neighbours[box, before]] != there
        apart += new
    return np.int64(scratch.whole[REGIONS] - apart + 1)


@inner
def _count_broken_links(board: Board, know: Knowledge, scratch: FeatureRoom, changed: np.uint64) -> Index:
    """Return the number of blocked links of rooms: a free square of one room has no way to the other room.
    ``changed`` has the rooms to look at; the others are as in ``missing``, which is filled if it has all."""
    neighbours, occupied, rooms = board.neighbours, board.occupied, know.rooms
    marks, queue = scratch.marks, scratch.queue
    broken = 0
    one = np.uint64(1)
    count = len(know.starts) - 1
    if count < 2:
        return 0
    for room in range(count):
        if not changed >> np.uint64(room) & one:
            broken += count_bits(scratch.missing[room])
            continue
        mark = next_stamp(marks, scratch.stamp)
        missing = np.uint64(0)
        for number in range(know.starts[room], know.starts[room + 1]):
            start = know.inside[number]
            if occupied[start] != FREE or marks[start] == mark:
                continue
            touched = np.uint64(0)
            marks[start] = mark
            queue[0] = start
            tail = 1
            while tail:
                tail -= 1
                square = queue[tail]
                for direction in range(4):
                    there = neighbours[square, direction]
                    if occupied[there] != FREE or marks[there] == mark:
                        continue
                    if rooms[there] == _CORRIDOR or rooms[there] == room:
                        marks[there] = mark
                        queue[tail] = there
                        tail += 1
                    else:
                        touched |= one << np.uint64(rooms[there])
            missing |= know.links[room] & ~touched
        if changed == _ALL_ROOMS:
            scratch.missing[room] = missing
        broken += count_bits(missing)
    return broken


@inner
def find_features(
    board: Board,
    know: Knowledge,
    scratch: FeatureRoom,
    boxes: Int32s,
    count: Index,
    origin: Index,
    end: Index,
    regions: Index,
    sides: Index,
) -> None:
    """Fill ``scratch.values``. Needs the keeper's walk; ``boxes`` has the squares of ``count`` boxes. The box
    on ``end`` came from ``origin`` in the whole position, and made ``regions``; if ``origin`` is -1, this is
    the whole position. ``sides``: the mobility if it is known, else -1."""
    values, words, facts = scratch.values, scratch.words, scratch.facts
    whole = bool(origin < 0)
    afresh = whole or know.planned[origin] != 0 or know.planned[end] != 0
    phase: Index = facts[_PHASE]
    if afresh:
        phase = _begun_phase(board, know)
        values[PACKED] = _count_packed(board, know, scratch, phase)
        facts[_CHANGED] = 1
        if whole:
            facts[_PHASE], facts[_CHANGED], facts[_LIFTED] = phase, 0, -1
            for square in range(len(scratch.packed)):
                scratch.packed[square] = scratch.placed[square]
    else:
        values[PACKED] = scratch.whole[PACKED]
        if facts[_CHANGED]:
            for square in range(len(scratch.packed)):
                scratch.placed[square] = scratch.packed[square]
            facts[_CHANGED] = 0
    if not know.used[REGIONS]:
        values[REGIONS] = 0
    elif whole:
        values[REGIONS] = _count_regions(board, scratch)
    else:
        values[REGIONS] = regions
    values[LINKS] = 0
    if know.used[LINKS]:
        changed = _ALL_ROOMS if whole else know.near[origin] | know.near[end]
        values[LINKS] = _count_broken_links(board, know, scratch, changed)
    if sides < 0:
        sides = 0
        for number in range(count):
            for side in range(4):
                sides += board.reached[board.neighbours[boxes[number], side]] == board.stamp[0]
    values[MOBILITY] = sides
    hotspots = 0
    if know.used[HOTSPOTS]:
        for word in range(len(words)):
            words[word] = 0
        for number in range(count):
            box = boxes[number]
            words[box >> 6] |= np.uint64(1) << np.uint64(box & 63)
        for number in range(count):
            if not scratch.placed[boxes[number]]:
                for word in range(len(words)):
                    hotspots += count_bits(know.hot[boxes[number], word] & words[word])
    values[HOTSPOTS] = hotspots
    values[OUT] = 0
    if know.used[OUT]:
        if afresh:
            values[OUT] = _count_out(know, scratch, boxes, count, phase)
        else:
            values[OUT] = _count_out_after(know, scratch, boxes, count, origin, end)
    values[BLOCKERS] = 0
    if know.used[BLOCKERS]:
        if not afresh and _are_blockers_the_same(board, scratch, origin, end):
            values[BLOCKERS] = scratch.whole[BLOCKERS]
        else:
            values[BLOCKERS] = _count_blockers(board, know, scratch, phase, whole)
    if whole:
        for feature in range(FEATURES):
            scratch.whole[feature] = values[feature]
