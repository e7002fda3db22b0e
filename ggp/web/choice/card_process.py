"""The process that draws the pictures of cards: games after some moves, levels, packed pieces."""

from __future__ import annotations

import re
import time
from itertools import islice
from pathlib import Path

from ggp.answers.catalogue import PACKING_ENDINGS, playthrough
from ggp.boards.svg.markup import element, text_of
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game, games_folder
from ggp.processes.parent import JsonMessage, Send, answer_requests
from players.puzzles.sokoban.levels.level import Level

MEMORY = 2 * 1024**3
CPU_SECONDS = 600.0
SHOWN = 10
"""The card of a game shows it after so many moves, at most."""
MOST_SPRITES = 1500
"""Squares of a level that is drawn with sprites."""
PACKING_SECONDS = 10.0
"""How long a solution of a packing puzzle is looked for."""


def game_picture(path: Path, most: int = SHOWN) -> str:
    """A game's state as SVG that stands alone: after so many moves of its recorded playthrough, or as many
    as come before its end."""
    game = Game.load(path)
    machine = game.machine("prover")
    state, before = machine.initial_state(), None
    for number, step in enumerate(islice(playthrough(path), 1, most + 1)):
        if (step["p"], step["s"]) != (0, number) or "joint" not in step:  # long matches lack their middle
            break
        after = state.play(dict(zip(state.legal, step["joint"], strict=True)))
        if after.terminal:
            break
        state, before = after, state
    return SvgPainter.of_machine(machine, game.name).draw_board(state, before, alone=True)


def level_picture(name: str) -> str:
    """The first position of a level."""
    game = Game.load(str(games_folder() / "levels" / name))
    if game.level is None:
        machine = game.machine("prover")
        return SvgPainter.of_machine(machine, game.name).draw_board(machine.initial_state(), alone=True)
    return sokoban_picture(game.level)


def sokoban_picture(level: Level) -> str:
    """The first position of a level of Sokoban, with sprites where these can be told apart on a card."""
    if level.width * level.height > MOST_SPRITES:
        return _seen_from_afar(level)
    from ggp.sokoban.stage import LevelStage
    from ggp.sokoban.svg import svg

    return svg(LevelStage.of_level(level)).decode()


def _seen_from_afar(level: Level) -> str:
    """Walls as one path, what moves and goals as squares: a few kilobytes for a city."""
    rows = enumerate(level.rows)
    runs = [(run.start(), y, len(run[0])) for y, row in rows for run in re.finditer("#+", row)]
    walls = element("path", d="".join(f"M{x} {y}h{n}v1h-{n}z" for x, y, n in runs), fill="#5b6b8c")
    kinds = ((".+*", "#c2455c"), ("$*", "#c98a3a"), ("@+", "#2b6fc2"))
    squares = [
        element("rect", x=x, y=y, width=1, height=1, fill=colour)
        for kinds_here, colour in kinds
        for x, y in level.find(kinds_here)
    ]
    ground = element("rect", width=level.width, height=level.height, fill="#c9c0b0")
    title = element("title", text_of(level.title or "Sokoban"))
    size = 8 * level.width, 8 * level.height
    box = f"0 0 {level.width} {level.height}"
    namespace = "http://www.w3.org/2000/svg"
    return element(
        "svg", title, ground, walls, *squares, xmlns=namespace, viewBox=box, width=size[0], height=size[1]
    )


def packing_picture(path: Path) -> str:
    """The layers of a solution; the empty text where none is found in time."""
    from ggp.cover.drawings import svg
    from ggp.cover.instance import PackingInstance, load_instance
    from players.puzzles.cover.outcome import CoverOptions

    instance = load_instance(path)
    assert isinstance(instance, PackingInstance)
    search = instance.search(CoverOptions(first=1), lambda result: None, None)
    end = time.monotonic() + PACKING_SECONDS
    while search.step(min(end, time.monotonic() + 1.0)) and time.monotonic() < end:
        pass
    found = search.taken()
    return svg(instance.packed(found[0])) if found else ""


def draw(request: JsonMessage, send: Send) -> dict[str, object]:
    """The picture of the card ``name``; of a game that of ``step`` where it is no less than 0."""
    name, step = request["name"], request["step"]
    if name.endswith(PACKING_ENDINGS):
        return {"svg": packing_picture(games_folder() / "puzzles" / name)}
    if "." in name:
        return {"svg": level_picture(name)}
    return {"svg": game_picture(games_folder() / f"{name}.kif", SHOWN if step < 0 else step)}


def main() -> None:
    """Draw until the other end is gone."""
    answer_requests(draw, "drawing", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
