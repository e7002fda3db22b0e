"""Draws single squares of a board, its lines if squares are crossings of them, the borders of areas,
and the things on a square: discs with letters, crosses, rings, men, numbers, tiles, crates, cards, dice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ggp.boards.layers import Square
from ggp.boards.looks import BELOW, PieceLook, PieceShape
from ggp.boards.svg.layout import UNIT, BoardLayout, Spot, SpotKind, hexagon
from ggp.boards.svg.markup import box, circle, clipped, element, figures, line, number, points, title, words
from ggp.boards.svg.tiles import CRATE, GOAL_MARK, Oval, Polygon, Shape, Slab, keeper

DOWN = 2
"""The keeper's default direction: up, right, down and left are 0 to 3."""
_MOST_SHOWN, _MOST_LINES = 9, 4
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
_SKULL = "M-11-3 a11 10 0 1 1 22 0 C11 2 8 4 6 5 V10 H2 V7 H-2 V10 H-6 V5 C-8 4-11 2-11-3 Z"
_PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    5: [(-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)],
    6: [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)],
}
_FROM_SIDE = {9: 2, 11: 3, 13: 3, 15: 3, 17: 3, 19: 3}
"""Lines between a side and the star points next to it, by the number of lines."""


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
        drawn.append(words("gb-sign", more, x + cell, y + cell, font_size=cell * 0.6))
    return "".join(drawn)


def draw_piece(look: PieceLook, x: float, y: float, scale: float = 1.0, room: float = 1.0) -> str:
    """One thing around a point; ``scale`` and ``room`` are fractions of a square's side."""
    marks = _marks(look, x, y, UNIT * scale * room)
    return element("g", *marks, cls=look.colour) if marks else ""


def draw_tile(shapes: Iterable[Shape], x: float, y: float) -> str:
    """A tile of a level around a point."""
    return element("g", *sprite(shapes, x, y, UNIT))


def _marks(look: PieceLook, x: float, y: float, size: float) -> list[str]:
    """The marks of a look around a point, on a square of this side."""
    place = f"translate({x:g} {y:g}) scale({size / UNIT:g})"
    match look.shape:
        case PieceShape.CROSS:
            arm = 0.28 * size
            path = f"M{-arm:.1f} {-arm:.1f}L{arm:.1f} {arm:.1f}M{-arm:.1f} {arm:.1f}L{arm:.1f} {-arm:.1f}"
            return [element("path", cls="gb-stroke", d=path, transform=f"translate({x:g} {y:g})")]
        case PieceShape.RING:
            return [circle("gb-stroke", x, y, 0.29 * size)]
        case PieceShape.MAN:
            larger = f"translate({x:g} {y + 1.5 * size / UNIT:g}) scale({size / UNIT * 1.05:g})"
            return [element("path", cls="gb-man", d=_MEN[look.sign], transform=larger)]
        case PieceShape.DRAUGHT | PieceShape.CROWN:
            crowned = look.shape is PieceShape.CROWN
            crown = element("path", cls="gb-crown", d=_CROWN, transform=place) if crowned else ""
            return [circle("gb-disc", x, y, 0.4 * size), circle("gb-rim", x, y, 0.29 * size), crown]
        case PieceShape.PEG:
            shine = circle("gb-shine", x - 0.08 * size, y - 0.09 * size, 0.07 * size)
            return [circle("gb-peg", x, y, 0.27 * size), shine]
        case PieceShape.LAMP:
            return [circle("gb-glow", x, y, 0.44 * size), circle("gb-lamp", x, y, 0.28 * size)]
        case PieceShape.NUMBER:
            cls = "gb-letter gb-zero" if not look.sign.strip("0") else "gb-letter"
            return [_sign(look.sign, x, y, 0.6 * size, 0.86 * size, cls)]
        case PieceShape.TILE:
            return [_slab("gb-tile", x, y, 0.86 * size), _sign(look.sign, x, y, 0.5 * size, 0.7 * size)]
        case PieceShape.CARD:
            pips = _sign(look.sign, x, y, 0.42 * size, 0.58 * size, "gb-pips")
            return [_slab("gb-card", x, y, 0.9 * size, 0.66), pips]
        case PieceShape.DIE:
            return [_slab("gb-card", x, y, 0.8 * size), *_die(look.sign, x, y, size)]
        case PieceShape.CRATE:
            return sprite(CRATE, x, y, size)
        case PieceShape.KEEPER:
            return sprite(keeper(DOWN), x, y, size)
        case PieceShape.OUTLINE:
            return [element("g", figures()[look.sign], transform=place)]
        case PieceShape.BACK:
            return [_slab("gb-card", x, y, 0.9 * size, 0.66), _slab("gb-disc", x, y, 0.78 * size, 0.62)]
        case PieceShape.HIDDEN:
            return []
        case PieceShape.DISC:
            sign = [_sign(look.sign, x, y, 0.5 * size, 0.62 * size)] if look.sign else []
            return [circle("gb-disc", x, y, 0.4 * size), *sign]
        case PieceShape.GROUND | PieceShape.AREA:
            return [box("gb-area" if look.shape is PieceShape.AREA else "gb-wall", x, y, size, size)]
        case PieceShape.CHOCOLATE:
            return [_slab("gb-chocolate", x, y, 0.97 * size), _slab("gb-bevel", x, y, 0.66 * size)]
        case PieceShape.POISON:
            sockets = (x - 0.11 * size, x + 0.11 * size)
            eyes = [circle("gb-socket", at, y - 0.05 * size, 0.065 * size) for at in sockets]
            return [element("path", cls="gb-skull", d=_SKULL, transform=place), *eyes]
        case PieceShape.LINE:
            many = int(look.sign[1:]) if look.sign[1:] in ("2", "3", "4") else 1
            turn = f"translate({x:g} {y:g}) rotate({90 if look.sign[:1] == 'v' else 0})"
            strokes = _strokes("gb-join", -size / 2, size / 2, many, 0.18 * size)
            return [element("g", *strokes, transform=turn)]
        case PieceShape.DOT:
            return [circle("gb-disc", x, y, 0.13 * size)]
        case PieceShape.BLOCK:
            return [_slab("gb-block", x, y, 0.84 * size)]
        case PieceShape.TRAIL:
            return [circle("gb-trail", x, y, 0.15 * size)]
        case PieceShape.MARK:
            return [circle("gb-mark", x, y, 0.45 * size)]
        case PieceShape.GOAL:
            return sprite(GOAL_MARK, x, y, size)
        case PieceShape.CORNER:
            rhombus = points([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)])
            return [element("polygon", cls="gb-goal", points=rhombus)]
        case _:
            return [_sign(look.sign, x, y, 0.6 * size, 0.86 * size, "gb-letter")]


_SUMS = {PieceShape.ACROSS: 1, PieceShape.DOWN: -1}
"""Sums in walls stand to the right and above, or to the left and below."""


def _draw_ground(looks: list[PieceLook], spot: Spot) -> str:
    """The ground below the things on a square: walls and areas fill it, others are signs in its corner."""
    drawn: list[str] = []
    x, y, corners, half = spot.x, spot.y, 0, UNIT / 2
    if any(look.shape in _SUMS for look in looks):
        drawn += [box("gb-wall", x, y, UNIT, UNIT), line("gb-slope", x - half, y - half, x + half, y + half)]
    for look in looks:
        if look.shape in _SUMS:
            way = _SUMS[look.shape]
            drawn.append(_sign(look.sign, x + way * UNIT * 0.22, y - way * UNIT * 0.24, 13, half, "gb-sum"))
        elif spot.kind is SpotKind.HEXAGON and look.shape in (PieceShape.GROUND, PieceShape.AREA):
            cls = "gb-wall" if look.shape is PieceShape.GROUND else "gb-area"
            inside = element("polygon", cls=cls, points=points(hexagon(spot)))
            drawn.append(element("g", inside, cls=look.colour))
        elif look.shape is PieceShape.GROUND:
            drawn += _marks(look, x, y, UNIT)
        elif look.shape is PieceShape.CORNER:
            start = UNIT / 2 - 8
            drawn.append(
                draw_piece(look, x + start - 12 * (corners % 3), y + start - 12 * (corners // 3 % 3))
            )
            corners += 1
        else:
            drawn.append(draw_piece(look, x, y))
    return "".join(drawn)


def draw_link(look: PieceLook, a: Spot, b: Spot, held: Sequence[bool], many: int, new: bool) -> str:
    """A fact between two squares: lines from one to the other, as far as the things that they hold, or a sign
    in the middle."""
    far = math.hypot(b.x - a.x, b.y - a.y) or 1.0
    room = [0.4 * UNIT * end for end in held]
    drawn: list[str] = []
    match look.shape:
        case PieceShape.LINE:
            cls = "gb-join gb-new" if new else "gb-join"
            drawn += _strokes(cls, -far / 2 + room[0], far / 2 - room[1], min(many, _MOST_LINES), 7)
        case PieceShape.GROUND:
            drawn.append(line("gb-side", 0, -UNIT / 2, 0, UNIT / 2))
        case PieceShape.LESS:
            drawn.append(element("path", cls="gb-less", d="M4 -6L-4 0L4 6"))
        case PieceShape.TEXT:
            drawn += [circle("gb-ground", 0, 0, 7), _sign(look.sign, 0, 0, 12, 14, "gb-letter")]
        case _:
            drawn += _marks(look, 0, 0, UNIT)
    place = f"translate({number((a.x + b.x) / 2)} {number((a.y + b.y) / 2)})"
    if look.shape is not PieceShape.TEXT:
        place += f" rotate({number(math.degrees(math.atan2(b.y - a.y, b.x - a.x)))})"
    name = title(f"{look.meaning}: {a.name}, {b.name}")
    return element("g", name, *drawn, cls=f"{look.colour} gb-link", transform=place)


def _strokes(cls: str, left: float, right: float, many: int, gap: float) -> list[str]:
    """Lines above each other, the middle of all at height 0."""
    return [line(cls, left, y, right, y) for y in ((i - (many - 1) / 2) * gap for i in range(many))]


def _draw_on_edge(look: PieceLook, spot: Spot, new: bool) -> str:
    """A line between two dots, or a small sign in its place."""
    if look.shape is not PieceShape.LINE:
        return draw_piece(look, spot.x, spot.y, 0.45)
    drawn = draw_piece(replace(look, sign="v" if spot.high > spot.wide else "h"), spot.x, spot.y)
    return element("g", drawn, cls="gb-new") if new else drawn


def draw_side(way: str, spot: Spot) -> str:
    """A wall at one side of a square."""
    return line("gb-side", *_side_line(way, spot))


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
    return box(cls, x, y, size * narrow, size, 0.12 * size)


def _die(sign: str, x: float, y: float, size: float) -> list[str]:
    pips = _PIPS.get(int(sign) if sign.isdecimal() and len(sign) == 1 else 0)
    if pips is None:
        return [_sign(sign, x, y, 0.42 * size, 0.6 * size, "gb-pips")]
    return [circle("gb-pip", x + i * 0.22 * size, y + j * 0.22 * size, 0.07 * size) for i, j in pips]


def _sign(sign: str, x: float, y: float, size: float, room: float, cls: str = "gb-sign") -> str:
    """Letters centred on a point, smaller if they need more space."""
    shown = clipped(sign, 7)
    fitting = min(size, room / (0.6 * max(1, len(shown))))
    return words(cls, shown, x, y, font_size=round(fitting, 1))


def draw_square(
    spot: Spot, looks: list[PieceLook], changed: bool, paper: bool = True, pieces: str | None = None
) -> str:
    """A square with the things on it. Without ``paper`` its ground is left out, since a picture lies behind
    it. ``pieces`` is the markup of the things, if they are already drawn."""
    below = [look for look in looks if look.shape in BELOW]
    things = [look for look in looks if look.shape not in BELOW]
    ground = [_ground(spot, paper)]
    if below and pieces is None and spot.kind is not SpotKind.EDGE:
        # The page animates everything except the ground from one drawing to the next.
        ground.append(element("g", _draw_ground(below, spot), cls="gb-ground"))
    if changed and spot.kind is not SpotKind.EDGE:
        ground.append(_changed(spot))
    ground.append(words("gb-number", spot.number, spot.x - 15, spot.y - 16, font_size=7))
    name = title(spot.said(look.meaning for look in (*things, *below)))
    if spot.kind is SpotKind.EDGE:
        pieces = "".join(_draw_on_edge(look, spot, changed) for look in looks)
    elif pieces is None:
        room = 0.86 if spot.kind is SpotKind.HEXAGON else 1.0
        pieces = "" if spot.kind is SpotKind.DISK else _draw_things(things, spot.x, spot.y, room)
    return element("g", name, *ground, pieces, cls="gb-square", data_square=spot.key)


def _ground(spot: Spot, paper: bool) -> str:
    cls = "gb-cell gb-dark" if spot.dark else "gb-cell"
    match spot.kind:
        case SpotKind.HEXAGON:
            return element("polygon", cls=cls, points=points(hexagon(spot)))
        case SpotKind.POINT:
            # A finger needs more than a point.
            reach = circle("gb-reach", spot.x, spot.y, 0.4 * UNIT)
            return circle("gb-point", spot.x, spot.y, 5) + reach
        case SpotKind.EDGE:
            # The places of lines share out the boxes beside them.
            lies = spot.wide > spot.high
            across, up = (spot.wide / 2, UNIT / 2) if lies else (UNIT / 2, spot.high / 2)
            ends = [
                (spot.x - across, spot.y),
                (spot.x, spot.y - up),
                (spot.x + across, spot.y),
                (spot.x, spot.y + up),
            ]
            return element("polygon", cls="gb-reach", points=points(ends))
        case SpotKind.DISK:
            slab = box("gb-disk", spot.x, spot.y, spot.wide, UNIT * 0.84, 8)
            return element(
                "g", slab, words("gb-sign", spot.name, spot.x, spot.y, font_size=15), cls="gb-orange"
            )
        case _:
            cls = cls if paper and spot.kind not in (SpotKind.BOX, SpotKind.CROSSING) else "gb-reach"
            return box(cls, spot.x, spot.y, UNIT, UNIT)


def _changed(spot: Spot) -> str:
    if spot.kind in (SpotKind.HEXAGON, SpotKind.POINT, SpotKind.CROSSING):
        return circle("gb-new", spot.x, spot.y, UNIT / 2 - 2)
    wide = spot.wide if spot.kind is SpotKind.DISK else UNIT
    return box("gb-new", spot.x, spot.y, wide - 3, UNIT - 3, 3)


def draw_borders(layout: BoardLayout, areas: Mapping[Square, str], cls: str = "gb-border") -> str:
    """The sides of squares at which an area ends, given the meaning of the area for each square in one. Those
    of class ``gb-bite`` are only where other squares follow."""
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
            place = spot.x + x, spot.y + y
            neighbour = by_place.get(place)
            if cls == "gb-bite" and place not in by_place:
                continue
            # A border between two areas is drawn once.
            if neighbour != area and (neighbour is None or way in ("south", "east")):
                ends.append(_side_line(way, spot))
    path = "".join(f"M{x1:g} {y1:g}L{x2:g} {y2:g}" for x1, y1, x2, y2 in ends)
    return element("path", cls=cls, d=path) if path else ""


def draw_lines(layout: BoardLayout) -> str:
    """The ground, its lines and star points; empty for boards without such crossings. Sides of 19 lines have
    a star in the middle too."""
    spots = [spot for spot in layout.spots.values() if spot.kind is SpotKind.CROSSING]
    xs, ys = sorted({spot.x for spot in spots}), sorted({spot.y for spot in spots})
    if not spots:
        return ""
    wide, high = (side[-1] - side[0] + UNIT + 2 * layout.aside for side in (xs, ys))
    path = [f"M{x:g} {ys[0]:g}V{ys[-1]:g}" for x in xs] + [f"M{xs[0]:g} {y:g}H{xs[-1]:g}" for y in ys]
    path += [f"M{x1:g} {y1:g}L{x2:g} {y2:g}" for x1, y1, x2, y2 in layout.lines]
    for x1, y1, x2, y2 in layout.loops:
        # Three quarters of a circle around the corner, clockwise if its first end is on the left or right.
        sweep = int((x1 in (xs[0], xs[-1])) == ((x2 - x1) * (y2 - y1) < 0))
        path.append(f"M{x1:g} {y1:g}A{abs(x2 - x1):g} {abs(y2 - y1):g} 0 1 {sweep} {x2:g} {y2:g}")
    drawn = [box("gb-cell", (xs[0] + xs[-1]) / 2, (ys[0] + ys[-1]) / 2, wide, high)]
    drawn.append(element("path", cls="gb-lines", d="".join(path)))
    if len(xs) == len(ys) in _FROM_SIDE:
        n, first = len(xs), _FROM_SIDE[len(xs)]
        sides = (first, n // 2, n - 1 - first)
        stars = [(i, j) for i in sides for j in sides if n == 19 or (i == n // 2) == (j == n // 2)]
        drawn += [circle("gb-star", xs[i], ys[j], 3.5) for i, j in stars]
    return "".join(drawn)
