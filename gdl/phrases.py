"""Words for moves and ends of one game, as hints of its rules (:func:`gdl.hints.read_word_hints`) give them.

A hint is about a move, ``(bid ?n ?face)`` or ``(does ?r (move bar ?d))``, or about conditions on the state.
In its text ``?n`` stands for what the rules say there, ``#n`` for a number in words up to ten. ``+s`` puts
the word before it in the plural, unless the number before that word is 1. ``?P`` makes a single letter a
capital.

>>> fill("bid #n #face+s", {"n": "2", "face": "5"}), fill("bid #n #face+s", {"n": "1", "face": "6"})
('bid two fives', 'bid one six')
>>> fill("take #n stick+s from ?x?y", {"n": "12", "x": "a", "y": "3"})
'take 12 sticks from a3'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from gdl.errors import GdlError
from gdl.hints import WordHint
from gdl.rules import Formula, Literal, Not, Rules, literals
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import BASE, DISTINCT, DOES, INIT, INPUT, LEGAL, NEXT, ROLE, TRUE, Term

MOVER = Term("?the mover")
"""The variable for the role of a move whose hint names no role."""
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_LONGEST = 80
_VARIABLE = re.compile(r"[?#](?=\w)")


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of one hint.

    Attributes:
        role, move: the move that they are for, and who makes it; None for the reason of an end.
        conditions: what must hold; the conditions for a move begin with its being legal. Empty if a move
            needs no more than to be this one.
        text: the words, to be filled in by :func:`fill`.
    """

    role: Term | None
    move: Term | None
    conditions: tuple[Formula, ...]
    text: str

    def values(
        self, role: Term, moves: Iterable[Term], answers: Iterable[dict[Term, Term]]
    ) -> dict[Term, dict[Term, Term]]:
        """The values of the variables for each of a role's moves that this phrase is for.

        Args:
            answers: values for which the conditions hold.
        """
        assert self.role is not None and self.move is not None
        found: dict[Term, dict[Term, Term]] = {}
        if self.conditions:
            for answer in answers:
                if self.role.substitute(answer) is role:
                    found.setdefault(self.move.substitute(answer), answer)
            return found
        for move in moves:
            values: dict[Term, Term] = {}
            if _matched(self.role, role, values) and _matched(self.move, move, values):
                found[move] = values
        return found


def phrase_of(hint: WordHint, rules: Rules) -> Phrase:
    """The phrase of a hint that is no notation; for a notation the conditions that it adds. Raises GdlError
    if these rules give the hint no meaning."""
    role: Term | None = None
    move: Term | None = None
    conditions: tuple[Formula, ...] = ()
    if hint.kind == "say":
        move = parse_term(hint.what)
        role, move = move.args if move.signature == (DOES, 2) else (MOVER, move)
        moves = {h.args[1].signature for h in _heads(rules, LEGAL, DOES, INPUT) if len(h.args) == 2}
        if move.signature not in moves and not any(name.startswith("?") for name, _ in moves):
            raise GdlError(f"these rules have no move {move.name!r} with {len(move.args)} arguments")
        if hint.where:
            legal = Literal(Term(LEGAL, role, move))
            conditions = (legal, *_conditions(hint.where, rules))
    elif hint.what == "draughts" and hint.where:
        if not any(head == Term(ROLE, Term(hint.where)) for head in _heads(rules, ROLE)):
            raise GdlError(f"these rules have no role {hint.where[:30]!r}")
    elif hint.kind == "ends" or hint.where:
        both = (hint.what, hint.where) if hint.kind == "ends" else (hint.where,)
        conditions = _conditions(" ".join(both), rules)
    asked = [pair for part in conditions for pair in literals(part)]
    bound = {
        v for one, positive in asked if positive and one.atom.name != DISTINCT for v in one.atom.variables()
    }
    if unsafe := [v for literal, _ in asked for v in literal.atom.variables() if v not in bound]:
        raise GdlError(f"{unsafe[0]} may be anything here", remedy="name it in a condition without 'not' too")
    known = {*bound, *(v for one in (role, move) if one for v in one.variables())}
    if hint.text and (found := _VARIABLE.search(_with({v.name[1:]: "" for v in known}, hint.text))):
        raise GdlError(f"nothing says what {found.string[found.start() :][:30]!r} is")
    return Phrase(role, move, conditions, hint.text)


def phrases(rules: Rules, kind: str) -> list[Phrase]:
    """The phrases of the hints of a kind, in order; those without a meaning are left out."""
    found: list[Phrase] = []
    for hint in rules.word_hints:
        if hint.kind == kind:
            with suppress(GdlError):  # ``ggp validate`` notes it.
                found.append(phrase_of(hint, rules))
    return found


def said(phrase: Phrase, values: Mapping[Term, Term], rules: Rules) -> str:
    """The words of a phrase with these values, in the spelling of the rules; empty if they are too many."""
    plain = str.maketrans("_()", "   ")
    spelled = {one.name[1:]: rules.spell(term).translate(plain).strip() for one, term in values.items()}
    return fill(phrase.text, spelled)


def _heads(rules: Rules, *names: str) -> Iterable[Term]:
    return (rule.head for rule in rules if rule.head.name in names)


def _conditions(text: str, rules: Rules) -> tuple[Formula, ...]:
    """Conditions in KIF; ``true`` may be left out."""
    whole = parse_rules(f"(<= hint {text})", notation="kif")
    defined = {rule.head.signature for rule in rules} - {(NEXT, 1), (INIT, 1)}
    facts = {h.args[0].signature for h in _heads(rules, INIT, NEXT, BASE) if len(h.args) == 1}
    found: list[Formula] = []
    for part in whole.rules[0].body if len(whole) == 1 else ():
        inner = part.formula if isinstance(part, Not) else part
        if not isinstance(inner, Literal):
            raise GdlError("a condition is a relation, or 'not' and a relation")
        atom = inner.atom.args[0] if inner.atom.signature == (TRUE, 1) else inner.atom
        if atom.signature in facts:
            atom = Term(TRUE, atom)
        elif atom.signature not in defined | {(DISTINCT, 2)}:
            raise GdlError(f"these rules have no {atom.name!r} with {len(atom.args)} arguments")
        found.append(Not(Literal(atom)) if isinstance(part, Not) else Literal(atom))
    if not found:
        raise GdlError("this hint has no condition")
    return tuple(found)


def _matched(pattern: Term, term: Term, values: dict[Term, Term]) -> bool:
    """Whether a term fits a pattern; adds the values of the pattern's variables to ``values``."""
    if pattern.is_variable:
        return values.setdefault(pattern, term) == term
    if pattern.signature != term.signature:
        return False
    return all(_matched(one, other, values) for one, other in zip(pattern.args, term.args, strict=True))


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of its variables, at most 80 characters; empty if it is longer."""
    said = _with(values, text)
    return said if len(said) <= _LONGEST else ""


def _with(values: Mapping[str, str], text: str) -> str:
    names = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    parts = re.compile(rf"([?#])({names})|(?<!\s)\+s(?!\w)", re.IGNORECASE) if names else None
    said, at, numbers, after = "", 0, [""], 0
    for found in parts.finditer(text) if parts else ():
        said += text[at : found.start()]
        if not found[1]:
            # The word itself may be a number: two fives.
            count = numbers[-2 if after == found.start() and len(numbers) > 1 else -1]
            said += "" if count == "1" else "es" if said.endswith(("s", "x", "z", "ch", "sh")) else "s"
        elif (value := values.get(found[2].lower())) is None:  # ſ is an s in capitals
            said += found[0]
        else:
            value = value.upper() if found[2].isupper() and len(value) == 1 else value
            small = found[1] == "#" and value.isdecimal() and len(value) < 3 and int(value) < len(_NUMBERS)
            said += _NUMBERS[int(value)] if small else value
            if value.isdecimal():
                numbers.append(value)
                after = found.end()
        at = found.end()
    return said + text[at:]
