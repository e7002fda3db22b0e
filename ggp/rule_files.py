"""Files of rules, their variants and levels: by path, or by the name of a bundled game."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gdl.errors import GdlError
from gdl.reading import games_folder, text_of_file
from gdl.syntax.notation import FORMS
from gdl.syntax.sexpr import MAX_CHARACTERS
from gdl.syntax.variants import variant
from players.plugins import plugins
from players.puzzles.level_name import LevelKind, read_level_name

MOST_BYTES = 4 * MAX_CHARACTERS
"""Most bytes of a rules file."""
SUFFIXES = tuple(ending for form in FORMS.values() for ending in form.endings)
"""The suffixes of rules files, KIF's first."""

loaded_files: dict[str, Path] = {}
"""The files of the games that were loaded, by the names of these: messages show lines of them."""


def find_rules_file(name: str) -> Path:
    """The rules file with this path, or of the bundled game with this name. Raises GdlError if there is none;
    the error names similar ones."""
    if (path := _rules_file(name)) is not None:
        return path
    close = difflib.get_close_matches(name.lower().partition(":")[0], _bundled(games_folder()))
    remedy = (
        f"did you mean {', '.join(close)}?"
        if close
        else "`ggp games` lists the names; a path to a file of rules works too"
    )
    raise GdlError(f"there is no game or file {name!r}", remedy=remedy)


def _rules_file(name: str) -> Path | None:
    return Path(name) if os.path.exists(name) else installed_game(name.lower().removesuffix(".kif"))


def generated_rules(name: str, steps: int | None = None) -> tuple[str, str] | None:
    """The name and the rules of a level (``FILE``, ``FILE:N``) or of a game in other sizes (``hex:11``,
    ``FILE:7x6``); None if this names neither. A level ends after ``steps`` moves. Raises GdlError if the
    level is broken or there are no such sizes."""
    kind = _kind_of_level(name)
    if kind is not None:
        path, number = read_level_name(name)
        return path.stem if number is None else f"{path.stem}-{number}", kind.rules(locate_level(name), steps)
    game, colon, sizes = name.rpartition(":")
    found = _rules_file(game) if colon and len(name) < 4096 and not os.path.exists(name) else None
    if found is None:
        return None
    text = read_rules_file(found)
    rules = variant(found.stem, text, sizes)
    return found.stem if rules is text else f"{found.stem}:{sizes.lower()}", rules


def _kind_of_level(text: str) -> LevelKind | None:
    if len(text) > 4096 or "\n" in text or "." not in text:
        return None
    place = locate_level(text)
    kinds: Iterator[LevelKind] = (plugin.load() for plugin in plugins("levels").values())
    return next((kind for kind in kinds if kind.names(place)), None)


def locate_level(name: str) -> str:
    """``FILE:N``, or ``FILE``, with the path of a bundled file if there is no other."""
    path, _ = read_level_name(name)
    ours = games_folder() / "levels" / path
    return (
        str(ours) + name.removeprefix(str(path))
        if not os.path.exists(path) and os.path.isfile(ours)
        else name
    )


def read_rules_file(path: Path) -> str:
    """The text of a rules file. Raises FileError if it cannot be read."""
    return text_of_file(path, MOST_BYTES)


@cache
def _bundled(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.rglob("*.kif"), key=lambda path: path.stem)}


def installed_games() -> Iterator[Path]:
    """The .kif files of the bundled games in their folder and its subfolders, sorted by name."""
    return iter(_bundled(games_folder()).values())


def installed_game(name: str) -> Path | None:
    """The .kif file of the bundled game with this name; None if there is no such game."""
    return _bundled(games_folder()).get(name)


def installed_place(name: str) -> str | None:
    """The path of the bundled game that a stranger names, with the sizes that follow a colon (``hex:11``), as
    :meth:`ggp.game.Game.load` reads it. None if there is no such game. Raises GdlError if the game does not
    come in these sizes."""
    game, colon, sizes = name.lower().partition(":")
    path = installed_game(game)
    if path is not None and colon:
        variant(path.stem, read_rules_file(path), sizes)
    return None if path is None else f"{path}{colon}{sizes}"
