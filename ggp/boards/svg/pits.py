"""Draws pits with seeds: two rows that face each other, a store at each end."""

from __future__ import annotations

import math

from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square
from ggp.boards.scene import Scene
from ggp.boards.shapes import Pits
from ggp.boards.svg.layout import BoardLayout, Spot, square_name
from ggp.boards.svg.markup import clipped, element, text_of

_PIT = 58.0
"""Diameter of a pit, width of a store."""
_PITCH_X, _PITCH_Y = 66.0, 100.0
_NAME, _COUNT = 38.0, 41.0
"""Distance of a pit's name above its middle, and of its number below."""
_MOST_SEEDS = 10
_SEED = 4.6
_GOLDEN = math.pi * (3 - math.sqrt(5))
"""Seeds lie on a spiral: each is turned by the golden angle."""


class PitsPicture:
    """The drawing of pits.

    Attributes:
        layout: the places of pits and stores.
    """

    def __init__(self, board: Grid, pits: Pits, rules: Rules) -> None:
        self._pits = pits
        wide = max(len(pits.below), len(pits.above))
        left = _PITCH_X if pits.stores else 0.0
        spots: dict[Square, Spot] = {}
        self._names: dict[Square, str] = {}
        for row, line in enumerate((pits.above, pits.below)):
            for n, square in enumerate(line):
                x, y = left + (n + 0.5) * _PITCH_X, (row + 0.5) * _PITCH_Y
                spots[square] = Spot(board.key(square) or "", square_name(rules, square), x, y, wide=_PIT)
                self._names[square] = clipped(rules.spell(square[1]), 6)
        for n, square in enumerate(pits.stores):
            x = left + (wide + 0.5) * _PITCH_X if n else 0.5 * _PITCH_X
            spots[square] = Spot(board.key(square) or "", square_name(rules, square), x, _PITCH_Y, wide=_PIT)
        width, height = (wide + (2 if pits.stores else 0)) * _PITCH_X, 2 * _PITCH_Y
        turn = f"rotate(180 {width / 2:g} {height / 2:g})"
        self.layout = BoardLayout(width, height, spots, turn=turn)

    def shows(self, proposition: Term) -> bool:
        """Nothing off the board is drawn in pits."""
        return False

    def contents(self, scene: Scene) -> dict[str, str]:
        """What each pit holds, in words, by its key."""
        spots = self.layout.spots.items()
        return {spot.key: str(self._seeds(scene.on, square)) for square, spot in spots}

    def draw(self, scene: Scene) -> list[str]:
        """The markup of a state."""
        board = element(
            "rect",
            cls="gb-wood",
            x=-4,
            y=-4,
            width=self.layout.width + 8,
            height=self.layout.height + 8,
            rx=24,
        )
        return [board, *(self._pit(square, spot, scene) for square, spot in self.layout.spots.items())]

    def _seeds(self, on: dict[Square, list[tuple[Term, ...]]], square: Square) -> int:
        return sum(self._pits.seeds.get(thing, 0) for thing in on.get(square, ()))

    def _pit(self, square: Square, spot: Spot, scene: Scene) -> str:
        n = self._seeds(scene.on, square)
        store = square in self._pits.stores
        high = _PIT + (_PITCH_Y if store else 0.0)
        box = {"x": spot.x - _PIT / 2, "y": spot.y - high / 2, "width": _PIT, "height": high, "rx": _PIT / 2}
        parts = [
            element("title", text_of(f"{spot.name}: {n}")),
            element("rect", cls="gb-cell gb-pit", **box),
        ]
        if square in scene.changed:
            parts.append(element("rect", cls="gb-new", **box))
        below = high / 2 + _COUNT - _PIT / 2
        parts.append(element("text", str(n), cls="gb-count", x=spot.x, y=spot.y + below))
        if square in self._names:
            parts.append(
                element("text", text_of(self._names[square]), cls="gb-axis", x=spot.x, y=spot.y - _NAME)
            )
        stretch = 2.2 if store else 1.0
        for i in range(min(n, _MOST_SEEDS)):
            far, angle = 6.6 * math.sqrt(i + 0.35), i * _GOLDEN
            x, y = spot.x + far * math.cos(angle), spot.y + stretch * far * math.sin(angle)
            parts.append(element("circle", cls="gb-seed", cx=x, cy=y, r=_SEED))
        return element("g", *parts, cls="gb-square", data_square=spot.key, data_held=f"seed:{n}")
