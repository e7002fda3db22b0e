"""Draws a row of doors with what stands behind them, or of numbers of which some are ruled out."""

from __future__ import annotations

from collections.abc import Callable

from gdl.hints import board_hint
from gdl.rules import Rules
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import PieceLook, PieceShape
from ggp.boards.scene import Scene
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot, SpotKind
from ggp.boards.svg.markup import clipped, element, points, text_of
from ggp.boards.svg.sprites import draw_piece
from ggp.boards.table import Onlooker

_DOOR, _TALL, _APART = 78.0, 122.0, 108.0
_HEAD, _FOOT = 24.0, 24.0
_CELL, _LEAST, _MOST = 44.0, 8, 10
_PITCH = 46.0


class RowPicture:
    """The doors or numbers of one game.

    Attributes:
        layout: the place of each door or number.
    """

    def __init__(self, board: Grid, rules: Rules, look: Callable[[Thing], PieceLook]) -> None:
        self._board, self._look = board, look
        self._doors = board_hint(rules.hints) == "doors"
        count = len(board.columns)
        across = count if count <= _LEAST else _LEAST if count <= 2 * _LEAST else _MOST
        pitch = (_APART, _HEAD + _TALL + _FOOT) if self._doors else (_PITCH, _PITCH)
        across = min(5, count) if self._doors else across
        spots: dict[Square, Spot] = {}
        for i, column in enumerate(board.columns):
            x, y = (i % across + 0.5) * pitch[0], (i // across + 0.5) * pitch[1]
            square: Square = ((), column, board.rows[0])
            name = clipped(rules.spell(column), 10)
            spots[square] = Spot(
                board.key(square) or "", name, x, y, SpotKind.BOX, wide=_DOOR if self._doors else _CELL
            )
        lines = -(-count // across)
        self.layout = BoardLayout(across * pitch[0], lines * pitch[1], spots)

    def draw(self, scene: Scene, by: Onlooker) -> list[str]:
        """All doors or numbers."""
        spots = self.layout.spots
        looks = {square: [self._look(thing) for thing in scene.on.get(square, ())] for square in spots}
        if self._doors:
            return [_door(spot, looks[square]) for square, spot in spots.items()]
        may = {found[0] for term in by.likely or () if (found := self._board.where(term)) is not None}
        may |= {square for square, things in looks.items() if things}
        known = by.likely is not None and may
        named = [arg for move in by.moves if move is not None for arg in move.args]
        earlier = {arg for move in by.earlier for arg in move.args}
        return [
            _number(
                spot,
                looks[square],
                bool(known and square not in may),
                2 if square[1] in named else int(square[1] in earlier),
            )
            for square, spot in spots.items()
        ]


def _door(spot: Spot, looks: list[PieceLook]) -> str:
    """A closed door, or an open one with what stands there; marks are a frame and a word below."""
    marks = [look for look in looks if look.shape is PieceShape.MARK]
    behind = [look for look in looks if look.shape is not PieceShape.MARK]
    left, top = spot.x - _DOOR / 2, spot.y - _TALL / 2
    words = ", ".join(look.meaning for look in looks)
    drawn = [element("title", text_of(f"{spot.name}: {words}" if words else spot.name))]
    frame = element("rect", cls="gb-cell", x=left - 8, y=top - 8, width=_DOOR + 16, height=_TALL + 12, rx=4)
    drawn += [frame, element("text", text_of(spot.name), cls="gb-title", x=spot.x, y=top - _HEAD + 4)]
    if behind:
        drawn.append(element("rect", cls="gb-dusk", x=left, y=top, width=_DOOR, height=_TALL))
        leaf = [(left, top), (left - 16, top - 7), (left - 16, top + _TALL + 12), (left, top + _TALL)]
        drawn.append(element("polygon", cls="gb-wood", points=points(leaf)))
        scale = 1.7 / len(behind)
        for i, look in enumerate(behind):
            y = spot.y + 24 - i * UNIT * scale
            drawn.append(draw_piece(look, spot.x + 2, y, scale))
    else:
        drawn.append(element("rect", cls="gb-wood", x=left, y=top, width=_DOOR, height=_TALL))
        for y, high in ((top + 10, 44.0), (top + 64, 48.0)):
            drawn.append(
                element("rect", cls="gb-inlay", x=left + 12, y=y, width=_DOOR - 24, height=high, rx=2)
            )
        drawn.append(element("circle", cls="gb-knob", cx=left + _DOOR - 7, cy=spot.y + 2, r=4))
    if marks:
        side = element("rect", cls="gb-mark", x=left - 6, y=top - 6, width=_DOOR + 12, height=_TALL + 8, rx=4)
        name = clipped(", ".join(mark.meaning for mark in marks), 16)
        drawn += [side, element("text", text_of(name), cls="gb-title", x=spot.x, y=top + _TALL + 16)]
    return element("g", *drawn, cls="gb-square", data_square=spot.key)


def _number(spot: Spot, looks: list[PieceLook], out: bool, named: int) -> str:
    """A number: faded and struck out if it is ruled out, with a corner if a move has named it."""
    half = _CELL / 2
    words = ", ".join(look.meaning for look in looks) or ("ruled out" if out else "")
    drawn = [element("title", text_of(f"{spot.name}: {words}" if words else spot.name))]
    cls = "gb-cell gb-out" if out else "gb-cell"
    drawn.append(element("rect", cls=cls, x=spot.x - half, y=spot.y - half, width=_CELL, height=_CELL, rx=6))
    if looks:
        drawn.append(element("circle", cls="gb-won", cx=spot.x, cy=spot.y, r=half - 4))
    faded = "gb-sign gb-zero" if out else "gb-sign"
    drawn.append(element("text", text_of(clipped(spot.name, 5)), cls=faded, x=spot.x, y=spot.y, font_size=17))
    if out:
        a = half - 9
        drawn.append(
            element("line", cls="gb-line", x1=spot.x - a, y1=spot.y + a, x2=spot.x + a, y2=spot.y - a)
        )
    if named:
        corner = points(
            [(spot.x - 6, spot.y + half), (spot.x + 6, spot.y + half), (spot.x, spot.y + half - 8)]
        )
        drawn.append(element("polygon", cls="gb-arrowhead" if named > 1 else "gb-point", points=corner))
    return element("g", *drawn, cls="gb-square", data_square=spot.key)
