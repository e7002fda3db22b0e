"""Which game a request means: one that comes along, a level that does, or rules that it brings."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from ggp.game import Game, games_folder, installed_games, read_rules_file
from ggp.processes.parent import JsonMessage

MOST_CHARACTERS = 1_000_000
_ROLE = re.compile(r"^\s*\(role\s", re.MULTILINE | re.IGNORECASE)
_LEVEL = re.compile(r"([\w-]+\.(?:xsb|txt))(:\d{1,6})?", re.ASCII)


def checked_source(told: dict[str, Any]) -> JsonMessage:
    """``game`` (where it lies) and ``rules`` for :func:`load_source`, one of them empty.

    Nothing is read but files of ours. Raises GdlError: there is no such game or level, there are both or
    neither, or the rules are too long.
    """
    game, rules = told.get("game") or "", told.get("rules") or ""
    if not isinstance(game, str) or not isinstance(rules, str):
        raise GdlError("game and rules are texts")
    if bool(game) == bool(rules):
        raise GdlError("name a game, or give its rules", remedy='{"game": "tictactoe"} or {"rules": "..."}')
    if len(rules) > MOST_CHARACTERS:
        raise GdlError(f"rules has more than {MOST_CHARACTERS:,} characters")
    return {"game": _place(game) if game else "", "rules": rules}


def _place(name: str) -> str:
    for path in installed_games():
        if path.stem == name:
            return str(path)
    if found := _LEVEL.fullmatch(name):
        path = games_folder() / "levels" / found[1]
        if path.is_file():
            return f"{path}{found[2] or ''}"
    raise GdlError(f"there is no game {name[:80]!r}", remedy="GET /api/games lists the names")


def load_source(order: JsonMessage) -> Game:
    """The game of an order; to be called in a process with limits. Raises GdlError."""
    return Game("rules", order["rules"]) if order["rules"] else Game.load(order["game"])


def known_games() -> list[str]:
    """The names of the games that come along."""
    return [path.stem for path in installed_games()]


def known_levels() -> list[str]:
    """The names of the levels that come along."""
    folder = games_folder() / "levels"
    paths = [path for ending in ("xsb", "txt") for path in sorted(folder.glob(f"*.{ending}"))]
    counts = {path.name: _count_levels(path, path.stat().st_mtime_ns) for path in paths}
    return [f"{name}:{number}" for name, count in counts.items() for number in range(1, count + 1)]


def known_puzzles() -> list[str]:
    """The games of one role that come along, and the levels."""
    games = [path.stem for path in installed_games() if _count_roles(path, path.stat().st_mtime_ns) == 1]
    return [*games, *known_levels()]


@cache
def _count_levels(path: Path, written: int) -> int:
    """How many levels a file has that was written at some time, in nanoseconds."""
    from players.puzzles.snakes.level import levels_of_file as snakes
    from players.puzzles.sokoban.levels.read import levels_of_file as sokoban

    return len(sokoban(path) if path.suffix == ".xsb" else snakes(path))


@cache
def _count_roles(path: Path, written: int) -> int:
    """How many roles rules have, likewise."""
    return len(_ROLE.findall(read_rules_file(path)))
