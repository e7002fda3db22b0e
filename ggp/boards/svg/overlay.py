"""Draws over a board or in place of it: rings around squares and arrows between them, such as a hint or a
line that has won; disks on pegs as towers that grow and shrink."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from gdl.hints import board_hint
from gdl.rules import Rules
from ggp.boards.board import Grid
from ggp.boards.clicks import ClickMove
from ggp.boards.layers import Square, Thing
from ggp.boards.svg.layout import UNIT, BoardLayout, Label, Spot, SpotKind, square_name
from ggp.boards.svg.markup import clipped, element, points

_HEAD = 9.0
"""Length of an arrow's head."""
_MOST = 200


@dataclass(frozen=True, slots=True)
class BoardOverlay:
    """Rings and arrows, by their squares, each as in ``data-square``. Squares that the board does not have
    are left out.

    Attributes:
        hints: squares to ring for a hint.
        arrows: start and end square of each arrow.
        won: squares to ring because they end the match.
    """

    hints: tuple[str, ...] = ()
    arrows: tuple[tuple[str, str], ...] = ()
    won: tuple[str, ...] = ()

    @classmethod
    def of_move(cls, move: ClickMove) -> BoardOverlay:
        """A hint: an arrow along the squares of a move, a ring around a single square, or rings around all
        squares of a column if the move names only the column."""
        one_each = all(len(keys) == 1 for keys in move.clicks)
        if one_each and len(move.clicks) > 1:
            path = [keys[0] for keys in move.clicks]
            return cls(arrows=tuple(pairwise(path)))
        return cls(hints=tuple(key for keys in move.clicks for key in keys))


NO_OVERLAY = BoardOverlay()


def draw_overlay(overlay: BoardOverlay, spots: Mapping[str, Spot]) -> str:
    """The markup over squares, given by their keys."""
    drawn: list[str] = []
    for cls, keys in (("gb-won", overlay.won), ("gb-hint", overlay.hints)):
        for key in keys[:_MOST]:
            if (spot := spots.get(key)) is not None:
                drawn.append(element("circle", cls=cls, cx=spot.x, cy=spot.y, r=0.46 * UNIT))
    for start, end in overlay.arrows[:_MOST]:
        if start in spots and end in spots and start != end:
            drawn.append(_arrow(spots[start], spots[end]))
    return element("g", *drawn, cls="gb-overlay") if drawn else ""


def _arrow(start: Spot, end: Spot) -> str:
    length = math.hypot(end.x - start.x, end.y - start.y)
    if not length:
        return ""
    x, y = (end.x - start.x) / length, (end.y - start.y) / length
    neck = end.x - _HEAD * 1.4 * x, end.y - _HEAD * 1.4 * y
    tip = end.x + 2 * x, end.y + 2 * y
    head = [tip, (neck[0] - _HEAD * y, neck[1] + _HEAD * x), (neck[0] + _HEAD * y, neck[1] - _HEAD * x)]
    line = element("line", cls="gb-arrow", x1=start.x, y1=start.y, x2=neck[0], y2=neck[1])
    return line + element("polygon", cls="gb-arrowhead", points=points(head))


_GROWTH = 0.32
"""Extra width of each disk over the one above, in squares."""


def has_towers(board: Grid, rules: Rules) -> bool:
    """Whether a board is drawn as towers, because of its observed behaviour or a hint."""
    strip = len(board.layers) == 1 and board.layers[0].strip and len(board.panels) == 1
    if not strip or len(board.things) < 2:
        return False
    return bool(board.habits.towers) or board_hint(rules.hints) == "towers"


def lay_out_towers(board: Grid, rules: Rules, on: Mapping[Square, list[Thing]]) -> BoardLayout:
    """The positions of the disks in a state; a disk that is on no peg has no position."""
    disks = list(board.columns)
    if board.habits.towers < 0:
        disks.reverse()
    widest = (1.0 + _GROWTH * len(disks)) * UNIT
    pitch = widest + UNIT * 0.3
    high = (len(disks) + 0.6) * UNIT
    middles = {peg: (n + 0.5) * pitch for n, peg in enumerate(board.things)}
    count = dict.fromkeys(board.things, 0)
    spots: dict[Square, Spot] = {}
    for rank, disk in reversed(list(enumerate(disks))):
        square = (board.panels[0], disk, board.rows[0])
        pegs = [peg for peg in on.get(square, ()) if peg in middles]
        if square not in board.squares or not pegs:
            continue
        peg = pegs[0]
        y = high - (count[peg] + 0.5) * UNIT * 0.88
        count[peg] += 1
        key = f"0,{board.columns.index(disk)},0"
        wide = (1.0 + _GROWTH * rank) * UNIT
        name = square_name(rules, square)
        spots[square] = Spot(key, name, middles[peg], y, SpotKind.DISK, wide=wide)
    lines = [(x, UNIT * 0.2, x, high) for x in middles.values()]
    lines.append((0.0, high, pitch * len(middles), high))
    labels = [Label(x, high + 12, clipped(" ".join(map(rules.spell, peg)), 10)) for peg, x in middles.items()]
    ordered = {square: spots[square] for square in sorted(spots, key=lambda s: board.columns.index(s[1]))}
    return BoardLayout(pitch * len(middles), high + 22, ordered, tuple(lines), labels=tuple(labels))
