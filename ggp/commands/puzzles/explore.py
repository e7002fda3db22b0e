"""``ggp explore``: searches all states of a puzzle, breadth-first."""

from __future__ import annotations

from pathlib import Path

import typer

from ggp.commands import DISK, MEMORY, SCRATCH, GameName, as_bytes, parse_bytes


def command(
    game: GameName,
    seconds: float | None = typer.Option(
        None, "--seconds", "-s", min=0, help="Wall time.", show_default="as long as it takes"
    ),
    memory: str = MEMORY,
    scratch: Path | None = SCRATCH,
    disk: str | None = DISK,
    workers: int = typer.Option(1, "--workers", "-w", min=1, help="Threads that search side by side."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object: value, lines, layers, states, ..."),
) -> None:
    """Search all states of a puzzle, for shortest lines.

    Finds a shortest line to each goal value. States that differ only by names count once. Exit status: 0 with
    a line, 1 without. `ggp solve` finds some line sooner, `ggp tabulate` the value of every state.
    """
    from ggp.game import Game
    from ggp.solving.frontier_search import solve_by_frontier
    from players.puzzles.frontier.outcome import SearchLimits

    options = SearchLimits(parse_bytes(memory), scratch, as_bytes(disk, scratch), workers)
    if status := solve_by_frontier(Game.load(game), options, seconds, as_json):
        raise typer.Exit(status)
