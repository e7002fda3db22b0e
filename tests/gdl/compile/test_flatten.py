"""Flattening: no function terms are left, and the meaning is the same."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from gdl.compile.normalize import normalize
from gdl.compile.pipeline import flatten
from gdl.compile.program import Program
from gdl.compile.specialize import specialize
from gdl.syntax.parser import parse_rules, parse_term
from tests.gdl.flat import flat_model
from tests.gdl.naive import answers, first_state, model
from tests.gdl.programs import examples, games


def flat(text: str) -> Program:
    return flatten(normalize(parse_rules(text)))


@pytest.mark.slow
@examples(150)
@given(games())
def test_flat_programs_mean_what_the_rules_mean(text: str) -> None:
    rules = parse_rules(text)
    program = flatten(normalize(rules))
    assume(not any(c.builds for c in program.clauses))
    true = first_state(rules)
    for stage in (program, specialize(program)):
        assert answers(flat_model(stage, true)) == answers(model(rules, true))


def test_a_relation_is_split_by_the_shapes_of_its_arguments() -> None:
    program = flat("(role r) (init (cell 1 2 x)) (init (control r)) (init plain) (legal r noop)")
    assert sorted(p.arity for p in program.named("true", 1)) == [1, 1, 3]
    assert sorted(p.arity for p in program.named("init", 1)) == [1, 1, 3]


def test_rows_and_atoms_are_each_others_inverse() -> None:
    program = flat("(role r) (init (f (g a b) c)) (init d) (legal r (go (h 1)))")
    for text in ("(true (f (g a b) c))", "(true d)", "(does r (go (h 1)))", "(init (f (g x y) z))"):
        place = program.row(parse_term(text))
        assert place is not None
        assert program.atom(*place) is parse_term(text)


def test_an_atom_of_a_shape_that_cannot_be_has_no_row() -> None:
    program = flat("(role r) (init (f a)) (legal r noop)")
    assert program.row(parse_term("(true (g a))")) is None
    assert program.row(parse_term("(true (f (f a)))")) is None
    assert program.row(parse_term("(nothing)")) is None


def test_terms_that_grow_in_recursion_become_opaque_columns_with_builds() -> None:
    program = flat(
        "(role r) (init z) (<= (n (s ?x)) (n ?x)) (<= (n ?x) (true ?x)) (<= (legal r ?x) (n (s ?x)))"
    )
    assert any(c.builds for c in program.clauses)
    assert len(program.predicates) < 60


def test_a_distinct_of_function_terms_is_one_of_their_columns() -> None:
    program = flat(
        "(role r) (init (at 1 2)) (<= (legal r (go ?p ?q)) (true ?p) (true ?q) (distinct ?p ?q))"
        "(<= (next (at ?x ?y)) (true (at ?x ?y)) (distinct (f ?x) (f ?y)))"
    )
    pairs = {len(left) for c in program.clauses for left, _ in c.distincts}
    assert pairs == {1, 2}


@pytest.mark.parametrize("depth", [3, 6, 12])
def test_deeply_nested_facts_flatten(depth: int) -> None:
    term = "a"
    for _ in range(depth):
        term = f"(f {term} b)"
    program = flat(f"(role r) (init {term}) (<= (legal r ?x) (true ?x)) (<= (next ?x) (does r ?x))")
    place = program.row(parse_term(f"(true {term})"))
    assert place is not None
    assert str(program.atom(*place)) == f"(true {term})"
