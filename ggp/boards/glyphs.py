"""Signs for the things on squares: a letter for each kind of piece, in its side's colour or its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from string import ascii_lowercase, digits

from gdl.hints import PictureHint
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Thing

Span = tuple[str, str]
"""Text and a rich style."""
_ROLE_STYLES = ("bold cyan", "bold yellow", "bold magenta", "bold green", "bold red", "bold blue")
EMPTY: Span = (".", "bright_black")
_OTHER_STYLES = ("green", "magenta", "blue", "red", "white", "bright_cyan")
_FIXED_SIGNS = "#+=~%&$@"
_FIXED_STYLES = ("bright_black", "bold red", "blue", "green")
COLOURS = {
    # Ground and letter are both set, so that these two show on dark and on light terminals.
    "white": "bold black on white",
    "black": "bold white on black",
    "red": "bold red",
    "green": "bold green",
    "blue": "bold blue",
    "yellow": "bold yellow",
    "cyan": "bold cyan",
    "teal": "bold cyan",
    "magenta": "bold magenta",
    "purple": "bold magenta",
    "violet": "bold magenta",
    "pink": "bold bright_magenta",
    "orange": "bold dark_orange",
    "brown": "bold orange4",
    "gray": "bold bright_black",
    "grey": "bold bright_black",
}


def role_styles(roles: tuple[Term, ...]) -> list[str]:
    """The style of each role: the colour in its name, or one that is in no role's name."""
    named = [COLOURS.get(role.name.lower()) for role in roles]
    free = [style for style in _ROLE_STYLES if style not in named] or list(_ROLE_STYLES)
    others = iter(free * len(roles))
    return [style if style is not None else next(others) for style in named]


def glyphs_of(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, Span]:
    """A letter and a style for each thing.

    Pieces of the first role are capitals, those of the second role small letters, and things that never move
    are signs. If there are more kinds of pieces than letters, or more than two sides with the same kinds,
    short names replace the letters.
    """
    fixed = Counter(thing for things in board.fixed.values() for thing in things)
    glyphs: dict[Thing, Span] = {}
    for i, (thing, _) in enumerate(fixed.most_common()):
        style = _colour(thing) or _FIXED_STYLES[i % len(_FIXED_STYLES)]
        glyphs[thing] = _FIXED_SIGNS[i % len(_FIXED_SIGNS)], style
    used = {EMPTY[0], *(sign for sign, _ in glyphs.values())}
    moving = [thing for thing in board.things if thing not in glyphs]
    owners = owners_of(moving, rules, roles)
    styles = role_styles(roles)
    shades = iter(_OTHER_STYLES * (len(moving) + 1))
    spelled = {thing: [rules.spell(term) for term in thing] for thing in moving}
    numbers = _numbers(spelled)
    if numbers:
        letters = numbers
    elif _many_sides(owners):
        letters = _side_and_kind(owners, roles) or _letters(moving, owners, used)
    elif _too_many(moving, owners):
        letters = _short_names(spelled)
    else:
        letters = _letters(moving, owners, used)
    for thing in moving:
        owner = owners[thing][0]
        style = _colour(thing) or (styles[owner] if owner >= 0 else next(shades))
        glyphs[thing] = letters[thing], style
    for thing, (sign, style) in glyphs.items():
        hint = hint_for(thing, rules)
        glyphs[thing] = (hint.sign if hint and hint.sign else sign), style
    return glyphs


def hint_for(thing: Thing, rules: Rules) -> PictureHint | None:
    """The last hint of the rules for a thing."""
    if not rules.hints:
        return None
    words = tuple(" ".join(map(str, thing)).replace("(", " ").replace(")", " ").split())
    fitting = [
        hint
        for hint in rules.hints
        if hint.words == words or (hint.every and hint.words == words[: len(hint.words)])
    ]
    return fitting[-1] if fitting else None


def _colour(thing: Thing) -> str | None:
    """The style of a thing whose name is a colour."""
    colour = colour_name(thing)
    return None if colour is None else COLOURS[colour]


def colour_name(thing: Thing) -> str | None:
    """The colour that a thing's name contains."""
    words = [word for term in thing for leaf in _leaves(term) for word in re.split("[-_]", leaf)]
    return next((word for word in words if word in COLOURS), None)


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


def _letters(
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


def _short_names(spelled: dict[Thing, list[str]]) -> dict[Thing, str]:
    """As many letters of each word as distinguish it from the others in its place; all words in full if that
    fails."""
    places = max(map(len, spelled.values()))
    columns = [{words[i] for words in spelled.values() if i < len(words)} for i in range(places)]
    heads = [_heads(column) for column in columns]
    names = {thing: "".join(heads[i][w] for i, w in enumerate(words)) for thing, words in spelled.items()}
    if len(set(names.values())) == len(names) and max(map(len, names.values())) <= 6:
        return names
    return {thing: str(i) for i, thing in enumerate(spelled, 1)}


def _heads(words: set[str]) -> dict[str, str]:
    """Beginnings that differ, all of one length except for shorter words."""
    for length in range(1, max(map(len, words)) + 1):
        heads = {word: word[:length] for word in words}
        if len(set(heads.values())) == len(words):
            return heads
    return {word: word for word in words}


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
