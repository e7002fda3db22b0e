"""Matches against an engine, and positions against a solver."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.anchors.connect_four import CELLS, COLUMNS, ENTRIES, MOST, ConnectFourBoard, ConnectFourSolver
from bench.anchors.stockfish import StockfishAnchor
from gdl.machine import Machine, State
from ggp.in_code import play_in_code
from ggp.tournament.statistics.scores import Tally
from players.match import Match
from players.player import Choice, Player
from players.registry import make_player
from players.uct.training.duel import advantage

_LETTERS = "abcdefg"
LONGEST = 400
"""Plies after which a match is drawn."""
_TABLE = (1 << 26) + 35
"""Entries of the solver of whole matches: half a gigabyte; then three discs take half a minute."""
_STARTCLOCK = 1.0
"""Seconds before a player is asked about positions: enough for its processes to be there."""
_SCORED = 12
"""With fewer discs scores would take minutes: moves of the same value are taken for equally good."""
_LOOKED_AT = 20_000_000
"""After so many boards it is looked at no longer how late such a board is lost; the last step may take some
times as many."""


@dataclass(frozen=True)
class KeptValues:
    """How many positions were asked about, and in how many the player kept the exact value."""

    asked: int = 0
    kept: int = 0
    lost: list[str] = field(default_factory=list)


def _ready(
    name: str,
    seed: int,
    machine: Machine,
    role: int,
    state: State,
    startclock: float = 0.0,
    tells: bool = False,
) -> Player:
    """A player that has had its startclock, in seconds, and perhaps tells what it finds out in it."""
    player = make_player(name, seed)
    if tells:
        player.found_out = lambda fact: print(f"  {fact}", flush=True)
    player.start(machine, role, state, startclock, time.monotonic() + startclock)
    return player


def play_chess(
    machine: Machine,
    name: str,
    seconds: float,
    engine: StockfishAnchor,
    games: int,
    startclock: float = 0.0,
) -> Tally:
    """Matches of a player against Stockfish, colours by turns; what the player got."""
    score = Tally()
    for number in range(games):
        role = number % 2
        match = Match(machine, max_steps=LONGEST)
        player = _ready(name, number + 1, machine, role, match.state, startclock, startclock > 0.0)
        engine.begin()
        while not (match.over or match.why):
            mover = match.at % 2
            if mover == role:
                engine.legal(machine, match.state)
                choice = player.choose(match.state, time.monotonic() + seconds)
            else:
                choice = Choice(engine.choose(machine, match.state))
            match.answer(mover, choice)
            engine.note(machine, mover, choice.move)
            match.make()
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
    rng, solver = random.Random(seed), ConnectFourSolver(_TABLE if plies.start < _SCORED else ENTRIES)
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
        player = _ready(name, seed + number, machine, role, first, _STARTCLOCK)
        move = player.choose(state, time.monotonic() + seconds).move
        player.stop()
        column = _LETTERS.index(machine.move(role, move).args[0].name)
        if values[column] == max(values.values()):
            kept += 1
        else:
            lost.append(f"{''.join(_LETTERS[c] for c in line)}: {_LETTERS[column]} of {values}")
    return KeptValues(count, kept, lost)


def play_bot(machine: Machine, name: str, seconds: float, bot: str, games: int) -> Tally:
    """Matches of a player against another one, of a game of two roles, seats by turns and the same clock for
    both; what the player got."""
    score = Tally()
    for number in range(games):
        seat = number % 2
        names = [name if role == seat else bot for role in range(2)]
        match = play_in_code(machine, names, seconds, 0.0, number + 1, LONGEST, lambda _: None)
        last = match.states[-1]
        goals = [machine.result(last, role) or 0 for role in range(2)]
        score.add(advantage(goals, seat) if machine.is_terminal(last) else 0.5, 1.0)
    return score


class PerfectDefence:
    """Plays connect four with exact values, and loses as late as it can.

    Attributes:
        solver: says what boards are worth.
    """

    def __init__(self, solver: ConnectFourSolver, rng: random.Random) -> None:
        """Moves that are equally good are chosen from by ``rng``, once there are 12 discs. Before that the
        one next to the middle is taken, and how late a lost board is lost is looked at for a while only."""
        self.solver = solver
        self._rng = rng

    def choose(self, board: ConnectFourBoard) -> int:
        """A column."""
        columns = [column for column in range(COLUMNS) if board.may(column)]
        columns.sort(key=lambda column: abs(column - COLUMNS // 2))
        if board.discs >= _SCORED:
            scores = self.solver.scores(board)
            best = max(scores.values())
            return self._rng.choice([column for column in columns if scores[column] == best])
        value = self.solver.value(board)
        if value < 0:
            return self._latest(board, columns)
        return next(column for column in columns if -self.solver.value(board.after(column)) == value)

    def _latest(self, board: ConnectFourBoard, columns: list[int]) -> int:
        """The first of the columns after which a lost board is lost as late as can be seen in some boards."""
        first = self.solver.nodes
        for score in range(MOST, 0, -1):
            later = [column for column in columns if not self.solver.at_least(board.after(column), score)]
            columns = later or columns
            if not later or self.solver.nodes > first + _LOOKED_AT:
                break
        return columns[0]


def play_connect_four(
    machine: Machine, name: str, seconds: float, games: int, line: Sequence[int] = ()
) -> Tally:
    """Matches of a player, who begins, against perfect defence, from an even number of columns already
    played; what the player got. A lost value is told, with the match's columns."""
    score, solver = Tally(), ConnectFourSolver(_TABLE if len(line) < _SCORED else ENTRIES)
    for number in range(games):
        state, board = machine.initial_state(), ConnectFourBoard()
        for ply, column in enumerate(line):
            state, board = _dropped(state, ply % 2, column), board.after(column)
        player = _ready(name, number + 1, machine, 0, state)
        defence, played, best = PerfectDefence(solver, random.Random(number)), list(line), 1
        while not board.lost and board.discs < CELLS:
            if board.discs % 2:
                column = defence.choose(board)
            else:
                move = player.choose(state, time.monotonic() + seconds).move
                column = _LETTERS.index(machine.move(0, move).args[0].name)
            state = _dropped(state, board.discs % 2, column)
            board = board.after(column)
            played.append(column)
            if board.discs % 2 and (value := -solver.value(board)) < best:
                best = value
                print(f"  {''.join(_LETTERS[c] for c in played)}: the value is {value} now", flush=True)
        player.stop()
        result = 0.5 if not board.lost else float(board.discs % 2)
        score.add(result, 1.0)
        print(f"  match {number + 1}: {result:g} after {board.discs} discs", flush=True)
    return score


def _dropped(state: State, role: int, column: int) -> State:
    """The state after a role dropped a disc."""
    return state.play({str(state.machine.roles[role]): f"(drop {_LETTERS[column]})"})
