"""The eight puzzle without a clock, from a start that is as far from the end as any: 31 moves."""

from __future__ import annotations

from ggp.game import Game

_START = "647850321"
"""Tiles by rows from the top, 0 the empty square."""
LAYERS = [
    *(1, 3, 5, 10, 14, 28, 42, 80, 108, 202, 278, 524, 726, 1348, 1804, 3283, 4193, 7322, 8596, 13930, 14713),
    *(21721, 19827, 25132, 18197, 18978, 9929, 7359, 2081, 878, 126, 2),
]
"""The states at each depth, by plain breadth-first search: 181,440 in all, the end at depth 31."""


def far_tiles() -> Game:
    """The game."""
    rules = str(Game.load("eightpuzzle").rules).splitlines()
    kept = [rule for rule in rules if not any(word in rule for word in ("(init ", "step", "succ"))]
    cells = [
        f"(init (cell {'abc'[place % 3]} {3 - place // 3} {tile}))"
        for place, tile in enumerate(_START)
        if tile != "0"
    ]
    return Game("far-tiles", "\n".join([*kept, *cells]))
