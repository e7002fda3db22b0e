"""What a few random playouts show of a game."""

from __future__ import annotations

import queue

import pytest

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.match_process.survey import ALTERNATING, SIMULTANEOUS, SINGLE, Classifier, Survey, survey
from propnet.analysis.classify import Classification
from tests.propnet.circuits import tic_tac_toe

LONG = 60.0

TURNS = """
(role a) (role b) (init (control a))
(<= (legal ?r (pick ?n)) (true (control ?r)) (number ?n)) (number 1) (number 2) (number 3)
(<= (legal a noop) (true (control b))) (<= (legal b noop) (true (control a)))
(<= (next (control b)) (true (control a))) (<= (next end) (true (control b)))
(<= terminal (true end)) (goal a 100) (goal b 0)
(<= (legal ?r noop) (role ?r) (true end))
"""

AT_ONCE = """
(role a) (role b) (init start) (legal ?r up) (legal ?r down) (<= (legal ?r up) (role ?r))
(<= (next end) (true start)) (<= (next same) (does a ?m) (does b ?m))
(<= terminal (true end)) (<= (goal ?r 100) (role ?r) (true same)) (<= (goal ?r 0) (role ?r) (not (true same)))
""".replace("(legal ?r up) (legal ?r down)", "(legal a up) (legal a down) (legal b up) (legal b down)")

ALONE = "(role a) (init (n 0)) (legal a go) (<= (next end) (true (n 0))) (<= terminal (true end)) (goal a 70)"


@pytest.mark.parametrize(
    ("rules", "turns", "options", "total", "length"),
    [(TURNS, ALTERNATING, 3, 100, 2), (AT_ONCE, SIMULTANEOUS, 4, None, 1), (ALONE, SINGLE, 1, 70, 1)],
)
def test_the_kind_of_game_is_seen(
    rules: str, turns: str, options: int, total: int | None, length: int
) -> None:
    seen = survey(ProverMachine(parse_rules(rules)), LONG)
    assert (seen.turns, seen.first_moves, seen.sum, seen.longest) == (turns, options, total, length)
    assert seen.ends_seen == 16


def test_without_time_no_more_than_the_beginning_is_seen() -> None:
    seen = survey(ProverMachine(parse_rules(TURNS)), 0.0)
    assert seen == Survey(2, ALTERNATING, None, 3, 1, 0, 0)
    assert str(seen) == "2 roles, alternating"


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
