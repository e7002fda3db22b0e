"""A belief holds exactly the states that fit what a role has seen: no state more or less, with the weights
that all ways of playing there give."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.terms import Term
from ggp.game import Game
from players.belief.belief import Belief, Observed
from tests.players.belief.enumeration import enumerated, played, weights_of

SMALL = ("kuhn", "leduc", "liarsdice", "montyhall", "numberguessing")


@cache
def machine_of(name: str, level: str) -> Machine:
    return Game.load(name).machine(level)


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("name", SMALL)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_belief_is_what_enumeration_finds(name: str, level: str, seed: int) -> None:
    prover = machine_of(name, "prover")
    assert isinstance(prover, ProverMachine)
    for role, history in enumerate(played(prover, seed)):
        if str(prover.roles[role]) == "random":
            continue
        belief = Belief(machine_of(name, level), role)
        for turn, (own, percepts) in enumerate(history, 1):
            assert belief.update(Observed(own, percepts))
            wanted = enumerated(prover, role, history[:turn])
            assert belief.exact
            assert weights_of(belief) == pytest.approx(wanted)


@pytest.mark.parametrize("level", ["prover", "propnet"])
def test_a_belief_rebuilt_holds_the_same_and_goes_on_within_the_limits_of_its_machine(level: str) -> None:
    prover, machine = machine_of("blindtictactoe", "prover"), machine_of("blindtictactoe", level)
    assert isinstance(prover, ProverMachine)
    history = [Observed(*seen) for seen in played(prover, 4)[0][:4]]
    small = Belief(ProverMachine(prover.rules), 0, worlds=3)
    for seen in history[:3]:
        small.update(seen)
    rebuilt = small.rebuilt(machine)
    assert weights_of(rebuilt) == pytest.approx(weights_of(small)) and len(rebuilt) <= 3
    assert rebuilt.goes_on(small) and rebuilt.exact == small.exact
    assert all(state.machine is machine for state in rebuilt.states())
    before = list(small.history)
    assert rebuilt.update(history[3])
    assert len(rebuilt) > 3 and small.history == before


@pytest.mark.slow
@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("name", ["blindtictactoe", "battleships", "kriegtictactoe"])
def test_particles_are_possible_states_and_hold_on_where_few_fit(name: str, level: str) -> None:
    """However few worlds may be held: each of them explains all that was seen, and there always is one."""
    prover = machine_of(name, "prover")
    assert isinstance(prover, ProverMachine)
    for seed in range(1 if level == "prover" else 6):
        history = played(prover, seed)[0]
        belief = Belief(machine_of(name, level), 0, worlds=60, effort=2_000, seed=seed)
        for own, percepts in history:
            assert belief.update(Observed(own, percepts))
            assert 0 < len(belief) <= 60
            assert belief.weights.sum() == pytest.approx(1)
        exact = Belief(machine_of(name, "propnet"), 0, worlds=10**6, effort=10**7)
        for own, percepts in history:
            exact.update(Observed(own, percepts))
        assert set(weights_of(belief)) <= set(weights_of(exact)) or not exact.exact


def test_own_move_may_be_unknown() -> None:
    prover = machine_of("montyhall", "prover")
    belief = Belief(prover, 0)
    noop = Term("noop")
    belief.update(Observed(noop, frozenset()))
    belief.update(Observed(None, frozenset()))
    assert len(belief) == 9  # three doors with the car, three that may have been chosen


def test_percepts_that_fit_nothing_are_passed_over() -> None:
    for level in ("prover", "propnet"):
        machine = machine_of("montyhall", level)
        belief = Belief(machine, 0)
        belief.update(Observed(Term("noop"), frozenset()))
        assert not belief.update(Observed(Term("choose", Term("1")), frozenset([Term("thunder")])))
        assert len(belief) == 3 and not belief.exact
        assert not belief.update(Observed(Term("fly"), frozenset()))
        assert belief.legal_moves()


def test_a_belief_is_rebuilt_from_its_history_on_another_machine() -> None:
    prover = machine_of("leduc", "prover")
    assert isinstance(prover, ProverMachine)
    history = played(prover, 11)[1]
    belief = Belief(prover, 1)
    for own, percepts in history:
        belief.update(Observed(own, percepts))
    assert weights_of(belief.on(machine_of("leduc", "propnet"))) == pytest.approx(weights_of(belief))
