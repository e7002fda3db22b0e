"""The table around a board, or without one: seats, the viewer's below, the middle, signs to choose from.

Hints of the rules (:mod:`gdl.hints`) say which facts are cards, dice, chips, scores and notes. A fact that
names a role lies at its seat, others in the middle. What a role does not know of another's hand lies there
face down, as many cards as there are in each state that it considers possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from gdl.hints import FACTS, SIGNS, PictureHint
from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import RANDOM, Term
from ggp.boards.layers import amount
from ggp.boards.looks import PieceLook, PieceShape, fact_hint, fact_look, role_classes, signs_of
from ggp.boards.scene import Onlooker, Scene, TurnFinder, digit_chains
from ggp.boards.statics import listed_propositions
from ggp.boards.svg.layout import UNIT, Spot, SpotKind
from ggp.boards.svg.markup import box, clipped, element, number, oval, title, words
from ggp.boards.svg.sprites import draw_piece

_DIE = 42.0, 42.0, 1.15
_SIZES = {"card": (46.0, 66.0, 1.7), "die": _DIE, "dice": _DIE, "sign": (76.0, 76.0, 1.9)}
"""Width, height and scale of a piece."""
_Area = tuple[float, float, float, float]
"""The left upper corner, width and height of a strip."""
_CHIPS, _NAMES, _NOTE, _CAPTION, _CHOICE, _GAP = 44.0, 30.0, 22.0, 16.0, 76.0, 10.0
_NARROWEST, _BESIDES, _SAID = 340.0, 200.0, 150.0
"""The least width of a table, of one around a board with seats, and of one with notes."""
_LETTER = 6.6
_MOST_KNOWN = 50_000
_MOST_FACTS, _MOST_PIECES, _MOST_STACKED = 200, 12, 8
_TEXTS = {"note", "score"}
_UNKNOWN = {
    "card": PieceLook("", PieceShape.BACK, "gb-blue", "face down"),
    "die": PieceLook("?", PieceShape.DIE, "gb-black", "face down"),
}


@dataclass(slots=True)
class _Group:
    """Things of one kind that lie together: at a role's seat, or in the middle if ``role`` is None. ``value``
    is a number of chips or a score; ``words`` are a note, or a name of the things."""

    role: int | None
    look: str
    words: str
    pieces: list[PieceLook]
    value: str = ""
    fresh: bool = False

    @property
    def width(self) -> float:
        chips = 36 + 11.0 * len(self.value) if self.look == "chips" else 0.0
        pieces = sum(_SIZES[self.look][0] for _ in self.pieces)
        return max(chips, pieces, _LETTER * len(clipped(self.words, 24)))

    def said(self, names: list[str]) -> str:
        """What lies there, in words."""
        whose = "" if self.role is None else names[self.role]
        return " ".join(filter(None, [whose, self.words, self.value, *(p.meaning for p in self.pieces)]))


@dataclass(frozen=True, slots=True)
class DrawnTable:
    """The table above and below a board, each with its height; their width; what lies there in words."""

    width: float
    above: str = ""
    high: float = 0.0
    below: str = ""
    deep: float = 0.0
    spoken: tuple[str, ...] = ()


class TablePicture:
    """The table of one game.

    Args:
        elsewhere: whether a fact is drawn on the board.

    Attributes:
        used: whether hints name anything for it.
        seats: the roles with a seat.
        choices: the signs that one may click, around the middle of their row.
    """

    def __init__(
        self, rules: Rules, roles: tuple[Term, ...], turns: TurnFinder, elsewhere: Callable[[Term], bool]
    ) -> None:
        self._elsewhere = elsewhere
        self._rules, self._term, self._turns = rules, OwnNotation(rules).term, turns
        self._roles = {role: i for i, role in enumerate(roles)}
        self._names, self._classes = list(map(rules.spell, roles)), role_classes(roles)
        self._signs = signs_of(rules)
        self._hint = lru_cache(_MOST_KNOWN)(self._find_hint)
        self.used = bool(self._signs) or any(hint.look in FACTS for hint in rules.hints)
        digits = {name for chain in digit_chains(rules) for name in chain}
        listed = listed_propositions(rules) if self.used else set[Term]()
        # One of each relation and role is enough: there may be many thousands.
        kinds = {(p.signature, self._role(p)): p for p in listed if p.name not in digits}
        may = self._groups(kinds.values(), None, Onlooker())
        self._middle = {g.look for g in may if g.role is None or g.look == "sign"}
        self._held = {g.look for g in may if g.role is not None} - {"sign"}
        seated = self._held or self._signs
        self.seats = [i for role, i in self._roles.items() if seated and role is not RANDOM]
        if self._signs:
            self._middle.add("sign")
        wide = min(_CHOICE, (_NARROWEST + _GAP) / max(1, len(self._signs)) - _GAP)
        self.choices: list[Spot] = []
        for i, ((word,), (key, hint)) in enumerate(self._signs.items()):
            x = (i - (len(self._signs) - 1) / 2) * (wide + _GAP)
            self.choices.append(Spot(key, hint.name or word, x, _CHOICE / 2, SpotKind.BOX, wide=wide))

    def shows(self, fact: Term) -> bool:
        """Whether a fact lies on the table, or a hint hides it."""
        hint = self._hint(fact)
        return hint is not None and (hint.look in FACTS or hint.look in SIGNS or hint.look == "hidden")

    def note(self, fact: Term) -> str:
        """The words of a note; empty for other facts."""
        hint, role = self._hint(fact), self._role(fact)
        if hint is None or hint.look != "note":
            return ""
        return f"{'' if role is None else f'{self._names[role]}: '}{self._words(fact, hint)}"

    def draw(self, scene: Scene, room: float, between: bool) -> DrawnTable:
        """The table around something ``room`` wide; ``between`` if there is a board."""
        if not self.used:
            return DrawnTable(room)
        by, turn = scene.by, None if scene.by.over else scene.turn
        lying = [p for p in scene.beside if scene.turn is None or not self._turns.tells(p)]
        groups = sorted(self._groups(lying, scene.off_before, by), key=lambda group: group.look == "chips")
        own = by.role if by.role in self.seats else next(iter(self.seats), None)
        order = sorted(self.seats, key=lambda role: role != own)
        held = {role: [g for g in groups if g.role == role and g.look != "sign"] for role in order}
        middle = [g for g in groups if g.role not in held]
        middle += [g for role in order for g in groups if g.role == role and g.look == "sign"]
        width = max(room, _NARROWEST if not between else _BESIDES if order else _SAID if middle else 0.0)
        width = max(width, _wide(middle), *(max(1, len(held) - 1) * _wide(some) for some in held.values()))
        tall = max([_height(self._held), *(_height({g.look for g in some}) for some in held.values())])
        high = max(_height(looks, _NOTE) for looks in (self._middle, {g.look for g in middle}))
        each = (width + _GAP) / max(1, len(order) - 1) - _GAP
        above = [
            self._seat(role, held[role], (i * (each + _GAP), 0, each, tall), role == turn, below=False)
            for i, role in enumerate(order[1:])
        ]
        top = _NAMES + tall + _GAP if above else 0.0
        above.append(self._row(middle, (0, top, width, high), own, self._middle) if high else "")
        top += high + _GAP if high else 0.0
        below, deep = "", _GAP if between and order else 0.0
        if own is not None:
            below += self._seat(own, held[own], (0, deep, width, tall), own == turn, below=True)
            deep += _NAMES + tall
        if self._signs:
            signs = map(self._choice, self.choices, [hint for _, hint in self._signs.values()])
            place = f"translate({number(width / 2)} {number(deep + _GAP)})"
            below += element("g", *signs, cls=self._classes[own or 0], transform=place)
            deep += _GAP + _CHOICE + _CAPTION
        return DrawnTable(width, "".join(above), top, below, deep, tuple(g.said(self._names) for g in groups))

    def _groups(self, facts: Iterable[Term], before: Iterable[Term] | None, by: Onlooker) -> list[_Group]:
        """What lies on the table, given the facts off the board; what was not there ``before`` is new."""
        found: dict[object, _Group] = {}
        was = None if before is None else set(before)
        hinted = [(hint, fact) for fact in facts if (hint := self._hint(fact)) and self.shows(fact)]
        for hint, fact in sorted(hinted[:_MOST_FACTS], key=lambda pair: self._rules.hints.index(pair[0])):
            self._add(found, fact, hint, self._role(fact), was is not None and fact not in was)
        dealt: dict[tuple[int | None, str, PictureHint], float] = {}
        for fact, share in (by.likely or {}).items():
            if (hint := self._hint(fact)) is not None and hint.look in _UNKNOWN:
                key = self._role(fact), fact.name, hint
                dealt[key] = dealt.get(key, 0.0) + share
        for (role, name, hint), many in dealt.items():
            group = found.setdefault((role, name), _Group(role, hint.look, hint.name, []))
            group.pieces += [_UNKNOWN[hint.look]] * min(round(many), _MOST_PIECES)
        signed = {group.role for group in found.values() if group.look == "sign"}
        for role, move in enumerate(by.moves[: len(self._names)]):
            hint = None if move is None else fact_hint(move, self._rules)
            looks = {"note"} if role in signed else SIGNS | {"note"}
            if move is not None and hint is not None and hint.look in looks:
                self._add(found, move, hint, role, hint.look == "note")
        return [group for group in found.values() if group.pieces or group.look in ("note", "score", "chips")]

    def _add(
        self, found: dict[object, _Group], fact: Term, hint: PictureHint, role: int | None, fresh: bool
    ) -> None:
        """Add a fact, or a move that was just made, to what lies on the table."""
        last = self._term(fact.args[-1]) if fact.args else self._term(fact)
        name = hint.name or fact.name.replace("_", " ")
        rest = " ".join(self._term(arg) for arg in fact.args if arg not in self._roles)
        if hint.look == "note":
            found[role, fact] = _Group(role, "note", self._words(fact, hint), [], fresh=fresh)
        elif hint.look in SIGNS:
            found[role, fact] = _Group(role, "sign", "", [sign_look(hint, last)], fresh=fresh)
        elif hint.look in ("chips", "score"):
            found[role, fact] = _Group(role, hint.look, name, [], (hint.sign or last)[:6], fresh)
        elif hint.look in _SIZES and fact.args:
            group = _Group(role, hint.look, hint.name if role is not None else name, [])
            group = found.setdefault((role, fact.name), group)
            many = amount(fact.args[-2]) if hint.look == "dice" and len(fact.args) > 1 else 1
            group.pieces = [*group.pieces, *[replace(fact_look(fact, hint), meaning=rest)] * many][
                :_MOST_PIECES
            ]
            group.fresh |= fresh

    def _find_hint(self, fact: Term) -> PictureHint | None:
        """The hint for a fact, or for the sign that is its last argument."""
        if not self._rules.hints or self._elsewhere(fact):
            return None
        hint = fact_hint(fact, self._rules)
        if hint is None and fact.args and self._role(fact) is not None:
            _, hint = self._signs.get((fact.args[-1].name,), ("", None))
        return hint

    def _role(self, fact: Term) -> int | None:
        return next((self._roles[arg] for arg in fact.args if arg in self._roles), None)

    def _words(self, fact: Term, hint: PictureHint) -> str:
        """The name in a hint, with the arguments that the hint leaves open in place of its star."""
        rest = fact.args[len(hint.words) - 1 :] if hint.every else ()
        text = " ".join(self._term(arg) for arg in rest if arg not in self._roles)
        return (hint.name or f"{fact.name.replace('_', ' ')} *").replace("*", text).strip()

    def _seat(self, role: int, groups: list[_Group], area: _Area, moves: bool, below: bool) -> str:
        """A role's seat: its name with notes and score, and beside the middle what it holds."""
        x, y, width, tall = area
        line, end = y + (tall if below else 0) + _NAMES / 2, x + width - 12
        name = clipped(self._names[role], 16)
        cls = "gb-panel gb-turn" if moves else "gb-panel"
        drawn = [box(cls, x + width / 2, y + (_NAMES + tall) / 2, width, _NAMES + tall, 8)]
        drawn.append(element("g", oval("gb-disc", x + 16, line, 6, 6), cls=self._classes[role]))
        drawn.append(words("gb-head", name, x + 28, line))
        for group in groups:
            if group.look == "score":
                wide = 13.0 * len(group.value) + 8
                drawn.append(box("gb-fresh", end - wide / 2, line, wide, 24, 5) if group.fresh else "")
                drawn.append(words("gb-score", group.value, end - wide / 2, line))
                end -= wide + 4
        at = x + 42 + 8.4 * len(name)
        notes = ["to move"] * moves + [group.words for group in groups if group.look == "note"]
        drawn.append(words("gb-fact", clipped(", ".join(notes), max(8, int((end - at) / _LETTER))), at, line))
        lying, strip = [g for g in groups if g.look not in _TEXTS], (x, y + _NAMES * (not below), width, tall)
        return element("g", *drawn, self._row(lying, strip, role, self._held) if tall else "", cls="gb-seat")

    def _row(self, groups: list[_Group], area: _Area, own: int | None, looks: set[str]) -> str:
        """Groups side by side in the middle of a strip, notes above them; the place of a card, if ``looks``
        have one and nothing lies there."""
        x, y, width, high = area
        said = ", ".join(f"{g.words} {g.value}".strip() for g in groups if g.look in _TEXTS)
        lying = [group for group in groups if group.look not in _TEXTS]
        drawn = [words("gb-title", clipped(said, int(width / _LETTER)), x + width / 2, y + _NOTE / 2)]
        if not lying and "card" in looks:
            drawn.append(box("gb-gone", x + width / 2, y + high - _CAPTION - 39, 43, 62, 6))
        at = x + (width - _wide(lying)) / 2 + _GAP / 2
        for group in lying:
            wide = group.width
            caption = self._names[group.role or 0] if group.look == "sign" else group.words
            size = _SIZES[group.look][1] if group.look in _SIZES else _CHIPS
            foot = y + high - (_CAPTION if caption else 4) - 4
            if group.fresh:
                deep = size + (_CAPTION if caption else 0) + 2
                drawn.append(box("gb-fresh", at + wide / 2, foot - size - 1 + deep / 2, wide + 6, deep, 5))
            if group.look == "chips":
                drawn.append(_chips(group.value, at + wide / 2, foot - size / 2))
            for i, piece in enumerate(group.pieces):
                middle = at + (i + 0.5) * wide / len(group.pieces)
                drawn.append(self._piece(group, piece, middle, foot - size / 2, own))
            drawn.append(words("gb-axis", clipped(caption, 24), at + wide / 2, foot + _CAPTION / 2))
            at += wide + _GAP
        return "".join(drawn)

    def _piece(self, group: _Group, piece: PieceLook, x: float, y: float, own: int | None) -> str:
        """A piece around a point. Signs have their role's colour and face each other."""
        if piece.shape is PieceShape.CARD:
            return _face(piece, x, y)
        if group.look != "sign":
            return draw_piece(piece, x, y, _SIZES[group.look][2])
        place = f"translate({x:g} {y:g}) scale({1 if group.role == own else -1} 1)"
        sign = draw_piece(piece, 0, 0, _SIZES["sign"][2])
        return element("g", sign, cls=self._classes[group.role or 0], transform=place)

    def _choice(self, spot: Spot, hint: PictureHint) -> str:
        """A sign that one may choose by a click."""
        x, y, wide = spot.x, spot.y, spot.wide
        drawn = [title(spot.name), box("gb-cell", x, y, wide, wide, 10)]
        drawn.append(draw_piece(sign_look(hint, spot.name), x, y, wide / UNIT * 0.8))
        drawn.append(words("gb-axis", clipped(spot.name, 12), x, y + wide / 2 + 10))
        return element("g", *drawn, cls="gb-square gb-choice", data_square=spot.key)


def sign_look(hint: PictureHint, meaning: str) -> PieceLook:
    """The look of a sign."""
    return PieceLook(hint.look, PieceShape.OUTLINE, f"gb-{hint.colour}" if hint.colour else "", meaning)


def _height(looks: set[str], note: float = 0.0) -> float:
    """The height of a strip for groups of these looks; ``note`` is the height of a line above them."""
    lying = [(_SIZES[look][1] if look in _SIZES else _CHIPS) + _CAPTION + 8 for look in looks - _TEXTS]
    return max(lying, default=0.0) + (note if looks & _TEXTS else 0.0)


def _wide(groups: Iterable[_Group]) -> float:
    """The width of groups side by side."""
    return sum(group.width + _GAP for group in groups if group.look not in _TEXTS)


def _face(piece: PieceLook, x: float, y: float) -> str:
    """A card face up: what it is in the corners, its suit or rank in the middle."""
    suit = piece.sign[-1:] if piece.sign[-1:] in ("♥", "♦", "♠", "♣") else ""
    rank, middle = clipped(piece.sign.removesuffix(suit), 4), suit or clipped(piece.sign, 3)
    drawn = [box("gb-card", x, y, 43, 62, 6), words("gb-pips", rank, x - 12.5, y - 19, font_size=14)]
    drawn.append(words("gb-pips", rank, x + 12.5, y + 20, font_size=14))
    drawn.append(words("gb-pips", middle, x, y, font_size=28 / max(1, len(middle)) ** 0.5))
    return element("g", *drawn, cls=piece.colour)


def _chips(value: str, x: float, y: float) -> str:
    """A stack of chips and their number."""
    many = min(int(value) if value.isdecimal() else 1, _MOST_STACKED)
    left = x - 2 - 5.5 * len(value)
    stack = [oval("gb-chip", left, y + 14 - 4 * i, 14, 6) for i in range(many)]
    stack.append(oval("gb-chip gb-inner", left, y + 18 - 4 * many, 9, 3.6) if many else "")
    return "".join([*stack, words("gb-score", value, left + 20 + 5.5 * len(value) if many else x, y + 4)])
