"""Small levels of our own, and lines that solve them."""

from __future__ import annotations

from ggp.sokoban.stage import LevelStage
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


def corner() -> LevelStage:
    """The stage of CORNER."""
    return LevelStage.of_level(CORNER)
