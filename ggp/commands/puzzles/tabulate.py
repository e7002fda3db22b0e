"""``ggp tabulate``: finds the value of every state of a game."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import DISK, MEMORY, SCRATCH, GameName, as_bytes, parse_bytes


def command(
    game: GameName,
    folder: Annotated[
        Path | None,
        typer.Argument(help="Write the table there.", metavar="DIR", show_default="only count the states"),
    ] = None,
    memory: str = MEMORY,
    scratch: Path | None = SCRATCH,
    disk: str | None = DISK,
    workers: int = typer.Option(1, "--workers", "-w", min=1, help="Threads that search side by side."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object: states, values, distance, ..."),
) -> None:
    """Solve a whole game: find the value of every state.

    The game may have any number of roles. `ggp lookup` reads the table, the player `tables:dir=DIR` plays by
    it.
    """
    from ggp.game import Game
    from ggp.solving.strong import solve_strongly
    from players.puzzles.frontier.outcome import SearchLimits

    options = SearchLimits(parse_bytes(memory), scratch, as_bytes(disk, scratch), workers)
    solve_strongly(Game.load(game), options, folder, as_json)
