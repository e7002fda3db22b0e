"""The packing plan: the order in which to fill goals, found by pulling boxes off them (Shoham and Schaeffer
2020, retrograde analysis).

All boxes stand on goals. A *sink* is a square with a box at the start. A box that pulls can bring to a sink
can leave, and is removed from the board; that never hinders others. If no box can leave, boxes are pulled
aside (parked) until one can. Read backwards, this is a plan: phases in which boxes come from the sinks, and
between them moves of parked boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, new_board, walk
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, macro_pulls, new_maneuvers
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Flags, Index, Int32s, Octets
from propnet.jit.decorators import ARENA, inner, kernel

_TRIALS = 1500
"""The number of ways to park boxes that are tried for one phase."""
_BEAM = 24
_MOST_STARTS = 8


@dataclass(frozen=True, slots=True, eq=False)
class PackingPhase:
    """A part of a plan.

    Attributes:
        base: squares that must hold boxes before the phase begins.
        squares: squares that boxes from the sinks fill.
        before: bool, shape (squares, squares): entry [h, g] is set if g must be filled before h. Either g can
            no longer be filled once h is, or they touch, perhaps through other goals, and g's box leaves in a
            later round.
        counted: the number of boxes that count as packed when the phase begins.
        planned: whether a way is known by which boxes fill these squares.
    """

    base: tuple[int, ...]
    squares: tuple[int, ...]
    before: Flags
    counted: int
    planned: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class PackingPlan:
    """The order in which goals are filled.

    Attributes:
        phases: the phases in the order of play.
        loose: one phase for all, without parked boxes: a goal waits only for goals that cannot be filled
            after it.
    """

    phases: tuple[PackingPhase, ...]
    loose: PackingPhase


def packing_plan(geometry: Geometry, start: Position, everywhere: bool) -> PackingPlan:
    """Return the plan of a level. Its sinks are all start squares if boxes may come from ``everywhere``, and
    the keeper is tried in several regions; otherwise the start squares in the basin of one goal, the one with
    most of them."""
    goals = geometry.goals.tolist()
    sinks = [box for box in start.boxes if box not in goals] or list(start.boxes)
    if not everywhere:
        basins = [squares_reaching(geometry, goal, goals) for goal in goals]
        sinks = max(([box for box in sinks if reach[box]] for reach in basins), key=len, default=[]) or sinks
    best: _PlanFound | None = None
    puller = _Puller(geometry, sinks)
    for keeper, rounds in _beginnings(puller, goals)[: _MOST_STARTS if everywhere else 1]:
        phases = tuple(_phases(puller, goals, keeper))
        planned = sum(len(phase.squares) for phase in phases if phase.planned)
        if best is None or planned > best.planned:
            best = _PlanFound(planned, keeper, rounds, phases)
        if planned == len(goals):
            break
    if best is None:
        free = PackingPhase((), tuple(goals), np.zeros((len(goals),) * 2, np.bool_), 0)
        return PackingPlan((free,), free)
    gone = np.array(best.rounds, np.int32) > 0
    before = gone[:, None] & ~gone[None]
    before[np.ix_(gone, gone)] = _needs(puller, goals, best.rounds, best.keeper)
    return PackingPlan(best.phases, PackingPhase((), tuple(goals), before, 0))


class _PlanFound(NamedTuple):
    """A plan with the number of goals for which it knows a way, and where the keeper ends."""

    planned: int
    keeper: int
    rounds: list[int]
    phases: tuple[PackingPhase, ...]


def _beginnings(puller: _Puller, goals: list[int]) -> list[tuple[int, list[int]]]:
    """Return a square of each region of the keeper when all goals hold boxes, and the round in which each box
    leaves; those from where most boxes leave first."""
    found: list[tuple[int, list[int]]] = []
    tried = set(goals)
    for square in range(puller.geometry.size):
        if square not in tried:
            walked, rounds = puller.leave(goals, [square])
            tried |= walked
            found.append((square, rounds))
    return sorted(found, key=lambda one: one[1].count(0))


@dataclass(frozen=True, slots=True)
class _PackingOrder:
    """An order in which goals can be filled, one box after the other.

    Attributes:
        layers: goals; the goals of a layer in any order, after all previous layers.
        stuck: goals that no single box can leave: their boxes must be packed together, and first.
    """

    layers: tuple[tuple[int, ...], ...]
    stuck: tuple[int, ...]


def packing_order(geometry: Geometry, start: Position) -> _PackingOrder:
    """Return the packing order of all goals of a level (after Junghanns and Schaeffer 2001).

    It is found in reverse. All goals hold a box. A box can leave if it can be pulled to the start square of
    some box, with the others as walls and the keeper coming from outside. Boxes that can leave are removed,
    which only makes space, until none is left or none can leave. The last box out is the first box in.
    """
    goals = geometry.goals.tolist()
    _, rounds = _Puller(geometry, list(start.boxes), gone=False).leave(goals, [start.keeper, *start.boxes])
    layers = {turn: [goal for goal, one in zip(goals, rounds, strict=True) if one == turn] for turn in rounds}
    stuck = layers.pop(0, [])
    return _PackingOrder(tuple(tuple(layers[turn]) for turn in sorted(layers, reverse=True)), tuple(stuck))


def _phases(puller: _Puller, boxes: list[int], keeper: int) -> Iterator[PackingPhase]:
    """Yield the phases of a plan, found from the last to the first."""
    found: list[tuple[list[int], list[int], Flags, int, bool]] = []
    while True:
        _, rounds = puller.leave(boxes, [keeper])
        gone = [box for box, turn in zip(boxes, rounds, strict=True) if turn]
        left = [box for box, turn in zip(boxes, rounds, strict=True) if not turn]
        before = _order(puller, boxes, rounds, keeper)
        parked = _park(puller, left, keeper) if left else None
        if left and parked is None:  # no way is known: these come first, in any order
            found.append((left, gone, before, 0, True))
            found.append(([], left, np.zeros((len(left),) * 2, np.bool_), 0, False))
            break
        found.append((left, gone, before, parked[2] if parked else 0, True))
        if parked is None:
            break
        boxes, keeper, _ = parked
    counted = 0
    for base, squares, before, moved, planned in reversed(found):
        counted += moved
        yield PackingPhase(tuple(base), tuple(squares), before, counted, planned)
        counted += len(squares)


def _needs(puller: _Puller, boxes: list[int], rounds: list[int], keeper: int) -> Flags:
    """Return which leaving box cannot leave while which other box stays: bool, [the other, the box]."""
    gone = [number for number, turn in enumerate(rounds) if turn]
    before = np.zeros((len(gone), len(gone)), np.bool_)
    for row, number in enumerate(gone):
        _, others = puller.leave(boxes, [keeper], number)
        before[row] = [others[other] == 0 and other != number for other in gone]
    return before


def _order(puller: _Puller, boxes: list[int], rounds: list[int], keeper: int) -> Flags:
    """Return which leaving box must be in place before which, as in ``PackingPhase``."""
    turns = np.array([turn for turn in rounds if turn])
    squares = [box for box, turn in zip(boxes, rounds, strict=True) if turn]
    clusters = _clusters(puller.geometry, np.array(squares, np.int32))
    layers: Flags = (turns[None] > turns[:, None]) & (clusters[None] == clusters[:, None])
    return layers | _needs(puller, boxes, rounds, keeper)


def _park(puller: _Puller, boxes: list[int], keeper: int) -> tuple[list[int], int, int] | None:
    """Pull boxes aside until one can leave: breadth-first by pulls of one box, at each depth the pulls that
    bring boxes farthest from goals. Returns the new squares of the boxes, the keeper, and the number of boxes
    pulled aside; None if no way was found."""
    beam = [(boxes, keeper)]
    seen: set[tuple[tuple[int, ...], int]] = set()
    trials = 0
    for depth in range(1, 9):
        reached: list[tuple[int, int, int, list[int], int]] = []
        for config, man in beam:
            for box, stance in puller.pulls(config, man):
                after = [stance >> 2 if other == box else other for other in config]
                spot = int(puller.geometry.neighbours[stance >> 2, stance & 3])
                key = tuple(sorted(after)), min(puller.leave(after, [spot])[0], default=-1)
                if key in seen:
                    continue
                seen.add(key)
                trials += 1
                rounds = puller.leave(after, [spot])[1]
                gain = sum(turn > 0 for turn in rounds)
                distance = sum(int(puller.far[other]) for other in after)
                reached.append((gain, distance, -trials, after, spot))
                if trials > _TRIALS:
                    break
        reached.sort(reverse=True)
        if reached and reached[0][0]:
            return reached[0][3], reached[0][4], depth
        beam = [(entry[3], entry[4]) for entry in reached[:_BEAM]]
        if trials > _TRIALS:
            break
    return None


class _Puller:
    """Pulls boxes on a board of its own. A box on a sink is ``gone`` at once, or must be reached first."""

    def __init__(self, geometry: Geometry, sinks: list[int], gone: bool = True) -> None:
        rows = geometry.size + 1
        self.geometry = geometry
        self._board, self._room = new_board(geometry), new_maneuvers(geometry)
        self._sinks = np.zeros(rows, np.uint8)
        self._sinks[sinks] = 2 if gone else 1
        self._moves = np.zeros((rows * 16, 2), np.int32)
        self.far = _steps_from(geometry, geometry.goals.tolist())

    def leave(self, boxes: list[int], keepers: list[int], stays: int = -1) -> tuple[set[int], list[int]]:
        """Let all boxes leave that can, except one, with the keeper on any of some squares. Returns the
        squares to which he can walk at first from the first of them, and the round in which each box left,
        from 1; 0 if it could not."""
        rounds = np.zeros(len(boxes), np.int32)
        squares = np.array(boxes, np.int32), np.array(keepers, np.int32)
        _leave(self._board, self._room, self._sinks, *squares, rounds, stays)
        return set(np.flatnonzero(self._board.reached == self._board.stamp[0]).tolist()), rounds.tolist()

    def pulls(self, boxes: list[int], keeper: int) -> list[tuple[int, int]]:
        """Return all macro pulls of a position: the box, and the stance that it reaches."""
        count = _pulls(self._board, self._room, np.array(boxes, np.int32), keeper, self._moves)
        return [(box, stance) for box, stance in self._moves[:count].tolist()]


def _steps_from(geometry: Geometry, squares: Iterable[int]) -> Int32s:
    """Return the steps to each square from the nearest of some others, int32, shape (size + 1,); a large
    number if there is no way."""
    far = np.full(geometry.size + 1, 1 << 20, np.int32)
    waiting = list(squares)
    far[waiting] = 0
    for square in waiting:  # the list grows
        for there in geometry.neighbours[square].tolist():
            if there != geometry.size and far[there] == 1 << 20:
                far[there] = far[square] + 1
                waiting.append(there)
    return far


def _clusters(geometry: Geometry, squares: Int32s) -> Int32s:
    """Return the cluster of each square: squares that touch, also diagonally, share one."""
    places = geometry.places[squares]
    touch = np.abs(places[:, None] - places[None]).max(axis=2, initial=0) <= 1
    names = np.arange(len(squares), dtype=np.int32)
    for _ in squares:
        names = np.where(touch, names[None], len(squares)).min(axis=1, initial=len(squares)).astype(np.int32)
    return names


def squares_reaching(geometry: Geometry, goal: int, filled: Iterable[int]) -> Flags:
    """Return the squares from which a box can be pushed to this goal when others are ``filled``, with the
    keeper wherever he is needed: bool, shape (size + 1,)."""
    found = np.zeros(geometry.size + 1, np.bool_)
    found[goal] = True
    waiting = [goal]
    closed = {*filled, geometry.size} - {goal}
    while waiting:
        square = waiting.pop()
        for direction in range(4):
            origin = int(geometry.neighbours[square, direction])
            if origin in closed or found[origin] or int(geometry.neighbours[origin, direction]) in closed:
                continue
            found[origin] = True
            waiting.append(origin)
    return found


@kernel(**ARENA)
def _leave(
    board: Board, room: Maneuvers, sinks: Octets, boxes: Int32s, keepers: Int32s, rounds: Int32s, stays: Index
) -> None:
    """Let boxes leave the board, except the one numbered ``stays``, with the keeper on any of some squares.
    ``rounds`` receives the round of each, 0 if it could not. The last walk is the first one that he could
    make from the first square."""
    for square in range(len(sinks) - 1):
        board.occupied[square] = FREE
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = BOXED
        rounds[number] = 0
    left, turn = 1, 0
    while left:
        left = 0
        turn += 1
        for keeper in keepers:
            if board.occupied[keeper] != FREE:
                continue
            walk(board, keeper)
            for number in range(len(boxes)):
                if rounds[number] == 0 and number != stays and _can_leave(board, room, sinks, boxes[number]):
                    rounds[number] = turn
                    left += 1
        for number in range(len(boxes)):
            if rounds[number] == turn:
                board.occupied[boxes[number]] = FREE
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = BOXED
    walk(board, keepers[0])


@inner
def _can_leave(board: Board, room: Maneuvers, sinks: Octets, box: Index) -> bool:
    """Return whether pulls bring this box to a sink, or it stands on one that counts 2."""
    if sinks[box] == 2:
        return True
    found = False
    for number in range(macro_pulls(board, room, box)):
        found |= sinks[room.stances[number] >> 2] != 0
    return found


@kernel(**ARENA)
def _pulls(board: Board, room: Maneuvers, boxes: Int32s, keeper: Index, moves: Int32s) -> Index:
    """Find the pulls of a position: box and stance. Returns their number, at most as many as fit."""
    for square in range(len(board.occupied) - 1):
        board.occupied[square] = FREE
    for number in range(len(boxes)):
        board.occupied[boxes[number]] = BOXED
    walk(board, keeper)
    count = 0
    for number in range(len(boxes)):
        for other in range(1, macro_pulls(board, room, boxes[number])):
            if count < len(moves):
                moves[count, 0] = boxes[number]
                moves[count, 1] = room.stances[other]
                count += 1
    return count
