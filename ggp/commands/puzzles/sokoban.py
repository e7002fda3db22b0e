"""``ggp sokoban``: a Sokoban level becomes a game in GDL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import write
from ggp.printing import show

LEVEL = typer.Argument(
    help="A level file (.xsb, .sok, .slc, .txt, .html); :N for its N-th level.", metavar="FILE[:N]"
)
PUSHES = typer.Option("--pushes", help="A move is a push, the walk to it included.")
STEPS = typer.Option(
    min=1, max=9_999_999, help="Moves until the game ends.", show_default="3 times a good solution, or more"
)
OUTPUT = typer.Option("--output", "-o", help="Write there.", metavar="GAME.kif", show_default="print")


def command(
    level: Annotated[str, LEVEL],
    pushes: Annotated[bool, PUSHES] = False,
    steps: Annotated[int | None, STEPS] = None,
    output: Annotated[Path | None, OUTPUT] = None,
) -> None:
    """Write a Sokoban level as rules in GDL.

    Reads XSB in its dialects, run lengths and XML. Bundled files need no path: `ggp sokoban
    city.xsb`. `ggp play FILE[:N]` and the other commands take levels directly.
    """
    from ggp.rule_files import locate_level
    from players.puzzles.sokoban.levels.gdl import level_to_gdl
    from players.puzzles.sokoban.levels.read import find_level

    text = level_to_gdl(find_level(locate_level(level)), pushes, steps)
    if output is None:
        show(text.encode(), end="")
    else:
        write(output, text.encode())
