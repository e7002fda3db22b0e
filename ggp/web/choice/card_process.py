"""The process that makes cards: it draws the pictures of bundled games after some moves, levels and packed
pieces, and recognises an uploaded file or a pasted text: rules, levels of Sokoban or Snakes, or a packing
puzzle."""

from __future__ import annotations

import re
import time
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from gdl.errors import GdlError
from gdl.reading import games_folder, text_of
from gdl.syntax.parser import parse_term
from gdl.terms import Term
from gdl.visible import visible
from gdl.words import counted
from ggp.answers.catalogue import PACKING_ENDINGS, playthrough, title_of, uploaded
from ggp.boards.scene import Onlooker
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.rule_files import installed_game

if TYPE_CHECKING:
    from players.puzzles.snakes.level import SnakeLevel
    from players.puzzles.sokoban.levels.level import Level


MEMORY = 2 * 1024**3
CPU_SECONDS = 600.0
Told = dict[str, Any]
SHOWN = 10
"""The card of a game shows the state after at most this many moves."""
_PACKING_SECONDS = 10.0
"""Time limit for the solution of a packing puzzle."""


def game_picture(path: Path, most: int = SHOWN) -> str:
    """A state of a game as standalone SVG: after ``most`` moves of its recorded playthrough, or the last
    state before its end if the playthrough is shorter."""
    game = Game.load(path)
    machine = game.machine("prover")
    state, before, made = machine.initial_state(), None, list[Term | None]()
    for number, step in enumerate(islice(playthrough(path), 1, most + 1)):
        if (step["p"], step["s"]) != (0, number) or "joint" not in step:  # long matches have a gap
            break
        after = state.play(dict(zip(state.legal, step["joint"], strict=True)))
        if after.terminal:
            break
        state, before, made = after, state, [parse_term(move) for move in step["joint"]]
    painter = SvgPainter.of_machine(machine, game.name)
    return painter.draw_state(state, before, alone=True, facts=False, by=Onlooker(moves=made))


def _packing_picture(path: Path) -> str:
    """The layers of a solution as SVG; empty if none is found in time."""
    from ggp.cover.drawings import svg
    from ggp.cover.instance import PackingInstance, load_instance
    from players.puzzles.cover.outcome import CoverOptions

    instance = load_instance(path)
    assert isinstance(instance, PackingInstance)
    search = instance.search(CoverOptions(first=1), None)
    end = time.monotonic() + _PACKING_SECONDS
    while not search.step(min(end, time.monotonic() + 1.0)) and time.monotonic() < end:
        pass
    found = search.taken()
    return svg(instance.packed(found[0])) if found else ""


def _drawn(name: str, step: int) -> Told:
    """The picture of the card ``name``. For a game, ``step`` is the number of moves if it is at least 0."""
    if name.endswith(PACKING_ENDINGS):
        return {"svg": _packing_picture(games_folder() / "puzzles" / name)}
    if "." in name:
        return {"svg": first_picture(Game.load(games_folder() / "levels" / name), alone=True)}
    path = installed_game(name)
    assert path is not None, "the page asks for cards of the list"
    return {"svg": game_picture(path, SHOWN if step < 0 else step)}


_MOST_LEVELS = 250
MOST_DRAWN = 60
"""Levels whose cards have a picture."""
_RULES = re.compile(r"\(\s*role\s|\brole\s*\(", re.IGNORECASE)


def read_upload(name: str, data: bytes) -> Told:
    """The cards for the contents of a file.

    Returns:
        ``what`` (``rules``, ``levels`` or ``packing``), ``cards`` and ``faults``. Each card has a ``title``,
        a ``line``, its ``roles``, a picture (``svg``, may be empty), and ``rules`` unless it is a packing
        puzzle. Levels also have their ``rows``, and ``doubts``: why they cannot be solved, as quick checks
        find it. ``faults`` has a line for each level that cannot be read.

    Raises:
        GdlError: nothing can be read; the message names the line.
    """
    stem = visible(PurePath(name).stem)[:80]
    if (packing := _packing(name, data)) is not None:
        return {"what": "packing", "cards": [packing], "faults": []}
    text = text_of(data)
    if not text.strip():
        raise GdlError("there is nothing in it", remedy="paste rules, or a level")
    if _RULES.search(text):
        return {"what": "rules", "cards": [_rules(stem, text)], "faults": []}
    return {"what": "levels", **_levels(stem, text)}


def _packing(name: str, data: bytes) -> Told | None:
    from ggp.cover.instance import packing_instance
    from players.puzzles.cover.packing.text import is_packing_text

    marked = data.startswith(b"\x1f\x8b") or b"<puzzle" in data[:2000]
    if not marked and not is_packing_text(text_of(data)):
        return None
    found = packing_instance(Path(name or "puzzle"), data, None, every=False)
    if found is None:
        return None
    pieces = sum(piece.minimum for piece in found.puzzle.pieces)
    return {"title": visible(found.name), "line": f"packing puzzle, {pieces} pieces", "roles": [], "svg": ""}


def _rules(stem: str, text: str) -> Told:
    game = Game(stem or "game", text)
    title, line = title_of(text)
    return {
        "title": visible(title)[:80] or stem or "Your rules",
        "line": visible(line)[:200],
        "roles": [game.rules.spell(role) for role in game.machine("prover").roles],
        "rules": text,
        "svg": first_picture(game),
    }


def first_picture(game: Game, alone: bool = False) -> str:
    """The first state of a game as SVG, standalone if ``alone``."""
    machine = game.machine("prover")
    painter = SvgPainter.of_machine(machine, game.name)
    return painter.draw_state(machine.initial_state(), alone=alone, facts=False)


def _levels(stem: str, text: str) -> Told:
    from players.puzzles.snakes.level import levels_in as snakes
    from players.puzzles.snakes.level import looks_like_snakes
    from players.puzzles.sokoban.levels.read import levels_in as sokoban

    levels: list[Level | SnakeLevel | GdlError]
    levels = [*snakes(text, "the text")] if looks_like_snakes(text) else [*sokoban(text)]
    cards, faults = list[Told](), list[GdlError]()
    for number, level in enumerate(levels[:_MOST_LEVELS], 1):
        try:
            cards.append(_card(level, f"{stem or 'Level'} {number}", len(cards) < MOST_DRAWN))
        except GdlError as error:
            faults.append(error)
    if not cards:
        raise faults[0]
    return {"cards": cards, "faults": list(map(str, faults))}


def _card(level: Level | SnakeLevel | GdlError, name: str, drawn: bool) -> Told:
    from ggp.sokoban.findings import lost_boxes, sentences
    from ggp.sokoban.stage import LevelStage
    from players.puzzles.snakes.rules import level_to_rules
    from players.puzzles.sokoban.levels.gdl import level_to_gdl
    from players.puzzles.sokoban.levels.level import Level

    if isinstance(level, GdlError):
        raise level
    if isinstance(level, Level):
        role, line, rules = "keeper", f"Sokoban, {counted(level.boxes, 'box', 'boxes')}", level_to_gdl(level)
        stage = LevelStage.of_level(level)
        doubts = sentences(lost_boxes(stage, stage.start))
    else:
        role, line, rules = "player", f"Snakes, {level.width} by {level.height}", level_to_rules(level)
        doubts = []
    svg = first_picture(Game("level", rules)) if drawn else ""
    title = visible(level.title)[:80] or name
    more = {"rows": level.rows, "doubts": doubts}
    return {"title": title, "line": line, "roles": [role], "rules": rules, "svg": svg, **more}


def answer(request: JsonMessage, send: Send) -> Told:
    """The picture of a bundled card, or the cards for the file ``name`` with the contents ``data`` (base64).
    Raises GdlError."""
    if request["do"] == "draw":
        return _drawn(request["name"], request["step"])
    return read_upload(request["name"], uploaded(request["data"]))


def main() -> None:
    """Draw and read until the other end is gone."""
    answer_requests(answer, "this file", MEMORY, CPU_SECONDS)
