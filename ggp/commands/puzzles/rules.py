"""``ggp rules``: a level becomes a game in GDL."""

from __future__ import annotations

from typing import Annotated

import typer

from ggp.printing import show

LEVEL = typer.Argument(
    help="A level of Sokoban (.xsb, .sok, .slc, .txt) or Snakes (.txt), :N for the N-th of the file.",
    metavar="FILE[:N]",
)
_STEPS = typer.Option(
    min=1,
    max=9_999_999,
    help="Moves until the game ends.",
    show_default="Sokoban: 3 times a good solution, or more; Snakes: 200",
)


def command(
    level: Annotated[str, LEVEL],
    pushes: Annotated[
        bool, typer.Option("--pushes", help="Sokoban: a move is a push, the walk to it included.")
    ] = False,
    steps: Annotated[int | None, _STEPS] = None,
) -> None:
    """Write a level as rules in GDL.

    `docs/sokoban.md` and `docs/puzzles.md` describe the files. Bundled levels need no path: `city.xsb`.
    `ggp play FILE:N` and other commands take levels directly.
    """
    from gdl.errors import GdlError
    from ggp.rule_files import generated_rules, locate_level

    if pushes:
        from players.puzzles.sokoban.levels.gdl import level_to_gdl
        from players.puzzles.sokoban.levels.read import find_level, names_level_file

        place = locate_level(level)
        if not names_level_file(place):
            raise GdlError(f"--pushes is not for {level}", remedy="leave it out")
        show(level_to_gdl(find_level(place), pushes=True, steps=steps).encode(), end="")
        return
    found = generated_rules(level, steps)
    if found is None:
        raise GdlError(f"{level} is not a level", remedy="name a file of levels, as in yards.xsb:2")
    show(found[1].encode(), end="")
