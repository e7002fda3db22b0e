"""The front half as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.compile.pipeline import compile_rules
from gdl.compile.stratify import Dependence
from gdl.errors import RulesError
from gdl.syntax.parser import parse_rules


@pytest.mark.parametrize("text", ["", "(init a)", "(<= (role ?x) (person ?x))"])
def test_rules_without_a_role_are_refused(text: str) -> None:
    with pytest.raises(RulesError, match="no role"):
        compile_rules(parse_rules(text + "(next a)"))


def test_roles_may_be_derived() -> None:
    program, strata = compile_rules(parse_rules("(person me) (<= (role ?x) (person ?x)) (init a)"))
    assert {p.name for p in program.predicates} >= {"role", "person", "init", "true"}
    assert all(s.dependence is not Dependence.MOVE for s in strata)


@pytest.mark.slow
def test_every_public_game_compiles(corpus_games: list[Path]) -> None:
    for path in corpus_games:
        program, strata = compile_rules(parse_rules(path.read_text(), path.name))
        assert sum(len(s.predicates) for s in strata) == len(program.predicates)
        assert sum(len(s.clauses) for s in strata) == len(program.clauses)
