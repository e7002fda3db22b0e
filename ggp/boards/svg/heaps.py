"""Draws heaps as rows of sticks. A click on a stick takes it and all behind it."""

from __future__ import annotations

from gdl.rules import Rules
from ggp.boards.board import Grid
from ggp.boards.layers import Square
from ggp.boards.scene import Scene
from ggp.boards.svg.layout import BoardLayout, Label, Spot, SpotKind
from ggp.boards.svg.markup import clipped, element, text_of

_NARROW, _WIDE, _HIGH, _GAP = 32.0, 46.0, 58.0, 14.0
_MOST_ACROSS = 10
_NARROWEST = 320.0


class HeapsPicture:
    """The heaps of one game.

    Attributes:
        layout: the places of all sticks.
    """

    def __init__(self, board: Grid, rules: Rules) -> None:
        self._heaps = list(reversed(board.rows))
        self._names = {heap: clipped(rules.spell(heap), 10) for heap in self._heaps}
        left = 26 + 7.0 * max(map(len, self._names.values()))
        spots: dict[Square, Spot] = {}
        labels: list[Label] = []
        self._counts: dict[object, tuple[float, float]] = {}
        across = min(_MOST_ACROSS, len(board.columns))
        self._pitch = min(_WIDE, max(_NARROW, (_NARROWEST - left - 44) / across))
        width = max(_NARROWEST, left + across * self._pitch + 44)
        top = 0.0
        for heap in self._heaps:
            squares = [((), x, heap) for x in board.columns if ((), x, heap) in board.squares]
            lines = max(1, -(-len(squares) // _MOST_ACROSS))
            for i, square in enumerate(squares):
                x, y = left + (i % _MOST_ACROSS + 0.5) * self._pitch, top + (i // _MOST_ACROSS + 0.5) * _HIGH
                key = board.key(square) or ""
                spots[square] = Spot(key, f"{self._names[heap]} {i + 1}", x, y, SpotKind.BOX)
            labels.append(Label((left - 6) / 2, top + lines * _HIGH / 2, self._names[heap], True))
            self._counts[heap] = left + across * self._pitch + 20, top + lines * _HIGH / 2
            top += lines * _HIGH + _GAP
        self.layout = BoardLayout(width, top - _GAP, spots, labels=tuple(labels))

    def draw(self, scene: Scene) -> list[str]:
        """All heaps, with the number of sticks behind each."""
        drawn: list[str] = []
        for heap in self._heaps:
            own = [(square, spot) for square, spot in self.layout.spots.items() if square[2] == heap]
            size = sum(square in scene.on for square, _ in own)
            sticks = [self._stick(square, spot, size - i, scene) for i, (square, spot) in enumerate(own)]
            x, y = self._counts[heap]
            drawn += [
                element("g", *sticks, cls="gb-heap"),
                element("text", str(size), cls="gb-score", x=x, y=y),
            ]
        return drawn

    def _stick(self, square: Square, spot: Spot, taken: int, scene: Scene) -> str:
        """A stick, or the empty place of one; ``taken`` is the number of sticks from this one to the end."""
        name = f"{self._names[square[2]]}, {taken} from the end" if taken > 0 else spot.name
        wide = self._pitch
        reach = element(
            "rect", cls="gb-reach", x=spot.x - wide / 2, y=spot.y - _HIGH / 2, width=wide, height=_HIGH, rx=6
        )
        drawn = [element("title", text_of(name)), reach]
        if square in scene.on:
            drawn.append(element("rect", cls="gb-peg", x=spot.x - 4, y=spot.y - 20, width=8, height=44, rx=3))
            drawn.append(element("ellipse", cls="gb-match", cx=spot.x, cy=spot.y - 19, rx=5.5, ry=7.5))
        else:
            fresh = scene.on_before is not None and square in scene.on_before
            cls = "gb-slot gb-new" if fresh else "gb-slot"
            drawn.append(element("rect", cls=cls, x=spot.x - 4, y=spot.y - 20, width=8, height=44, rx=3))
        return element("g", *drawn, cls="gb-square", data_square=spot.key)
