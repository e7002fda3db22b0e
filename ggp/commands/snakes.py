"""``ggp snakes``: a level of Snakes becomes a game in GDL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import write

LEVEL = typer.Argument(help="A file of levels; :N for its N-th level.", metavar="FILE.txt[:N]")
STEPS = typer.Option(min=1, max=9_999, help="Moves until the game ends.")
OUTPUT = typer.Option("--output", "-o", help="Write there.", metavar="GAME.kif", show_default="print")


def command(
    level: Annotated[str, LEVEL],
    steps: Annotated[int, STEPS] = 100,
    output: Annotated[Path | None, OUTPUT] = None,
) -> None:
    """Write a level of Snakes as rules in GDL.

    `games/levels/README.md` says what the characters of a level mean. Files that come along need no path:
    `ggp snakes snakes.txt:2`.
    """
    from ggp.game import locate_level
    from players.puzzles.snakes.level import find_level
    from players.puzzles.snakes.rules import level_to_rules

    text = level_to_rules(find_level(locate_level(level)), steps)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write(output, text.encode())
