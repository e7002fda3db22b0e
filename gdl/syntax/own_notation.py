"""Parts of rules as their author writes them: in the notation and the spelling of the text, for messages.

>>> from gdl.syntax.parser import parse_rules
>>> rules = parse_rules("role(x) legal(x,Move) :- true(can(Move))")
>>> write = OwnNotation(rules)
>>> write.term(rules.rules[1].head), write.formula(rules.rules[1].body[0]), write.sample("write (not ...)")
('legal(x,Move)', 'true(can(Move))', 'write ~...')
"""

from __future__ import annotations

import re

from gdl.rules import And, Formula, Literal, Not, Or, Rules
from gdl.syntax.to_infix import Writer
from gdl.terms import Term

_SAMPLE = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_PART = re.compile(r"[()]|[^\s()]+")


class OwnNotation:
    """Writes terms and formulas in the notation that the rules were read in. Game managers and programs are
    sent KIF, which is :meth:`gdl.rules.Rules.spell`."""

    def __init__(self, rules: Rules) -> None:
        self._spelling = rules.spelling
        self.is_infix = rules.notation == "infix"

    def name(self, name: str) -> str:
        """A relation's, function's or constant's name as the rules spell it."""
        return self._spelling.get(name, name)

    def term(self, term: Term) -> str:
        """A term, or an atom."""
        return Writer(self._spelling).term(term) if self.is_infix else term.spelled(self._spelling)

    def formula(self, formula: Formula) -> str:
        """A part of a body."""
        if self.is_infix:
            return Writer(self._spelling).formula(formula, False)
        match formula:
            case Literal(atom):
                return self.term(atom)
            case Not(inner):
                return f"(not {self.formula(inner)})"
            case And(parts):
                return f"({' '.join(['and', *map(self.formula, parts)])})"
            case Or(parts):
                return f"({' '.join(['or', *map(self.formula, parts)])})"

    def sample(self, advice: str) -> str:
        """Advice whose samples are KIF, ``write (role name)``, with samples in the notation of the rules."""
        return _SAMPLE.sub(lambda found: _to_infix(found[0]), advice) if self.is_infix else advice


def _to_infix(sample: str) -> str:
    """A sample of KIF as infix GDL. Samples may hold dots for what is left out, so no reader takes them."""
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
                return f"{rest[0]} :- {' & '.join(rest[1:])}"
            case "not":
                return f"~{' '.join(rest)}"
            case "and" | "or":
                joint = " & " if name == "and" else " | "
                return f"({joint.join(rest if len(rest) > 1 else ['a', 'b'])})"
        return f"{name}({','.join(rest)})" if rest else f"({name})"

    return read()
