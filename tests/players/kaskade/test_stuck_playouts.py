"""A playout that comes to a state where a role has no legal move has no result, on any machine."""

from __future__ import annotations

import time

import pytest

from gdl.syntax.parser import parse_rules
from players.batch_machine import batch_machine_of
from players.kaskade.make_machine import make_machine
from players.uct.tuning import Tuning
from tests.players.uct.searching import search_of

STUCK = """
(role you) (init on)
(<= (legal you go) (true on))
(<= (next off) (does you go))
(<= (goal you 90) (true off))
(<= (goal you 0) (not (true off)))
(<= terminal (not (true on)) (not (true off)))
"""


@pytest.mark.parametrize("level", ["prover", "propnet", "native"])
def test_goals_that_hold_in_a_state_without_moves_are_no_result(level: str) -> None:
    machine = make_machine(parse_rules(STUCK, "the rules"), level)
    played = machine.playouts(5)
    assert played.cut == 5 and played.lengths.tolist() == [1] * 5
    assert (played.goals == -1).all()
    batched = batch_machine_of(machine)
    records = batched.record(machine.initial_state())[None, :]
    ends = batched.playouts(records, 1, 100, float("inf"), 3)
    assert (ends.goals == -1).all() and ends.finished.all()
    one_step = machine.playouts(5, max_steps=1)
    assert (one_step.goals == 90).all(), "cut after a number of moves, the goals say how it stands"


def test_a_search_claims_nothing_of_a_puzzle_that_cannot_be_ended() -> None:
    machine = make_machine(parse_rules(STUCK, "the rules"), "propnet")
    search = search_of(machine, Tuning(memory=1 << 22))
    for _ in range(5):
        search.step(time.monotonic() + 60.0, 1000)
    assert search.statistics().value == -1
    assert search.line.value < 90
