"""The packing plan: in which order goals are to be filled, by pulling boxes off them (Shoham and Schaeffer
2020, retrograde analysis).

All boxes stand on goals. A box that pulls bring to a square where a box stands at the beginning can leave, and
is taken off the board; that never hinders others. What leaves last is packed first. A goal must be filled
before another if its box cannot leave as long as the other's stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, new_board, walk
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, macro_pulls, new_maneuvers
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Flags, Index, Int32s, Octets
from propnet.jit.decorators import ARENA, inner, kernel


@dataclass(frozen=True, slots=True, eq=False)
class PackingPlan:
    """In which order goals are filled.

    Attributes:
        goals: int32, ascending.
        rounds: int32, shape (goals,): in which round the goal's box left, from 1; 0 if it could not.
        before: bool, shape (goals, goals): entry [h, g] is set where g is to be filled before h.
        basin: bool, shape (size + 1,): squares from which a box can be pushed to a goal when all the other
            goals are filled.
    """

    goals: Int32s
    rounds: Int32s
    before: Flags
    basin: Flags


def packing_plan(geometry: Geometry, start: Position) -> PackingPlan:
    """The plan of a level."""
    board, room = new_board(geometry), new_maneuvers(geometry)
    goals = np.ascontiguousarray(geometry.goals, np.int32)
    goal_set = set(goals.tolist())
    basins = [_basin(geometry, int(goal), goal_set) for goal in goals]
    sinks = np.zeros(geometry.size + 1, np.uint8)
    outside = [box for box in start.boxes if box not in goal_set]
    sinks[outside or list(start.boxes)] = 1
    best: Int32s = np.zeros(len(goals), np.int32)
    keeper = -1
    rounds = best.copy()
    tried: set[int] = set()
    for square in range(geometry.size):
        if square in goal_set or square in tried:
            continue
        _leave(board, room, sinks, goals, rounds, square, -1)
        tried.update(np.flatnonzero(room.met == -1).tolist())
        if keeper < 0 or (rounds > 0).sum() > (best > 0).sum():
            best, keeper = rounds.copy(), square
    before = np.zeros((len(goals), len(goals)), np.bool_)
    if keeper >= 0:
        for number in range(len(goals)):
            if best[number]:
                _leave(board, room, sinks, goals, rounds, keeper, number)
                before[number] = rounds == 0
                before[number, number] = False
    late = np.where(best > 0, best, best.max(initial=0) + 1)
    clusters = _clusters(geometry, goals)
    before |= (late[None, :] > late[:, None]) & (clusters[None, :] == clusters[:, None])
    return PackingPlan(goals, best, before, np.logical_or.reduce(basins, axis=0))


def _clusters(geometry: Geometry, goals: Int32s) -> Int32s:
    """The cluster that each goal belongs to: goals that touch, also diagonally, share one."""
    places = geometry.places[goals]
    touch = np.abs(places[:, None] - places[None]).max(axis=2, initial=0) <= 1
    names = np.arange(len(goals), dtype=np.int32)
    for _ in goals:
        names = np.where(touch, names[None], len(goals)).min(axis=1).astype(np.int32)
    return names


def _basin(geometry: Geometry, goal: int, goals: set[int]) -> Flags:
    """The squares from which a box can be pushed to this goal when all others hold a box, wherever the keeper
    has to be for it; bool, shape (size + 1,)."""
    found = np.zeros(geometry.size + 1, np.bool_)
    found[goal] = True
    waiting = [goal]
    closed = goals - {goal} | {geometry.size}
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
    board: Board, room: Maneuvers, sinks: Octets, goals: Int32s, rounds: Int32s, keeper: Index, stays: Index
) -> None:
    """Have boxes leave from a board where all goals are filled. ``rounds`` takes the round of each, 0 where
    one could not; the one numbered ``stays`` must not. ``room.met`` is -1 where the keeper could walk at
    first."""
    for square in range(len(sinks) - 1):
        board.occupied[square] = FREE
        room.met[square] = 0
    for number in range(len(goals)):
        board.occupied[goals[number]] = BOXED
        rounds[number] = 0
    left, turn = 1, 0
    while left:
        left = 0
        turn += 1
        walk(board, keeper)
        for number in range(len(goals)):
            if rounds[number] == 0 and number != stays and _can_leave(board, room, sinks, goals[number]):
                rounds[number] = turn
                left += 1
        for number in range(len(goals)):
            if rounds[number] == turn:
                board.occupied[goals[number]] = FREE
    for number in range(len(goals)):
        board.occupied[goals[number]] = BOXED
    walk(board, keeper)
    for square in range(len(sinks) - 1):
        if board.reached[square] == board.stamp[0]:
            room.met[square] = -1


@inner
def _can_leave(board: Board, room: Maneuvers, sinks: Octets, box: Index) -> bool:
    """Whether pulls bring this box to a sink."""
    if sinks[box]:
        return True
    for number in range(macro_pulls(board, room, box)):
        if sinks[room.stances[number] >> 2]:
            return True
    return False
