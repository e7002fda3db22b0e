"""Gringo (clingo) as oracle: the same base propositions and moves can be reached.

Gringo gets an answer set program with one choice rule each for ``true`` and ``does``, and no solver runs.
Symbols of the rules become ``s0``, ``s1``, ..., functors and relations ``f0``, ..., so that no spelling means
anything in ASP. The atoms that gringo calls possible are those that can hold if negations of changing facts
are ignored: the same over-approximation as our reachability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gdl.compile.normalize import Clause, normalize
from gdl.grounding.pipeline import ground
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from gdl.terms import DOES, INIT, LEGAL, NEXT, ROLE, TRUE, Term
from tests.places import GAMES

clingo = pytest.importorskip("clingo", reason="gringo is the oracle: pip install clingo")


LARGE = {"amazons", "chess", "checkers", "sudoku"}
"""Games that take gringo seconds, or all memory."""

CORPUS_GAMES = [
    "aipsrovers01", "blocker", "blocks", "bomberman2p", "breakthrough", "buttons", "chomp",
    "circlesolitaire", "coins", "connectFour", "eightPuzzle", "hanoi",
    "knightThrough", "lightsOut", "nim4", "pancakes6", "peg", "pentago", "reversi", "speedChess",
    "ticTacToe", "tron_10x10",
]  # fmt: skip


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


class Heads:
    """Collects the atoms that rules can derive. (Gringo also lists atoms that it met in
    negations only, before it knew that nothing derives them.)"""

    def __init__(self) -> None:
        self.atoms: set[int] = set()

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        self.atoms.update(head)


def gringo(rules: Rules) -> tuple[set[Term], set[Term]]:
    """The base propositions and the ``does`` atoms that gringo holds for possible."""
    translation = translate(normalize(rules))
    control = clingo.Control(["--warn=none"])
    heads = Heads()
    control.register_observer(heads)
    control.add("base", [], translation.text)
    control.ground([("base", [])])
    true, does = (
        {
            translation.term(a.symbol)
            for a in control.symbolic_atoms.by_signature(*s)
            if a.literal in heads.atoms
        }
        for s in (translation.true, translation.does)
    )
    return {t.args[0] for t in true}, does


def ours(rules: Rules) -> tuple[set[Term], set[Term]]:
    """The same of our grounder."""
    grounded = ground(rules)
    moves = {
        Term(DOES, role, move)
        for role, own in zip(grounded.roles, grounded.moves, strict=True)
        for move in own
    }
    return set(grounded.bases), moves


def load(path: Path) -> Rules:
    return parse_rules(path.read_text(encoding="utf-8", errors="replace"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [p for p in sorted(GAMES.glob("*.kif")) if p.stem not in LARGE], ids=lambda p: p.stem
)
def test_our_games_reach_what_gringo_reaches(path: Path) -> None:
    rules = load(path)
    assert ours(rules) == gringo(rules)


@pytest.mark.slow
@pytest.mark.parametrize("game", CORPUS_GAMES)
def test_public_games_reach_what_gringo_reaches(corpus: Path, game: str) -> None:
    rules = load(corpus / "games" / f"{game}.kif")
    assert ours(rules) == gringo(rules)
