"""Writes GDL as an answer set program for gringo, with one choice rule each for ``true`` and ``does``.

Symbols of the rules become ``s0``, ``s1``, ..., functors and relations ``f0``, ..., so that no spelling means
anything in ASP. The atoms that gringo calls possible are those that can hold if negations of what can change
are ignored: the same over-approximation as our reachability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gdl.compile.normalize import Clause
from gdl.terms import DOES, INIT, LEGAL, NEXT, ROLE, TRUE, Term


@dataclass(frozen=True)
class Translation:
    """An answer set program, and the way back.

    Attributes:
        text: the program.
        names: the ASP names of symbols, functors and relations -> those of the rules.
        true: ASP name and arity of ``true``.
        does: ASP name and arity of ``does``.
    """

    text: str
    names: dict[str, str]
    true: tuple[str, int]
    does: tuple[str, int]

    def term(self, symbol: Any) -> Term:
        """The GDL term of a clingo Symbol."""
        return Term(self.names[symbol.name], *map(self.term, symbol.arguments))


def translate(clauses: list[Clause]) -> Translation:
    """Translate clauses in normal form."""
    names: dict[tuple[str, bool], str] = {}

    def name(word: str, applied: bool) -> str:
        return names.setdefault((word, applied), f"{'f' if applied else 's'}{len(names)}")

    def write(term: Term) -> str:
        if term.is_variable:
            return f"V{variables.setdefault(term, len(variables))}"
        if not term.args:
            return name(term.name, False)
        return f"{name(term.name, True)}({','.join(map(write, term.args))})"

    true, does, initial, following, legal, role = (
        name(word, True) for word in (TRUE, DOES, INIT, NEXT, LEGAL, ROLE)
    )
    lines = [
        f"{{{true}(X)}} :- {initial}(X).",
        f"{{{true}(X)}} :- {following}(X).",
        f"{{{does}(R,X)}} :- {legal}(R,X), {role}(R).",
    ]
    for clause in clauses:
        variables: dict[Term, int] = {}
        body = [write(p) for p in clause.positives]
        body += [f"not {write(n)}" for n in clause.negatives]
        body += [f"{write(left)}!={write(right)}" for left, right in clause.distincts]
        lines.append(f"{write(clause.head)} :- {', '.join(body)}." if body else f"{write(clause.head)}.")
    back = {short: word for (word, _), short in names.items()}
    return Translation("\n".join(lines), back, (true, 1), (does, 2))
