"""A Sokoban of two boxes, small enough for every player and for a look at all of its states."""

from __future__ import annotations

from functools import cache

from ggp.game import Game
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.read import find_level
from tests.places import GAMES

SOLUTION = """
    (move down) (move right) (move right) (move up) (move left) (move left) (move left) (move up)
    (move left) (move down) (move up) (move up) (move right)"""
"""No fewer moves do it."""


@cache
def small_sokoban() -> Game:
    """The second level of games/levels/tutorial.xsb, of 40 moves at most."""
    level = find_level(str(GAMES / "levels" / "tutorial.xsb:2"))
    return Game("small_sokoban", level_to_gdl(level, steps=40))
