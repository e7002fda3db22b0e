"""Scrambling: the same game under other names, as competitions send it; and the cipher of such a match, which
has the words of the game on one side and the made-up ones on the other.

Relations, functions, constants, roles and variables get made-up, pronounceable names, each the same wherever
it occurs. Keywords, connectives, the role ``random`` and (by the flow of values) numbers that can become goal
values keep theirs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from gdl.compile.stratify import flow_of
from gdl.rules import Rule, Rules, atoms_of, map_atoms
from gdl.terms import ARITIES, CONNECTIVES, GOAL, RANDOM, ROLE, Term

KEYWORDS = ARITIES.keys() | CONNECTIVES
"""Names that are never renamed."""

_CONSONANTS = "bdfghjklmnprstvwz"
_VOWELS = "aeiou"


def scramble(rules: Rules, seed: int = 0) -> tuple[Rules, dict[str, str]]:
    """The same game under other names; the same rules and seed give the same names.

    Returns the renamed rules, in the same order, and old name -> new name, both in lower case, for every name
    that changed (variables with their ``?``). No new name is an old one, so the inverse of the mapping leads
    back (see :func:`rename`).
    """
    names = dict.fromkeys(_names(rules))
    unchanged = kept_names(rules)
    rng = random.Random(seed)
    used = set(names) | KEYWORDS
    mapping: dict[str, str] = {}
    for name in names:
        if name not in unchanged:
            mapping[name] = _fresh(rng, "?" if name.startswith("?") else "", used)
    return rename(rules, mapping), mapping


def kept_names(rules: Rules) -> frozenset[str]:
    """The names that have a fixed meaning: keywords, numbers that can become goal values, and ``random`` if
    it is a role."""
    chance = any(rule.head.signature == (ROLE, 1) and rule.head.args[0] is RANDOM for rule in rules)
    return frozenset(KEYWORDS | goal_values(rules) | ({RANDOM.name} if chance else set()))


def rename(rules: Rules, mapping: Mapping[str, str]) -> Rules:
    """The rules with every name replaced that the mapping knows (lower case -> any case)."""

    @cache
    def term(old: Term) -> Term:
        return Term(mapping.get(old.name, old.name), *map(term, old.args))

    renamed = tuple(
        [Rule(term(r.head), tuple([map_atoms(part, term) for part in r.body]), r.place) for r in rules]
    )
    spellings = [mapping.get(name, spelled) for name, spelled in rules.spelling.items()]
    return Rules(renamed, {spelled.lower(): spelled for spelled in spellings}, rules.name)


def goal_values(rules: Rules) -> frozenset[str]:
    """The numbers that the second argument of ``goal`` may come to be, as names. An unsafe rule can give a
    goal any value: then all of 0 to 100 that the rules mention."""
    flow = flow_of(rules)
    positions, anything = flow.reaching((GOAL, 2, 1))
    names: Iterable[str] = (c.name for p in positions for c in flow.constants.get(p, ()))
    if anything:
        names = _names(rules)
    return frozenset(name for name in names if name.isascii() and name.isdecimal())


def _names(rules: Iterable[Rule]) -> Iterator[str]:
    """Every name in the rules, variables included, in the order of the text."""
    for rule in rules:
        for atom, _ in atoms_of(rule):
            todo = [atom]
            while todo:
                term = todo.pop()
                yield term.name
                todo.extend(reversed(term.args))


def _fresh(rng: random.Random, prefix: str, used: set[str]) -> str:
    """A pronounceable name that is not used yet; longer ones where the short ones run out."""
    syllables = 2
    while True:
        for _ in range(20):
            name = prefix + "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(syllables))
            if name not in used:
                used.add(name)
                return name
        syllables += 1


_WORD = re.compile(r"[^\s();]+")


class Cipher:
    """Replaces words of KIF text, one by one, whatever their case. ``mapping`` has the made-up words by those
    of the game, in lower case; the empty one changes nothing."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self._there = dict(mapping)
        self._back = {new: old for old, new in mapping.items()}

    def scramble(self, text: str) -> str:
        """The text in the words that players see."""
        return _replaced(text, self._there)

    def unscramble(self, text: str) -> str:
        """The text in the words of the game."""
        return _replaced(text, self._back)


def cipher_for(rules: Rules, seed: int) -> Cipher:
    """The cipher for a game; the same seed gives the same words."""
    return Cipher(scramble(rules, seed)[1])


def _replaced(text: str, mapping: Mapping[str, str]) -> str:
    return _WORD.sub(lambda word: mapping.get(word.group().lower(), word.group()), text)
