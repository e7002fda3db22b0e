"""How strong is the player beside an engine made for one game, at each strength that is named?

    python -m bench.engines chess uct --seconds 0.5 --games 4 --nodes 1 --depth 1
    python -m bench.engines breakthrough uct --engine ./fairy-stockfish --games 40 --opening 4 --nodes 400000
    python -m bench.engines checkers uct --games 10 --opening 4 --depth 6

Stockfish plays chess (``apt-get install stockfish``). Fairy-Stockfish plays the other games of the list too;
``--engine`` names its program. The alpha-beta engine of py-draughts plays checkers, to a depth. Before each
of its moves the engine is asked for the legal moves (``go perft 1``), and they must be ours: so our rules are
the referee, and the bridge cannot be wrong unseen. Connect four: ``python -m bench.positions``. ``ggp
tournament`` has matches against OpenSpiel's tree search, ``players.openspiel:mcts``.
"""

from __future__ import annotations

import importlib
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

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
PASS = "0000"
"""A move that the engine names in its own way; it is the only legal one."""


def spelt(role: Term, move: Term) -> str:
    """A move of a game of pieces in UCI: from, to, and what a pawn becomes."""
    arguments = [argument.name for argument in move.args]
    if move.name == "castle":
        return _CASTLING[role.name, arguments[0]]
    return "".join(arguments[:4]) + "".join(_TYPES[name] for name in arguments[4:])


def _disc(role: Term, move: Term) -> str:
    """A move of games/boards/othello.kif in UCI: rows are counted from the other side."""
    if move.name == "pass":
        return PASS
    column, row = (argument.name for argument in move.args)
    return f"P@{column}{9 - int(row)}"


class Variant(NamedTuple):
    """A bundled game as an engine knows it: its name, and the spelling of a role's move."""

    name: str
    spell: Callable[[Term, Term], str]


VARIANTS = {
    "chess": Variant("chess", spelt),
    "breakthrough": Variant("breakthrough", spelt),
    "othello": Variant("flipello", _disc),
}


def missing(program: str | None = None) -> str:
    """Why the engine, Stockfish unless one is named, cannot play here; empty if it can."""
    if program is not None:
        return "" if shutil.which(program) else f"there is no program {program}"
    return "" if _program() else "Stockfish is not installed: apt-get install stockfish"


def _program() -> str | None:
    return shutil.which("stockfish") or next((place for place in _PLACES if Path(place).exists()), None)


class Engine:
    """An engine that plays a bundled game by the Universal Chess Interface.

    Args:
        game: a key of VARIANTS.
        go: the limit of each move, as ``go`` takes it: ``nodes 400000``, ``depth 4``, ``movetime 1000``.
        options: the engine's options.
        program: its path; None for Stockfish where it is installed.

    Raises:
        GdlError: the engine cannot be started, or does not know the game.
    """

    def __init__(
        self, game: str, go: str, options: dict[str, object] | None = None, program: str | None = None
    ) -> None:
        if reason := missing(program):
            raise GdlError(reason)
        self._spell, self._go = VARIANTS[game].spell, go
        path = shutil.which(program or "") or _program()
        assert path is not None
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([path], stdin=pipe, stdout=pipe, text=True, bufsize=1)
        told = list(self._until("uciok", "uci"))
        variants = next((line for line in told if line.startswith("option name UCI_Variant ")), "var chess")
        if VARIANTS[game].name not in variants.split():
            self._process.kill()
            raise GdlError(f"{path} does not play {game}", remedy="--engine names Fairy-Stockfish")
        given = {"UCI_Variant": VARIANTS[game].name, "Use NNUE": "false", "Threads": 1, "Hash": 64}
        for name, value in {**given, **(options or {})}.items():
            if any(line.startswith(f"option name {name} ") for line in told):
                self._say(f"setoption name {name} value {value}")
        self._moves: list[str] = []

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._say("quit")
        self._process.wait(10)

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")

    def _until(self, end: str, command: str) -> Iterator[str]:
        """The engine's lines after a command, up to the one that begins with ``end``."""
        self._say(command)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield line.strip()
            if line.startswith(end):
                return
        raise GdlError(f"the engine ended after {command!r}")

    def begin(self) -> None:
        """A new match."""
        self._moves.clear()
        self._say("ucinewgame")
        list(self._until("readyok", "isready"))

    def choose(self, match: Match) -> Choice:
        """The engine's move, after the moves that were made since it was asked last. Raises AssertionError if
        it has other legal moves than our rules: then these, or this bridge, are wrong."""
        for step in match.steps[len(self._moves) :]:
            role = self._mover(match.machine, step.state)
            moves = self._legal(match.machine, step.state, role)
            self._moves.append(next(text for text, move in moves.items() if move == step.joint[role]))
        moves = self._legal(match.machine, match.state, self._mover(match.machine, match.state))
        self._place()
        (best,) = (line for line in self._until("bestmove", f"go {self._go}") if line.startswith("bestmove"))
        return Choice(moves[best.split()[1]])

    def _place(self) -> None:
        self._say(f"position startpos moves {' '.join(self._moves)}" if self._moves else "position startpos")

    @staticmethod
    def _mover(machine: Machine, state: State) -> int:
        """The role that has more than a noop."""
        noops = [
            str(machine.move(role, machine.legal_moves(state, role)[0])) == "noop"
            for role in range(len(machine.roles))
        ]
        return noops.index(False)

    def _legal(self, machine: Machine, state: State, role: int) -> dict[str, int]:
        """Our legal moves by UCI, the engine's too."""
        ours = {
            self._spell(machine.roles[role], machine.move(role, move)): move
            for move in machine.legal_moves(state, role)
        }
        self._place()
        lines = [line.split(": ") for line in self._until("Nodes searched", "go perft 1")]
        theirs = {line[0] for line in lines if len(line) == 2 and line[0] != "Nodes searched"}
        if set(ours) == {PASS} and len(theirs) == 1:
            return {theirs.pop(): ours[PASS]}
        assert set(ours) == theirs, f"after {' '.join(self._moves)}: {set(ours) ^ theirs}"
        return ours


class Draughts:
    """The alpha-beta engine of py-draughts at checkers. Jumps are forced, as in our rules; its white is our
    black: both begin at the bottom. Raises GdlError unless ``go`` is ``depth N``, or without py-draughts."""

    def __init__(self, go: str) -> None:
        if not go.startswith("depth "):
            raise GdlError("the engine at checkers searches to a depth", remedy="--depth 6")
        try:
            package: Any = importlib.import_module("draughts")
            american: Any = importlib.import_module("draughts.boards.american")
        except ImportError:
            raise GdlError(
                "py-draughts is not installed",
                remedy="pip install py-draughts, where pydraughts is not: both are the module draughts",
            ) from None
        forced = property(lambda board: board._legal_moves_from_core(american._CORE, max_capture=False))
        self._board = type("Forced", (package.AmericanBoard,), {"legal_moves": forced})
        self._engine = package.SimpleEngine(depth_limit=int(go.split()[1]))
        self._squares = {name: place for place, name in enumerate(package.AmericanBoard.SQUARE_NAMES)}
        self._begun, self._squares_of_turn = -1, list[int]()

    def begin(self) -> None:
        """A new match."""
        self._begun = -1

    def choose(self, match: Match) -> Choice:
        """The engine's move; a jump that goes on is several of ours. Raises AssertionError if it has other
        legal moves than our rules."""
        machine, role = match.machine, match.waiting[-1]
        states = [*(step.state for step in match.steps), match.state]
        begun = next(at for at in reversed(range(len(states))) if not _jumps_on(states[at]))
        if self._begun != begun:  # the first jump may have been made already, without a choice
            self._begun, self._squares_of_turn = begun, self._turn(machine, role, states[begun])
        ours = {
            self._steps(machine.move(role, move)): move for move in machine.legal_moves(match.state, role)
        }
        made = len(states) - 1 - begun
        return Choice(ours[self._squares_of_turn[made], self._squares_of_turn[made + 1]])

    def _turn(self, machine: Machine, role: int, state: State) -> list[int]:
        """The squares of the engine's move. Raises AssertionError if it has other legal moves."""
        ours = {self._steps(machine.move(role, move)) for move in machine.legal_moves(state, role)}
        pieces = dict[str, list[str]](b=[], w=[])
        cells = (term.args for term in state.propositions if term.name == "cell")
        for x, y, piece in ([str(argument) for argument in cell] for cell in cells):
            pieces[piece[0]].append(f"{'K' * (piece[1] == 'k')}{self._squares[x + y] + 1}")
        turn = "BW"[machine.roles[role].name == "black"]
        board = self._board.from_fen(f"{turn}:W{','.join(pieces['b'])}:B{','.join(pieces['w'])}")
        theirs = {tuple(move.square_list[:2]) for move in board.legal_moves}
        assert ours == theirs, f"{board.fen}: {ours ^ theirs}"
        squares: list[int] = self._engine.get_best_move(board).square_list
        return squares

    def _steps(self, move: Term) -> tuple[int, int]:
        """The squares of a move: from, to."""
        x1, y1, x2, y2 = (argument.name for argument in move.args)
        return self._squares[x1 + y1], self._squares[x2 + y2]


def _jumps_on(state: State) -> bool:
    """Whether a piece of checkers has just jumped and must jump on."""
    return any(term.name == "chain" for term in state.propositions)


def opened(machine: Machine, plies: int, seed: int) -> Match:
    """A match with so many random moves, which is not over."""
    rng = random.Random(seed)
    while True:
        match = Match(machine, rng, max_steps=LONGEST)
        for _ in range(plies):
            if match.over:
                break
            for role in match.waiting:
                match.answer(role, Choice(match.draw(role)))
            match.make()
        if not match.over:
            return match


def play_engine(
    machine: Machine,
    name: str,
    seconds: float,
    engine: Engine | Draughts,
    games: int,
    startclock: float = 0.0,
    opening: int = 0,
    first: int = 1,
) -> Tally:
    """Matches of a player against an engine, numbered from ``first`` on, seats by turns, two matches from
    each opening of so many random moves; the scores of the player."""
    score = Tally()
    for number in range(first - 1, first - 1 + games):
        role, match = number % 2, opened(machine, opening, number // 2)
        player = ready(name, number + 1, machine, role, match.state, startclock)
        engine.begin()
        play(match, {role: choosing(player, seconds), 1 - role: engine.choose})
        player.stop()
        goals = match.results
        score.add(advantage(goals, role) if match.over else 0.5, 1.0)
        print(
            f"  match {number + 1}: {machine.roles[role]} gets {goals[role]} after {match.at} plies",
            flush=True,
        )
    return score


def _opponent(
    game: str, go: str, options: dict[str, object], program: str | None
) -> AbstractContextManager[Engine | Draughts]:
    return nullcontext(Draughts(go)) if game == "checkers" else Engine(game, go, options, program)


def main() -> None:
    """Read the arguments, play, print a line for each strength."""
    parser = command_line(__doc__)
    parser.add_argument("game", choices=[*VARIANTS, "checkers"])
    parser.add_argument("player", nargs="?", default="uct")
    parser.add_argument("--engine", help="its program (default: Stockfish, if it is installed)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each move of the player")
    parser.add_argument("--games", type=int, default=4, help="against each strength")
    parser.add_argument(
        "--first", type=int, default=1, help="number of the first match, to go on with a series"
    )
    parser.add_argument("--opening", type=int, default=0, help="random moves at the beginning")
    parser.add_argument("--startclock", type=float, default=0.0, help="seconds before each match")
    parser.add_argument("--nodes", type=int, action="append", default=[], help="may be repeated")
    parser.add_argument("--depth", type=int, action="append", default=[], help="may be repeated")
    parser.add_argument("--milliseconds", type=int, action="append", default=[], help="may be repeated")
    parser.add_argument("--skill", type=int, action="append", default=[], help="0 to 20, at depth 5")
    parser.add_argument("--elo", type=int, action="append", default=[], help="at 100 ms")
    given = parser.parse_args()
    if given.game != "checkers" and (reason := missing(given.engine)):
        parser.error(reason)
    machine = Game.load(given.game).machine("auto")
    machine = guided(machine) if isinstance(machine, NativeMachine) else machine  # as in a match
    strengths: list[tuple[str, dict[str, object]]] = [(f"nodes {n}", {}) for n in given.nodes]
    strengths += [(f"depth {n}", {}) for n in given.depth]
    strengths += [(f"movetime {n}", {}) for n in given.milliseconds]
    strengths += [("depth 5", {"Skill Level": n}) for n in given.skill]
    strengths += [("movetime 100", {"UCI_LimitStrength": "true", "UCI_Elo": n}) for n in given.elo]
    for go, options in strengths or [("nodes 1", {})]:
        with _opponent(given.game, go, options, given.engine) as engine:
            terms = given.games, given.startclock, given.opening, given.first
            score = play_engine(machine, given.player, given.seconds, engine, *terms)
        limits = ", ".join([go, *(f"{key} {value}" for key, value in options.items())])
        print(f"{given.player}, {given.seconds:g} s a move, {given.game} against {limits}: {summary(score)}")


if __name__ == "__main__":
    main()
