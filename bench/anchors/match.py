"""Matches against an engine, and positions against a solver."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from bench.anchors.connect_four import COLUMNS, ENTRIES, ConnectFourBoard, ConnectFourSolver
from bench.anchors.stockfish import StockfishAnchor
from bench.scripts import choosing, play, ready
from gdl.machine import Machine, State
from ggp.tournament.statistics.scores import Tally
from players.match import Match
from players.uct.training.duel import advantage

_LETTERS = "abcdefg"
LONGEST = 400
"""Plies after which a match is drawn."""
_LARGE = (1 << 26) + 35
"""Entries of a table for boards of fewer discs than ``_EARLY``: half a gigabyte."""
_EARLY = 12
_STARTCLOCK = 1.0
"""Seconds before a player is asked about positions: enough for its processes to be there."""


@dataclass(frozen=True)
class KeptValues:
    """How many positions were asked about, and in how many the player kept the exact value."""

    asked: int = 0
    kept: int = 0
    lost: list[str] = field(default_factory=list)


def play_chess(
    machine: Machine, name: str, seconds: float, engine: StockfishAnchor, games: int, startclock: float = 0.0
) -> Tally:
    """Matches of a player against Stockfish, colours by turns; what the player got."""
    score = Tally()
    for number in range(games):
        role = number % 2
        player = ready(name, number + 1, machine, role, startclock=startclock)
        engine.begin()
        seats = {role: choosing(player, seconds), 1 - role: engine.choose}
        match = play(Match(machine, max_steps=LONGEST), seats)
        player.stop()
        goals = match.results
        score.add(advantage(goals, role) if match.over else 0.5, 1.0)
        print(
            f"  match {number + 1}: {machine.roles[role]} gets {goals[role]} after {match.at} plies",
            flush=True,
        )
    return score


def positions(count: int, plies: range, seed: int) -> list[tuple[list[int], dict[int, int]]]:
    """Random positions of connect four in which moves differ in value: the columns played, and the exact
    value of each move."""
    rng, solver = random.Random(seed), ConnectFourSolver(_LARGE if plies.start < _EARLY else ENTRIES)
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
    """Ask a player for its move in positions of connect four. As in a match it has had a startclock, for the
    empty board."""
    kept, lost = 0, []
    for number, (line, values) in enumerate(positions(count, plies, seed)):
        first = state = machine.initial_state()
        for ply, column in enumerate(line):
            state = _dropped(state, ply % 2, column)
        role = len(line) % 2
        player = ready(name, seed + number, machine, role, first, _STARTCLOCK)
        move = player.choose(state, time.monotonic() + seconds).move
        player.stop()
        column = _LETTERS.index(machine.move(role, move).args[0].name)
        if values[column] == max(values.values()):
            kept += 1
        else:
            lost.append(f"{''.join(_LETTERS[c] for c in line)}: {_LETTERS[column]} of {values}")
    return KeptValues(count, kept, lost)


def _dropped(state: State, role: int, column: int) -> State:
    """The state after a role dropped a disc."""
    return state.play({str(state.machine.roles[role]): f"(drop {_LETTERS[column]})"})
