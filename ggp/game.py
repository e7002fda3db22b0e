"""`Game`: rules by name, path or text, and the machines that run them.

>>> game = Game.load("tictactoe")
>>> state = game.machine("prover").initial_state()
>>> len(state.legal["x"])
9
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import ggp
from gdl.errors import GdlError, ParseError
from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules

if TYPE_CHECKING:
    from players.puzzles.sokoban.levels.level import Level

__all__ = ["Game", "State", "games_folder", "installed_games"]


class Game:
    """One game: its rules, and machines made on demand.

    Attributes:
        name: the file's stem, for a level of several with its number; ``game`` for rules as text.
        rules: the parsed rules.
        text: the rules as they were written, comments included.
        level: the Sokoban level that the rules were written from; None for other games.
    """

    def __init__(self, name: str, text: str, level: Level | None = None) -> None:
        """Parse ``text``. Raises ParseError."""
        self.name = name
        self.text = text
        self.level = level
        self.rules: Rules = parse_rules(text, name)
        self._machines: dict[str, Machine] = {}

    @classmethod
    def load(cls, source: str | Path) -> Game:
        """A game from an installed game's name (``sokoban``), a path, or rules as text.

        ``FILE.xsb`` and ``FILE.xsb:N`` are the first and the N-th Sokoban level of a file (also .sok, .slc,
        .txt), one step of the keeper per move; ``FILE.txt:N`` may also be a level of Snakes. Files are looked
        for in games/levels too.

        Raises:
            GdlError: no such game, file or level (the error names similar ones), or a broken level.
            ParseError: the rules cannot be read.
        """
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
            game = cls(path.stem, read_rules_file(path))
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
        from players.puzzles.snakes.file_kind import split_name
        from players.puzzles.snakes.level import find_level
        from players.puzzles.snakes.rules import level_to_rules

        path, number = split_name(name)
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

            self._machines[level] = make_machine(self.rules, level)
        return self._machines[level]

    @property
    def initial(self) -> State:
        """The first state, on the ``auto`` machine."""
        return self.machine().initial_state()

    def __repr__(self) -> str:
        return f"<Game {self.name}: {len(self.rules)} rules>"


loaded_files: dict[str, Path] = {}
"""The files of the games that were loaded, by the names of these: messages show lines of them."""


def find_rules_file(name: str) -> Path:
    """A file of rules by its path, or by the name of a game that comes along. Raises GdlError, which names
    similar ones, where there is none."""
    path = Path(name)
    if not path.exists():
        path = games_folder() / f"{name.lower().removesuffix('.kif')}.kif"
    if not path.exists():
        close = difflib.get_close_matches(name.lower(), [p.stem for p in installed_games()])
        remedy = (
            f"did you mean {', '.join(close)}?"
            if close
            else "`ggp games` lists the names; a path to a .kif file works too"
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
    from players.puzzles.snakes.file_kind import names_snakes_file
    from players.puzzles.sokoban.levels.read import names_level_file

    if names_snakes_file(locate_level(text)):
        return "snakes"
    return "sokoban" if names_level_file(text) else None


def locate_level(name: str) -> str:
    """``FILE:N``, or ``FILE``, with the path of a file that comes along where there is no other."""
    from players.puzzles.sokoban.levels.read import split_name

    path, _ = split_name(name)
    ours = games_folder() / "levels" / path
    return str(ours) + name.removeprefix(str(path)) if not path.exists() and ours.is_file() else name


def read_rules_file(path: Path) -> str:
    """The text of a rules file: UTF-8, any byte order mark dropped, stray bytes replaced. Raises GdlError if
    it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise GdlError(f"cannot read {path}: {error.strerror}") from None


def games_folder() -> Path:
    """Where the games that come along lie: in the wheel, or beside the packages in a checkout."""
    here = Path(ggp.__path__[0]).resolve()
    inside = here / "games"
    return inside if inside.is_dir() else here.parent / "games"


def installed_games() -> Iterator[Path]:
    """The .kif files of the games that come along, by name."""
    return iter(sorted(games_folder().glob("*.kif")))
