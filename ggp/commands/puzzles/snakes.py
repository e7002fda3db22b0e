"""``ggp snakes``: a level of Snakes becomes a game in GDL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import write
from ggp.printing import show

LEVEL = typer.Argument(help="A file of levels; :N for its N-th level.", metavar="FILE.txt[:N]")
STEPS = typer.Option(min=1, max=9_999, help="Moves until the game ends.")
_DRAW = typer.Option("--draw", help="Draw the level instead, or without :N all levels of the file.")
OUTPUT = typer.Option("--output", "-o", help="Write there.", metavar="GAME.kif", show_default="print")


def command(
    level: Annotated[str, LEVEL],
    steps: Annotated[int, STEPS] = 200,
    draw: Annotated[bool, _DRAW] = False,
    output: Annotated[Path | None, OUTPUT] = None,
) -> None:
    """Write a level of Snakes as rules in GDL, or draw it.

    `games/levels/README.md` explains the characters of a level. Bundled files need no path:
    `ggp snakes snakes.txt:2`. `ggp play FILE.txt:N` and the other commands take levels directly.
    """
    from gdl.errors import GdlError
    from ggp.rule_files import locate_level
    from players.puzzles.snakes.level import find_level
    from players.puzzles.snakes.rules import level_to_rules

    if draw:
        if output is not None:
            raise GdlError("--draw writes no file", remedy="leave out --output")
        _draw(locate_level(level))
        return
    text = level_to_rules(find_level(locate_level(level)), steps)
    if output is None:
        show(text.encode(), end="")
    else:
        write(output, text.encode())


def _draw(name: str) -> None:
    """Print the level that is named, or all of a file, with titles."""
    from gdl.errors import GdlError
    from ggp.boards.snakes import print_level
    from ggp.complaint import complain
    from ggp.console import new_console
    from ggp.sokoban.glyphs import in_unicode
    from players.puzzles.level_name import read_level_name
    from players.puzzles.snakes.level import find_level, levels_of_file

    path, number = read_level_name(name)
    levels = levels_of_file(path) if number is None else [find_level(name)]
    console = new_console()
    for index, level in enumerate(levels, 1):
        if isinstance(level, GdlError):
            complain(level)
        else:
            print_level(console, level, f"{path.name}:{number or index}", in_unicode(console))
    if any(isinstance(level, GdlError) for level in levels):
        raise typer.Exit(1)
