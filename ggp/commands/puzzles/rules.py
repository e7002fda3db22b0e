"""``ggp rules``: a level or a packing puzzle becomes a game in GDL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.printing import show

LEVEL = typer.Argument(
    help="A level of Sokoban (.xsb, .sok, .slc, .txt, .html) or Snakes (.txt), :N for the N-th of the file;"
    " or a packing puzzle.",
    metavar="FILE[:N]",
)
_STEPS = typer.Option(
    min=1,
    max=9_999_999,
    help="Moves until the game ends.",
    show_default="Sokoban: 3 times a good solution, or more; Snakes: 200",
)
_DRAW = typer.Option("--draw", help="Snakes: draw the level instead, or without :N all levels of the file.")


def command(
    level: Annotated[str, LEVEL],
    pushes: Annotated[
        bool, typer.Option("--pushes", help="Sokoban: a move is a push, the walk to it included.")
    ] = False,
    steps: Annotated[int | None, _STEPS] = None,
    draw: Annotated[bool, _DRAW] = False,
) -> None:
    """Write a level or a packing puzzle as rules in GDL.

    `docs/sokoban.md`, `docs/puzzles.md` and `docs/cover.md` describe the files. Bundled levels need no path:
    `ggp rules city.xsb`. `ggp play FILE:N` and other commands take levels directly.
    """
    from gdl.errors import GdlError
    from ggp.rule_files import locate_level, rules_of_level
    from players.puzzles.snakes.level import names_snakes_file
    from players.puzzles.sokoban.levels.read import names_level_file

    place = locate_level(level)
    sokoban, snakes = names_level_file(place), names_snakes_file(place)
    for option, given, fits in (
        ("--pushes", pushes, sokoban),
        ("--steps", steps is not None, sokoban or snakes),
        ("--draw", draw, snakes),
    ):
        if given and not fits:
            raise GdlError(f"{option} is not for {level}", remedy="leave it out")
    if draw:
        _draw(place)
    elif sokoban:
        from players.puzzles.sokoban.levels.gdl import level_to_gdl
        from players.puzzles.sokoban.levels.read import find_level

        show(level_to_gdl(find_level(place), pushes=pushes, steps=steps).encode(), end="")
    elif snakes:
        from players.puzzles.snakes.level import find_level as find_snakes
        from players.puzzles.snakes.rules import level_to_rules

        show(level_to_rules(find_snakes(place), steps or 200).encode(), end="")
    elif (found := rules_of_level(level)) is not None:
        show(found[1].encode(), end="")
    else:
        from ggp.cover.instance import load_instance

        show(load_instance(Path(level)).as_rules().encode(), end="")


def _draw(name: str) -> None:
    """Print the level of Snakes that is named, or all of a file, with titles."""
    from gdl.errors import GdlError
    from ggp.boards.snakes import print_level
    from ggp.console import new_console
    from ggp.printing import complain
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
