"""Matches against an engine, and positions against a solver."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from bench.anchors.connect_four import COLUMNS, ConnectFourBoard, ConnectFourSolver
from bench.anchors.stockfish import StockfishAnchor
from gdl.machine import Machine, State
from ggp.tournament.statistics.scores import Tally, compare
from players.player import Player
from players.registry import make_player

_LETTERS = "abcdefg"
LONGEST = 400
"""Plies after which a match is drawn."""


@dataclass(frozen=True)
class KeptValues:
    """How many positions were asked about, and in how many the player kept the exact value."""

    asked: int = 0
    kept: int = 0
    lost: list[str] = field(default_factory=list)


def _ready(name: str, seed: int, machine: Machine, role: int, state: State) -> Player:
    player = make_player(name, seed)
    player.start(machine, role, state, 0.0, time.monotonic())
    return player


def play_chess(machine: Machine, name: str, seconds: float, engine: StockfishAnchor, games: int) -> Tally:
    """Matches of a player against Stockfish, colours by turns; what the player got."""
    score = Tally()
    for number in range(games):
        role = number % 2
        state = machine.initial_state()
        player = _ready(name, number + 1, machine, role, state)
        engine.begin()
        for ply in range(LONGEST):
            if machine.is_terminal(state):
                break
            mover = ply % 2
            if mover == role:
                engine.legal(machine, state)
                move = player.choose(state, time.monotonic() + seconds).move
            else:
                move = engine.choose(machine, state)
            joint = [machine.legal_moves(state, other)[0] for other in range(2)]
            joint[mover] = move
            engine.note(machine, mover, move)
            state = machine.next_state(state, joint)
        player.stop()
        goals = [machine.result(state, other) or 0 for other in range(2)]
        score.add(compare(goals[role], goals[1 - role]) if machine.is_terminal(state) else 0.5, 1.0)
        print(f"  match {number + 1}: {machine.roles[role]} gets {goals[role]} after {ply} plies", flush=True)
    return score


def positions(count: int, plies: range, seed: int) -> list[tuple[list[int], dict[int, int]]]:
    """Random positions of connect four in which moves differ in value: the columns played, and the exact
    value of each move."""
    rng, solver = random.Random(seed), ConnectFourSolver()
    found: list[tuple[list[int], dict[int, int]]] = []
    while len(found) < count:
        board, line = ConnectFourBoard(), list[int]()
        for _ in range(rng.choice(plies)):
            line.append(rng.choice([column for column in range(COLUMNS) if board.may(column)]))
            board = board.after(line[-1])
            if board.lost:
                break
        if not board.lost:
            values = solver.values(board)
            if len(set(values.values())) > 1:
                found.append((line, values))
    return found


def keep_values(
    machine: Machine, name: str, seconds: float, count: int, plies: range, seed: int
) -> KeptValues:
    """Ask a player for its move in positions of connect four."""
    kept, lost = 0, []
    for number, (line, values) in enumerate(positions(count, plies, seed)):
        state = machine.initial_state()
        for ply, column in enumerate(line):
            state = _dropped(machine, state, ply % 2, column)
        role = len(line) % 2
        player = _ready(name, seed + number, machine, role, state)
        move = player.choose(state, time.monotonic() + seconds).move
        player.stop()
        column = _LETTERS.index(machine.move(role, move).args[0].name)
        if values[column] == max(values.values()):
            kept += 1
        else:
            lost.append(f"{''.join(_LETTERS[c] for c in line)}: {_LETTERS[column]} of {values}")
    return KeptValues(count, kept, lost)


def _dropped(machine: Machine, state: State, role: int, column: int) -> State:
    """The state after a disc was dropped."""
    joint = [machine.legal_moves(state, other)[0] for other in range(2)]
    wanted = f"(drop {_LETTERS[column]})"
    joint[role] = next(m for m in machine.legal_moves(state, role) if str(machine.move(role, m)) == wanted)
    return machine.next_state(state, joint)
