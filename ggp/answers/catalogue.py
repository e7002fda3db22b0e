"""What comes along, as cards: games by kind, levels, packing puzzles, each with a title and a line; and which
game a request means: one that comes along, a level that does, or rules that it brings.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import orjson

from gdl.errors import GdlError
from gdl.information import hides
from gdl.json_schema import Schema, text
from gdl.reading import read_limited, text_of_file
from gdl.syntax.parser import parse_rules
from gdl.terms import RANDOM
from gdl.visible import visible
from gdl.words import counted
from ggp.game import Game
from ggp.processes.parent import JsonMessage
from ggp.rule_files import games_folder, installed_games, read_rules_file

T = TypeVar("T")
log = logging.getLogger("ggp.games")
MOST_CHARACTERS = 1_000_000
SOURCE: dict[str, Schema] = {
    "game": text(200)
    | {"description": "A game that comes along (tictactoe), or a level (yards.xsb:2). Give this, or rules."},
    "rules": text(MOST_CHARACTERS)
    | {"description": "The rules in GDL, as KIF, infix or Prolog. Give these, or game."},
}
"""By what a request names its game."""
_ROLE = re.compile(r"^\s*\(role\s", re.MULTILINE | re.IGNORECASE)
_LEVEL = re.compile(r"([\w-]+\.(?:xsb|txt))(:\d{1,6})?", re.ASCII)


def checked_source(told: dict[str, Any]) -> JsonMessage:
    """``game`` (where it lies) and ``rules`` for :func:`load_source`, one of them empty.

    Nothing is read but files of ours. ``told`` has followed :data:`SOURCE`. Raises GdlError: there is no such
    game or level, there are both or neither.
    """
    game, rules = told.get("game") or "", told.get("rules") or ""
    if bool(game) == bool(rules):
        raise GdlError("name a game, or give its rules", remedy='{"game": "tictactoe"} or {"rules": "..."}')
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
    return [card.name for cards in _made(_level_files(), _level_cards) for card in cards]


def known_puzzles() -> list[str]:
    """The games of one role that come along, and the levels."""
    games = _made(installed_games(), lambda path, written: (path.stem, _count_roles(path, written)))
    return [*(name for name, roles in games if roles == 1), *known_levels()]


def _made(paths: Iterable[Path], make: Callable[[Path, int], T]) -> Iterator[T]:
    """What is made of each file, and of when it was written, in nanoseconds. A file that cannot be read gets
    a line in the log, and costs no other."""
    for path in paths:
        try:
            yield make(path, path.stat().st_mtime_ns)
        except (GdlError, OSError, ValueError) as error:
            log.warning("%s is left out: %s", path.name, error)


@cache
def _count_roles(path: Path, written: int) -> int:
    """How many roles rules have."""
    return len(_ROLE.findall(read_rules_file(path)))


LARGEST = 64 * 1024 * 1024
"""Bytes of a file that is read."""
PACKING_ENDINGS = (".packing", ".xmpuzzle")
_PAUSES = (", ", " with ", " on ", " for ")


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
    games = sorted(_made(installed_games(), _game_card), key=lambda card: card.title)
    levels = [card for cards in _made(_level_files(), _level_cards) for card in cards]
    return [asdict(card) for card in (*games, *levels, *_made(packing_files(), _packing_card))]


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
    """The card of a file of rules."""
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


def _level_files() -> list[Path]:
    folder = games_folder() / "levels"
    return [path for ending in ("xsb", "txt") for path in sorted(folder.glob(f"*.{ending}"))]


@cache
def _level_cards(path: Path, written: int) -> list[Card]:
    """The cards of the levels of a file; one that cannot be played gets a line in the log."""
    from players.puzzles.snakes.level import levels_of_file as snakes
    from players.puzzles.sokoban.levels.level import Level
    from players.puzzles.sokoban.levels.read import levels_of_file as sokoban

    cards = []
    for number, level in enumerate(sokoban(path) if path.suffix == ".xsb" else snakes(path), 1):
        if isinstance(level, GdlError):
            log.warning("%s:%d is left out: %s", path.name, number, level)
            continue
        if isinstance(level, Level):
            line, role = f"Sokoban, {counted(level.boxes, 'box', 'boxes')}", "keeper"
        else:
            line, role = f"Snakes, {counted(len(level.snakes), 'snake')}", "player"
        title = visible(level.title or f"{path.stem.capitalize()} {number}")
        cards.append(Card(f"{path.name}:{number}", title, line, (role,), "level"))
    return cards


@cache
def _packing_card(path: Path, written: int) -> Card:
    title = path.stem
    for line in text_of_file(path, LARGEST).split("\n"):
        if line.startswith("title "):
            title = line.removeprefix("title ")
            break
    return Card(path.name, visible(title.strip()), "packing puzzle", (), "packing")
