"""How strong is the player at chess (games/chess.kif), beside Stockfish at each strength that is named?

    python -m bench.stockfish uct --seconds 0.5 --games 4 --nodes 1 --depth 1

Needs the engine (``apt-get install stockfish``) and python-chess (``pip install chess``). Connect four and
other games: ``python -m bench.positions``. ``ggp tournament`` has matches against OpenSpiel's tree search,
``players.openspiel:mcts``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType

from bench.scripts import choosing, command_line, play, ready
from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.terms import Term
from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import summary
from players.kaskade.guided_machine import guided
from players.match import Match
from players.player import Choice
from players.uct.training.duel import LONGEST, advantage
from propnet.native.machine import NativeMachine

_PLACES = "/usr/games/stockfish", "/usr/bin/stockfish", "/usr/local/bin/stockfish"
_TYPES = {"queen": "q", "rook": "r", "bishop": "b", "knight": "n"}
_CASTLING = {
    ("white", "kingside"): "e1g1",
    ("white", "queenside"): "e1c1",
    ("black", "kingside"): "e8g8",
    ("black", "queenside"): "e8c8",
}


def missing() -> str:
    """Why Stockfish cannot play here; empty if it can."""
    try:
        import chess.engine  # noqa: F401
    except ImportError:
        return "python-chess is not installed: pip install chess"
    return "" if _program() else "Stockfish is not installed: apt-get install stockfish"


def _program() -> str | None:
    return shutil.which("stockfish") or next((place for place in _PLACES if Path(place).exists()), None)


def to_uci(role: Term, move: Term) -> str:
    """A move of games/chess.kif in UCI; empty for noop."""
    arguments = [argument.name for argument in move.args]
    if move.name == "castle":
        return _CASTLING[role.name, arguments[0]]
    if move.name == "promote":
        return "".join(arguments[:4]) + _TYPES[arguments[4]]
    return "".join(arguments)


class StockfishAnchor:
    """An engine that plays games/chess.kif."""

    def __init__(self, nodes: int | None = None, depth: int | None = None, skill: int | None = None) -> None:
        """It looks at so many ``nodes`` or so deep; ``skill`` is 0 to 20. Raises GdlError with the reason
        where it is not installed."""
        if reason := missing():
            raise GdlError(reason)
        import chess
        import chess.engine

        program = _program()
        assert program is not None
        self._engine = chess.engine.SimpleEngine.popen_uci(program)
        self._engine.configure({"Threads": 1, "Hash": 16})
        if skill is not None:
            self._engine.configure({"Skill Level": skill})
        self._limit = chess.engine.Limit(nodes=nodes, depth=depth)
        self._board = chess.Board()

    def __enter__(self) -> StockfishAnchor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.quit()

    def begin(self) -> None:
        """A new match."""
        self._board.reset()

    def choose(self, match: Match) -> Choice:
        """The engine's move, after the moves that were made since it was asked last. Raises AssertionError
        where its board has other legal moves than ours: then our rules, or this bridge, are wrong."""
        for step in match.steps[len(self._board.move_stack) :]:
            legal = self._legal(match.machine, step.state)
            made = step.joint[0 if self._board.turn else 1]
            self._board.push_uci(next(text for text, move in legal.items() if move == made))
        moves = self._legal(match.machine, match.state)
        found = self._engine.play(self._board, self._limit).move
        assert found is not None
        return Choice(moves[found.uci()])

    def _legal(self, machine: Machine, state: State) -> dict[str, int]:
        """Our legal moves by UCI, the engine's too."""
        role = 0 if self._board.turn else 1
        ours = {
            to_uci(machine.roles[role], machine.move(role, move)): move
            for move in machine.legal_moves(state, role)
        }
        theirs = {move.uci() for move in self._board.legal_moves}
        assert set(ours) == theirs, f"{self._board.fen()}: {set(ours) ^ theirs}"
        return ours


def play_chess(
    machine: Machine, name: str, seconds: float, engine: StockfishAnchor, games: int, startclock: float = 0.0
) -> Tally:
    """Matches of a player against Stockfish, colours by turns; the scores of the player."""
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


def main() -> None:
    """Read the arguments, play, print a line for each strength."""
    parser = command_line(__doc__)
    parser.add_argument("player", nargs="?", default="uct")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each move of the player")
    parser.add_argument("--games", type=int, default=4, help="against each strength")
    parser.add_argument("--startclock", type=float, default=0.0, help="seconds before each match")
    parser.add_argument("--nodes", type=int, action="append", default=[], help="may be repeated")
    parser.add_argument("--depth", type=int, action="append", default=[], help="may be repeated")
    parser.add_argument("--skill", type=int, action="append", default=[], help="0 to 20, at depth 5")
    given = parser.parse_args()
    if reason := missing():
        parser.error(reason)
    machine = Game.load("chess").machine("auto")
    machine = guided(machine) if isinstance(machine, NativeMachine) else machine  # as in a match
    strengths: list[dict[str, int]] = [{"nodes": n} for n in given.nodes]
    strengths += [{"depth": d} for d in given.depth] + [{"depth": 5, "skill": s} for s in given.skill]
    for strength in strengths or [{"nodes": 1}]:
        with StockfishAnchor(**strength) as engine:
            score = play_chess(machine, given.player, given.seconds, engine, given.games, given.startclock)
        limits = ", ".join(f"{key} {value}" for key, value in strength.items())
        print(f"{given.player}, {given.seconds:g} s a move, against Stockfish, {limits}: {summary(score)}")


if __name__ == "__main__":
    main()
