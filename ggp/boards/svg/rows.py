"""Draws rows: doors and what stands behind them, numbers of which some are ruled out, heaps of sticks."""

from __future__ import annotations

from collections.abc import Callable

from gdl.hints import board_hint
from gdl.rules import Rules
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import PieceLook, PieceShape
from ggp.boards.scene import Scene
from ggp.boards.shapes import BoardShape
from ggp.boards.svg.layout import UNIT, BoardLayout, Label, Spot, SpotKind
from ggp.boards.svg.markup import box, clipped, element, oval, points, title, words
from ggp.boards.svg.sprites import draw_piece
from ggp.boards.svg.whole import WholePicture

_DOOR, _TALL, _CELL = 78.0, 122.0, 44.0
_SIZES = {"doors": (108.0, 170.0), "numbers": (46.0, 46.0)}
_STICK, _HIGH, _NARROWEST = 32.0, 58.0, 320.0
_MOST_STICKS = 10


class RowPicture(WholePicture):
    """The rows of one game."""

    def __init__(self, board: Grid, rules: Rules, look: Callable[[Thing], PieceLook]) -> None:
        self._board, self._look = board, look
        self._kind = "sticks" if board.shape is BoardShape.HEAPS else board_hint(rules.hints)
        spell = rules.spell
        spots: dict[Square, Spot] = {}

        def put(square: Square, name: str, x: float, y: float, wide: float) -> None:
            spots[square] = Spot(board.key(square) or "", clipped(name, 10), x, y, SpotKind.BOX, wide=wide)

        if self._kind != "sticks":
            count, (wide, high) = len(board.columns), _SIZES[self._kind]
            doors = self._kind == "doors"
            across = min(count, 5 if doors else 8 if count <= 16 else 10)
            for i, column in enumerate(board.columns):
                place = (i % across + 0.5) * wide, (i // across + 0.5) * high
                put(((), column, board.rows[0]), spell(column), *place, _DOOR if doors else _CELL)
            self.layout = BoardLayout(across * wide, -(-count // across) * high, spots)
            return
        names = {heap: clipped(spell(heap), 10) for heap in reversed(board.rows)}
        left, across = 26 + 7.0 * max(map(len, names.values())), min(_MOST_STICKS, len(board.columns))
        wide = min(46.0, max(_STICK, (_NARROWEST - left - 44) / across))
        labels, top = list[Label](), 0.0
        for heap, name in names.items():
            sticks = [((), x, heap) for x in board.columns if ((), x, heap) in board.squares]
            for i, square in enumerate(sticks):
                x, y = left + (i % _MOST_STICKS + 0.5) * wide, top + (i // _MOST_STICKS + 0.5) * _HIGH
                put(square, f"{name} {i + 1}", x, y, wide)
            high = -(-len(sticks) // _MOST_STICKS) * _HIGH
            labels.append(Label(left / 2 - 3, top + high / 2, name, "gb-title"))
            top += high + 14
        self._end = left + across * wide + 20
        self.layout = BoardLayout(max(_NARROWEST, self._end + 24), top - 14, spots, labels=tuple(labels))

    def draw(self, scene: Scene) -> list[str]:
        """All doors, numbers or heaps."""
        spots = self.layout.spots
        if self._kind == "sticks":
            return [
                self._heap(
                    {square: spot for square, spot in spots.items() if square[2] == heap}, label, scene
                )
                for heap, label in zip(reversed(self._board.rows), self.layout.labels, strict=True)
            ]
        looks = {square: [self._look(thing) for thing in scene.on.get(square, ())] for square in spots}
        if self._kind == "doors":
            return [_door(spot, looks[square]) for square, spot in spots.items()]
        by = scene.by
        may = {found[0] for term in by.likely or () if (found := self._board.where(term)) is not None}
        may |= {square for square in spots if looks[square]}
        may = may if by.likely is not None and may else set(spots)
        named = {arg for move in by.moves if move is not None for arg in move.args}
        earlier = {arg for _, move, _ in by.past[:-1] if move is not None for arg in move.args}
        marks = {s: "gb-arrowhead" if s[1] in named else "gb-point" for s in spots if s[1] in named | earlier}
        return [_number(spot, looks[s], s not in may, marks.get(s, "")) for s, spot in spots.items()]

    def _heap(self, spots: dict[Square, Spot], label: Label, scene: Scene) -> str:
        """A heap, the places of sticks that are gone, and the number of sticks."""
        size = sum(square in scene.on for square in spots)
        drawn: list[str] = []
        for i, (square, spot) in enumerate(spots.items()):
            name = f"{label.text}, {size - i} from the end" if i < size else spot.name
            stick = [title(name), box("gb-reach", spot.x, spot.y, spot.wide, _HIGH, 6)]
            if i < size:
                stick.append(box("gb-peg", spot.x, spot.y + 2, 8, 44, 3))
                stick.append(oval("gb-match", spot.x, spot.y - 19, 5.5, 7.5))
            else:
                gone = "gb-gone gb-new" if square in (scene.on_before or ()) else "gb-gone"
                stick.append(box(gone, spot.x, spot.y + 2, 8, 44, 3))
            drawn.append(_square(spot, *stick))
        return element("g", *drawn, cls="gb-heap") + words("gb-score", str(size), self._end, label.y)


def _square(spot: Spot, *drawn: str) -> str:
    return element("g", *drawn, cls="gb-square", data_square=spot.key)


def _door(spot: Spot, looks: list[PieceLook]) -> str:
    """A closed door, or an open one with what stands there; marks are a frame and a word below."""
    marks = [look for look in looks if look.shape is PieceShape.MARK]
    behind = [look for look in looks if look.shape is not PieceShape.MARK]
    left, top, x, y = spot.x - _DOOR / 2, spot.y - _TALL / 2, spot.x, spot.y
    drawn = [title(spot.said(look.meaning for look in looks))]
    drawn += [box("gb-cell", x, y - 2, _DOOR + 16, _TALL + 12, 4), words("gb-title", spot.name, x, top - 18)]
    if behind:
        leaf = [(left, top), (left - 16, top - 7), (left - 16, top + _TALL + 12), (left, top + _TALL)]
        drawn += [box("gb-dusk", x, y, _DOOR, _TALL), element("polygon", cls="gb-wood", points=points(leaf))]
        size = 1.7 / len(behind)
        drawn += [draw_piece(look, x + 2, y + 24 - i * UNIT * size, size) for i, look in enumerate(behind)]
    else:
        drawn += [box("gb-wood", x, y, _DOOR, _TALL), oval("gb-knob", x + _DOOR / 2 - 7, y + 2, 4, 4)]
        drawn += [box("gb-inlay", x, at, _DOOR - 24, high, 2) for at, high in ((y - 29, 44), (y + 27, 48))]
    if marks:
        name = clipped(", ".join(mark.meaning for mark in marks), 16)
        drawn += [
            box("gb-mark", x, y - 2, _DOOR + 12, _TALL + 8, 4),
            words("gb-title", name, x, top + _TALL + 16),
        ]
    return _square(spot, *drawn)


def _number(spot: Spot, looks: list[PieceLook], out: bool, mark: str) -> str:
    """A number: faded and struck out if it is ruled out, with a corner if a move has named it."""
    x, y, half = spot.x, spot.y, _CELL / 2
    drawn = [title(spot.said([look.meaning for look in looks] or ["ruled out"] * out))]
    drawn.append(box("gb-cell gb-out" if out else "gb-cell", x, y, _CELL, _CELL, 6))
    drawn += [oval("gb-won", x, y, half - 4, half - 4)] if looks else []
    drawn.append(words("gb-sign gb-zero" if out else "gb-sign", clipped(spot.name, 5), x, y, font_size=17))
    drawn += [element("path", cls="gb-line", d=f"M{x - 13:g} {y + 13:g}l26-26")] if out else []
    if mark:
        corner = points([(x - 6, y + half), (x + 6, y + half), (x, y + half - 8)])
        drawn.append(element("polygon", cls=mark, points=corner))
    return _square(spot, *drawn)
