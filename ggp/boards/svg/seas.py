"""Two seas, as in Battleships: ships are bars over their squares, a hit is a cross, a miss a dot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, things_on
from ggp.boards.scene import Scene
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot
from ggp.boards.svg.level_pictures import LevelPicture
from ggp.boards.svg.markup import box, circle, element

_BEAM = 0.66 * UNIT


class SeasPicture(LevelPicture):
    """The water and the ships behind a board of seas, and the shots on it."""

    margin, quiet = None, True

    def __init__(self, board: Grid) -> None:
        self._board = board
        self._ships = [layer for layer in board.layers if not layer.across]

    def behind(self, layout: BoardLayout, scene: Scene) -> str:
        drawn = [box("gb-water", spot.x, spot.y, UNIT, UNIT) for spot in layout.spots.values()]
        for bar in self._bars([*(known for known, *_ in scene.by.past), scene.propositions]):
            spots = [layout.spots[square] for square in bar if square in layout.spots]
            (x1, x2), (y1, y2) = ((min(at), max(at)) for at in zip(*((s.x, s.y) for s in spots), strict=True))
            wide, high = x2 - x1 + _BEAM, y2 - y1 + _BEAM
            drawn.append(box("gb-ship", (x1 + x2) / 2, (y1 + y2) / 2, wide, high, _BEAM / 2))
            drawn += [circle("gb-funnel", spot.x, spot.y, _BEAM / 6) for spot in spots]
        return "".join(drawn)

    def pieces(self, square: Square, spot: Spot, scene: Scene) -> str:
        things, before = scene.on.get(square, []), scene.on_before
        ships = {(Term(layer.name),) for layer in self._ships}
        if ships.issuperset(things):
            return ""
        new = before is not None and before.get(square, []) != things
        ring = circle("gb-new", spot.x, spot.y, 0.42 * UNIT) if new else ""
        if ships.isdisjoint(things):
            return circle("gb-miss", spot.x, spot.y, 0.13 * UNIT) + ring
        place = f"translate({spot.x:g} {spot.y:g})"
        return element("path", cls="gb-hit", d="M-9-9L9 9M-9 9L9-9", transform=place) + ring

    def _bars(self, states: Sequence[Iterable[Term]]) -> Iterator[list[Square]]:
        """The squares of each ship: a straight line of those that came in one step, or else of any."""
        laid = [{square for square, _ in things_on(self._ships, state)} for state in states]
        left = set(laid[-1])
        groups = [now - before for before, now in pairwise([set[Square](), *laid])]
        for group in (*(group for group in groups if len(group) > 1), set(left)):
            while rest := group & left:
                longest = max(
                    (line for square in sorted(rest) for line in self._lines(square, rest)), key=len
                )
                left -= set(longest)
                yield longest

    def _lines(self, square: Square, among: set[Square]) -> Iterator[list[Square]]:
        """The lines to the right and up from a square."""
        panel, x, y = square
        columns, rows = self._board.columns, self._board.rows
        for line in (
            [(panel, other, y) for other in columns[columns.index(x) :]],
            [(panel, x, other) for other in rows[rows.index(y) :]],
        ):
            yield list(takewhile(among.__contains__, line))
