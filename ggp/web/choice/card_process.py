"""The process that draws the pictures of cards: games after some moves, levels, packed pieces."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

from ggp.answers.catalogue import PACKING_ENDINGS, playthrough
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.rule_files import games_folder

MEMORY = 2 * 1024**3
CPU_SECONDS = 600.0
SHOWN = 10
"""The card of a game shows the state after at most this many moves."""
_PACKING_SECONDS = 10.0
"""Time limit for the solution of a packing puzzle."""


def game_picture(path: Path, most: int = SHOWN) -> str:
    """A state of a game as standalone SVG: after ``most`` moves of its recorded playthrough, or the last
    state before its end if the playthrough is shorter."""
    game = Game.load(path)
    machine = game.machine("prover")
    state, before = machine.initial_state(), None
    for number, step in enumerate(islice(playthrough(path), 1, most + 1)):
        if (step["p"], step["s"]) != (0, number) or "joint" not in step:  # long matches have a gap
            break
        after = state.play(dict(zip(state.legal, step["joint"], strict=True)))
        if after.terminal:
            break
        state, before = after, state
    return SvgPainter.of_machine(machine, game.name).draw_board(state, before, alone=True)


def _level_picture(name: str) -> str:
    """The first position of a level."""
    game = Game.load(str(games_folder() / "levels" / name))
    machine = game.machine("prover")
    return SvgPainter.of_machine(machine, game.name).draw_board(machine.initial_state(), alone=True)


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


def draw(request: JsonMessage, send: Send) -> dict[str, object]:
    """The picture of the card ``name``. For a game, ``step`` is the number of moves if it is at least 0."""
    name, step = request["name"], request["step"]
    if name.endswith(PACKING_ENDINGS):
        return {"svg": _packing_picture(games_folder() / "puzzles" / name)}
    if "." in name:
        return {"svg": _level_picture(name)}
    return {"svg": game_picture(games_folder() / f"{name}.kif", SHOWN if step < 0 else step)}


def main() -> None:
    """Draw until the other end is gone."""
    answer_requests(draw, "drawing", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
