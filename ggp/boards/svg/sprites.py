"""Draws single squares of a board, the borders of areas, and the things on a square: discs with letters,
crosses, rings, men, numbers, tiles, crates, cards, dice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import groupby

from ggp.boards.layers import Square
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot, SpotKind, hexagon
from ggp.boards.svg.looks import BELOW, PieceLook, PieceShape
from ggp.boards.svg.markup import clipped, element, number, points, text_of
from ggp.boards.svg.tiles import (
    CRATE,
    CRATE_ON_GOAL,
    GOAL_MARK,
    Oval,
    Polygon,
    Shape,
    Slab,
    keeper,
)

DOWN = 2
"""The keeper's default direction: up, right, down and left are 0 to 3."""
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
_CROWN = "M-9 6 V-4 L-4.5 0 L0-7 L4.5 0 L9-4 V6 Z"
_PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    5: [(-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)],
    6: [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)],
}


def _draw_things(looks: list[PieceLook], x: float, y: float, room: float = 1.0) -> str:
    """Things on one square around a point; several things share it, each drawn smaller."""
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
        drawn.append(draw_piece(look, px, py, 1 / side if side > 1 else 1.0, room))
    if len(looks) > _MOST_SHOWN:
        more = f"+{len(looks) - len(shown)}"
        drawn.append(element("text", more, cls="gb-sign", x=x + cell, y=y + cell, font_size=cell * 0.6))
    return "".join(drawn)


def draw_piece(look: PieceLook, x: float, y: float, scale: float = 1.0, room: float = 1.0) -> str:
    """One thing around a point; ``scale`` and ``room`` are fractions of a square's side."""
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
        case PieceShape.DRAUGHT | PieceShape.CROWN:
            inside = [
                element("circle", cls="gb-disc", cx=x, cy=y, r=0.4 * size),
                element("circle", cls="gb-rim", cx=x, cy=y, r=0.29 * size),
            ]
            if look.shape is PieceShape.CROWN:
                place = f"translate({x:g} {y:g}) scale({size / UNIT:g})"
                inside.append(element("path", cls="gb-crown", d=_CROWN, transform=place))
        case PieceShape.PEG:
            inside = [
                element("circle", cls="gb-peg", cx=x, cy=y, r=0.27 * size),
                element("circle", cls="gb-shine", cx=x - 0.08 * size, cy=y - 0.09 * size, r=0.07 * size),
            ]
        case PieceShape.LAMP:
            inside = [
                element("circle", cls="gb-glow", cx=x, cy=y, r=0.44 * size),
                element("circle", cls="gb-lamp", cx=x, cy=y, r=0.28 * size),
            ]
        case PieceShape.NUMBER:
            cls = "gb-letter gb-zero" if not look.sign.strip("0") else "gb-letter"
            inside = [_sign(look.sign, x, y, 0.6 * size, 0.86 * size, cls)]
        case PieceShape.TILE:
            inside = [_slab("gb-tile", x, y, 0.86 * size), _sign(look.sign, x, y, 0.5 * size, 0.7 * size)]
        case PieceShape.CARD:
            inside = [
                _slab("gb-card", x, y, 0.9 * size, 0.66),
                _sign(look.sign, x, y, 0.42 * size, 0.58 * size, "gb-pips"),
            ]
        case PieceShape.DIE:
            inside = [_slab("gb-card", x, y, 0.8 * size), *_die(look.sign, x, y, size)]
        case PieceShape.CRATE:
            inside = sprite(CRATE, x, y, size)
        case PieceShape.KEEPER:
            inside = sprite(keeper(DOWN), x, y, size)
        case PieceShape.HIDDEN:
            return ""
        case PieceShape.DISC:
            inside = [element("circle", cls="gb-disc", cx=x, cy=y, r=0.4 * size)]
            if look.sign:
                inside.append(_sign(look.sign, x, y, 0.5 * size, 0.62 * size))
        case _:
            inside = [_sign(look.sign, x, y, 0.6 * size, 0.86 * size, "gb-letter")]
    return element("g", *inside, cls=look.colour)


def draw_crate(on_goal: bool, x: float, y: float) -> str:
    """A crate, in another colour if it stands on a goal."""
    return element("g", *sprite(CRATE_ON_GOAL if on_goal else CRATE, x, y, UNIT))


def draw_keeper(way: int, x: float, y: float) -> str:
    """The keeper, who looks up, right, down or left."""
    return element("g", *sprite(keeper(way), x, y, UNIT))


def _draw_ground(looks: list[PieceLook], x: float, y: float) -> str:
    """The ground below the things on a square: walls and areas fill it, others are signs in its corner."""
    drawn: list[str] = []
    half = UNIT / 2
    corners = 0
    for look in looks:
        inside: list[str]
        match look.shape:
            case PieceShape.GROUND:
                drawn.append(element("rect", cls="gb-wall", x=x - half, y=y - half, width=UNIT, height=UNIT))
                continue
            case PieceShape.AREA:
                inside = [element("rect", cls="gb-area", x=x - half, y=y - half, width=UNIT, height=UNIT)]
            case PieceShape.BLOCK:
                inside = [_slab("gb-block", x, y, 0.84 * UNIT)]
            case PieceShape.TRAIL:
                inside = [element("circle", cls="gb-trail", cx=x, cy=y, r=0.15 * UNIT)]
            case PieceShape.MARK:
                inside = [element("circle", cls="gb-mark", cx=x, cy=y, r=0.45 * UNIT)]
            case PieceShape.GOAL:
                inside = sprite(GOAL_MARK, x, y, UNIT)
            case _:
                cx, cy = x + half - 8 - 12 * (corners % 3), y + half - 8 - 12 * (corners // 3 % 3)
                corners += 1
                rhombus = points([(cx, cy - 6), (cx + 6, cy), (cx, cy + 6), (cx - 6, cy)])
                inside = [element("polygon", cls="gb-goal", points=rhombus)]
        drawn.append(element("g", *inside, cls=look.colour))
    return "".join(drawn)


def draw_side(way: str, spot: Spot) -> str:
    """A wall at one side of a square."""
    x1, y1, x2, y2 = _side_line(way, spot)
    return element("line", cls="gb-side", x1=x1, y1=y1, x2=x2, y2=y2)


def _side_line(way: str, spot: Spot) -> tuple[float, float, float, float]:
    """The ends of a square's side, ``north``, ``south``, ``east`` or ``west``."""
    half = UNIT / 2
    across, up = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}[way]
    x, y = spot.x + across * half, spot.y - up * half
    along, over = half * abs(up), half * abs(across)
    return x - along, y - over, x + along, y + over


def sprite(shapes: Iterable[Shape], x: float, y: float, size: float) -> list[str]:
    """Shapes on a square of side 1 around a point."""
    moved = f"translate({number(x - size / 2)} {number(y - size / 2)}) scale({number(size)})"
    return [element("g", *paths(shapes), transform=moved)]


def paths(shapes: Iterable[Shape]) -> list[str]:
    """Shapes as paths; neighbours of one colour are one path."""
    return [
        element(
            "path", fill=fill[:7], fill_opacity=f"{int(fill[7:], 16) / 255:.4g}", d="".join(map(_path, same))
        )
        if len(fill) == 9  # SVG 1.1 has #rrggbb only.
        else element("path", fill=fill, d="".join(map(_path, same)))
        for fill, same in groupby(shapes, key=lambda shape: shape.fill)
    ]


def _path(shape: Shape) -> str:
    """A shape as part of a path."""
    match shape:
        case Slab(x, y, width, height, _, radius):
            if not radius:
                return f"M{x:.4g} {y:.4g}h{width:.4g}v{height:.4g}h{-width:.4g}z"
            r, w, h = f"{radius:.4g}", width - 2 * radius, height - 2 * radius
            return (
                f"M{x + radius:.4g} {y:.4g}h{w:.4g}a{r} {r} 0 0 1 {r} {r}v{h:.4g}a{r} {r} 0 0 1-{r} {r}"
                f"h{-w:.4g}a{r} {r} 0 0 1-{r}-{r}v{-h:.4g}a{r} {r} 0 0 1 {r}-{r}z"
            )
        case Oval(x, y, wide, high, _):
            a = f"a{wide:.4g} {high:.4g} 0 1 0"
            return f"M{x - wide:.4g} {y:.4g}{a} {2 * wide:.4g} 0{a} {-2 * wide:.4g} 0z"
        case Polygon(corners, _):
            return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in corners) + "z"


def _slab(cls: str, x: float, y: float, size: float, narrow: float = 1.0) -> str:
    width = size * narrow
    return element("rect", cls=cls, x=x - width / 2, y=y - size / 2, width=width, height=size, rx=0.12 * size)


def _die(sign: str, x: float, y: float, size: float) -> list[str]:
    pips = _PIPS.get(int(sign) if sign.isdecimal() and len(sign) == 1 else 0)
    if pips is None:
        return [_sign(sign, x, y, 0.42 * size, 0.6 * size, "gb-pips")]
    return [
        element("circle", cls="gb-pip", cx=x + i * 0.22 * size, cy=y + j * 0.22 * size, r=0.07 * size)
        for i, j in pips
    ]


def _sign(sign: str, x: float, y: float, size: float, room: float, cls: str = "gb-sign") -> str:
    """Letters centred on a point, smaller if they need more space."""
    shown = clipped(sign, 7)
    fitting = min(size, room / (0.6 * max(1, len(shown))))
    return element("text", text_of(shown), cls=cls, x=x, y=y, font_size=round(fitting, 1))


class SquareStyle(Enum):
    """The ground of squares: drawn as paper, or left out if a picture lies behind them."""

    PAPER = "paper"
    CLEAR = "clear"


def draw_square(
    spot: Spot, looks: list[PieceLook], changed: bool, style: SquareStyle, pieces: str | None = None
) -> str:
    """A square with the things on it. ``pieces`` is their markup, if they are already drawn."""
    below = [look for look in looks if look.shape in BELOW]
    things = [look for look in looks if look.shape not in BELOW]
    ground = [_ground(spot, style)]
    if below and pieces is None:
        # The page animates everything except the ground from one drawing to the next.
        ground.append(element("g", _draw_ground(below, spot.x, spot.y), cls="gb-ground"))
    if changed:
        ground.append(_changed(spot))
    meanings = ", ".join(look.meaning for look in (*things, *below))
    title = element("title", text_of(f"{spot.name}: {meanings}" if meanings else spot.name))
    if pieces is None:
        pieces = "" if spot.kind is SpotKind.DISK else _standing(spot, things)
    return element("g", title, *ground, pieces, cls="gb-square", data_square=spot.key)


def _standing(spot: Spot, things: list[PieceLook]) -> str:
    room = 0.86 if spot.kind is SpotKind.HEXAGON else 1.0
    return _draw_things(things, spot.x, spot.y, room)


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
    """The sides of squares at which an area ends, given the meaning of the area for each square in one."""
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
            neighbour = by_place.get((spot.x + x, spot.y + y))
            # A border between two areas is drawn once.
            if neighbour != area and (neighbour is None or way in ("south", "east")):
                ends.append(_side_line(way, spot))
    path = "".join(f"M{x1:g} {y1:g}L{x2:g} {y2:g}" for x1, y1, x2, y2 in ends)
    return element("path", cls="gb-border", d=path)
