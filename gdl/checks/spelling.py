"""Misspelt words: names close to a keyword, or to a relation that the rules define."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from gdl.checks.diagnostic import Diagnostic, warning
from gdl.checks.foreign import is_foreign
from gdl.checks.walk import Signature, body_literals
from gdl.errors import Place
from gdl.rules import Rules
from gdl.terms import ARITIES, BASE, CONNECTIVES, GOAL, INIT, INPUT, LEGAL, NEXT, ROLE, TERMINAL

MISSPELT_KEYWORD = warning("misspelt-keyword", "write the keyword")

_HEADS = (ROLE, INIT, NEXT, LEGAL, GOAL, TERMINAL, BASE, INPUT)
_LIKENESS = 0.75


def check_spelling(rules: Rules) -> Iterator[Diagnostic]:
    """Heads that no rule asks for, and relations that none defines, whose names are nearly keywords."""
    defined: dict[Signature, Place] = {}
    read: dict[Signature, Place] = {}
    for rule in rules:
        defined.setdefault(rule.head.signature, rule.place)
        for literal, _ in body_literals(rule):
            read.setdefault(literal.atom.signature, literal.place)
    for (name, arity), place in defined.items():
        if name not in ARITIES and (name, arity) not in read:
            meant = close_to(name, (word for word in _HEADS if ARITIES[word] == arity))
            # Beside rules of the keyword itself a name must be very close, and say what they say.
            if meant and (
                (meant, arity) not in defined
                or (_one_slip(name, meant) and _says_the_same(rules, (name, arity), meant))
            ):
                yield _finding(place, name, meant)
    for (name, arity), place in read.items():
        if name not in ARITIES and (name, arity) not in defined and not is_foreign(name):
            words = [word for word in ARITIES if ARITIES[word] == arity] + list(CONNECTIVES)
            if meant := close_to(name, words):
                yield _finding(place, name, meant)


def _finding(place: Place, name: str, meant: str) -> Diagnostic:
    return MISSPELT_KEYWORD.at(place, f"{name!r} is no keyword: did you mean {meant!r}?")


def _says_the_same(rules: Rules, misspelt: Signature, meant: str) -> bool:
    """Whether heads of the two have an argument in common: a proposition, a role, a move."""

    def subjects(signature: Signature) -> set[Signature]:
        heads = (rule.head for rule in rules if rule.head.signature == signature)
        return {part.signature for head in heads for part in head.args if not part.is_variable}

    return not misspelt[1] or not subjects(misspelt).isdisjoint(subjects((meant, misspelt[1])))


def close_to(name: str, words: Iterable[str]) -> str:
    """The word that a name is probably meant to be; empty where none is close."""
    candidates = [word for word in words if word != name]
    same = [word for word in candidates if _one_slip(name, word)]
    close = same or difflib.get_close_matches(name, candidates, 1, _LIKENESS)
    return close[0] if close else ""


def _one_slip(name: str, word: str) -> bool:
    """Whether one letter too many, too few or wrong, or two exchanged, makes the one from the other."""
    if min(len(name), len(word)) < 2 or abs(len(name) - len(word)) > 1:
        return False
    first = next((i for i, (a, b) in enumerate(zip(name, word, strict=False)) if a != b), None)
    if first is None:
        return len(name) != len(word)
    left, right = name[first:], word[first:]
    return (
        left[1:] == right[1:]
        or left[1:] == right
        or left == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:])
    )
