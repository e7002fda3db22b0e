"""Counters of several digits are one number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.syntax.parser import parse_rules, parse_terms
from gdl.terms import Term
from ggp.boards.counters import digit_chains, joined_digits
from ggp.game import Game

SOKOBAN = ("ones", "tens", "hundreds")


@pytest.mark.parametrize(
    ("game", "chains"),
    [("sokoban", (SOKOBAN,)), ("chess", (("units", "tens"),)), ("checkers", ()), ("kalah", ())],
)
def test_the_digits_of_counters_from_the_lowest_up(game: str, chains: tuple[tuple[str, ...], ...]) -> None:
    assert digit_chains(Game.load(game).rules) == chains


@given(st.integers(0, 999))
def test_a_number_is_read_from_its_digits(number: int) -> None:
    digits = [Term(name, Term(digit)) for name, digit in zip(SOKOBAN, f"{number:03}"[::-1], strict=True)]
    assert joined_digits([SOKOBAN], digits) == [(number, tuple(digits))]


@pytest.mark.parametrize(
    "facts", ["(ones 1)", "(ones 1) (tens 2) (hundreds x)", "(ones 1) (ones 2) (tens 0) (hundreds 0)"]
)
def test_what_is_not_said_once_is_no_number(facts: str) -> None:
    assert joined_digits([SOKOBAN], parse_terms(facts)) == []


def test_counts_can_be_made_of_many_digits() -> None:
    rules = "(role r)" + "".join(
        f"(<= (next (d{i} ?n)) (true (d{i - 1} 9)) (true (d{i} ?m)) (s ?m ?n))" for i in range(1, 40)
    )
    chains = digit_chains(parse_rules(rules))
    assert all(len(chain) <= 12 for chain in chains)
