"""Two seas, as in Battleships: ships are bars over their squares, a hit is a cross, a miss a dot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, things_on
from ggp.boards.scene import Past
from ggp.boards.svg.layout import UNIT, BoardLayout
from ggp.boards.svg.level_pictures import On
from ggp.boards.svg.markup import element

_BEAM = 0.66 * UNIT


class SeasPicture:
    """The water and the ships behind a board of seas, and the shots on it."""

    far = False
    margin = None

    def __init__(self, board: Grid) -> None:
        self._board = board
        self._ships = [layer for layer in board.layers if not layer.across]

    def behind(self, layout: BoardLayout, on: On, propositions: Iterable[Term], past: Past = ()) -> str:
        half, drawn = UNIT / 2, list[str]()
        for spot in layout.spots.values():
            place = {"x": spot.x - half, "y": spot.y - half, "width": UNIT, "height": UNIT}
            drawn.append(element("rect", cls="gb-water", **place))
        for bar in self._bars([*(known for known, *_ in past), propositions]):
            spots = [layout.spots[square] for square in bar if square in layout.spots]
            xs, ys = [spot.x for spot in spots], [spot.y for spot in spots]
            place = {"x": min(xs) - _BEAM / 2, "y": min(ys) - _BEAM / 2}
            place |= {"width": max(xs) - min(xs) + _BEAM, "height": max(ys) - min(ys) + _BEAM}
            drawn.append(element("rect", cls="gb-ship", rx=_BEAM / 2, **place))
            drawn += [element("circle", cls="gb-funnel", cx=s.x, cy=s.y, r=_BEAM / 6) for s in spots]
        return "".join(drawn)

    def pieces(self, square: Square, layout: BoardLayout, on: On, before: On | None) -> str:
        things, spot = on.get(square, []), layout.spots[square]
        ships = {(Term(layer.name),) for layer in self._ships}
        if ships.issuperset(things):
            return ""
        new = before is not None and before.get(square, []) != things
        ring = element("circle", cls="gb-new", cx=spot.x, cy=spot.y, r=0.42 * UNIT) if new else ""
        if ships.isdisjoint(things):
            return element("circle", cls="gb-miss", cx=spot.x, cy=spot.y, r=0.13 * UNIT) + ring
        place = f"translate({spot.x:g} {spot.y:g})"
        return element("path", cls="gb-hit", d="M-9-9L9 9M-9 9L9-9", transform=place) + ring

    def shows(self, proposition: Term) -> bool:
        return False

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
