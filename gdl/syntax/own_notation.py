"""Parts of rules as their author writes them: in the notation and the spelling of the text, for messages.

>>> from gdl.syntax.parser import parse_rules
>>> rules = parse_rules("role(x) legal(x,Move) :- true(can(Move))")
>>> write = OwnNotation(rules)
>>> write.term(rules.rules[1].head), write.formula(rules.rules[1].body[0]), write.sample("write (not ...)")
('legal(x,Move)', 'true(can(Move))', 'write ~...')
"""

from __future__ import annotations

import re

from gdl.rules import Formula, Rules
from gdl.syntax.kif import formula_to_kif
from gdl.syntax.writer import SIGNS, Signs, Writer
from gdl.terms import Term

_SAMPLE = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_PART = re.compile(r"[()]|[^\s()]+")


class OwnNotation:
    """Writes terms and formulas in the notation that the rules were read in. Game managers and programs are
    sent KIF, which is :meth:`gdl.rules.Rules.spell`."""

    def __init__(self, rules: Rules) -> None:
        self._spelling = rules.spelling
        self._signs = SIGNS.get(rules.notation)

    def name(self, name: str) -> str:
        """A relation's, function's or constant's name as the rules spell it."""
        return self._spelling.get(name, name)

    def term(self, term: Term) -> str:
        """A term, or an atom."""
        if self._signs is None:
            return term.spelled(self._spelling)
        return Writer(self._spelling, self._signs).term(term)

    def formula(self, formula: Formula) -> str:
        """A part of a body."""
        if self._signs is None:
            return formula_to_kif(formula, self._spelling)
        return Writer(self._spelling, self._signs).formula(formula, False)

    def joined(self, connective: str, parts: list[str]) -> str:
        """Formulas, as they are written, below ``not``, ``and`` or ``or``."""
        if self._signs is None:
            return f"({' '.join([connective, *parts])})"
        return _joined(connective, parts, self._signs)

    def sample(self, advice: str) -> str:
        """Advice whose samples are KIF, ``write (role name)``, with samples in the notation of the rules."""
        signs = self._signs
        return advice if signs is None else _SAMPLE.sub(lambda found: _with_signs(found[0], signs), advice)


def _with_signs(sample: str, signs: Signs) -> str:
    """A sample of KIF in another notation. Samples may hold dots for what is left out."""
    parts: list[str] = _PART.findall(sample)
    place = 0

    def read() -> str:
        nonlocal place
        word = parts[place]
        place += 1
        if word != "(":
            return word[1:2].upper() + word[2:] if word[0] == "?" else word
        inner: list[str] = []
        while parts[place] != ")":
            inner.append(read())
        place += 1
        name, rest = inner[0], inner[1:]
        match name:
            case "<=":
                return f"{rest[0]} :- {f'{signs.conjunction} '.join(rest[1:])}{signs.stop}"
            case "not":
                return _joined(name, rest, signs)
            case "and" | "or":
                return _joined(name, rest if len(rest) > 1 else ["a", "b"], signs)
        return f"{name}({','.join(rest)})" if rest else f"({name})"

    return read()


def _joined(connective: str, parts: list[str], signs: Signs) -> str:
    if connective == "not":
        return f"{signs.negation}{' '.join(parts)}"
    sign = f"{signs.conjunction} " if connective == "and" else signs.disjunction
    return f"({sign.join(parts)})"
