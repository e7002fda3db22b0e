"""Draws over a board: rings around squares and arrows between them, such as a hint or a line that has won."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from ggp.boards.clicks import ClickMove
from ggp.boards.svg.layout import UNIT, Spot, SpotKind
from ggp.boards.svg.markup import circle, element, line, points

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
        if len(move.clicks) > 1:
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
                wide = spot.wide if spot.kind is SpotKind.BOX else UNIT
                drawn.append(circle(cls, spot.x, spot.y, 0.46 * wide))
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
    shaft = line("gb-arrow", start.x, start.y, *neck)
    return shaft + element("polygon", cls="gb-arrowhead", points=points(head))
