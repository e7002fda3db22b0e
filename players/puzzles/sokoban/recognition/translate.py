"""Solutions as moves of the machine, proven by the machine before they are believed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gdl.machine import State
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER
from players.puzzles.sokoban.recognition.recognise import Recognised
from players.puzzles.sokoban.recognition.single_steps import StepModel
from players.puzzles.sokoban.recognition.whole_pushes import PushModel
from propnet.jit.arrays import Flags, Octets

_MOST_WAITING = 100_000
"""Moves that a line may have, waiting included."""


def machine_line(game: Recognised, state: State, pushes: Sequence[Push]) -> list[int] | None:
    """The moves that make these pushes from a state on, to the end of the match; None where the match ends
    before, or where the machine does not agree."""
    model = game.claim.model
    now = game.status(state)
    states: list[Octets] = [now]
    moves: list[int] = []
    for square, direction in pushes:
        box = int(game.squares[square])
        if isinstance(model, StepModel):
            way = _way(model, now, int(model.neighbours[box, direction ^ 2]))
            if way is None:
                return None
            for step in way:
                now = _stepped(model, now, step, moves)
                states.append(now)
            now = _stepped(model, now, direction, moves)
        elif isinstance(model, PushModel):
            moves.append(int(model.pushes[now[box] - BOX, box, direction]))
            ahead = model.neighbours[box, direction]
            kind = now[box]
            now = np.where(now == KEEPER, EMPTY, now).astype(np.uint8)
            now[ahead], now[box] = kind, KEEPER
        states.append(now)
    left = game.moves_left(state)
    if left is not None and len(moves) > left:
        return None
    if not game.over:
        if left is None or left > _MOST_WAITING or not isinstance(model, StepModel):
            return None
        _wait(model, states, moves, left)
    return moves if _proven(game, state, np.array(states), moves) else None


def _way(model: StepModel, status: Octets, end: int) -> list[int] | None:
    """The directions of a shortest walk."""
    neighbours: list[list[int]] = model.neighbours.tolist()
    start = int(np.flatnonzero(status == KEEPER)[0])
    came: dict[int, tuple[int, int]] = {start: (start, -1)}
    line = [start]
    for square in line:
        if square == end:
            break
        for direction, there in enumerate(neighbours[square]):
            if there < len(status) and there not in came and status[there] == EMPTY:
                came[there] = square, direction
                line.append(there)
    if end not in came:
        return None
    way = []
    while end != start:
        end, direction = came[end]
        way.append(direction)
    return way[::-1]


def _stepped(model: StepModel, status: Octets, direction: int, moves: list[int]) -> Octets:
    """The statuses after a step, whose move is put down."""
    keeper = int(np.flatnonzero(status == KEEPER)[0])
    to = int(model.neighbours[keeper, direction])
    after = status.copy()
    if status[to] >= BOX:
        moves.append(int(model.pushes[status[to] - BOX, keeper, direction]))
        after[model.neighbours[to, direction]] = status[to]
    else:
        moves.append(int(model.walks[keeper, direction]))
    after[keeper], after[to] = EMPTY, KEEPER
    return after


def _wait(model: StepModel, states: list[Octets], moves: list[int], length: int) -> None:
    """Do nothing, or walk to and fro, until there are so many moves."""
    while len(moves) < length:
        status = states[-1]
        keeper = int(np.flatnonzero(status == KEEPER)[0])
        idle = np.flatnonzero(model.idle[keeper])
        if len(idle):
            moves.append(int(idle[0]))
            states.append(status)
            continue
        near = model.neighbours[keeper].tolist()
        free = [d for d, to in enumerate(near) if to < len(status) and status[to] == EMPTY]
        if not free:
            return
        states.append(_stepped(model, status, free[0], moves))


def _proven(game: Recognised, state: State, states: Octets, moves: list[int]) -> bool:
    """Whether the machine plays this line from state to state, with the best goal at its end and none
    before."""
    claim = game.claim
    count = len(moves)
    clock = _first(game, state, count + 1)
    done = np.array(moves, np.int64)
    legal = claim.probe.legal(states[:-1], clock[:-1])
    after, sound = claim.probe.after(states[:-1], done, clock[:-1])
    end = claim.probe.machine.evaluate(claim.probe.records(states, clock))
    return bool(
        legal[np.arange(count), done].all()
        and sound.all()
        and (after == states[1:]).all()
        and not end.terminal[:-1].any()
        and end.terminal[-1]
        and end.goals[-1, 0] == claim.best
    )


def _first(game: Recognised, state: State, count: int) -> Flags:
    """The first so many rows of the clocks from a state on; they repeat the last one where they end."""
    parts: list[Flags] = []
    for rows in game.clock_rows(state):
        parts.append(rows)
        if sum(map(len, parts)) >= count:
            break
    rows = np.concatenate(parts)
    return rows[np.minimum(np.arange(count), len(rows) - 1)]
