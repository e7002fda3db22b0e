"""What comes along, as cards: games by kind, levels, packing puzzles, each with a title and a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from gdl.information import hides
from gdl.reading import read_limited
from gdl.syntax.parser import parse_rules
from gdl.terms import RANDOM
from gdl.visible import visible
from ggp.answers.source import known_levels
from ggp.game import games_folder, installed_games, read_rules_file

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
    for line in text.splitlines():
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
    for line in read_limited(path, LARGEST).decode("utf-8", "replace").splitlines():
        if line.startswith("title "):
            title = line.removeprefix("title ")
            break
    return Card(path.name, visible(title.strip()), "packing puzzle", (), "packing")
