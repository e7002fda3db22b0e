"""Specialization: predicates in negative cycles are split by the constants of a column."""

from __future__ import annotations

import pytest

from gdl.compile.normalize import normalize
from gdl.compile.pipeline import flatten
from gdl.compile.specialize import specialize
from gdl.compile.stratify import stratify
from gdl.errors import RulesError
from gdl.syntax.parser import parse_rules
from gdl.terms import Term
from tests.gdl.flat import flat_model

GAME = "(role a) (role b) (init p) (legal a n) (legal b n) (<= win (true p)) "


def test_goals_by_negated_goals_are_stratified_and_right() -> None:
    text = GAME + (
        "(<= (goal a 100) win) (<= (goal ?r 50) (role ?r) (not (goal ?r 100)) (not win))"
        "(<= (goal ?r 0) (role ?r) (not (goal ?r 100)) (not (goal ?r 50)))"
    )
    flat = flatten(normalize(parse_rules(text)))
    with pytest.raises(RulesError):
        stratify(flat)
    program = specialize(flat)
    stratify(program)
    goals = {str(a) for a in flat_model(program, {Term("true", Term("p"))}) if a.name == "goal"}
    assert goals == {"(goal a 100)", "(goal b 0)"}


def test_a_variable_where_the_constant_was_ranges_over_all_of_them() -> None:
    text = GAME + (
        "(<= (goal a 100) win) (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))"
        "(<= (legal a (say ?r ?v)) (goal ?r ?v))"
    )
    program = specialize(flatten(normalize(parse_rules(text))))
    said = {str(a.args[1]) for a in flat_model(program, {Term("true", Term("p"))}) if a.name == "legal"}
    assert said == {"n", "(say a 100)", "(say b 0)"}


def test_programs_without_negative_cycles_stay_as_they_are() -> None:
    program = flatten(normalize(parse_rules(GAME + "(<= (goal ?r 100) (role ?r) win)")))
    assert specialize(program) is program


def test_a_real_negative_cycle_stays_one() -> None:
    text = GAME + "(<= (q ?x) (role ?x) (not (q ?x))) (<= terminal (q a))"
    with pytest.raises(RulesError):
        stratify(specialize(flatten(normalize(parse_rules(text)))))
