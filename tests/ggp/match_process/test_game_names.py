"""Games are known by their rules."""

from __future__ import annotations

import random

import pytest

from gdl.rules import Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.match_process.player_thread import by_length, name_of
from ggp.rule_files import installed_games

NAMES = [path.stem for path in installed_games()]


def test_the_lengths_of_rules_are_those_of_the_parser() -> None:
    assert {name: length for length, names in by_length().items() for name in names} == {
        name: len(Game.load(name).rules) for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
def test_games_are_recognised_in_any_order_and_under_any_words(name: str) -> None:
    rules = Game.load(name).rules
    assert name_of(rules) == name
    shuffled = random.Random(1).sample(list(rules), len(rules))
    hidden, _ = scramble(Rules(tuple(shuffled), rules.spelling, rules.name), 7)
    assert name_of(hidden) == name


def test_rules_that_are_no_known_game_say_how_many_they_are() -> None:
    rules = list(map(str, Game.load("tictactoe").rules))
    goal = next(i for i, rule in enumerate(rules) if rule.startswith("(<= (goal"))
    other = [*rules[:goal], rules[goal].replace("100", "90"), *rules[goal + 1 :]]
    assert name_of(parse_rules("\n".join(other))) == f"unnamed, {len(rules)} rules"
    assert name_of(parse_rules("\n".join(rules[1:]))) == f"unnamed, {len(rules) - 1} rules"
