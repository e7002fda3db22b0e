"""Chooses the look of a thing on a board: its shape, its sign, its class of colours, and its letter in text.

A hint of the rules (:mod:`gdl.hints`) comes first. Otherwise the look depends on the thing's observed
behaviour (:mod:`ggp.boards.piece_behaviour`), its owner, the number of kinds, and names such as ``queen``.
Letters are capitals for pieces of the first role, small for those of the second.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from string import ascii_lowercase, digits

from gdl.hints import HINT_COLOURS, LINKS, SIGNS, PictureHint
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing

Span = tuple[str, str]
"""Text and a rich style."""
_ROLE_STYLES = ("bold cyan", "bold yellow", "bold magenta", "bold green", "bold red", "bold blue")
"""Of roles whose names are not colours, by their numbers; then they start again."""
_OTHER_STYLES = ("green", "magenta", "blue", "red", "white", "bright_cyan")
"""Of things without an owner."""
EMPTY: Span = (".", "bright_black")
_FIXED_SIGNS = "#+=~%&$@"
_THEME = {
    # Ground and letter are both set, so that these two show on dark and on light terminals.
    "white": "bold black on white",
    "black": "bold white on black",
    "pink": "bold bright_magenta",
    "orange": "bold dark_orange",
    "brown": "bold orange4",
    "gray": "bold bright_black",
    **{name: f"bold {name}" for name in ("red", "green", "blue", "yellow", "cyan", "magenta")},
    **{f"role{number}": style for number, style in enumerate(_ROLE_STYLES)},
    **{f"other{number}": style for number, style in enumerate(_OTHER_STYLES)},
    "number": "bold",
}
"""The rich style of each class of colours, without ``gb-``."""
_COLOURS = {colour: colour for colour in HINT_COLOURS} | {
    "grey": "gray",
    "teal": "cyan",
    "purple": "magenta",
    "violet": "magenta",
}
"""Words for colours, and the colour that each is drawn in."""


def role_styles(roles: tuple[Term, ...]) -> list[str]:
    """The rich style of each role: the colour in its name, or its number's."""
    return [_THEME[cls[3:]] for cls in role_classes(roles)]


def _letters_of(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, str]:
    """A letter for each thing.

    Pieces of the first role are capitals, those of the second role small letters, and things that never move
    are signs. If there are more kinds of pieces than letters, or more than two sides with the same kinds,
    numbers or short names replace the letters.
    """
    fixed = Counter(thing for things in board.fixed.values() for thing in things)
    letters = {thing: _FIXED_SIGNS[i % len(_FIXED_SIGNS)] for i, (thing, _) in enumerate(fixed.most_common())}
    used = {EMPTY[0], *letters.values()}
    moving = [thing for thing in board.things if thing not in letters]
    owners = owners_of(moving, rules, roles)
    spelled = {thing: [rules.spell(term) for term in thing] for thing in moving}
    if numbers := _numbers(spelled):
        letters |= numbers
    elif _many_sides(owners):
        letters |= _side_and_kind(owners, roles) or _single_letters(moving, owners, used)
    elif _too_many(moving, owners):
        letters |= {thing: str(i) for i, thing in enumerate(moving, 1)}
    else:
        letters |= _single_letters(moving, owners, used)
    found = ((thing, hint_for(thing, rules)) for thing in letters)
    hints = {thing: hint for thing, hint in found if hint is not None}
    shared = _letters_of_areas(hints.values())
    return {
        thing: ((hint := hints.get(thing)) and (hint.sign or shared.get(hint))) or letter
        for thing, letter in letters.items()
    }


def _letters_of_areas(hints: Iterable[PictureHint]) -> dict[PictureHint, str]:
    """A letter for each hint that makes areas of one colour of several things."""
    letters: dict[PictureHint, str] = {}
    for hint in hints:
        if hint.one_area and hint not in letters:
            free = (c for c in hint.words[0].upper() if c not in letters.values())
            letters[hint] = next(free, _FIXED_SIGNS[0])
    return letters


def hint_for(thing: Thing, rules: Rules) -> PictureHint | None:
    """The last hint of the rules for a thing."""
    if not rules.hints:
        return None
    words = tuple(" ".join(map(str, thing)).replace("(", " ").replace(")", " ").split())
    fitting = [
        hint
        for hint in rules.hints
        if hint.words[0] == words[0]
        and (hint.words == words or (hint.every and hint.words == words[: len(hint.words)]))
    ]
    return fitting[-1] if fitting else None


def _colour_name(thing: Thing) -> str | None:
    """The colour that a thing's name contains."""
    words = [word for term in thing for leaf in _leaves(term) for word in re.split("[-_]", leaf)]
    return next((word for word in words if word in _COLOURS), None)


def word_class(word: Term, number: int) -> str:
    """The class of the colour that a word contains, or that of a number."""
    named = _colour_name((word,))
    return f"gb-{_COLOURS[named]}" if named else f"gb-role{number % len(_ROLE_STYLES)}"


def _many_sides(owners: dict[Thing, tuple[int, list[str]]]) -> bool:
    """Whether capitals and small letters are too few to distinguish the sides that have pieces of the same
    kinds."""
    kinds = Counter("".join(words) for owner, words in owners.values() if owner >= 0)
    return sum(n > 2 for n in kinds.values()) > 1


def _too_many(moving: list[Thing], owners: dict[Thing, tuple[int, list[str]]]) -> bool:
    """Whether letters would run out."""
    small = sum(owners[thing][0] == 1 for thing in moving)
    return max(small, len(moving) - small) > len(ascii_lowercase)


def _side_and_kind(owners: dict[Thing, tuple[int, list[str]]], roles: tuple[Term, ...]) -> dict[Thing, str]:
    """The first letters of each piece's side and kind; empty if these do not distinguish the pieces."""
    signs = {
        thing: (roles[owner].name[0].lower() if owner >= 0 else "") + "".join(words)[:1].upper()
        for thing, (owner, words) in owners.items()
    }
    return signs if len(set(signs.values())) == len(signs) else {}


def _numbers(spelled: dict[Thing, list[str]]) -> dict[Thing, str]:
    """The numbers that all things are, or end with after the same word; empty if some thing has no such
    number."""
    matches = {t: re.fullmatch(r"([a-z_]*)([0-9]+)", " ".join(words)) for t, words in spelled.items()}
    found = {thing: (match[1], match[2]) for thing, match in matches.items() if match}
    if len(found) < len(spelled) or len({word for word, _ in found.values()}) > 1:
        return {}
    numbers = {thing: number for thing, (_, number) in found.items()}
    return numbers if len(set(numbers.values())) == len(numbers) else {}


def _single_letters(
    moving: list[Thing], owners: dict[Thing, tuple[int, list[str]]], used: set[str]
) -> dict[Thing, str]:
    letters: dict[Thing, str] = {}
    for thing in moving:
        owner, words = owners[thing]
        name = "".join(words)
        whole = len(thing) == 1 and name == thing[0].name
        if name not in used and (len(name) == 1 or name.isdecimal()) and (owner < 0 or whole):
            letter = name
        else:
            some = "".join(word[0] for word in words) + name + ascii_lowercase + digits
            some = some.lower() if owner == 1 else some.upper()
            letter = next((c for c in some if c.isalnum() and c not in used), "?")
        used.add(letter)
        letters[thing] = letter
    return letters


def owners_on(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, int]:
    """The number of the role that each thing of a board belongs to; -1 for none."""
    return {thing: owner for thing, (owner, _) in owners_of(list(board.things), rules, roles).items()}


def owners_of(
    things: list[Thing], rules: Rules, roles: tuple[Term, ...]
) -> dict[Thing, tuple[int, list[str]]]:
    """The owner of each thing (role index, or -1) and the rest of its name. A piece belongs to a role that it
    names, or whose name begins the piece's name (``whitepawn``). If all short names begin with a role's
    initial (``wp``), the initial decides."""
    names = [role.name for role in roles]
    leaves = {thing: [leaf for term in thing for leaf in _leaves(term)] for thing in things}
    initials = _initials([words[0] for words in leaves.values() if len(words) == 1], names)
    owners: dict[Thing, tuple[int, list[str]]] = {}
    for thing, words in leaves.items():
        owner, rest = -1, [rules.spelling.get(word, word) for word in words]
        for i, word in enumerate(words):
            role = next((r for r, name in enumerate(names) if word == name), -1)
            cut = 0
            if role < 0:
                starts = [r for r, name in enumerate(names) if len(name) > 1 and word.startswith(name)]
                role = max(starts, key=lambda r: len(names[r]), default=-1)
                cut = len(names[role]) if role >= 0 else 0
            if role < 0 and word[0] in initials and len(words) == 1 and 2 <= len(word) <= 3:
                role = initials[word[0]]
                cut = 1
            if role >= 0:
                owner = role
                end = rest[i][cut or len(word) :].strip("-_")
                rest = rest[:i] + ([end] if end else []) + rest[i + 1 :] or [rest[i]]
                break
        owners[thing] = owner, rest
    return owners


def _initials(words: list[str], names: list[str]) -> dict[str, int]:
    """First letter -> role, if most things have names of two or three letters whose first letter
    distinguishes the sides; empty otherwise. A letter that begins no role's name belongs to the remaining
    role."""
    short = [word for word in words if 2 <= len(word) <= 3]
    letters = sorted({word[0] for word in short})
    few = any(len(word) == 1 for word in words) or 3 * len(short) < 2 * len(words)
    if len(names) < 2 or len(letters) != len(names) or few:
        return {}
    roles_of = {name[0]: role for role, name in enumerate(names) if name[0] in letters}
    roles = [role for role in range(len(names)) if role not in roles_of.values()]
    return roles_of | dict(zip((c for c in letters if c not in roles_of), roles, strict=False))


def _leaves(term: Term) -> Iterator[str]:
    if not term.args:
        yield term.name
    for arg in term.args:
        yield from _leaves(arg)


_AREA_CLASSES = (
    *("gb-blue", "gb-orange", "gb-green", "gb-magenta", "gb-yellow", "gb-red"),
    *("gb-cyan", "gb-pink", "gb-gray", "gb-brown", "gb-white", "gb-black"),
)
"""Colours of areas, the most different first."""
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
    CHOCOLATE = "chocolate"
    """A square of chocolate that is eaten."""
    POISON = "poison"
    CARD = "card"
    DIE = "die"
    HIDDEN = "hidden"
    BACK = "back"
    """A card that lies face down."""
    ACROSS = "across"
    """A wall with the sum of what stands to its right."""
    DOWN = "down"
    """A wall with the sum of what stands below it."""
    LINE = "line"
    """A line between two dots, or from square to square."""
    DOT = "dot"
    """A small dot between two squares."""
    LESS = "less"
    """A sign between two squares: the first is less."""
    OUTLINE = "outline"
    """A figure or a hand, by the name that its sign is."""


_FILLING = (
    "ground",
    "corner",
    "goal",
    "area",
    "block",
    "trail",
    "mark",
    "chocolate",
    "poison",
    "across",
    "down",
)
BELOW = frozenset(map(PieceShape, _FILLING))
"""Shapes that fill a square, or lie below the things on it."""
_SUMS = {PieceShape.ACROSS: "→", PieceShape.DOWN: "↓"}
"""Sums in walls, each with its arrow in text."""
_INK = "gb-number"
"""The class of what has no colour of its own."""
_INKED = {PieceShape.BLOCK, PieceShape.LINE, PieceShape.LESS, PieceShape.DOT}
_OF_HINTS = {
    "wall": PieceShape.GROUND,
    "letter": PieceShape.TEXT,
    "loop": PieceShape.LINE,
    "token": PieceShape.DISC,
    **dict.fromkeys(("bar", "tray"), PieceShape.DISC),
    **dict.fromkeys(("dice", "doubles"), PieceShape.DIE),
    "man": PieceShape.DRAUGHT,
    # Boards of pegs and seas draw these themselves.
    **dict.fromkeys(("pegs", "pin", "ship", "shot"), PieceShape.DISC),
    **dict.fromkeys(_CHESS, PieceShape.MAN),
    **dict.fromkeys(("chips", "note", "score"), PieceShape.TEXT),
    **dict.fromkeys((*SIGNS, "car", "goat"), PieceShape.OUTLINE),
}


@dataclass(frozen=True, slots=True)
class PieceLook:
    """The look of a thing.

    Attributes:
        sign: its letter or short name; for a chess man the letter of its kind.
        colour: the stylesheet's class for it.
        meaning: its name in the rules.
        letter: its letter or short name in text.
    """

    sign: str
    shape: PieceShape
    colour: str
    meaning: str
    letter: str = ""

    @property
    def span(self) -> Span:
        """Its letter in text, with the style of its colour."""
        ground = self.shape is PieceShape.GROUND
        return self.letter, EMPTY[1] if ground else _THEME[self.colour.removeprefix("gb-")]


def looks_of(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, PieceLook]:
    """The look of each thing of a board."""
    letters = _letters_of(board, rules, roles)
    owners = owners_of(list(letters), rules, roles)
    looks = _by_name(board, rules, roles, letters, owners)
    _notes(board, looks, set(roles))
    _by_behaviour(board, looks, {thing: owner for thing, (owner, _) in owners.items()}, len(roles))
    for thing in board.dotted & looks.keys():
        _set(looks, thing, PieceShape.LINE, "", "" if owners[thing][0] >= 0 else _INK)
    for thing, look in looks.items():
        hint = hint_for(thing, rules)
        if hint is not None:
            looks[thing] = _hinted(look, hint, thing)
    return looks


def _by_name(
    board: Grid,
    rules: Rules,
    roles: tuple[Term, ...],
    letters: dict[Thing, str],
    owners: dict[Thing, tuple[int, list[str]]],
) -> dict[Thing, PieceLook]:
    """Looks by name and owner: discs in a side's colour, crosses, rings, chess men, numbers, cards; walls and
    signs for things that never move."""
    fixed = Counter(thing for things in board.fixed.values() for thing in things)
    men = _chess_men(owners)
    classes = role_classes(roles)
    looks: dict[Thing, PieceLook] = {}
    others = 0
    for thing, letter in letters.items():
        sign = letter
        meaning = " ".join(map(rules.spell, thing))
        owner, words = owners[thing]
        named = _colour_name(thing)
        shape = PieceShape.DISC if owner >= 0 or named is not None else PieceShape.TEXT
        if named is not None:
            colour = f"gb-{_COLOURS[named]}"
        elif owner >= 0:
            colour = classes[owner]
        else:
            colour = f"gb-other{others % len(_OTHER_STYLES)}"
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
        elif shape is PieceShape.DISC and kind in _COLOURS:
            sign = ""
        looks[thing] = PieceLook(sign, shape, colour, meaning, letter)
    return looks


def _notes(board: Grid, looks: dict[Thing, PieceLook], roles: set[Term]) -> None:
    """Draw notes of a role about a square, such as ``tried``, as a small sign next to the piece. A note's
    second name is a role whose pieces stand on the same board; it appears during the match and stays."""
    for thing in looks.keys() & board.behaviour.laid:
        if len(thing) == 2 and thing[1] in roles and (thing[1],) in looks:
            _set(looks, thing, PieceShape.CORNER, "")


def _by_behaviour(board: Grid, looks: dict[Thing, PieceLook], owners: dict[Thing, int], roles: int) -> None:
    """Set looks by the behaviour of things."""
    behaviour = board.behaviour
    plain = {thing: look for thing, look in looks.items() if look.shape in (PieceShape.DISC, PieceShape.TEXT)}
    bare: set[Thing] = {(Term(layer.name),) for layer in board.layers if not layer.contents}
    others = looks.keys() - bare
    for thing in bare & plain.keys():
        if others and behaviour.most.get(thing, 0) == 1 and not behaviour.first.get(thing):
            _set(looks, thing, PieceShape.MARK, "")
            del plain[thing]
    for thing in plain.keys() & behaviour.trails & behaviour.stays:
        area, gray = owners[thing] >= 0 or board.ground == "dark", "gb-gray" if owners[thing] < 0 else ""
        _set(looks, thing, PieceShape.AREA if area else PieceShape.TRAIL, "", gray if area else "")
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
    alone = all(behaviour.most.get(n) == 1 and n in behaviour.moves for n in numbers)
    for thing in numbers if roles == 1 and len(numbers) > 2 and alone else ():
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
    stays = [thing for thing in things if thing in behaviour.laid]
    areas = [thing for thing in stays if behaviour.most.get(thing, 0) > 1]
    if roles == 1 and len(areas) >= _FEWEST_AREAS and len(areas) == len(things):
        for number, thing in enumerate(areas):
            _set(looks, thing, PieceShape.AREA, "", _AREA_CLASSES[number % len(_AREA_CLASSES)])
        return
    if owned:
        for thing in stays if behaviour.moves else ():
            _set(looks, thing, PieceShape.BLOCK, "", _INK)
        return
    if len(things) != 1:
        return
    (thing,) = things
    most, least, first = (n.get(thing, 0) for n in (behaviour.most, behaviour.least, behaviour.first))
    if first > _MUCH * len(board.squares) and thing not in behaviour.comes:
        _set(looks, thing, PieceShape.CHOCOLATE, "", "gb-brown")
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


def square_looks(board: Grid, rules: Rules) -> dict[Square, PieceLook]:
    """The looks that hints give to squares themselves."""
    looks: dict[Square, PieceLook] = {}
    for square in board.squares if rules.hints else ():
        thing = (Term("square"), *square[0], *square[1:])
        if (hint := hint_for(thing, rules)) is not None:
            looks[square] = _hinted(PieceLook("", PieceShape.TEXT, "gb-black", hint.look), hint, thing)
    return looks


def signs_of(rules: Rules) -> dict[tuple[str, ...], tuple[str, PictureHint]]:
    """The hints for signs by the words of the move; each with its key in drawings."""
    hints = [hint for hint in rules.hints if hint.look in SIGNS and len(hint.words) == 1 and not hint.every]
    return {hint.words: (f"sign,{i}", hint) for i, hint in enumerate(hints)}


def fact_look(fact: Term, hint: PictureHint) -> PieceLook:
    """The look that a hint gives a fact off the board."""
    return _hinted(PieceLook("", PieceShape.TEXT, "gb-black", ""), hint, (Term(fact.name), *fact.args))


def fact_hint(fact: Term, rules: Rules) -> PictureHint | None:
    """The last hint of the rules for a fact off the board, a move or a percept."""
    return hint_for((Term(fact.name), *fact.args), rules)


def _hinted(look: PieceLook, hint: PictureHint, thing: Thing) -> PieceLook:
    """A look changed as the hint asks."""
    shape = _OF_HINTS.get(hint.look) or PieceShape(hint.look)
    sign, meaning = hint.sign or look.sign, look.meaning
    if shape is PieceShape.MAN:
        sign = _CHESS[hint.look]
    elif shape is PieceShape.OUTLINE:
        sign = hint.look
    elif hint.sign and shape is not PieceShape.TEXT:
        meaning = sign  # A number from the author of the rules is the name that people use.
    elif shape in (*_SUMS, PieceShape.CARD, PieceShape.DIE, PieceShape.NUMBER) or hint.look == "token":
        words = [term.name for term in thing if not term.args]
        sign = _card(thing) or _card(thing[-2:]) or (words[-1] if words else look.sign)
        if shape is PieceShape.CARD:
            sign = _RANKS.get(sign, sign)
    elif shape not in (PieceShape.TEXT, PieceShape.TILE):
        sign = ""
    colour = "gb-red" if shape is PieceShape.CARD and sign[-1:] in ("♥", "♦") else look.colour
    shown = hint.every and (hint.look in ("number", "token") or shape in _SUMS)
    if (shown or shape in _INKED) and (colour.startswith("gb-other") or look.shape is PieceShape.AREA):
        colour = _INK
    meaning = hint.name or meaning
    letter = f"{_SUMS.get(shape, '')}{sign}" if shown else look.letter
    return PieceLook(sign, shape, f"gb-{hint.colour}" if hint.colour else colour, meaning, letter)


def link_look(
    fact: Term, board: Grid, rules: Rules, roles: tuple[Term, ...]
) -> tuple[PieceLook, list[Square], tuple[Term, ...]] | None:
    """The look of a fact that a hint draws between two squares, in the colour of a role that it names; the
    squares, and its other arguments. None for other facts."""
    hint = fact_hint(fact, rules)
    ends, rest = board.between(fact) if hint is not None and hint.look in LINKS else ([], ())
    if hint is None or len(ends) < 2:
        return None
    thing = (Term(fact.name), *rest)
    classes = [role_classes(roles)[roles.index(term)] for term in rest if term in roles]
    plain = PieceLook("", PieceShape.TEXT, (classes or [_INK])[0], " ".join(map(rules.spell, thing)))
    return _hinted(plain, hint, thing), ends, rest


def role_classes(roles: tuple[Term, ...]) -> list[str]:
    """The class of each role: the colour in its name, or its number."""
    numbers = (f"role{number % len(_ROLE_STYLES)}" for number in range(len(roles)))
    return [
        f"gb-{_COLOURS.get(role.name.lower(), number)}" for role, number in zip(roles, numbers, strict=True)
    ]


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
    names = {t: re.sub("[-_ 0-9]", "", words[-1].lower()) for t, (_, words) in owners.items() if words}
    kinds = {thing: _CHESS[name] for thing, name in names.items() if name in _CHESS}
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
