"""Draws single squares of a board, with what stands on them, and the borders of areas."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ggp.boards.layers import Square
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot, SpotKind, hexagon
from ggp.boards.svg.looks import BELOW, PieceLook
from ggp.boards.svg.markup import element, points, text_of
from ggp.boards.svg.sprites import draw_ground, draw_things, side_line


class SquareStyle(Enum):
    """How the ground of squares is drawn: as paper, or not at all, where a picture lies behind them."""

    PAPER = "paper"
    CLEAR = "clear"


def draw_square(
    spot: Spot, looks: list[PieceLook], changed: bool, style: SquareStyle, pieces: str | None = None
) -> str:
    """A square with what stands on it. ``pieces``: markup for that, where it is drawn already."""
    below = [look for look in looks if look.shape in BELOW]
    things = [look for look in looks if look.shape not in BELOW]
    ground = [_ground(spot, style)]
    if below and pieces is None:
        ground.append(draw_ground(below, spot.x, spot.y))
    if changed:
        ground.append(_changed(spot))
    meanings = ", ".join(look.meaning for look in (*things, *below))
    title = element("title", text_of(f"{spot.name}: {meanings}" if meanings else spot.name))
    if pieces is None:
        pieces = "" if spot.kind is SpotKind.DISK else _standing(spot, things)
    return element("g", title, *ground, pieces, cls="gb-square", data_square=spot.key)


def _standing(spot: Spot, things: list[PieceLook]) -> str:
    room = 0.86 if spot.kind is SpotKind.HEXAGON else 1.0
    return draw_things(things, spot.x, spot.y, room)


def _ground(spot: Spot, style: SquareStyle) -> str:
    half = UNIT / 2
    cls = "gb-cell gb-dark" if spot.dark else "gb-cell"
    match spot.kind:
        case SpotKind.HEXAGON:
            return element("polygon", cls=cls, points=points(hexagon(spot)))
        case SpotKind.POINT:
            # A finger needs more than a point.
            return element("circle", cls="gb-point", cx=spot.x, cy=spot.y, r=5) + element(
                "circle", cls="gb-reach", cx=spot.x, cy=spot.y, r=half * 0.8
            )
        case SpotKind.DISK:
            slab = element(
                "rect",
                cls="gb-disk",
                x=spot.x - spot.wide / 2,
                y=spot.y - half * 0.84,
                width=spot.wide,
                height=UNIT * 0.84,
                rx=8,
            )
            name = element("text", text_of(spot.name), cls="gb-sign", x=spot.x, y=spot.y, font_size=15)
            return element("g", slab, name, cls="gb-orange")
        case _:
            clear = spot.kind is SpotKind.BOX or style is SquareStyle.CLEAR
            cls = "gb-reach" if clear else cls
            return element("rect", cls=cls, x=spot.x - half, y=spot.y - half, width=UNIT, height=UNIT)


def _changed(spot: Spot) -> str:
    half = UNIT / 2
    if spot.kind in (SpotKind.HEXAGON, SpotKind.POINT):
        return element("circle", cls="gb-new", cx=spot.x, cy=spot.y, r=half - 2)
    wide = spot.wide if spot.kind is SpotKind.DISK else UNIT
    return element(
        "rect",
        cls="gb-new",
        x=spot.x - wide / 2 + 1.5,
        y=spot.y - half + 1.5,
        width=wide - 3,
        height=UNIT - 3,
        rx=3,
    )


def draw_borders(layout: BoardLayout, areas: Mapping[Square, str]) -> str:
    """The sides of squares at which an area ends, given the meaning of the area that each square is part
    of."""
    if not areas:
        return ""
    by_place = {(spot.x, spot.y): areas.get(square) for square, spot in layout.spots.items()}
    ends: list[tuple[float, float, float, float]] = []
    steps = {"north": (0.0, -UNIT), "south": (0.0, UNIT), "east": (UNIT, 0.0), "west": (-UNIT, 0.0)}
    for square, area in areas.items():
        spot = layout.spots.get(square)
        if spot is None or spot.kind is not SpotKind.SQUARE:
            continue
        for way, (x, y) in steps.items():
            beside = by_place.get((spot.x + x, spot.y + y))
            # A border between two areas is drawn once.
            if beside != area and (beside is None or way in ("south", "east")):
                ends.append(side_line(way, spot))
    path = "".join(f"M{x1:g} {y1:g}L{x2:g} {y2:g}" for x1, y1, x2, y2 in ends)
    return element("path", cls="gb-border", d=path)
