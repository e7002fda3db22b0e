"""From text to rules: round trips, case, spelling, and what cannot be a rule."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import ParseError, Place
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.syntax.sexpr import MAX_DEPTH
from gdl.terms import Term

names = st.sampled_from(["p", "q", "cell", "true", "does", "distinct", "1", "x-1"])
terms = st.recursive(
    (names | st.sampled_from(["?x", "?y"])).map(Term),
    lambda inner: st.builds(lambda n, a: Term(n, *a), names, st.lists(inner, min_size=1, max_size=3)),
    max_leaves=6,
)
atoms = st.builds(lambda n, a: Term(n, *a), names, st.lists(terms, max_size=3))
formulas: st.SearchStrategy[Formula] = st.recursive(
    atoms.map(Literal),
    lambda inner: (
        st.builds(Not, inner)
        | st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts)))
        | st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts)))
    ),
    max_leaves=6,
)
rules_of_any_kind = st.lists(
    st.builds(lambda head, body: Rule(head, tuple(body)), atoms, st.lists(formulas, max_size=3)), max_size=6
)


@given(rules_of_any_kind)
def test_rules_are_what_their_text_says(rules: list[Rule]) -> None:
    text = str(Rules(tuple(rules)))
    assert parse_rules(text).rules == tuple(rules)
    assert parse_rules(text.upper()).rules == tuple(rules)


@given(st.lists(terms, max_size=5))
def test_runs_of_terms_are_read_back(run: list[Term]) -> None:
    assert parse_terms(" ".join(map(str, run))) == run


@pytest.mark.slow
@given(rules_of_any_kind)
def test_rules_survive_pickling(rules: list[Rule]) -> None:
    parsed = parse_rules(str(Rules(tuple(rules))), "name")
    assert pickle.loads(pickle.dumps(parsed)) == parsed


def test_equality_minds_neither_places_nor_blanks() -> None:
    assert parse_rules("(<= (p ?x)\n\n   (not (q ?x)))") == parse_rules("(<= (p ?x) (not (q ?x)))")


def test_the_first_spelling_of_a_name_is_kept() -> None:
    rules = parse_rules("(role White) (init (Cell 1 WHITE)) (<= TERMINAL (true (cell ?N White)))")
    assert rules.spell(parse_term("(CELL 1 white)")) == "(Cell 1 White)"
    assert rules.spell(rules.rules[2].head) == "TERMINAL"
    assert rules.spell(Term("unheard-of")) == "unheard-of"


def test_places_are_those_of_the_parentheses() -> None:
    rule = parse_rules("\n  (<= p\n    (or q\n      (not r)))").rules[0]
    assert rule.place == Place(2, 3)
    (choice,) = rule.body
    assert isinstance(choice, Or)
    assert choice.place == Place(3, 5)
    assert [p.place for p in choice.parts] == [Place(3, 9), Place(4, 7)]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("(<=)", "rule-without-head", Place(1, 1)),
        ("(p)\n(<= (not p) q)", "connective-as-head", Place(2, 5)),
        ("not", "connective-as-head", Place(1, 1)),
        ("(<= ?x q)", "variable-as-head", Place(1, 5)),
        ("(<= p (not))", "negation-arity", Place(1, 7)),
        ("(<= p (not q r))", "negation-arity", Place(1, 7)),
        ("(<= p (<= q r))", "arrow-in-body", Place(1, 7)),
        ("(<= p ?x)", "variable-as-formula", Place(1, 7)),
        ("(p ?)", "nameless-variable", Place(1, 4)),
        ("(?p x)", "variable-as-functor", Place(1, 1)),
        ("(p ())", "empty-parentheses", Place(1, 4)),
        ("()", "empty-parentheses", Place(1, 1)),
        ("((p) x)", "list-as-functor", Place(1, 1)),
    ],
)
def test_what_cannot_be_a_rule_is_refused_with_place_and_remedy(text: str, code: str, place: Place) -> None:
    with pytest.raises(ParseError) as caught:
        parse_rules(text, "x.kif")
    assert (caught.value.code, caught.value.place) == (code, place)
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["", "a b", "(a) (b)"])
def test_exactly_one_term_is_wanted(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_term(text)
    assert caught.value.code == "not-one-term"


@pytest.mark.parametrize("connective", ["not", "or", "and"])
def test_the_deepest_rules_work_far_down_the_stack(connective: str) -> None:
    depth = MAX_DEPTH - 2
    text = f"(<= p {f'({connective} ' * depth}(q ?x){')' * depth})"
    deep_term = "(f " * (MAX_DEPTH - 1) + "?x" + ")" * (MAX_DEPTH - 1)

    def deep(frames: int) -> None:
        if frames:
            return deep(frames - 1)
        rules = parse_rules(text)
        assert parse_rules(str(rules)) == rules
        assert hash(rules.rules) == hash(parse_rules(text).rules)
        term = parse_term(deep_term)
        assert term.substitute({Term("?x"): Term("a")}).ground
        assert pickle.loads(pickle.dumps(term)) is term
        return None

    deep(min(300, sys.getrecursionlimit() - 700))


def test_every_public_game_parses_and_reads_back(corpus_games: list[Path]) -> None:
    assert len(corpus_games) == 237
    for path in corpus_games[::4]:
        rules = parse_rules(path.read_text(), path.name)
        assert parse_rules(str(rules), path.name).rules == rules.rules


def test_literals_come_in_text_order_with_the_sign_of_their_negations() -> None:
    (rule,) = parse_rules("(<= p (or a (not b) (not (or c (not d) (and e (not (not f)))))))")
    signed = [(str(literal), positive) for literal, positive in literals(rule.body[0])]
    assert signed == [("a", True), ("b", False), ("c", False), ("d", True), ("e", False), ("f", False)]
