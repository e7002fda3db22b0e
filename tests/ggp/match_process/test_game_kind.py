"""Games are classified while they are played, and those that come along are known by their rules."""

from __future__ import annotations

import queue
import random

import pytest

from gdl.rules import Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.match_process.game_kind import Classifier, by_length, name_of
from ggp.rule_files import installed_games
from propnet.analysis.classify import Classification
from tests.propnet.circuits import tic_tac_toe

LONG = 60.0


def test_a_game_is_classified_in_a_process_of_its_own() -> None:
    results: queue.SimpleQueue[object] = queue.SimpleQueue()
    classifier = Classifier(tic_tac_toe(), results.put, results.put)
    seen = results.get(timeout=LONG)
    assert isinstance(seen, Classification)
    assert seen.roles == 2
    classifier.stop()


def test_a_classifier_that_is_stopped_says_nothing() -> None:
    results: queue.SimpleQueue[object] = queue.SimpleQueue()
    classifier = Classifier(tic_tac_toe(), results.put, results.put)
    classifier.stop()
    classifier.join(LONG)
    assert results.empty()


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
