"""Draws pits with seeds: two rows that face each other, a store at each end."""

from __future__ import annotations

import math

from gdl.rules import Rules
from ggp.boards.board import Grid
from ggp.boards.layers import Square
from ggp.boards.scene import Scene
from ggp.boards.shapes import Pits
from ggp.boards.svg.layout import BoardLayout, Spot, square_name
from ggp.boards.svg.markup import box, circle, clipped, element, number, title, words
from ggp.boards.svg.whole import WholePicture

_PIT, _WIDE, _HIGH = 58.0, 66.0, 100.0
"""Diameter of a pit, and its room."""
_NAME, _COUNT = 38.0, 12.0
"""Distance of a pit's name above its middle, and of its number below its edge."""
_MOST_SEEDS = 10
_GOLDEN = math.pi * (3 - math.sqrt(5))
"""Seeds lie on a spiral: each is turned by the golden angle."""


class PitsPicture(WholePicture):
    """The drawing of pits."""

    def __init__(self, board: Grid, pits: Pits, rules: Rules) -> None:
        self._pits = pits
        across = max(len(pits.below), len(pits.above)) + len(pits.stores)
        left = 1.5 if pits.stores else 0.5
        at = {
            square: (left + n, 0.5 + row)
            for row, line in enumerate((pits.above, pits.below))
            for n, square in enumerate(line)
        }
        self._names = {square: clipped(rules.spell(square[1]), 6) for square in at}
        at |= {square: (n * across + 0.5 - n, 1.0) for n, square in enumerate(pits.stores)}
        spots = {
            square: Spot(board.key(square) or "", square_name(rules, square), x * _WIDE, y * _HIGH)
            for square, (x, y) in at.items()
        }
        turn = f"rotate(180 {number(across * _WIDE / 2)} {number(_HIGH)})"
        self.layout = BoardLayout(across * _WIDE, 2 * _HIGH, spots, turn=turn)

    def contents(self, scene: Scene) -> dict[str, list[str]]:
        """The number of seeds in each pit."""
        return {
            spot.key: [str(self._pits.count(scene.on.get(square, ())))]
            for square, spot in self.layout.spots.items()
        }

    def draw(self, scene: Scene) -> list[str]:
        width, height = self.layout.width, self.layout.height
        board = box("gb-trough", width / 2, height / 2, width + 8, height + 8, 24)
        return [board, *(self._pit(square, spot, scene) for square, spot in self.layout.spots.items())]

    def _pit(self, square: Square, spot: Spot, scene: Scene) -> str:
        n, store = self._pits.count(scene.on.get(square, ())), square in self._pits.stores
        high, x, y = _PIT + (_HIGH if store else 0.0), spot.x, spot.y
        parts = [
            title(f"{spot.name}: {n}"),
            box("gb-cell gb-pit", x, y, _PIT, high, _PIT / 2),
            box("gb-new", x, y, _PIT, high, _PIT / 2) if square in scene.changed else "",
            words("gb-count", str(n), x, y + high / 2 + _COUNT),
            words("gb-axis", self._names.get(square, ""), x, y - _NAME),
        ]
        for i in range(min(n, _MOST_SEEDS)):
            far, angle = 6.6 * math.sqrt(i + 0.35), i * _GOLDEN
            down = (2.2 if store else 1.0) * far * math.sin(angle)
            parts.append(circle("gb-seed", x + far * math.cos(angle), y + down, 4.6))
        return element("g", *parts, cls="gb-square", data_square=spot.key, data_held=f"seed:{n}")
