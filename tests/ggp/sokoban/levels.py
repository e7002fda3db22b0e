"""Small levels of our own, and lines that solve them."""

from __future__ import annotations

from ggp.sokoban.stage import Stage
from players.puzzles.sokoban.levels.level import Level

CORNER = Level(("#######", "#  .  #", "# $#  #", "#  @$ #", "#.    #", "#######"), "Corner")
SOLUTION = "lUluRddrdrruulDrdLLL"
TWO_ROOMS = Level(
    (
        "  #######",
        "  #  .* #",
        "###.  # #",
        "# $   ###",
        "# @$  #  ",
        "#    ##  ",
        "######   ",
    )
)


def corner() -> Stage:
    """The stage of CORNER."""
    return Stage.of_level(CORNER)
