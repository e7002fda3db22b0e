"""The bundled games, levels and packing puzzles as cards, each with a title and a line, and the game of a
request: a bundled game or level, or the rules in the request."""

from __future__ import annotations

import base64
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
from gdl.reading import games_folder, read_limited, text_of_file
from gdl.syntax.parser import parse_rules
from gdl.syntax.preface import read_preface
from gdl.syntax.variants import Size, read_sizes
from gdl.terms import RANDOM
from gdl.visible import visible
from gdl.words import counted, sentences, shortened
from ggp.game import Game
from ggp.processes.parent import JsonMessage
from ggp.rule_files import installed_games, installed_place, read_rules_file

T = TypeVar("T")
log = logging.getLogger("ggp.games")
MOST_CHARACTERS = 1_000_000
MOST_UPLOADED = 2_000_000
"""Longest base64 text of an uploaded file."""


def uploaded(data: str) -> bytes:
    """The bytes of an uploaded file, which is base64 in JSON. Raises GdlError."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise GdlError("data must be base64") from None


SOURCE: dict[str, Schema] = {
    "game": text(200)
    | {"description": "A bundled game (tictactoe, hex:11) or level (yards.xsb:2). Give this or rules."},
    "rules": text(MOST_CHARACTERS)
    | {"description": "The rules in GDL, as KIF, infix or Prolog. Give these, or game."},
}
"""The fields by which a request names its game."""
_LEVEL = re.compile(r"([\w-]+\.(?:xsb|txt))(:\d{1,6})?", re.ASCII)


def checked_source(fields: dict[str, Any]) -> JsonMessage:
    """``game`` (its path) and ``rules`` for :func:`load_source`, one of them empty.

    Only bundled files are read. ``fields`` has passed :data:`SOURCE`. Raises GdlError if there is
    no such game or level, or if the request has both or neither.
    """
    game, rules = fields.get("game") or "", fields.get("rules") or ""
    if bool(game) == bool(rules):
        raise GdlError("name a game, or give its rules", remedy='{"game": "tictactoe"} or {"rules": "..."}')
    return {"game": _place(game) if game else "", "rules": rules}


def _place(name: str) -> str:
    if place := installed_place(name):
        return place
    if found := _LEVEL.fullmatch(name):
        path = games_folder() / "levels" / found[1]
        if path.is_file():
            return f"{path}{found[2] or ''}"
    raise GdlError(f"there is no game {name[:80]!r}", remedy="GET /api/games lists the names")


def load_source(request: JsonMessage) -> Game:
    """The game of a request. Call it in a process with limits. Raises GdlError."""
    return Game("rules", request["rules"]) if request["rules"] else Game.load(request["game"])


def known_games() -> list[str]:
    """The names of the bundled games."""
    return [path.stem for path in installed_games()]


def known_levels() -> list[str]:
    """The names of the bundled levels."""
    return [card.name for cards in _for_each(_level_files(), _level_cards) for card in cards]


def _for_each(paths: Iterable[Path], make: Callable[[Path, int], T]) -> Iterator[T]:
    """The results of ``make`` for each file and the time it was written, in nanoseconds. A file that cannot
    be read is logged and skipped."""
    for path in paths:
        try:
            yield make(path, path.stat().st_mtime_ns)
        except (GdlError, OSError, ValueError) as error:
            log.warning("%s is left out: %s", path.name, error)


LARGEST = 64 * 1024 * 1024
"""The most bytes read of a file."""
PACKING_ENDINGS = (".packing", ".xmpuzzle")
_PAUSES = (", ", " with ", " on ", " for ")
_LONGEST_LINE = 110
"""Characters of a card's line."""
_LONGEST_HEADLINE = 300
_FACTS = re.compile(r"^; Size +([0-9,]+) base", re.MULTILINE)
_HINT = re.compile(r"[a-z ]+:")
_FILTERS = {"against chance": "chance", "at the same time": "at once", "hidden information": "hidden"}
"""Kinds that rules name -> the kinds of cards that mean the same."""


@dataclass(frozen=True, slots=True)
class _Card:
    """A thing to play or to solve.

    Attributes:
        name: the name that the page requests: ``chess``, ``yards.xsb:2``, ``soma.packing``.
        title: for people.
        line: a description in a few words; may be empty.
        roles: the game's roles in their order; empty for packing puzzles.
        kind: ``turns``, ``at once`` (roles choose at the same time), ``puzzle`` (one role), ``chance`` (one
            role and chance), ``hidden`` (some information is hidden from some roles), ``level`` or
            ``packing``. The list of cards shows the card under this one.
        varies: the sizes that may be chosen (`connectfour:8x7`).
        kinds: more kinds by which the card is found, of these and of :data:`gdl.syntax.preface.KINDS`.
    """

    name: str
    title: str
    line: str
    roles: tuple[str, ...]
    kind: str
    kinds: tuple[str, ...] = ()
    varies: tuple[Size, ...] = ()


def known_cards() -> list[dict[str, Any]]:
    """All cards as JSON objects: games by title, then levels and packing puzzles in the order of their
    files."""
    games = sorted(_for_each(installed_games(), _game_card), key=lambda card: card.title)
    levels = [card for cards in _for_each(_level_files(), _level_cards) for card in cards]
    return [asdict(card) for card in (*games, *levels, *_for_each(packing_files(), _packing_card))]


def packing_files() -> list[Path]:
    """The bundled packing puzzles."""
    folder = games_folder() / "puzzles"
    return [path for ending in PACKING_ENDINGS for path in sorted(folder.glob(f"*{ending}"))]


def folder_of(path: Path) -> str:
    """The kind of a bundled game: the name of its folder."""
    return path.parent.name


def size_of(text: str) -> str:
    """The number of a game's base propositions, as its header comment gives it; empty if it does not."""
    found = _FACTS.search(text)
    return found[1] if found else ""


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
    return title[:1].upper() + title[1:], shortened(line, _LONGEST_LINE).rstrip(".")


def headline(text: str) -> str:
    """The first sentence of a game's header comment."""
    said = ""
    for line in text.split("\n"):
        words = line.lstrip("; ").rstrip()
        goes_on = line.startswith(";") and words[:1].islower() and not _HINT.match(words)
        if said and not (goes_on and len(said) < _LONGEST_HEADLINE):
            break
        if line.startswith(";") and words.strip("-=;*"):
            said = f"{said} {words}".strip()
            if said[-1] in ".!?:":
                break
        elif line.strip():
            break
    return sentences(said)[0].rstrip(".") if said else ""


@cache
def _game_card(path: Path, written: int) -> _Card:
    """The card of a file of rules."""
    text = read_rules_file(path)
    title, line = title_of(text)
    roles, at_once = _recorded(path)
    kind = "puzzle" if len(roles) == 1 else "at once" if at_once else "turns"
    if len(roles) == 2 and RANDOM.name in roles:
        kind = "chance"
    if hides(parse_rules(text, path.stem)):
        kind = "hidden"
    found = {"chance": RANDOM.name in roles, "at once": at_once}
    said = [_FILTERS.get(one, one) for one in read_preface(text)[0].kinds]
    kinds = dict.fromkeys(one for one in (*(one for one in found if found[one]), *said) if one != kind)
    sizes, _ = read_sizes(text)
    return _Card(path.stem, title or path.stem, line, roles, kind, tuple(kinds), sizes)


def _recorded(path: Path) -> tuple[tuple[str, ...], bool]:
    """The roles of a game, and whether several of them have a choice in the first state, according to its
    recorded playthrough."""
    head, first = islice(playthrough(path), 2)
    return tuple(head["roles"]), sum(len(moves) > 1 for moves in first["legal"].values()) > 1


def playthrough(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of the recorded playthrough of a bundled game, given its rules file."""
    data = read_limited(games_folder() / "playthroughs" / f"{path.stem}.jsonl", LARGEST)
    return map(orjson.loads, data.splitlines())


def _level_files() -> list[Path]:
    """The files of levels of each kind, the shortest first: its levels are the easiest as a rule."""
    folder = games_folder() / "levels"
    size = lambda path: (path.stat().st_size, path)  # noqa: E731
    return [path for ending in ("xsb", "txt") for path in sorted(folder.glob(f"*.{ending}"), key=size)]


@cache
def _level_cards(path: Path, written: int) -> list[_Card]:
    """The cards of the levels of a file; a level that cannot be played is logged and skipped."""
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
        cards.append(_Card(f"{path.name}:{number}", title, line, (role,), "level"))
    return cards


@cache
def _packing_card(path: Path, written: int) -> _Card:
    title = path.stem
    for line in text_of_file(path, LARGEST).split("\n"):
        if line.startswith("title "):
            title = line.removeprefix("title ")
            break
    return _Card(path.name, visible(title.strip()), "packing puzzle", (), "packing")
