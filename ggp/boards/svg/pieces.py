"""Draws what stands on a square: discs with letters, crosses, rings, chess men, numbers, walls."""

from __future__ import annotations

import math

from ggp.boards.svg.layout import UNIT, Spot
from ggp.boards.svg.looks import PieceLook, PieceShape
from ggp.boards.svg.markup import clipped, element, points, text_of

_MOST_SHOWN = 9
_MEN = {
    "p": "M-4-3 a5.5 5.5 0 1 1 8 0 L6 7 L10 12 H-10 L-6 7 Z",
    "r": "M-10-12 H-5 V-8 H-2.5 V-12 H2.5 V-8 H5 V-12 H10 V-5 L6-2 V6 L10 12 H-10 L-6 6 V-2 L-10-5 Z",
    "n": "M-8 12 C-8 5-3 3-2-1 L-8 2 L-12-2 L-5-10 L-3-14 L0-11 C8-10 11-2 9 12 Z",
    "b": "M0-15 C4-10 8-6 8-1 C8 3 5 5 4 6 L10 12 H-10 L-4 6 C-5 5-8 3-8-1 C-8-6-4-10 0-15 Z",
    "q": "M-13-9 L-6-2 L-5-13 L0-4 L5-13 L6-2 L13-9 L8 7 L9 12 H-9 L-8 7 Z",
    "k": "M-2-16 H2 V-13 H5 V-9 H2 V-6 C8-9 13-5 11 1 L7 7 L9 12 H-9 L-7 7 "
    "L-11 1 C-13-5-8-9-2-6 V-9 H-5 V-13 H-2 Z",
}
"""Outlines of chess men around the middle of a square."""


def draw_things(looks: list[PieceLook], x: float, y: float, room: float = 1.0) -> str:
    """Things that stand on one square around a point; several share it, smaller."""
    if not looks:
        return ""
    shown = looks if len(looks) <= _MOST_SHOWN else looks[: _MOST_SHOWN - 1]
    side = math.ceil(math.sqrt(len(looks[:_MOST_SHOWN])))
    rows = math.ceil(min(len(looks), _MOST_SHOWN) / side)
    cell = UNIT * room / side
    drawn: list[str] = []
    for i, look in enumerate(shown):
        px = x + (i % side - (side - 1) / 2) * cell
        py = y + (i // side - (rows - 1) / 2) * cell
        drawn.append(_thing(look, px, py, 1 / side if side > 1 else 1.0, room))
    if len(looks) > _MOST_SHOWN:
        more = f"+{len(looks) - len(shown)}"
        drawn.append(element("text", more, cls="gb-sign", x=x + cell, y=y + cell, font_size=cell * 0.6))
    return "".join(drawn)


def _thing(look: PieceLook, x: float, y: float, scale: float, room: float) -> str:
    size = UNIT * scale * room
    inside: list[str]
    match look.shape:
        case PieceShape.CROSS:
            arm = 0.28 * size
            path = f"M{-arm:.1f} {-arm:.1f}L{arm:.1f} {arm:.1f}M{-arm:.1f} {arm:.1f}L{arm:.1f} {-arm:.1f}"
            inside = [element("path", cls="gb-stroke", d=path, transform=f"translate({x:g} {y:g})")]
        case PieceShape.RING:
            inside = [element("circle", cls="gb-stroke", cx=x, cy=y, r=0.29 * size)]
        case PieceShape.MAN:
            place = f"translate({x:g} {y + 1.5 * scale:g}) scale({size / UNIT * 1.05:g})"
            inside = [element("path", cls="gb-man", d=_MEN[look.sign], transform=place)]
        case PieceShape.DISC:
            inside = [element("circle", cls="gb-disc", cx=x, cy=y, r=0.4 * size)]
            if look.sign:
                inside.append(_sign(look.sign, x, y, 0.5 * size, 0.62 * size))
        case _:
            inside = [_sign(look.sign, x, y, 0.6 * size, 0.86 * size, "gb-letter")]
    return element("g", *inside, cls=look.colour)


def draw_ground(looks: list[PieceLook], x: float, y: float) -> str:
    """What never moves, below what does: walls fill the square, others are signs in its corner."""
    drawn: list[str] = []
    half = UNIT / 2
    corners = 0
    for look in looks:
        if look.shape is PieceShape.GROUND:
            drawn.append(element("rect", cls="gb-wall", x=x - half, y=y - half, width=UNIT, height=UNIT))
            continue
        cx, cy = x + half - 8 - 12 * (corners % 3), y + half - 8 - 12 * (corners // 3 % 3)
        corners += 1
        rhombus = points([(cx, cy - 6), (cx + 6, cy), (cx, cy + 6), (cx - 6, cy)])
        inside = [element("polygon", cls="gb-goal", points=rhombus)]
        drawn.append(element("g", *inside, cls=look.colour))
    return "".join(drawn)


def draw_side(way: str, spot: Spot) -> str:
    """A wall at one side of a square."""
    half = UNIT / 2
    across, up = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}[way]
    x, y = spot.x + across * half, spot.y - up * half
    along, over = half * abs(up), half * abs(across)
    return element("line", cls="gb-side", x1=x - along, y1=y - over, x2=x + along, y2=y + over)


def _sign(sign: str, x: float, y: float, size: float, room: float, cls: str = "gb-sign") -> str:
    """Letters in the middle of a point, smaller where they need more room."""
    shown = clipped(sign, 7)
    fitting = min(size, room / (0.6 * max(1, len(shown))))
    return element("text", text_of(shown), cls=cls, x=x, y=y, font_size=round(fitting, 1))
