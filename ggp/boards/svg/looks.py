"""What a thing on a square looks like: its sign, its shape, and the class of its colours."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import Enum

from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.glyphs import COLOURS, colour_name, glyphs_of, owners_of
from ggp.boards.layers import Thing

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
