"""What stands on a square: its sign, shape and class of colours, and how it is drawn: discs with letters,
crosses, rings, chess men, numbers, walls."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from enum import Enum

from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.glyphs import COLOURS, colour_name, glyphs_of, owners_of
from ggp.boards.layers import Thing
from ggp.boards.svg.layout import UNIT, Spot
from ggp.boards.svg.markup import clipped, element, points, text_of

ROLE_CLASSES = 6
"""Roles have classes ``gb-role0`` to ``gb-role5``, and more roles the same again."""
OTHER_CLASSES = 6
"""Things that are nobody's have classes ``gb-other0`` to ``gb-other5``, alike."""
_SAME = {"grey": "gray", "teal": "cyan", "purple": "magenta", "violet": "magenta"}
_CHESS = {"king": "k", "queen": "q", "rook": "r", "bishop": "b", "knight": "n", "pawn": "p", "castle": "r"}


class PieceShape(Enum):
    """How a thing is drawn."""

    DISC = "disc"
    CROSS = "cross"
    RING = "ring"
    MAN = "man"
    """A chess man, by the small letter of its kind."""
    TEXT = "text"
    GROUND = "ground"
    """The whole square, as walls are."""
    SIDE = "side"
    """A wall beside the square; the sign says where."""
    CORNER = "corner"
    """A sign behind what else stands there."""


@dataclass(frozen=True, slots=True)
class PieceLook:
    """How a thing is drawn.

    Attributes:
        sign: its letter or short name; of a chess man the letter of its kind.
        colour: the stylesheet's class for it.
        meaning: what the rules call it.
    """

    sign: str
    shape: PieceShape
    colour: str
    meaning: str


def looks_of(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, PieceLook]:
    """The look of each thing of a board: the letters of :func:`ggp.boards.glyphs.glyphs_of`; discs in the
    colour of the role that it belongs to, or that its name says; crosses, rings and chess men where they
    are called so."""
    glyphs = glyphs_of(board, rules, roles)
    owners = owners_of(list(glyphs), rules, roles)
    fixed = Counter(thing for things in board.fixed.values() for thing in things)
    men = _chess_men(owners)
    classes = role_classes(roles)
    looks: dict[Thing, PieceLook] = {}
    others = 0
    for thing, (sign, _) in glyphs.items():
        meaning = " ".join(map(rules.spell, thing))
        owner, words = owners[thing]
        named = colour_name(thing)
        shape = PieceShape.DISC if owner >= 0 or named is not None else PieceShape.TEXT
        if owner >= 0:
            colour = f"gb-{_SAME.get(named, named)}" if named else classes[owner]
        elif named is not None:
            colour = f"gb-{_SAME.get(named, named)}"
        else:
            colour = f"gb-other{others % OTHER_CLASSES}"
            others += 1
        kind = "".join(words).lower()
        if thing in board.solid:
            looks[thing] = PieceLook(sign, PieceShape.GROUND, colour, meaning)
            continue
        if thing in board.sides:
            looks[thing] = PieceLook(board.sides[thing], PieceShape.SIDE, colour, meaning)
            continue
        if thing in fixed:
            looks[thing] = PieceLook(sign, PieceShape.CORNER, colour, meaning)
            continue
        if thing in men:
            sign, shape = men[thing], PieceShape.MAN
        elif kind == "x":
            shape = PieceShape.CROSS
        elif kind == "o":
            shape = PieceShape.RING
        elif shape is PieceShape.DISC and kind in (_last_word(thing), *COLOURS) and kind in COLOURS:
            sign = ""
        looks[thing] = PieceLook(sign, shape, colour, meaning)
    return looks


def role_classes(roles: tuple[Term, ...]) -> list[str]:
    """The class of each role: the colour that it is called by, or its number."""
    found: list[str] = []
    for number, role in enumerate(roles):
        name = role.name.lower()
        found.append(f"gb-{_SAME.get(name, name)}" if name in COLOURS else f"gb-role{number % ROLE_CLASSES}")
    return found


def _last_word(thing: Thing) -> str:
    return re.split("[-_]", thing[-1].name.lower())[-1]


def _chess_men(owners: dict[Thing, tuple[int, list[str]]]) -> dict[Thing, str]:
    """The kind of each chess man, where there are several kinds, called by their whole names (``whitepawn``)
    or by the letters of chess (``wp``, all six)."""
    kinds: dict[Thing, str] = {}
    for thing, (owner, words) in owners.items():
        name = re.sub("[-_ 0-9]", "", words[-1].lower()) if words else ""
        if owner >= 0 and name in _CHESS:
            kinds[thing] = _CHESS[name]
    if len(set(kinds.values())) >= 3:
        return kinds
    letters: dict[Thing, str] = {
        thing: words[-1][0].lower()
        for thing, (owner, words) in owners.items()
        if owner >= 0 and len(thing) == 1 and len(words) == 1 and len(words[0]) < 3
    }
    return letters if set("kqrbnp") == set(letters.values()) else {}


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
