"""Rules as infix GDL, the notation that :mod:`gdl.syntax.infix` reads.

>>> from gdl.syntax.parser import parse_rules
>>> print(to_infix(parse_rules("(role x) (<= (next ?p) (true ?p) (not (or halt (does x ?Move))))")), end="")
role(x)
next(P) :-
  true(P) &
  ~(halt | does(x,Move))

What KIF can say and infix cannot, a disjunction of one formula or none, is written as ``or(a)`` and ``or()``.
"""

from __future__ import annotations

import re

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules
from gdl.terms import Term

_BARE = re.compile(r"[a-z0-9][A-Za-z0-9_]*")


def to_infix(rules: Rules) -> str:
    """The rules, a sentence after the other; each literal of a body on a line of its own."""
    return "".join(f"{sentence_to_infix(rule, rules.spelling)}\n" for rule in rules)


def sentence_to_infix(rule: Rule, spelling: dict[str, str]) -> str:
    """One rule or fact, without a line end; names are spelled as the dictionary says."""
    writer = Writer(spelling)
    head = writer.term(rule.head)
    if not rule.body:
        return head
    if len(rule.body) == 1:
        # A conjunction that stands alone keeps its parentheses: without them it would be several literals.
        return f"{head} :- {writer.formula(rule.body[0], isinstance(rule.body[0], And))}"
    return f"{head} :-\n  " + " &\n  ".join(writer.formula(part, True) for part in rule.body)


class Writer:
    """Writes the parts of one rule; its variables get names that infix can spell, each another one."""

    def __init__(self, spelling: dict[str, str]) -> None:
        self._spelling = spelling
        self._variables: dict[str, str] = {}
        self._taken: set[str] = set()

    def term(self, term: Term) -> str:
        if term.is_variable:
            return self._variable(term.name)
        name = self._name(term.name)
        return f"{name}({','.join(map(self.term, term.args))})" if term.args else name

    def formula(self, formula: Formula, inside: bool) -> str:
        """A formula; ``inside`` one that would bind closer, disjunctions and conjunctions in parentheses."""
        match formula:
            case Literal(atom):
                return self.term(atom)
            case Not(inner):
                return f"~{self.formula(inner, True)}"
            case And(parts) | Or(parts) if len(parts) < 2:
                return self._call(formula)
            case And(parts):
                text = " & ".join(self.formula(part, True) for part in parts)
            case Or(parts):
                text = " | ".join(self.formula(part, True) for part in parts)
        return f"({text})" if inside else text

    def _call(self, formula: Formula) -> str:
        """A formula as a term, as KIF has it."""
        match formula:
            case Literal(atom):
                return self.term(atom)
            case Not(inner):
                return f"not({self._call(inner)})"
            case And(parts):
                return f"and({','.join(map(self._call, parts))})"
            case Or(parts):
                return f"or({','.join(map(self._call, parts))})"

    def _name(self, name: str) -> str:
        spelled = self._spelling.get(name, name)
        for candidate in (spelled, spelled[:1].lower() + spelled[1:], name):
            if _BARE.fullmatch(candidate):
                return candidate
        return "'" + re.sub(r"(['\\])", r"\\\1", spelled) + "'"

    def _variable(self, name: str) -> str:
        known = self._variables.get(name)
        if known is None:
            bare = re.sub(r"[^A-Za-z0-9_]", "_", self._spelling.get(name, name)[1:])
            bare = bare[:1].upper() + bare[1:] if bare[:1].isalpha() else f"V{bare}"
            known, number = bare, 1
            while known.lower() in self._taken:
                number += 1
                known = f"{bare}_{number}"
            self._taken.add(known.lower())
            self._variables[name] = known
        return known
