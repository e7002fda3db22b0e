"""Puzzles and small games beside their oracles, step by step in random matches; lengths that are known."""

from __future__ import annotations

import random

import pytest

from gdl.machine import State
from gdl.syntax.parser import parse_term
from tests.games.oracles_puzzles import ORACLES, Match
from tests.games.rules_of_games import prover

POSITIONS = 1_000


def compare(state: State, oracle: Match) -> None:
    """Assert that a state of our rules is that of the oracle."""
    assert {str(fact) for fact in state.propositions} == oracle.facts()
    assert state.terminal == oracle.over
    assert list(state.goals.values()) == oracle.goals()
    if not oracle.over:
        assert [sorted(state.legal[role]) for role in state.legal] == [
            sorted(own) for own in oracle.options()
        ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ORACLES)
def test_random_matches_are_those_of_the_oracle(name: str) -> None:
    machine = prover(name)
    rng = random.Random(name)
    compared = 0
    while compared < POSITIONS:
        oracle, state = ORACLES[name](), machine.initial_state()
        compare(state, oracle)
        while not state.terminal:
            joint = [rng.choice(sorted(own)) for own in oracle.options()]
            moves = [machine.move_id(role, parse_term(move)) for role, move in enumerate(joint)]
            seen = oracle.seen(joint)
            if seen is not None:
                percepts = machine.percepts(state, moves)
                assert [{str(one) for one in own} for own in percepts] == seen
            state = machine.next_state(state, moves)
            oracle.play(joint)
            compare(state, oracle)
            compared += 1
