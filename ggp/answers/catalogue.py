"""What comes along, as cards: games by kind, levels, packing puzzles, each with a title and a line; and which
game a request means: one that comes along, a level that does, or rules that it brings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import GdlError
from gdl.information import hides
from gdl.reading import read_limited, text_of_file
from gdl.syntax.parser import parse_rules
from gdl.terms import RANDOM
from gdl.visible import visible
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


def load_source(request: JsonMessage) -> Game:
    """The game of a request; to be called in a process with limits. Raises GdlError."""
    return Game("rules", request["rules"]) if request["rules"] else Game.load(request["game"])


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


LARGEST = 64 * 1024 * 1024
"""Bytes of a file that is read."""
PACKING_ENDINGS = (".packing", ".xmpuzzle")
_PAUSES = (", ", " with ", " on ", " for ")
_LEVEL_ENDINGS = {".xsb": "Sokoban", ".txt": "Snakes"}


@dataclass(frozen=True, slots=True)
class Card:
    """A thing to play or to solve.

    Attributes:
        name: by which the page asks for it: ``chess``, ``yards.xsb:2``, ``soma.packing``.
        title: for people.
        line: what it is, in a few words; may be empty.
        roles: the game's roles in their order; empty for packing puzzles.
        kind: ``turns``, ``at once`` (roles choose at the same time), ``puzzle`` (one role), ``chance`` (one
            role beside it), ``hidden`` (not everything is seen by everybody), ``level`` or ``packing``.
    """

    name: str
    title: str
    line: str
    roles: tuple[str, ...]
    kind: str


def known_cards() -> list[dict[str, Any]]:
    """All cards as JSON has them: games by title, then levels and packing puzzles in the order of their
    files."""
    games = [_game_card(path, path.stat().st_mtime_ns) for path in installed_games()]
    levels = [card for path, count in _level_files() for card in _level_cards(path, count)]
    packings = [_packing_card(path, path.stat().st_mtime_ns) for path in packing_files()]
    return [asdict(card) for card in (*sorted(games, key=lambda card: card.title), *levels, *packings)]


def packing_files() -> list[Path]:
    """The packing puzzles that come along."""
    folder = games_folder() / "puzzles"
    return [path for ending in PACKING_ENDINGS for path in sorted(folder.glob(f"*{ending}"))]


def title_of(text: str) -> tuple[str, str]:
    """Title and line of rules, from the first line of their header comment: ``; Chomp: bite into a bar.``
    Without a colon the title ends before the first comma or preposition."""
    words = headline(text)
    title, colon, line = words.partition(": ")
    if not colon:
        at = min((at for mark in _PAUSES if (at := words.find(mark)) > 0), default=len(words))
        title, line = words[:at], words[at:].removeprefix(",").strip()
    for article in ("The ", "A "):
        title = title.removeprefix(article)
    return title[:1].upper() + title[1:], line


def headline(text: str) -> str:
    """The first sentence of a game's header comment."""
    for line in text.split("\n"):
        words = line.lstrip("; ").rstrip()
        if line.startswith(";") and words.strip("-=;*"):
            return words.rstrip(".")
        if line.strip() and not line.startswith(";"):
            break
    return ""


@cache
def _game_card(path: Path, written: int) -> Card:
    """The card of a file that was written at some time, in nanoseconds."""
    text = read_rules_file(path)
    title, line = title_of(text)
    roles, at_once = _recorded(path)
    kind = "puzzle" if len(roles) == 1 else "at once" if at_once else "turns"
    if len(roles) == 2 and RANDOM.name in roles:
        kind = "chance"
    if hides(parse_rules(text, path.stem)):
        kind = "hidden"
    return Card(path.stem, title or path.stem, line, roles, kind)


def _recorded(path: Path) -> tuple[tuple[str, ...], bool]:
    """The roles of a game, and whether several of them have a choice in the first state: as its recorded
    playthrough has them."""
    head, first = islice(playthrough(path), 2)
    return tuple(head["roles"]), sum(len(moves) > 1 for moves in first["legal"].values()) > 1


def playthrough(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of the recorded playthrough of a game that comes along, given the file of its rules."""
    data = read_limited(path.parent / "playthroughs" / f"{path.stem}.jsonl", LARGEST)
    return map(orjson.loads, data.splitlines())


def _level_files() -> list[tuple[Path, int]]:
    counts: dict[str, int] = {}
    for name in known_levels():
        file, _, number = name.rpartition(":")
        counts[file] = int(number)
    return [(games_folder() / "levels" / file, count) for file, count in counts.items()]


def _level_cards(path: Path, count: int) -> list[Card]:
    titles = _level_titles(path, path.stat().st_mtime_ns)
    game = _LEVEL_ENDINGS[path.suffix]
    role = "keeper" if game == "Sokoban" else "player"
    return [
        Card(f"{path.name}:{i + 1}", visible(titles[i][0]), f"{game}, {titles[i][1]}", (role,), "level")
        for i in range(count)
    ]


@cache
def _level_titles(path: Path, written: int) -> list[tuple[str, str]]:
    """The title of each level, and how large it is."""
    from players.puzzles.snakes.level import levels_of_file as snakes
    from players.puzzles.sokoban.levels.read import levels_of_file as sokoban

    name = path.stem.capitalize()
    if path.suffix == ".xsb":
        return [
            (level.title or f"{name} {i}", f"{level.boxes} {'box' if level.boxes == 1 else 'boxes'}")
            for i, level in enumerate(sokoban(path), 1)
        ]
    return [
        (one.title or f"{name} {i}", f"{len(one.snakes)} {'snake' if len(one.snakes) == 1 else 'snakes'}")
        for i, one in enumerate(snakes(path), 1)
    ]


@cache
def _packing_card(path: Path, written: int) -> Card:
    title = path.stem
    for line in text_of_file(path, LARGEST).split("\n"):
        if line.startswith("title "):
            title = line.removeprefix("title ")
            break
    return Card(path.name, visible(title.strip()), "packing puzzle", (), "packing")
