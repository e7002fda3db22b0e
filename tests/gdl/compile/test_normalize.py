"""Normal form: the same meaning in clauses that are safe, and without what nothing asks for."""

from __future__ import annotations

import pytest
from hypothesis import given

from gdl.compile.normalize import Clause, normalize
from gdl.errors import RulesError
from gdl.rules import Literal, Rules
from gdl.syntax.parser import parse_rules
from gdl.terms import Term
from tests.gdl.naive import answers, as_rule, first_state, model
from tests.gdl.programs import examples, games


def clauses(text: str) -> list[Clause]:
    return normalize(parse_rules(text))


def clauses_of(relation: str, text: str) -> list[Clause]:
    return [c for c in clauses(text) if c.head.name == relation]


def as_rules(normal: list[Clause]) -> Rules:
    """Clauses as rules again, for the naive evaluator."""
    distincts = [[Literal(Term("distinct", a, b)) for a, b in c.distincts] for c in normal]
    pairs = zip(normal, distincts, strict=True)
    return Rules(tuple(as_rule(c.head, c.positives, c.negatives, distinct) for c, distinct in pairs))


@pytest.mark.slow
@examples(150)
@given(games())
def test_clauses_mean_what_the_rules_mean(text: str) -> None:
    rules = parse_rules(text)
    true = first_state(rules)
    assert answers(model(as_rules(normalize(rules)), true)) == answers(model(rules, true))


@pytest.mark.slow
@examples(150)
@given(games())
def test_every_variable_of_a_clause_occurs_in_a_positive_literal(text: str) -> None:
    for clause in clauses(text):
        bound = {v for p in clause.positives for v in p.variables()}
        terms = [clause.head, *clause.negatives, *(t for pair in clause.distincts for t in pair)]
        assert {v for t in terms for v in t.variables()} <= bound


@pytest.mark.parametrize(
    ("rules", "normal"),
    [
        (
            "(<= (legal r ?x) (or (p ?x) (and (q ?x) (not (p ?x)))))",
            ["(<= (legal r ?x) (p ?x))", "(<= (legal r ?x) (q ?x) (not (p ?x)))"],
        ),
        ("(<= (legal r go) (not (not (p a))))", ["(<= (legal r go) (p a))"]),
        ("(<= (legal r a) (distinct a b)) (<= (legal r b) (distinct a a))", ["(legal r a)"]),
        (
            "(<= (legal r (go ?x ?y)) (p ?x) (p ?y) (not (distinct ?x ?y)))",
            ["(<= (legal r (go ?x ?x)) (p ?x))"],
        ),
    ],
    ids=["or", "double negation", "distinct of constants", "not distinct"],
)
def test_connectives_become_clauses(rules: str, normal: list[str]) -> None:
    assert sorted(map(str, clauses_of("legal", f"(role r) (p a) (p b) (q b) {rules}"))) == normal


def test_many_alternatives_become_a_chain_and_not_a_product() -> None:
    choices = " ".join(f"(or (p ?x{i}) (q ?x{i}))" for i in range(30))
    heads = " ".join(f"?x{i}" for i in range(30))
    normal = clauses(f"(role r) (p a) (q b) (<= (legal r (go {heads})) {choices})")
    assert len(normal) < 200
    assert any(c.head.name.startswith("aux;") for c in normal)


def test_not_of_a_conjunction_is_a_disjunction_of_negations() -> None:
    text = "(role r) (p a) (q a) (<= (legal r ?x) (role ?x) (not (and (p ?x) (q ?x))))"
    assert {str(n) for c in clauses_of("legal", text) for n in c.negatives} == {"(p ?x)", "(q ?x)"}


def test_a_variable_of_a_negation_alone_says_that_there_is_none() -> None:
    (legal,) = clauses_of("legal", "(role r) (p a b) (<= (legal r ?x) (role ?x) (not (p ?x ?y)))")
    (negative,) = legal.negatives
    assert negative.name.startswith("aux;")
    assert list(map(str, negative.args)) == ["?x"]


def test_a_free_variable_in_the_head_ranges_over_the_terms_of_the_game() -> None:
    text = "(role r) (p a) (<= (legal r ?x) (role r))"
    assert any(c.positives and c.positives[-1].name == "universe;" for c in clauses(text))
    universe = {str(c.head.args[0]) for c in clauses_of("universe;", text)}
    assert universe == {"r"}  # (p a) is not needed


def test_rules_that_nothing_asks_for_are_dropped() -> None:
    names = {
        c.head.name for c in clauses("(role r) (base (p a)) (input r go) (unused a) (<= terminal (used a))")
    }
    assert names == {"role", "terminal"}


@pytest.mark.parametrize("head", ["(true a)", "(does r a)", "(distinct a b)"])
def test_keywords_of_bodies_cannot_be_heads(head: str) -> None:
    with pytest.raises(RulesError):
        clauses(f"(role r) (<= {head} (role r))")
