"""`Game`: rules by name, path or text, the machines that run them, and players for it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, Any, Literal

import ggp
from gdl.errors import GdlError, ParseError, real_number
from gdl.machine import Machine, State
from gdl.reading import plain, text_of_file
from gdl.rules import Rules
from gdl.syntax.notation import FORMS, Notation, form_of
from gdl.syntax.parser import parse_rules
from gdl.syntax.sexpr import MAX_CHARACTERS
from gdl.visible import visible
from gdl.words import counted

if TYPE_CHECKING:
    from ggp.boards.svg.picture import SvgPainter
    from ggp.in_code import GamePlayer, PlayedMatch, PlayerSource
    from players.kaskade.player import ClimbingStates
    from players.puzzles.sokoban.levels.level import Level


__all__ = ["Game", "State", "games_folder", "installed_games", "load"]

MOST_BYTES = 4 * MAX_CHARACTERS
"""Of a file of rules."""
SUFFIXES = tuple(ending for form in FORMS.values() for ending in form.endings)
"""What the names of files of rules end in, KIF's first."""


class Game:
    """One game: its rules, and machines made on demand.

    >>> game = load("tictactoe")
    >>> game.name, len(game.rules), game.kif == game.text, game.level
    ('tictactoe', 33, True, None)
    >>> game.ready(), game.initial, game.machine("prover")
    (True, <State (control x)>, <Machine tictactoe: prover>)
    >>> game.player("random", "x").choose(game.initial)
    {'x': '(mark ...)'}
    >>> game.play(["random", "random"], seed=1)
    <PlayedMatch of ... steps: x random ..., o random ...>

    Attributes:
        name: the file's stem, printable; for a level of several with its number; ``game`` for rules as text.
        rules: the parsed rules.
        text: the rules as they were written, comments included.
        level: the Sokoban level that the rules were written from; None for other games.
    """

    def __init__(self, name: str, text: str, level: Level | None = None, notation: Notation = "auto") -> None:
        """Parse ``text``, whose notation is seen from it where it is not told. Raises ParseError."""
        name = visible(name)
        self.name = name
        self.text = plain(text)
        self.level = level
        self.rules: Rules = parse_rules(text, name, notation)
        self._machines: dict[str, Machine] = {}
        self._draw: PlainDrawing | None = None
        self._draw_svg: SvgDrawing | None = None

    @property
    def kif(self) -> str:
        """The rules in KIF, as game managers send them: the text itself where it is KIF."""
        if self.rules.notation == "kif":
            return self.text
        from gdl.syntax.format import to_kif

        return to_kif(self.rules)

    @classmethod
    def load(cls, source: str | Path) -> Game:
        """A game from an installed game's name (``sokoban``), a path, or rules as text.

        ``FILE.xsb`` and ``FILE.xsb:N`` are the first and the N-th Sokoban level of a file (also .sok, .slc,
        .txt), one step of the keeper per move; ``FILE.txt:N`` may also be a level of Snakes. Files are looked
        for in games/levels too.

        >>> Game.load("(role you) (init here) (legal you wait) (next there) (<= terminal (true there))")
        <Game game: 5 rules>

        Raises:
            GdlError: no such game, file or level (the error names similar ones), or a broken level.
            ParseError: the rules cannot be read.
        """
        if not isinstance(source, str | Path) or source == "":
            given = "an empty text" if source == "" else repr(source)
            raise GdlError(
                f"a game's name, its file or its rules were expected, not {given}",
                remedy="`ggp games` lists the names",
            )
        text = str(source)
        kind = _kind_of_level(text)
        if kind == "snakes":
            return cls._of_snakes(text)
        if kind == "sokoban":
            return cls._of_level(text)
        if isinstance(source, str) and "(" in text:
            return cls("game", text)
        path = find_rules_file(text)
        try:
            text = read_rules_file(path)
            game = cls(path.stem, text, notation=form_of(text, name=path.name).name)
        except ParseError as error:
            error.source = str(path)
            raise
        loaded_files[game.name] = path
        return game

    @classmethod
    def _of_level(cls, name: str) -> Game:
        from players.puzzles.sokoban.levels.gdl import level_to_gdl
        from players.puzzles.sokoban.levels.read import find_level, split_name

        path, _ = split_name(name)
        level = find_level(locate_level(name))
        number = name.rpartition(":")[2] if name != str(path) else ""
        return cls(f"{path.stem}-{number}" if number else path.stem, level_to_gdl(level), level)

    @classmethod
    def _of_snakes(cls, name: str) -> Game:
        from players.puzzles.level_name import read_level_name
        from players.puzzles.snakes.level import find_level
        from players.puzzles.snakes.rules import level_to_rules

        path, number = read_level_name(name)
        level = find_level(locate_level(name))
        return cls(path.stem if number is None else f"{path.stem}-{number}", level_to_rules(level))

    def machine(self, level: str = "auto") -> Machine:
        """The game's machine of a level, made once and kept.

        It is built here and now, however long that takes within the limits. Players in matches do
        not wait: they begin on the prover and go up as a :class:`players.kaskade.kaskade.Kaskade` has
        machines ready.

        Args:
            level: one of :data:`players.kaskade.make_machine.LEVELS`. ``prover`` is ready at once; ``auto``
                is the furthest that can be built.

        Raises:
            RulesError: the rules cannot be played.
            TooLargeError: another level than ``auto`` was asked for and the game is too large for it.
        """
        if level not in self._machines:
            from players.kaskade.make_machine import make_machine

            self._machines[level] = machine = make_machine(self.rules, level)
            self._let_draw(machine)
        return self._machines[level]

    @property
    def initial(self) -> State:
        """The first state: at once, by the prover in games that take long to ground. These are grounded in
        the background meanwhile, and new states are 2 to 100 times as fast after that (:meth:`ready`).

        Raises RulesError if the rules cannot be played.
        """
        return self._climb.initial_state()

    def ready(self, seconds: float | None = None) -> bool:
        """Wait, at most so many seconds, until :attr:`initial` and all that follows is as fast as it gets;
        whether it is. It never is in games that do not ground within the limits."""
        if seconds is not None:
            real_number(seconds, "seconds", 0, TIMEOUT_MAX)
        return self._climb.ready(seconds)

    @cached_property
    def _climb(self) -> ClimbingStates:
        from players.kaskade.player import ClimbingStates

        return ClimbingStates(self.rules, self.kif, self._let_draw)

    def _let_draw(self, machine: Machine) -> None:
        """Have the machine's states drawn as this game's are."""
        if self._draw is None:
            self._draw = _later("ggp.game:PlainDrawing")(self.name)
            self._draw_svg = _later("ggp.game:SvgDrawing")(self.name)
        machine.draw = self._draw
        machine.draw_svg = self._draw_svg

    def player(
        self, name: PlayerSource, role: str | None = None, *, seed: int = 0, machine: str = "auto"
    ) -> GamePlayer:
        """A player that is asked for moves in states of this game: ``game.player("uct").choose(state)``.

        Args:
            name: ``uct``, ``uct:playouts=1000``, ``module:Class`` (the module may lie in the current folder),
                or a subclass of :class:`players.player.Player`.
            role: whose moves it chooses; those of all roles by default.
            seed: what its randomness comes from.
            machine: level of the machine that it thinks on.

        Raises:
            GdlError: there is no such player or role.
        """
        made: GamePlayer = _later("ggp.in_code:GamePlayer")(self.machine(machine), name, role, seed)
        return made

    def play(
        self,
        players: Sequence[PlayerSource],
        *,
        seconds: float = 1.0,
        startclock: float = 1.0,
        seed: int = 0,
        machine: str = "auto",
        max_steps: int | None = None,
        watch: Callable[[State], object] = lambda state: None,
    ) -> PlayedMatch:
        """A match in this process; the players think one after the other.

        Args:
            players: one per role, as for :meth:`player`.
            seconds: for each move; a role with a single legal move makes it without being asked.
            startclock: seconds before the first move, for all players together.
            seed: what the players' randomness comes from.
            machine: level of the machine that it is played on.
            max_steps: stop after this many joint moves.
            watch: called with each state that is reached.

        Raises:
            GdlError: there is no such player, there are not as many as roles, or one chose no legal move.
        """
        run = _later("ggp.in_code:play_in_code")
        match: PlayedMatch = run(self.machine(machine), players, seconds, startclock, seed, max_steps, watch)
        return match

    def _repr_html_(self) -> str:
        """The first state in a notebook, with the game's name and roles below it."""
        from html import escape

        machine = self.machine("prover")
        roles = ", ".join(map(machine.rules.spell, machine.roles))
        words = escape(f"{self.name}: {roles}; {counted(len(self.rules), 'rule')}")
        drawing = machine.initial_state()._repr_svg_() or ""
        return f"<figure>{drawing}<figcaption>{words}</figcaption></figure>"

    def __repr__(self) -> str:
        return f"<Game {self.name}: {len(self.rules)} rules>"


def _later(name: str) -> Any:
    """``module:name``, of a module that itself works on games: imports run one way, so it is found by name
    when it is first needed."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


load = Game.load
"""A game by name, path or text, as :meth:`Game.load` finds it."""


loaded_files: dict[str, Path] = {}
"""The files of the games that were loaded, by the names of these: messages show lines of them."""


def find_rules_file(name: str) -> Path:
    """A file of rules by its path, or by the name of a game that comes along. Raises GdlError, which names
    similar ones, where there is none."""
    path = Path(name)
    if not os.path.exists(path):
        path = games_folder() / f"{name.lower().removesuffix('.kif')}.kif"
    if not os.path.exists(path):
        close = difflib.get_close_matches(name.lower(), [p.stem for p in installed_games()])
        remedy = (
            f"did you mean {', '.join(close)}?"
            if close
            else "`ggp games` lists the names; a path to a file of rules works too"
        )
        raise GdlError(f"there is no game or file {name!r}", remedy=remedy)
    return path


def names_level(name: str) -> bool:
    """Whether this names a level of Sokoban or Snakes."""
    return _kind_of_level(name) is not None


def _kind_of_level(text: str) -> Literal["snakes", "sokoban"] | None:
    """Of which game this names a level; None for rules and for other files."""
    if len(text) > 4096 or "\n" in text or "." not in text:
        return None
    from players.puzzles.snakes.level import names_snakes_file
    from players.puzzles.sokoban.levels.read import names_level_file

    if names_snakes_file(locate_level(text)):
        return "snakes"
    return "sokoban" if names_level_file(text) else None


def locate_level(name: str) -> str:
    """``FILE:N``, or ``FILE``, with the path of a file that comes along where there is no other."""
    from players.puzzles.sokoban.levels.read import split_name

    path, _ = split_name(name)
    ours = games_folder() / "levels" / path
    return (
        str(ours) + name.removeprefix(str(path))
        if not os.path.exists(path) and os.path.isfile(ours)
        else name
    )


def read_rules_file(path: Path) -> str:
    """The text of a rules file. Raises FileError if it cannot be read."""
    return text_of_file(path, MOST_BYTES)


def games_folder() -> Path:
    """Where the games that come along lie: in the wheel, or beside the packages in a checkout."""
    here = Path(ggp.__path__[0]).resolve()
    inside = here / "games"
    return inside if inside.is_dir() else here.parent / "games"


def installed_games() -> Iterator[Path]:
    """The .kif files of the games that come along, by name."""
    return iter(sorted(games_folder().glob("*.kif")))


class PlainDrawing:
    """Draws the states of one game. How is found out with the first one, which takes up to a second."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._painter: object = None

    def __call__(self, state: State) -> str:
        """Lines from top to bottom, and below them what is true and stands on no board."""
        from ggp.boards.board import find_board
        from ggp.boards.snakes import SnakesPainter, map_of_rules
        from ggp.boards.text import Painter
        from ggp.sokoban.machine_stage import LevelPainter, stage_of_machine

        machine = state.machine
        painter = self._painter
        if not isinstance(painter, Painter):
            drawn = map_of_rules(machine.rules)
            stage = None if drawn is not None else stage_of_machine(machine, self._name)
            if drawn is not None:
                painter = SnakesPainter(machine.rules, machine.roles, drawn, False, False)
            elif stage is not None:
                painter = LevelPainter(machine, stage, False, False)
            else:
                painter = Painter(find_board(machine), machine.rules, machine.roles)
            # A painter of Snakes tells what has changed since it last drew: it draws one state only.
            self._painter = painter if drawn is None else None
        shown = painter.draw_state(state)
        parts = [shown.plain(), "\n".join(shown.beside)]
        return "\n".join(filter(None, parts))


class SvgDrawing:
    """Draws the states of one game as SVG that carries its stylesheet; finds the board with the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._painter: SvgPainter | None = None

    def __call__(self, state: State) -> str:
        """The drawing."""
        from ggp.boards.svg.picture import SvgPainter

        if self._painter is None:
            self._painter = SvgPainter.of_machine(state.machine, self._name)
        return self._painter.draw_state(state, alone=True)
