"""The bridge to Stockfish: chess moves of ours and of UCI, and an engine of a chosen strength.

Needs the engine (``apt-get install stockfish``) and python-chess (``pip install chess``).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.terms import Term
from players.match import Match
from players.player import Choice

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
