"""Positions for tests: random boxes on random maps."""

from __future__ import annotations

import random

import numpy as np

from players.puzzles.sokoban.geometry import Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import reachable


def random_position(seed: int) -> tuple[Geometry, Position]:
    """A map of up to 7 by 8 squares with walls here and there, up to 5 boxes, as many goals, the keeper."""
    rng = random.Random(seed)
    height, width = rng.randint(3, 7), rng.randint(3, 8)
    rows = [[" " if rng.random() < 0.8 else "#" for _ in range(width)] for _ in range(height)]
    rows[rng.randrange(height)][rng.randrange(width)] = "@"
    framed = ["#" * (width + 2), *("#" + "".join(row) + "#" for row in rows), "#" * (width + 2)]
    geometry, start = from_level(Level(tuple(framed)))
    squares = list(range(geometry.size))
    rng.shuffle(squares)
    count = min(5, len(squares) // 3)
    boxes = [square for square in squares[:count] if square != start.keeper]
    goals = squares[-len(boxes) :] if boxes else []
    whole = Geometry(geometry.neighbours, np.array(sorted(goals), np.int32), geometry.places)
    return whole, Position(tuple(sorted(boxes)), start.keeper)


def region(geometry: Geometry, walls: set[int], start: int) -> set[int]:
    """Where the keeper can walk to."""
    return reachable(geometry.neighbours.tolist(), walls | {geometry.size}, start)
