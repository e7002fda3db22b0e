"""Games with nothing to do: no moves, no facts, no end. What is said of them is proven, not a traceback."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.portfolio import solve
from players.puzzles.frontier.outcome import SearchLimits
from players.solvers import solvers_named
from players.strong.layers import solve_game
from propnet.machine import PropnetMachine
from propnet.recoding.samples import clock_states, sample_states

SECONDS = 60.0
"""More than is needed."""
NO_MOVES = "(role you) (init (p 0)) (<= terminal (true (p 1))) (<= (goal you 100) (true (p 1)))"
NO_MOVES_BUT_CHANGE = NO_MOVES + "(<= (next (p 1)) (true (p 0)))"
NO_FACTS = "(role you) (legal you wait) (<= terminal (true (p 1))) (<= (goal you 100) (true (p 1)))"
NO_END = "(role you) (init (p 0)) (legal you go) (<= (next (p 1)) (true (p 0))) (goal you 100)" + (
    "(<= (next (p 0)) (true (p 1))) (<= terminal (true (p 2)))"
)
HOPELESS = {
    "no moves": NO_MOVES,
    "no moves, but facts that change": NO_MOVES_BUT_CHANGE,
    "no facts": NO_FACTS,
    "no end": NO_END,
}


def machine_of(text: str) -> PropnetMachine:
    machine = make_machine(parse_rules(text), "propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


@pytest.mark.parametrize("rules", HOPELESS.values(), ids=HOPELESS)
def test_that_no_line_comes_to_an_end_is_proven(rules: str) -> None:
    found = solve(machine_of(rules), SECONDS)
    assert (found.value, found.moves, found.proven) == (-1, (), True)


@pytest.mark.parametrize("rules", HOPELESS.values(), ids=HOPELESS)
@pytest.mark.parametrize("kind", solvers_named(None), ids=lambda kind: kind.name)
def test_no_solver_claims_a_line_there(kind: type, rules: str) -> None:
    machine = machine_of(rules)
    if kind.recognise(machine) is not None:
        assert solve(machine, 0.2, only=kind.name).value == -1


@pytest.mark.parametrize("rules", [NO_MOVES, NO_MOVES_BUT_CHANGE], ids=["constant", "changing"])
def test_states_of_a_role_without_moves_can_be_sampled(rules: str) -> None:
    machine = machine_of(rules)
    start = machine.records([machine.initial_state()])
    assert (np.unique(sample_states(machine), axis=0) == start).all()
    assert len(clock_states(machine)) == 1


def test_a_game_without_facts_has_one_state_and_a_value() -> None:
    machine = machine_of(NO_FACTS)
    assert machine.words == 1
    solved = solve_game(machine, SearchLimits(1 << 31, symmetry=False))
    assert (solved.states, solved.start) == (1, (0,))
