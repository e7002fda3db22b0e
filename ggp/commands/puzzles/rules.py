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
    steps: Annotated[int | None, _STEPS] = None,
) -> None:
    """Write a level as rules in GDL.

    `docs/sokoban.md` and `docs/puzzles.md` describe the files. Bundled levels need no path: `city.xsb`.
    `ggp play FILE:N` and other commands take levels directly.
    """
    from gdl.errors import GdlError
    from ggp.rule_files import locate_level, rules_of_level
    from players.puzzles.snakes.level import names_snakes_file
    from players.puzzles.sokoban.levels.read import names_level_file

    place = locate_level(level)
    sokoban, snakes = names_level_file(place), names_snakes_file(place)
    if steps is not None and not (sokoban or snakes):
        raise GdlError(f"--steps is not for {level}", remedy="leave it out")
    if sokoban:
        from players.puzzles.sokoban.levels.gdl import level_to_gdl
        from players.puzzles.sokoban.levels.read import find_level

        show(level_to_gdl(find_level(place), steps=steps).encode(), end="")
    elif snakes:
        from players.puzzles.snakes.level import find_level as find_snakes
        from players.puzzles.snakes.rules import level_to_rules

        show(level_to_rules(find_snakes(place), steps or 200).encode(), end="")
    elif (found := rules_of_level(level)) is not None:
        show(found[1].encode(), end="")
    else:
        raise GdlError(f"{level} is not a level", remedy="name a file of levels, as in yards.xsb:2")
