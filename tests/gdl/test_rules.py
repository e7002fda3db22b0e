"""Rules as data: signs of literals, texts."""

from __future__ import annotations

from gdl.rules import Literal, literals
from gdl.syntax.parser import parse_rules


def test_literals_come_in_text_order_with_the_sign_of_their_negations() -> None:
    (rule,) = parse_rules("(<= p (or a (not b) (not (or c (not d) (and e (not (not f)))))))")
    signed = [(str(literal), positive) for literal, positive in literals(rule.body[0])]
    assert signed == [("a", True), ("b", False), ("c", False), ("d", True), ("e", False), ("f", False)]


def test_rules_are_a_sized_iterable_of_their_sentences() -> None:
    rules = parse_rules("(role a) (<= p (not (q b)))", "small")
    assert len(rules) == 2
    assert [str(rule) for rule in rules] == ["(role a)", "(<= p (not (q b)))"]
    assert str(rules) == "(role a)\n(<= p (not (q b)))"
    assert rules.name == "small"


def test_a_literal_shows_its_atom() -> None:
    (rule,) = parse_rules("(<= p (true (cell ?x 1)))")
    (literal,) = rule.body
    assert isinstance(literal, Literal)
    assert str(literal) == "(true (cell ?x 1))"
