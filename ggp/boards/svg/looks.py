"""Chooses the look of a thing: its shape, its sign and its class of colours.

A hint of the rules (:mod:`gdl.hints`) comes first. Otherwise the look depends on the thing's observed
behaviour (:mod:`ggp.boards.piece_behaviour`), its owner, the number of kinds, and names such as ``queen``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import Enum

from gdl.hints import PictureHint
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.glyphs import COLOURS, colour_name, glyphs_of, hint_for, owners_of
from ggp.boards.layers import Thing

_ROLE_CLASSES = 6
"""Roles have classes ``gb-role0`` to ``gb-role5``; further roles start again from ``gb-role0``."""
_OTHER_CLASSES = 6
"""Things without an owner have classes ``gb-other0`` to ``gb-other5``; further things start again."""
_AREA_CLASSES = (
    *("gb-blue", "gb-orange", "gb-green", "gb-magenta", "gb-yellow", "gb-red"),
    *("gb-cyan", "gb-pink", "gb-gray", "gb-brown", "gb-white", "gb-black"),
)
"""Colours of areas, the most different first."""
_SAME = {"grey": "gray", "teal": "cyan", "purple": "magenta", "violet": "magenta"}
_CHESS = {"king": "k", "queen": "q", "rook": "r", "bishop": "b", "knight": "n", "pawn": "p", "castle": "r"}
_SUITS = {"hearts": "♥", "diamonds": "♦", "spades": "♠", "clubs": "♣"}
_RANKS = {"ace": "A", "king": "K", "queen": "Q", "jack": "J", "ten": "10"}
_FEWEST_AREAS = 3
_MUCH = 0.6
"""Share of the squares above which a thing of the first state is a bar to be eaten, not a set of pieces."""


class PieceShape(Enum):
    """The shapes of things."""

    DISC = "disc"
    CROSS = "cross"
    RING = "ring"
    MAN = "man"
    """A chess man, by the small letter of its kind."""
    TEXT = "text"
    GROUND = "ground"
    """The whole square, as for walls."""
    SIDE = "side"
    """A wall at a side of the square; the sign names the side."""
    CORNER = "corner"
    """A sign behind the other things on the square."""
    NUMBER = "number"
    TILE = "tile"
    """A square tile that moves, with its sign."""
    DRAUGHT = "draught"
    """A man of draughts."""
    CROWN = "crown"
    """A king of draughts."""
    PEG = "peg"
    LAMP = "lamp"
    KEEPER = "keeper"
    """A person seen from above."""
    CRATE = "crate"
    GOAL = "goal"
    AREA = "area"
    """A part of a coloured area, with a border to neighbouring areas."""
    BLOCK = "block"
    """A closed square."""
    TRAIL = "trail"
    """A mark where something has been."""
    MARK = "mark"
    """A frame around the other things on the square."""
    CARD = "card"
    DIE = "die"
    HIDDEN = "hidden"


BELOW = frozenset(
    {
        PieceShape.GROUND,
        PieceShape.CORNER,
        PieceShape.GOAL,
        PieceShape.AREA,
        PieceShape.BLOCK,
        PieceShape.TRAIL,
        PieceShape.MARK,
    }
)
"""Shapes that fill a square, or lie below the things on it."""
_OF_HINTS = {
    "wall": PieceShape.GROUND,
    "letter": PieceShape.TEXT,
    "man": PieceShape.DRAUGHT,
    **dict.fromkeys(_CHESS, PieceShape.MAN),
}


@dataclass(frozen=True, slots=True)
class PieceLook:
    """The look of a thing.

    Attributes:
        sign: its letter or short name; for a chess man the letter of its kind.
        colour: the stylesheet's class for it.
        meaning: its name in the rules.
    """

    sign: str
    shape: PieceShape
    colour: str
    meaning: str


def looks_of(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, PieceLook]:
    """The look of each thing of a board; signs are those of :func:`ggp.boards.glyphs.glyphs_of`."""
    glyphs = glyphs_of(board, rules, roles)
    owners = owners_of(list(glyphs), rules, roles)
    looks = _by_name(board, rules, roles, {thing: sign for thing, (sign, _) in glyphs.items()}, owners)
    _notes(board, looks, set(roles))
    _by_behaviour(board, looks, {thing: owner for thing, (owner, _) in owners.items()}, len(roles))
    for thing, look in looks.items():
        hint = hint_for(thing, rules)
        if hint is not None:
            looks[thing] = _hinted(look, hint, thing)
    return looks


def _by_name(
    board: Grid,
    rules: Rules,
    roles: tuple[Term, ...],
    signs: dict[Thing, str],
    owners: dict[Thing, tuple[int, list[str]]],
) -> dict[Thing, PieceLook]:
    """Looks by name and owner: discs in a side's colour, crosses, rings, chess men, numbers, cards; walls and
    signs for things that never move."""
    fixed = Counter(thing for things in board.fixed.values() for thing in things)
    men = _chess_men(owners)
    classes = role_classes(roles)
    looks: dict[Thing, PieceLook] = {}
    others = 0
    for thing, sign in signs.items():
        meaning = " ".join(map(rules.spell, thing))
        owner, words = owners[thing]
        named = colour_name(thing)
        shape = PieceShape.DISC if owner >= 0 or named is not None else PieceShape.TEXT
        if named is not None:
            colour = f"gb-{_SAME.get(named, named)}"
        elif owner >= 0:
            colour = classes[owner]
        else:
            colour = f"gb-other{others % _OTHER_CLASSES}"
            others += 1
        kind = "".join(words).lower()
        if thing in board.solid:
            shape = PieceShape.GROUND
        elif thing in board.sides:
            sign, shape = board.sides[thing], PieceShape.SIDE
        elif thing in fixed:
            shape = PieceShape.CORNER
        elif _is_number(thing) or (shape is PieceShape.TEXT and sign.isdecimal()):
            sign = thing[0].name if _is_number(thing) else sign
            shape, colour = PieceShape.NUMBER, "gb-number"
        elif card := _card(thing):
            sign, shape, colour = card, PieceShape.CARD, "gb-red" if card[-1] in "♥♦" else "gb-black"
        elif thing in men:
            sign, shape = men[thing], PieceShape.MAN
            colour = colour if owner >= 0 or named is not None else "gb-white"
        elif kind == "x":
            shape = PieceShape.CROSS
        elif kind == "o":
            shape = PieceShape.RING
        elif shape is PieceShape.DISC and kind in (_last_word(thing), *COLOURS) and kind in COLOURS:
            sign = ""
        looks[thing] = PieceLook(sign, shape, colour, meaning)
    return looks


def _notes(board: Grid, looks: dict[Thing, PieceLook], roles: set[Term]) -> None:
    """Draw notes of a role about a square, such as ``tried``, as a small sign next to the piece. A note's
    second name is a role whose pieces stand on the same board; it appears during the match and stays."""
    for thing in looks:
        own = len(thing) == 2 and thing[1] in roles and (thing[1],) in looks
        if (
            own
            and thing in board.behaviour.stays & board.behaviour.comes
            and thing not in board.behaviour.first
        ):
            _set(looks, thing, PieceShape.CORNER, "")


def _by_behaviour(board: Grid, looks: dict[Thing, PieceLook], owners: dict[Thing, int], roles: int) -> None:
    """Set looks by the behaviour of things."""
    behaviour = board.behaviour
    plain = {thing: look for thing, look in looks.items() if look.shape in (PieceShape.DISC, PieceShape.TEXT)}
    bare: set[Thing] = {(Term(layer.name),) for layer in board.layers if not layer.contents}
    for thing in bare & plain.keys():
        if (
            behaviour.most.get(thing, 0) == 1
            and not behaviour.first.get(thing)
            and len(looks) > len(bare & looks.keys())
        ):
            _set(looks, thing, PieceShape.MARK, "")
            del plain[thing]
    for thing in [thing for thing in plain if thing in behaviour.trails & behaviour.stays]:
        _set(looks, thing, PieceShape.AREA if owners[thing] >= 0 else PieceShape.TRAIL, "")
        del plain[thing]
    own: dict[int, list[Thing]] = defaultdict(list)
    for thing in plain:
        own[owners[thing]].append(thing)
    nobodys = own.pop(-1, [])
    if own and all(len(things) == 1 for things in own.values()):
        for thing in plain.keys() - set(nobodys):
            _set(looks, thing, looks[thing].shape, "")
    elif len(own) == roles > 1 and all(len(things) == 2 for things in own.values()):
        later = [thing for things in own.values() for thing in things if not behaviour.first.get(thing)]
        at_first = [thing for things in own.values() for thing in things if behaviour.first.get(thing)]
        if len(later) == len(at_first) == len(own):
            for thing in (*later, *at_first):
                _set(looks, thing, PieceShape.CROWN if thing in later else PieceShape.DRAUGHT, "")
    _nobodys(board, looks, nobodys, roles, bool(own))
    numbers = [thing for thing, look in looks.items() if look.shape is PieceShape.NUMBER]
    if (
        roles == 1
        and len(numbers) > 2
        and all(behaviour.most.get(n) == 1 and n in behaviour.moves for n in numbers)
    ):
        for thing in numbers:
            _set(looks, thing, PieceShape.TILE)


def _nobodys(
    board: Grid, looks: dict[Thing, PieceLook], things: list[Thing], roles: int, owned: bool
) -> None:
    """Looks of things that belong to no role."""
    behaviour = board.behaviour
    crates = [thing for thing in things if thing in behaviour.pushed]
    if roles == 1 and crates and len(behaviour.pushers) == 1 and behaviour.pushers <= set(things):
        for thing in crates:
            _set(looks, thing, PieceShape.CRATE, "")
        for thing in behaviour.pushers:
            _set(looks, thing, PieceShape.KEEPER, "")
        for thing, look in looks.items():
            if look.shape is PieceShape.CORNER:
                _set(looks, thing, PieceShape.GOAL, "")
        return
    stays = [
        thing
        for thing in things
        if thing in behaviour.stays & behaviour.comes and thing not in behaviour.first
    ]
    areas = [thing for thing in stays if behaviour.most.get(thing, 0) > 1]
    if roles == 1 and len(areas) >= _FEWEST_AREAS and len(areas) == len(things):
        for number, thing in enumerate(areas):
            _set(looks, thing, PieceShape.AREA, "", _AREA_CLASSES[number % len(_AREA_CLASSES)])
        return
    if owned:
        for thing in stays:
            if behaviour.moves:
                _set(looks, thing, PieceShape.BLOCK, "")
        return
    if len(things) != 1:
        return
    (thing,) = things
    most, least, first = (
        behaviour.most.get(thing, 0),
        behaviour.least.get(thing, 0),
        behaviour.first.get(thing, 0),
    )
    if first > _MUCH * len(board.squares) and thing not in behaviour.comes:
        _set(looks, thing, PieceShape.AREA, "", "gb-brown")
    elif most == first > least > 0 and thing in behaviour.comes and thing not in behaviour.moves:
        _set(looks, thing, PieceShape.PEG, "")
    elif first and thing in behaviour.comes and thing not in behaviour.moves | behaviour.stays:
        _set(looks, thing, PieceShape.LAMP, "")
    else:
        _set(looks, thing, PieceShape.DISC, "")


def _set(
    looks: dict[Thing, PieceLook], thing: Thing, shape: PieceShape, sign: str | None = None, colour: str = ""
) -> None:
    look = looks[thing]
    looks[thing] = replace(
        look, shape=shape, sign=look.sign if sign is None else sign, colour=colour or look.colour
    )


def fact_look(fact: Term, rules: Rules) -> PieceLook | None:
    """The card or die drawn for a fact off the board, if a hint asks for one; otherwise None."""
    if not rules.hints or not fact.args:
        return None
    thing = (Term(fact.name), *fact.args)
    hint = hint_for(thing, rules)
    if hint is None or hint.look not in ("card", "die"):
        return None
    return _hinted(PieceLook("", PieceShape.TEXT, "gb-black", " ".join(map(rules.spell, thing))), hint, thing)


def _hinted(look: PieceLook, hint: PictureHint, thing: Thing) -> PieceLook:
    """A look changed as the hint asks."""
    shape = _OF_HINTS.get(hint.look) or PieceShape(hint.look)
    sign, meaning = hint.sign or look.sign, look.meaning
    if shape is PieceShape.MAN:
        sign = _CHESS[hint.look]
    elif hint.sign and shape is not PieceShape.TEXT:
        meaning = sign  # A number from the author of the rules is the name that people use.
    elif shape in (PieceShape.CARD, PieceShape.DIE, PieceShape.NUMBER):
        words = [term.name for term in thing if not term.args]
        sign = _card(thing) or _card(thing[-2:]) or (words[-1] if words else look.sign)
        if shape is PieceShape.CARD:
            sign = _RANKS.get(sign, sign)
    elif shape not in (PieceShape.TEXT, PieceShape.TILE):
        sign = ""
    colour = "gb-red" if shape is PieceShape.CARD and sign[-1:] in ("♥", "♦") else look.colour
    return PieceLook(sign, shape, f"gb-{hint.colour}" if hint.colour else colour, meaning)


def role_classes(roles: tuple[Term, ...]) -> list[str]:
    """The class of each role: the colour in its name, or its number."""
    found: list[str] = []
    for number, role in enumerate(roles):
        name = role.name.lower()
        found.append(f"gb-{_SAME.get(name, name)}" if name in COLOURS else f"gb-role{number % _ROLE_CLASSES}")
    return found


def _last_word(thing: Thing) -> str:
    return re.split("[-_]", thing[-1].name.lower())[-1]


def _is_number(thing: Thing) -> bool:
    return len(thing) == 1 and thing[0].name.isdecimal()


def _card(thing: Thing) -> str:
    """Rank and suit of a thing whose words are a rank and a suit; empty for others."""
    words = [term.name for term in thing if not term.args]
    suits = [word for word in words if word in _SUITS]
    ranks = [word for word in words if word not in _SUITS]
    if len(words) != 2 or len(suits) != 1:
        return ""
    return _RANKS.get(ranks[0], ranks[0][:2].upper()) + _SUITS[suits[0]]


def _chess_men(owners: dict[Thing, tuple[int, list[str]]]) -> dict[Thing, str]:
    """The kind of each chess man.

    Chess men are called by the whole name of a kind (``whitepawn``), with several kinds or no king, or by
    letters of chess (``wp``), the king's among them. Men and kings of draughts are left out.
    """
    kinds: dict[Thing, str] = {}
    for thing, (_, words) in owners.items():
        name = re.sub("[-_ 0-9]", "", words[-1].lower()) if words else ""
        if name in _CHESS:
            kinds[thing] = _CHESS[name]
    # Draughts has kings too, and a game may have a castle.
    if len(set(kinds.values())) >= 3 or (kinds and not set(kinds.values()) & {"k", "r"}):
        return kinds
    letters: dict[Thing, str] = {
        thing: words[-1][0].lower()
        for thing, (owner, words) in owners.items()
        if owner >= 0 and len(thing) == 1 and len(words) == 1 and len(words[0]) < 3
    }
    found = set(letters.values())
    chess = "k" in found and len(found) > 1 and found <= set("kqrbnp") and found != {"k", "p"}
    return letters if chess else {}
