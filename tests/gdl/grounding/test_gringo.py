"""Gringo (clingo) as oracle: the same base propositions and moves can be reached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.gringo.compare import translate
from gdl.compile.normalize import normalize
from gdl.grounding.pipeline import ground
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from gdl.terms import DOES, Term
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
