"""Draws the table around a board, or without one: a seat for each role, the viewer's below, what lies in the
middle, and signs to choose from."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from gdl.hints import PictureHint
from ggp.boards.looks import PieceLook, PieceShape
from ggp.boards.svg.layout import UNIT, Spot, SpotKind
from ggp.boards.svg.markup import clipped, element, number, text_of
from ggp.boards.svg.sprites import draw_piece
from ggp.boards.table import Onlooker, TableFinder, TableGroup, sign_look

_NARROWEST, _BESIDES, _SAID = 340.0, 200.0, 150.0
"""The least width of a table, of one around a board with seats, and of one with notes."""
_NAMES = 30.0
_GAP = 10.0
_SIZES = {
    "card": (46.0, 66.0, 1.7),
    "die": (42.0, 42.0, 1.15),
    "dice": (42.0, 42.0, 1.15),
    "sign": (76.0, 76.0, 1.9),
}
"""Width, height and scale of a piece."""
_CHIPS = 44.0
_CAPTION = 16.0
_NOTE = 22.0
_CHOICE = 76.0
_LETTER = 6.6
_MOST_STACKED = 8
_TEXTS = {"note", "score"}
"""Looks that are text."""


@dataclass(frozen=True, slots=True)
class DrawnTable:
    """The table above and below a board; ``width`` is that of both."""

    width: float
    above: str
    high: float
    below: str
    deep: float


class TableDrawer:
    """Draws the table of one game.

    Args:
        names: the roles as people read them.

    Attributes:
        choices: the signs that one may click, around the middle of their row.
    """

    def __init__(self, finder: TableFinder, names: Sequence[str]) -> None:
        self._finder, self._names = finder, names
        self._middle = _height(finder.middle | ({"sign"} if finder.signs else set[str]()), _NOTE)
        self._held = _height(finder.held)
        count = len(finder.signs)
        each = min(_CHOICE, (_NARROWEST + _GAP) / max(1, count) - _GAP)
        self.choices = [
            Spot(
                key,
                hint.name or word,
                (i - (count - 1) / 2) * (each + _GAP),
                _CHOICE / 2,
                SpotKind.BOX,
                wide=each,
            )
            for i, ((word,), (key, hint)) in enumerate(finder.signs.items())
        ]

    def draw(
        self, groups: list[TableGroup], by: Onlooker, turn: int | None, room: float, between: bool
    ) -> DrawnTable:
        """The table around something ``room`` wide; ``between`` if there is a board."""
        seats = self._finder.seats
        own = by.role if by.role in seats else next(iter(seats), None)
        others = [role for role in seats if role != own]
        groups = sorted(groups, key=lambda group: group.look == "chips")
        held = {role: [g for g in groups if g.role == role and g.look != "sign"] for role in seats}
        shown = [g for role in (own, *others) for g in groups if g.look == "sign" and g.role == role]
        middle = [g for g in groups if g.role not in seats and g.look != "sign"] + shown
        least = _BESIDES if seats else _SAID if middle else 0.0
        least = least if between else _NARROWEST
        width = max(room, least, _wide(middle), *(_wide(held[role]) for role in seats if role == own))
        width = max([width, *(len(others) * (_wide(held[role]) + _GAP) - _GAP for role in others)])
        above, top = [], 0.0
        tall = max([self._held, *(_height({g.look for g in some}) for some in held.values())])
        each = (width + _GAP) / max(1, len(others)) - _GAP
        for i, role in enumerate(others):
            above.append(self._seat(role, held[role], i * (each + _GAP), 0, each, tall, turn, below=False))
            top = _NAMES + tall + _GAP
        high = max(self._middle, _height({g.look for g in middle}, _NOTE))
        if high:
            above.append(self._row(middle, 0, top, width, high, own, self._finder.middle))
            top += high + _GAP
        below, deep = [], _GAP if between else 0.0
        if own is not None:
            below.append(self._seat(own, held[own], 0, deep, width, tall, turn, below=True))
            deep += _NAMES + tall
        if self._finder.signs:
            hints = [hint for _, hint in self._finder.signs.values()]
            signs = map(self._choice, self.choices, hints)
            place = f"translate({number(width / 2)} {number(deep + _GAP)})"
            below.append(element("g", *signs, cls=self._finder.classes[own or 0], transform=place))
            deep += _GAP + _CHOICE + _CAPTION
        return DrawnTable(width, "".join(above), top, "".join(below), deep)

    def _seat(
        self,
        role: int,
        groups: list[TableGroup],
        x: float,
        y: float,
        width: float,
        tall: float,
        turn: int | None,
        below: bool,
    ) -> str:
        """A role's seat: its name with notes and score, and beside the middle what it holds."""
        cls = "gb-panel gb-turn" if turn == role else "gb-panel"
        drawn = [element("rect", cls=cls, x=x, y=y, width=width, height=_NAMES + tall, rx=8)]
        line = y + (tall if below else 0) + _NAMES / 2
        drawn.append(
            element(
                "g",
                element("circle", cls="gb-disc", cx=x + 16, cy=line, r=6),
                cls=self._finder.classes[role],
            )
        )
        name = clipped(self._names[role], 16)
        drawn.append(element("text", text_of(name), cls="gb-head", x=x + 28, y=line))
        at, end = x + 40 + 7.2 * len(name), x + width - 12
        for group in groups:
            if group.look == "score":
                points = clipped(group.value, 6)
                end -= 13.0 * len(points) + 4
                if group.fresh:
                    drawn.append(_fresh(end, line - 12, 13.0 * len(points) + 8, 24))
                middle = end + 6.5 * len(points) + 4
                drawn.append(element("text", text_of(points), cls="gb-score", x=middle, y=line))
        notes = [g.words for g in groups if g.look == "note"]
        if turn == role:
            notes.insert(0, "to move")
        text = clipped(", ".join(notes), max(8, int((end - at) / _LETTER)))
        if text:
            drawn.append(element("text", text_of(text), cls="gb-fact", x=at, y=line))
        lying = [g for g in groups if g.look not in _TEXTS]
        if tall:
            drawn.append(
                self._row(lying, x, y + (0 if below else _NAMES), width, tall, role, self._finder.held)
            )
        return element("g", *drawn)

    def _row(
        self,
        groups: list[TableGroup],
        x: float,
        y: float,
        width: float,
        high: float,
        own: int | None,
        looks: Container[str],
    ) -> str:
        """Groups side by side in the middle of a strip, notes above them; the place of a card, if ``looks``
        have one and nothing lies there."""
        drawn: list[str] = []
        said = ", ".join(f"{g.words} {g.value}".strip() for g in groups if g.look in _TEXTS)
        if notes := clipped(said, int(width / _LETTER)):
            drawn.append(element("text", text_of(notes), cls="gb-title", x=x + width / 2, y=y + _NOTE / 2))
        lying = [g for g in groups if g.look not in _TEXTS]
        if not lying and "card" in looks:
            left, top = x + width / 2 - 21.5, y + high - _CAPTION - 70
            drawn.append(element("rect", cls="gb-slot", x=left, y=top, width=43, height=62, rx=6))
        at = x + (width - _wide(lying)) / 2
        for group in lying:
            wide = _width(group)
            caption = (
                self._names[group.role] if group.look == "sign" and group.role is not None else group.words
            )
            size = _SIZES.get(group.look, (0.0, _CHIPS, 1.0))[1]
            foot = y + high - (_CAPTION if caption else 4) - 4
            middle = foot - size / 2
            if group.fresh:
                drawn.append(
                    _fresh(at - 3, foot - size - 1, wide + 6, size + (_CAPTION if caption else 0) + 2)
                )
            if group.look == "chips":
                drawn.append(_chips(group, at, middle, wide))
            for i, piece in enumerate(group.pieces):
                drawn.append(
                    self._piece(group, piece, at + (i + 0.5) * wide / len(group.pieces), middle, own)
                )
            if caption:
                words = text_of(clipped(caption, 24))
                drawn.append(element("text", words, cls="gb-axis", x=at + wide / 2, y=foot + _CAPTION / 2))
            at += wide + _GAP
        return "".join(drawn)

    def _piece(self, group: TableGroup, piece: PieceLook, x: float, y: float, own: int | None) -> str:
        """A piece around a point. Signs have their role's colour and face each other."""
        scale = _SIZES[group.look][2]
        if piece.shape is PieceShape.CARD:
            return _face(piece, x, y)
        if group.look != "sign":
            return draw_piece(piece, x, y, scale)
        mirrored = "scale(-1 1)" if group.role != own else "scale(1 1)"
        turned = element("g", draw_piece(piece, 0, 0, scale), transform=f"translate({x:g} {y:g}) {mirrored}")
        return element("g", turned, cls=self._finder.classes[group.role or 0])

    def _choice(self, spot: Spot, hint: PictureHint) -> str:
        """A sign that one may choose by a click."""
        left, top = spot.x - spot.wide / 2, spot.y - spot.wide / 2
        cell = element("rect", cls="gb-cell", x=left, y=top, width=spot.wide, height=spot.wide, rx=10)
        sign = draw_piece(sign_look(hint, spot.name), spot.x, spot.y, spot.wide / UNIT * 0.8)
        name = element(
            "text", text_of(clipped(spot.name, 12)), cls="gb-axis", x=spot.x, y=top + spot.wide + 10
        )
        title = element("title", text_of(spot.name))
        return element("g", title, cell, sign, name, cls="gb-square gb-choice", data_square=spot.key)


def _height(looks: set[str], note: float = 0.0) -> float:
    """The height of a strip for groups of these looks; ``note`` is the height of a line above them."""
    lying = [(_SIZES[look][1] if look in _SIZES else _CHIPS) + _CAPTION + 8 for look in looks - _TEXTS]
    return max(lying, default=0.0) + (note if looks & _TEXTS else 0.0)


def _wide(groups: Iterable[TableGroup]) -> float:
    """The width of groups side by side."""
    return sum(_width(group) + _GAP for group in groups if group.look not in _TEXTS) + _GAP


def _width(group: TableGroup) -> float:
    inside = (
        36 + 11.0 * len(group.value) if group.look == "chips" else len(group.pieces) * _SIZES[group.look][0]
    )
    return max(inside, _LETTER * len(clipped(group.words, 24)))


def _fresh(x: float, y: float, width: float, height: float) -> str:
    return element("rect", cls="gb-fresh", x=x, y=y, width=width, height=height, rx=5)


def _face(piece: PieceLook, x: float, y: float) -> str:
    """A card face up: what it is in the corners, its suit or rank in the middle."""
    rank, suit = (piece.sign[:-1], piece.sign[-1]) if piece.sign[-1:] in "♥♦♠♣" else (piece.sign, piece.sign)
    wide, high = 43.0, 62.0
    corner = clipped(rank, 4)
    return element(
        "g",
        element("rect", cls="gb-card", x=x - wide / 2, y=y - high / 2, width=wide, height=high, rx=6),
        element(
            "text", text_of(corner), cls="gb-pips", x=x - wide / 2 + 9, y=y - high / 2 + 12, font_size=14
        ),
        element(
            "text", text_of(corner), cls="gb-pips", x=x + wide / 2 - 9, y=y + high / 2 - 11, font_size=14
        ),
        element(
            "text",
            text_of(clipped(suit, 3)),
            cls="gb-pips",
            x=x,
            y=y,
            font_size=28 / min(len(suit), 3) ** 0.5,
        ),
        cls=piece.colour,
    )


def _chips(group: TableGroup, x: float, y: float, wide: float) -> str:
    """A stack of chips and their number."""
    many = int(group.value) if group.value.isdecimal() else 1
    left = x + (wide - 36 - 11.0 * len(group.value)) / 2 + 16
    stack = [
        element("ellipse", cls="gb-chip", cx=left, cy=y + 14 - 4 * i, rx=14, ry=6)
        for i in range(min(many, _MOST_STACKED))
    ]
    if stack:
        stack.append(
            element("ellipse", cls="gb-chip gb-inner", cx=left, cy=y + 18 - 4 * len(stack), rx=9, ry=3.6)
        )
    value = element(
        "text", text_of(group.value), cls="gb-score", x=left + 20 + 5.5 * len(group.value), y=y + 4
    )
    return "".join([*stack, value])
