"""FESS, feature space search, in slices of time (Shoham and Schaeffer, "The FESS Algorithm: A Feature Based
Approach to Single-Agent Search", IEEE CoG 2020).

The kernel of FESS visits cells, makes the best waiting move of each, and finds the moves of the new position
(Shoham and Schaeffer 2020).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from players.companions import Stepwise, TurnTaker, next_turn
from players.puzzles.sokoban.board import BOXED, FREE, Board, find_key, new_board, walk
from players.puzzles.sokoban.deadlocks.bipartite import Bipartite, is_bipartite_deadlock, new_bipartite
from players.puzzles.sokoban.deadlocks.corral_deadlock import (
    CorralDetector,
    corral_pushes,
    new_corral_detector,
)
from players.puzzles.sokoban.deadlocks.freeze import is_freeze_deadlock
from players.puzzles.sokoban.deadlocks.patterns import Patterns, is_pattern_deadlock, new_patterns
from players.puzzles.sokoban.deadsets.dead_sets import (
    Lookup,
    clear_box,
    dead_after_push,
    make_dead_sets,
    set_box,
)
from players.puzzles.sokoban.fess.deadlocks import (
    Area,
    FrozenMatching,
    is_area_deadlock,
    is_unmatched,
    new_area,
    new_frozen_matching,
)
from players.puzzles.sokoban.fess.features import (
    BLOCKERS,
    FEATURES,
    HOTSPOTS,
    LINKS,
    MOBILITY,
    OUT,
    PACKED,
    REGIONS,
    FeatureRoom,
    Knowledge,
    find_features,
    new_knowledge,
    new_scratch,
    regions_without,
)
from players.puzzles.sokoban.fess.macro_moves import (
    Maneuvers,
    macro_pushes,
    new_maneuvers,
    parts_around,
    walk_around,
)
from players.puzzles.sokoban.fess.moves import (
    ADVISED,
    ADVISORS,
    DEAD,
    KEPT,
    LOWEST,
    SECOND,
    UNKNOWN,
    Cells,
    Children,
    LiftedBox,
    Moves,
    add_move,
    choose,
    explores,
    explores_without,
    find_cell,
    hottest,
    keep_best,
    lift,
    new_cells,
    new_children,
    new_lifted_box,
    new_moves,
    sides_without,
    take_move,
)
from players.puzzles.sokoban.fess.packing_plan import PackingPlan, plan_in_parts
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push, reachable
from players.puzzles.sokoban.push_search import PushSearch, PushTask
from players.puzzles.sokoban.solution import Outcome
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

_RUNNING, SOLVED, _EXHAUSTED, FULL = range(4)
MOST_WEIGHT = 1023
CORRAL_BUDGET = 300
_AREA_RADIUS = 4
_AREA_BUDGET = 300
NODES, STATUS, CELL = range(3)


class _PositionTree(NamedTuple):
    """The expanded positions, one entry each; the first is the start.

    Attributes:
        boxes: uint16, shape (most, boxes): the squares of the boxes.
        keeper: int32: the lowest square of his region.
        parent: int32.
        origin, stance: int32: the move that led there, as in ``Moves``.
        weight: int32: the number of moves on the way that no advisor named.
        best: int64: the features of the cell.
        table: uint64, a power of two of slots: the keys of the positions.
        counts: int64, shape (3,): NODES, STATUS, CELL (the next to visit).
    """

    boxes: Octets
    keeper: Int32s
    parent: Int32s
    origin: Int32s
    stance: Int32s
    weight: Int32s
    best: Ints
    table: Words
    counts: Ints


class _OpenPosition(NamedTuple):
    """The kernel's data about one position.

    Attributes:
        boxes: int32, shape (boxes,): the squares of the boxes.
        before: int32, shape (size + 1,): 1 on squares that the keeper can walk to.
        now: int64, shape (7,): the features.
        bits: uint64, shape (words,): the boxes, as numbered by the lookup of dead sets.
    """

    boxes: Int32s
    before: Int32s
    now: Ints
    bits: Words


def _new_tree(most: int, boxes: int) -> _PositionTree:
    """Return arrays for ``most`` positions."""
    keeper, parent, origin, stance, weight = (np.zeros(most, np.int32) for _ in range(5))
    return _PositionTree(
        np.zeros((most, boxes), np.uint16),
        keeper,
        parent,
        origin,
        stance,
        weight,
        np.zeros(most, np.int64),
        np.zeros(1 << (2 * most).bit_length(), np.uint64),
        np.zeros(3, np.int64),
    )


@inner
def _score(values: Ints) -> Index:
    """Return the features as one number: boxes out of plan first, then packed ones, blockers, regions, links,
    hotspots, mobility. The lowest is best."""
    score = np.int64(min(values[OUT], 255)) << 6 | 63 - min(values[PACKED], 63)
    score = score << 2 | min(values[BLOCKERS], 3)
    score = score << 8 | min(values[REGIONS], 255)
    score = score << 7 | min(values[LINKS], 127)
    score = score << 12 | min(values[HOTSPOTS], 4095)
    return np.int64(score << 10 | 1023 - min(values[MOBILITY], 1023))


@inner
def _key(board: Board, boxes: Int32s, count: Index, keeper: Index) -> np.uint64:
    """Return the key of a position (Zobrist 1970)."""
    key = np.uint64(board.keys[1, keeper])
    for number in range(count):
        key ^= np.uint64(board.keys[0, boxes[number]])
    return key


class Tools(NamedTuple):
    """The data to find features, moves and deadlocks.

    Attributes:
        board: the board that all work on.
        room, bipartite, corrals, patterns, sets, area, matching, know, scratch, desk, lifted, children: see
            there.
        options: int64, shape (3,): 1 if positions belong to the cells of their best ancestors; 1 if the
            weight of moves does not count; the most moves of a position that are kept though no advisor
            names them.
    """

    board: Board
    room: Maneuvers
    bipartite: Bipartite
    corrals: CorralDetector
    patterns: Patterns
    sets: Lookup
    area: Area
    matching: FrozenMatching
    know: Knowledge
    scratch: FeatureRoom
    desk: _OpenPosition
    lifted: LiftedBox
    children: Children
    options: Ints


@inner
def _is_dead(tools: Tools, keeper: Index) -> bool:
    """Return whether a cheap detector proves the position on the board dead. The keeper has just walked."""
    board, bipartite = tools.board, tools.bipartite
    if is_bipartite_deadlock(board, bipartite, keeper):
        return True
    goals, boxes = tools.know.goals, tools.desk.boxes
    return is_unmatched(tools.matching, tools.room, bipartite.freeze, goals, boxes, keeper)


@inner
def _find_moves(
    tools: Tools, tree: _PositionTree, which: Index, found: Index, found_moves: Index, key: np.uint64
) -> Index:
    """Add the moves of one box that lead to new positions which are not known to be dead; its ``found``
    stances were found last. ``key``: that of the boxes. Returns the new number of moves."""
    board, know, scratch, children = tools.board, tools.know, tools.scratch, tools.children
    boxes, before, bits = tools.desk.boxes, tools.desk.before, tools.desk.bits
    room, sets, lifted, around = tools.room, tools.sets, tools.lifted, tools.lifted.around
    count, origin = len(boxes), np.int64(boxes[which])
    board.occupied[origin] = FREE
    clear_box(sets, bits, origin)
    lift(lifted, room, know, before, boxes, count, origin)
    regions = regions_without(board, scratch, origin) - 1
    without = key ^ board.keys[0, origin]
    for number in range(1, found):
        stance = room.stances[number]
        end, side = np.int64(stance >> 2), np.int64(stance & 3)
        parts = parts_around(board, room, end)
        board.occupied[end] = BOXED
        boxes[which] = end
        set_box(sets, bits, end)
        if (
            not is_freeze_deadlock(board, tools.bipartite.freeze, end)
            and not dead_after_push(sets, bits, end, side ^ 2)
            and not is_pattern_deadlock(board, tools.patterns, end, board.neighbours[end, side])
        ):
            moved = without ^ board.keys[0, end]
            new, new_pushes = False, False
            if parts == 1:
                lowest = lifted.facts[LOWEST if lifted.facts[LOWEST] != end else SECOND]
                if find_key(tree.table, moved ^ board.keys[1, lowest]) < 0:
                    new = True
                    lifted.board.reached[end] -= 1
                    sides = sides_without(lifted, end)
                    new_pushes = explores_without(lifted, know, before, origin, end)
                    find_features(
                        lifted.board, know, scratch, boxes, count, origin, end, regions + parts, sides
                    )
                    lifted.board.reached[end] += 1
            elif (
                find_key(tree.table, moved ^ board.keys[1, walk_around(around, room, origin, end, side)]) < 0
            ):
                new = True
                new_pushes = explores(around, know, before, origin, boxes, count)
                find_features(around, know, scratch, boxes, count, origin, end, regions + parts, -1)
            if new:
                for feature in range(FEATURES):
                    children.values[found_moves, feature] = scratch.values[feature]
                children.score[found_moves] = _score(scratch.values)
                children.explores[found_moves] = new_pushes
                children.origin[found_moves] = origin
                children.stance[found_moves] = stance
                children.advised[found_moves] = UNKNOWN
                found_moves += 1
        clear_box(sets, bits, end)
        board.occupied[end] = FREE
    boxes[which] = origin
    board.occupied[origin] = BOXED
    set_box(sets, bits, origin)
    return found_moves


@inner
def _expand(
    tools: Tools, tree: _PositionTree, moves: Moves, cells: Cells, node: Index, pushes: Index
) -> None:
    """Find the moves of a position. It is on the board and the desk, and the keeper has just walked.
    ``pushes`` is the result of ``corral_pushes`` for it."""
    keeper = np.int64(tree.keeper[node])
    board, know, scratch, children = tools.board, tools.know, tools.scratch, tools.children
    boxes, now, before = tools.desk.boxes, tools.desk.now, tools.desk.before
    count = len(boxes)
    find_features(board, know, scratch, boxes, count, -1, -1, 0, -1)
    for feature in range(FEATURES):
        now[feature] = scratch.values[feature]
    for square in range(len(board.occupied)):
        before[square] = board.reached[square] == board.stamp[0]
    target = hottest(know, boxes, count, scratch.placed)
    bits, sets = tools.desk.bits, tools.sets
    for number in range(len(bits)):
        bits[number] = 0
    for number in range(count):
        set_box(sets, bits, boxes[number])
    key = _key(board, boxes, count, keeper) ^ np.uint64(board.keys[1, keeper])
    found_moves: Index = 0
    for number in range(count):
        first = 15
        if pushes > 0:
            first = 0
            for other in range(pushes):
                if tools.corrals.pushes[other, 0] == boxes[number]:
                    first |= 1 << tools.corrals.pushes[other, 1]
            if first == 0:
                continue
        found = macro_pushes(board, tools.room, know.dead, boxes[number], first)
        if found:
            found_moves = _find_moves(tools, tree, number, found, found_moves, key)
    for advisor in range(ADVISORS):
        while True:
            best = choose(know, children, found_moves, now, advisor, target)
            if best < 0:
                break
            if children.advised[best] == UNKNOWN and _leads_to_death(tools, best):
                children.advised[best] = DEAD
            else:
                children.advised[best] = ADVISED
                break
    features = _score(now) >> 22
    if tools.options[0] and tree.parent[node] >= 0:
        features = min(features, tree.best[tree.parent[node]])
    tree.best[node] = features
    cell = find_cell(cells, features)
    keep_best(children, found_moves, tools.options[2])
    for number in range(found_moves):
        if children.advised[number] >= KEPT:
            weight = min(np.int64(tree.weight[node]) + (children.advised[number] == KEPT), MOST_WEIGHT)
            if tools.options[1]:
                weight = 0
            rank = weight << 53 | children.score[number]
            add_move(moves, cells, cell, rank, node, children.origin[number], children.stance[number])


@inner
def _leads_to_death(tools: Tools, child: Index) -> bool:
    """Return whether a move leads to a position that a quick detector proves dead."""
    board, children, boxes = tools.board, tools.children, tools.desk.boxes
    origin, stance = children.origin[child], children.stance[child]
    end = stance >> 2
    which = 0
    while boxes[which] != origin:
        which += 1
    board.occupied[origin] = FREE
    board.occupied[end] = BOXED
    boxes[which] = end
    keeper = walk(board, board.neighbours[end, stance & 3])
    dead = _is_dead(tools, keeper)
    boxes[which] = origin
    board.occupied[end] = FREE
    board.occupied[origin] = BOXED
    return dead


@inner
def _enter(
    board: Board, desk: _OpenPosition, tree: _PositionTree, node: Index, origin: Index, stance: Index
) -> None:
    """Set up the position after a move."""
    for square in range(len(board.occupied) - 1):
        board.occupied[square] = FREE
    for number in range(len(desk.boxes)):
        box: Index = np.int64(tree.boxes[node, number])
        if box == origin:
            box = stance >> 2
        desk.boxes[number] = box
        board.occupied[box] = BOXED


@kernel(**ARENA)
def run(
    tools: Tools,
    tree: _PositionTree,
    moves: Moves,
    cells: Cells,
    budget: Index,
) -> None:
    """Expand up to ``budget`` positions. The tree's first entry must be the start before the first call."""
    counts = tree.counts
    board, desk = tools.board, tools.desk
    count = len(desk.boxes)
    limit = len(moves.rank) - len(tools.children.origin)
    while budget > 0:
        if counts[NODES] == len(tree.parent) or moves.length[0] > limit:
            counts[STATUS] = FULL
            return
        if counts[NODES] == 0:
            parent, origin, stance, weight = -1, -1, 0, 0
            _enter(board, desk, tree, 0, -1, 0)
            keeper = walk(board, tree.keeper[0])
        else:
            move: Index = -1
            for _ in range(cells.length[0]):
                counts[CELL] += 1
                if counts[CELL] >= cells.length[0]:
                    counts[CELL] = 0
                move = take_move(moves, cells, counts[CELL])
                if move >= 0:
                    break
            if move < 0:
                counts[STATUS] = _EXHAUSTED
                return
            parent, origin, stance = moves.node[move], moves.origin[move], moves.stance[move]
            weight = moves.rank[move] >> 53
            _enter(board, desk, tree, parent, origin, stance)
            keeper = walk(board, board.neighbours[stance >> 2, stance & 3])
        slot = find_key(tree.table, _key(board, desk.boxes, count, keeper))
        if slot >= 0:
            counts[CELL] -= 1  # the position is already expanded: the cell has another turn
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
        budget -= 1
        if _is_dead(tools, keeper):
            continue
        pushes = corral_pushes(board, tools.corrals, keeper, CORRAL_BUDGET)
        if pushes and not (
            parent >= 0
            and is_area_deadlock(board, tools.area, stance >> 2, keeper, _AREA_RADIUS, _AREA_BUDGET)
        ):
            _expand(tools, tree, moves, cells, node, pushes)


@dataclass(frozen=True, slots=True)
class FessStyle:
    """A style of search.

    Attributes:
        ancestors: a position that is worse than one of its ancestors belongs to the ancestor's cell.
        layered: boxes count as packed by the phases of the plan; otherwise by its loose phase.
        everywhere: the plan has boxes come from all squares with a box at the start, not only from those near
            the goals.
        unused: features that do not count.
        greedy: a cell makes the move with the best features first, whether advisors named it or not.
        kept: the most moves of a position that wait though no advisor named them, the best of them.
    """

    ancestors: bool = False
    layered: bool = False
    everywhere: bool = True
    unused: tuple[int, ...] = ()
    greedy: bool = False
    kept: int = 12


_ALL = 1 << 20
STYLES = (
    FessStyle(unused=(LINKS, HOTSPOTS), kept=1),
    FessStyle(),
    FessStyle(ancestors=True, layered=True, everywhere=False, unused=(HOTSPOTS,), greedy=True, kept=_ALL),
    FessStyle(layered=True, everywhere=False),
    FessStyle(ancestors=True, unused=(LINKS, HOTSPOTS), kept=3),
    FessStyle(layered=True, unused=(OUT, LINKS, HOTSPOTS), kept=_ALL),
)
"""The styles that share the time, the most successful first. Each solves levels that the others do not."""

_BYTES_A_MOVE = 28
_BYTES_A_POSITION = 60
"""Without its boxes and its moves."""
_USUAL_MOVES = 32
"""The moves of a position for which there is room, on average, if all are kept."""
_DEAD_SET_SECONDS = 0.3
_SLICE = 0.15
_LEADERS = 3.0
"""The time that all styles in the lead have together, in addition to the share of each."""
_BATCH = 8
_MOST_SQUARES = 1500
"""On larger maps the plan alone may take minutes, which cannot be interrupted."""


class _Arrays(NamedTuple):
    """The data of one search: see :func:`run`."""

    tools: Tools
    tree: _PositionTree
    moves: Moves
    cells: Cells


@dataclass(slots=True)
class _Attempt(Stepwise):
    """One search in one style. ``begin`` makes its data: it yields None while there is work left."""

    begin: Iterator[_Arrays | None]
    arrays: _Arrays | None = None
    counted: int = 0
    best: int = 1 << 60

    @property
    def status(self) -> int:
        return _RUNNING if self.arrays is None else int(self.arrays.tree.counts[STATUS])

    def count(self) -> int:
        """Return the number of positions since the last call, and update ``best``: the boxes out of plan and
        those not packed, as one number, of the best position."""
        if self.arrays is None:
            return 0
        tree, first = self.arrays.tree, self.counted
        self.counted = int(tree.counts[NODES])
        scores = tree.best[first : self.counted]
        self.best = min(self.best, int(scores[scores > 0].min(initial=1 << 60)) >> 17)
        return self.counted - first

    def step(self, deadline: float) -> bool:
        while self.status == _RUNNING:
            if self.arrays is None:
                self.arrays = next(self.begin)
            else:
                run(*self.arrays, _BATCH)
            if time.monotonic() >= deadline:
                break
        return self.status != _RUNNING


class Fess(PushSearch):
    """Alternates among several styles.

    A limit of pushes only matters once there is a solution: if that is too long, it gives up. It also gives
    up on maps of more than 1,500 squares, and when it has nothing left to try: it drops positions by rules of
    thumb, and tells them apart by 64-bit keys, so that is not a proof.
    """

    name: ClassVar[str] = "fess"

    def __init__(self, task: PushTask, styles: Sequence[FessStyle] = STYLES) -> None:
        super().__init__(task)
        self._turns = [TurnTaker(self.name, 1.0, partial(self._attempt, style)) for style in styles]
        self._memory = task.memory // max(1, len(styles))
        self._full = False
        self._planning = {way: self._plan(way) for way in (False, True)}
        self._plans: dict[bool, PackingPlan] = {}
        self._tools: Tools | None = None

    def step(self, deadline: float) -> bool:
        """Work as a :class:`~players.companions.Stepwise`. Styles with the same plan make it together, in the
        first slices; the dead sets are made in one."""
        if self.task.geometry.size > _MOST_SQUARES:
            self.outcome = Outcome.GAVE_UP
        while not self.over:
            turn = next_turn(self._turns)
            if turn.step(min(deadline, time.monotonic() + _SLICE)):
                self._turns.remove(turn)
            status = turn.work.status
            self.positions += turn.work.count()
            self._full |= status == FULL
            self._favour_the_leaders()
            if status == SOLVED:
                self.pushes = self._pushes_of(turn.work)
                most = self.task.most_pushes
                fits = most is None or len(self.pushes) <= most
                self.outcome = Outcome.SOLVED if fits else Outcome.GAVE_UP
            elif not self._turns:
                self.outcome = Outcome.MEMORY_FULL if self._full else Outcome.GAVE_UP
            if time.monotonic() >= deadline:
                break
        return self.over

    def _favour_the_leaders(self) -> None:
        """Give more time to the styles that have come nearest to their plan."""
        if all(turn.begun for turn in self._turns):
            best = min((turn.work.best for turn in self._turns), default=0)
            leaders = [turn for turn in self._turns if turn.work.best == best]
            for turn in self._turns:
                turn.weight = 1.0 + (turn in leaders) * _LEADERS / len(leaders)

    def close(self) -> None:
        """Free its memory."""
        self._turns, self._planning, self._plans, self._tools = [], {}, {}, None

    def _attempt(self, style: FessStyle) -> _Attempt:
        return _Attempt(self._begin(style))

    def _plan(self, everywhere: bool) -> Iterator[None]:
        """Make a plan, part by part."""
        for plan in plan_in_parts(self.task.geometry, self.task.start, everywhere):
            if plan is not None:
                self._plans[everywhere] = plan
            yield

    def _begin(self, style: FessStyle) -> Iterator[_Arrays | None]:
        """Make the data of a search in this style, with its part of the memory."""
        geometry, start = self.task.geometry, self.task.start
        while style.everywhere not in self._plans:
            next(self._planning[style.everywhere])
            yield None
        plan = self._plans[style.everywhere]
        know = new_knowledge(geometry, plan, not style.layered, style.unused)
        options = np.array([style.ancestors, style.greedy, style.kept], np.int64)
        if self._tools is None:
            self._tools = self._new_tools(know, options)
        own = self._tools._replace(know=know, options=options)
        moves = min(ADVISORS + style.kept, _USUAL_MOVES)
        bytes_a_position = _BYTES_A_POSITION + 2 * len(start.boxes) + moves * _BYTES_A_MOVE
        most = max(1 << 11, self._memory // bytes_a_position)
        tree = _new_tree(most, len(start.boxes))
        tree.boxes[0] = start.boxes
        tree.keeper[0] = start.keeper
        yield _Arrays(own, tree, new_moves(max(1 << 16, most * moves)), new_cells(1 << 14))

    def _new_tools(self, know: Knowledge, options: Ints) -> Tools:
        """Return the tools of a style; those of others differ in ``know`` and ``options`` alone."""
        geometry, start = self.task.geometry, self.task.start
        sets = make_dead_sets(geometry, 2, _DEAD_SET_SECONDS)
        size, boxes = geometry.size, len(start.boxes)
        board = new_board(geometry)
        return Tools(
            board,
            new_maneuvers(geometry),
            new_bipartite(geometry),
            new_corral_detector(geometry),
            new_patterns(geometry),
            sets.lookup,
            new_area(geometry),
            new_frozen_matching(geometry, boxes),
            know,
            new_scratch(geometry),
            _OpenPosition(
                np.array(start.boxes, np.int32),
                np.zeros(size + 1, np.int32),
                np.zeros(FEATURES, np.int64),
                np.zeros(sets.squares.words, np.uint64),
            ),
            new_lifted_box(board, boxes),
            new_children(4 * size * boxes),
            options,
        )

    def _pushes_of(self, attempt: _Attempt) -> list[Push]:
        """Return the pushes to the last position of a search."""
        if attempt.arrays is None:
            return []
        tree = attempt.arrays.tree
        node, path = int(tree.counts[NODES]) - 1, list[tuple[int, int]]()
        while tree.parent[node] >= 0:
            path.append((int(tree.origin[node]), int(tree.stance[node])))
            node = int(tree.parent[node])
        return _spell_out(self.task.geometry, self.task.start, reversed(path))


def _spell_out(geometry: Geometry, start: Position, moves: Iterable[tuple[int, int]]) -> list[Push]:
    """Return the fewest pushes that make these macro moves, each given by the box's square and the stance
    that it reaches (:mod:`players.puzzles.sokoban.fess.macro_moves`). They end when all boxes are on goals,
    as the game does: the last box may first pass over its goal, to come back with the keeper elsewhere."""
    boxes, keeper, goals = set(start.boxes), start.keeper, set(geometry.goals.tolist())
    pushes: list[Push] = []
    for origin, stance in moves:
        for box, direction in _macro(geometry, boxes, keeper, origin, stance):
            pushes.append((box, direction))
            boxes.remove(box)
            boxes.add(int(geometry.neighbours[box, direction]))
            keeper = box
            if boxes <= goals:
                return pushes
    return pushes


def _macro(geometry: Geometry, boxes: set[int], keeper: int, origin: int, stance: int) -> list[Push]:
    """Return the fewest pushes that bring one box from ``origin`` to ``stance``."""
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    walls = (boxes - {origin}) | {geometry.size}
    end, target = stance >> 2, neighbours[stance >> 2][stance & 3]
    came: dict[tuple[int, int], tuple[tuple[int, int], Push]] = {}
    first = reachable(neighbours, walls | {origin}, keeper)
    start = origin, min(first)
    waiting = deque([(start, first)])
    while waiting:
        here, region = waiting.popleft()
        box = here[0]
        if box == end and target in region and here != start:
            pushes: list[Push] = []
            while here != start:
                here, push = came[here]
                pushes.append(push)
            return pushes[::-1]
        for direction in range(4):
            ahead = neighbours[box][direction]
            if neighbours[box][direction ^ 2] not in region or ahead in walls:
                continue
            after = reachable(neighbours, walls | {ahead}, box)
            there = ahead, min(after)
            if there not in came and there != start:
                came[there] = here, (box, direction)
                waiting.append((there, after))
    raise ValueError("no pushes of this box make the move")
