"""What lies on a table: hands of cards and dice, chips, scores, signs, and notes in people's words.

Hints of the rules (:mod:`gdl.hints`) say which facts these are. A fact that names a role lies at that role's
seat, others in the middle. What a role does not know of another's hand lies there face down, as many cards as
there are in each state that it considers possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gdl.hints import FACTS, SIGNS, PictureHint
from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import RANDOM, Term
from ggp.boards.looks import PieceLook, PieceShape, fact_look, hint_for, role_classes
from ggp.boards.scene import digit_chains
from ggp.boards.statics import listed_propositions

_MOST_PIECES = 12
_MOST_CHIPS = 9999
_UNKNOWN = {
    "card": PieceLook("", PieceShape.BACK, "gb-blue", "face down"),
    "die": PieceLook("?", PieceShape.DIE, "gb-black", "face down"),
}


@dataclass(frozen=True, slots=True)
class Onlooker:
    """For whom a state is drawn.

    Attributes:
        role: number of the role that sits below; None for the first.
        likely: the likelihoods of propositions that this role does not know; None if all are drawn.
        moves: the moves that were just made, as far as known, role by role.
        earlier: the moves before, if a look shows them.
        over: whether the match is over, so that nobody is to move.
    """

    role: int | None = None
    likely: Mapping[Term, float] | None = None
    moves: Sequence[Term | None] = ()
    earlier: Sequence[Term] = ()
    over: bool = False


@dataclass(slots=True)
class TableGroup:
    """Things of one kind that lie together.

    Attributes:
        role: number of the role at whose seat they lie; None in the middle.
        look: the look in the hint, or ``sign``.
        words: the text of a note, or a name for the things.
        pieces: cards, dice or signs.
        value: of chips or a score.
        fresh: whether one of them is new.
    """

    role: int | None
    look: str
    words: str
    pieces: list[PieceLook]
    value: str = ""
    fresh: bool = False

    def spoken(self) -> str:
        """The group in words."""
        return " ".join(filter(None, [self.words, self.value, ", ".join(one.meaning for one in self.pieces)]))


def signs_of(rules: Rules) -> dict[tuple[str, ...], tuple[str, PictureHint]]:
    """The hints for signs by the words of the move; each with its key in drawings."""
    hints = [hint for hint in rules.hints if hint.look in SIGNS and len(hint.words) == 1 and not hint.every]
    return {hint.words: (f"sign,{i}", hint) for i, hint in enumerate(hints)}


class TableFinder:
    """Finds what lies on the table in states of one game.

    Attributes:
        used: whether hints name anything for the table.
        seats: the roles with a seat.
        middle, held: the looks that may lie in the middle, and at seats, as far as the rules list them.
    """

    def __init__(self, rules: Rules, roles: tuple[Term, ...]) -> None:
        self._rules, self._own = rules, OwnNotation(rules)
        self._roles = {role: number for number, role in enumerate(roles)}
        self.signs = signs_of(rules)
        self.used = bool(self.signs) or any(hint.look in FACTS for hint in rules.hints)
        self.classes = role_classes(roles)
        digits = {name for chain in digit_chains(rules) for name in chain}
        possible = listed_propositions(rules) if self.used else set[Term]()
        listed = self.groups(term for term in possible if term.name not in digits)
        self.middle = {group.look for group in listed if group.role is None}
        self.held = {group.look for group in listed if group.role is not None} - {"sign"}
        self.seats: list[int] = []
        if self.held or self.signs:
            self.seats = [number for role, number in self._roles.items() if role is not RANDOM]

    def shows(self, fact: Term) -> bool:
        """Whether a fact lies on the table, or is hidden by a hint."""
        hint = self._hint(fact)
        return hint is not None and (hint.look in FACTS or hint.look in SIGNS or hint.look == "hidden")

    def note(self, fact: Term) -> str:
        """The words of a note; empty for other facts."""
        hint = self._hint(fact)
        if hint is None or hint.look != "note":
            return ""
        who = [self._own.term(arg) for arg in fact.args if arg in self._roles]
        return ": ".join([*who, self._words(fact, hint)])

    def name(self, fact: Term) -> str:
        """What people call the facts of a relation."""
        hint = self._hint(fact)
        return (
            hint.name if hint is not None and hint.look in FACTS and hint.name else self._own.name(fact.name)
        )

    def groups(
        self, facts: Iterable[Term], before: Iterable[Term] | None = None, by: Onlooker = Onlooker()
    ) -> list[TableGroup]:
        """What lies on the table, given the facts off the board; what was not there ``before`` is new."""
        found: dict[object, TableGroup] = {}
        was = None if before is None else set(before)
        hinted = [(hint, fact) for fact in sorted(facts) if (hint := self._hint(fact)) and self.shows(fact)]
        for hint, fact in sorted(hinted, key=lambda pair: self._rules.hints.index(pair[0])):
            if hint.look != "hidden":
                self._add(found, fact, hint, was is not None and fact not in was)
        dealt: dict[tuple[int | None, str], float] = {}
        hints: dict[str, PictureHint] = {}
        for fact, share in (by.likely or {}).items():
            hint = self._hint(fact)
            if hint is not None and hint.look in _UNKNOWN:
                hints[fact.name] = hint
                key = self._role(fact), fact.name
                dealt[key] = dealt.get(key, 0.0) + share
        for (role, name), number in dealt.items():
            group = found.setdefault((role, name), TableGroup(role, hints[name].look, hints[name].name, []))
            group.pieces += [_UNKNOWN[hints[name].look]] * min(round(number), _MOST_PIECES)
        for number, move in enumerate(by.moves):
            hint = None if move is None else hint_for((Term(move.name), *move.args), self._rules)
            if move is not None and hint is not None and hint.look in (*SIGNS, "note"):
                if hint.look == "note":
                    found[number, move] = TableGroup(number, "note", self._words(move, hint), [], fresh=True)
                elif not any(group.look == "sign" and group.role == number for group in found.values()):
                    found[number, move] = TableGroup(
                        number, "sign", "", [sign_look(hint, self._own.term(move))]
                    )
        return [group for group in found.values() if group.pieces or group.value or group.look == "note"]

    def _add(self, found: dict[object, TableGroup], fact: Term, hint: PictureHint, fresh: bool) -> None:
        role, look = self._role(fact), hint.look
        last = self._own.term(fact.args[-1]) if fact.args else ""
        if look == "note":
            found[fact] = TableGroup(role, look, self._words(fact, hint), [], fresh=fresh)
        elif look in SIGNS:
            found[fact] = TableGroup(role, "sign", "", [sign_look(hint, last)], fresh=fresh)
        elif look in ("chips", "score"):
            words = hint.name or _plain(self._own.name(fact.name))
            found[fact] = TableGroup(role, look, words, [], (hint.sign or last)[:6], fresh)
        else:
            words = hint.name or ("" if role is not None else _plain(self._own.name(fact.name)))
            group = found.setdefault((role, fact.name), TableGroup(role, look, words, []))
            group.fresh |= fresh
            group.pieces += self._pieces(fact, hint)
            del group.pieces[_MOST_PIECES:]

    def _pieces(self, fact: Term, hint: PictureHint) -> list[PieceLook]:
        """The cards or dice of a fact. Dice are a number of dice and what they show."""
        if hint.look != "dice":
            piece = fact_look(fact, self._rules)
            words = " ".join(self._own.term(arg) for arg in fact.args if arg not in self._roles)
            return [] if piece is None else [replace(piece, meaning=words)]
        *_, many, face = ("1", *(self._own.term(arg) for arg in fact.args))
        die = PieceLook(face, PieceShape.DIE, "gb-black", face)
        return [die] * (min(int(many), _MOST_PIECES) if many.isdecimal() and len(many) < 4 else 1)

    def _hint(self, fact: Term) -> PictureHint | None:
        """The hint for a fact, or for the sign that is its last argument."""
        if not self.used and not self._rules.hints:
            return None
        hint = hint_for((Term(fact.name), *fact.args), self._rules)
        if hint is None and fact.args and self._role(fact) is not None:
            _, hint = self.signs.get((fact.args[-1].name,), ("", None))
        return hint

    def _role(self, fact: Term) -> int | None:
        return next((self._roles[arg] for arg in fact.args if arg in self._roles), None)

    def _words(self, fact: Term, hint: PictureHint) -> str:
        """The name in a hint, with the arguments that the hint leaves open in place of its star."""
        rest = fact.args[len(hint.words) - 1 :] if hint.every else ()
        text = " ".join(self._own.term(arg) for arg in rest if arg not in self._roles)
        name = hint.name or _plain(self._own.name(fact.name))
        return name.replace("*", text) if "*" in name or hint.name else f"{name} {text}".strip()


def sign_look(hint: PictureHint, meaning: str) -> PieceLook:
    """The look of a sign."""
    return PieceLook(hint.look, PieceShape.OUTLINE, f"gb-{hint.colour}" if hint.colour else "", meaning)


def _plain(name: str) -> str:
    return name.replace("_", " ")
